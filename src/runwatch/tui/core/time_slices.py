"""Work over many things in slices, so that a key is never kept waiting for it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable
from typing import Any, Final, TypeVar

from runwatch.base.memory import note_long_lived, pause_collection
from runwatch.view.table.rows import RecordRow, RowSteps

T = TypeVar("T")

SLICE_S: Final = 0.005
"""How long a slice holds the event loop."""

_LOOK: Final = 25
"""How many things are done between two looks at the clock."""


async def run_in_slices(
    things: Iterable[T], do: Callable[[T], object], now: Callable[[], float] = time.perf_counter
) -> None:
    """Do something with each thing, giving the event loop a turn after every :data:`SLICE_S` of work.

    Args:
        things: The things.
        do: What is done with one.
        now: The time in seconds; work takes real time, whatever the console's clock says.
    """
    pause_at = now() + SLICE_S
    for number, thing in enumerate(things, 1):
        do(thing)
        if number % _LOOK == 0 and now() >= pause_at:
            await asyncio.sleep(0)
            pause_at = now() + SLICE_S


async def run_row_steps(
    steps: RowSteps[Any], *, new: int = 0, now: Callable[[], float] = time.perf_counter
) -> list[RecordRow[Any]]:
    """The rows when all steps are done; everything else has its turn after every :data:`SLICE_S` of work.

    Args:
        steps: The work.
        new: How many rows it makes that were not there.
        now: The time in seconds; work takes real time, whatever the console's clock says.
    """
    pause_at = now() + SLICE_S
    with pause_collection():
        while True:
            try:
                next(steps)
            except StopIteration as done:
                rows: list[RecordRow[Any]] = done.value
                break
            if now() >= pause_at:
                await asyncio.sleep(0)
                pause_at = now() + SLICE_S
        note_long_lived(max(0, new))
    # What is drawn of them has a turn of its own.
    await asyncio.sleep(0)
    return rows
