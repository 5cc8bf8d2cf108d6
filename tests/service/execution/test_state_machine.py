"""The state machine by itself: what follows what, and how a run ends from anywhere."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from runwatch.records.event import RunEvent
from runwatch.records.receipt import Receipt
from runwatch.service.execution.receipts import build_receipt, list_arms
from runwatch.service.execution.state_machine import RunState, Transition, accept, end, new_run, next_test_step
from tests.support.clock import START


def run_of() -> RunState:
    return new_run(tenant_id="ten_1", mode="echo", policy={"data_classes": ["public"]}, max_runtime_s=60, now=START)


def stages() -> list[RunState]:
    """A run at every state it meets, the final one included."""
    runs = [run_of()]
    while (step := next_test_step(runs[-1])) is not None:
        runs.append(step.transition(runs[-1], START + timedelta(milliseconds=len(runs))).run)
    return runs


def told(change: Transition) -> list[str]:
    """Events in short: ``slice:`` where they belong to one, then the state or the check."""
    return [
        ("slice:" if "slice_id" in event else "") + str(event.get("state") or event["recorded_check"]["state"])
        for event in change.events
    ]


LIVE_ECHO = stages()[:-1]


def test_a_test_run_meets_every_state_in_order() -> None:
    run = run_of()
    seen = told(accept(run))
    while (step := next_test_step(run)) is not None:
        change = step.transition(run, START)
        run = change.run
        seen += told(change)
    assert seen == [
        "accepted", "queued", "running", "slice:running", "slice:platform_test", "slice:completed", "completed",
    ]  # fmt: skip
    assert run.is_final


@pytest.mark.parametrize("run", LIVE_ECHO, ids=lambda run: f"{run.status}-{run.slices[0].status}")
@pytest.mark.parametrize(("status", "reason"), [("cancelled", "cancelled"), ("expired", "runtime_exceeded")])
def test_a_run_ends_from_every_state_with_its_slices_and_a_receipt(run: RunState, status: str, reason: str) -> None:
    actor = "key_1" if status == "cancelled" else None
    change = end(run, status, reason, START + timedelta(seconds=1), acted_by=actor)
    part = run.slices[0]
    expected = []
    if part.status != "completed":
        expected = [*([] if part.recorded_check else ["slice:terminal_no_evaluation"]), f"slice:{status}"]
    assert told(change) == [*expected, status]
    assert all(event.get("acted_by") == actor for event in change.events if event["type"] == "lifecycle")
    assert RunEvent(change.events[-1]).ends_run
    assert (change.run.status, change.run.reason, change.run.cancelled_by) == (status, reason, actor)
    assert change.run.slices[0].status == ("completed" if part.status == "completed" else status)
    check_echo_receipt(build_receipt(change.run), status)


def check_echo_receipt(raw: dict[str, Any], status: str) -> None:
    """The constants of every test run's receipt (manual: interface, "Receipt fields", "Examples")."""
    receipt = Receipt(raw)
    assert not receipt.flaws()
    assert (receipt.mode, receipt.status) == ("echo", status)
    assert receipt.spend_usd == 0
    assert receipt.totals is not None
    assert None not in (receipt.totals.usd, receipt.totals.platform_fee_usd, receipt.totals.runtime_s)
    (part,) = receipt.slices or ()
    assert part.route is not None
    assert part.route.ranking == "skipped_platform_proof"
    assert part.route.selected is None
    assert part.verifier is not None
    assert part.verifier.identity == "platform.echo"
    assert part.cost is not None
    assert part.cost.usd == 0
    assert part.cost.waiver is not None
    assert part.cost.waiver.reason == "sandbox_echo_d9"
    assert part.recorded_check is not None
    is_checked = part.recorded_check.state == "platform_test"
    assert part.verifier.is_correct is (True if is_checked else None)
    if is_checked:
        assert part.recorded_check.identity == "platform.echo"
    else:
        assert part.recorded_check.state == "terminal_no_evaluation"
        assert part.recorded_check.reason == receipt.reason


def test_a_completed_test_run_has_the_constants_too() -> None:
    receipt = build_receipt(stages()[-1])
    check_echo_receipt(receipt, "completed")
    assert receipt["slices"][0]["recorded_check"]["state"] == "platform_test"
    assert "reason" not in receipt
    assert receipt["totals"]["runtime_s"] == 0.006


def test_a_receipt_names_the_arms_that_were_selected() -> None:
    receipt = build_receipt(stages()[-1])
    assert list_arms(receipt) == set()
    receipt["slices"][0]["route"]["selected"] = {"arm_id": "arm_1"}
    assert list_arms(receipt) == {"arm_1"}


def test_a_run_that_ends_states_what_is_known_of_its_check_and_of_a_call_under_way() -> None:
    check = {"state": "customer_verdict", "is_correct": False}
    change = end(stages()[3], "cancelled", "cancelled", START, acted_by="key_1", check=check, note="a call")
    assert told(change) == ["slice:customer_verdict", "slice:cancelled", "cancelled"]
    assert [event.get("note") for event in change.events] == [None, "a call", None]
    assert change.run.slices[0].recorded_check == check


def test_a_run_does_not_end_before_it_began_when_the_clock_is_set_back() -> None:
    run = replace(run_of(), created_at=START + timedelta(hours=1))
    ended = end(run, "cancelled", "cancelled", START).run
    assert build_receipt(ended)["totals"]["runtime_s"] == 0


def test_a_cap_beyond_all_calendars_is_a_cap() -> None:
    assert replace(run_of(), max_runtime_s=1e308).time_left(START) == 1e308
