"""Live runs as rows.

Outputs are stored as JSON text because a model may produce characters that database text cannot hold.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from datetime import timedelta
from typing import Any, Final

from runwatch.base.clock import format_iso
from runwatch.base.json import dumps, loads
from runwatch.service import amounts
from runwatch.service.execution.live.state import STARTED, Attempt, FinishedCheck, LiveRun, RankedArm, Skill
from runwatch.service.execution.state_machine import RunState
from runwatch.service.models.providers.types import ANSWER_MEMBERS
from runwatch.service.tables import (
    attempt_answers_table,
    attempt_bounds_table,
    attempt_statuses_table,
    attempts_table,
    live_runs_table,
    provider_messages_table,
    results_table,
    tasks_table,
)
from runwatch.service.transaction import Row, Transaction, pick

RETENTION: Final = timedelta(days=7)
"""How long a result, and what a provider said on a failed call, can be read. The specification says only that the time
is bounded.
"""

_ELSEWHERE: Final = frozenset({"worst_usd", "http_status", *ANSWER_MEMBERS})
"""Fields of an attempt that have tables of their own."""

_ATTEMPT_FIELDS: Final = tuple(field.name for field in fields(Attempt) if field.name not in _ELSEWHERE)


def add(
    transaction: Transaction,
    run: RunState,
    task: Any,
    *,
    verifier_id: str | None,
    required_arm_id: str | None,
    review_composer: Mapping[str, Any] | None,
) -> None:
    """Store the choices of a new live run's request, and its task until the run is final."""
    transaction.add(
        live_runs_table,
        execution_id=run.execution_id,
        verifier_id=verifier_id,
        required_arm_id=required_arm_id,
        review_composer=None if review_composer is None else dict(review_composer),
        checks=[],
    )
    transaction.add(tasks_table, execution_id=run.execution_id, body=dumps(task))


def load(transaction: Transaction, run: RunState) -> LiveRun:
    row = transaction.get(live_runs_table, {"execution_id": run.execution_id})
    policy = loads(run.policy)
    where = {"execution_id": run.execution_id}
    made = transaction.oldest(attempts_table, where)
    # Each step of a run reads what is known so far, and most steps come before the first response.
    has_ended = any(attempt["state"] != STARTED for attempt in made)
    statuses, answers, bounds = (
        {entry["number"]: entry for entry in (transaction.list_all(table, where) if is_there else ())}
        for table, is_there in (
            (attempt_statuses_table, has_ended),
            (attempt_answers_table, has_ended),
            (attempt_bounds_table, made),
        )
    )
    members = " ".join(ANSWER_MEMBERS)
    return LiveRun(
        verifier_id=row["verifier_id"],
        required_arm_id=row["required_arm_id"],
        on_eval=tuple(policy.get("on_eval") or ()),
        max_cost_usd=amounts.amount_of(policy["budget"]["max_cost_usd"]),
        options=tuple(RankedArm(**option) for option in row["options"] or ()),
        skill=None if row["skill"] is None else Skill(**row["skill"]),
        attempts=tuple(
            _attempt_of(
                attempt,
                worst_usd=bounds.get(attempt["number"], {}).get("worst_usd"),
                http_status=statuses.get(attempt["number"], {}).get("http_status"),
                **(pick(answers[attempt["number"]], members) if attempt["number"] in answers else {}),
            )
            for attempt in made
        ),
        checks=tuple(FinishedCheck(**check) for check in row["checks"]),
        acted_on_eval=row["acted_on_eval"],
        review_composer=row["review_composer"],
    )


def change(transaction: Transaction, execution_id: str, **columns: object) -> None:
    """Record what a live run has come to know: its ranked options, finished checks, or how the policy reacted."""
    transaction.change(live_runs_table, {"execution_id": execution_id}, **columns)


def find_task(transaction: Transaction, execution_id: str) -> dict[str, Any]:
    task: dict[str, Any] = loads(transaction.get(tasks_table, {"execution_id": execution_id})["body"])
    return task


def add_attempt(transaction: Transaction, execution_id: str, attempt: Attempt) -> None:
    transaction.add(attempts_table, execution_id=execution_id, **_attempt_columns(attempt))
    if attempt.worst_usd is not None:
        transaction.add(
            attempt_bounds_table, execution_id=execution_id, number=attempt.number, worst_usd=attempt.worst_usd
        )


def record_attempt(transaction: Transaction, execution_id: str, attempt: Attempt) -> None:
    where = {"execution_id": execution_id, "number": attempt.number}
    transaction.change(attempts_table, where, **_attempt_columns(attempt))
    if attempt.http_status is not None:
        transaction.add(attempt_statuses_table, **where, http_status=attempt.http_status)
    answer = {name: getattr(attempt, name) for name in ANSWER_MEMBERS}
    if any(value is not None for value in answer.values()):
        transaction.add(attempt_answers_table, **where, **answer)


def abandon(transaction: Transaction, execution_id: str, state: str) -> bool:
    """Mark a call in progress as abandoned; return whether there was one."""
    where = {"execution_id": execution_id, "state": STARTED}
    is_under_way = transaction.count(attempts_table, where) > 0
    if is_under_way:
        transaction.change(attempts_table, where, state=state, ended_at=format_iso(transaction.now))
    return is_under_way


def close(transaction: Transaction, execution_id: str) -> None:
    """Delete the prompt of a run that became final, and its outputs except the result."""
    transaction.remove(tasks_table, {"execution_id": execution_id})
    transaction.change(attempts_table, {"execution_id": execution_id}, candidate=None)


def add_result(transaction: Transaction, run: RunState, text: str, provenance: dict[str, Any] | None) -> None:
    """Store the output of a live run that completes now, and remove expired results."""
    sweep(transaction)
    transaction.add(
        results_table,
        execution_id=run.execution_id,
        tenant_id=run.tenant_id,
        slice_id=run.slices[0].slice_id,
        final_text=dumps(text),
        model_provenance=provenance,
        retention_expires_at=format_iso(transaction.now + RETENTION),
    )


def find_result(transaction: Transaction, execution_id: str) -> Row | None:
    """Return the result of a run, or ``None`` when it has expired."""
    row = transaction.one(results_table, {"execution_id": execution_id})
    return None if row is None or row["retention_expires_at"] <= format_iso(transaction.now) else row


def sweep(transaction: Transaction) -> None:
    """Remove expired results and expired messages of providers."""
    for table in (results_table, provider_messages_table):
        transaction.remove(table, {}, until=("retention_expires_at", format_iso(transaction.now)))


def add_provider_message(transaction: Transaction, execution_id: str, number: int, message: str) -> None:
    """Store what the provider said when the call of an attempt failed, and remove what has expired."""
    sweep(transaction)
    transaction.add(
        provider_messages_table,
        execution_id=execution_id,
        number=number,
        message=dumps(message),
        retention_expires_at=format_iso(transaction.now + RETENTION),
    )


def provider_errors_json(transaction: Transaction, run: RunState) -> list[dict[str, Any]]:
    """Build ``provider_errors`` of a run: status and words with which providers refused its calls.

    Not in the specification. The words are ``null`` where the provider gave none, and after their retention.
    """
    where = {"execution_id": run.execution_id}
    live = load(transaction, run)
    now = format_iso(transaction.now)
    messages = {
        row["number"]: row
        for row in transaction.list_all(provider_messages_table, where)
        if row["retention_expires_at"] > now
    }
    return [
        {
            "attempt": live.number_of(attempt),
            "arm_id": attempt.arm_id,
            "at": attempt.ended_at,
            "http_status": attempt.http_status,
            **({} if attempt.retry_after_s is None else {"retry_after_s": attempt.retry_after_s}),
            "message": None if message is None else loads(message["message"]),
            "retention_expires_at": None if message is None else message["retention_expires_at"],
        }
        for attempt in live.attempts
        if (message := messages.get(attempt.number)) is not None or attempt.http_status is not None
    ]


def result_json(row: Row) -> dict[str, Any]:
    """Build the JSON of a result (manual: interface, "Results")."""
    shown = pick(row, "execution_id slice_id final_text model_provenance retention_expires_at")
    return shown | {"final_text": loads(row["final_text"])}


def _attempt_of(row: Row, **elsewhere: Any) -> Attempt:
    columns = {name: row[name] for name in _ATTEMPT_FIELDS}
    candidate = None if row["candidate"] is None else loads(row["candidate"])
    return Attempt(**columns | {"candidate": candidate} | elsewhere)


def _attempt_columns(attempt: Attempt) -> dict[str, Any]:
    candidate = attempt.candidate
    columns = {name: getattr(attempt, name) for name in _ATTEMPT_FIELDS}
    return columns | {"candidate": None if candidate is None else dumps(candidate)}
