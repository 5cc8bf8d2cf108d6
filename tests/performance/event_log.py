"""A thousand to a million events of one run: opening, scrolling, filtering, memory and disk space.

The store writes the events into the console's database as usual, and the real console shows them: the list of runs, the
run under the cursor, its tail. Where a figure grows with the number of events, the exponent of the power that fits best
is given too.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from multiprocessing import get_context
from pathlib import Path
from typing import Final

from textual.pilot import Pilot

from runwatch.api.decoding.decoder import decode_page
from runwatch.base.memory import resume_collection
from runwatch.base.paths import Paths
from runwatch.records.event import RunEvent
from runwatch.settings.resolver import SettingOptions
from runwatch.store.session import ServiceSession
from runwatch.tui.app.console_app import ConsoleApp, LaunchOptions
from runwatch.tui.screens.runs.runs import RunsScreen
from runwatch.tui.widgets.lists.record_table import RecordTable
from runwatch.view.text.format import grouped_number
from tests.performance.measure import Figure, best_turn, exponent, find_peer, longest_callback
from tests.support.builders import account, run
from tests.support.environment import clean_environment
from tests.support.process_use import use_of
from tests.support.scripted import Said, ScriptedService
from tests.support.terminal import Terminal
from tests.tui.console import KEY
from tests.tui.look import text_of
from tests.tui.samples import NOON

SIZES: Final = (1_000, 10_000, 100_000, 1_000_000)
MOST: Final = SIZES[-1]
FEW: Final = 10
"""Almost no events: the memory of a console that has none of the million open."""

PAGE: Final = 50_000
"""How many events are made and stored at a time."""

NEEDLE: Final = "needle-7f3a"
NEEDLES: Final = 10
"""How many events of each run hold a word that no other event has."""

LOG: Final = "events.log"
PAGES: Final = 40
REST_S: Final = 0.5
SETTLE_S: Final = 4.0
PATIENCE_S: Final = 60.0
LINE_WORD: Final = "rejected"
"""A text in the lines of a quarter of all events, but in no event's JSON."""

TARGET_CALLBACK_S: Final = 0.050
TARGET_FILTER_S: Final = 0.500
TARGET_MEMORY: Final = 60_000_000
TARGET_AGAINST_LNAV: Final = 2.0
TARGET_SEARCH_AGAINST_LNAV: Final = 3.0
TARGET_FIRST_S: Final = 0.2
TARGET_OPENING, TARGET_FILTERING = 0.2, 1.1
"""The largest exponents allowed: opening does not depend on the number; a filter looks at each event once."""

_EVERY: Final = timedelta(milliseconds=20)
_SIZE: Final = (160, 50)


@dataclass(frozen=True, slots=True)
class Found:
    """How long filters took, in seconds.

    Attributes:
        word: From a filter on a word until every event whose JSON holds it is found.
        first: From a filter on a text that only lines have until the first event is found.
        lines: From that filter until every event is searched.
        longest: The longest callback meanwhile.
    """

    word: float
    first: float
    lines: float
    longest: float

    def against_targets(self) -> float:
        """The figure that is furthest over its target, as a multiple of the target."""
        return max(self.word / TARGET_FILTER_S, self.first / TARGET_FIRST_S, self.longest / TARGET_CALLBACK_S)


@dataclass(frozen=True, slots=True)
class Seen:
    """How long it took to show the events of one run, in seconds.

    Attributes:
        events: How many there are.
        opened: From choosing the run until its last event is on the screen.
        scrolled: The longest callback while scrolling by pages and to both ends.
        found: How long filters took.
    """

    events: int
    opened: float
    scrolled: float
    found: Found


def figures() -> list[Figure]:
    """Measure and judge."""
    # A process that lnav leaves behind may still write into its home while that is deleted.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as directory:
        home = Path(directory)
        seen = asyncio.run(_look(home))
        table = [*_times(seen), *_growth(seen), *_memory(home)]
        return [*table, *_against_lnav(home, seen[-1].found.lines)]


def run_id(events: int) -> str:
    """Return the id of the run with this many events."""
    return f"ex_{events}"


def service() -> ScriptedService:
    """Return a service that knows the runs and has no further events."""
    runs = [run(run_id(count), "completed", slices=[]) for count in (FEW, *SIZES)]
    made = ScriptedService(runs=runs, events={record.id: [] for record in runs})
    made.say("GET", "/v1/account", Said(200, account()))
    return made


# The events.


async def _fill(session: ServiceSession, log: Path) -> None:
    """Store the events of every run as if they had been read in pages.

    Args:
        session: Stores them.
        log: Receives the million events as lines of a log file, each with its time first.
    """
    sizes, numbers = zip(*_pages(), strict=True)
    # They are made while the previous ones are stored, for which one core is enough.
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as maker, log.open("w", encoding="utf-8") as file:
        for size, body in zip(sizes, maker.map(_page, sizes, numbers), strict=True):
            events = decode_page(body, RunEvent).records
            await session.event_store.append(session.scope, run_id(size), events)
            if size == MOST:
                file.writelines(f"{event.raw['at']} {event.wire_text}\n" for event in events)


def _pages() -> Iterator[tuple[int, range]]:
    """Yield the number of events of each run, with the numbers of the events of each page."""
    for size in (FEW, *SIZES):
        for first in range(0, size, PAGE):
            yield size, range(first, min(first + PAGE, size))


def _page(size: int, numbers: range) -> bytes:
    """Return some events of the run with this many; from a template, as the usual builder takes a minute a million."""
    # Stored events of an ended run are deleted by age, so they must be recent.
    start = max(NOON, datetime.now(UTC)) - MOST * _EVERY
    every = size // NEEDLES
    events = []
    for number in numbers:
        at = (start + number * _EVERY).isoformat(timespec="milliseconds").removesuffix("+00:00")
        head = f'{{"event_id":"{_event_id(number)}","execution_id":"{run_id(size)}","at":"{at}Z",'
        if number == size - 1:
            rest = f'"type":"lifecycle","state":"completed","reason":"{_last(size)}"}}'
        elif number % every == every // 2:
            rest = f'"slice_id":"sl_1","type":"lifecycle","state":"progress","reason":"{NEEDLE}"}}'
        elif number % 4 < 2:
            rest = '"slice_id":"sl_1","type":"lifecycle","state":"progress","reason":"fallback"}'
        elif number % 4 == 2:
            rest = (
                f'"slice_id":"sl_1","type":"verification_check","verification_check":{{"check_id":"chk_{number}",'
                '"verifier_id":"vrf_7c1e","verifier_hash":"sha256:aa11","activity":"customer","arm_id":"arm_01HX7",'
                '"attempt":1,"phase":"candidate","outcome":"valid_verdict","failure_class":null,"is_correct":false,'
                f'"quality_score":{number % 97 / 100}}}}}'
            )
        else:
            rest = (
                '"slice_id":"sl_1","type":"recorded_check","recorded_check":{"state":"platform_test",'
                f'"identity":"platform.echo","recorded_at":"{at}Z"}}}}'
            )
        events.append(head + rest)
    return f'{{"events":[{",".join(events)}]}}'.encode()


def _event_id(number: int) -> str:
    return f"ev_{number:012x}"


def _last(size: int) -> str:
    """Return a text that only the last event of a run has."""
    return f"last-of-{size}"


# Looking at them.


async def _look(home: Path) -> list[Seen]:
    async with shown_console(home) as driven:
        # Garbage is collected as in the console, but not while the events are made.
        gc.disable()
        await _fill(driven.session, home / LOG)
        resume_collection()
        # The run that was open before there were events comes last, because it must be opened again.
        for size in (SIZES[0], FEW):
            await driven.open(size)
        return [await _look_at(driven, size) for size in SIZES]


@dataclass(frozen=True, slots=True)
class Shown:
    """A console that runs in real time, without a terminal.

    Attributes:
        app: The console.
        pilot: Waits for it.
    """

    app: ConsoleApp
    pilot: Pilot[None]

    @property
    def session(self) -> ServiceSession:
        """What it works with."""
        assert self.app.session is not None
        return self.app.session

    @property
    def screen(self) -> RunsScreen:
        """The list of runs with the run under the cursor."""
        assert isinstance(self.app.screen, RunsScreen)
        return self.app.screen

    async def open(self, size: int) -> float:
        """Return the seconds from choosing a run until its last event is on the screen."""
        table = self.screen.query_one("#table", RecordTable)
        # Work that the previous run left must not count for this one.
        await asyncio.sleep(REST_S)
        start = time.perf_counter()
        table.select(run_id(size))
        await until(lambda: self.screen.tail.length == size and _last(size) in text_of(self.app))
        return time.perf_counter() - start


@contextlib.asynccontextmanager
async def shown_console(home: Path) -> AsyncIterator[Shown]:
    """Run the console on the service, and wait until its list of runs is read."""
    paths = Paths(home / "settings.toml", home / "runwatch-data")
    async with service() as serving:
        environment = {"RUNWATCH_BASE_URL": serving.base_url, "RUNWATCH_API_KEY": KEY}
        app = ConsoleApp(LaunchOptions(paths, environment, SettingOptions(), ""))
        async with app.run_test(size=_SIZE) as pilot:
            await until(lambda: app.session is not None and run_id(MOST) in text_of(app))
            yield Shown(app, pilot)


async def until(condition: Callable[[], bool]) -> None:
    """Wait until something holds.

    Raises:
        TimeoutError: it did not hold within :data:`PATIENCE_S`.
    """
    async with asyncio.timeout(PATIENCE_S):
        while not condition():
            await asyncio.sleep(0.001)


async def _look_at(driven: Shown, size: int) -> Seen:
    opened = await driven.open(size)
    screen = driven.screen
    scrolled = await best_turn(lambda: _scroll(driven, screen), float, TARGET_CALLBACK_S)
    found = await best_turn(lambda: _find(screen), Found.against_targets, 1.0)
    return Seen(size, opened, scrolled, found)


async def _find(screen: RunsScreen) -> Found:
    # Nothing is left to do from before.
    await asyncio.sleep(REST_S)
    tail = screen.tail
    with longest_callback() as times:
        start = time.perf_counter()
        tail.filter_by(NEEDLE)
        await until(lambda: tail.known_text().startswith(f"{NEEDLES} of "))
        word = time.perf_counter() - start
        await until(lambda: not _is_looking(screen))
        start = time.perf_counter()
        tail.filter_by(LINE_WORD)
        await until(lambda: not tail.known_text().startswith("0 of "))
        first = time.perf_counter() - start
        await until(lambda: not _is_looking(screen))
        lines = time.perf_counter() - start
        # An event with the needle may take the place of one that was rejected.
        needles = NEEDLES if tail.length // NEEDLES // 2 % 4 == 2 else 0
        assert tail.known_text().startswith(f"{grouped_number(tail.length // 4 - needles)} of ")
    tail.filter_by("")
    return Found(word, first, lines, times.longest)


def _is_looking(screen: RunsScreen) -> bool:
    return "so far" in screen.tail.known_text()


async def _scroll(driven: Shown, screen: RunsScreen) -> float:
    """Return the longest callback while the log scrolls by pages and from one end to the other."""
    log = screen.run_detail.event_log
    log.focus()
    with longest_callback() as times:
        for _ in range(PAGES):
            log.action_move_page(-1)
            await driven.pilot.pause()
        for end in (0, -1):
            log.action_move_to(end)
            await until(lambda: screen.tail.event(log.cursor) is not None)
            await driven.pilot.pause()
    log.action_follow_end()
    return times.longest


# Memory and disk space.


def _times(seen: Sequence[Seen]) -> list[Figure]:
    table = []
    for each in seen:
        table += [
            Figure(f"{each.events:,} events of a run: its end is shown", f"{each.opened * 1000:.0f} ms"),
            Figure("… longest callback while it is scrolled by pages and to both ends",
                   f"{each.scrolled * 1000:.0f} ms", "", _CALLBACK, each.scrolled <= TARGET_CALLBACK_S),
            Figure(f"… {NEEDLES} events found by a word", f"{each.found.word * 1000:.0f} ms", "",
                   f"≤ {TARGET_FILTER_S:g} s", each.found.word <= TARGET_FILTER_S),
        ]  # fmt: skip
        every = each.found.lines / each.events * 1e6
        table += [
            Figure("… the first event found by what only lines say", f"{each.found.first * 1000:.0f} ms", "",
                   f"≤ {TARGET_FIRST_S:g} s", each.found.first <= TARGET_FIRST_S),
            Figure("… all of them", f"{each.found.lines:.2f} s", f"{every:.1f} µs an event"),
        ]  # fmt: skip
        table.append(
            Figure("… longest callback meanwhile", f"{each.found.longest * 1000:.0f} ms", "", _CALLBACK,
                   each.found.longest <= TARGET_CALLBACK_S)
        )  # fmt: skip
    return table


_CALLBACK: Final = f"≤ {TARGET_CALLBACK_S * 1000:.0f} ms"


def _growth(seen: Sequence[Seen]) -> list[Figure]:
    sizes = [each.events for each in seen]
    opening = exponent(sizes, [each.opened for each in seen])
    scrolling = exponent(sizes, [each.scrolled for each in seen])
    finding = exponent(sizes, [each.found.word for each in seen])
    searching = exponent(sizes, [each.found.lines for each in seen])
    return [
        Figure(f"growth from {sizes[0]:,} to {sizes[-1]:,} events: showing the end", f"n^{opening:.2f}", "",
               f"≤ n^{TARGET_OPENING:g}: it does not depend on the number", opening <= TARGET_OPENING),
        Figure("… longest callback while scrolled", f"n^{scrolling:.2f}", "", f"≤ n^{TARGET_OPENING:g}",
               scrolling <= TARGET_OPENING),
        Figure("… finding by a word", f"n^{finding:.2f}", "",
               f"≤ n^{TARGET_FILTERING:g}: each event is looked at once", finding <= TARGET_FILTERING),
        Figure("… searching what only lines say", f"n^{searching:.2f}", "", f"≤ n^{TARGET_FILTERING:g}",
               searching <= TARGET_FILTERING),
    ]  # fmt: skip


_HOLD: Final = """
import asyncio, json, sys
from pathlib import Path
from tests.performance.event_log import held
print(json.dumps(asyncio.run(held(Path(sys.argv[1])))))
"""


async def held(home: Path) -> list[int]:
    """Return the bytes this process holds with a few events open, with the million, and after scrolling."""
    found = []
    async with shown_console(home) as shown:
        # Objects that are made once, for any number of events, exist before the first look at the memory.
        for size in (SIZES[0], FEW):
            await shown.open(size)
            await _scroll(shown, shown.screen)
        found.append(use_of(os.getpid(), 0.0).memory)
        await shown.open(MOST)
        found.append(use_of(os.getpid(), 0.0).memory)
        await _scroll(shown, shown.screen)
        shown.screen.tail.filter_by(NEEDLE)
        await until(lambda: shown.screen.tail.known_text().startswith(f"{NEEDLES} of "))
        found.append(use_of(os.getpid(), 0.0).memory)
    return found


def _memory(home: Path) -> list[Figure]:
    command = [sys.executable, "-c", _HOLD, str(home)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=clean_environment(home))
    few, opened, looked = json.loads(done.stdout)
    return [
        _more(f"console with {MOST:,} events open, more memory than with {FEW}", opened - few),
        _more("… after scrolling through them and finding a word", looked - few),
    ]


def _more(what: str, size: int) -> Figure:
    each = f"{size / MOST:.1f} B an event"
    return Figure(what, f"{size / 1e6:.1f} MB", each, f"≤ {TARGET_MEMORY / 1e6:g} MB", size <= TARGET_MEMORY)


# Against lnav.

_SERVE: Final = """
import asyncio
from tests.performance.event_log import service
async def main():
    async with service() as serving:
        print(serving.base_url, flush=True)
        await asyncio.Event().wait()
asyncio.run(main())
"""


def _against_lnav(home: Path, search: float) -> list[Figure]:
    what = f"{MOST:,} events, from the start of the program until the last one is on the terminal"
    environment = clean_environment(home)
    with _served(environment) as base_url:
        more = {"RUNWATCH_BASE_URL": base_url, "RUNWATCH_API_KEY": KEY}
        command = [sys.executable, "-m", "runwatch", "--open", f"runs/{run_id(MOST)}"]
        ours = _seconds_to_show(command, {**environment, **more}, _last(MOST))
    lnav, toolong = find_peer("lnav"), find_peer("tl")
    # The line is longer than the terminal is wide, so only its beginning shows.
    last, log = _event_id(MOST - 1), str(home / LOG)
    others = []
    if toolong is not None:
        taken = _seconds_to_show([toolong, log], environment, last)
        others = [Figure(f"toolong with the same {MOST:,} lines", f"{taken:.2f} s")]
    if lnav is None:
        return [Figure(f"{what}; lnav was not there to compare with", f"{ours:.2f} s"), *others]
    theirs = _seconds_to_show([lnav, log], environment, last)
    ratio = ours / theirs
    target = f"≤ {TARGET_AGAINST_LNAV:g} × lnav"
    return [
        Figure(f"lnav with the same {MOST:,} events as lines of a file", f"{theirs:.2f} s", "1.00"),
        Figure(what, f"{ours:.2f} s", f"{ratio:.2f}", target, ratio <= TARGET_AGAINST_LNAV),
        *others,
        *_search_against_lnav([lnav, log], environment, search),
    ]  # fmt: skip


def _search_against_lnav(command: Sequence[str], environment: Mapping[str, str], ours: float) -> list[Figure]:
    """Search for a text that only lines have, and have lnav search as many lines of the file."""
    with Terminal(command, env=environment, columns=_SIZE[0], rows=_SIZE[1]) as terminal:
        terminal.wait_until(lambda: _event_id(MOST - 1).encode() in terminal.raw, "the last event", PATIENCE_S)
        # lnav keeps indexing after it shows the last line.
        time.sleep(SETTLE_S)
        start = time.perf_counter()
        terminal.type("/is_correct.:false")
        terminal.press("enter")
        terminal.wait_for(f"{MOST // 4} hits", PATIENCE_S)
        theirs = time.perf_counter() - start
    ratio, target = ours / theirs, f"≤ {TARGET_SEARCH_AGAINST_LNAV:g} × lnav"
    return [
        Figure(f"lnav's search in the same {MOST:,} events, as many hits", f"{theirs:.2f} s", "1.00"),
        Figure("search for what only their lines say", f"{ours:.2f} s", f"{ratio:.2f}", target,
               ratio <= TARGET_SEARCH_AGAINST_LNAV),
    ]  # fmt: skip


def _seconds_to_show(command: Sequence[str], environment: Mapping[str, str], sign: str) -> float:
    """Return the seconds from the start of a program until it has written a text to its terminal."""
    start = time.perf_counter()
    with Terminal(command, env=environment, columns=_SIZE[0], rows=_SIZE[1]) as terminal:
        terminal.wait_until(lambda: sign.encode() in terminal.raw, "the last event", PATIENCE_S)
        return time.perf_counter() - start


@contextlib.contextmanager
def _served(environment: Mapping[str, str]) -> Iterator[str]:
    with subprocess.Popen(
        [sys.executable, "-c", _SERVE], stdout=subprocess.PIPE, text=True, env=environment
    ) as serving:
        try:
            assert serving.stdout is not None
            yield serving.stdout.readline().strip()
        finally:
            serving.terminate()
