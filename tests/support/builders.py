"""Records of every kind, as a service sends them, with the changes of a test.

Each builder gives a whole, plausible record. Keyword arguments replace members, ``ABSENT`` as their value leaves one
out, and a member that the interface does not know is simply added.
"""

from __future__ import annotations

import uuid
from typing import Any

from runwatch.records.account import Account
from runwatch.records.error_codes import CODES
from runwatch.records.event import RunEvent
from runwatch.records.problem import PROBLEM_BASE, Problem
from runwatch.records.run import Run, RunResult, Slice
from tests.support.parts import (
    ABSENT,
    AT,
    KEY_ID,
    RECORDED_STATES,
    RUN_ID,
    decision_packet,
    merged,
    provenance,
    recorded_check,
    verification_check,
)
from tests.support.receipts import baseline_receipt, echo_receipt, ended_receipt, live_receipt

__all__ = [
    "ABSENT", "AT", "KEY_ID", "RECORDED_STATES", "RUN_ID", "account", "baseline_receipt", "decision_packet",
    "echo_events", "echo_receipt", "ended_receipt", "event", "full_request_body", "live_events", "live_receipt",
    "open_run", "problem", "provenance", "recorded_check", "recorded_event", "request_body", "result", "run", "slice_",
    "slice_event", "unknown_event", "validation_problem", "verification_check", "verification_event",
]  # fmt: skip


def request_body(mode: str = "echo", **over: Any) -> dict[str, Any]:
    """The body of a submit: a test run unless told otherwise."""
    raw = {
        "mode": mode,
        "task": {"objective": "Summarise the attached release notes in five bullet points."},
        "policy": {"data_classes": ["public"], "budget": {"max_cost_usd": 0.25, "max_runtime_s": 60}},
    }
    return merged(raw, over)


def full_request_body(**over: Any) -> dict[str, Any]:
    """The body of a live submit that uses every member of the interface."""
    raw = request_body(
        "live",
        task={
            "objective": "Summarise the attached release notes in five bullet points.",
            "inputs_ref": {"kind": "inline_json", "json": {"notes": "1.4: faster start"}},
        },
        policy={
            "data_classes": ["public", "tenant_internal"],
            "budget": {"max_cost_usd": 0.25, "max_runtime_s": 60},
            "cost_coefficient": 0.5,
            "on_eval": ["gate", "fallback"],
        },
        verifier_id="vrf_7c1e", routing={"required_arm_id": "arm_01HX7"}, compose="auto",
    )  # fmt: skip
    return merged(raw, over)


def problem(code: str = "not_found", *, status: int | None = None, **over: Any) -> Problem:
    """A Problem with the status and title of its code, and its own instance."""
    known = CODES.get(code)
    raw = {
        "type": f"{PROBLEM_BASE}{code}", "title": known.title if known else "Something else.",
        "status": status or (known.status if known else 500), "instance": str(uuid.uuid4()),
    }  # fmt: skip
    return Problem(merged(raw, over))


def validation_problem(**fields: str) -> Problem:
    """A ``validation_failed`` with one entry a field; ``__`` in a name stands for a dot."""
    errors = [{"field": name.replace("__", "."), "message": message} for name, message in fields.items()]
    return problem("validation_failed", detail="Some fields need attention.", errors=errors)


def slice_(**over: Any) -> Slice:
    return Slice(merged({"slice_id": "sl_1", "capability": "text.generate", "status": "running"}, over))


def run(execution_id: str = RUN_ID, status: str = "running", **over: Any) -> Run:
    raw = {
        "execution_id": execution_id, "status": status, "slices": [dict(slice_(status=status).raw)],
        "links": {
            "status": f"/v1/executions/{execution_id}", "events": f"/v1/executions/{execution_id}/events",
            "receipt": f"/v1/receipts/{execution_id}",
        },
        "created_at": AT, "cancelled_by": None,
    }  # fmt: skip
    return Run(merged(raw, over))


def open_run(execution_id: str = RUN_ID, status: str = "running", **over: Any) -> Run:
    """A run with the open members that the local service adds, and a decision packet."""
    more: dict[str, Any] = {
        "mode": "live", "policy": full_request_body()["policy"], "spend_usd": 0.0142, "reason": None,
        "current": {"slice_id": "sl_1", "arm_id": "arm_01HX7", "phase": "candidate"},
        "decision_packet": decision_packet(),
    }  # fmt: skip
    return run(execution_id, status, **{**more, **over})


def event(number: int = 1, state: str = "running", *, execution_id: str = RUN_ID, **over: Any) -> RunEvent:
    raw = {
        "event_id": f"ev_{number:04}", "execution_id": execution_id, "type": "lifecycle", "state": state,
        "at": f"2026-11-20T10:{5 + number // 60 % 50:02}:{number % 60:02}.000Z",
    }  # fmt: skip
    return RunEvent(merged(raw, over))


def slice_event(number: int = 1, state: str = "running", slice_id: str = "sl_1", **over: Any) -> RunEvent:
    return event(number, state, **{"slice_id": slice_id, **over})


def verification_event(number: int = 1, **over: Any) -> RunEvent:
    """An event that carries one attempt of an output check."""
    return event(
        number,
        **{
            "type": "verification_check", "state": ABSENT, "slice_id": "sl_1",
            "verification_check": verification_check(), **over,
        },
    )  # fmt: skip


def recorded_event(number: int = 1, state: str = "platform_test", **over: Any) -> RunEvent:
    """An event that carries the latest statement about a check, in one of its states."""
    return event(
        number,
        **{
            "type": "recorded_check", "state": ABSENT, "slice_id": "sl_1", "recorded_check": recorded_check(state),
            **over,
        },
    )  # fmt: skip


def unknown_event(number: int = 1, **over: Any) -> RunEvent:
    """An event of an unknown type."""
    return event(number, **{"type": "tool_call", "state": ABSENT, "tool": {"name": "search", "calls": 2}, **over})


def echo_events(execution_id: str = RUN_ID, *, final: str = "completed", **over: Any) -> list[RunEvent]:
    """All events of a test run, the final one included; ``over`` goes into every one of them."""
    ended = {"reason": {"cancelled": "cancelled", "expired": "runtime_exceeded"}.get(final, "internal")}
    last = {} if final == "completed" else ended
    return [
        event(1, "accepted", execution_id=execution_id, **over),
        event(2, "queued", execution_id=execution_id, **over),
        event(3, "running", execution_id=execution_id, **over),
        slice_event(4, "running", execution_id=execution_id, **over),
        recorded_event(5, execution_id=execution_id, **over),
        slice_event(6, final, execution_id=execution_id, **{**last, **over}),
        event(7, final, execution_id=execution_id, **{**last, **over}),
    ]


def live_events(execution_id: str = RUN_ID, **over: Any) -> list[RunEvent]:
    """All events of a live run whose first option a check rejects and whose second it accepts."""
    return [
        event(1, "accepted", execution_id=execution_id, **over),
        event(2, "running", execution_id=execution_id, **over),
        slice_event(3, "running", execution_id=execution_id, **over),
        verification_event(
            4, execution_id=execution_id, verification_check=verification_check(is_correct=False, quality_score=0.31)
        ),
        slice_event(5, "progress", execution_id=execution_id, **over),
        verification_event(
            6, execution_id=execution_id, verification_check=verification_check(check_id="chk_2", attempt=2)
        ),
        recorded_event(7, "customer_verdict", execution_id=execution_id, **over),
        unknown_event(8, execution_id=execution_id, **over),
        slice_event(9, "completed", execution_id=execution_id, **over),
        event(10, "completed", execution_id=execution_id, **over),
    ]


def result(execution_id: str = RUN_ID, **over: Any) -> RunResult:
    """The model output of a completed live run."""
    raw = {
        "execution_id": execution_id, "slice_id": "sl_1", "final_text": "- First point\n- Second point",
        "model_provenance": provenance(), "retention_expires_at": "2026-11-27T10:00:10Z",
    }  # fmt: skip
    return RunResult(merged(raw, over))


def account(**over: Any) -> Account:
    """The organization behind a key, with every known member."""
    raw = {
        "tenant_id": "ten_01", "authenticated_principal_id": KEY_ID, "display_name": "Acme Research",
        "quota_tier": "preview", "is_demo": False,
        "quota": {
            "executions": {
                "limit": 500, "used": 37, "remaining": 463, "reset_at": "2026-12-01T00:00:00Z", "retry_after_s": 0,
            },
            "concurrency": {"limit": 4, "running": 1},
            "rate_limit_rpm": 60,
        },
        "balance": {
            "balance_usd": 18.4,
            "top_up_history": [
                {
                    "at": "2026-11-02T09:00:00Z", "amount_usd": 20, "method": "stripe_checkout",
                    "stripe_event_id": "evt_x", "receipt_emailed": True,
                },
            ],
            "credit_activity": [
                {
                    "at": "2026-11-02T09:00:00Z", "amount_usd": 20, "kind": "stripe_checkout", "description": "Top-up",
                    "reference": "evt_x",
                },
            ],
            "billing_email": "billing@example.test",
        },
        "billing": {
            "funded_state": "funded", "manage_available": True, "platform_fee_usd_per_execution": 0.05,
            "review_composer_fee_usd_per_execution": 0.4,
        },
    }  # fmt: skip
    return Account(merged(raw, over))
