"""The local service over its real network and disk: reads against bare Starlette, and many runs at once.

Each service is a separate process. They answer the same client in turns: raw asyncio streams over connections that stay
open. The client takes a small part of the time, the same for both.
"""

from __future__ import annotations

import asyncio
import contextlib
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from runwatch.api.client import Client
from tests.performance.measure import Figure
from tests.support.crowd import Crowd, crowd
from tests.support.reading import seconds_of_reads
from tests.support.service import ServiceProcess

RUNS: Final = 500
CROWDS: Final = 2
"""How often the runs are submitted; each time every run must have its receipt, or there are no figures."""

READS_S: Final = 0.4
"""Seconds that one side is read before the other's turn."""

TURNS: Final = 4
AT_ONCE: Final = 8
TARGET_READ: Final = 5.0
TARGET_PAGES: Final = 0.7

_PAGES_NOTE: Final = (
    "Pages of 50 runs: bare Starlette sends rows as they are; the service builds each run's links, spend and"
    " slices, checks key, limit and query, and signs the cursor."
)

EVENTS: Final = 7
"""How many events a whole test run has."""


@dataclass(frozen=True, slots=True)
class Reads:
    """Reads of one service: how long each took, in seconds, and how many were answered a second."""

    taken: Sequence[float]
    a_second: float

    @property
    def p50(self) -> float:
        """The median, in seconds."""
        return statistics.median(self.taken)

    @property
    def p99(self) -> float:
        """The 99th percentile, in seconds."""
        return statistics.quantiles(self.taken, n=100, method="inclusive")[98]


def figures() -> list[Figure]:
    """Measure and judge."""
    with tempfile.TemporaryDirectory() as directory, ServiceProcess(Path(directory) / "service") as service:
        crowds = [asyncio.run(_crowd(service)) for _ in range(CROWDS)]
        with _bare(service.data_dir / "service.db") as bare_url:
            reads = asyncio.run(_against_bare(service, bare_url, crowds[-1].runs[0].id))
    return [*reads, *_at_once(crowds)]


# Reads against bare Starlette.


@contextlib.contextmanager
def _bare(database: Path) -> Iterator[str]:
    """Run bare Starlette on the service's database while the block runs."""
    command = [sys.executable, "-m", "tests.performance.bare_service", str(database)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as serving:
        try:
            assert serving.stdout is not None
            yield serving.stdout.readline().strip()
        finally:
            serving.terminate()


async def _against_bare(service: ServiceProcess, bare_url: str, run_id: str) -> list[Figure]:
    paths = {"one run by its id": f"/v1/executions/{run_id}", "a page of 50 runs": "/v1/executions?limit=50"}
    table = []
    for what, path in paths.items():
        for at_once in (1, AT_ONCE):
            sides: tuple[list[float], list[float]] = ([], [])
            for _ in range(TURNS):
                for base_url, side in ((bare_url, sides[0]), (service.base_url, sides[1])):
                    side += await seconds_of_reads(base_url, service.api_key, path, at_once=at_once, seconds=READS_S)
            bare, ours = (Reads(side, len(side) / (TURNS * READS_S)) for side in sides)
            is_judged = "page" in what and at_once == AT_ONCE
            table += _compared(f"{what}, {at_once} at once", bare, ours, pages=TARGET_PAGES if is_judged else 0.0)
    return table


def _compared(what: str, bare: Reads, ours: Reads, *, pages: float) -> list[Figure]:
    ratio, speed = ours.p99 / bare.p99, ours.a_second / bare.a_second
    target = f"≥ {pages:g} × bare Starlette" if pages else ""
    return [
        Figure(f"{what}, p99, bare Starlette", f"{bare.p99 * 1000:.1f} ms", "1.00"),
        Figure(f"{what}, p99, the local service", f"{ours.p99 * 1000:.1f} ms", f"{ratio:.2f}",
               f"≤ {TARGET_READ:g} × bare Starlette", ratio <= TARGET_READ),
        Figure("… p50", f"{ours.p50 * 1000:.1f} ms", f"{ours.p50 / bare.p50:.2f}"),
        Figure("… reads a second", f"{ours.a_second:,.0f}", f"{speed:.2f}", target,
               speed >= pages if pages else None, _PAGES_NOTE),
    ]  # fmt: skip


# Many runs submitted at once.


async def _crowd(service: ServiceProcess) -> Crowd:
    """Submit many runs at once, and wait until each has a receipt."""
    async with Client(service.target) as client:
        made = await crowd(client, RUNS)
        receipts = {receipt.id async for page in client.pages("getReceipts") for receipt in page.records}
        assert {run.id for run in made.runs} <= receipts
        return made


def _at_once(crowds: Sequence[Crowd]) -> list[Figure]:
    accepted = statistics.median(made.accepted_s for made in crowds)
    final = statistics.median(made.final_s for made in crowds)
    return [
        Figure(f"{RUNS} test runs at once, all acknowledged", f"{accepted:.2f} s"),
        Figure("… submits a second, each on the disk before its answer", f"{RUNS / accepted:.0f}"),
        Figure("… all final with receipts", f"{final:.2f} s", target="all", holds=True),
        Figure("… runs brought to their receipt a second", f"{RUNS / final:.0f}"),
        Figure("… events appended a second, each on the disk before it shows", f"{RUNS * EVENTS / final:.0f}"),
    ]
