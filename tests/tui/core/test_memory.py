"""What the console asks of the interpreter: garbage is looked for seldom, and no thread keeps the screen waiting."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from runwatch.base import memory
from runwatch.tui.core import workers
from tests.tui import noon
from tests.tui.console import console


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    thresholds, switch_s = gc.get_threshold(), sys.getswitchinterval()
    yield
    sys.setswitchinterval(switch_s)
    gc.set_threshold(*thresholds)
    gc.unfreeze()
    gc.enable()


def test_a_collector_that_was_off_comes_back_with_the_first_paint() -> None:
    gc.disable()
    memory.resume_collection()
    assert gc.isenabled()
    assert gc.get_threshold() == memory.THRESHOLDS
    assert gc.get_freeze_count() > 0


def test_a_collector_that_is_on_is_left_alone() -> None:
    before = gc.get_threshold(), gc.get_freeze_count()
    memory.resume_collection()
    assert (gc.get_threshold(), gc.get_freeze_count()) == before


async def test_threads_hand_the_interpreter_over_soon(tmp_path: Path) -> None:
    sys.setswitchinterval(0.005)
    async with console(noon.service(), tmp_path) as driven:
        await driven.shows("● live")
        assert sys.getswitchinterval() == pytest.approx(workers.SWITCH_INTERVAL_S)
