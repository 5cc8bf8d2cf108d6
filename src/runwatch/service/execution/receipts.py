"""What a receipt says (specification, Receipts; wire reference 3.4, 6.8 and 6.10). Pure."""

from __future__ import annotations

import hashlib
from decimal import Decimal
from typing import Any, Final

from runwatch.base.clock import iso
from runwatch.service.execution.lifecycle import ECHO_CHECK, ECHO_IDENTITY, Run, Slice
from runwatch.service.execution.live.facts import live_slice, unknown_form
from runwatch.service.execution.live.state import Live, numeral
from runwatch.service.organization.wallet import PLATFORM_FEE_USD

_ECHO_HASH: Final = f"sha256:{hashlib.sha256(ECHO_IDENTITY.encode()).hexdigest()}"


def receipt_of(run: Run, live: Live | None = None) -> dict[str, Any]:
    """The receipt of a final run; it holds neither prompt nor output, and its totals are never null.

    ``totals.usd`` is the known part of the spend. Where calls have ended without their cost being known, the member
    ``unknown_calls`` beside it counts them; it is not in the specification.

    Args:
        run: The run.
        live: Everything recorded of a live run.
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
        "created_at": iso(run.created_at),
        "completed_at": iso(run.completed_at),
        "slices": slices,
        "totals": {
            "usd": 0 if live is None else numeral(live.spend),
            "platform_fee_usd": numeral(fee_of(live)),
            **unknown_form(live),
            "runtime_s": round((run.completed_at - run.created_at).total_seconds(), 3),
        },
        **({} if run.packet is None else {"decision_packet": run.packet}),
    }


def fee_of(live: Live | None) -> Decimal:
    """The platform fee of a run: none for a test run, and none when no model was called (wire reference 3.4)."""
    return PLATFORM_FEE_USD if live is not None and live.attempts else Decimal(0)


def _echo_slice(part: Slice) -> dict[str, Any]:
    """A slice of a test run: the constants of the platform's own proof, with a verdict only where it was reached."""
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


def arms_of(receipt: dict[str, Any]) -> set[str]:
    """The arms that a receipt names as selected."""
    selected = (part["route"]["selected"] for part in receipt["slices"])
    return {arm["arm_id"] for arm in selected if arm is not None}
