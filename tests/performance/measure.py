"""How the benchmarks measure: alternating runs in one process, ratios of medians, one table.

An absolute time depends on the machine and the moment; a ratio of two things measured in turns does not. Some targets
are times all the same. A figure over such a target is measured again, up to :data:`TURNS` times within
:data:`AGAIN_S`, and the best turn counts: other programs rarely disturb the same place twice, while a defect of ours
shows in every turn.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import math
import os
import shutil
import statistics
import textwrap
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

LAG_EVERY_S: Final = 0.005
"""Seconds between two looks at the lag of a loop."""

TURNS: Final = 3
"""How often a figure over its target is measured at the most."""

AGAIN_S: Final = 45.0
"""After this many seconds no further turn begins: on a slow machine they would add up to minutes."""

PEERS: Final = "RUNWATCH_PEERS"
"""The variable that names the directories of programs to compare with, beside those of ``PATH``."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Figure:
    """One line of the table.

    Attributes:
        what: What was measured.
        value: The figure, with its unit.
        ratio: The figure divided by what it is compared with, or an empty text.
        target: The target (manual: measurements, "Targets"); empty if the figure only informs.
        holds: Whether the target is met; ``None`` without a target.
        note: What limits it, why, and what was tried; printed below the table where the target is not met.
    """

    what: str
    value: str
    ratio: str = ""
    target: str = ""
    holds: bool | None = None
    note: str = ""


def find_peer(name: str) -> str | None:
    """The path of a program to compare with; ``None`` where it is not installed, and its row is left out."""
    places = [os.environ.get(PEERS, ""), os.environ.get("PATH", os.defpath)]
    return shutil.which(name, path=os.pathsep.join(filter(None, places)))


def in_turns(
    *functions: Callable[[], object], rounds: int = 15, clock: Callable[[], float] = time.perf_counter
) -> list[float]:
    """Return the median seconds of each function, called in turns so that a drifting machine affects all alike.

    Args:
        functions: What to call.
        rounds: How many times each.
        clock: The clock to use; for code that never waits, the thread's processor time leaves out other programs.
    """
    times: list[list[float]] = [[] for _ in functions]
    for function in functions:
        function()
    gc.collect()
    gc.disable()
    try:
        for _ in range(rounds):
            for taken, function in zip(times, functions, strict=True):
                start = clock()
                function()
                taken.append(clock() - start)
    finally:
        gc.enable()
    return [statistics.median(taken) for taken in times]


async def best_turn(measure: Callable[[], Awaitable[T]], time_of: Callable[[T], float], target: float) -> T:
    """Return the best of up to :data:`TURNS` measurements; one that meets its target, or ends late, is the last.

    Args:
        measure: Measures once.
        time_of: Returns the time that is judged.
        target: The longest time allowed, in the same unit.
    """
    began = time.monotonic()
    best = await measure()
    for _ in range(TURNS - 1):
        if time_of(best) <= target or time.monotonic() - began > AGAIN_S:
            break
        best = min(best, await measure(), key=time_of)
    return best


def exponent(counts: Sequence[float], values: Sequence[float]) -> float:
    """Return how a value grows with a count: the exponent of the best power, by least squares of the logarithms.

    0 means that it does not depend on the count, 1 that it grows in proportion.
    """
    xs, ys = list(map(math.log, counts)), list(map(math.log, values))
    middle_x, middle_y = statistics.fmean(xs), statistics.fmean(ys)
    above = sum((x - middle_x) * (y - middle_y) for x, y in zip(xs, ys, strict=True))
    return above / sum((x - middle_x) ** 2 for x in xs)


def print_table(figures: list[Figure]) -> None:
    """Print the figures as a Markdown table, as the manual has them, and the notes of targets that are not met."""
    print("| What | Figure | Ratio | Target | Holds |")
    print("|---|---|---|---|---|")
    notes: list[str] = []
    for figure in figures:
        holds = {True: "yes", False: "**no**", None: ""}[figure.holds]
        if figure.holds is False and figure.note:
            if figure.note not in notes:
                notes.append(figure.note)
            holds += f", note {notes.index(figure.note) + 1}"
        print(f"| {figure.what} | {figure.value} | {figure.ratio} | {figure.target} | {holds} |")
    if notes:
        print()
    for number, note in enumerate(notes, 1):
        print(textwrap.fill(f"{number}. {note}", 120, subsequent_indent="   ", break_long_words=False))


@dataclass(slots=True)
class LoopTimes:
    """The times of an event loop, in seconds.

    Attributes:
        longest: The longest callback, garbage collection and its waits included, except the wait for a core.
        what: The name of that callback.
        lags: How late each look at the loop was.
    """

    longest: float = 0.0
    what: str = ""
    lags: list[float] = field(default_factory=list)

    def lag(self, percent: int) -> float:
        """Return a percentile of the lags; 0 while there are fewer than two."""
        return statistics.quantiles(self.lags, n=100)[percent - 1] if len(self.lags) > 1 else 0.0


@contextlib.contextmanager
def longest_callback() -> Iterator[LoopTimes]:
    """Time every callback of the event loops of this process while the block runs."""
    times = LoopTimes()
    original = asyncio.Handle._run

    waited_s = _core_wait_of_this_thread()

    def timed(handle: asyncio.Handle) -> Any:
        waited, start = waited_s(), time.perf_counter()
        try:
            return original(handle)
        finally:
            taken = time.perf_counter() - start
            # Most callbacks are short and need no second look.
            if taken > times.longest and (taken := taken - (waited_s() - waited)) > times.longest:
                times.longest, times.what = taken, repr(handle)

    asyncio.Handle._run = timed  # type: ignore[method-assign, assignment]
    try:
        yield times
    finally:
        asyncio.Handle._run = original  # type: ignore[method-assign]


def _core_wait_of_this_thread() -> Callable[[], float]:
    """Return how many seconds this thread waited for a core; always 0 on systems that do not tell."""
    try:
        descriptor = os.open("/proc/thread-self/schedstat", os.O_RDONLY)
    except OSError:
        return lambda: 0.0
    return lambda: int(os.pread(descriptor, 100, 0).split()[1]) / 1e9


@contextlib.asynccontextmanager
async def loop_times() -> AsyncIterator[LoopTimes]:
    """Do what :func:`longest_callback` does, and measure the running loop's lag every :data:`LAG_EVERY_S`."""

    async def look(times: LoopTimes) -> None:
        while True:
            due = time.perf_counter() + LAG_EVERY_S
            await asyncio.sleep(LAG_EVERY_S)
            times.lags.append(max(0.0, time.perf_counter() - due))

    with longest_callback() as times:
        looking = asyncio.ensure_future(look(times))
        try:
            yield times
        finally:
            looking.cancel()
            await asyncio.gather(looking, return_exceptions=True)
