"""Runs: submit, list, read, events, result, cancel (manual: interface, "Runs"; manual: interface, "Events")."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pydantic import ValidationError

from runwatch.records.requests import RunRequest, field_errors
from runwatch.records.states import FINAL_STATES, LIVE_STATES
from runwatch.service.access.roles import RUNS_WRITE
from runwatch.service.errors import RefusalError, make_validation_error
from runwatch.service.execution import runs, submission
from runwatch.service.execution.live import live_rows
from runwatch.service.execution.state_machine import RunState
from runwatch.service.http.endpoints import AuthenticatedRequest, Endpoint
from runwatch.service.http.pagination import next_cursor, parse_page_parameters, read_choice, read_since
from runwatch.service.http.responses import ServiceResponse, make_json_response
from runwatch.service.http.streamed_lists import PART_ROWS, stream_texts
from runwatch.service.tables import events
from runwatch.service.tables import runs as runs_table
from runwatch.service.transaction import Row, Transaction

_STATES: Final = (*LIVE_STATES, *sorted(FINAL_STATES))


async def submit(call: AuthenticatedRequest) -> ServiceResponse:
    """Accept a run; see :func:`runwatch.service.execution.submission.submit` for refusals."""
    try:
        request = RunRequest.model_validate(call.content)
    except ValidationError as error:
        raise make_validation_error(*((entry["field"], entry["message"]) for entry in field_errors(error))) from None
    accepted: list[RunState] = []

    def keep(transaction: Transaction) -> ServiceResponse:
        run = submission.submit(
            transaction,
            call.principal.tenant_id,
            call.principal.key_id,
            request,
            call.content,
        )
        accepted.append(run)
        return make_json_response(runs.run_json(run))

    answer = await call.write(keep)
    call.context.engine.drive(accepted[-1])
    return answer


async def list_runs(call: AuthenticatedRequest) -> ServiceResponse:
    """Return a page of runs, newest first."""
    paging = parse_page_parameters(call, "executions")
    since = read_since(call.query)
    status = read_choice(call.query, "status", _STATES)
    where: dict[str, object] = {"tenant_id": call.principal.tenant_id}
    if status is not None:
        where["status"] = status

    def read(transaction: Transaction) -> ServiceResponse:
        page = transaction.newest(
            runs_table,
            where,
            since=None if since is None else ("created_at", since),
            before=paging.before,
            limit=paging.limit + 1,
        )
        items = [runs.run_json(runs.run_from_row(row)) for row in page[: paging.limit]]
        return make_json_response({"executions": items, "next_cursor": next_cursor(page, paging)})

    return await call.read(read)


async def read_run(call: AuthenticatedRequest) -> ServiceResponse:
    """Return one run."""
    return await call.read(lambda transaction: make_json_response(runs.run_json(_find(transaction, call))))


async def list_events(call: AuthenticatedRequest) -> ServiceResponse:
    """Return the run's events after the one named by ``after``, oldest first, or all of them if that one is unknown.

    The stored texts are sent unchanged, so an event has the same bytes on every read.
    """

    mine = {"execution_id": call.ids["execution_id"]}

    def read_part(transaction: Transaction, edge: int | None) -> Sequence[Row]:
        if edge is None:
            _find(transaction, call)
            known = transaction.one(events, {**mine, "event_id": call.query.get("after", "")})
            edge = 0 if known is None else known["sequence"]
        return transaction.oldest(events, mine, after=edge, limit=PART_ROWS)

    return await stream_texts(call, "events", read_part)


async def read_result(call: AuthenticatedRequest) -> ServiceResponse:
    """Return the model output of a completed live run while it is retained."""

    def read(transaction: Transaction) -> ServiceResponse:
        run = _find(transaction, call)
        if run.mode == "echo":
            raise RefusalError("invalid_state", "A test run calls no model, so it has no result.")
        if run.status != "completed":
            raise RefusalError("invalid_state", f"Only a completed run has a result; this one is {run.status}.")
        row = live_rows.find_result(transaction, run.execution_id)
        if row is None:
            raise RefusalError("not_found", "The result is no longer stored.")
        return make_json_response(live_rows.result_json(row))

    return await call.read(read)


async def cancel(call: AuthenticatedRequest) -> ServiceResponse:
    """Cancel a run that is not final; a provider call in progress is not undone."""
    principal, run_id = call.principal, call.ids["execution_id"]

    def effect(transaction: Transaction) -> ServiceResponse:
        ended = submission.cancel(transaction, principal.tenant_id, principal.key_id, run_id)
        return make_json_response(runs.run_json(ended))

    answer = await call.write(effect)
    call.context.engine.let_go(run_id)
    return answer


def _find(transaction: Transaction, call: AuthenticatedRequest) -> RunState:
    return runs.find(transaction, call.principal.tenant_id, call.ids["execution_id"])


_RUN: Final = "/v1/executions/{execution_id}"

ENDPOINTS: Final = (
    Endpoint("POST", "/v1/executions", submit, takes_body=True, needs_key=True, permission=RUNS_WRITE),
    Endpoint("GET", "/v1/executions", list_runs),
    Endpoint("GET", _RUN, read_run),
    Endpoint("GET", f"{_RUN}/events", list_events),
    Endpoint("GET", f"{_RUN}/result", read_result),
    Endpoint("POST", f"{_RUN}/cancel", cancel, permission=RUNS_WRITE),
)
