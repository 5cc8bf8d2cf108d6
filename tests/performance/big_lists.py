"""A hundred thousand varied receipts in one answer, and a run with a hundred thousand events, in the real console.

The console runs in this process without a terminal, in real time, on a service in another process. Every callback of
its event loop is timed while the user does something. A figure is the longest callback of that step, garbage
collection included; the second one is the 99th percentile of how late the loop was. A step that is over its target and
can be repeated is repeated. ``RUNWATCH_LISTED`` sets another number.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from textual.pilot import Pilot

from runwatch.base.clock import SystemClock
from runwatch.base.json import dumps
from runwatch.base.memory import resume_collection
from runwatch.base.paths import Paths
from runwatch.records.receipt import Receipt
from runwatch.settings.resolver import SettingOptions
from runwatch.tui.app.console_app import ConsoleApp, LaunchOptions
from runwatch.tui.flows.exports import export_rows
from runwatch.tui.screens.base.list_screen import ListScreen
from runwatch.view.export.file_formats import FileFormat
from tests.performance.measure import TURNS, Figure, LoopTimes, best_turn, find_peer, loop_times
from tests.support.environment import clean_environment
from tests.support.terminal import Terminal
from tests.support.varied_receipts import varied_receipts
from tests.tui.look import text_of

MANY: Final = int(os.environ.get("RUNWATCH_LISTED") or 100_000)
RUNS: Final = tuple(f"ex_{number:06}" for number in range(1, TURNS + 1))
"""Runs with this many events each. Each turn needs a new run, because events that were read once are kept."""

PATIENCE_S: Final = 240.0
REST_S: Final = 15.0
_PAGES_NOTE: Final = (
    "Receipts read in pages: the rows of the page before are freed in small steps, and what stays of each page lies"
    " between what does not, so a tenth of the memory is gaps. The first page is not packed, because it is polled."
    " As they were decoded, they took ten times as much; the rows of every page made anew took more than twice the"
    " time."
)
TARGET_CALLBACK_S: Final = 0.050
TARGET_MEMORY: Final = 150_000_000

_SERVE: Final = f"""
import asyncio
from datetime import UTC, datetime
from runwatch.base.json import dumps
from tests.support.builders import account, event, run
from tests.support.varied_receipts import varied_receipts
from tests.support.scripted import Said, ScriptedService
def receipts():
    return map(dumps, varied_receipts({MANY}, datetime(2026, 11, 20, 10, tzinfo=UTC), are_short=True))
async def main():
    quota = dict(account().raw["quota"]) | {{"rate_limit_rpm": 1_000_000}}
    def events_of(run_id):
        for number in range(1, {MANY + 1}):
            yield event(number, "completed" if number == {MANY} else "running", execution_id=run_id).raw
    service = ScriptedService(
        account=account(quota=quota), events={{run_id: list(events_of(run_id)) for run_id in {RUNS!r}}},
        runs=[run(f"ex_{{number:06}}", "completed", slices=[]) for number in range(100)],
    )
    service.say("GET", "/v1/receipts", Said(200, ('{{"receipts":[' + ",".join(receipts()) + "]}}").encode()))
    async with service:
        print(service.base_url, flush=True)
        await asyncio.Event().wait()
asyncio.run(main())
"""
PAGE: Final = 500
_SERVE_PAGES: Final = f"""
import asyncio
from datetime import UTC, datetime
from runwatch.base.json import dumps
from tests.support.builders import account
from tests.support.varied_receipts import varied_receipts
from tests.support.scripted import Said, ScriptedService
class Paged(ScriptedService):
    def _answer(self, heard):
        if (heard.head.method, heard.head.path) != ("GET", "/v1/receipts"):
            return super()._answer(heard)
        start = int(heard.head.query.get("cursor", "0"))
        following = f'"{{start + {PAGE}}}"' if start + {PAGE} < {MANY} else "null"
        page = ",".join(receipts[start : start + {PAGE}])
        return Said(200, f'{{{{"receipts":[{{page}}],"next_cursor":{{following}}}}}}'.encode())
receipts = [dumps(each) for each in varied_receipts({MANY}, datetime(2026, 11, 20, 10, tzinfo=UTC), are_short=True)]
async def main():
    quota = dict(account().raw["quota"]) | {{"rate_limit_rpm": 1_000_000}}
    async with Paged(account=account(quota=quota)) as service:
        print(service.base_url, flush=True)
        await asyncio.Event().wait()
asyncio.run(main())
"""


def figures() -> list[Figure]:
    """Measure and judge."""
    with tempfile.TemporaryDirectory() as directory, _service() as base_url:
        return asyncio.run(_measure(base_url, Path(directory)))


@contextlib.contextmanager
def _service(program: str = _SERVE) -> Iterator[str]:
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as serving:
        try:
            assert serving.stdout is not None
            yield serving.stdout.readline().strip()
        finally:
            serving.terminate()


@dataclass
class _Steps:
    """What the user does, and how late the loop was meanwhile.

    Attributes:
        app: The console.
        pilot: Presses its keys.
        found: What was measured.
    """

    app: ConsoleApp
    pilot: Pilot[None]
    found: list[Figure] = field(default_factory=list)

    async def measure(self, what: str, do: Callable[[], Awaitable[object]]) -> None:
        """Do something, again until the target is met, and note the longest callback of the best turn."""
        self._note(what, await best_turn(lambda: self._times_of(do), lambda times: times.longest, TARGET_CALLBACK_S))

    async def measure_once(self, what: str, do: Callable[[], Awaitable[object]]) -> None:
        """Do something that cannot be repeated, and note the longest callback."""
        self._note(what, await self._times_of(do))

    async def _times_of(self, do: Callable[[], Awaitable[object]]) -> LoopTimes:
        async with loop_times() as times:
            await do()
            await self.calm()
        return times

    def _note(self, what: str, times: LoopTimes) -> None:
        self.found.append(
            Figure(f"… longest callback {what}",
                   f"{times.longest * 1000:.0f} ms (lag p99 {times.lag(99) * 1000:.0f} ms)", "",
                   f"≤ {TARGET_CALLBACK_S * 1000:.0f} ms", times.longest <= TARGET_CALLBACK_S)
        )  # fmt: skip

    async def press(self, *keys: str) -> None:
        """Press keys one after another, as the user does."""
        for key in keys:
            await self.pilot.press(key)
            await self.calm()

    async def calm(self) -> None:
        """Wait until nothing is being prepared for the list in front."""
        await self.pilot.pause()
        await self.until(lambda: not self._is_working())

    def _is_working(self) -> bool:
        # Drawing the screen as text, in order to search it, would be measured too.
        screen = self.app.console_screen
        is_adding = any(worker.name == "adding up" and worker.is_running for worker in self.app.workers)
        return is_adding or (isinstance(screen, ListScreen) and screen.listing.is_under_way)

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait until a condition holds.

        Raises:
            TimeoutError: it never held.
        """
        async with asyncio.timeout(PATIENCE_S):
            while not condition():
                await asyncio.sleep(0.02)


@contextlib.asynccontextmanager
async def _console(base_url: str, home: Path) -> AsyncIterator[_Steps]:
    variables = {"RUNWATCH_BASE_URL": base_url, "RUNWATCH_API_KEY": "k"}
    paths = Paths(home / "settings.toml", home / "data")
    app = ConsoleApp(LaunchOptions(paths, variables, SettingOptions(), ""), clock=SystemClock())
    # Garbage is collected as in the console.
    gc.disable()
    resume_collection()
    async with app.run_test(size=(140, 40)) as pilot:
        steps = _Steps(app, pilot)
        await steps.until(lambda: "● live" in text_of(app))
        yield steps


async def _measure(base_url: str, home: Path) -> list[Figure]:
    async with _console(base_url, home) as steps:
        # The imports for other screens have nothing to do with the length of a list.
        await steps.press("3", "colon", "escape", "question_mark", "escape", "1")
        await _receipts(steps, home)
        await _elsewhere(steps)
        await _events(steps)
        return [
            Figure("receipts in one answer that are listed", _collected(steps.app)),
            *steps.found,
            _memory(base_url, home),
            _memory_in_pages(home),
            *_memory_of_peer(home),
        ]


def _memory(base_url: str, home: Path) -> Figure:
    """Return the resident memory of a separate console that has listed, sorted and summed all of them."""
    environment = {**clean_environment(home), "RUNWATCH_BASE_URL": base_url, "RUNWATCH_API_KEY": "k"}
    command = [sys.executable, "-m", "runwatch", "--open", "receipts"]
    with Terminal(command, env=environment, columns=140, rows=40) as terminal:
        terminal.wait_for(re.compile(rf"Receipts   {MANY:,} .*spend [0-9]", re.DOTALL), PATIENCE_S)
        # The texts of the rows are made after that; a filter waits for all of them.
        terminal.type("/nowhere")
        terminal.wait_for(f"0/{MANY:,}", PATIENCE_S)
        held = _resident(terminal)
    return Figure(f"… resident memory of a console that holds {MANY:,}, searched through", f"{held / 1e6:.0f} MB", "",
                  f"≤ {TARGET_MEMORY / 1e6:.0f} MB", held <= TARGET_MEMORY)  # fmt: skip


def _memory_in_pages(home: Path) -> Figure:
    """Return the same of a console that has read them in pages."""
    with _service(_SERVE_PAGES) as base_url:
        environment = {**clean_environment(home), "RUNWATCH_BASE_URL": base_url, "RUNWATCH_API_KEY": "k"}
        environment["RUNWATCH_DATA_DIR"] = str(home / "pages")
        command = [sys.executable, "-m", "runwatch", "--open", "receipts"]
        with Terminal(command, env=environment, columns=140, rows=40) as terminal:
            terminal.wait_for("▸", PATIENCE_S)
            terminal.type("G")
            terminal.wait_for(re.compile(rf"Receipts   {MANY:,} ━"), PATIENCE_S)
            terminal.type("/nowhere")
            terminal.wait_for(f"0/{MANY:,}", PATIENCE_S)
            at_once, deadline = _resident(terminal), time.monotonic() + REST_S
            terminal.wait_until(lambda: time.monotonic() >= deadline, "the rows of before to be freed", poll=True)
            held = _resident(terminal)
    return Figure(f"… of one that has read them in pages of {PAGE}, at once and {REST_S:.0f} s later",
                  f"{at_once / 1e6:.0f}, {held / 1e6:.0f} MB", "", f"≤ {TARGET_MEMORY / 1e6:.0f} MB later",
                  held <= TARGET_MEMORY, _PAGES_NOTE)  # fmt: skip


def _memory_of_peer(home: Path) -> list[Figure]:
    """Resident memory of VisiData with the same receipts, read from a file."""
    program = find_peer("vd")
    if program is None:
        return []
    file = home / "receipts.jsonl"
    receipts = varied_receipts(MANY, datetime(2026, 11, 20, 10, tzinfo=UTC), are_short=True)
    file.write_text("".join(f"{dumps(receipt)}\n" for receipt in receipts), "utf-8")
    with Terminal([program, str(file)], env=clean_environment(home), columns=140, rows=40) as terminal:
        terminal.wait_for(f"{MANY} rows", PATIENCE_S)
        return [Figure(f"… VisiData with the same {MANY:,} as lines of a file", f"{_resident(terminal) / 1e6:.0f} MB")]


def _resident(terminal: Terminal) -> int:
    status = Path(f"/proc/{terminal.process.pid}/status").read_text("utf-8")
    return int(status.partition("VmRSS:")[2].split()[0]) * 1024


def _collected(app: ConsoleApp) -> str:
    assert app.session is not None
    return f"{len(app.store.collection(app.session.scope.profile, Receipt.KIND).by_id):,}"


async def _receipts(steps: _Steps, home: Path) -> None:
    app = steps.app

    async def come() -> None:
        await steps.pilot.press("2")
        await steps.until(lambda: len(_front(app).table.rows) == MANY)

    async def come_again() -> None:
        assert app.session is not None
        collection = app.store.collection(app.session.scope.profile, Receipt.KIND)
        before = collection.read_at
        await steps.pilot.press("r")
        await steps.until(lambda: collection.read_at != before)

    async def narrow() -> None:
        await steps.pilot.press("slash", *"failed", "enter")
        await steps.calm()
        await steps.press("escape")

    async def sort() -> None:
        await steps.press("s", "s", "S")

    async def move() -> None:
        await steps.press("end", "home", "pagedown", "j", "space", "space")

    async def export() -> None:
        form: FileFormat
        for form in ("ndjson", "csv"):
            path = home / f"receipts-{len(list(home.iterdir()))}.{form}"
            export_rows(_front(app), form, path)
            await steps.until(path.exists)

    await steps.measure_once(f"while the list of {MANY:,} comes, is sorted and added up", come)
    # So far only the cells on the screen have been drawn; a thread draws all of them.
    await steps.measure("while it is exported as NDJSON and CSV", export)
    await steps.measure("while it comes again", come_again)
    await steps.measure("while it is filtered letter by letter", narrow)
    await steps.measure("while it is sorted by other columns", sort)
    await steps.measure("while the cursor goes to the ends", move)


async def _elsewhere(steps: _Steps) -> None:
    app = steps.app

    def keys(*pressed: str) -> Callable[[], Awaitable[None]]:
        return lambda: steps.press(*pressed)

    async def themes() -> None:
        for name in ("runwatch-light", "runwatch-dark"):
            app.apply_theme(name)
            await steps.calm()

    for what, do in (
        ("with the command line and `?`", keys("colon", "escape", "question_mark", "escape")),
        ("with the menus of actions, copies and exports", keys("full_stop", "escape", "Y", "escape", "e", "escape")),
        ("with another theme", themes),
        ("going to other pages and back", keys("1", "6", "0", "I", "U", "comma", "2")),
    ):
        await steps.measure(f"{what}, {MANY:,} receipts held", do)


async def _events(steps: _Steps) -> None:
    app = steps.app
    last = f"{MANY:,} events"

    runs = iter(RUNS)

    async def open_run() -> None:
        assert app.session is not None
        tails, run_id = app.session.live.tails, next(runs)
        await steps.press("1")
        app.show_run(run_id)
        await steps.until(lambda: tails.last_update(run_id).count == MANY)

    async def see_the_end() -> None:
        await steps.until(lambda: last in text_of(app))

    async def go_back() -> None:
        await steps.press("pageup", "pageup", "home", "end")

    await steps.measure(f"while the {MANY:,} events of a run come and its end is shown", open_run)
    await see_the_end()
    await steps.measure("while it is gone through from its end to its beginning", go_back)


def _front(app: ConsoleApp) -> ListScreen:
    screen = app.console_screen
    assert isinstance(screen, ListScreen)
    return screen
