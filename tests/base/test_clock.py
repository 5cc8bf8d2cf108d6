"""Times as they are written, and waiting for the first of several."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta, timezone

import pytest

from runwatch.base.clock import SystemClock, format_iso, until_whole_second, wait_first
from tests.support.clock import FakeClock


def test_a_moment_is_written_as_the_interface_writes_it() -> None:
    east = timezone(timedelta(hours=2))
    assert format_iso(datetime(2026, 11, 21, 14, 0, 0, 123456, tzinfo=east)) == "2026-11-21T12:00:00.123Z"


def test_the_system_clock_is_aware() -> None:
    clock = SystemClock()
    assert clock.now().tzinfo is UTC
    assert all(0 <= clock.chance() < 1 for _ in range(100))


def test_a_wait_ends_on_a_whole_second_and_never_later_than_asked() -> None:
    clock = FakeClock(manual=True)
    assert until_whole_second(clock) == 1.0
    clock.advance(0.25)
    assert until_whole_second(clock) == 0.75
    assert until_whole_second(clock, 2.5) == 1.75
    # A sleep that ended a little too early is not repeated at once.
    clock.advance(0.7499999)
    assert round(until_whole_second(clock), 3) == 1.0


async def test_the_first_that_is_over_is_named_and_the_others_are_let_go() -> None:
    let_go: list[str] = []

    async def for_ever() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            let_go.append("for ever")

    news = asyncio.Event()
    waiting = asyncio.ensure_future(wait_first(for_ever(), news.wait()))
    await asyncio.sleep(0)
    news.set()
    assert await waiting == 1
    assert let_go == ["for ever"]


async def test_of_two_that_are_over_at_once_the_earlier_named_counts() -> None:
    one, other = asyncio.Event(), asyncio.Event()
    waiting = asyncio.ensure_future(wait_first(one.wait(), other.wait()))
    await asyncio.sleep(0)
    other.set()
    one.set()
    assert await waiting == 0


async def test_a_wait_that_fails_is_over() -> None:
    async def gone() -> None:
        raise ConnectionError

    assert await wait_first(asyncio.Event().wait(), gone()) == 1


async def test_who_waits_can_be_cancelled_and_nothing_goes_on_behind_it() -> None:
    let_go: list[int] = []

    async def for_ever(number: int) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            let_go.append(number)

    waiting = asyncio.ensure_future(wait_first(for_ever(1), for_ever(2)))
    # One turn to begin to wait, one for what it waits for to begin.
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert sorted(let_go) == [1, 2]
