"""Many objects at once block nothing: garbage is collected less often, and old objects are freed in slices."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from runwatch.base import memory
from runwatch.base.memory import MANY_OBJECTS


@pytest.fixture(autouse=True)
def _as_before(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(memory, "_skipped", 0)
    monkeypatch.setattr(memory, "_new", 0)
    yield
    gc.unfreeze()
    gc.enable()


def test_what_came_to_stay_is_looked_through_no_more_and_is_freed_all_the_same() -> None:
    class Kept:
        freed = 0

        def __del__(self) -> None:
            Kept.freed += 1

    kept = [Kept()]
    memory.note_long_lived(MANY_OBJECTS)
    assert not any(each is kept for each in gc.get_objects())
    kept.clear()
    assert Kept.freed == 1


def test_little_is_looked_through_as_before() -> None:
    kept = [object()]
    memory.note_long_lived(MANY_OBJECTS - 1)
    assert any(each is kept for each in gc.get_objects())


def test_the_same_lists_again_and_again_are_left_out_ever_more_seldom(monkeypatch: pytest.MonkeyPatch) -> None:
    times = []
    monkeypatch.setattr(gc, "freeze", lambda: times.append(1))
    for _ in range(1_000):
        memory.note_long_lived(MANY_OBJECTS)
    assert len(times) == 10


def test_there_is_no_walk_in_a_block_nor_in_one_that_overlaps_it() -> None:
    first, second = memory.pause_collection(), memory.pause_collection()
    first.__enter__()
    second.__enter__()
    assert not gc.isenabled()
    first.__exit__(None, None, None)
    assert not gc.isenabled()
    second.__exit__(None, None, None)
    assert gc.isenabled()


def test_walks_go_on_after_a_block_that_fails() -> None:
    with pytest.raises(ValueError, match="it broke"), memory.pause_collection():
        raise ValueError("it broke")
    assert gc.isenabled()


def test_a_collector_that_is_off_stays_off() -> None:
    gc.disable()
    with memory.pause_collection():
        assert not gc.isenabled()
    assert not gc.isenabled()


async def test_what_is_let_go_goes_in_steps_with_turns_for_everything_else_in_between() -> None:
    class Thing:
        alive = 0

        def __init__(self) -> None:
            Thing.alive += 1

        def __del__(self) -> None:
            Thing.alive -= 1

    things = [Thing() for _ in range(3 * memory.STEP + 1)]
    going = asyncio.ensure_future(memory.free_in_slices(things))
    left = []
    while not going.done():
        left.append(Thing.alive)
        await asyncio.sleep(0)
    assert [before - after for before, after in pairwise([*left, Thing.alive])] == [memory.STEP] * 3 + [1, 0]
    assert Thing.alive == 0


def test_the_memory_of_this_process_is_told_by_the_system_or_as_its_peak(monkeypatch: pytest.MonkeyPatch) -> None:
    current = memory.resident_bytes()
    assert 1_000_000 < current < 10_000_000_000
    monkeypatch.setattr(memory, "_PROCESSES", Path("/nowhere"))
    assert memory.resident_bytes() >= current * 0.5
    monkeypatch.setattr(memory, "_SYSTEM_FILE", Path("/nowhere"))
    assert memory.available_bytes() is None
