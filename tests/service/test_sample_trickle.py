"""Runs that start by themselves while a console watches: a few at once, within the organization's limits."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from random import Random

import pytest

from runwatch.records.states import FINAL_STATES
from runwatch.service.execution.engine import EmbeddedEngine
from runwatch.service.organization import wallet
from runwatch.service.process import stop_when_idle
from runwatch.service.sample.background_runs import AT_ONCE, BackgroundRuns
from tests.service.conftest import Json, Local, Serving
from tests.service.sampling import all_runs, told_keys
from tests.support.clock import FakeClock

WAIT_S = 60.0


async def until(condition: Callable[[], bool]) -> None:
    """Wait for what other tasks bring about."""
    async with asyncio.timeout(WAIT_S):
        while not condition():
            await asyncio.sleep(0.001)


async def quiet(local: Local) -> list[Json]:
    """Wait until no watcher counts and every run has ended; return the runs without counting as a watcher."""
    context = local.context
    await until(lambda: not context.touched.is_set() and not context.engine.unfinished)
    return await all_runs(local)


async def test_runs_come_and_go_while_the_user_watches(serving: Serving) -> None:
    seen: set[tuple[str, str]] = set()
    wanted = {(mode, "completed") for mode in ("echo", "live")} | {
        ("live", status) for status in ("failed", "cancelled", "expired")
    }
    async with serving(sample=True, sample_runs=1, sample_trickle=True) as local:
        async with asyncio.timeout(WAIT_S):
            while not wanted <= seen:
                runs = (await quiet(local))[:-1]
                seen = {(run["mode"], run["status"]) for run in runs}
        # Looking at the runs is a call, and brings the next one, which has no receipt yet.
        ended = [run for run in runs if run["mode"] == "live" and run["status"] in FINAL_STATES]
        receipts = [await local.get(run["links"]["receipt"]) for run in ended]
        stated = {part["recorded_check"]["state"] for receipt in receipts for part in receipt["slices"]}
        assert "customer_verdict" in stated, "checks are called over HTTP"
        usage = await local.get("/v1/usage")
        runner = next(key for key in told_keys(local.context.options.data_dir) if key["role"] == "runner")
        assert runner["api_key_id"] in {row["api_key_id"] for row in usage["by_key"]}
        used = {key["api_key_id"]: key["last_used_at"] for key in (await local.get("/v1/api-keys"))["api_keys"]}
        assert used[runner["api_key_id"]] in {run["created_at"] for run in await quiet(local)}


@pytest.mark.exhaustive
async def test_nothing_comes_when_nobody_has_called_for_a_minute(serving: Serving) -> None:
    clock = FakeClock()
    async with serving(clock, sample=True, sample_runs=1, sample_trickle=True) as local:
        await until(lambda: not local.context.touched.is_set() and not local.context.engine.unfinished)
        moment = clock.monotonic()
        assert moment - local.context.last_request >= 60
        for _ in range(50):
            await asyncio.sleep(0.001)
        assert clock.monotonic() == moment, "nobody sleeps, nothing comes"
        before = len(await all_runs(local))
        assert len(await quiet(local)) > before, "a caller brings it back"


@pytest.mark.exhaustive
async def test_it_does_not_keep_an_idle_service_from_ending(serving: Serving) -> None:
    clock = FakeClock()
    async with serving(clock, sample=True, sample_runs=1, sample_trickle=True, idle_exit_s=600) as local:
        async with asyncio.timeout(WAIT_S):
            await stop_when_idle(local.running, 600, clock)
        assert local.running.stop.is_set()


@pytest.mark.exhaustive
async def test_there_are_a_few_live_runs_at_most(serving: Serving) -> None:
    async with serving(FakeClock(manual=True), sample=True, sample_runs=1) as local:
        trickle = BackgroundRuns(local.context, Random(1))
        for _ in range(3 * AT_ONCE):
            await trickle.add()
        runs = await all_runs(local)
        assert len([run for run in runs if run["completed_at"] is None]) == AT_ONCE
        assert len(runs) == AT_ONCE + 1


@pytest.mark.exhaustive
async def test_an_organization_that_may_not_submit_gets_no_runs(serving: Serving) -> None:
    async with serving(FakeClock(manual=True), sample=True, sample_runs=1) as local:
        tenant_id = (await local.get("/v1/account"))["tenant_id"]
        await local.context.database.write(
            lambda transaction: wallet.set_limits(transaction, tenant_id, executions_per_month=0)
        )
        trickle = BackgroundRuns(local.context, Random(1))
        for _ in range(5):
            await trickle.add()
        assert len(await all_runs(local)) == 1


@pytest.mark.exhaustive
async def test_it_ends_with_its_key(serving: Serving) -> None:
    async with serving(FakeClock(manual=True), sample=True, sample_runs=1) as local:
        runner = next(key for key in told_keys(local.context.options.data_dir) if key["role"] == "runner")
        answer = await local.http.post(f"/v1/api-keys/{runner['api_key_id']}/revoke")
        assert answer.status_code == 200, answer.text
        await BackgroundRuns(local.context, Random(1)).add()
        assert len(await all_runs(local)) == 1


async def test_a_run_is_live_at_every_second_that_the_user_watches(
    serving: Serving, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = FakeClock(manual=True)

    async def add_none(_: BackgroundRuns) -> None:
        """Other runs come and go by chance."""

    monkeypatch.setattr(BackgroundRuns, "add", add_none)
    async with serving(clock, sample=True, sample_runs=1) as local:
        engine = local.context.engine
        assert isinstance(engine, EmbeddedEngine)
        trickle = asyncio.create_task(BackgroundRuns(local.context, Random(1)).run())
        try:
            for second in range(180):
                local.context.last_request = clock.monotonic()
                local.context.touched.set()
                await until(lambda: all(map(clock.has_asleep, (trickle, *engine._tasks.values()))))
                assert engine.unfinished, f"no run is live after {second} s"
                clock.advance(1.0)
                await asyncio.sleep(0)
        finally:
            trickle.cancel()
