"""Effects of an action's response: text, reloaded lists and the new selection."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from runwatch.api.operations import OPERATIONS, Operation, is_listable
from runwatch.api.secrets import strip_secrets
from runwatch.base.errors import RunwatchError
from runwatch.records.record import Record
from runwatch.store.live.report_poller import name_response_collection
from runwatch.store.session import ServiceSession
from runwatch.store.state.changes import ListRead
from runwatch.tui.core.rendering import StyledSpan, StyledSpans, label_span, to_spans
from runwatch.tui.flows.writes.write_sender import describe_created_record, find_id_member
from runwatch.tui.shell.record_screen import RecordScreen
from runwatch.tui.sources.record_loader import read_object, reload_lists, store_record
from runwatch.view.spec.action import Mutation
from runwatch.view.text.glyphs import Role
from runwatch.view.text.key_names import insert_keys
from runwatch.view.text.safe_text import block, line
from runwatch.view.text.shell_commands import add_service

if TYPE_CHECKING:
    from runwatch.tui.shell.console import Console
    from runwatch.tui.shell.console_screen import ConsoleScreen

_NEW_LINE: Final = block("\n")

_DONE: Final = "done"
"""What the dialog puts before the description of a success."""


async def describe_success(
    session: ServiceSession, console: Console, mutation: Mutation[Any], subject: Any, response: Any
) -> StyledSpans:
    """Describe a successful response: id, status, the action's summary, and whether it took effect."""
    outcome: list[StyledSpan] = [
        *to_spans(describe_created_record(response, find_id_member(OPERATIONS[mutation.operation]), mutation.status))
    ]
    lines = [*mutation.summarize(response if isinstance(response, dict) else {})]
    if mutation.next_step:
        lines.append(("next", insert_keys(mutation.next_step, console.keys.shown)))
    # The first line begins with the state, whose values stand in the same column.
    cells = max(len(label) for label in (_DONE, *(label for label, _ in lines)))
    if outcome:
        outcome.insert(0, label_span(" " * (cells - len(_DONE))))
    for label, text in lines:
        outcome += [
            (_NEW_LINE, Role.PLAIN),
            label_span(f"{label:<{cells}}   "),
            (line(add_service(text, console.shell_service), None), Role.PLAIN),
        ]
    if mutation.effect_check is not None:
        try:
            state = await read_object(session, mutation.effect_check.operation, subject.id)
        except RunwatchError as error:
            outcome += [
                (_NEW_LINE, Role.PLAIN),
                label_span(f"whether it took effect could not be read: {error}", Role.WARN),
            ]
        else:
            is_good, words = mutation.effect_check.words(subject, state)
            outcome += [(_NEW_LINE, Role.PLAIN), label_span(words, Role.GOOD if is_good else Role.WARN)]
    return tuple(outcome)


def apply_response(
    behind: ConsoleScreen, session: ServiceSession, mutation: Mutation[Any], about: str, response: Any, is_watched: bool
) -> None:
    """Store the response, reload the lists it changes, and select a new record.

    Args:
        behind: The screen that shows the result.
        about: The id of the changed record; empty for a new one, which is then selected.
        is_watched: Whether the dialog is still open; otherwise nothing is selected.
    """
    operation = OPERATIONS[mutation.operation]
    value = strip_secrets(operation, response)
    record = response_record(session, operation, value)
    if record is not None:
        store_record(session, record)
    elif about and operation.record is not None and isinstance(value, dict) and not is_listable(operation.record):
        # Responses that no list contains, such as test results, are kept for the record's screen.
        now, monotonic = session.clock.now(), session.clock.monotonic()
        kind, records = name_response_collection(operation.record, about), (operation.record(value),)
        session.store.apply(
            ListRead(session.scope.profile, kind, now, monotonic, records, complete=True, end_is_proven=True)
        )
    # A replayed response may be old, so reload the lists.
    changed = {*mutation.invalidates, *behind.polled_lists(), operation.record}
    reload_lists(behind, session, [kind for kind in changed if kind is not None and is_listable(kind)])
    if behind.is_attached:
        behind.after_write_succeeded(mutation.operation, value)
    if is_watched and not about and isinstance(behind, RecordScreen):
        made = own_id(behind.spec.record, value)
        if made:
            behind.select_record(made, opened=True)


def own_id(kind: type[Record], response: Any) -> str:
    """Return the id of a record of this kind that a response names, or an empty text."""
    name = "" if kind.WIRE is None else kind.WIRE.id
    found = response.get(name) if name and isinstance(response, dict) else None
    return found if isinstance(found, str) else ""


def response_record(session: ServiceSession, operation: Operation, value: Any) -> Record | None:
    """Return the record of a response, merged into the known one, because a response may be partial."""
    kind = operation.record
    if kind is None or operation.lists or not is_listable(kind) or not isinstance(value, dict):
        return None
    record = kind(value)
    known = session.store.get(session.scope.profile, kind.KIND, record.id) if record.id else None
    return kind({**known.record.raw, **value}) if known is not None else record if record.id else None
