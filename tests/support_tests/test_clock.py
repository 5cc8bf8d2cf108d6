"""The fake clock moves only as told."""

from __future__ import annotations

import asyncio

import pytest

from tests.support.clock import START, FakeClock


async def test_a_sleep_is_noted_and_moves_both_times_at_once(clock: FakeClock) -> None:
    before = clock.monotonic()
    await clock.sleep(90)
    assert clock.sleeps == [90]
    assert clock.monotonic() - before == 90
    assert (clock.now() - START).total_seconds() == 90


async def test_a_sleep_lets_other_tasks_run(clock: FakeClock) -> None:
    other = asyncio.create_task(asyncio.sleep(0, "ran"))
    await clock.sleep(1)
    await clock.sleep(1)
    assert other.done()


async def test_on_a_manual_clock_a_sleeper_waits_for_its_deadline() -> None:
    clock = FakeClock(manual=True)
    sleeper = asyncio.create_task(clock.sleep(10))
    await clock.until_sleeping()
    clock.advance(9.5)
    await asyncio.sleep(0)
    assert not sleeper.done()
    clock.advance(0.5)
    await sleeper
    assert clock.sleeping == 0


async def test_a_manual_clock_steps_from_deadline_to_deadline() -> None:
    clock = FakeClock(manual=True)
    late, soon = asyncio.create_task(clock.sleep(5)), asyncio.create_task(clock.sleep(2))
    await clock.until_sleeping(2)
    assert clock.advance_to_next() == 2
    await soon
    assert not late.done()
    assert clock.advance_to_next() == 3
    await late
    with pytest.raises(LookupError):
        clock.advance_to_next()


async def test_who_is_cancelled_in_sleep_is_forgotten() -> None:
    clock = FakeClock(manual=True)
    sleeper = asyncio.create_task(clock.sleep(5))
    await clock.until_sleeping()
    sleeper.cancel()
    await asyncio.gather(sleeper, return_exceptions=True)
    assert clock.sleeping == 0


def test_chances_come_in_order_and_the_last_stays(clock: FakeClock) -> None:
    assert clock.chance() == 0
    clock.set_chances(0.25, 0.75)
    assert [clock.chance() for _ in range(3)] == [0.25, 0.75, 0.75]
    with pytest.raises(ValueError, match="without 1"):
        clock.set_chances(1.0)


def test_time_does_not_go_back(clock: FakeClock) -> None:
    with pytest.raises(ValueError, match="back"):
        clock.advance(-1)
