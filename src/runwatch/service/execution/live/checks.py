"""Finished output checks and what is stated of them, without side effects (manual: interface, "Receipt fields"; manual:
interface, "Scores and policy").
"""

from __future__ import annotations

import hashlib
from datetime import datetime
from typing import Any, Final

from runwatch.base.clock import format_iso
from runwatch.service.checks.evaluation import Evaluation
from runwatch.service.checks.verifiers import declaration_json
from runwatch.service.execution.live.state import BASELINE_ID, Attempt, FinishedCheck, LiveRun
from runwatch.service.ids import new_id
from runwatch.service.transaction import Row, pick

BASELINE_HASH: Final = f"sha256:{hashlib.sha256(BASELINE_ID.encode()).hexdigest()}"


def customer_check(
    live: LiveRun, verifier: Row, attempt: Attempt, evaluation: Evaluation, now: datetime
) -> FinishedCheck:
    shown = _check_json(live, attempt, now, verifier["verifier_id"], verifier["hash"], "customer") | {
        "outcome": evaluation.outcome,
        "failure_class": evaluation.failure_class,
        "is_correct": evaluation.is_correct,
        "quality_score": evaluation.quality_score,
        # Not in the specification.
        **({} if evaluation.http_status is None else {"http_status": evaluation.http_status}),
    }
    declaration = {**declaration_json(verifier["declared_at"]), "verifier_revision": verifier["revision"]}
    return FinishedCheck(shown, evaluation.anchor_results, declaration, format_iso(now), attempt.number)


def baseline_check(live: LiveRun, attempt: Attempt, now: datetime) -> FinishedCheck:
    """Build a finished built-in check, which only tests whether there is any output."""
    is_present = bool((attempt.candidate or "").strip())
    shown = _check_json(live, attempt, now, BASELINE_ID, BASELINE_HASH, "platform_baseline") | {
        "outcome": "valid_verdict",
        "failure_class": None,
        "is_correct": is_present,
        "quality_score": int(is_present),
    }
    return FinishedCheck(shown, None, None, format_iso(now), attempt.number)


def verdict_statement(check: FinishedCheck) -> dict[str, Any]:
    shown = check.form
    if check.is_baseline:
        said = {
            "state": "baseline",
            "customer_check_selected": False,
            "verifier_id": BASELINE_ID,
            "output_present": shown["is_correct"],
        }
    elif check.has_verdict:
        anchors = {} if check.anchor_results is None else {"anchor_results": check.anchor_results}
        said = {
            "state": "customer_verdict",
            **pick(shown, "verifier_id check_id is_correct quality_score"),
            **anchors,
        }
    else:
        said = {
            "state": "customer_unavailable",
            "attempted_verifier_id": shown["verifier_id"],
            "check_id": shown["check_id"],
            "failure_class": shown["failure_class"],
            **({"http_status": shown["http_status"]} if "http_status" in shown else {}),
        }
    return {**said, "recorded_at": check.at}


def pending(execution_id: str, verifier_id: str, now: datetime) -> dict[str, Any]:
    """Build the RecordedCheck of an output that a customer's check is about to see."""
    return {
        "state": "pending_evaluation",
        "pending": True,
        "execution_id": execution_id,
        # Not in the specification for this state.
        "attempted_verifier_id": verifier_id,
        "recorded_at": format_iso(now),
    }


def verifier_json(check: FinishedCheck) -> dict[str, Any]:
    """Build ``slices[].verifier`` of a receipt: the check and its verdict."""
    shown = check.form
    return {
        "id": shown["verifier_id"],
        "hash": shown["verifier_hash"],
        **pick(shown, "verifier_id is_correct quality_score"),
        **({} if check.anchor_results is None else {"anchor_results": check.anchor_results}),
        **({} if check.declaration is None else {"correctness_declaration": check.declaration}),
    }


def _check_json(
    live: LiveRun, attempt: Attempt, now: datetime, verifier_id: str, verifier_hash: str, activity: str
) -> dict[str, Any]:
    return {
        "check_id": new_id("chk", now),
        "verifier_id": verifier_id,
        "verifier_hash": verifier_hash,
        "activity": activity,
        "arm_id": attempt.checked_arm_id,
        "attempt": live.number_of(attempt),
        "phase": attempt.phase,
    }
