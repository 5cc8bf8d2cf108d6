"""Long work leaves everything else its turn."""

from __future__ import annotations

import asyncio
from itertools import pairwise

import pytest

from runwatch.tui.core.time_slices import SLICE_S, run_in_slices


async def test_everything_is_done_and_others_have_a_turn_after_each_slice() -> None:
    clock = 0.0
    done: list[int] = []
    turns: list[float] = []

    def do(number: int) -> None:
        nonlocal clock
        clock += 0.0001
        done.append(number)

    async def other() -> None:
        while len(done) < 10_000:
            turns.append(clock)
            await asyncio.sleep(0)

    waiting = asyncio.create_task(other())
    await run_in_slices(range(10_000), do, lambda: clock)
    await waiting
    assert done == list(range(10_000))
    longest = max(after - before for before, after in pairwise(turns))
    assert longest <= 2 * SLICE_S


async def test_little_work_is_done_without_a_pause() -> None:
    done: list[int] = []
    work = run_in_slices([1, 2, 3], done.append, lambda: 0.0)
    with pytest.raises(StopIteration):
        work.send(None)
    assert done == [1, 2, 3]
