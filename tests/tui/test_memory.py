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
