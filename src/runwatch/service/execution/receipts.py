"""Build receipts, without side effects (manual: interface, "Receipts"; manual: interface, "Receipt fields")."""

from __future__ import annotations

import hashlib
from decimal import Decimal
from typing import Any, Final

from runwatch.base.clock import format_iso
from runwatch.service.execution.live.receipt_facts import live_slice, spend_marks_json
from runwatch.service.execution.live.state import LiveRun, to_json_number
from runwatch.service.execution.state_machine import ECHO_CHECK, ECHO_IDENTITY, RunState, SliceState
from runwatch.service.organization.wallet import PLATFORM_FEE_USD

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
