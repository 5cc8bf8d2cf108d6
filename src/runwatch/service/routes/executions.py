"""Runs: submit, list, read, events, result, cancel (manual: interface, "Runs"; manual: interface, "Events")."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from runwatch.base.shell_words import runwatch_command
from runwatch.records.requests.run import RunRequest
from runwatch.records.states import FINAL_STATES, LIVE_STATES
from runwatch.service.access.roles import RUNS_WRITE
from runwatch.service.errors import RefusalError, make_validation_error
from runwatch.service.execution import runs, submission
from runwatch.service.execution.live import live_rows
from runwatch.service.execution.state_machine import RunState
from runwatch.service.http.bodies import parse_body
from runwatch.service.http.endpoints import Endpoint, shows
from runwatch.service.http.lists.pagination import parse_page_parameters, read_filters, read_since
from runwatch.service.http.lists.streamed_lists import PART_ROWS, stream_texts
from runwatch.service.http.responses import ServiceResponse
from runwatch.service.http.service_call import ServiceCall
from runwatch.service.tables import arms_table, events_table, live_runs_table, runs_table
from runwatch.service.transaction import Row, Transaction, pick

_STATES: Final = (*LIVE_STATES, *sorted(FINAL_STATES))


async def submit(call: ServiceCall) -> ServiceResponse:
    """Accept a run; see :func:`runwatch.service.execution.submission.submit` for refusals."""
    if call.content is None:
        raise make_validation_error(("body", "Must be an object."))
    request = parse_body(RunRequest, call.content)

    def effect(transaction: Transaction) -> tuple[dict[str, Any], RunState]:
        run = submission.submit(transaction, call.tenant_id, call.principal.key_id, request, call.content)
        return runs.run_json(run), run

    response, run = await call.write_with(effect)
    # The run is on disk now. A replayed request does not get here, so each run is started once.
    call.context.engine.drive(run)
    return response


def list_runs(transaction: Transaction, call: ServiceCall) -> dict[str, object]:
    paging = parse_page_parameters(call, "executions")
    since = read_since(call.query)
    where = read_filters(call, status=_STATES)
    rows = transaction.newest(
        runs_table,
        where,
        since=None if since is None else ("created_at", since),
        before=paging.before,
        limit=paging.limit,
    )
    return paging.page(
        "executions", rows, lambda shown: [_run_json(transaction, runs.run_from_row(row)) for row in shown]
    )


def read_run(transaction: Transaction, call: ServiceCall) -> dict[str, Any]:
    """Return one run, with what providers said on its failed calls; lists, events and webhooks leave that out."""
    run = _find(transaction, call)
    errors = live_rows.provider_errors_json(transaction, run) if run.mode == "live" else []
    return {**_run_json(transaction, run), **({"provider_errors": errors} if errors else {})}


def _run_json(transaction: Transaction, run: RunState) -> dict[str, Any]:
    """Build the JSON of a run. ``required_arm``, only after ``arm_not_ready``, is not in the specification."""
    shown = runs.run_json(run)
    if run.reason != "arm_not_ready":
        return shown
    arm_id = transaction.get(live_runs_table, {"execution_id": run.execution_id})["required_arm_id"]
    arm = None if arm_id is None else transaction.one(arms_table, {"arm_id": arm_id})
    return shown if arm is None else {**shown, "required_arm": pick(arm, "arm_id display_name status status_reason")}


async def list_events(call: ServiceCall) -> ServiceResponse:
    """Return the run's events after the one named by ``after``, oldest first, or all of them if that one is unknown.

    The stored texts are sent unchanged, so an event has the same bytes on every read.
    """

    mine = {"execution_id": call.ids["execution_id"]}

    def read_part(transaction: Transaction, edge: int | None) -> Sequence[Row]:
        if edge is None:
            _find(transaction, call)
            known = transaction.one(events_table, {**mine, "event_id": call.query.get("after", "")})
            edge = 0 if known is None else known["sequence"]
        return transaction.oldest(events_table, mine, after=edge, limit=PART_ROWS)

    return await stream_texts(call, "events", read_part)


_KEPT_DAYS: Final = live_rows.RETENTION.days


def _why(run: RunState) -> str:
    """Name the command that says why a run has no result, or that waits for one."""
    if run.is_final:
        return f"To see why: {runwatch_command('runs show', run.execution_id)}"
    return f"To wait for it: {runwatch_command('runs watch', run.execution_id)}"


def read_result(transaction: Transaction, call: ServiceCall) -> dict[str, Any]:
    """Return the model output of a completed live run while it is retained."""
    run = _find(transaction, call)
    if run.mode == "echo":
        raise RefusalError("invalid_state", "A test run calls no model, so it has no result.")
    if run.status != "completed":
        raise RefusalError("invalid_state", f"Only a completed run has a result; this one is {run.status}. {_why(run)}")
    row = live_rows.find_result(transaction, run.execution_id)
    if row is None:
        raise RefusalError("not_found", f"The result was kept for {_KEPT_DAYS} days and is gone. Submit again.")
    return live_rows.result_json(row)


async def cancel(call: ServiceCall) -> ServiceResponse:
    """Cancel a run that is not final; a provider call in progress is not undone."""
    run_id, key_id = call.ids["execution_id"], call.principal.key_id
    response = await call.write(
        lambda transaction: runs.run_json(submission.cancel(transaction, call.tenant_id, key_id, run_id))
    )
    call.context.engine.let_go(run_id)
    return response


def _find(transaction: Transaction, call: ServiceCall) -> RunState:
    return runs.find(transaction, call.tenant_id, call.ids["execution_id"])


_RUN: Final = "/v1/executions/{execution_id}"

ENDPOINTS: Final = (
    Endpoint(
        "POST", "/v1/executions", submit, takes_body=True, needs_key=True, is_one_write=True, permission=RUNS_WRITE
    ),
    Endpoint("GET", "/v1/executions", shows(list_runs)),
    Endpoint("GET", _RUN, shows(read_run)),
    Endpoint("GET", f"{_RUN}/events", list_events),
    Endpoint("GET", f"{_RUN}/result", shows(read_result)),
    Endpoint("POST", f"{_RUN}/cancel", cancel, permission=RUNS_WRITE),
)
