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

    check_id = text()
    verifier_id = text()
    verifier_hash = text()
    activity = text()
    arm_id = text()
    attempt = integer()
    phase = text()
    outcome = text()
    failure_class = text()
    http_status = integer()
    is_correct = flag()
    quality_score = amount()


class RecordedCheck(Record):
    """Latest state of a slice's check; ``state`` decides which members come with it.

    A missing one means nothing: infer neither a verdict nor a pending check from it.
    """

    state = text()
    recorded_at = moment()
    verifier_id = text()
    attempted_verifier_id = text()
    check_id = text()
    is_correct = flag()
    quality_score = amount()
    anchor_results = mapping()
    failure_class = text()
    http_status = integer()
    customer_check_selected = flag()
    output_present = flag()
    identity = text()
    pending = flag()
    execution_id = text()
    no_evaluation_attempted = flag()
    reason = text()
    lifecycle_state = text()
