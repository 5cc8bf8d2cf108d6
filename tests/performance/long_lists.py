"""Long lists of the local service: what one costs in memory, and how long other callers wait meanwhile.

While one caller takes the list, another reads a single run again and again, as every console does. The service reports
the longest callback of its event loop meanwhile.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Final

from runwatch.api.client import Client
from tests.performance.measure import Figure
from tests.performance.timed_service import TimedService
from tests.support.crowd import crowd
from tests.support.long_past import make_past
from tests.support.process_use import use_of
from tests.support.reading import Connection, connected, seconds_of_reads

RUNS, RECEIPTS, EVENTS = 100_000, 50_000, 50_000
PAGE: Final = 100

REST_S: Final = 1.0
"""Seconds that the single run is read while there are no other requests."""

LIST_S: Final = 2.0
"""The fewest seconds for which a list is taken again and again."""

TARGET_READ_S, TARGET_HELD_S = 0.050, 0.050
TARGET_MEMORY: Final = 32_000_000
TARGET_FAR: Final = 1.5


@dataclass(slots=True)
class Beside:
    """What happened while a list was made.

    Attributes:
        reads: How long each read of the single run took, in seconds.
        memory: By how many bytes the service's memory grew at the most.
        held: The longest callback of its event loop, in seconds.
    """

    reads: list[float] = field(default_factory=list)
    memory: int = 0
    held: float = 0.0

    @property
    def p99(self) -> float:
        """The 99th percentile of the reads, in seconds."""
        return statistics.quantiles(self.reads, n=100, method="inclusive")[98]


def figures() -> list[Figure]:
    """Measure and judge."""
    with tempfile.TemporaryDirectory() as directory, TimedService(Path(directory) / "service") as service:
        asyncio.run(_one_run(service))
        service.stop()
        run_id = make_past(service.data_dir / "service.db", runs=RUNS, receipts=RECEIPTS, events=EVENTS)
        service.start()
        return asyncio.run(_measure(service, run_id))


async def _one_run(service: TimedService) -> None:
    async with Client(service.target) as client:
        await crowd(client, 1)


async def _measure(service: TimedService, run_id: str) -> list[Figure]:
    path = f"/v1/executions/{run_id}"
    # From here on all database readers are open.
    await seconds_of_reads(service.base_url, service.api_key, path, at_once=8, seconds=REST_S)
    at_rest = await _beside(service, run_id, partial(asyncio.sleep, REST_S))
    table = [Figure("one run by its id, p99, while there are no other requests", f"{at_rest.p99 * 1000:.1f} ms")]
    today = datetime.now(UTC).date()
    week = f"from={today - timedelta(days=6)}&to={today}"
    bodies = {
        f"{RECEIPTS:,} receipts": ("/v1/receipts", b'"execution_id":', RECEIPTS),
        f"{EVENTS:,} events of a run": (f"/v1/executions/{run_id}/events", b'"event_id":', EVENTS),
        f"the usage of {RECEIPTS:,} runs": (f"/v1/usage?{week}", b'"by_day":', 2),
        f"the compliance export of {RECEIPTS:,} receipts": (f"/v1/compliance-export?{week}", b"execution_id", RECEIPTS),
    }
    async with connected(service.base_url, service.api_key) as caller:
        for what, body in bodies.items():
            taken: list[float] = []
            seen = await _beside(service, run_id, partial(_take, caller, taken, *body))
            table += _told(f"{what} in one body", statistics.median(taken), seen)
        pages = _Pages(caller)
        start = time.perf_counter()
        seen = await _beside(service, run_id, pages.follow)
        return [*table, *_told(f"{RUNS:,} runs in pages of {PAGE}", time.perf_counter() - start, seen), pages.figure()]


def _told(what: str, seconds: float, seen: Beside) -> list[Figure]:
    return [
        Figure(f"{what}, made and taken", f"{seconds:.2f} s"),
        Figure("… one run by its id meanwhile, p99", f"{seen.p99 * 1000:.1f} ms", "",
               f"≤ {TARGET_READ_S * 1000:.0f} ms", seen.p99 <= TARGET_READ_S),
        Figure("… longest callback of the event loop meanwhile", f"{seen.held * 1000:.1f} ms", "",
               f"≤ {TARGET_HELD_S * 1000:.0f} ms", seen.held <= TARGET_HELD_S),
        Figure("… memory of the service meanwhile", f"{seen.memory / 1_000_000:+.1f} MB", "",
               f"≤ {TARGET_MEMORY / 1_000_000:.0f} MB", seen.memory <= TARGET_MEMORY),
    ]  # fmt: skip


async def _take(caller: Connection, taken: list[float], path: str, sign: bytes, least: int) -> None:
    while sum(taken) < LIST_S:
        start = time.perf_counter()
        assert await caller.count(path, sign) >= least, f"{path} is not whole"
        taken.append(time.perf_counter() - start)


async def _beside(service: TimedService, run_id: str, work: Callable[[], Awaitable[object]]) -> Beside:
    """Read a single run again and again during some work, and watch the service's memory."""
    seen = Beside()
    before = use_of(service.pid, 0).memory
    await asyncio.to_thread(service.longest_callback)

    async def look() -> None:
        async with connected(service.base_url, service.api_key) as connection:
            while True:
                start = time.perf_counter()
                await connection.get(f"/v1/executions/{run_id}")
                seen.reads.append(time.perf_counter() - start)
                seen.memory = max(seen.memory, use_of(service.pid, 0).memory - before)

    looking = asyncio.ensure_future(look())
    try:
        await work()
    finally:
        looking.cancel()
        await asyncio.gather(looking, return_exceptions=True)
    seen.held = await asyncio.to_thread(service.longest_callback)
    return seen


class _Pages:
    """Follows the list of runs from its first page to its last."""

    def __init__(self, caller: Connection) -> None:
        self._caller = caller
        self._taken: list[float] = []

    async def follow(self) -> None:
        """Read all pages, and check that every run is there once."""
        cursor: str | None = ""
        seen: set[str] = set()
        while cursor is not None:
            start = time.perf_counter()
            page = json.loads(await self._caller.get(f"/v1/executions?limit={PAGE}&cursor={cursor}"))
            self._taken.append(time.perf_counter() - start)
            found = {run["execution_id"] for run in page["executions"]}
            assert not found & seen, "a run is on two pages"
            seen |= found
            cursor = page["next_cursor"]
        assert len(seen) >= RUNS, "a run is on no page"

    def figure(self) -> Figure:
        """Return how long the last pages took, compared with the first."""
        some = len(self._taken) // 10
        first, last = statistics.median(self._taken[:some]), statistics.median(self._taken[-some:])
        ratio = last / first
        return Figure("… one of the last pages", f"{last * 1000:.1f} ms", f"{ratio:.2f}",
                      f"≤ {TARGET_FAR:g} × one of the first", ratio <= TARGET_FAR)  # fmt: skip
