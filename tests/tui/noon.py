"""An ordinary noon on a service: runs in every state, their events and receipts, all at fixed times.

Screens, goldens and screenshots show the same data, so that two pictures of one screen differ in nothing but the code.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Final

from runwatch.records.event import RunEvent
from runwatch.records.receipt import Receipt
from runwatch.records.run import Run
from tests.support.builders import (
    ABSENT,
    account,
    echo_events,
    echo_receipt,
    ended_receipt,
    event,
    live_receipt,
    open_run,
    recorded_event,
    run,
    slice_event,
    verification_check,
    verification_event,
)
from tests.support.receipts import baseline_receipt
from tests.support.scripted import ScriptedService
from tests.tui.samples import NOON

LIVE: Final = "8f21c0aa-7d1e-4b6e-9a1c-2f5d0c6e9b7e"
QUEUED: Final = "77ab4411-0c2f-4f63-8d0f-5e2b9d7102d1"
HOVERING: Final = "90cc7f3b-52aa-4d88-a1be-3c9d6b0e1f00"
NO_ARM: Final = "5c9d03e1-6f1d-4b55-9e77-a0c4d1e277aa"
FALLBACK: Final = "5c9d03f4-1a2b-4c3d-8e4f-5061728380b1"
TEST: Final = "41e0b6d5-93c8-4f0a-b7a1-6d2f8e90c2d4"
DONE: Final = "3fd2a1c8-4e5f-4a6b-8c7d-9e0f1a2b9911"
CANCELLED: Final = "2b07d9e4-3c4d-4e5f-a6b7-c8d9e0f155e3"
EXPIRED: Final = "19aa8b7c-6d5e-4f4a-9b3c-2d1e0f9a0c42"


def at(seconds_ago: float) -> str:
    """A moment before noon, as a service writes it."""
    moment = NOON - timedelta(seconds=seconds_ago)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _run(run_id: str, status: str, age_s: float, spend: float, *, took_s: float = 0.4, **over: Any) -> Run:
    members = {"created_at": at(age_s), "spend_usd": spend, "decision_packet": ABSENT, **over}
    if status in {"completed", "failed", "cancelled", "expired"}:
        members = {"current": None, "completed_at": at(age_s - took_s), **members}
    return open_run(run_id, status, **members)


def runs() -> list[Run]:
    """Nine runs, newest first, one of them in an unknown state."""
    works = {
        "arm_id": "arm_01HX7", "provider": "northwind_direct", "model_key": "northwind/ember-7b-instruct",
        "phase": "candidate",
    }  # fmt: skip
    return [
        _run(QUEUED, "queued", 5, 0, current=None),
        _run(LIVE, "running", 42, 0.0142, current=works),
        _run(TEST, "completed", 240, 0, mode="echo"),
        _run(HOVERING, "hovering", 198, 0.161, current=works),
        _run(NO_ARM, "failed", 300, 0.0, took_s=8, reason="no_eligible_arms"),
        _run(FALLBACK, "failed", 309, 0.009, took_s=9, reason="fallback_exhausted"),
        run(DONE, "completed", created_at=at(391)),
        _run(CANCELLED, "cancelled", 612, 0.004, took_s=72, reason="cancelled", cancelled_by="key_A1b2C3"),
        _run(EXPIRED, "expired", 900, 0.0, took_s=60, reason="runtime_exceeded"),
    ]


def live_events() -> list[RunEvent]:
    """The events of the live run so far: a check rejected its first option and accepted the second."""
    rejected = verification_check(is_correct=False, quality_score=0.31)
    accepted = verification_check(check_id="chk_2", arm_id="arm_01HX8", attempt=2)
    here = {"execution_id": LIVE}
    return [
        event(1, "accepted", at=at(40), **here),
        event(2, "queued", at=at(40), **here),
        event(3, "running", at=at(39), **here),
        slice_event(4, "running", at=at(39), arm_id="arm_01HX7", **here),
        verification_event(5, at=at(29), verification_check=rejected, **here),
        slice_event(6, "progress", at=at(29), reason="fallback", **here),
        verification_event(7, at=at(12), verification_check=accepted, **here),
        recorded_event(8, "customer_verdict", at=at(2), **here),
    ]


def events() -> dict[str, list[RunEvent]]:
    told = {LIVE: live_events()}
    for record in runs():
        if record.id not in told:
            ends = record.status if record.is_final else "completed"
            listed = echo_events(record.id, final=str(ends), at=at(200))
            told[record.id] = listed if record.is_final else listed[:3]
    return told


def receipts() -> list[Receipt]:
    """A receipt for every run that has ended."""
    return [
        echo_receipt(TEST, created_at=at(240), completed_at=at(239)),
        ended_receipt("failed", execution_id=NO_ARM, reason="no_eligible_arms", created_at=at(300)),
        ended_receipt("failed", execution_id=FALLBACK, reason="fallback_exhausted", created_at=at(309)),
        live_receipt(DONE, created_at=at(391), completed_at=at(360)),
        baseline_receipt(CANCELLED, status="cancelled", reason="cancelled", created_at=at(612), completed_at=at(540)),
        ended_receipt("expired", execution_id=EXPIRED, created_at=at(900), completed_at=at(840)),
    ]


def service(**over: Any) -> ScriptedService:
    given: dict[str, Any] = {"runs": runs(), "events": events(), "receipts": receipts(), "account": account()}
    return ScriptedService(**{**given, **over})
