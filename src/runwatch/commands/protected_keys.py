"""``verifiers connect|promote|revoke|connection`` and ``agents connect``: protected keys of endpoints (manual:
interface, "Verifiers"; manual: interface, "Review agents").

A key is entered on a private page, is then pending, is tested against its endpoint, and is used only if the test
passes. The result is read back from the connection; the response to a write is not enough.
"""

from __future__ import annotations

import uuid
from datetime import date
from typing import Any

from runwatch.base.errors import RunwatchError, UsageError
from runwatch.base.shell_words import runwatch_command
from runwatch.base.text import clean_line
from runwatch.commands.cli.exit_codes import REFUSED, SUCCESS
from runwatch.commands.cli.invocation import Invocation
from runwatch.commands.shared.record_printer import print_record
from runwatch.commands.shared.record_reader import read_one
from runwatch.commands.shared.secret_entry import enter_secret, read_secret
from runwatch.commands.shared.session import CommandSession, in_session, run_in_session
from runwatch.commands.shared.writes import require_write_access, run_write, send_write, writes
from runwatch.records.verifier import KeyConnection
from runwatch.view.actions.private_page import key_progress
from runwatch.view.actions.protected_keys import (
    STOP_DAYS,
    KeyedEndpoint,
    is_key_in_use,
    promotion_outcome,
    revocation_outcome,
)
from runwatch.view.actions.reviews import CONNECTION as AGENT
from runwatch.view.actions.verifiers import CONNECTION as VERIFIER
from runwatch.view.resources.verifiers import KEY_CONNECTION
from runwatch.view.text.safe_text import iso_text


def connect_verifier(call: Invocation) -> int:
    """``verifiers connect``: enter a key, test it and use it."""
    return _connect(call, VERIFIER)


def connect_agent(call: Invocation) -> int:
    """``agents connect``: enter a key, test it and use it."""
    return _connect(call, AGENT)


def _connect(call: Invocation, endpoint: KeyedEndpoint) -> int:
    stop, record_id = _stop_choice(call), call.options.id
    choice = require_write_access(call, endpoint.begin)
    key = read_secret(call, f"{endpoint.singular} {record_id}")

    async def work(session: CommandSession) -> int:
        before = await _read(session, endpoint, record_id)
        body = {"stop_choice": stop}
        intent = await send_write(session, endpoint.begin, f"key of {record_id}", record_id=record_id, body=body)

        async def is_entered() -> bool:
            return key_progress(before.raw, (await _read(session, endpoint, record_id)).raw).stage == "entered"

        if not isinstance(intent, dict):
            raise RunwatchError("The service returned no private page", detail="the response is not a record")
        await enter_secret(session, intent, key, is_entered)
        if call.options.stage_only:
            print_record(session, KEY_CONNECTION, await _read(session, endpoint, record_id))
            return SUCCESS
        return await _promote(session, endpoint, record_id, intent.get("intent_id"))

    return run_in_session(call, work, choice)


@writes(VERIFIER.promote)
async def promote(session: CommandSession) -> int:
    """``verifiers promote``: test the entered key, and use it if the test passes."""
    return await _promote(session, VERIFIER, session.call.options.id, None)


async def _promote(session: CommandSession, endpoint: KeyedEndpoint, record_id: str, operation_key: object) -> int:
    pending = (await _read(session, endpoint, record_id)).pending_key
    if pending is None or pending.handle is None:
        raise RunwatchError(
            "No entered key waits to be used",
            detail=f"the connection of {record_id} has no pending_key",
            hint=f"Enter one: {runwatch_command(f'{endpoint.singular}s connect', record_id)}",
        )
    body: dict[str, Any] = {"handle": pending.handle, "captured_generation": pending.captured_generation}
    if isinstance(operation_key, str):
        body["operation_key"] = operation_key
    await send_write(session, endpoint.promote, f"use key of {record_id}", record_id=record_id, body=body)
    after = await _read(session, endpoint, record_id)
    print_record(session, KEY_CONNECTION, after)
    is_in_use, words = promotion_outcome(after, pending.handle)
    (session.call.output.note if is_in_use else session.call.output.warn)(words)
    return SUCCESS if is_in_use else REFUSED


def revoke(call: Invocation) -> int:
    """``verifiers revoke``: stop using the key; exit 1 if it is still in use afterwards.

    Of a key that was stopped before, the service changes nothing, so the time of that is said.
    """
    record_id = call.options.id

    async def work(session: CommandSession) -> int:
        before = await _read(session, VERIFIER, record_id)
        body = {"operation_key": f"runwatch-{uuid.uuid4()}"}
        await send_write(session, VERIFIER.revoke, f"stop key of {record_id}", record_id=record_id, body=body)
        after = await _read(session, VERIFIER, record_id)
        print_record(session, KEY_CONNECTION, after)
        is_stopped, words = revocation_outcome(after)
        was_stopped = before.pending_key is None and is_key_in_use(before) is False
        if is_stopped and was_stopped and before.stopped_at is not None:
            words = f"the key is stopped since {iso_text(before.stopped_at)}; nothing was changed"
        (session.call.output.note if is_stopped else session.call.output.warn)(words)
        return REFUSED if after.status == "active" else SUCCESS

    return run_write(call, VERIFIER.revoke, work, question=f"Stop using the key of verifier {record_id}")


@in_session
async def connection(session: CommandSession) -> int:
    """``verifiers connection``: print the whole connection, and one operation on it if its key is given."""
    options = session.call.options
    query = {"operation_key": options.operation}
    print_record(session, KEY_CONNECTION, await read_one(session, VERIFIER.read, options.id, KeyConnection, query))
    return SUCCESS


async def _read(session: CommandSession, endpoint: KeyedEndpoint, record_id: str) -> KeyConnection:
    return await read_one(session, endpoint.read, record_id, KeyConnection)


def _stop_choice(call: Invocation) -> dict[str, Any]:
    """Return when the key should stop automatically; by default never."""
    options = call.options
    if options.days is not None and options.until is not None:
        raise UsageError("--days and --until cannot be used together")
    if options.time_zone is not None and options.until is None:
        raise UsageError("--time-zone goes with --until")
    if options.days is not None:
        if options.days not in STOP_DAYS:
            raise UsageError(f"--days takes one of {', '.join(map(str, STOP_DAYS))}", hint="--until takes any date.")
        return {"kind": "preset_days", "days": options.days}
    if options.until is not None:
        try:
            date.fromisoformat(options.until)
        except ValueError:
            raise UsageError(
                f"--until takes a day, not '{clean_line(options.until)}'", hint="For example 2027-01-31."
            ) from None
        return {"kind": "calendar_date", "date": options.until, "time_zone": options.time_zone or "UTC"}
    return {"kind": "no_expiration"}
