"""Steps of live runs: each records one thing in one transaction, so that a run goes on after any of them.

:func:`take` does what the recorded state asks for. Where that is a call of somebody else, it records that the call
begins and answers what to call; what came of it is recorded by :func:`answered` or :func:`judged`. A step never
changes a run that is final, so that a cancelled run stays cancelled whatever was under way.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from runwatch.base.clock import iso
from runwatch.base.json import loads
from runwatch.service.checks.evaluation import Evaluation
from runwatch.service.execution import lifecycle, routing, runs
from runwatch.service.execution.lifecycle import Change, Run
from runwatch.service.execution.live import checks, rows, skill
from runwatch.service.execution.live.decide import Accept, Call, Fail, Interrupt, Judge, next_move
from runwatch.service.execution.live.dispatch import Order, Outcome
from runwatch.service.execution.live.facts import provenance_of
from runwatch.service.execution.live.state import (
    ANSWERED,
    FAILED,
    INTERRUPTED,
    SKILL_BASELINE,
    SKILL_DRAFT,
    SKILL_REPAIR,
    STARTED,
    Attempt,
    Check,
    Live,
    plain,
)
from runwatch.service.models.providers.message import message_of
from runwatch.service.models.providers.prices import worst_case
from runwatch.service.organization import proposals
from runwatch.service.tables.checks import verifiers
from runwatch.service.tables.models import arms
from runwatch.service.transaction import Row, Transaction

_SKILLED: Final = frozenset({SKILL_BASELINE, SKILL_DRAFT, SKILL_REPAIR})


@dataclass(frozen=True, slots=True)
class Dispatch:
    """A provider is to be called; the attempt is recorded as begun."""

    run: Run
    order: Order


@dataclass(frozen=True, slots=True)
class Evaluate:
    """A customer's check is to look at an output."""

    run: Run
    attempt: Attempt
    verifier: Row


def take(transaction: Transaction, execution_id: str) -> Run | Dispatch | Evaluate:
    """Take the run's next step: the run as it is then, or what is to be called before the next step."""
    run = runs.load(transaction, execution_id)
    if run.is_final:
        return run
    if run.time_left(transaction.now) <= 0:
        return runs.end(transaction, execution_id, "expired", "runtime_exceeded")
    if run.status == "accepted":
        return runs.record(transaction, lifecycle.queue(run, transaction.now))
    if run.status == "queued":
        return _start(transaction, run)
    if run.slices[0].status == "queued":
        return runs.record(transaction, lifecycle.start_slice(run, transaction.now))
    live = rows.load(transaction, run)
    move = next_move(live)
    match move:
        case Call():
            return _begin(transaction, run, live, move)
        case Judge(attempt):
            return _judge(transaction, run, live, attempt)
        case Interrupt(attempt):
            ended = replace(attempt, state=INTERRUPTED, ended_at=iso(transaction.now), reason="dispatch_internal_error")
            rows.keep_attempt(transaction, execution_id, ended)
            return runs.record_spend(transaction, run)
        case Accept():
            return _accept(transaction, run, live, move)
        case Fail(reason):
            return runs.end(transaction, execution_id, "failed", reason)


def answered(transaction: Transaction, execution_id: str, number: int, outcome: Outcome) -> Run:
    """Record what came of a provider call: output, usage and cost together, so that none is there without the others.

    An answer that nobody waits for any longer is dropped: the receipt of the run is written and says so.
    """
    run = runs.load(transaction, execution_id)
    if run.is_final:
        return run
    live = rows.load(transaction, run)
    attempt = live.attempts[number - 1]
    if attempt.state != STARTED:
        return run
    if outcome.ran_out:
        return runs.end(transaction, execution_id, "expired", "runtime_exceeded")
    generation = outcome.generation
    ended = replace(
        attempt,
        state=FAILED if outcome.candidate is None else ANSWERED,
        ended_at=iso(transaction.now),
        reason=outcome.reason,
        failure_kind=outcome.failure_kind,
        was_sent=outcome.was_sent,
        usd=plain(outcome.usd),
        pricing_basis=outcome.pricing_basis,
        candidate=outcome.candidate,
    )
    if generation is not None:
        ended = replace(
            ended,
            input_tokens=generation.input_tokens,
            output_tokens=generation.output_tokens,
            resolved=_resolved(live, attempt, generation.upstream_ref, generation.source_request_id),
        )
    rows.keep_attempt(transaction, execution_id, ended)
    live = replace(live, attempts=(*live.attempts[: number - 1], ended))
    if ended.phase != SKILL_DRAFT and ended.state == ANSWERED and generation is not None:
        part = replace(run.slices[0], finish_reason=generation.finish_reason)
        run = replace(run, slices=(part, *run.slices[1:]))
    run = runs.record_spend(transaction, run)
    is_waiting = ended.state == ANSWERED and ended.phase != SKILL_DRAFT and live.verifier_id is not None
    if is_waiting and run.slices[0].recorded_check is None:
        pending = checks.pending(execution_id, transaction.now)
        return runs.record(transaction, lifecycle.state_check(run, pending, transaction.now))
    return run


def judged(transaction: Transaction, execution_id: str, number: int, verifier: Row, evaluation: Evaluation) -> Run:
    """Record what a customer's check said of an attempt's output."""
    run = runs.load(transaction, execution_id)
    if run.is_final:
        return run
    live = rows.load(transaction, run)
    attempt = live.attempts[number - 1]
    if live.check_of(attempt) is not None:
        return run
    check = checks.customer_check(verifier, attempt, evaluation, transaction.now)
    if check.has_verdict:
        routing.note_verdict(transaction, run.tenant_id, attempt.checked_arm_id, accepts=check.accepts)
    return _keep_check(transaction, run, live, check)


def _start(transaction: Transaction, run: Run) -> Run:
    """Rank the options and begin to work on the run, when its turn has come."""
    policy = loads(run.policy)
    live = rows.load(transaction, run)
    options = routing.candidates(
        transaction,
        run.tenant_id,
        data_classes=policy["data_classes"],
        required_arm_id=live.required_arm_id,
        cost_coefficient=policy.get("cost_coefficient"),
    )
    if not options:
        reason = "no_eligible_arms" if live.required_arm_id is None else "arm_not_ready"
        return runs.end(transaction, run.execution_id, "failed", reason)
    if not runs.has_turn(transaction, run):
        return run
    repairs = "repair_retry" in live.on_eval
    found = routing.skill_for(transaction, run.tenant_id, policy["data_classes"]) if repairs else None
    rows.keep_options(transaction, run.execution_id, options, found)
    return runs.record(transaction, lifecycle.start(run, transaction.now))


def _begin(transaction: Transaction, run: Run, live: Live, move: Call) -> Run | Dispatch:
    """Record that a call begins, before it does."""
    if move.progress is not None:
        used = None if live.skill is None or move.phase not in _SKILLED else live.skill.artifact_hash
        run = runs.record(transaction, lifecycle.progress(run, move.progress, transaction.now, artifact_id=used))
    attempt = Attempt(
        number=len(live.attempts) + 1,
        arm_id=move.option.arm_id,
        skill_arm_id=live.skill.arm_id if live.skill is not None and move.phase in _SKILLED else None,
        phase=move.phase,
        state=STARTED,
        started_at=iso(transaction.now),
    )
    arm = transaction.one(arms, {"arm_id": attempt.arm_id})
    assert arm is not None
    route = routing.route_of(transaction, arm)
    if route is None:
        # It was ready when the options were ranked and is not any longer.
        missed = replace(attempt, state=FAILED, ended_at=attempt.started_at, reason="arm_not_ready", was_sent=False)
        rows.add_attempt(transaction, run.execution_id, missed)
        return run
    deployment, connection = route
    objective, inputs = _message(live, move.phase, rows.task_of(transaction, run.execution_id))
    prices = connection["endpoint"].get("prices")
    worst = worst_case(
        prices,
        deployment["upstream_ref"],
        input_bytes=len(message_of(objective, inputs).encode()),
        is_keyless=connection["auth_scheme"] == "none",
    )
    attempt = replace(attempt, worst_usd=None if worst is None else plain(worst))
    rows.add_attempt(transaction, run.execution_id, attempt)
    selected = move.option.selected
    work = {"provider": selected["provider"], "model": selected["model_key"], "phase": move.phase}
    run = runs.record(transaction, Change(replace(run, slices=(replace(run.slices[0], work=work),)), []))
    return Dispatch(
        run,
        Order(
            number=attempt.number,
            connection=connection,
            upstream_ref=deployment["upstream_ref"],
            prices=prices,
            objective=objective,
            inputs=inputs,
        ),
    )


def _message(live: Live, phase: str, task: Mapping[str, Any]) -> tuple[str, Any]:
    """What the model is asked in a phase, and the inputs that go with it."""
    objective, inputs = task["objective"], task.get("inputs_ref")
    if live.skill is None or phase not in _SKILLED:
        return objective, inputs
    if phase == SKILL_BASELINE:
        return skill.guided(live.skill.content, objective), inputs
    region = skill.region_of(live.skill)
    baseline, draft = live.attempt_in(SKILL_BASELINE), live.attempt_in(SKILL_DRAFT)
    assert region is not None
    assert baseline is not None
    if phase == SKILL_DRAFT:
        check = live.check_of(baseline)
        return skill.repair_request(live.skill, region, None if check is None else check.anchor_results), None
    assert draft is not None
    return skill.guided(skill.repaired(live.skill, region, draft.candidate or ""), objective), inputs


def _judge(transaction: Transaction, run: Run, live: Live, attempt: Attempt) -> Run | Evaluate:
    if live.verifier_id is None:
        return _keep_check(transaction, run, live, checks.baseline_check(attempt, transaction.now))
    verifier = transaction.one(verifiers, {"verifier_id": live.verifier_id})
    assert verifier is not None
    return Evaluate(run, attempt, verifier)


def _keep_check(transaction: Transaction, run: Run, live: Live, check: Check) -> Run:
    rows.keep_checks(transaction, run.execution_id, (*live.checks, check))
    event = lifecycle.verification_event(run.slices[0], check.form, transaction.now)
    return runs.record(transaction, Change(run, [event]))


def _accept(transaction: Transaction, run: Run, live: Live, move: Accept) -> Run:
    check = live.check_of(move.attempt)
    assert check is not None
    assert move.attempt.candidate is not None
    acted = move.acted_on_eval
    if acted is not None and acted["outcome"] == "proposal_created":
        acted = {**acted, "proposal_id": _propose(transaction, run, live, check)}
    rows.keep_reaction(transaction, run.execution_id, acted)
    provenance = provenance_of(live, move.attempt)
    rows.add_result(transaction, run, move.attempt.candidate, provenance)
    return runs.record(transaction, lifecycle.complete(run, checks.statement_of(check), transaction.now))


def _propose(transaction: Transaction, run: Run, live: Live, check: Check) -> str:
    """Make a proposal of the repair whose output was accepted."""
    baseline, draft = live.attempt_in(SKILL_BASELINE), live.attempt_in(SKILL_DRAFT)
    assert live.skill is not None
    assert baseline is not None
    assert draft is not None
    region, parent = skill.region_of(live.skill), live.check_of(baseline)
    assert region is not None
    assert parent is not None
    evidence = {name: check.form[name] for name in ("verifier_id", "is_correct", "quality_score")}
    return proposals.add(
        transaction,
        run.tenant_id,
        execution_id=run.execution_id,
        slice_id=run.slices[0].slice_id,
        arm_id=live.skill.arm_id,
        diff=skill.diff_of(region, draft.candidate or ""),
        candidate=skill.repaired(live.skill, region, draft.candidate or ""),
        verifier_evidence=evidence,
        parent_artifact_id=live.skill.artifact_hash,
        parent_score=parent.form["quality_score"],
        candidate_score=check.form["quality_score"],
    )


def _resolved(
    live: Live, attempt: Attempt, upstream_ref: str | None, source_request_id: str | None
) -> dict[str, Any] | None:
    """Which model the source says has answered, ``None`` when it does not say (wire reference 2.5)."""
    if upstream_ref is None:
        return None
    source = live.option_of(attempt.arm_id).provenance["source"]
    attestation = "gateway_response" if source["source_kind"] == "gateway" else "source_response"
    return {"upstream_ref": upstream_ref, "source_request_id": source_request_id, "attestation": attestation}
