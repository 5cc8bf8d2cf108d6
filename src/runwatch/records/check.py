"""Output checks in events and receipts (manual: interface, "Receipt fields")."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from runwatch.records.record import Record, amount, flag, integer, mapping, moment, text

BASELINE_VERIFIER: Final = "vrf_builtin_baseline"
"""The id that means no output check was chosen."""


def is_baseline(holder: object) -> bool:
    """Return whether a check of a receipt or an event only looked whether there is output."""
    if not isinstance(holder, Mapping):
        return False
    named = (holder.get("verifier_id"), holder.get("id"))
    return holder.get("activity") == "platform_baseline" or BASELINE_VERIFIER in named


class VerificationCheck(Record):
    """One attempt to check an output: a verdict or a technical failure, never both.

    ``http_status``, what the check answered in place of a verdict, is not in the specification.
    """

    check_id = text("check_id")
    verifier_id = text("verifier_id")
    verifier_hash = text("verifier_hash")
    activity = text("activity")
    arm_id = text("arm_id")
    attempt = integer("attempt")
    phase = text("phase")
    outcome = text("outcome")
    failure_class = text("failure_class")
    http_status = integer("http_status")
    is_correct = flag("is_correct")
    quality_score = amount("quality_score")


class RecordedCheck(Record):
    """Latest state of a slice's check; ``state`` decides which members come with it.

    A missing one means nothing: infer neither a verdict nor a pending check from it.
    """

    state = text("state")
    recorded_at = moment("recorded_at")
    verifier_id = text("verifier_id")
    attempted_verifier_id = text("attempted_verifier_id")
    check_id = text("check_id")
    is_correct = flag("is_correct")
    quality_score = amount("quality_score")
    anchor_results = mapping("anchor_results")
    failure_class = text("failure_class")
    http_status = integer("http_status")
    customer_check_selected = flag("customer_check_selected")
    output_present = flag("output_present")
    identity = text("identity")
    pending = flag("pending")
    execution_id = text("execution_id")
    no_evaluation_attempted = flag("no_evaluation_attempted")
    reason = text("reason")
    lifecycle_state = text("lifecycle_state")
