"""The collector of garbage waits for the first paint and then keeps to what is new."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from runwatch.tui import memory


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    thresholds = gc.get_threshold()
    yield
    gc.set_threshold(*thresholds)
    gc.unfreeze()
    gc.enable()


def test_a_collector_that_was_off_comes_back_with_the_first_paint() -> None:
    gc.disable()
    memory.after_first_paint()
    assert gc.isenabled()
    assert gc.get_threshold() == memory.THRESHOLDS
    assert gc.get_freeze_count() > 0


def test_a_collector_that_is_on_is_left_alone() -> None:
    before = gc.get_threshold(), gc.get_freeze_count()
    memory.after_first_paint()
    assert (gc.get_threshold(), gc.get_freeze_count()) == before


def test_what_is_there_is_looked_through_no_more_and_is_freed_all_the_same() -> None:
    class Kept:
        freed = 0

        def __del__(self) -> None:
            Kept.freed += 1

    kept = [Kept()]
    memory.keep_what_is_there()
    assert not any(each is kept for each in gc.get_objects())
    kept.clear()
    assert Kept.freed == 1
