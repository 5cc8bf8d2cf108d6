"""``runs submit``: validated locally, stored before it is sent, one run per key."""

from __future__ import annotations

import uuid
from collections.abc import Collection
from decimal import Decimal
from typing import Any, Final

from runwatch.api.errors import ApiError
from runwatch.api.operations import SUBMIT
from runwatch.base.errors import UsageError
from runwatch.base.json import loads
from runwatch.commands.cli.invocation import Invocation
from runwatch.commands.shared.record_printer import RecordPrinter, make_render_context
from runwatch.commands.shared.run_request import BODY_OPTIONS, build_run_body, list_given
from runwatch.commands.shared.session import CommandSession
from runwatch.commands.shared.writes import read_idempotency_key, run_write
from runwatch.commands.watch import Watcher
from runwatch.records.receipt import Receipt
from runwatch.records.run import Run
from runwatch.store.repositories.outbox import UnconfirmedWrite, WriteRequest
from runwatch.view.actions.run_form import FORM
from runwatch.view.resources.runs import RUNS
from runwatch.view.runs.provider_calls import end_advice_text, has_run, last_failure_text
from runwatch.view.runs.run_facts import RunFacts, parse_submitted_request
from runwatch.view.text.format import duration, estimated, over_limit, spent_amount
from runwatch.view.text.safe_text import line

LABEL_CELLS: Final = 60


def submit(call: Invocation) -> int:
    """``runs submit``: send a new request, retry an unconfirmed one, or print what would be sent."""
    options = call.options
    if options.resend is not None:
        _refuse_parts(call)
        return run_write(call, SUBMIT, lambda session: _resend(session, options.resend))
    given_key = read_idempotency_key(call)
    body = build_run_body(call)
    for unknown in FORM.describe_unknown_members(loads(body)):
        call.output.warn(unknown)
    key = given_key or str(uuid.uuid4())
    if options.dry_run:
        value = {"method": "POST", "path": "/v1/executions", "idempotency_key": key, "body": loads(body)}
        call.output.json(value)
        return 0
    return run_write(call, SUBMIT, lambda session: _submit(session, body, key))


def _refuse_parts(call: Invocation) -> None:
    given = list_given(call, ("--from", "--idempotency-key", "--dry-run", *BODY_OPTIONS))
    if given:
        raise UsageError("--resend sends a saved request unchanged", hint=f"Leave out {', '.join(given)}.")


async def _submit(session: CommandSession, body: bytes, key: str) -> int:
    call = session.call
    is_own_key = call.options.idempotency_key is None
    if is_own_key and not call.output.is_json:
        call.output.note(f"idempotency key {key}")
    return await _go_on(session, await submit_run(session, body, key, is_new=is_own_key), body)


async def submit_run(session: CommandSession, body: bytes, key: str, *, is_new: bool = True) -> Run:
    """Submit a run through the outbox, and return it in its current state.

    Args:
        is_new: Whether the key cannot have been used before.

    Raises:
        RunwatchError: As for :meth:`~runwatch.store.repositories.outbox.Outbox.deliver`.
    """
    session.call.pending_key = key
    request = WriteRequest(SUBMIT, {}, body, key, _label(body))
    result = await session.outbox.deliver(session.client, await session.scope(), request)
    session.call.pending_key = None
    return await _accepted(session, result.value, may_be_old=not is_new or result.attempts > 1)


async def _resend(session: CommandSession, key: str) -> int:
    scope = await session.scope()
    kept = await session.outbox.unconfirmed(scope)
    wanted = next((item for item in kept if item.request.key == key and item.request.operation == SUBMIT), None)
    if wanted is None:
        raise UsageError(f"No unconfirmed submit has the key {key}", detail=_kept(kept))
    session.call.pending_key = key
    result = await session.outbox.retry(session.client, scope, wanted)
    session.call.pending_key = None
    run = await _accepted(session, result.value, may_be_old=True)
    return await _go_on(session, run, wanted.request.body or b"")


def _kept(kept: list[UnconfirmedWrite]) -> str:
    submits = [f"{item.request.key} ({item.request.label})" for item in kept if item.request.operation == SUBMIT]
    return f"the unconfirmed ones are {', '.join(submits)}" if submits else "there is no unconfirmed submit"


def _label(body: bytes) -> str:
    """Return the beginning of the objective as a one-line label."""
    task = loads(body).get("task")
    objective = task.get("objective") if isinstance(task, dict) else None
    return str(line(objective or "", LABEL_CELLS))


async def _accepted(session: CommandSession, value: object, *, may_be_old: bool) -> Run:
    """Return the run in the response to a submit.

    The response for a reused key is the original one, however old, so the run is then read (manual: interface,
    "Idempotency").
    """
    assert isinstance(value, dict), "the outbox takes no other response to a submit"
    run = Run(value)
    session.call.accepted_run = run.id
    if may_be_old:
        try:
            return await session.client.get_run(run.id)
        except ApiError as error:
            session.call.output.warn(f"cannot read the run's state: {error.title}")
    return run


async def _go_on(session: CommandSession, run: Run, body: bytes) -> int:
    call = session.call
    request = parse_submitted_request(loads(body)) if body else None
    if not call.options.watch:
        RecordPrinter(call, session.settings, RUNS).record(RunFacts(run, request=request), run.raw)
        return 0
    call.output.note(f"run {run.id}")
    watcher = Watcher(session, [run.id])
    code = await watcher.watch()
    limit = RunFacts(run, request=request).max_cost_usd.value
    status, states = watcher.statuses.get(run.id), watcher.states[run.id]
    try:
        receipt = await session.client.get_receipt(run.id)
    except ApiError as error:
        call.output.note(f"{line(status)}; the receipt could not be read: {error.title}")
    else:
        call.output.note(_summary(receipt, status, limit, states))
        if receipt.reason and receipt.status != "completed":
            context = make_render_context(call, session.settings)
            advice = end_advice_text(receipt.reason, receipt, (), context, states=states)
            call.output.note(f"next: {advice}")
    # On its own line, because users copy whole lines and the line above has text from the service.
    call.output.note(f"receipt: {call.command('receipts show', run.id)}")
    if body and loads(body).get("mode") == "live" and status == "completed":
        call.output.note(f"result: {call.command('runs result', run.id)}")
    return code


def _summary(receipt: Receipt, status: str | None, limit: Decimal | None, states: Collection[str | None]) -> str:
    """Describe the end of a run in one line, from its receipt, its cost limit in US dollars and its events' states."""
    parts: list[Any] = [line(receipt.status or status)]
    if receipt.reason and receipt.reason != receipt.status:
        failure: str | None = last_failure_text(receipt)
        if receipt.reason == "runtime_exceeded" and has_run(states, receipt) is False:
            failure = "it waited in the queue and never ran"
        parts.append(line(receipt.reason if failure is None else f"{receipt.reason}: {failure}"))
    if receipt.incomplete_output:
        parts.append(receipt.incomplete_output)
    parts.append(f"{_spend(receipt)}{over_limit(receipt.known_spend_usd, limit)}")
    if receipt.totals is not None and receipt.totals.runtime_s is not None:
        parts.append(duration(receipt.totals.runtime_s))
    return ", ".join(parts)


def _spend(receipt: Receipt) -> str:
    if receipt.mode == "echo":
        return "test run, no charge"
    known = receipt.known_spend_usd
    amount = line("unknown") if known is None else spent_amount(known, receipt.unknown_calls, is_exact=True)
    amount = estimated(amount, is_estimated=receipt.is_estimated)
    return "spend unknown" if amount == "unknown" else f"spent {amount}"
