"""Commands that write: refused in read-only mode before any prompt, confirmed, and stored before they are sent."""

from __future__ import annotations

import functools
import uuid
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from runwatch.api.errors import ReadOnlyError
from runwatch.api.operations import OPERATIONS, fill_path
from runwatch.base.errors import UsageError
from runwatch.base.json import encode_body, loads
from runwatch.commands.cli.exit_codes import REFUSED
from runwatch.commands.cli.invocation import Invocation
from runwatch.commands.shared.session import CommandSession, ServiceChoice, choose_service, run_in_session
from runwatch.store.repositories.outbox import WriteRequest


def require_write_access(call: Invocation, operation: str) -> ServiceChoice:
    """Return the service to write to. In read-only mode a write is refused before any prompt.

    Raises:
        ReadOnlyError: The settings are read-only.
    """
    choice = choose_service(call)
    if choice.settings.read_only:
        raise ReadOnlyError(operation=operation, what=OPERATIONS[operation].title)
    return choice


def run_write(
    call: Invocation,
    operation: str,
    work: Callable[[CommandSession], Awaitable[int]],
    *,
    question: str | None = None,
) -> int:
    """Run the work of a writing command and return its exit code.

    A read-only profile is refused first. The confirmation then comes before the event loop starts, because Ctrl+C could
    not end the prompt inside it.

    Args:
        question: Question before a destructive action, without the target; ``None`` asks nothing.

    Raises:
        ReadOnlyError: The settings are read-only.
        ConfirmationRequired: There is no terminal and no ``--yes``.
    """
    choice = require_write_access(call, operation)
    if question is not None and not confirm_on(call, choice, question):
        return REFUSED
    return run_in_session(call, work, choice)


def confirm_on(call: Invocation, choice: ServiceChoice, question: str) -> bool:
    """Ask before a change on a service, which completes the question, and say so if nothing was changed.

    Raises:
        ConfirmationRequired: There is no terminal and no ``--yes``.
    """
    is_confirmed = call.confirm(f"{question} on {choice.target.profile} ({choice.target.host})?")
    if not is_confirmed:
        call.output.note("nothing was changed")
    return is_confirmed


def writes(operation: str) -> Callable[[Callable[[CommandSession], Awaitable[int]]], Callable[[Invocation], int]]:
    """Make the handler of a command that does all of its work in a session, and is refused in read-only mode."""
    return lambda work: functools.wraps(work)(lambda call: run_write(call, operation, work))


async def send_write(
    session: CommandSession,
    operation: str,
    label: str,
    *,
    record_id: str = "",
    body: Mapping[str, Any] | None = None,
    key: str | None = None,
    is_kept: bool = True,
) -> Any:
    """Send one write request under its own key, keep it until its outcome is known, and return the decoded response.

    Args:
        label: Description in the list of unconfirmed writes.
        record_id: The id in the operation's path.
        key: Idempotency key given by the user; a new one by default.
        is_kept: Whether to keep the write if its response is lost. A test is not kept; it is simply repeated.

    Raises:
        RunwatchError: As for :meth:`~runwatch.store.repositories.outbox.Outbox.deliver`.
    """
    content = None if body is None else encode_body(body)
    path, key = fill_path(OPERATIONS[operation], record_id), key or str(uuid.uuid4())
    if not is_kept:
        return (await session.client.request(operation, path=path, body=content, key=key)).value
    request = WriteRequest(operation, path, content, key, label)
    result = await session.outbox.deliver(session.client, await session.scope(), request)
    return result.value


def read_idempotency_key(call: Invocation) -> str | None:
    """Return the idempotency key given as an option.

    Raises:
        UsageError: It is blank.
    """
    key: str | None = call.options.idempotency_key
    if key is not None and not key.strip():
        raise UsageError("--idempotency-key is blank", detail="a blank key is no key")
    return key


def read_body_option(call: Invocation) -> dict[str, Any]:
    """Return the JSON object given by ``--from``; an empty one without the option.

    Raises:
        UsageError: The file cannot be read, or is not a JSON object.
    """
    name = call.options["from"]
    return {} if name is None else parse_object(call.read_input(name), "The request is")


def parse_object(content: bytes, what: str, hint: str | None = None) -> dict[str, Any]:
    """Return a JSON object that the user gave.

    Args:
        what: The beginning of a sentence that says what it is not: ``The inputs are``.

    Raises:
        UsageError: It is no JSON object.
    """
    try:
        value = loads(content)
    except ValueError as error:
        raise UsageError(f"{what} not JSON", detail=str(error), hint=hint) from None
    if not isinstance(value, dict):
        raise UsageError(f"{what} not a JSON object", hint=hint)
    return value


def merge_options(body: dict[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Merge options into a body. Members without an option stay unchanged."""
    return body | {name: value for name, value in given.items() if value is not None}
