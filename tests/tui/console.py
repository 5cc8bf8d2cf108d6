"""The console itself without a terminal, against a scripted service and on a clock that only moves when told to.

::

    async with console(ScriptedService(runs=[run("ex_1")]), tmp_path) as driven:
        await driven.shows("running")
        await driven.press("enter")

Nothing sleeps: every wait ends when its condition holds, and fails with the screen's text when it does not.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

import pytest
from textual import _wait
from textual.pilot import Pilot
from textual.screen import Screen
from textual.widget import Widget

from runwatch.base.paths import Paths
from runwatch.settings.resolver import SettingOptions
from runwatch.store.session import ServiceSession
from runwatch.tui.app.console_app import ConsoleApp, LaunchOptions
from runwatch.tui.shell.console_screen import ConsoleScreen
from runwatch.tui.widgets.lists.record_table import RecordTable
from runwatch.tui.widgets.panes.confirm_dialog import ConfirmDialog
from tests.support.clock import FakeClock
from tests.support.scripted import ScriptedService
from tests.tui.frames import frames_left_out
from tests.tui.look import lines_of
from tests.tui.samples import NOON

ScreenClass = type[Screen[Any]]

KEY: Final = "rk_test_sentinel_7f3a9c"
"""The key to the scripted service. No screen, no frame and no log may ever hold it."""

PATIENCE_S: Final = 60.0
"""How long a condition may take on a busy machine before it counts as never."""

HELD_S: Final = 1.0
"""How long a worker may take before it counts as held by the test."""

PAUSE_S: Final = 0.004
"""How long a console does nothing before it counts as idle."""

WIDE: Final = (160, 50)
NARROW: Final = (80, 24)


class NeverError(AssertionError):
    """A condition did not come true."""


@dataclass
class Driven:
    """A console that runs.

    Attributes:
        app: The console.
        pilot: Presses its keys.
        service: What it talks to.
        clock: Its time.
    """

    app: ConsoleApp
    pilot: Pilot[None]
    service: ScriptedService
    clock: FakeClock

    # What it shows.

    @property
    def lines(self) -> list[str]:
        """The screen row by row; the service's port and the count of requests are always the same ones."""
        return [_with_same_numbers(row) for row in lines_of(self.app)]

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    @property
    def session(self) -> ServiceSession:
        """What the console works with, once it is open."""
        assert self.app.session is not None
        return self.app.session

    @property
    def table(self) -> RecordTable:
        """The list of the screen in front."""
        return self.app.screen.query_one("#table", RecordTable)

    @property
    def focused(self) -> Widget | None:
        return self.app.screen.focused

    # What is done to it.

    async def press(self, *keys: str) -> None:
        """Press keys, by Textual's names, and let the console act."""
        await self.pilot.press(*keys)
        await self.pilot.pause()

    async def type(self, text: str) -> None:
        await self.press(*(_NAMES.get(character, character) for character in text))

    async def say(self, text: str) -> None:
        """Open the command line, type into it and press enter."""
        await self.press("colon")
        await self.type(text)
        await self.press("enter")

    async def filter(self, text: str) -> None:
        """Open the filter of the list, type into it and press enter."""
        await self.press("slash")
        await self.type(text)
        await self.press("enter")

    async def click_text(self, text: str, *, times: int = 1, offset: int = 0) -> None:
        """Click a text on the screen."""
        row = next((number for number, row in enumerate(self.lines) if text in row), None)
        if row is None:
            raise NeverError(f"{text!r} is not there to be clicked:\n{self.text}")
        column = self.lines[row].index(text) + offset
        await self.pilot.click(offset=(column, row), times=times)
        await self.pilot.pause()

    async def pass_time(self, seconds: float) -> None:
        """Let time go by, from one deadline to the next, and let everything happen that is due."""
        end = self.clock.monotonic() + seconds
        held: set[asyncio.Task[None]] = set()
        while True:
            left = end - self.clock.monotonic()
            step = self.clock.next_wake_s
            if left <= 1e-6:
                break
            self.clock.advance(left if step is None else min(max(step, 1e-3), left))
            await self.settle(held)
        # The console's own second is one of the real clock.
        self.app._second()
        # Some ages are drawn several seconds at a time; a test looks at what they are by now.
        if isinstance(self.app.mounted_screen, ConsoleScreen):
            self.app.mounted_screen.data_changed(frozenset())
        await self.pilot.pause()

    async def pass_time_to(self, seconds: float) -> None:
        """Let time go by until so many seconds after the console's start: how long a text takes to come varies."""
        left = seconds - (self.clock.monotonic() - FakeClock().monotonic())
        assert left >= 0, f"{-left:g} s later than that already"
        await self.pass_time(left)

    async def settle(self, held: set[asyncio.Task[None]] | None = None) -> None:
        """Wait until every request in progress is answered, or waits for the clock, and the result is drawn.

        Args:
            held: The workers that the test holds, which are not waited for; those found to be held are added.
        """
        held = set() if held is None else held
        await self.pilot.pause()
        await self.until(lambda: not self._reads_under_way() and self.app._gather is None, "the reads to end")
        # What is made of them has no time of its own, but a test may hold it.
        if not await self._comes_true(lambda: not self._working() - held, HELD_S):
            held |= self._working()

    def _working(self) -> set[asyncio.Task[None]]:
        tasks = (worker._task for worker in self.app.workers if worker.is_running)
        return {task for task in tasks if task is not None and not self.clock.has_asleep(task)}

    def _reads_under_way(self) -> bool:
        others = () if self.app._profiles is None else self.app._profiles._sessions.values()
        sessions = [session for session in (self.app.session, *others) if session is not None]
        tasks = (job.task for session in sessions for job in session.live.scheduler._jobs.values())
        return any(flight is not None and not self.clock.has_asleep(flight) for flight in tasks)

    async def until(self, condition: Callable[[], bool], what: str) -> None:
        """Wait until a condition holds.

        Raises:
            NeverError: it does not.
        """
        if not await self._comes_true(condition, PATIENCE_S):
            raise NeverError(f"waited for {what}; the screen shows:\n{self.text}")
        await self.pilot.pause()

    async def _comes_true(self, condition: Callable[[], bool], within_s: float) -> bool:
        deadline = time.monotonic() + within_s
        rest_s = PAUSE_S
        while not condition():
            if time.monotonic() > deadline:
                return False
            await self.pilot.pause()
            # Looking costs time that a busy machine needs for what is waited for.
            await asyncio.sleep(rest_s)
            rest_s = min(2 * rest_s, 8 * PAUSE_S)
        return True

    async def select(self, key: str) -> None:
        """Put the cursor on a row as soon as the list shows it."""
        await self.until(lambda: self.table.select(key), f"{key} to be listed")

    async def shows(self, *texts: str | re.Pattern[str]) -> None:
        """Wait until the screen shows each of these texts, one after the other."""
        for text in texts:
            pattern = re.compile(re.escape(text)) if isinstance(text, str) else text
            await self.until(partial(self._sees, pattern), f"{pattern.pattern!r} to show")

    def _sees(self, pattern: re.Pattern[str]) -> bool:
        return pattern.search(self.text) is not None

    async def reaches(self, text: str | re.Pattern[str], *keys: str) -> None:
        """Press keys, and wait until the screen shows a text."""
        await self.press(*keys)
        await self.shows(text)

    async def opens(self, screen: ScreenClass, *keys: str) -> None:
        """Press keys, and wait until a screen of this class is in front."""
        await self.press(*keys)
        await self.until(lambda: isinstance(self.app.screen, screen), f"{screen.__name__} to be in front")

    async def review(self) -> None:
        """Open the confirmation dialog of the form in front, as soon as its request is valid."""
        await self.until(lambda: not self.app.screen.query_one("#start").disabled, "the request to be valid")
        self.app.screen.query_one("#start").focus()
        await self.opens(ConfirmDialog, "enter")

    async def comes(self, text: str | re.Pattern[str], within_s: float = 10.0) -> None:
        """Let time go by until the screen shows a text: what is read in the background waits for its turn.

        Raises:
            NeverError: this many seconds went by without it.
        """
        pattern = re.compile(re.escape(text)) if isinstance(text, str) else text
        end = self.clock.monotonic() + within_s
        while pattern.search(self.text) is None and self.clock.monotonic() < end:
            await self.pass_time(0.5)
        # What a worker or a thread still makes of what was read takes no time of the clock.
        await self.until(
            lambda: pattern.search(self.text) is not None, f"{pattern.pattern!r} to come in {within_s:g} s"
        )

    async def hides(self, text: str) -> None:
        """Wait until the screen shows a text no longer."""
        await self.until(lambda: text not in self.text, f"{text!r} to go")


@contextmanager
def quick_pauses() -> Iterator[None]:
    """Have Textual look five times as often whether an app is idle: every key and every pause waits for that."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_wait, "SLEEP_GRANULARITY", PAUSE_S)
        patch.setattr(_wait, "SLEEP_IDLE", PAUSE_S / 10)
        yield


@asynccontextmanager
async def drive(
    app: ConsoleApp, service: ScriptedService, clock: FakeClock, *, size: tuple[int, int] = (120, 36)
) -> AsyncIterator[Driven]:
    """Run a console that a test made, without frames."""
    with frames_left_out():
        async with app.run_test(size=size) as pilot:
            yield Driven(app, pilot, service, clock)


@asynccontextmanager
async def console(
    service: ScriptedService,
    home: Path,
    *,
    size: tuple[int, int] = (120, 36),
    settings: str = "",
    options: SettingOptions | None = None,
    environment: Mapping[str, str] | None = None,
    open_at: str = "",
    app_class: type[ConsoleApp] = ConsoleApp,
    is_open: bool = True,
    draws_frames: bool = False,
    until: str = "",
) -> AsyncIterator[Driven]:
    """A console on a service, open and read unless told otherwise.

    Args:
        service: What it talks to; it is served while the block runs.
        home: Where settings and data are.
        size: Columns and rows.
        settings: The settings file; ``{base_url}`` in it becomes the service's address.
        options: What the command line says.
        environment: Further variables.
        open_at: The screen to begin with.
        app_class: The console, or one that a test changes.
        is_open: Whether to wait until the console has found its service.
        draws_frames: Whether every frame is composed, as on a terminal.
        until: What it shows before the block begins.
    """
    paths = Paths(home / "settings.toml", home / "runwatch-data")
    async with service:
        if settings:
            paths.settings_file.write_text(settings.replace("{base_url}", service.base_url), "utf-8")
            paths.settings_file.chmod(0o600)
        variables = {"RUNWATCH_BASE_URL": service.base_url, "RUNWATCH_API_KEY": KEY, **(environment or {})}
        clock = FakeClock(NOON, manual=True)
        app = app_class(LaunchOptions(paths, variables, options or SettingOptions(), open_at), clock=clock)
        with nullcontext() if draws_frames else frames_left_out():
            async with app.run_test(size=size) as pilot:
                driven = Driven(app, pilot, service, clock)
                if is_open:
                    await driven.until(lambda: app.session is not None, "the desk to open")
                    await driven.settle()
                # Opening also waits for a thread that reads the disk, which a short pause could miss.
                with quick_pauses():
                    if until:
                        await driven.shows(until)
                    yield driven


_PORT: Final = re.compile(r"(127\.0\.0\.1:)\d{5}")
_RATE: Final = re.compile(
    r"(?P<gap> *)(?P<before>\S(?:\S| (?! ))* {3}|requests )(?P<free> *)(?P<rate>\d+)(?P<limit>(?: of (?:about )?\d+)?)"
    r"(?P<unit>(?: requests| req)?/min| a minute)(?P<slowed>(?:, slowed to \d+)?)"
    r"|within (?P<left>\d+) requests left this minute"
)
"""How many requests have been sent by a moment depends on how fast the machine is."""


def _with_same_numbers(row: str) -> str:
    # Searching every row for these patterns would take a twentieth of the time of all tests of the console.
    if "127.0.0.1:" in row:
        row = _PORT.sub(r"\g<1>40213", row)
    return _RATE.sub(_same_rate, row) if "/min" in row or "a minute" in row or "requests left" in row else row


def _same_rate(match: re.Match[str]) -> str:
    """A rate of one digit; the header keeps its right end, other texts keep their left end."""
    if match["rate"] is None:
        return re.sub(r"\d", "0", match[0])
    rate = f"0 of 0{match['unit']}" if match["slowed"] else f"0{re.sub('[0-9]', '0', match['limit'])}{match['unit']}"
    said = "".join(match[part] for part in ("free", "rate", "limit", "unit", "slowed"))
    spare, text = " " * (len(said) - len(rate)), f"{match['before']}{rate}"
    return f"{match['gap']}{text}{spare}" if match["before"] == "requests " else f"{match['gap']}{spare}{text}"


_NAMES: Final = {
    " ": "space", ".": "full_stop", ":": "colon", ",": "comma", "/": "slash", "-": "minus", "+": "plus",
    "=": "equals_sign",
    "!": "exclamation_mark", "|": "vertical_line", "<": "less_than_sign", ">": "greater_than_sign", "_": "underscore",
    "[": "left_square_bracket", "]": "right_square_bracket", "(": "left_parenthesis", '"': "quotation_mark",
    "*": "asterisk",
}  # fmt: skip
