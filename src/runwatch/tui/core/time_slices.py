"""Long work in time slices, so that keys are handled without delay."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable
from typing import Any, Final, TypeVar

from runwatch.base.memory import note_long_lived, pause_collection
from runwatch.view.table.rows import RecordRow, RowSteps

T = TypeVar("T")

SLICE_S: Final = 0.005
"""How long a slice may hold the event loop."""

_LOOK: Final = 25
"""How many items to process between two checks of the clock."""


async def run_in_slices(
    things: Iterable[T], do: Callable[[T], object], now: Callable[[], float] = time.perf_counter
) -> None:
    """Process each item, yielding to the event loop after every :data:`SLICE_S` of work.

    Work takes real time, so the clock in seconds is not the console's.
    """
    pause_at = now() + SLICE_S
    for number, thing in enumerate(things, 1):
        do(thing)
        if number % _LOOK == 0 and now() >= pause_at:
            await asyncio.sleep(0)
            pause_at = now() + SLICE_S


async def run_row_steps(
    steps: RowSteps[Any],
    *,
    new: int = 0,
    paused: Callable[[], object] = lambda: None,
) -> list[RecordRow[Any]]:
    """Run all steps and return the rows, yielding to the event loop after every :data:`SLICE_S` of work.

    ``new`` is how many rows they create; ``paused`` is called before each yield.
    """
    pause_at = time.perf_counter() + SLICE_S
    with pause_collection():
        while True:
            try:
                next(steps)
            except StopIteration as done:
                rows: list[RecordRow[Any]] = done.value
                break
            if time.perf_counter() >= pause_at:
                paused()
                await asyncio.sleep(0)
                pause_at = time.perf_counter() + SLICE_S
        note_long_lived(max(0, new))
    # Drawing the rows gets its own iteration of the loop.
    await asyncio.sleep(0)
    return rows
