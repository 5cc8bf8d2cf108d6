"""Commands that change something: refused before anybody is asked, confirmed, kept before they are sent."""

from __future__ import annotations

import uuid
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from runwatch.base.errors import UsageError
from runwatch.base.json import encode_body, loads
from runwatch.commands.cli.exit_codes import REFUSED
from runwatch.commands.cli.invocation import Invocation
from runwatch.commands.shared.session import CommandSession, ServiceChoice, choose_service, run_in_session
from runwatch.store.repositories.outbox import WriteRequest

_NOTHING: Final[Mapping[str, str]] = {}


def require_write_access(call: Invocation, operation: str) -> ServiceChoice:
    """The service to write to, for commands that have more to ask before they do.

    Raises:
        ReadOnlyRefused: the settings are read-only.
    """
    choice = choose_service(call)
    choice.check_may_write(operation)
    return choice


def run_write(
    call: Invocation,
    operation: str,
    work: Callable[[CommandSession], Awaitable[int]],
    *,
    question: Callable[[ServiceChoice], str] | None = None,
) -> int:
    """Do the work of a command that changes something, and answer its exit code.

    A read-only profile is refused first. What destroys asks then, before the event loop begins, which would not let
    Ctrl+C end the question.

    Args:
        call: The call of the command line.
        operation: What the command does, for the refusal.
        work: The work itself.
        question: What to ask before something is destroyed, without the place; ``None`` asks nothing.

    Raises:
        ReadOnlyRefused: the settings are read-only.
        ConfirmationRequired: there is nobody to ask, and no ``--yes``.
    """
    choice = require_write_access(call, operation)
    if question is not None:
        place = f"on {choice.target.profile} ({choice.target.host})"
        if not call.confirm(f"{question(choice)} {place}?"):
            call.output.note("nothing was changed")
            return REFUSED
    return run_in_session(call, work, choice)


async def send_write(
    session: CommandSession,
    operation: str,
    label: str,
    *,
    path: Mapping[str, str] = _NOTHING,
    body: Mapping[str, Any] | None = None,
    key: str | None = None,
    is_kept: bool = True,
) -> Any:
    """Do one write under a key of its own, kept until its outcome is known, and give the decoded answer.

    Args:
        session: The open session.
        operation: The operation's id.
        label: What it is, for people who find it among the kept writes.
        path: The parameters of the path.
        body: The body; ``None`` sends none.
        key: The idempotency key that the user gave; a new one otherwise.
        is_kept: Whether it is worth being asked about later when its answer is lost. A test is not: it is made anew.

    Raises:
        ApiError: it failed. Where its outcome is unknown, the write is kept under its key.
        UsageError: the key is blank, or belongs to a kept write with another body.
        DataError: it cannot be kept; nothing was sent.
    """
    content = None if body is None else encode_body(body)
    key = key or str(uuid.uuid4())
    if not is_kept:
        return (await session.client.request(operation, path=path, body=content, key=key)).value
    order = WriteRequest(operation, path, content, key, label)
    answer = await session.outbox.deliver(session.client, await session.scope(), order)
    return answer.value


def read_idempotency_key(call: Invocation) -> str | None:
    """The idempotency key of the options.

    Raises:
        UsageError: it is blank.
    """
    key: str | None = call.options.idempotency_key
    if key is not None and not key.strip():
        raise UsageError("--idempotency-key is blank", detail="a blank key counts as none")
    return key


def read_body_option(call: Invocation) -> dict[str, Any]:
    """The JSON object that ``--from`` names; an empty one without the option.

    Raises:
        UsageError: the file cannot be read, or holds no JSON object.
    """
    name = call.options["from"]
    if name is None:
        return {}
    try:
        value = loads(call.read_input(name))
    except ValueError as error:
        raise UsageError("The request is not JSON", detail=str(error)) from None
    if not isinstance(value, dict):
        raise UsageError("The request is no JSON object")
    return value


def merge_options(body: dict[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """A body with the members that options give in their places; those that were not given stay as they are."""
    return body | {name: value for name, value in given.items() if value is not None}


def require_members(body: Mapping[str, Any], flags: Mapping[str, str]) -> None:
    """Check that a body has what the service cannot do without.

    Args:
        body: The body.
        flags: The option that gives each needed member.

    Raises:
        UsageError: members are missing; all of them are named.
    """
    missing = [flag for name, flag in flags.items() if body.get(name) is None]
    if missing:
        raise UsageError(f"This needs {', '.join(missing)}", hint="--from takes the whole request from a JSON file.")
