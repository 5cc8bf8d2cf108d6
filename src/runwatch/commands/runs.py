"""``runs list|show|events|cancel|result|add``."""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from runwatch.api.errors import ApiError, ApiProblem
from runwatch.api.operations import CANCEL
from runwatch.base.errors import RunwatchError, UsageError
from runwatch.base.shell_words import runwatch_command
from runwatch.commands.cli.error_report import report_error
from runwatch.commands.cli.invocation import Invocation
from runwatch.commands.cli.parser import refuse_keys
from runwatch.commands.cli.short_ids import name_seen_id
from runwatch.commands.shared.bulk_writes import Outcome, run_for_each_id
from runwatch.commands.shared.list_reader import (
    build_query,
    check_list_is_missing,
    filter_by_options,
    parse_limit,
    read_all,
    read_list,
)
from runwatch.commands.shared.record_printer import RecordPrinter, print_events, print_outcomes
from runwatch.commands.shared.session import CommandSession, in_session, run_in_session
from runwatch.records.arm import Arm
from runwatch.records.run import Run
from runwatch.store.repositories.notes import NotePurpose
from runwatch.store.repositories.outbox import WriteRequest
from runwatch.view.resources.runs import RUNS
from runwatch.view.runs.run_facts import RunFacts, parse_submitted_request


@in_session
async def list_runs(session: CommandSession) -> int:
    """``runs list``: print the runs that the service lists, or those on the watch list if it offers no list."""
    call = session.call
    printer = RecordPrinter(call, session.settings, RUNS)
    query = build_query(session, RUNS)
    # Data beyond the records is used for tables and filters, never in exact output.
    facts_of = await _read_local_facts(session) if call.options.filter else lambda _: {}
    try:
        values: Sequence[Any] = await read_list(
            session, "getExecutions", query, lambda values: printer.select(values, facts_of(values))
        )
    except ApiProblem as problem:
        await check_list_is_missing(session, problem)
        call.output.note("this service has no list of runs; these are the runs on your watch list")
        values = filter_by_options(call, await _watched(session))
    if call.output.form == "table" and not call.options.filter:
        facts_of = await _read_local_facts(session)
    printer.records(values, facts_of(values))
    return 0


async def _watched(session: CommandSession) -> list[Any]:
    """Read the runs on the watch list one by one. Those that do not exist are reported and omitted."""
    watched = await session.watch_list.list(await session.scope())
    runs: list[Run] = []
    for item in watched[: parse_limit(session.call)]:
        try:
            runs.append(await session.client.get_run(item.run_id))
        except ApiProblem as problem:
            if problem.status != 404:
                raise
            session.call.output.warn(f"{item.run_id}: {problem.title}")
    return [dict(run.raw) for run in runs]


_FactsOf = Callable[[Sequence[Any]], Mapping[int, RunFacts]]


async def _read_local_facts(session: CommandSession) -> _FactsOf:
    """Read what is known here of all runs, submitted requests and labels; return a function for the facts of some."""
    watched = await session.watch_list.list(await session.scope())
    requests = {item.run_id: item.request for item in watched if item.request is not None}
    labels = await _labels(session)

    def facts_of(values: Sequence[Any]) -> Mapping[int, RunFacts]:
        facts = {}
        for position, value in enumerate(values):
            if isinstance(value, dict):
                run = Run(value)
                label = labels.get(run.id, "")
                facts[position] = RunFacts(run, request=parse_submitted_request(requests.get(run.id)), label=label)
        return facts

    return facts_of


async def _labels(session: CommandSession, purpose: NotePurpose = "label") -> Mapping[str, str]:
    notes = await session.notes.list_for(await session.scope(), Run.KIND)
    return {note.record_id: note.text for note in notes if note.purpose == purpose}


@in_session
async def show(session: CommandSession) -> int:
    """``runs show``: print one run, with facts from its receipt and its submitted request."""
    call = session.call
    printer = RecordPrinter(call, session.settings, RUNS)
    run = await session.client.get_run(call.options.id)
    facts = await _load_run_facts(session, run) if call.output.form == "table" else RunFacts(run)
    printer.record(facts, run.raw)
    return 0


async def _load_run_facts(session: CommandSession, run: Run) -> RunFacts:
    """Return a run with all related data. A receipt that cannot be read is omitted."""
    scope = await session.scope()
    request = parse_submitted_request(await session.watch_list.request_of(scope, run.id))
    last = await session.event_store.window(scope, run.id, -1, 1)
    receipt = None
    if run.is_final:
        try:
            receipt = await session.client.get_receipt(run.id)
        except ApiError as error:
            session.call.output.warn(f"without the receipt: {error.title}")
    label, note = (await _labels(session)).get(run.id, ""), (await _labels(session, "note")).get(run.id, "")
    facts = RunFacts(run, request, receipt, last[0] if last else None, label, note)
    if facts.found_no_arm:
        # Without the list, the advice is the usual one.
        with contextlib.suppress(ApiError):
            facts = facts._replace(arms=tuple(await read_all(session, Arm)))
    return facts


@in_session
async def events(session: CommandSession) -> int:
    """``runs events``: print the current events, read once."""
    options = session.call.options
    print_events(session.call, session.settings, await session.client.list_events(options.id, after=options.after))
    return 0


def cancel(call: Invocation) -> int:
    """``runs cancel``: print one outcome per run, and return the highest exit code."""
    return run_for_each_id(call, CANCEL, _cancel, partial(print_outcomes, call), first_word="Cancel", singular="run")


async def _cancel(session: CommandSession, run_id: str) -> tuple[Outcome, int]:
    key = str(uuid.uuid4())
    row: dict[str, Any] = {"execution_id": run_id}
    try:
        request = WriteRequest(CANCEL, {"execution_id": run_id}, None, key, f"cancel {run_id}")
        call_result = await session.outbox.deliver(session.client, await session.scope(), request)
    except ApiError as error:
        name_seen_id(error, session.call, run_id)
        code = report_error(error, session.call.output)
        state = await _state_after_refusal(session, run_id, error)
        outcome = "unknown" if not error.outcome_known else "already final" if state else "refused"
        return {**row, "outcome": outcome, "status": state, "idempotency_key": key}, code
    status = call_result.value.get("status") if isinstance(call_result.value, dict) else None
    outcome = "cancelled" if status == "cancelled" else "accepted"
    return {**row, "outcome": outcome, "status": status, "idempotency_key": key}, 0


async def _state_after_refusal(session: CommandSession, run_id: str, error: ApiError) -> str | None:
    """Return the final status of a run whose cancel was refused because of its state."""
    if not isinstance(error, ApiProblem) or error.status != 409:
        return None
    try:
        run = await session.client.get_run(run_id)
    except ApiError:
        return None
    return run.status if run.is_final else None


@in_session
async def result(session: CommandSession) -> int:
    """``runs result``: print the model output. It is not requested for a test run, or for one that ended otherwise than
    completed: they have none (manual: interface, "Results").
    """
    run_id, output = session.call.options.id, session.call.output
    run = await session.client.get_run(run_id)
    if await _is_test_run(session, run_id, run):
        raise RunwatchError(
            "A test run has no result content",
            detail="it calls no model",
            hint=f"Its receipt: {runwatch_command('receipts show', run_id)}",
        )
    if run.is_final and run.status != "completed":
        raise RunwatchError(
            "Only a completed run has a result",
            detail=f"this one is {run.status}",
            hint=f"Why it ended: {runwatch_command('runs show', run_id)}",
        )
    found = await session.client.get_result(run_id)
    if output.is_json:
        output.json(dict(found.raw), indent=2 if output.form == "json" else None)
    elif found.final_text is None:
        raise RunwatchError("The result has no final_text", hint="--json shows what the service sent.")
    else:
        output.clean_block(found.final_text)
    if run.incomplete_output:
        output.note(run.incomplete_output)
    return 0


async def _is_test_run(session: CommandSession, run_id: str, run: Run) -> bool:
    """Whether a run is known to be a test run, by its record, its submitted request or its receipt."""
    facts = RunFacts(
        run, request=parse_submitted_request(await session.watch_list.request_of(await session.scope(), run_id))
    )
    if facts.mode.value is None and run.is_final:
        facts = RunFacts(run, receipt=await session.client.get_receipt(run_id))
    return facts.is_test


def add(call: Invocation) -> int:
    """``runs add``: add runs to the watch list. They are read first, so a mistyped id is not watched forever."""
    ids = _ids(call)

    async def work(session: CommandSession) -> int:
        outcomes: list[dict[str, Any]] = []
        codes = [0]
        known: list[str] = []
        for run_id in ids:
            try:
                status = None if call.options.no_check else (await session.client.get_run(run_id)).status
            except ApiError as error:
                name_seen_id(error, call, run_id)
                codes.append(report_error(error, call.output))
                outcomes.append({"execution_id": run_id, "outcome": "not added", "status": None})
                continue
            known.append(run_id)
            outcomes.append({"execution_id": run_id, "outcome": "added", "status": status})
        await session.watch_list.add(await session.scope(), known)
        print_outcomes(call, outcomes)
        return max(codes)

    return run_in_session(call, work)


def _ids(call: Invocation) -> list[str]:
    """Return the ids given; ``-`` reads the first word of every line of standard input."""
    ids: list[str] = []
    for word in call.options.id:
        if word != "-":
            ids.append(word)
            continue
        text = call.read_input("-").decode("utf-8", "replace")
        ids += [line.split()[0] for line in text.splitlines() if line.strip()]
    refuse_keys("An id on standard input", ids)
    if not ids:
        raise UsageError("No id on standard input")
    return list(dict.fromkeys(ids))
