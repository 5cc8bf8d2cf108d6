"""Fifty live runs followed at once, a thousand events a second in all.

It takes five minutes unless ``RUNWATCH_FOLLOW_S`` sets other seconds. The generator is another process. The console is
the whole program on a terminal whose every byte is read, and its event loop is timed. At the end its database is
compared with what the generator made.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Final

from tests.performance.measure import Figure
from tests.performance.observed import Observed, observed_console
from tests.support.generator import RunGenerator
from tests.support.kept_events import kept_events
from tests.support.process_use import Use, cpu_seconds, use_of
from tests.support.terminal import Terminal

SECONDS: Final = float(os.environ.get("RUNWATCH_FOLLOW_S") or 300)
RUNS: Final = 50
RATE: Final = 1000.0
NO_LIMIT_RPM: Final = 1_000_000

WARM_S: Final = 5.0
"""Seconds from the first event until measuring begins, and from its end until the last event."""

CALM_S: Final = 120.0
"""How long the console may take for the last events."""

TARGET_CALLBACK_S: Final = 0.050
TARGET_GROWTH: Final = 5_000_000
"""By how many bytes the median of the last third may exceed that of the middle one; flat memory varies by more."""

_ALL_ENDED: Final = re.compile(rf"Tail of {RUNS} runs . 0 live")


@dataclass
class Following:
    """The results.

    Attributes:
        seconds: How long was measured.
        loop: The times of the console's event loop.
        cpu: How much of a core the console used.
        uses: Memory and descriptors of the console, each second.
        wire_bytes: Bytes the console wrote to the terminal in that time.
        lost: Events that the generator made and the database lacks.
        doubled: Events that the database has more than once, or that the generator did not make.
        misplaced: Events stored before one of the same run that the generator made earlier.
        total: Events that the generator made.
    """

    seconds: float
    loop: Observed
    cpu: float
    uses: list[Use] = field(default_factory=list)
    wire_bytes: int = 0
    lost: int = 0
    doubled: int = 0
    misplaced: int = 0
    total: int = 0

    @property
    def growth(self) -> float:
        """By how many bytes of memory the median of the last third exceeds that of the middle one."""
        third = len(self.uses) // 3
        middle, last = self.uses[third : 2 * third], self.uses[-third:]
        return statistics.median(use.memory for use in last) - statistics.median(use.memory for use in middle)


@contextmanager
def generated_service(runs: int, rate: float, seconds: float) -> Iterator[str]:
    """Run a service with live runs in another process, and yield its address."""
    numbers = {"runs": runs, "rate": rate, "seconds": seconds, "rpm": NO_LIMIT_RPM}
    words = [word for name, value in numbers.items() for word in (f"--{name}", str(value))]
    command = [sys.executable, "-m", "tests.support.generator", *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as serving:
        try:
            assert serving.stdout is not None
            yield str(json.loads(serving.stdout.readline())["base_url"])
        finally:
            serving.terminate()


def follow(home: Path, seconds: float) -> Following:
    """Follow the runs for this many seconds, and then to their end."""
    made_for = seconds + 2 * WARM_S
    with (
        generated_service(RUNS, RATE, made_for) as base_url,
        observed_console(home / "console", base_url, "--open", "tail") as console,
    ):
        terminal = console.terminal
        terminal.wait_for(f"Tail of {RUNS} runs")
        _read_on(terminal, WARM_S)
        pid = terminal.process.pid
        console.begin()
        cpu, start, uses, wire_bytes = cpu_seconds(pid), time.perf_counter(), list[Use](), 0
        while (at := time.perf_counter() - start) < seconds:
            uses.append(use_of(pid, at))
            wire_bytes += _read_on(terminal, min(1.0, seconds - at))
        taken = time.perf_counter() - start
        cpu = (cpu_seconds(pid) - cpu) / taken
        made = Following(taken, console.end(), cpu, uses, wire_bytes)
        terminal.wait_for(_ALL_ENDED, CALM_S)
        assert terminal.ends("q", "q") == 0
    _compare(home / "console", RunGenerator(runs=RUNS, rate=RATE, seconds=made_for), made)
    return made


def _read_on(terminal: Terminal, seconds: float) -> int:
    """Read what is drawn for this long, and return how many bytes that were."""
    deadline = time.monotonic() + seconds
    terminal.wait_until(lambda: time.monotonic() >= deadline, "the next moment", seconds + 60.0, poll=True)
    count = len(terminal.raw)
    del terminal.raw[:]
    return count


def _compare(home: Path, generator: RunGenerator, made: Following) -> None:
    """Compare every stored event with what was made."""
    (path,) = home.rglob("console.db")
    kept = asyncio.run(kept_events(path))
    made.total = generator.total
    rounds = generator.total // len(generator.run_ids)
    for run_id in generator.run_ids:
        numbers = [generator.number_of(event_id) for event_id in kept.pop(run_id, [])]
        known = {number for number in numbers if number is not None and number < rounds}
        made.lost += rounds - len(known)
        made.doubled += len(numbers) - len(known)
        made.misplaced += sum(later <= before for before, later in pairwise(n for n in numbers if n is not None))
    made.doubled += sum(map(len, kept.values()))


def figures() -> list[Figure]:
    """Follow, and judge."""
    with tempfile.TemporaryDirectory() as directory:
        made = follow(Path(directory), SECONDS)
    loop, megabyte = made.loop, 1_000_000
    memory = f"{made.growth / megabyte:+.1f} MB"
    size = f"of {statistics.median(use.memory for use in made.uses) / megabyte:.0f} MB"
    return [
        Figure(f"{RUNS} runs followed for {made.seconds:.0f} s at {RATE:,.0f} events/s in all: longest callback",
               f"{loop.longest * 1000:.0f} ms", "", f"≤ {TARGET_CALLBACK_S * 1000:.0f} ms",
               loop.longest <= TARGET_CALLBACK_S),
        Figure("… lag of the event loop, median and p99",
               f"{loop.lag_p50 * 1000:.1f} ms, {loop.lag_p99 * 1000:.1f} ms"),
        Figure("… the console's processor time", f"{made.cpu:.0%} of a core"),
        Figure("… bytes written to the terminal a second", f"{made.wire_bytes / made.seconds / 1000:.1f} kB"),
        Figure("… memory, last third against the middle one", memory, size, f"≤ {TARGET_GROWTH / megabyte:g} MB",
               made.growth <= TARGET_GROWTH),
        Figure(f"… of {made.total:,} events lost, doubled, out of order",
               f"{made.lost}, {made.doubled}, {made.misplaced}", "", "0",
               not (made.lost or made.doubled or made.misplaced)),
    ]  # fmt: skip
