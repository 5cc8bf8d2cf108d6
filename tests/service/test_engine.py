"""Runs that go on by themselves: in time, against their cap, through cancelling, failures and restarts."""

from __future__ import annotations

import asyncio
import itertools
from typing import Any

import pytest

from runwatch.service.execution import runs
from runwatch.service.execution.retries import RETRY_S
from tests.service.conftest import Json, Local, Serving, capped, event_bodies, step
from tests.service.execution.test_state_machine import check_echo_receipt
from tests.support.clock import FakeClock

STEPS = (0.02, 0.03, 0.01, 0.05, 0.01, 0.01)
STATES = ("accepted", "queued", "running", "running", "running", "running")
WHOLE = ["accepted", "queued", "running", "slice running", "slice platform_test", "slice completed", "completed"]


def in_short(events: list[Json]) -> list[str]:
    return [
        f"{'slice ' if 'slice_id' in event else ''}{event.get('state') or event['recorded_check']['state']}"
        for event in events
    ]


async def test_a_test_run_completes_within_tenths_of_a_second(local: Local) -> None:
    run = await local.submit()
    assert run["status"] == "accepted"
    done = await local.finished(run["execution_id"])
    events = await local.events(run["execution_id"])
    assert in_short(events) == WHOLE
    assert [event["at"][-4:] for event in events] == ["000Z", "020Z", "050Z", "060Z", "110Z", "120Z", "130Z"]
    assert (done["status"], done["reason"], done["current"], done["spend_usd"]) == ("completed", None, None, 0)
    receipt = await local.get(f"/v1/receipts/{run['execution_id']}")
    check_echo_receipt(receipt, "completed")
    assert receipt["totals"]["runtime_s"] == 0.13
    assert receipt["completed_at"] == done["completed_at"] == events[-1]["at"]


async def test_the_pace_stretches_the_steps_and_not_the_cap(serving: Serving) -> None:
    async with serving(pace=60) as service:
        slow = (await service.submit(capped(60)))["execution_id"]
        assert (await service.finished(slow))["status"] == "completed"
        assert (await service.get(f"/v1/receipts/{slow}"))["totals"]["runtime_s"] == pytest.approx(60 * sum(STEPS))
        capped_run = (await service.submit(capped(3)))["execution_id"]
        assert (await service.finished(capped_run))["status"] == "expired"
        assert (await service.get(f"/v1/receipts/{capped_run}"))["totals"]["runtime_s"] == 3


@pytest.mark.parametrize("stage", range(len(STEPS)))
async def test_a_run_is_cancelled_in_every_state(held: Local, stage: int) -> None:
    run = await held.submit()
    run_id = run["execution_id"]
    for _ in range(stage):
        await step(held)
    before = await held.events(run_id)
    assert (await held.get(f"/v1/executions/{run_id}"))["status"] == STATES[stage]
    answer = await held.http.post(f"/v1/executions/{run_id}/cancel")
    me = (await held.get("/v1/account"))["authenticated_principal_id"]
    assert answer.status_code == 200
    cancelled = answer.json()
    assert (cancelled["status"], cancelled["cancelled_by"], cancelled["reason"]) == ("cancelled", me, "cancelled")
    events = await held.events(run_id)
    assert events[: len(before)] == before
    assert in_short(before) == WHOLE[: stage + 1]
    assert (events[-1]["state"], events[-1]["acted_by"], "slice_id" in events[-1]) == ("cancelled", me, False)
    check_echo_receipt(await held.get(f"/v1/receipts/{run_id}"), "cancelled")
    await held.context.engine.settled()
    assert await held.events(run_id) == events
    assert (await held.http.post(f"/v1/executions/{run_id}/cancel")).json()["type"].endswith("/invalid_state")


@pytest.mark.parametrize("stage", range(len(STEPS)))
async def test_a_run_expires_in_every_state(local: Local, stage: int) -> None:
    cap = round(sum(STEPS[: stage + 1]) - 0.001, 3)
    run_id = (await local.submit(capped(cap)))["execution_id"]
    run = await local.finished(run_id)
    assert (run["status"], run["reason"], run["cancelled_by"]) == ("expired", "runtime_exceeded", None)
    events = await local.events(run_id)
    assert in_short(events)[: stage + 1] == WHOLE[: stage + 1]
    assert in_short(events)[-1] == "expired"
    assert all("acted_by" not in event for event in events)
    receipt = await local.get(f"/v1/receipts/{run_id}")
    check_echo_receipt(receipt, "expired")
    assert receipt["totals"]["runtime_s"] == cap


@pytest.mark.parametrize("stage", range(len(STEPS)))
async def test_a_run_goes_on_after_a_restart_where_it_stood(serving: Serving, stage: int) -> None:
    clock = FakeClock(manual=True)
    async with serving(clock) as service:
        run_id = (await service.submit())["execution_id"]
        for _ in range(stage):
            await step(service)
        before = await service.context.database.read(event_bodies(run_id))
    clock.advance(5)
    async with serving(clock) as service:
        assert service.context.engine.unfinished == 1
        while service.context.engine.unfinished:
            await step(service)
        after = await service.context.database.read(event_bodies(run_id))
        assert after[: stage + 1] == before
        assert in_short(await service.events(run_id)) == WHOLE
        check_echo_receipt(await service.get(f"/v1/receipts/{run_id}"), "completed")
    async with serving(clock) as service:
        assert service.context.engine.unfinished == 0


async def test_a_run_whose_time_ran_out_while_nothing_ran_expires_at_the_next_start(serving: Serving) -> None:
    clock = FakeClock(manual=True)
    async with serving(clock) as service:
        run_id = (await service.submit(capped(10)))["execution_id"]
        await step(service)
    clock.advance(3600)
    async with serving(clock) as service:
        await service.context.engine.settled()
        run = await service.get(f"/v1/executions/{run_id}")
        assert (run["status"], run["reason"]) == ("expired", "runtime_exceeded")
        check_echo_receipt(await service.get(f"/v1/receipts/{run_id}"), "expired")


@pytest.mark.exhaustive
async def test_many_runs_at_once_all_become_final(local: Local) -> None:
    answers = await asyncio.gather(*(local.submit(key=f"k{number}") for number in range(60)))
    await local.context.engine.settled()
    receipts = (await local.get("/v1/receipts"))["receipts"]
    assert {receipt["execution_id"] for receipt in receipts} == {run["execution_id"] for run in answers}
    assert {receipt["status"] for receipt in receipts} == {"completed"}


async def test_a_step_that_cannot_be_written_is_tried_again(local: Local, monkeypatch: pytest.MonkeyPatch) -> None:
    failures = itertools.count(1)
    take_test_step = runs.take_test_step

    def flaky(*arguments: Any, **named: Any) -> Any:
        if next(failures) <= len(RETRY_S) + 1:
            raise OSError("no space left on device")
        return take_test_step(*arguments, **named)

    monkeypatch.setattr(runs, "take_test_step", flaky)
    run_id = (await local.submit(capped(3600)))["execution_id"]
    assert (await local.finished(run_id))["status"] == "completed"
    waits = [seconds for seconds in local.fake_clock.sleeps if seconds >= 1]
    assert waits == [*RETRY_S, RETRY_S[-1]]
    assert in_short(await local.events(run_id)) == WHOLE
