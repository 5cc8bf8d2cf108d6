"""The console itself: its first paint, a key until it is painted, a long list, and what it costs when nothing happens.

Each figure stands beside what the framework alone needs for the like: a bare app that paints as much, its plainest
list, its own table. The services of these measurements are processes of their own, so that nothing but the terminal is
read where time is taken.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from textual.app import App, ComposeResult
from textual.widgets import DataTable

from runwatch.records.run import Run
from runwatch.tui.memory import after_first_paint
from runwatch.tui.widgets.pane import Pane
from runwatch.tui.widgets.record_table import RecordTable
from runwatch.view.format import Context
from runwatch.view.glyphs import UNICODE
from runwatch.view.resources.runs import RUNS
from runwatch.view.table import rows, sort
from tests.performance.first_paint import BARE, ROUNDS
from tests.performance.measure import Figure
from tests.support.builders import run
from tests.support.environment import clean_environment
from tests.support.terminal import Terminal
from tests.tui.look import Stage
from tests.tui.samples import NOON

LISTED: Final = 500
PRESSES: Final = 40
"""Keys pressed in one direction; then as many in the other."""

MANY, FEW = 100_000, 10_000
SCROLLS: Final = 60
IDLE_S: Final = 20.0

TARGET_PAINT = 1.5
TARGET_KEY, TARGET_KEY_BUSY = 1.5, 3.0
TARGET_OPEN_S = 0.150
TARGET_CALLBACK_S = 0.050
TARGET_IDLE = 0.01

_BARE_LIST: Final = f"""
from textual.app import App
from textual.widgets import OptionList
class Bare(App):
    BINDINGS = [("j", "app.step(1)"), ("k", "app.step(-1)")]
    def compose(self):
        yield OptionList(*[f"row {{n:04}}  ex_{{n:04}}  running  0.0142" for n in range({LISTED})])
    def action_step(self, by):
        options = self.query_one(OptionList)
        options.action_cursor_down() if by > 0 else options.action_cursor_up()
Bare().run()
"""

_SERVE: Final = """
import asyncio
from tests.support.builders import account, run
from tests.support.generator import GeneratedService, RunGenerator
from tests.support.scripted import Said, ScriptedService
async def main():
    quota = dict(account().raw["quota"]) | {"rate_limit_rpm": 1_000_000}
    service = MADE
    service.say("GET", "/v1/account", Said(200, account(quota=quota)))
    async with service:
        print(service.base_url, flush=True)
        await asyncio.Event().wait()
asyncio.run(main())
"""
_RESTING: Final = f"""ScriptedService(runs=[])
    runs = [run(f"ex_{{n:04}}", "completed", slices=[]) for n in range({LISTED})]
    service.say("GET", "/v1/executions", Said(200, {{"executions": [dict(each.raw) for each in runs],
                                                     "next_cursor": None}}))"""
_BUSY: Final = "GeneratedService(RunGenerator(runs=50, rate=1000.0, seconds=120.0))"

_CURSOR_ON: Final = re.compile("▸.{0,400}?(ex_[0-9a-z_…]+)".encode(), re.DOTALL)
_ROW: Final = re.compile(rb"\x1b\[1;[0-9;]*m *row (\d{4})")
"""The row that the bare list draws bold, which is the one under its cursor: it draws all the others anew as well."""


def figures() -> list[Figure]:
    """Measure and judge."""
    with tempfile.TemporaryDirectory() as directory:
        home = Path(directory)
        # Both sides run from compiled modules, as they do where they are installed.
        os.environ["PYTHONPYCACHEPREFIX"] = str(home / "compiled")
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        return [*_first_paint(home), *_keys(home), *asyncio.run(_long_list()), *_idle(home)]


# First paint.


def _first_paint(home: Path) -> list[Figure]:
    nobody = {"RUNWATCH_BASE_URL": "http://127.0.0.1:9", "RUNWATCH_API_KEY": "k"}
    ours, bare = [sys.executable, "-m", "runwatch"], [sys.executable, "-c", BARE]
    times: dict[str, list[float]] = {"bare": [], "ours": []}
    for _ in range(ROUNDS + 1):
        times["bare"].append(_paint_seconds(bare, home, {}, "READY"))
        times["ours"].append(_paint_seconds(ours, home, nobody, "opening", "cost / cap", "help"))
    # The first of each has compiled its modules.
    floor, paint = (statistics.median(times[who][1:]) for who in ("bare", "ours"))
    ratio = paint / floor
    return [
        Figure("first paint, bare Textual app", f"{floor * 1000:.0f} ms", "1.00"),
        Figure("first paint, the console: context bar, column heads, status line", f"{paint * 1000:.0f} ms",
               f"{ratio:.2f}", f"≤ {TARGET_PAINT:g} × a bare app", ratio <= TARGET_PAINT),
    ]  # fmt: skip


def _paint_seconds(command: Sequence[str], home: Path, more: Mapping[str, str], *signs: str) -> float:
    wanted = [sign.encode() for sign in signs]
    start = time.perf_counter()
    with Terminal(command, env=clean_environment(home, more), columns=120, rows=36) as terminal:
        terminal.wait_until(lambda: all(sign in terminal.raw for sign in wanted), "the first paint")
        return time.perf_counter() - start


# Keys.


def _keys(home: Path) -> list[Figure]:
    environment = clean_environment(home)
    command = [sys.executable, "-c", _BARE_LIST]
    with Terminal(command, env=environment, columns=120, rows=36) as bare:
        bare.wait_for("row 0003")
        with _console(home / "rest", _RESTING, "ex_0003") as resting:
            alone, at_rest = _press_in_turns(bare, _ROW, resting, _CURSOR_ON)
        with _console(home / "busy", _BUSY, "▸") as busy:
            again, under_load = _press_in_turns(bare, _ROW, busy, _CURSOR_ON)
    return [
        Figure("a key until it is painted, p95, bare Textual list", f"{alone * 1000:.1f} ms", "1.00"),
        _against(f"… on the list of {LISTED} runs, at rest", at_rest, alone, TARGET_KEY),
        _against("… on a list of 50 runs with 1,000 events/s", under_load, again, TARGET_KEY_BUSY),
    ]


def _against(what: str, value: float, floor: float, target: float) -> Figure:
    ratio = value / floor
    return Figure(what, f"{value * 1000:.1f} ms", f"{ratio:.2f}", f"≤ {target:g} × the bare list", ratio <= target)


def _press_in_turns(
    bare: Terminal, bare_sign: re.Pattern[bytes], ours: Terminal, sign: re.Pattern[bytes]
) -> tuple[float, float]:
    times: tuple[list[float], list[float]] = ([], [])
    for key in "jk" * 2:
        for _ in range(PRESSES):
            times[0].append(_press(bare, key, bare_sign))
            times[1].append(_press(ours, key, sign))
    first, second = (statistics.quantiles(taken, n=20)[18] for taken in times)
    return first, second


def _press(terminal: Terminal, key: str, sign: re.Pattern[bytes]) -> float:
    """Seconds from a key to the bytes that draw the cursor on another row."""
    shown = sign.findall(terminal.raw)
    before = shown[-1] if shown else b""
    del terminal.raw[:]
    start = time.perf_counter()
    terminal.type(key)
    terminal.wait_until(lambda: any(found != before for found in sign.findall(terminal.raw)), "the cursor to move")
    return time.perf_counter() - start


# A long list.


class _Framework(App[None]):
    """Textual's own table."""

    def compose(self) -> ComposeResult:
        """The table alone."""
        yield DataTable()


async def _long_list() -> list[Figure]:
    # Garbage is looked for as in the console.
    gc.disable()
    after_first_paint()
    context = Context(NOON, UNICODE, "relative")
    records = [run(f"ex_{number:06}", "completed") for number in range(MANY)]
    ours, callback = await _open_ours(records, context)
    theirs = await _open_theirs(records, context)
    start = time.perf_counter()
    sort(RUNS, rows(RUNS, records, context))
    sorting = time.perf_counter() - start
    return [
        Figure(f"DataTable with {FEW:,} rows opens", f"{theirs * 1000:.0f} ms"),
        Figure(f"list with {MANY:,} runs opens", f"{ours * 1000:.0f} ms", f"{ours / theirs:.2f}",
               f"≤ {TARGET_OPEN_S * 1000:.0f} ms", ours <= TARGET_OPEN_S),
        Figure("… longest callback while it is scrolled", f"{callback * 1000:.0f} ms", "",
               f"≤ {TARGET_CALLBACK_S * 1000:.0f} ms", callback <= TARGET_CALLBACK_S),
        Figure("… its rows made and sorted anew", f"{sorting * 1000:.0f} ms"),
    ]  # fmt: skip


async def _open_ours(records: Sequence[Run], context: Context) -> tuple[float, float]:
    table = RecordTable(RUNS.columns)
    app = Stage(Pane(table))
    async with app.run_test(size=(120, 36)) as pilot:
        await pilot.pause()
        start = time.perf_counter()
        table.show(rows(RUNS, records, context))
        await pilot.pause()
        opened = time.perf_counter() - start
        with _longest_callback() as longest:
            for _ in range(SCROLLS):
                table.action_move_page(1)
                await pilot.pause()
            table.action_move_to(-1)
            await pilot.pause()
        return opened, longest()


async def _open_theirs(records: Sequence[Run], context: Context) -> float:
    app = _Framework()
    async with app.run_test(size=(120, 36)) as pilot:
        await pilot.pause()
        table = app.query_one(DataTable)
        start = time.perf_counter()
        table.add_columns(*(column.title for column in RUNS.columns))
        table.add_rows(list(row.cells.values()) for row in rows(RUNS, records[:FEW], context))
        await pilot.pause()
        return time.perf_counter() - start


@contextlib.contextmanager
def _longest_callback() -> Iterator[Callable[[], float]]:
    """Take the time of every callback of the event loop while the block runs."""
    longest = 0.0
    original = asyncio.Handle._run

    def timed(handle: asyncio.Handle) -> Any:
        nonlocal longest
        start = time.perf_counter()
        try:
            return original(handle)
        finally:
            longest = max(longest, time.perf_counter() - start)

    asyncio.Handle._run = timed  # type: ignore[method-assign, assignment]
    try:
        yield lambda: longest
    finally:
        asyncio.Handle._run = original  # type: ignore[method-assign]


# At rest.


def _idle(home: Path) -> list[Figure]:
    with _console(home / "idle", _RESTING, "ex_0003") as terminal:
        terminal.wait_for("● live")
        before, start = _cpu_seconds(terminal.process.pid), time.perf_counter()
        with contextlib.suppress(TimeoutError):
            terminal.wait_until(lambda: False, "nothing", IDLE_S)
        part = (_cpu_seconds(terminal.process.pid) - before) / (time.perf_counter() - start)
    return [
        Figure(f"idle for {IDLE_S:g} s on the list of {LISTED} runs", f"{part:.1%} of a core", "",
               f"< {TARGET_IDLE:.0%}", part < TARGET_IDLE)
    ]  # fmt: skip


def _cpu_seconds(pid: int) -> float:
    """What a process has used so far, in its own code and in the system's."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextlib.contextmanager
def _console(home: Path, service: str, sign: str) -> Iterator[Terminal]:
    """The console with its list read, on a service in a process of its own."""
    home.mkdir()
    program = _SERVE.replace("MADE", service)
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as serving:
        try:
            assert serving.stdout is not None
            more = {"RUNWATCH_BASE_URL": serving.stdout.readline().strip(), "RUNWATCH_API_KEY": "k"}
            command = [sys.executable, "-m", "runwatch"]
            with Terminal(command, env=clean_environment(home, more), columns=120, rows=36) as terminal:
                terminal.wait_for(sign)
                yield terminal
        finally:
            serving.terminate()
