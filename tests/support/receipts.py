"""Receipts of every kind, as a service sends them."""

from __future__ import annotations

from typing import Any

from runwatch.records.receipt import Receipt
from tests.support.parts import AT, RUN_ID, decision_packet, merged, provenance, recorded_check, verification_check


def echo_receipt(execution_id: str = RUN_ID, **over: Any) -> Receipt:
    """The receipt of a completed test run, with its constants (manual: interface, "Receipt fields")."""
    raw = {
        "execution_id": execution_id, "mode": "echo", "status": "completed", "created_at": AT,
        "completed_at": "2026-11-20T10:05:00.420Z",
        "slices": [
            {
                "slice_id": "sl_1",
                "capability": "text.generate",
                "route": {"ranking": "skipped_platform_proof", "selected": None},
                "verifier": {
                    "identity": "platform.echo", "id": "platform.echo", "hash": "sha256:0000", "verifier_id": None,
                    "is_correct": True, "quality_score": 1,
                },
                "cost": {"usd": 0, "waiver": {"reason": "sandbox_echo_d9"}},
                "recorded_check": recorded_check("platform_test"),
            },
        ],
        "totals": {"usd": 0, "platform_fee_usd": 0, "runtime_s": 0.42},
    }  # fmt: skip
    return Receipt(merged(raw, over))


def live_receipt(execution_id: str = RUN_ID, **over: Any) -> Receipt:
    """The receipt of a live run that fell back to its second option; with every known member."""
    raw = {
        "execution_id": execution_id, "mode": "live", "status": "completed", "reason": None, "created_at": AT,
        "completed_at": "2026-11-20T10:05:09.800Z", "slices": [_live_slice()],
        "totals": {"usd": 0.0142, "platform_fee_usd": 0.05, "review_composer_fee_usd": 0.0, "runtime_s": 9.8},
        "decision_packet": decision_packet(),
    }  # fmt: skip
    return Receipt(merged(raw, over))


def baseline_receipt(execution_id: str = RUN_ID, **over: Any) -> Receipt:
    """The receipt of a live run without an output check of the customer."""
    raw = {
        "execution_id": execution_id, "mode": "live", "status": "completed",
        "slices": [
            {
                "slice_id": "sl_1",
                "capability": "text.generate",
                "route": {
                    "ranking": "required_arm",
                    "selected": {
                        "arm_id": "arm_01HX7", "provider": "northwind_direct",
                        "model_key": "northwind/ember-7b-instruct",
                    },
                },
                "verifier": {
                    "id": "vrf_builtin_baseline", "hash": "sha256:bb00", "verifier_id": "vrf_builtin_baseline",
                    "is_correct": True, "quality_score": 1,
                },
                "recorded_check": recorded_check("baseline"),
                "cost": {"usd": 0.003},
            },
        ],
        "totals": {"usd": 0.003, "platform_fee_usd": 0.05, "runtime_s": 3.1},
    }  # fmt: skip
    return Receipt(merged(raw, over))


def ended_receipt(
    status: str = "cancelled", reason: str | None = None, *, execution_id: str = RUN_ID, **over: Any
) -> Receipt:
    """The receipt of a live run that ended without an output: ``cancelled``, ``expired`` or ``failed``."""
    why = reason or {"cancelled": "cancelled", "expired": "runtime_exceeded"}.get(status, "no_eligible_arms")
    raw = {
        "execution_id": execution_id, "mode": "live", "status": status,
        "slices": [
            {
                "slice_id": "sl_1",
                "capability": "text.generate",
                "route": {"ranking": [], "selected": None},
                "recorded_check": recorded_check("terminal_no_evaluation", reason=why),
            },
        ],
        "totals": {"usd": 0, "platform_fee_usd": 0, "runtime_s": 6},
    }  # fmt: skip
    return Receipt(merged(raw, over))


def _live_slice() -> dict[str, Any]:
    return {
        "slice_id": "sl_1",
        "capability": "text.summarize",
        "route": {
            "ranking": [
                {"arm_id": "arm_01HX7", "rank": 1, "score": 0.71, "outcome": "rejected_by_check"},
                {"arm_id": "arm_01HX8", "rank": 2, "score": 0.64, "outcome": "selected"},
            ],
            "selected": {
                "arm_id": "arm_01HX8", "provider": "openrouter", "model_key": "contoso/atlas-12b",
                "model_deployment_id": "mdep_01HX9", "connection_id": "conn_01HXZ", "access_lane": "byok",
            },
            "fallback_used": True,
        },
        "verifier": {
            "identity": "customer", "id": "vrf_7c1e", "hash": "sha256:aa11", "verifier_id": "vrf_7c1e",
            "is_correct": True, "quality_score": 0.86,
            "anchor_results": {"five_bullets": True, "no_invented_version": True},
            "correctness_declaration": {
                "status": "declared", "method": "deterministic", "declared_at": "2026-11-10T12:00:00Z",
                "verifier_revision": 3, "statement": "Declared by the tenant; nobody else verified it.",
            },
        },
        "verification_checks": [
            verification_check(is_correct=False, quality_score=0.31),
            verification_check(check_id="chk_2", arm_id="arm_01HX8", attempt=2),
        ],
        "recorded_check": recorded_check("customer_verdict"),
        "acted_on_eval": {"action": "fallback", "outcome": "fell_back", "proposal_id": None},
        "cost": {
            "usd": 0.0142, "input_tokens": 1830, "output_tokens": 412, "calls": 2, "pricing_basis": "source_reported",
            "waiver": {"reason": "none"},
        },
        "model_provenance": provenance(),
    }  # fmt: skip
