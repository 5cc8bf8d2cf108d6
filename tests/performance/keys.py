"""The time from a key to its paint, on the framework's bare list and on ours, at rest and under load.

Keys are pressed on both in turns, so a machine whose speed drifts affects both alike. The services are other processes:
the process that takes the time only reads the terminal.
"""

from __future__ import annotations

import random
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from tests.performance.measure import Figure
from tests.support.environment import clean_environment
from tests.support.terminal import Terminal

LISTED: Final = 500
PRESSES: Final = 40
"""Keys pressed in one direction, then in the other; both are done twice."""

FRAME_S: Final = 1 / 60
"""The highest rate at which the framework draws."""

TARGET_KEY, TARGET_KEY_BUSY = 1.5, 3.0

Way = Callable[[Sequence[str]], Sequence[str]]
"""Wraps a command so that it runs where it is measured."""


def here(command: Sequence[str]) -> Sequence[str]:
    """Return the command unchanged, to run on this machine."""
    return command


BARE_LIST: Final = f"""
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
RESTING: Final = f"""ScriptedService(runs=[])
    runs = [run(f"ex_{{n:04}}", "completed", slices=[]) for n in range({LISTED})]
    service.say("GET", "/v1/executions", Said(200, {{"executions": [dict(each.raw) for each in runs],
                                                     "next_cursor": None}}))"""
BUSY: Final = "GeneratedService(RunGenerator(runs=50, rate=1000.0, seconds=120.0))"

CURSOR_ON: Final = re.compile(rb"\xe2\x96\xb8(?:\x1b\[[\d;]*m|[^\x1b]){0,80}?(ex_\w+)")
"""The run in whose line the cursor is: only changes of style are between them."""

BARE_CURSOR_ON: Final = re.compile(rb"\x1b\[1;[0-9;]*m *row (\d{4})")
"""The row that the bare list draws bold: the one under its cursor. It redraws all the others too."""


def figures(home: Path) -> list[Figure]:
    """Measure and judge; all files are below ``home``."""
    with bare_list(home) as bare:
        with list_console(home / "rest", RESTING, "ex_0003") as resting:
            alone, at_rest = press_in_turns((bare, BARE_CURSOR_ON), (resting, CURSOR_ON))
        with list_console(home / "busy", BUSY, "▸") as busy:
            again, under_load = press_in_turns((bare, BARE_CURSOR_ON), (busy, CURSOR_ON))
    return [
        Figure("a key until it is painted, p95, bare Textual list", f"{alone * 1000:.1f} ms", "1.00"),
        _against(f"… on the list of {LISTED} runs, at rest", at_rest, alone, TARGET_KEY),
        _against("… on a list of 50 runs with 1,000 events/s", under_load, again, TARGET_KEY_BUSY),
    ]


def _against(what: str, value: float, floor: float, target: float) -> Figure:
    ratio = value / floor
    return Figure(what, f"{value * 1000:.1f} ms", f"{ratio:.2f}", f"≤ {target:g} × the bare list", ratio <= target)


def press_in_turns(
    *terminals: tuple[Terminal, re.Pattern[bytes]], presses: int = PRESSES, rest_s: float = 0.0
) -> list[float]:
    """Return the 95th percentile of the seconds from a key to the bytes that draw the cursor on another row.

    Args:
        terminals: Each with a pattern for the row that is drawn under the cursor.
        presses: Keys pressed in one direction.
        rest_s: Seconds without drawing before a key is pressed.
    """
    times: list[list[float]] = [[] for _ in terminals]
    chance = random.Random(1)
    for key in "jk" * 2:
        for _ in range(presses):
            for taken, (terminal, sign) in zip(times, terminals, strict=True):
                _come_to_rest(terminal, rest_s)
                # At any moment between two frames. A key right after the previous picture would always come at the same
                # moment, and always wait the same part of a frame.
                time.sleep(chance.uniform(0.0, FRAME_S))
                taken.append(_press(terminal, key, sign))
    return [statistics.quantiles(taken, n=20)[18] for taken in times]


def _come_to_rest(terminal: Terminal, rest_s: float) -> None:
    drawn, since = len(terminal.raw), time.monotonic()

    def rests() -> bool:
        nonlocal drawn, since
        if len(terminal.raw) != drawn:
            drawn, since = len(terminal.raw), time.monotonic()
        return time.monotonic() - since >= rest_s

    terminal.wait_until(rests, "nothing to be drawn", poll=True)


def _press(terminal: Terminal, key: str, sign: re.Pattern[bytes]) -> float:
    shown = sign.findall(terminal.raw)
    before = shown[-1] if shown else b""
    del terminal.raw[:]
    start = time.perf_counter()
    terminal.type(key)
    terminal.wait_until(lambda: any(found != before for found in sign.findall(terminal.raw)), "the cursor to move")
    return time.perf_counter() - start


@contextmanager
def bare_list(home: Path, way: Way = here) -> Iterator[Terminal]:
    """Run the framework's plainest list, and wait until it is drawn."""
    command = way([sys.executable, "-c", BARE_LIST])
    with Terminal(command, env=clean_environment(home), columns=120, rows=36) as terminal:
        terminal.wait_for("row 0003")
        yield terminal


@contextmanager
def list_console(home: Path, service: str, sign: str, *words: str, way: Way = here) -> Iterator[Terminal]:
    """Run the console on a service in another process, and wait until everything it shows is read."""
    home.mkdir()
    program = _SERVE.replace("MADE", service)
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as serving:
        try:
            assert serving.stdout is not None
            more = {"RUNWATCH_BASE_URL": serving.stdout.readline().strip(), "RUNWATCH_API_KEY": "k"}
            command = way([sys.executable, "-m", "runwatch", *words])
            with Terminal(command, env=clean_environment(home, more), columns=120, rows=36) as terminal:
                terminal.wait_for(sign)
                yield terminal
        finally:
            serving.terminate()
