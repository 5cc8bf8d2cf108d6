"""The console and the real service for a long time, with one fault a second between them.

``python -m tests.performance soak`` takes a minute, or an hour with ``RUNWATCH_LONG=1``; ``RUNWATCH_SOAK_S`` sets other
seconds. Runs begin and end all the time, the console follows them, and a key is pressed now and then. The faults end
before the run does. Then the console must have as much memory and as many files open as before, and every event of the
service once.
"""

from __future__ import annotations

import asyncio
import os
import random
import statistics
import tempfile
import threading
import time
import uuid
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from runwatch.api.client import Client
from runwatch.base.json import encode_body
from tests.performance.measure import Figure
from tests.support.builders import request_body
from tests.support.client_calls import submit_run
from tests.support.console import console
from tests.support.fault_mix import BAD_ANSWERS, HEAVY_ANSWERS, LONG, LOST_ANSWERS, SLOW_ANSWERS, draw
from tests.support.fault_steps import too_many
from tests.support.faults import PeerHandle, match, running_peer
from tests.support.kept_events import kept_events
from tests.support.process_use import Use, growth_per_hour, use_of
from tests.support.service import ServiceProcess
from tests.support.terminal import Terminal
from tests.support.threads import LoopThread

SECONDS: Final = float(os.environ.get("RUNWATCH_SOAK_S") or (3600 if LONG else 60))
SEED: Final = 5
EVERY_S: Final = 1.0
"""Seconds from one fault to the next."""

HEAVY_EVERY: Final = 15
LIMITED_EVERY: Final = 90
"""One of this many faults is heavy, so that each third of a minute has one, or a 429, after which the console sends
nothing for a while."""

PRESS_EVERY_S: Final = 3.0
SUBMIT_EVERY_S: Final = 2.0
RUNS_FIRST: Final = 20
CALM_S: Final = 60.0
"""Seconds that the console may take at the end until it shows that all is well again."""

TARGET_KEY_S: Final = 1.0
TARGET_GROWTH: Final = 20_000_000
"""By how many bytes of memory the median of the last third may exceed that of the middle one."""

LEAST_FOR_SLOPE_S: Final = 600.0
ANY: Final = match()
HELP_SIGN: Final = "Help"


@dataclass
class Soak:
    """The results.

    Attributes:
        seconds: How long it took.
        faults: How many faults there were, by kind.
        keys: Seconds from each key until the screen showed its effect.
        console: Memory and descriptors of the console, each second.
        service: The same of the service.
        runs: How many runs the console has stored events of.
        events: How many events it has stored.
        wrong: Ids of runs whose stored events are not exactly the service's first ones, in its order.
        exit_code: The console's exit status.
    """

    seconds: float = 0.0
    faults: dict[str, int] = field(default_factory=dict)
    keys: list[float] = field(default_factory=list)
    console: list[Use] = field(default_factory=list)
    service: list[Use] = field(default_factory=list)
    runs: int = 0
    events: int = 0
    wrong: list[str] = field(default_factory=list)
    exit_code: int | None = None

    @property
    def growth(self) -> float:
        """By how many bytes the console's memory grew from the middle third to the last, by medians."""
        return _later(self.console, lambda use: use.memory)

    @property
    def more_descriptors(self) -> float:
        """How many more files the console had open in the last third than in the middle one, by medians."""
        return _later(self.console, lambda use: use.descriptors)

    @property
    def service_growth(self) -> float:
        """The same as :attr:`growth`, of the service."""
        return _later(self.service, lambda use: use.memory)

    @property
    def service_more_descriptors(self) -> float:
        """The same as :attr:`more_descriptors`, of the service."""
        return _later(self.service, lambda use: use.descriptors)


def _later(uses: list[Use], of: Callable[[Use], int]) -> float:
    """Return the median of the last third minus that of the middle one; the first third is for warming up."""
    third = len(uses) // 3
    return statistics.median(map(of, uses[-third:])) - statistics.median(map(of, uses[third : 2 * third]))


def soak(home: Path, seconds: float, *, seed: int = SEED) -> Soak:
    """Run the console through faults for this many seconds."""
    made, chance = Soak(), random.Random(seed)
    with ServiceProcess(home / "service") as service, running_peer(service.base_url) as peer, _workers() as workers:
        over = threading.Event()
        submitting = workers.call(_start(_submit(service, over)))
        (home / "console").mkdir()
        with console(home / "console", base_url=peer.base_url, key=service.api_key) as terminal:
            terminal.wait_for("● live")
            terminal.type("1", until="completed")
            faulting = workers.call(_start(_fault(peer, chance, made, over)))
            _watch(terminal, service, seconds, made)
            over.set()
            workers.call(_end_of(faulting))
            workers.call(_end_of(submitting))
            # A list whose response was over the limit is read again for the user alone.
            terminal.press("r")
            terminal.wait_for("● live", CALM_S)
            terminal.type("qq")
            made.exit_code = terminal.wait_exit()
        asyncio.run(_compare(home / "console", service, made))
    return made


def _watch(terminal: Terminal, service: ServiceProcess, seconds: float, made: Soak) -> None:
    """Press a key now and then and note the memory and descriptors of both processes, for this many seconds."""
    start = time.monotonic()
    next_press = 0.0
    while (at := time.monotonic() - start) < seconds:
        made.console.append(use_of(terminal.process.pid, at))
        made.service.append(use_of(service.pid, at))
        if at >= next_press:
            next_press = at + PRESS_EVERY_S
            made.keys.append(_help_answers(terminal))
        # The screen is read all the while, as a terminal does.
        _read_on(terminal, min(EVERY_S, seconds - (time.monotonic() - start)))
    made.seconds = time.monotonic() - start


def _help_answers(terminal: Terminal) -> float:
    """Open and close the help, and return the longer of both times in seconds."""
    taken = []
    for key, answer in (("?", terminal.wait_for), ("esc", terminal.wait_gone)):
        start = time.perf_counter()
        terminal.press(key)
        answer(HELP_SIGN)
        taken.append(time.perf_counter() - start)
    # The newest run, which is followed from now on.
    terminal.press("home")
    return max(taken)


def _read_on(terminal: Terminal, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    terminal.wait_until(lambda: time.monotonic() >= deadline, "the next moment", seconds + 60.0, poll=True)
    # Ignore what was drawn before.
    del terminal.raw[:]


@contextmanager
def _workers() -> Iterator[LoopThread]:
    thread = LoopThread()
    try:
        yield thread
    finally:
        thread.close()


async def _start(work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
    return asyncio.create_task(work)


async def _end_of(task: asyncio.Task[None]) -> None:
    await task


async def _submit(service: ServiceProcess, over: threading.Event) -> None:
    """Submit runs over another connection: some at first, then one after another."""
    body = encode_body(request_body())
    async with Client(service.target) as client:
        for _ in range(RUNS_FIRST):
            await submit_run(client, body, key=str(uuid.uuid4()))
        while not over.is_set():
            await asyncio.sleep(SUBMIT_EVERY_S)
            await submit_run(client, body, key=str(uuid.uuid4()))


async def _fault(handle: PeerHandle, chance: random.Random, made: Soak, over: threading.Event) -> None:
    """Make one fault a second: on the next request, or on all connections if earlier faults are still waiting."""
    number = 0
    while not over.is_set():
        await asyncio.sleep(EVERY_S)
        number += 1
        if number % LIMITED_EVERY and (handle.unspent or number % 7 == 0):
            name = "refused"
            await asyncio.to_thread(_refuse, handle, chance.uniform(0.05, 0.9))
        else:
            hands = (HEAVY_ANSWERS,) if number % HEAVY_EVERY == 0 else (LOST_ANSWERS, BAD_ANSWERS, SLOW_ANSWERS)
            step = too_many(2) if number % LIMITED_EVERY == 0 else draw(chance, *hands)
            name = type(step).__name__
            handle.plan(ANY, step)
        made.faults[name] = made.faults.get(name, 0) + 1


def _refuse(handle: PeerHandle, seconds: float) -> None:
    handle.refuse()
    time.sleep(seconds)
    handle.listen()


async def _compare(home: Path, service: ServiceProcess, made: Soak) -> None:
    """Compare the stored events of every run with the service's."""
    (path,) = home.rglob("console.db")
    kept = await kept_events(path)
    async with Client(service.target) as client:
        for run_id, ids in kept.items():
            recorded = [event.id for event in (await client.list_events(run_id)).records]
            if recorded[: len(ids)] != ids:
                made.wrong.append(run_id)
    made.runs, made.events = len(kept), sum(map(len, kept.values()))


def figures() -> list[Figure]:
    """Soak, and judge."""
    with tempfile.TemporaryDirectory() as directory:
        made = soak(Path(directory), SECONDS)
    slowest, p95 = max(made.keys), statistics.quantiles(made.keys, n=20, method="inclusive")[18]
    count = sum(made.faults.values())
    megabyte = 1_000_000
    warm = made.console[len(made.console) // 3 :]
    # The slope of a short time says nothing about an hour.
    slope = f"{growth_per_hour(warm) / megabyte:+.1f} MB/h" if made.seconds >= LEAST_FOR_SLOPE_S else ""
    return [
        Figure(f"soak of {made.seconds / 60:.1f} min with {count} faults: {', '.join(_told(made))}", "survived", "",
               "exit status 0", made.exit_code == 0),
        Figure("… a key until the screen answers, p95", f"{p95 * 1000:.0f} ms", "",
               f"≤ {TARGET_KEY_S:g} s", p95 <= TARGET_KEY_S),
        Figure("… the slowest", f"{slowest * 1000:.0f} ms"),
        Figure("… memory of the console, last third against the middle one", f"{made.growth / megabyte:+.1f} MB",
               slope, f"≤ {TARGET_GROWTH / megabyte:g} MB",
               made.growth <= TARGET_GROWTH),
        Figure("… memory of the service", f"{made.service_growth / megabyte:+.1f} MB", "",
               f"≤ {TARGET_GROWTH / megabyte:g} MB", made.service_growth <= TARGET_GROWTH),
        Figure("… open files of the console", f"{made.more_descriptors:+.0f}", "", "≤ 2", made.more_descriptors <= 2),
        Figure("… open files of the service", f"{made.service_more_descriptors:+.0f}", "", "≤ 2",
               made.service_more_descriptors <= 2),
        Figure(f"… {made.events} events of {made.runs} runs: runs with one lost, doubled or out of order",
               f"{len(made.wrong)}", "", "0", not made.wrong),
    ]  # fmt: skip


def _told(made: Soak) -> list[str]:
    return [f"{count} {name}" for name, count in sorted(made.faults.items())]
