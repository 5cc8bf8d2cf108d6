"""What this console refuses and why: one rule for hints, menus and the palette, so that none of them offers it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from runwatch.tui.core.key_bindings import SERVICE_ONLY
from runwatch.tui.shell.console import Console
from runwatch.view.text.safe_text import SafeText, line

if TYPE_CHECKING:
    from runwatch.view.spec.action import ResourceAction

_CHANGING: Final = frozenset({"screen.again", "screen.destroy", "screen.edit", "screen.new"})
"""Keys that change something on the service, whatever the screen shows."""

_OF_EVENTS: Final = frozenset({"screen.replay", "tail.open"})
"""Keys without a use in a file without events."""

_FROM_A_FILE: Final = line("this is a file")
_NO_EVENTS: Final = line("the file has no events")
_READ_ONLY: Final = line("this profile is read-only")


def is_read_only(console: Console) -> bool:
    """Return whether nothing can be changed on the service; before it is connected, what the settings say."""
    if console.has_file:
        return True
    return console.settings.read_only if console.session is None else console.session.client.read_only


def key_refusal(console: Console, id: str) -> SafeText | None:
    """Return why the console refuses a key action, or ``None``."""
    if console.has_file:
        if id == "screen.refresh":
            # A file that could not be opened is read again.
            return _FROM_A_FILE if console.failure is None else None
        if id in _OF_EVENTS:
            from runwatch.records.event import RunEvent

            has_events = console.store.collection(console.profile_name, RunEvent.KIND).records
            return None if has_events else _NO_EVENTS
        return _FROM_A_FILE if id in SERVICE_ONLY else None
    return _READ_ONLY if id in _CHANGING and is_read_only(console) else None


def action_refusal(console: Console, action: ResourceAction[Any]) -> SafeText | None:
    """Return why the console refuses a resource action for every record, or ``None``."""
    if not is_read_only(console):
        return None
    # Operations name the records of every resource, which the first paint does without.
    from runwatch.api.operations import OPERATIONS

    operation = OPERATIONS.get(action.calls)
    if console.has_file:
        is_read = action.mutation is None and operation is not None and operation.method == "GET"
        return None if is_read else _FROM_A_FILE
    return _READ_ONLY if operation is not None and operation.mutates else None
