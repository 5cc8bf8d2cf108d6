"""Runs submitted to the local service, sixteen at once: how many a second, how long each takes, and why.

Test runs and live runs go to a service in a process of its own, over its real disk. The model server that live runs
call answers at once, in a process of its own too. What the time goes to is told by another service under a profiler,
which is measured for nothing else.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from runwatch.base.json import encode_body
from runwatch.records.states import LIVE_STATES
from tests.performance.measure import Figure
from tests.performance.profiled_service import ProfiledService
from tests.support.builders import request_body
from tests.support.cli import Cli
from tests.support.reading import Connection, connected
from tests.support.service import ServiceProcess

AT_ONCE: Final = 16
TEST_RUNS: Final = 600
LIVE_RUNS: Final = 300
PROFILED_RUNS: Final = 200

LOOK_S: Final = 0.05
"""How often somebody looks whether a run is left that is not final."""

PATIENCE_S: Final = 180.0
TARGET_SUBMITS, TARGET_LIVE = 350.0, 300.0
TARGET_P99_S: Final = 0.060

_SUBMITS_NOTE: Final = (
    "Test runs submitted a second: runs that were submitted before are driven meanwhile, all on one core: SQLite"
    " has one writer and Python runs one thread at a time, so a second core does not help. The parts are in the row"
    " of where the time goes. Writes share commits; statements go to SQLite's driver as they were compiled once,"
    " which took a quarter off the processor time of a run."
)
_LIVE_NOTE: Final = (
    "Live runs a second: a run is about 90 statements, because a kill at any moment must leave a receipt that"
    " names every call; the start of a call is on the disk before the call goes out, and its outcome before anything"
    " follows from it. All of it is on one core. Statements that go to SQLite's driver as they were compiled once took"
    " two fifths off, steps without a call between them in one transaction a tenth. Calls of plain http with h11 alone"
    " instead of httpx took another sixth off, and were not worth a second HTTP client. The outcome of a call and what"
    " follows from it in one transaction would save one more a run, but an error in what follows would then lose the"
    " outcome. The parts are in the row of where the time goes."
)

_MODEL_SERVER: Final = """
import asyncio
from tests.support.model_server import ModelServer
async def main():
    async with ModelServer() as server:
        print(server.base_url, flush=True)
        await asyncio.Event().wait()
asyncio.run(main())
"""


@dataclass(frozen=True, slots=True)
class Submitted:
    """How many runs were taken; times in seconds.

    Attributes:
        count: How many.
        taken: What each submit took, from its first byte to its acknowledgement.
        accepted: Until all were acknowledged.
        final: Until all had their receipts.
    """

    count: int
    taken: list[float]
    accepted: float
    final: float


def figures() -> list[Figure]:
    """Measure and judge."""
    with tempfile.TemporaryDirectory() as directory, _model_server() as model:
        home = Path(directory)
        with ServiceProcess(home / "service") as service:
            tests = asyncio.run(_submit(service, request_body(), TEST_RUNS))
            live = asyncio.run(_submit(service, _live_body(home, service, model), LIVE_RUNS))
        parts = []
        for name in ("test", "live"):
            with ProfiledService(home / name) as profiled:
                body = request_body() if name == "test" else _live_body(home, profiled, model)
                profiled.begin()
                asyncio.run(_submit(profiled, body, PROFILED_RUNS))
                parts.append(profiled.shares())
    return [*_of_test_runs(tests, parts[0]), *_of_live_runs(live, parts[1])]


def _of_test_runs(made: Submitted, parts: Mapping[str, float]) -> list[Figure]:
    a_second = made.count / made.accepted
    p99 = statistics.quantiles(made.taken, n=100, method="inclusive")[98]
    return [
        Figure(f"test runs submitted and acknowledged a second, each on the disk, {AT_ONCE} at once", f"{a_second:.0f}",
               "", f"≥ {TARGET_SUBMITS:.0f}", a_second >= TARGET_SUBMITS, _SUBMITS_NOTE),
        Figure("… p99 of a submit", f"{p99 * 1000:.0f} ms", "", f"≤ {TARGET_P99_S * 1000:.0f} ms",
               p99 <= TARGET_P99_S, _SUBMITS_NOTE),
        Figure("… until the last has its receipt, runs a second", f"{made.count / made.final:.0f}"),
        Figure("… where the time of the service goes", _shares_text(parts)),
    ]  # fmt: skip


def _of_live_runs(made: Submitted, parts: Mapping[str, float]) -> list[Figure]:
    a_second = made.count / made.final
    return [
        Figure("live runs brought to their receipt a second, model server at 0 ms", f"{a_second:.0f}", "",
               f"≥ {TARGET_LIVE:.0f}", a_second >= TARGET_LIVE, _LIVE_NOTE),
        Figure("… where the time of the service goes", _shares_text(parts)),
    ]  # fmt: skip


def _shares_text(parts: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {share:.0%}" for name, share in parts.items())


def _live_body(home: Path, service: ServiceProcess, model: str) -> dict[str, Any]:
    """A live run of the model server's model, once that is saved."""
    cli = Cli(home, base_url=service.base_url, api_key=service.api_key)
    done = cli("sources", "connect", "--openai-compatible", model, "--json", code=0)
    (arm,) = done.json["arms"]
    return request_body("live", routing={"required_arm_id": arm["arm_id"]})


async def _submit(service: ServiceProcess, content: dict[str, Any], count: int) -> Submitted:
    body, keys, taken = encode_body(content), [str(uuid.uuid4()) for _ in range(count)], list[float]()

    async def submit() -> None:
        async with connected(service.base_url, service.api_key) as caller:
            while keys:
                key, start = keys.pop(), time.perf_counter()
                await caller.post("/v1/executions", body, key)
                taken.append(time.perf_counter() - start)

    start = time.perf_counter()
    async with asyncio.timeout(PATIENCE_S):
        await asyncio.gather(*(submit() for _ in range(AT_ONCE)))
        accepted = time.perf_counter() - start
        async with connected(service.base_url, service.api_key) as caller:
            while any([await _has(caller, state) for state in LIVE_STATES]):
                await asyncio.sleep(LOOK_S)
            final = time.perf_counter() - start
            receipts = await caller.count("/v1/receipts", b'"execution_id":')
    assert receipts >= count, "a run has no receipt"
    return Submitted(count, taken, accepted, final)


async def _has(caller: Connection, state: str) -> bool:
    return bool(json.loads(await caller.get(f"/v1/executions?limit=1&status={state}"))["executions"])


@contextlib.contextmanager
def _model_server() -> Iterator[str]:
    with subprocess.Popen([sys.executable, "-c", _MODEL_SERVER], stdout=subprocess.PIPE, text=True) as serving:
        try:
            assert serving.stdout is not None
            yield serving.stdout.readline().strip()
        finally:
            serving.terminate()
