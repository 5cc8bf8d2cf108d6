"""The table of a resource, from a hundred to a hundred thousand rows: opening, scrolling, sorting, filtering.

It is compared with the framework's own table, and a filter with fzf on the same rows as lines. A screen handles many
rows in steps and lets other work run in between; of sorting and filtering both the whole time and the longest step are
taken. The text of a row is made once, in steps after the list has come, or earlier if a filter needs it. Where a figure
grows with the number of rows, the exponent of the power that fits best is given too.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import random
import subprocess
import time
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from textual.app import App, ComposeResult
from textual.pilot import Pilot
from textual.widget import Widget
from textual.widgets import DataTable

from runwatch.base.clock import format_iso
from runwatch.base.memory import note_long_lived, pause_collection, resume_collection
from runwatch.records.receipt import Receipt
from runwatch.records.record import Record, RecordPacker
from runwatch.records.run import Run
from runwatch.tui.widgets.lists.record_table import RecordTable
from runwatch.tui.widgets.panes.pane import Pane
from runwatch.view.query.parser import parse_filter
from runwatch.view.resources.receipts import RECEIPTS
from runwatch.view.resources.runs import RUNS
from runwatch.view.spec.resource import ResourceSpec, SortKey
from runwatch.view.table.row_search import RowSearch
from runwatch.view.table.rows import RecordRow, RowSteps, build_rows, sort_rows
from runwatch.view.text.format import RenderContext
from runwatch.view.text.glyphs import UNICODE
from tests.performance.measure import Figure, best_turn, exponent, find_peer, longest_callback
from tests.support.builders import run
from tests.support.receipts import baseline_receipt
from tests.support.rows import cells_of
from tests.support.varied_receipts import varied_receipts
from tests.tui.look import Stage
from tests.tui.samples import NOON

SIZES: Final = (100, 1_000, 10_000, 100_000)
COMPARED: Final = 10_000
"""Rows of the framework's table, which takes all of them at once."""

SCROLLS: Final = 60
SEED: Final = 7

TARGET_OPEN_S = 0.150
TARGET_STEP_S = 0.050
TARGET_OPENING, TARGET_SCROLLING, TARGET_SORTING = 1.1, 0.2, 1.2
"""The largest exponents allowed: each row is made once; only rows in sight are drawn; sorting takes n log n."""

WORD: Final = "needle"
"""A word in one row of a hundred."""

SCREENFUL: Final = 40
TARGET_SCREENFUL_S, TARGET_MORE_S, TARGET_SORT_S = 0.1, 0.05, 0.3
TARGET_FILTER_S: Final = {"runs": 0.5, "receipts": 0.8}
TARGET_AGAINST_FZF: Final = 8.0

_SORT_NOTE: Final = (
    "Sort by a value that no two of 100,000 receipts share: nearly all of it is reading it from each packed receipt,"
    " exactly as sent (decimals of its digits, and whether the cost of a call is unknown). Numbers are compared as"
    " their nearest floats, and exactly only where those are equal. Members that no receipt of a shape has are looked"
    " for once, and ten sorted runs are merged in one go."
)
_STEP: Final = f"≤ {TARGET_STEP_S * 1000:.0f} ms"
_SIZE: Final = (120, 36)


@dataclass(frozen=True, slots=True)
class Taken:
    """How long one piece of work took, in seconds.

    Attributes:
        whole: The whole of it.
        step: Its longest step.
    """

    whole: float
    step: float


@dataclass(frozen=True, slots=True)
class Found:
    """How long it took to search the rows of a list, in seconds.

    Attributes:
        cold: A first filter before the text of any row is made.
        ready: Making the text of all rows, without a filter.
        first: A first filter after that.
        screenful: Until the cold filter had found as many rows as a screen shows.
        more: The filter with one more letter.
        other: Sorting all rows by another column.
        fzf: fzf's search for the word in the same rows as lines; ``None`` where it is not installed.
    """

    cold: Taken
    ready: Taken
    first: Taken
    screenful: float
    more: Taken
    other: Taken
    fzf: float | None


@dataclass(frozen=True, slots=True)
class Seen:
    """The times of a table of one size, in seconds.

    Attributes:
        size: How many rows.
        opened: From the records until the first rows are on the screen.
        scrolled: The longest callback while scrolling by pages and to both ends.
        sorted: Sorting all rows.
        found: Searching them.
    """

    size: int
    opened: float
    scrolled: float
    sorted: Taken
    found: Found


def figures() -> list[Figure]:
    """Measure and judge."""
    return asyncio.run(_figures())


async def _figures() -> list[Figure]:
    # Garbage is collected as in the console.
    gc.disable()
    resume_collection()
    context = RenderContext(NOON, UNICODE, "relative")
    seen = [await _look_at(_records(size), context) for size in (SIZES[0], *SIZES)][1:]
    theirs = await _open_theirs(_records(COMPARED), context)
    return [
        Figure(f"DataTable with {COMPARED:,} rows opens", f"{theirs * 1000:.0f} ms"),
        *(figure for each in seen for figure in _of(each, theirs)),
        *_growth(seen),
        *_found(f"{SIZES[-1]:,} runs", "runs", seen[-1].found),
        *_found(f"{SIZES[-1]:,} receipts", "receipts", await _search(RECEIPTS, _receipts(SIZES[-1]), "spend", context)),
        *_found(
            f"{SIZES[-1]:,} varied receipts", "receipts", await _search(RECEIPTS, _varied(SIZES[-1]), "spend", context)
        ),
    ]


def _records(size: int) -> list[Run]:
    """Return this many runs, started in no order."""
    moments = list(range(size))
    random.Random(SEED).shuffle(moments)
    return [
        run(
            f"ex_{number:06}",
            "completed",
            created_at=format_iso(NOON - timedelta(seconds=moment)),
            spend_usd=moment / 7,
            reason=_reason(number),
        )
        for number, moment in enumerate(moments)
    ]


def _receipts(size: int) -> list[Receipt]:
    """Return receipts of one kind, packed as in a long list of the console."""
    return _packed(
        baseline_receipt(
            f"ex_{number:06}", created_at=format_iso(NOON - timedelta(seconds=number)), reason=_reason(number)
        )
        for number in range(size)
    )


def _varied(size: int) -> list[Receipt]:
    """Return receipts of all kinds, packed in the same way."""
    return _packed(
        Receipt({**raw, "reason": _reason(number)}) for number, raw in enumerate(varied_receipts(size, NOON))
    )


def _packed(receipts: Iterable[Receipt]) -> list[Receipt]:
    packer, packed = RecordPacker(Receipt), []
    for receipt in receipts:
        packer.pack([receipt])
        packed.append(receipt)
    return packed


def _reason(number: int) -> str:
    return WORD if number % 100 == 50 else "thread"


async def _look_at(records: Sequence[Run], context: RenderContext) -> Seen:
    # As after reading: they stay alive, and the collector does not run while rows are made of them.
    note_long_lived(len(records))
    opened = await best_turn(lambda: _open(records, context), float, TARGET_OPEN_S)
    scrolled = await best_turn(lambda: _scroll(records, context), float, TARGET_STEP_S)
    made = build_rows(RUNS, records, context)

    async def order() -> Taken:
        return _take(sort_rows(RUNS, made))[0]

    ordered = await best_turn(order, lambda taken: taken.step, TARGET_STEP_S)
    return Seen(len(records), opened, scrolled, ordered, await _search(RUNS, records, "cost", context))


async def _search(spec: ResourceSpec[Any], records: Sequence[Record], other: str, context: RenderContext) -> Found:
    made: list[RecordRow[Any]] = []
    screenful = 0.0

    async def cold() -> tuple[Taken, float]:
        made[:] = build_rows(spec, records, context)
        return search(WORD, made)[0], screenful

    def search(word: str, rows: list[RecordRow[Any]]) -> tuple[Taken, list[RecordRow[Any]]]:
        nonlocal screenful
        start = time.thread_time()
        screenful = 0.0

        def seen() -> None:
            nonlocal screenful
            if not screenful and looking.count >= SCREENFUL:
                screenful = time.thread_time() - start

        # Parsing the typed text counts too.
        looking = RowSearch(rows, parse_filter(word, spec), len(rows) // 2)
        return _take(looking.steps(), seen)

    async def ready() -> Taken:
        made[:] = build_rows(spec, records, context)
        return _take(_read(made))[0]

    async def first() -> Taken:
        return search(WORD[:-1], made)[0]

    async def more() -> Taken:
        before, found = parse_filter(WORD[:-1], spec), search(WORD[:-1], made)[1]
        assert parse_filter(WORD, spec).narrows(before)
        return search(WORD, found)[0]

    async def order() -> Taken:
        return _take(sort_rows(spec, made, (SortKey(other),)))[0]

    def step(taken: Taken) -> float:
        return taken.step

    was_cold, soon = await best_turn(cold, lambda each: each[0].whole, TARGET_FILTER_S[spec.name])
    was_ready = await best_turn(ready, step, TARGET_STEP_S)
    found = await best_turn(first, lambda taken: taken.whole, TARGET_FILTER_S[spec.name] / 10)
    return Found(
        was_cold, was_ready, found, soon, await best_turn(more, lambda taken: taken.whole, TARGET_MORE_S),
        await best_turn(order, lambda taken: taken.whole, TARGET_SORT_S), _fzf(made),
    )  # fmt: skip


def _read(rows: Sequence[RecordRow[Any]]) -> RowSteps[Any]:
    for number, row in enumerate(rows):
        row.shared_text()
        if number % 50 == 0:
            yield
    return []


def _fzf(rows: Sequence[RecordRow[Any]]) -> float | None:
    """Return the seconds that fzf takes to find the word in the rows as lines; the best of some runs."""
    program = find_peer("fzf")
    if program is None:
        return None
    lines = "".join("  ".join(row.text().split("\n")) + "\n" for row in rows).encode()
    taken = []
    for _ in range(5):
        start = time.perf_counter()
        command = [program, "--exact", "--no-sort", "--filter", WORD]
        done = subprocess.run(command, input=lines, stdout=subprocess.PIPE, check=False)
        taken.append(time.perf_counter() - start)
        assert done.stdout.count(b"\n") == sum(WORD in row.text() for row in rows)
    return min(taken)


@contextlib.asynccontextmanager
async def _empty() -> AsyncIterator[tuple[Pilot[None], RecordTable]]:
    """Return the table of runs without rows."""
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
    """Wait until a widget is drawn as it is now: the pilot's pause would wait until the machine is idle."""
    painted = asyncio.Event()
    widget.call_after_refresh(painted.set)
    await painted.wait()


def _take(steps: RowSteps[Any], paused: Callable[[], object] = lambda: None) -> tuple[Taken, list[RecordRow[Any]]]:
    """Do the work step by step, as the screen does, without garbage collection.

    Nothing waits, so the thread's processor time leaves out other programs.
    """
    whole = step = 0.0
    found: list[RecordRow[Any]] | None = None
    with pause_collection():
        while found is None:
            start = time.thread_time()
            try:
                next(steps)
            except StopIteration as done:
                found = done.value
            paused()
            taken = time.thread_time() - start
            whole, step = whole + taken, max(step, taken)
    return Taken(whole, step), found


def _of(seen: Seen, theirs: float) -> list[Figure]:
    is_most = seen.size == SIZES[-1]
    opening = f"≤ {TARGET_OPEN_S * 1000:.0f} ms" if is_most else ""
    return [
        Figure(f"list with {seen.size:,} runs opens", f"{seen.opened * 1000:.0f} ms", f"{seen.opened / theirs:.2f}",
               opening, seen.opened <= TARGET_OPEN_S if is_most else None),
        Figure("… longest callback while it is scrolled", f"{seen.scrolled * 1000:.0f} ms", "", _STEP,
               seen.scrolled <= TARGET_STEP_S),
        _work("… sorted by when they began", seen.sorted),
        _work("… made ready to be searched", seen.found.ready),
        _work("… filtered by a word", seen.found.first),
        _work("… the same before it was made ready", seen.found.cold),
    ]  # fmt: skip


def _found(what: str, name: str, found: Found) -> list[Figure]:
    # The first filter may come before the text of any row is made.
    whole, most = found.cold.whole, TARGET_FILTER_S[name]
    table = [
        Figure(f"{what}, first filter by a word in one of 100: first screenful", f"{found.screenful * 1000:.0f} ms", "",
               f"≤ {TARGET_SCREENFUL_S:g} s", found.screenful <= TARGET_SCREENFUL_S),
        Figure("… complete", f"{whole * 1000:.0f} ms", "", f"≤ {most:g} s", whole <= most),
        Figure("… when what the rows say had been found before", f"{found.first.whole * 1000:.0f} ms"),
        Figure("… its last letter", f"{found.more.whole * 1000:.1f} ms", "", f"≤ {TARGET_MORE_S:g} s",
               found.more.whole <= TARGET_MORE_S),
        Figure("… sorted by another column", f"{found.other.whole * 1000:.0f} ms", "", f"≤ {TARGET_SORT_S:g} s",
               found.other.whole <= TARGET_SORT_S, _SORT_NOTE),
    ]  # fmt: skip
    if found.fzf is not None:
        ratio, target = whole / found.fzf, f"≤ {TARGET_AGAINST_FZF:g} × fzf"
        table[1:1] = [
            Figure("… fzf --exact --no-sort --filter on the same rows as lines", f"{found.fzf * 1000:.0f} ms", "1.00"),
            Figure("… complete, against fzf", f"{whole * 1000:.0f} ms", f"{ratio:.2f}", target,
                   ratio <= TARGET_AGAINST_FZF),
        ]  # fmt: skip
    return table


def _work(what: str, taken: Taken) -> Figure:
    figure = f"{taken.whole * 1000:.0f} ms, longest step {taken.step * 1000:.1f} ms"
    return Figure(what, figure, "", f"steps {_STEP}", taken.step <= TARGET_STEP_S)


def _growth(seen: Sequence[Seen]) -> list[Figure]:
    sizes = [each.size for each in seen]
    what = f"growth from {sizes[0]:,} to {sizes[-1]:,} rows: "
    return [
        _power(f"{what}opening", sizes, [each.opened for each in seen], TARGET_OPENING),
        # The shortest table ends after three pages; after that there is nothing to draw.
        _power("… longest callback while scrolled, from the second size on", sizes[1:],
               [each.scrolled for each in seen[1:]], TARGET_SCROLLING),
        _power("… sorting", sizes, [each.sorted.whole for each in seen], TARGET_SORTING),
        _power("… filtering", sizes, [each.found.cold.whole for each in seen], TARGET_OPENING),
    ]  # fmt: skip


def _power(what: str, sizes: Sequence[int], values: Sequence[float], most: float) -> Figure:
    power = exponent(sizes, values)
    return Figure(what, f"n^{power:.2f}", "", f"≤ n^{most:g}", power <= most)


class _Framework(App[None]):
    """Textual's own table."""

    def compose(self) -> ComposeResult:
        """Yield the table alone."""
        yield DataTable()


async def _open_theirs(records: Sequence[Run], context: RenderContext) -> float:
    app = _Framework()
    async with app.run_test(size=_SIZE) as pilot:
        await pilot.pause()
        table = app.query_one(DataTable)
        start = time.perf_counter()
        table.add_columns(*(column.title for column in RUNS.columns))
        cells = (cells_of(row) for row in build_rows(RUNS, records, context))
        table.add_rows([shown[column.id] for column in RUNS.columns] for shown in cells)
        await _painted(table)
        return time.perf_counter() - start
