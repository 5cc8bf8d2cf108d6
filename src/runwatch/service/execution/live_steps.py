"""Steps of live runs. Each records one thing, and a run can continue after any of them.

:func:`take_live_steps` does what the recorded state calls for, in one transaction up to the next outside call. That
begins with a record of its start, and the function returns what to call; :func:`record_response` or
:func:`record_verdict` then records the outcome. A step never changes a final run, so a cancelled run stays cancelled
whatever call was in progress.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from runwatch.base.clock import format_iso
from runwatch.base.json import loads
from runwatch.service.checks.evaluation import Evaluation
from runwatch.service.execution import review_composer, routing, runs, state_machine
from runwatch.service.execution.live import checks, live_rows, skill
from runwatch.service.execution.live.next_live_step import (
    AcceptOutput,
    CallProvider,
    FailRun,
    RecordInterruption,
    RunCheck,
    next_live_step,
)
from runwatch.service.execution.live.provider_call import CallOutcome, PreparedCall
from runwatch.service.execution.live.state import (
    ANSWERED,
    CANDIDATE,
    FAILED,
    INTERRUPTED,
    SKILL_BASELINE,
    SKILL_DRAFT,
    SKILL_REPAIR,
    STARTED,
    Attempt,
    FinishedCheck,
    LiveRun,
    members_of,
    to_json_value,
)
from runwatch.service.execution.receipts import build_provenance, work_of
from runwatch.service.execution.state_machine import RunState, Transition
from runwatch.service.models.providers.message import build_message
from runwatch.service.models.providers.prices import SOURCE_REPORTED, worst_case
from runwatch.service.models.providers.types import ANSWER_MEMBERS
from runwatch.service.organization import proposals
from runwatch.service.tables import arms_table, verifiers_table
from runwatch.service.transaction import Row, Transaction, pick

JOINED_STEPS: Final = 16
"""Maximum steps of one transaction; more than any run takes between two calls."""

_SKILLED: Final = frozenset({SKILL_BASELINE, SKILL_DRAFT, SKILL_REPAIR})


@dataclass(frozen=True, slots=True)
class PendingCall:
    """A provider call to make; its attempt is already recorded as started."""

    run: RunState
    call: PreparedCall


@dataclass(frozen=True, slots=True)
class PendingCheck:
    """A customer's check to run on an output."""

    run: RunState
    attempt: Attempt
    verifier: Row


def take_live_steps(transaction: Transaction, execution_id: str) -> RunState | PendingCall | PendingCheck:
    """Take the run's next steps until one needs a call, which is returned, or its turn; otherwise return the run.

    Steps without a call between them have nothing to lose between them either, so they share a transaction.
    """
    run = runs.load(transaction, execution_id)
    for _ in range(JOINED_STEPS):
        if run.is_final:
            break
        taken = take_live_step(transaction, run)
        if not isinstance(taken, RunState) or (taken is run and run.status == "queued"):
            return taken
        run = taken
    return run


def take_live_step(transaction: Transaction, run: RunState) -> RunState | PendingCall | PendingCheck:
    execution_id = run.execution_id
    if run.time_left(transaction.now) <= 0:
        return runs.end(transaction, execution_id, "expired", "runtime_exceeded")
    if run.status == "accepted":
        return runs.record(transaction, state_machine.queue(run, transaction.now))
    if run.status == "queued":
        return _start_run(transaction, run)
    if run.slices[0].status == "queued":
        return runs.record(transaction, state_machine.start_slice(run, transaction.now))
    live = live_rows.load(transaction, run)
    if live.review_composer is not None:
        return runs.record(transaction, review_composer.decide(run, live.review_composer, transaction.now))
    step = next_live_step(live)
    match step:
        case CallProvider():
            return _start_call(transaction, run, live, step)
        case RunCheck(attempt):
            return _start_check(transaction, run, live, attempt)
        case RecordInterruption(attempt):
            ended = replace(
                attempt, state=INTERRUPTED, ended_at=format_iso(transaction.now), reason="dispatch_internal_error"
            )
            live_rows.record_attempt(transaction, execution_id, ended)
            return runs.record_spend(transaction, run)
        case AcceptOutput():
            return _accept_output(transaction, run, live, step)
        case FailRun(reason):
            return runs.end(transaction, execution_id, "failed", reason)


def record_response(transaction: Transaction, execution_id: str, number: int, outcome: CallOutcome) -> RunState:
    """Record the outcome of a provider call: output, usage and cost in one write.

    Drop the response when the run is already final: its receipt is written and reports the call as unfinished.
    """
    run = runs.load(transaction, execution_id)
    if run.is_final:
        return run
    live = live_rows.load(transaction, run)
    attempt = live.attempts[number - 1]
    if attempt.state != STARTED:
        return run
    if outcome.ran_out:
        return runs.end(transaction, execution_id, "expired", "runtime_exceeded")
    generation, error = outcome.generation, outcome.error
    ended = replace(
        attempt,
        state=FAILED if outcome.candidate is None else ANSWERED,
        ended_at=format_iso(transaction.now),
        reason=outcome.reason,
        failure_kind=outcome.failure_kind,
        **({} if error is None else {name: getattr(error, name) for name in ("http_status", *ANSWER_MEMBERS)}),
        was_sent=outcome.was_sent,
        usd=to_json_value(outcome.usd),
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
    live_rows.record_attempt(transaction, execution_id, ended)
    if error is not None and error.message is not None:
        live_rows.add_provider_message(transaction, execution_id, number, error.message)
    live = replace(live, attempts=(*live.attempts[: number - 1], ended))
    if ended.phase != SKILL_DRAFT and ended.state == ANSWERED and generation is not None:
        part = replace(run.slices[0], finish_reason=generation.finish_reason)
        run = replace(run, slices=(part, *run.slices[1:]))
    run = runs.record_spend(transaction, run)
    has_output = ended.state == ANSWERED and ended.phase != SKILL_DRAFT
    if has_output and live.verifier_id is not None and run.slices[0].recorded_check is None:
        pending = checks.pending(execution_id, live.verifier_id, transaction.now)
        return runs.record(transaction, state_machine.state_check(run, pending, transaction.now))
    return run


def record_verdict(
    transaction: Transaction, execution_id: str, number: int, verifier: Row, evaluation: Evaluation
) -> RunState:
    run = runs.load(transaction, execution_id)
    if run.is_final:
        return run
    live = live_rows.load(transaction, run)
    attempt = live.attempts[number - 1]
    if live.check_of(attempt) is not None:
        return run
    check = checks.customer_check(live, verifier, attempt, evaluation, transaction.now)
    if check.has_verdict:
        routing.count_verdict(transaction, run.tenant_id, attempt.checked_arm_id, accepts=check.accepts)
    return _record_check(transaction, run, live, check)


def _start_run(transaction: Transaction, run: RunState) -> RunState:
    """Start the run if its turn has come. Its options are ranked now, unless it calls no model."""
    policy = loads(run.policy)
    live = live_rows.load(transaction, run)
    if live.review_composer is not None:
        is_next = runs.is_next(transaction, run)
        return runs.record(transaction, state_machine.start(run, transaction.now)) if is_next else run
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
    if not runs.is_next(transaction, run):
        return run
    repairs = "repair_retry" in live.on_eval
    found = routing.find_skill(transaction, run.tenant_id, policy["data_classes"]) if repairs else None
    live_rows.change(
        transaction,
        run.execution_id,
        options=[members_of(option) for option in options],
        skill=None if found is None else members_of(found),
    )
    return runs.record(transaction, state_machine.start(run, transaction.now))


def _start_call(transaction: Transaction, run: RunState, live: LiveRun, step: CallProvider) -> RunState | PendingCall:
    if step.progress is not None:
        used = None if live.skill is None or step.phase not in _SKILLED else live.skill.artifact_hash
        taken = step.option.arm_id if step.phase == CANDIDATE else None
        progress = state_machine.progress(run, step.progress, transaction.now, arm_id=taken, artifact_id=used)
        run = runs.record(transaction, progress)
    attempt = Attempt(
        number=len(live.attempts) + 1,
        arm_id=step.option.arm_id,
        skill_arm_id=live.skill.arm_id if live.skill is not None and step.phase in _SKILLED else None,
        phase=step.phase,
        state=STARTED,
        started_at=format_iso(transaction.now),
    )
    route = routing.build_route(transaction, transaction.get(arms_table, {"arm_id": attempt.arm_id}))
    if route is None:
        # The arm was ready when the options were ranked but no longer is.
        missed = replace(attempt, state=FAILED, ended_at=attempt.started_at, reason="arm_not_ready", was_sent=False)
        live_rows.add_attempt(transaction, run.execution_id, missed)
        return run
    deployment, connection = route
    objective, inputs = _message(live, step.phase, live_rows.find_task(transaction, run.execution_id))
    prices = connection["endpoint"].get("prices")
    worst = worst_case(
        prices,
        deployment["upstream_ref"],
        input_bytes=len(build_message(objective, inputs).encode()),
        is_keyless=connection["auth_scheme"] == "none",
    )
    attempt = replace(attempt, worst_usd=None if worst is None else to_json_value(worst))
    live_rows.add_attempt(transaction, run.execution_id, attempt)
    part = replace(run.slices[0], work=work_of(live, attempt))
    run = runs.record_spend(transaction, replace(run, slices=(part,)))
    return PendingCall(
        run,
        PreparedCall(
            number=attempt.number,
            connection=connection,
            upstream_ref=deployment["upstream_ref"],
            prices=prices,
            is_price_listed=deployment["pricing_basis"] == SOURCE_REPORTED,
            objective=objective,
            inputs=inputs,
        ),
    )


def _message(live: LiveRun, phase: str, task: Mapping[str, Any]) -> tuple[str, Any]:
    objective, inputs = task["objective"], task.get("inputs_ref")
    if live.skill is None or phase not in _SKILLED:
        return objective, inputs
    if phase == SKILL_BASELINE:
        return skill.add_skill(live.skill.content, objective), inputs
    if phase == SKILL_REPAIR:
        return skill.add_skill(skill.repaired_text(live), objective), inputs
    region, baseline = skill.find_skill_region(live.skill), live.attempt_in(SKILL_BASELINE)
    assert region is not None
    assert baseline is not None
    check = live.check_of(baseline)
    return skill.build_repair_request(live.skill, region, None if check is None else check.anchor_results), None


def _start_check(transaction: Transaction, run: RunState, live: LiveRun, attempt: Attempt) -> RunState | PendingCheck:
    if live.verifier_id is None:
        return _record_check(transaction, run, live, checks.baseline_check(live, attempt, transaction.now))
    return PendingCheck(run, attempt, transaction.get(verifiers_table, {"verifier_id": live.verifier_id}))


def _record_check(transaction: Transaction, run: RunState, live: LiveRun, check: FinishedCheck) -> RunState:
    live_rows.change(transaction, run.execution_id, checks=[members_of(each) for each in (*live.checks, check)])
    event = state_machine.verification_event(run.slices[0], check.form, transaction.now)
    return runs.record(transaction, Transition(run, [event]))


def _accept_output(transaction: Transaction, run: RunState, live: LiveRun, step: AcceptOutput) -> RunState:
    check = live.check_of(step.attempt)
    assert check is not None
    assert step.attempt.candidate is not None
    acted = step.acted_on_eval
    if acted is not None and acted["outcome"] == "proposal_created":
        acted = {**acted, "proposal_id": _propose(transaction, run, live, check)}
    live_rows.change(transaction, run.execution_id, acted_on_eval=acted)
    provenance = build_provenance(live, step.attempt)
    live_rows.add_result(transaction, run, step.attempt.candidate, provenance)
    return runs.record(transaction, state_machine.complete(run, checks.verdict_statement(check), transaction.now))


def _propose(transaction: Transaction, run: RunState, live: LiveRun, check: FinishedCheck) -> str:
    baseline, draft = live.attempt_in(SKILL_BASELINE), live.attempt_in(SKILL_DRAFT)
    assert live.skill is not None
    assert baseline is not None
    assert draft is not None
    region, parent = skill.find_skill_region(live.skill), live.check_of(baseline)
    assert region is not None
    assert parent is not None
    evidence = pick(check.form, "verifier_id is_correct quality_score")
    return proposals.add(
        transaction,
        run.tenant_id,
        execution_id=run.execution_id,
        slice_id=run.slices[0].slice_id,
        arm_id=live.skill.arm_id,
        diff=skill.diff_region(region, draft.candidate or ""),
        candidate=skill.repaired_text(live),
        verifier_evidence=evidence,
        parent_artifact_id=live.skill.artifact_hash,
        parent_score=parent.form["quality_score"],
        candidate_score=check.form["quality_score"],
    )


def _resolved(
    live: LiveRun, attempt: Attempt, upstream_ref: str | None, source_request_id: str | None
) -> dict[str, Any] | None:
    """Return the model that answered according to the source, or ``None`` when the source does not say."""
    if upstream_ref is None:
        return None
    source = live.option_of(attempt.arm_id).provenance["source"]
    attestation = "gateway_response" if source["source_kind"] == "gateway" else "source_response"
    return {"upstream_ref": upstream_ref, "source_request_id": source_request_id, "attestation": attestation}
