"""Texts about a write that is on its way, or whose outcome is unknown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from runwatch.api.operations import OPERATIONS
from runwatch.base.json import loads
from runwatch.store.repositories.outbox import SendingWrite, WriteRequest
from runwatch.view.text.format import time_of_day
from runwatch.view.text.safe_text import SafeText, line

if TYPE_CHECKING:
    from runwatch.tui.shell.console import Console

OBJECTIVE_CELLS: Final = 40
"""Width of an objective that names a request; a longer one is cut."""


def unconfirmed_text(console: Console, operation: str, path: Mapping[str, str]) -> SafeText | None:
    """Return the warning that the same request is on its way, or how to retry one whose outcome is unknown.

    A new request would do the same a second time. ``None`` without such a request.
    """
    session = console.session
    for sending in () if session is None else session.sending:
        if (sending.request.operation, sending.request.path) == (operation, path):
            return line(
                f"{_named(sending.request)}, {sent_text(console, sending)}: on its way. Sending from here makes a new"
                " request; wait for the answer first.",
                None,
            )
    same = [
        write for write in console.unconfirmed if (write.request.operation, write.request.path) == (operation, path)
    ]
    if not same:
        return None
    key = console.keys.shown("app.outbox")
    sent = f"sent at {time_of_day(same[0].created_at, console.render_context())}"
    what, retry = f"{_named(same[0].request)}, {sent}", "that one with its key"
    if len(same) > 1:
        title = OPERATIONS[operation].title
        what, retry = f"{title}: {len(same)} requests, the oldest {sent}", "those with their keys"
    return line(
        f"{what}: outcome unknown. Sending from here makes a new request; to retry {retry}, leave with esc and press"
        f" {key}.",
        None,
    )


def _named(request: WriteRequest) -> str:
    """Return what a request does, with the objective of a submit: a form may be open for another run."""
    title, objective = OPERATIONS[request.operation].title, line(submitted_objective(request), OBJECTIVE_CELLS)
    return f'{title} "{objective}"' if objective else title


def submitted_objective(request: WriteRequest) -> str:
    """Return the objective of a submit; empty for any other request."""
    try:
        task = loads(request.body or b"").get("task")
    except (ValueError, AttributeError):
        return ""
    objective = task.get("objective") if isinstance(task, dict) else None
    return objective if isinstance(objective, str) else ""


def find_sending(console: Console, key: str) -> SendingWrite | None:
    """Return the write with this key whose answer has not come yet."""
    sending = () if console.session is None else console.session.sending
    return next((each for each in sending if each.request.key == key), None)


def sent_text(console: Console, sending: SendingWrite) -> str:
    return f"sent at {time_of_day(sending.sent_at, console.render_context())}"


def request_text(operation: str, path: Mapping[str, str]) -> SafeText:
    """Return method and path of a request, with its path parameters filled in."""
    method, shown = OPERATIONS[operation].method, OPERATIONS[operation].path
    for name, value in path.items():
        shown = shown.replace(f"{{{name}}}", quote(value, safe=""))
    return line(f"{method} {shown}", None)
