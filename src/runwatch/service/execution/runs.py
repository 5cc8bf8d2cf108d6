"""Runs as rows. Every change of a run is one transaction with its events and its receipt."""

from __future__ import annotations

from dataclasses import fields, replace
from datetime import datetime
from typing import Any, Final

from runwatch.base.clock import format_iso
from runwatch.base.json import ExactNumber, dumps, loads
from runwatch.records.states import LIVE_STATES
from runwatch.service import amounts
from runwatch.service.access.finder import finder
from runwatch.service.execution import state_machine
from runwatch.service.execution.live import live_rows
from runwatch.service.execution.live.checks import verdict_statement
from runwatch.service.execution.live.state import members_of, to_json_value
from runwatch.service.execution.receipts import (
    IN_FLIGHT_NOTE,
    build_receipt,
    find_fee,
    list_arms,
    spend_marks_json,
    work_of,
)
from runwatch.service.execution.state_machine import RunState, SliceState, Transition
from runwatch.service.ids import new_id
from runwatch.service.organization import wallet, webhooks
from runwatch.service.tables import events_table, receipt_arms_table, receipts_table, runs_table
from runwatch.service.transaction import Row, Transaction

UNFINISHED: Final = {"status": LIVE_STATES}
"""Condition for runs that are not final."""

_AT_WORK: Final = ("running", "progress")


def add(transaction: Transaction, run: RunState) -> None:
    """Store a new run: its row and its first event."""
    transaction.add(
        runs_table,
        execution_id=run.execution_id,
        tenant_id=run.tenant_id,
        mode=run.mode,
        policy=run.policy,
        max_runtime_s=run.max_runtime_s,
        created_at=format_iso(run.created_at),
        **_progress_columns(run),
    )
    _add_events(transaction, state_machine.accept(run))
    wallet.count_run(transaction, run.tenant_id, run.created_at, is_final=False)
    transaction.enqueue_run(run.execution_id)


def load(transaction: Transaction, execution_id: str) -> RunState:
    """Load a run that is known to exist."""
    return run_from_row(transaction.get(runs_table, {"execution_id": execution_id}))


_find: Final = finder(runs_table, "execution_id", "run")


def find(transaction: Transaction, tenant_id: str, execution_id: str) -> RunState:
    """Return a run of an organization.

    Refuses with ``not_found`` for an unknown id or a run of another organization.
    """
    return run_from_row(_find(transaction, tenant_id, execution_id))


def take_test_step(transaction: Transaction, execution_id: str) -> RunState:
    """Take a test run's next step if its turn has come, and return the updated run."""
    run = load(transaction, execution_id)
    step = state_machine.next_test_step(run)
    if step is None or (run.status == "queued" and not is_next(transaction, run)):
        return run
    return record(transaction, step.transition(run, transaction.now))


def wake(transaction: Transaction, tenant_id: str) -> None:
    """Queue the organization's oldest waiting runs for as much room as its limit of concurrent runs leaves."""
    limit = wallet.concurrency_of(transaction, tenant_id)
    if limit is None:
        return
    room = limit - transaction.count(runs_table, {"tenant_id": tenant_id, "status": _AT_WORK})
    if room > 0:
        for row in transaction.oldest(runs_table, {"tenant_id": tenant_id, "status": "queued"}, limit=room):
            transaction.enqueue_run(row["execution_id"])


def is_next(transaction: Transaction, run: RunState) -> bool:
    """Whether the organization's limit of concurrent runs lets this queued run start now."""
    limit = wallet.concurrency_of(transaction, run.tenant_id)
    if limit is None:
        return True
    return transaction.count(runs_table, {"tenant_id": run.tenant_id, "status": _AT_WORK}) < limit


def end(
    transaction: Transaction, execution_id: str, status: str, reason: str, *, acted_by: str | None = None
) -> RunState:
    """End the run now unless it is already final, and return the updated run.

    A provider call in progress is not undone; events and receipt say so (manual: interface, "What the service does").
    """
    run = load(transaction, execution_id)
    if run.is_final:
        return run
    check, note = None, None
    if run.mode == "live":
        is_under_way = live_rows.abandon(transaction, execution_id, f"{status}_in_flight")
        note = IN_FLIGHT_NOTE if is_under_way else None
        live = live_rows.load(transaction, run)
        check = verdict_statement(live.checks[-1]) if live.checks else None
        if live.decisive is not None:
            run = replace(run, slices=(replace(run.slices[0], work=work_of(live, live.decisive)), *run.slices[1:]))
        run = _with_spend(transaction, run)
    change = state_machine.end(run, status, reason, transaction.now, acted_by=acted_by, check=check, note=note)
    return record(transaction, change)


def record(transaction: Transaction, change: Transition) -> RunState:
    """Store what a step changed, its events, and everything that follows when the run became final."""
    run = change.run
    transaction.change(runs_table, {"execution_id": run.execution_id}, **_progress_columns(run))
    _add_events(transaction, change)
    if run.is_final:
        _close(transaction, run)
    return run


def record_spend(transaction: Transaction, run: RunState) -> RunState:
    """Update the spend of a live run from its attempts."""
    return record(transaction, Transition(_with_spend(transaction, run), []))


def _with_spend(transaction: Transaction, run: RunState) -> RunState:
    live = live_rows.load(transaction, run)
    first, *others = run.slices
    parts = (replace(first, unknown_calls=live.unknown_calls, estimated_calls=live.estimated_calls), *others)
    return replace(run, spend_usd=to_json_value(live.spend), slices=parts)


def run_from_row(row: Row) -> RunState:
    columns = {field.name: row[field.name] for field in fields(RunState)}
    for name in ("created_at", "completed_at"):
        columns[name] = columns[name] and datetime.fromisoformat(columns[name])
    columns["slices"] = tuple(SliceState(**part) for part in row["slices"])
    return RunState(**columns)


def run_json(run: RunState) -> dict[str, Any]:
    """Build the JSON of a run (manual: interface, "Runs"), with the additional members of this service.

    ``current`` names the slice being worked on, and for live runs the saved model, provider, model and phase of its
    last call. It is ``null`` before the work starts and after it has ended. ``selected`` has the saved model, provider
    and model that the receipt of an ended run names as selected.
    """
    path = f"/v1/executions/{run.execution_id}"
    current = next((part for part in run.slices if part.status in {"running", "progress"}), None)
    decided = {} if run.packet is None else {"decision_packet": run.packet}
    return {
        "execution_id": run.execution_id,
        "status": run.status,
        "slices": [_slice_json(part) for part in run.slices],
        "links": {"status": path, "events": f"{path}/events", "receipt": f"/v1/receipts/{run.execution_id}"},
        "created_at": format_iso(run.created_at),
        "completed_at": None if run.completed_at is None else format_iso(run.completed_at),
        "cancelled_by": run.cancelled_by,
        "mode": run.mode,
        "policy": loads(run.policy),
        **_spend_json(run),
        "reason": run.reason,
        "current": current and {"slice_id": current.slice_id, "capability": current.capability, **_work_json(current)},
        **_selected_json(run),
        **decided,
    }


def _spend_json(run: RunState) -> dict[str, Any]:
    """Build the spend of a run. A sum with an unknown part is ``null``, with its known part beside it."""
    known = ExactNumber(run.spend_usd)
    spend = {"spend_usd": None, "known_spend_usd": known} if run.unknown_calls else {"spend_usd": known}
    return spend | spend_marks_json(run)


def _selected_json(run: RunState) -> dict[str, Any]:
    work = _work_json(run.slices[0]) if run.is_final else {}
    return {"selected": {name: value for name, value in work.items() if name != "phase"}} if work else {}


def _work_json(part: SliceState) -> dict[str, Any]:
    # Rows of earlier versions call the model key ``model``.
    return {"model_key" if name == "model" else name: value for name, value in (part.work or {}).items()}


def _slice_json(part: SliceState) -> dict[str, Any]:
    # The check appears in events and the receipt, not in the run (manual: interface, "Runs").
    shown = {"slice_id": part.slice_id, "capability": part.capability, "status": part.status}
    return shown if part.finish_reason is None else {**shown, "finish_reason": part.finish_reason}


def _progress_columns(run: RunState) -> dict[str, object]:
    return {
        "status": run.status,
        "slices": [members_of(part) for part in run.slices],
        "spend_usd": run.spend_usd,
        "reason": run.reason,
        "cancelled_by": run.cancelled_by,
        "completed_at": None if run.completed_at is None else format_iso(run.completed_at),
    }


def _add_events(transaction: Transaction, change: Transition) -> None:
    execution_id = change.run.execution_id
    for event in change.events:
        event_id = new_id("ev", transaction.now)
        body = dumps({"event_id": event_id, "execution_id": execution_id, **event})
        transaction.add(events_table, event_id=event_id, execution_id=execution_id, body=body)


def _close(transaction: Transaction, run: RunState) -> None:
    """Finish a run that became final: store its receipt, charge it, queue its webhooks and delete its task."""
    assert run.completed_at is not None
    live = live_rows.load(transaction, run) if run.mode == "live" else None
    receipt = build_receipt(run, live)
    transaction.add(
        receipts_table,
        execution_id=run.execution_id,
        tenant_id=run.tenant_id,
        status=run.status,
        completed_at=format_iso(run.completed_at),
        body=dumps(receipt),
    )
    wallet.count_run(transaction, run.tenant_id, run.created_at, is_final=True)
    for arm_id in list_arms(receipt):
        transaction.add(receipt_arms_table, arm_id=arm_id, execution_id=run.execution_id)
    if live is not None:
        live_rows.close(transaction, run.execution_id)
        wallet.charge(transaction, run.tenant_id, amounts.sum_amounts((live.spend, find_fee(live))), run.execution_id)
    webhooks.enqueue(transaction, run.tenant_id, run_json(run))
    if transaction.has_queue:
        wake(transaction, run.tenant_id)
