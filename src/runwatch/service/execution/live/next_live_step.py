"""Decide the next step of a live run from its recorded state, without side effects (manual: interface, "Scores and
policy").

The specification names the reactions of ``on_eval`` and their outcomes, not their exact meaning. This service reads
them so: after a rejected output, the reactions are tried in the order of the request, and the first one with something
left to try is used. ``fallback`` calls the next ranked option. ``repair_retry`` has a skill arm do the work; if its
output is rejected too, the skill's first editable region is rewritten once and the work is repeated, and an accepted
repair becomes a proposal. ``gate`` tries nothing. When nothing is left the run fails: with ``fallback_exhausted`` if
``fallback`` was named, else with ``rejected_by_check``. Without any reaction a verdict is only recorded.

A check that could not run is not a rejection. With any reaction named, the run then fails with ``check_unavailable``,
because it is unknown whether the output may pass; without one, the run completes.

After a call that failed or that a restart interrupted, the next option is called if ``fallback`` is named; otherwise
the run fails. Nothing is called once spend has reached the cost cap. A call of unknown cost counts with its worst case,
or with the whole cap where there is no bound.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from runwatch.service.execution.live.skill import find_skill_region
from runwatch.service.execution.live.state import (
    ANSWERED,
    CANDIDATE,
    SKILL_BASELINE,
    SKILL_DRAFT,
    SKILL_REPAIR,
    STARTED,
    Attempt,
    FinishedCheck,
    LiveRun,
    RankedArm,
)

REJECTED: Final = "rejected_by_check"
"""Reason of a run stopped by a check's verdict. Not in the specification."""

UNAVAILABLE: Final = "check_unavailable"
"""Reason of a run stopped because its check gave no verdict. Not in the specification."""

SKILL_ACCEPTED: Final = "skill_accepted"
SKILL_REJECTED: Final = "skill_rejected"
"""Outcomes of ``repair_retry`` for the output of the skill as it stands, if no repaired skill has an output. Not in the
specification, whose names are all of a repair.
"""


@dataclass(frozen=True, slots=True)
class RecordInterruption:
    """Record that the service stopped during this attempt's call."""

    attempt: Attempt


@dataclass(frozen=True, slots=True)
class CallProvider:
    """Call a provider.

    Attributes:
        progress: Reason of the slice's ``progress`` event; ``None`` for the first call.
    """

    option: RankedArm
    phase: str
    progress: str | None = None


@dataclass(frozen=True, slots=True)
class RunCheck:
    attempt: Attempt


@dataclass(frozen=True, slots=True)
class AcceptOutput:
    """Complete the run with the output of this attempt."""

    attempt: Attempt
    acted_on_eval: dict[str, Any] | None


@dataclass(frozen=True, slots=True)
class FailRun:
    reason: str


LiveStep = RecordInterruption | CallProvider | RunCheck | AcceptOutput | FailRun


def next_live_step(live: LiveRun) -> LiveStep:
    """Decide the next step of a live run whose options are ranked and whose slice is running."""
    step = _uncapped_step(live)
    if isinstance(step, CallProvider):
        worst = live.worst_spend
        # Also for the first call: a cap of 0 permits nothing.
        if worst is None or worst >= live.max_cost_usd:
            return FailRun("cost_budget_exhausted")
    return step


def reaction_to_rejections(live: LiveRun) -> dict[str, Any] | None:
    """Return ``acted_on_eval`` for the rejected outputs, or ``None`` for a gate: only passing a gate has a name."""
    rejected = []
    for attempt in live.attempts:
        check = live.check_of(attempt)
        if check is not None and check.has_verdict and not check.accepts:
            rejected.append(attempt)
    if not rejected:
        return None
    if any(attempt.phase == CANDIDATE and attempt.number > rejected[0].number for attempt in live.attempts):
        return {"action": "fallback", "outcome": "fell_back"}
    phases = {attempt.phase for attempt in rejected}
    if SKILL_REPAIR in phases:
        return {"action": "repair_retry", "outcome": "repair_rejected"}
    return {"action": "repair_retry", "outcome": SKILL_REJECTED} if SKILL_BASELINE in phases else None


def _uncapped_step(live: LiveRun) -> LiveStep:
    if not live.attempts:
        return CallProvider(live.options[0], CANDIDATE)
    last = live.attempts[-1]
    if last.state == STARTED:
        return RecordInterruption(last)
    if last.state != ANSWERED:
        return _after_failure(live, last)
    if last.phase == SKILL_DRAFT:
        return CallProvider(live.option_of(last.arm_id), SKILL_REPAIR, "repair_retry")
    check = live.check_of(last)
    if check is None:
        return RunCheck(last)
    return _after_check(live, last, check)


def _after_failure(live: LiveRun, last: Attempt) -> LiveStep:
    option = _next_option(live)
    if "fallback" in live.on_eval and option is not None:
        return CallProvider(option, CANDIDATE, "fallback")
    fell_back = sum(attempt.phase == CANDIDATE for attempt in live.attempts) > 1
    reason = "fallback_exhausted" if fell_back and last.phase == CANDIDATE else last.reason
    return FailRun(reason or "dispatch_internal_error")


def _after_check(live: LiveRun, last: Attempt, check: FinishedCheck) -> LiveStep:
    if not live.on_eval:
        return AcceptOutput(last, None)
    if not check.has_verdict:
        return FailRun(UNAVAILABLE)
    if check.accepts:
        return AcceptOutput(last, _acceptance(live, last))
    for reaction in live.on_eval:
        option = _next_option(live)
        if reaction == "fallback" and option is not None:
            return CallProvider(option, CANDIDATE, "fallback")
        phase = _next_repair(live, last)
        if reaction == "repair_retry" and phase is not None:
            return CallProvider(live.option_of(last.arm_id), phase, "repair_retry")
    return FailRun("fallback_exhausted" if "fallback" in live.on_eval else REJECTED)


def _next_option(live: LiveRun) -> RankedArm | None:
    """Return the best option not called yet. With a required arm there is only one option."""
    called = {attempt.arm_id for attempt in live.attempts}
    return next((option for option in live.options if option.arm_id not in called), None)


def _next_repair(live: LiveRun, last: Attempt) -> str | None:
    if live.skill is None:
        return None
    if last.phase == SKILL_BASELINE:
        return SKILL_DRAFT if find_skill_region(live.skill) is not None else None
    has_begun = live.attempt_in(SKILL_BASELINE) is not None
    return SKILL_BASELINE if last.phase == CANDIDATE and not has_begun else None


def _acceptance(live: LiveRun, last: Attempt) -> dict[str, Any] | None:
    """Return how the policy reacted in a run whose last output was accepted."""
    if last.phase == SKILL_REPAIR:
        return {"action": "repair_retry", "outcome": "proposal_created"}
    if last.phase == SKILL_BASELINE:
        return {"action": "repair_retry", "outcome": SKILL_ACCEPTED}
    return reaction_to_rejections(live) or (
        {"action": "gate", "outcome": "passed_gate"} if "gate" in live.on_eval else None
    )
