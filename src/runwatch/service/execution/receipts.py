"""Build receipts, without side effects (manual: interface, "Receipts"; manual: interface, "Receipt fields").

Beyond the members of the specification, a live run's slice carries ``attempts``: every provider call with its outcome,
including calls whose response never arrived.
"""

from __future__ import annotations

import hashlib
from decimal import Decimal
from typing import Any, Final

from runwatch.base.clock import format_iso
from runwatch.service.execution.live import skill
from runwatch.service.execution.live.checks import verifier_json
from runwatch.service.execution.live.next_live_step import reaction_to_rejections
from runwatch.service.execution.live.state import (
    ANSWERED,
    CANCELLED_IN_FLIGHT,
    EXPIRED_IN_FLIGHT,
    FAILED,
    INTERRUPTED,
    SKILL_DRAFT,
    SKILL_REPAIR,
    Attempt,
    LiveRun,
    RankedArm,
    to_json_number,
)
from runwatch.service.execution.state_machine import ECHO_CHECK, ECHO_IDENTITY, RunState, SliceState
from runwatch.service.models.arms import artifact_hash
from runwatch.service.models.providers.prices import ESTIMATED, SOURCE_REPORTED
from runwatch.service.models.providers.types import ANSWER_MEMBERS
from runwatch.service.organization.wallet import PLATFORM_FEE_USD
from runwatch.service.transaction import pick

_ECHO_HASH: Final = f"sha256:{hashlib.sha256(ECHO_IDENTITY.encode()).hexdigest()}"


def build_receipt(run: RunState, live: LiveRun | None = None) -> dict[str, Any]:
    """Return the receipt of a final run. It holds neither prompt nor output, and its totals are never null.

    ``totals.usd`` is the known part of the spend. If calls ended with unknown cost, ``unknown_calls`` beside it counts
    them, and ``estimated_calls`` those with an estimated cost; neither is in the specification.
    """
    assert run.completed_at is not None
    ended = {} if run.reason is None else {"reason": run.reason}
    if live is None:
        slices = [_echo_slice(part) for part in run.slices]
    else:
        slices = [live_slice(part, live, is_completed=run.status == "completed") for part in run.slices]
    return {
        "execution_id": run.execution_id,
        "mode": run.mode,
        "status": run.status,
        **ended,
        "created_at": format_iso(run.created_at),
        "completed_at": format_iso(run.completed_at),
        "slices": slices,
        "totals": {
            "usd": 0 if live is None else to_json_number(live.spend),
            "platform_fee_usd": to_json_number(find_fee(live)),
            **spend_marks_json(live),
            "runtime_s": round((run.completed_at - run.created_at).total_seconds(), 3),
        },
        **({} if run.packet is None else {"decision_packet": run.packet}),
    }


def find_fee(live: LiveRun | None) -> Decimal:
    """Return the platform fee of a run: 0 for a test run, or when no model was called (manual: interface, "Receipt
    fields").
    """
    return PLATFORM_FEE_USD if live is not None and live.attempts else Decimal(0)


def _echo_slice(part: SliceState) -> dict[str, Any]:
    """Build a test run's slice with the constants of the platform test, and a verdict only if the test was reached."""
    is_checked = part.recorded_check is not None and part.recorded_check["state"] == ECHO_CHECK
    return {
        "slice_id": part.slice_id,
        "capability": part.capability,
        "route": {"ranking": "skipped_platform_proof", "selected": None},
        "verifier": {
            "identity": ECHO_IDENTITY,
            "id": ECHO_IDENTITY,
            "hash": _ECHO_HASH,
            "verifier_id": None,
            "is_correct": True if is_checked else None,
            "quality_score": 1 if is_checked else None,
        },
        "recorded_check": part.recorded_check,
        "cost": {"usd": 0, "waiver": {"reason": "sandbox_echo_d9"}},
    }


def list_arms(receipt: dict[str, Any]) -> set[str]:
    selected = (part["route"]["selected"] for part in receipt["slices"])
    return {arm["arm_id"] for arm in selected if arm is not None}


_ANSWERED: Final = ("http_status", *ANSWER_MEMBERS)
"""Members of a failed call that say what the provider answered, where it did."""

IN_FLIGHT_NOTE: Final = "A provider call was in progress. It could not be reversed, and what it used is not known."
"""Note of events and receipts on a run that ended during a call (manual: interface, "What the service does")."""

INTERRUPTED_NOTE: Final = "The service stopped during the call. What the call used is not known."

_NOTES: Final = {
    CANCELLED_IN_FLIGHT: IN_FLIGHT_NOTE,
    EXPIRED_IN_FLIGHT: IN_FLIGHT_NOTE,
    INTERRUPTED: INTERRUPTED_NOTE,
}


def live_slice(part: SliceState, live: LiveRun, *, is_completed: bool) -> dict[str, Any]:
    """Build the slice of a live run's receipt.

    Args:
        is_completed: Whether the run completed with the output of its last attempt.
    """
    chosen = live.decisive
    acted = live.acted_on_eval or reaction_to_rejections(live)
    checks = {
        **({"verifier": verifier_json(live.checks[-1])} if live.checks else {}),
        **({"verification_checks": [check.form for check in live.checks]} if live.checks else {}),
        "recorded_check": part.recorded_check,
        **({} if acted is None else {"acted_on_eval": acted}),
    }
    return {
        "slice_id": part.slice_id,
        "capability": part.capability,
        "route": _route(live, chosen, is_completed=is_completed),
        **({} if part.finish_reason is None else {"finish_reason": part.finish_reason}),
        **checks,
        "cost": _cost(live),
        "attempts": [_attempt_json(live, attempt) for attempt in live.attempts],
        "model_provenance": None if chosen is None else build_provenance(live, chosen),
    }


def build_provenance(live: LiveRun, attempt: Attempt) -> dict[str, Any]:
    """Build the ModelAttemptProvenance of an attempt, resolved as far as the source reported."""
    return {**live.option_of(attempt.arm_id).provenance, "resolved": attempt.resolved}


def work_of(live: LiveRun, attempt: Attempt) -> dict[str, Any]:
    """Build the ``work`` of a slice from one of its provider calls."""
    return {**pick(live.option_of(attempt.arm_id).selected, "arm_id provider model_key"), "phase": attempt.phase}


def _route(live: LiveRun, chosen: Attempt | None, *, is_completed: bool) -> dict[str, Any]:
    called = {attempt.arm_id for attempt in live.attempts}
    ranking: Any = [
        {
            "arm_id": option.arm_id,
            "rank": rank,
            "score": option.score,
            "outcome": _outcome(live, option, chosen, is_completed=is_completed),
        }
        for rank, option in enumerate(live.options, 1)
    ]
    return {
        "ranking": ranking if live.required_arm_id is None else "required_arm",
        "selected": None if chosen is None else live.option_of(chosen.arm_id).selected,
        "fallback_used": len(called) > 1,
    }


def _outcome(live: LiveRun, option: RankedArm, chosen: Attempt | None, *, is_completed: bool) -> str:
    """Return the outcome of an option: ``selected``, ``rejected_by_check``, ``answered``, ``not_tried``, or how its
    call ended.

    The specification shows the first two; the others are this service's own.
    """
    attempts = [attempt for attempt in live.attempts if attempt.arm_id == option.arm_id]
    if not attempts:
        return "not_tried"
    latest = attempts[-1]
    if is_completed and latest is chosen:
        return "selected"
    if latest.state != ANSWERED:
        return latest.reason if latest.state == FAILED and latest.reason else latest.state
    check = live.check_of(latest)
    return "rejected_by_check" if check is not None and check.has_verdict and not check.accepts else "answered"


def _cost(live: LiveRun) -> dict[str, Any]:
    sent = [attempt for attempt in live.attempts if attempt.was_sent]
    bases = {attempt.pricing_basis for attempt in sent if attempt.pricing_basis is not None}
    cost: dict[str, Any] = {
        "usd": to_json_number(live.spend),
        "input_tokens": sum(attempt.input_tokens or 0 for attempt in sent),
        "output_tokens": sum(attempt.output_tokens or 0 for attempt in sent),
        "calls": len(sent),
    }
    if bases:
        cost["pricing_basis"] = ESTIMATED if ESTIMATED in bases else SOURCE_REPORTED
    if not all(attempt.is_usage_known for attempt in sent):
        cost["usage"] = "unknown"
    return cost | spend_marks_json(live)


def spend_marks_json(spend: LiveRun | RunState | None) -> dict[str, int]:
    """Build the members beside a sum that count the calls of unknown and of estimated cost, where there are any."""
    if spend is None:
        return {}
    counts = {"unknown_calls": spend.unknown_calls, "estimated_calls": spend.estimated_calls}
    return {name: count for name, count in counts.items() if count}


def _artifact_of(live: LiveRun, attempt: Attempt) -> str | None:
    """Return the hash of the skill text used by an attempt, or ``None`` without a skill."""
    if attempt.skill_arm_id is None or live.skill is None:
        return None
    region, draft = skill.find_skill_region(live.skill), live.attempt_in(SKILL_DRAFT)
    if attempt.phase != SKILL_REPAIR or region is None or draft is None:
        return live.skill.artifact_hash
    return None if draft.candidate is None else artifact_hash(skill.apply_repair(live.skill, region, draft.candidate))


def _attempt_json(live: LiveRun, attempt: Attempt) -> dict[str, Any]:
    note, option = _NOTES.get(attempt.state), live.option_of(attempt.arm_id)
    return {
        "attempt": live.number_of(attempt),
        "arm_id": attempt.arm_id,
        "model_key": option.selected.get("model_key"),
        "connection_id": option.connection_id or option.selected.get("connection_id"),
        "skill_arm_id": attempt.skill_arm_id,
        "artifact_id": _artifact_of(live, attempt),
        "phase": attempt.phase,
        "outcome": attempt.state,
        "reason": attempt.reason,
        "failure_kind": attempt.failure_kind,
        **{name: value for name in _ANSWERED if (value := getattr(attempt, name)) is not None},
        "started_at": attempt.started_at,
        "ended_at": attempt.ended_at,
        "usage": "known" if attempt.is_usage_known else "unknown",
        "input_tokens": attempt.input_tokens,
        "output_tokens": attempt.output_tokens,
        "usd": to_json_number(Decimal(attempt.usd)) if attempt.is_cost_known else None,
        "pricing_basis": attempt.pricing_basis,
        **({} if note is None else {"note": note}),
    }
