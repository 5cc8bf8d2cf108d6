"""The table of a resource, from a hundred to a hundred thousand rows: opening, scrolling, sorting, filtering.

The framework's own table stands beside it. What a screen does with many rows it does in steps between which others
have their turn; of sorting and filtering the whole time is taken, and the longest step. What grows with the number of
rows has its growth beside it: the exponent of the power of the number that fits best.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import random
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from textual.app import App, ComposeResult
from textual.pilot import Pilot
from textual.widget import Widget
from textual.widgets import DataTable

from runwatch.base.clock import format_iso
from runwatch.base.memory import note_long_lived, pause_collection, resume_collection
from runwatch.records.run import Run
from runwatch.tui.widgets.lists.record_table import RecordTable
from runwatch.tui.widgets.panes.pane import Pane
from runwatch.view.query.parser import parse_filter
from runwatch.view.resources.runs import RUNS
from runwatch.view.table.rows import RecordRow, RowSteps, build_rows, filter_and_sort
from runwatch.view.text.format import RenderContext
from runwatch.view.text.glyphs import UNICODE
from tests.performance.measure import Figure, best_turn, exponent, longest_callback
from tests.support.builders import run
from tests.support.rows import cells_of
from tests.tui.look import Stage
from tests.tui.samples import NOON

SIZES: Final = (100, 1_000, 10_000, 100_000)
COMPARED: Final = 10_000
"""Rows of the framework's table, which takes them all in at once."""

SCROLLS: Final = 60
SEED: Final = 7

TARGET_OPEN_S = 0.150
TARGET_STEP_S = 0.050
TARGET_OPENING, TARGET_SCROLLING, TARGET_SORTING = 1.1, 0.2, 1.2
"""The exponents that are allowed: each row is made once; only rows in sight are drawn; sorting takes n log n."""

_STEP: Final = f"≤ {TARGET_STEP_S * 1000:.0f} ms"
_SIZE: Final = (120, 36)


@dataclass(frozen=True, slots=True)
class Taken:
    """What one piece of work took, in seconds.

    Attributes:
        whole: All of it.
        step: Its longest step.
    """

    whole: float
    step: float


@dataclass(frozen=True, slots=True)
class Seen:
    """How a table of one size behaved; times in seconds.

    Attributes:
        size: How many rows.
        opened: From the records until the first of them are on the screen.
        scrolled: The longest callback while it was scrolled by pages and to both ends.
        sorted: Putting all rows in order.
        filtered: Finding a few rows by a word.
        again: Finding others by another word, as when somebody goes on typing.
    """

    size: int
    opened: float
    scrolled: float
    sorted: Taken
    filtered: Taken
    again: Taken


def figures() -> list[Figure]:
    """Measure and judge."""
    return asyncio.run(_figures())


async def _figures() -> list[Figure]:
    # Garbage is looked for as in the console.
    gc.disable()
    resume_collection()
    context = RenderContext(NOON, UNICODE, "relative")
    seen = [await _look_at(_records(size), context) for size in (SIZES[0], *SIZES)][1:]
    theirs = await _open_theirs(_records(COMPARED), context)
    return [
        Figure(f"DataTable with {COMPARED:,} rows opens", f"{theirs * 1000:.0f} ms"),
        *(figure for each in seen for figure in _of(each, theirs)),
        *_growth(seen),
    ]


def _records(size: int) -> list[Run]:
    """So many runs, begun in no order."""
    moments = list(range(size))
    random.Random(SEED).shuffle(moments)
    return [
        run(f"ex_{number:06}", "completed", created_at=format_iso(NOON - timedelta(seconds=moment)))
        for number, moment in enumerate(moments)
    ]


async def _look_at(records: Sequence[Run], context: RenderContext) -> Seen:
    # As when they have been read: they stay, and no walk for garbage comes while rows are made of them.
    note_long_lived(len(records))
    opened = await best_turn(lambda: _open(records, context), float, TARGET_OPEN_S)
    scrolled = await best_turn(lambda: _scroll(records, context), float, TARGET_STEP_S)
    made: list[RecordRow[Any]] = []

    async def order() -> Taken:
        made[:] = build_rows(RUNS, records, context)
        return _take(filter_and_sort(RUNS, made))

    async def first_word() -> Taken:
        # Rows that have drawn nothing yet.
        made[:] = build_rows(RUNS, records, context)
        return _take(filter_and_sort(RUNS, made, (), parse_filter(f"{some:06}", RUNS).matches))

    async def other_word() -> Taken:
        return _take(filter_and_sort(RUNS, made, (), parse_filter(f"{some + 1:06}", RUNS).matches))

    some = len(records) // 2
    taken = [await best_turn(work, lambda taken: taken.step, TARGET_STEP_S) for work in (order, first_word, other_word)]
    return Seen(len(records), opened, scrolled, *taken)


@contextlib.asynccontextmanager
async def _empty() -> AsyncIterator[tuple[Pilot[None], RecordTable]]:
    """The table of runs before it has any."""
    table = RecordTable(RUNS.columns)
    async with Stage(Pane(table)).run_test(size=_SIZE) as pilot:
        await pilot.pause()
        yield pilot, table


async def _open(records: Sequence[Run], context: RenderContext) -> float:
    async with _empty() as (_, table):
        start = time.perf_counter()
        with pause_collection():
            made = build_rows(RUNS, records, context)
        table.show(made)
        await _painted(table)
        return time.perf_counter() - start


async def _scroll(records: Sequence[Run], context: RenderContext) -> float:
    async with _empty() as (pilot, table):
        table.show(build_rows(RUNS, records, context))
        await pilot.pause()
        with longest_callback() as times:
            for _ in range(SCROLLS):
                table.action_move_page(1)
                await pilot.pause()
            for end in (-1, 0):
                table.action_move_to(end)
                await pilot.pause()
        return times.longest


async def _painted(widget: Widget) -> None:
    """Wait until what a widget shows by now is drawn: a test's own pause would go on until the machine rests."""
    painted = asyncio.Event()
    widget.call_after_refresh(painted.set)
    await painted.wait()


def _take(steps: RowSteps[Any]) -> Taken:
    """Do the work, step by step, without a walk for garbage in it, as the screen does it."""
    whole = step = 0.0
    is_open = True
    with pause_collection():
        while is_open:
            start = time.perf_counter()
            try:
                next(steps)
            except StopIteration:
                is_open = False
            taken = time.perf_counter() - start
            whole, step = whole + taken, max(step, taken)
    return Taken(whole, step)


def _of(seen: Seen, theirs: float) -> list[Figure]:
    is_most = seen.size == SIZES[-1]
    opening = f"≤ {TARGET_OPEN_S * 1000:.0f} ms" if is_most else ""
    return [
        Figure(f"list with {seen.size:,} runs opens", f"{seen.opened * 1000:.0f} ms", f"{seen.opened / theirs:.2f}",
               opening, seen.opened <= TARGET_OPEN_S if is_most else None),
        Figure("… longest callback while it is scrolled", f"{seen.scrolled * 1000:.0f} ms", "", _STEP,
               seen.scrolled <= TARGET_STEP_S),
        _work("… sorted by when they began", seen.sorted),
        _work("… filtered by a word", seen.filtered),
        _work("… filtered by another word", seen.again),
    ]  # fmt: skip


def _work(what: str, taken: Taken) -> Figure:
    figure = f"{taken.whole * 1000:.0f} ms, longest step {taken.step * 1000:.1f} ms"
    return Figure(what, figure, "", f"steps {_STEP}", taken.step <= TARGET_STEP_S)


def _growth(seen: Sequence[Seen]) -> list[Figure]:
    sizes = [each.size for each in seen]
    what = f"growth from {sizes[0]:,} to {sizes[-1]:,} rows: "
    return [
        _power(f"{what}opening", sizes, [each.opened for each in seen], TARGET_OPENING),
        # The shortest table is at its end after three pages, after which there is nothing to draw.
        _power("… longest callback while scrolled, from the second size on", sizes[1:],
               [each.scrolled for each in seen[1:]], TARGET_SCROLLING),
        _power("… sorting", sizes, [each.sorted.whole for each in seen], TARGET_SORTING),
        _power("… filtering", sizes, [each.filtered.whole for each in seen], TARGET_OPENING),
    ]  # fmt: skip


def _power(what: str, sizes: Sequence[int], values: Sequence[float], most: float) -> Figure:
    power = exponent(sizes, values)
    return Figure(what, f"n^{power:.2f}", "", f"≤ n^{most:g}", power <= most)


class _Framework(App[None]):
    """Textual's own table."""

    def compose(self) -> ComposeResult:
        """The table alone."""
        yield DataTable()


async def _open_theirs(records: Sequence[Run], context: RenderContext) -> float:
    app = _Framework()
    async with app.run_test(size=_SIZE) as pilot:
        await pilot.pause()
        table = app.query_one(DataTable)
        start = time.perf_counter()
        table.add_columns(*(column.title for column in RUNS.columns))
        table.add_rows(list(cells_of(row).values()) for row in build_rows(RUNS, records, context))
        await _painted(table)
        return time.perf_counter() - start
