"""Requests with a key while a caller without one tries to stop the service.

The service has one core; the attacker and the caller with a key share the other (on Linux with two cores, else none is
bound). The requests with a key are reads, on open and on new connections, over TCP and over the Unix socket.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.performance.measure import Figure
from tests.support.flooding import ATTACKS, attacking
from tests.support.process_use import use_of
from tests.support.reading import connected, connected_locally
from tests.support.service import ServiceProcess

SECONDS: Final = 8.0
LEAD_S: Final = 2.0
"""How long an attack goes on before requests with a key are timed."""

PAUSE_S: Final = 0.01
PATH: Final = "/v1/executions?limit=20"
LATE_S: Final = 30.0
"""A request with a key that takes longer counts as this long."""

TARGET_P99_S: Final = 0.25
TARGET_MEMORY: Final = 128 * 1024 * 1024
TARGET_DESCRIPTORS: Final = 2_560
TARGET_LOG_BYTES: Final = 5_000_000


@dataclass(frozen=True, slots=True)
class Load:
    """How fast a service answered under one attack.

    Attributes:
        kept: Seconds of each read over a connection that was open before.
        fresh: Seconds of each read over a new connection.
        local: Seconds of each read over a new connection to the Unix socket, as commands make it.
        memory: The most resident memory, in bytes.
        descriptors: The most open descriptors.
        log_bytes: By how much the data directory's logs and standard error grew.
    """

    kept: list[float]
    fresh: list[float]
    local: list[float]
    memory: int
    descriptors: int
    log_bytes: int


def figures() -> list[Figure]:
    """Measure each attack on a service of its own."""
    table: list[Figure] = []
    for name in ATTACKS:
        load = measure(name)
        p99, fresh, local = _p99(load.kept), _p99(load.fresh), _p99(load.local)
        table += [
            Figure(f"keyed reads under {name}, p99", f"{p99 * 1000:.0f} ms", "", f"≤ {TARGET_P99_S * 1000:.0f} ms",
                   p99 <= TARGET_P99_S),
            Figure("… on a new connection each, p99", f"{fresh * 1000:.0f} ms", "", f"≤ {TARGET_P99_S * 1000:.0f} ms",
                   fresh <= TARGET_P99_S),
            Figure("… on a new connection to the Unix socket each, p99", f"{local * 1000:.0f} ms", "",
                   f"≤ {TARGET_P99_S * 1000:.0f} ms", local <= TARGET_P99_S),
            Figure("… memory of the service at most", f"{load.memory / 1e6:.0f} MB", "",
                   f"≤ {TARGET_MEMORY / 1e6:.0f} MB", load.memory <= TARGET_MEMORY),
            Figure("… descriptors at most", f"{load.descriptors}", "", f"≤ {TARGET_DESCRIPTORS}",
                   load.descriptors <= TARGET_DESCRIPTORS),
            Figure("… logs grew by", f"{load.log_bytes / 1e6:.2f} MB", "", f"≤ {TARGET_LOG_BYTES / 1e6:.0f} MB",
                   load.log_bytes <= TARGET_LOG_BYTES),
        ]  # fmt: skip
    return table


def measure(name: str, seconds: float = SECONDS) -> Load:
    """Return how fast a new service answers under one attack."""
    cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    with tempfile.TemporaryDirectory() as directory, ServiceProcess(Path(directory) / "service") as service:
        other = None
        if len(cores) > 1:
            other = cores[1]
            for thread in Path(f"/proc/{service.pid}/task").iterdir():
                os.sched_setaffinity(int(thread.name), {cores[0]})
        before = _log_bytes(service)
        with attacking(name, "127.0.0.1", service.port, core=other):
            return asyncio.run(_measure(service, before, seconds))


async def _measure(service: ServiceProcess, before: int, seconds: float) -> Load:
    async with contextlib.AsyncExitStack() as stack:
        connection = await stack.enter_async_context(connected(service.base_url, service.api_key))
        # A connection that has never shown its key is the first to be closed.
        await connection.get(PATH)
        await asyncio.sleep(LEAD_S)
        until = time.monotonic() + seconds
        kept: list[float] = []
        socket = Path(str(service.line["socket"]))
        fresh: list[float] = []
        local: list[float] = []
        uses = [use_of(service.pid, 0.0)]

        async def look() -> None:
            while time.monotonic() < until:
                uses.append(use_of(service.pid, 0.0))
                await asyncio.sleep(0.2)

        async def read_kept() -> None:
            while time.monotonic() < until:
                start = time.perf_counter()
                try:
                    async with asyncio.timeout(LATE_S):
                        await connection.get(PATH)
                except (OSError, AssertionError, TimeoutError):
                    kept.append(LATE_S)
                    return
                kept.append(time.perf_counter() - start)
                await asyncio.sleep(PAUSE_S)

        async def read_fresh() -> None:
            while time.monotonic() < until:
                start = time.perf_counter()
                try:
                    async with asyncio.timeout(LATE_S), connected(service.base_url, service.api_key) as one:
                        await one.get(PATH)
                except (OSError, AssertionError, TimeoutError):
                    fresh.append(LATE_S)
                    continue
                fresh.append(time.perf_counter() - start)
                await asyncio.sleep(PAUSE_S)

        async def read_local() -> None:
            while time.monotonic() < until:
                start = time.perf_counter()
                try:
                    async with asyncio.timeout(LATE_S), connected_locally(socket, service.api_key) as one:
                        await one.get(PATH)
                except (OSError, AssertionError, TimeoutError):
                    local.append(LATE_S)
                    continue
                local.append(time.perf_counter() - start)
                await asyncio.sleep(PAUSE_S)

        await asyncio.gather(look(), read_kept(), read_fresh(), read_local())
    return Load(
        kept, fresh, local, max(use.memory for use in uses), max(use.descriptors for use in uses),
        _log_bytes(service) - before,
    )  # fmt: skip


def _p99(taken: list[float]) -> float:
    return statistics.quantiles(taken, n=100, method="inclusive")[98] if len(taken) > 1 else max(taken, default=LATE_S)


def _log_bytes(service: ServiceProcess) -> int:
    return len(service.errors) + sum(file.stat().st_size for file in (service.data_dir / "log").iterdir())


if __name__ == "__main__":
    for attack in sys.argv[1:] or ATTACKS:
        load = measure(attack)
        print(
            f"{attack:18} n={len(load.kept)},{len(load.fresh)} kept p50 {statistics.median(load.kept) * 1000:.0f}"
            f" p99 {_p99(load.kept) * 1000:.0f} ms, fresh p50 {statistics.median(load.fresh) * 1000:.0f}"
            f" p99 {_p99(load.fresh) * 1000:.0f} ms, local p50 {statistics.median(load.local) * 1000:.0f}"
            f" p99 {_p99(load.local) * 1000:.0f} ms, {load.memory / 1e6:.0f} MB, {load.descriptors} fds,"
            f" logs {load.log_bytes / 1e6:.2f} MB",
            flush=True,
        )
