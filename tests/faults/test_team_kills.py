"""A team service under kill -9: interfaces, workers and sessions of the database die while callers submit live runs.

With ``RUNWATCH_LONG=1`` it is three interfaces, three workers, 24 callers, 5,000 runs and 100 kills, else a short form.
"""

from __future__ import annotations

import asyncio
import os
import random
import signal
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any, Final, cast

import httpx
import pytest

from runwatch.base.clock import SystemClock
from tests.service.conftest import Json, Local
from tests.service.live_work import live_body, only_slice
from tests.service.sourcing import SECRET, model_arm, save
from tests.support import postgres
from tests.support.fault_mix import LONG
from tests.support.http1 import read_body, read_head
from tests.support.model_server import ModelServer
from tests.support.scripted import Heard
from tests.support.service import ServiceProcess

SIZE: Final = 3 if LONG else 2
RUNS: Final = 5_000 if LONG else 60
CALLERS: Final = 24 if LONG else 8
KILLS: Final = 100 if LONG else 4
CAP_USD: Final = 0.1
SEED: Final = 21

ENDED: Final = {"completed", "failed", "cancelled", "expired"}
END_SESSIONS: Final = (
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database()"
    " AND pid <> pg_backend_pid()"
)
CLAIMED: Final = (
    "SELECT lock, fence FROM procrastinate_jobs JOIN run_claims ON execution_id = lock WHERE status = 'doing'"
)
LIVE: Final = "SELECT count(*) FROM runs WHERE status IN ('accepted', 'queued', 'running', 'progress')"
FENCES: Final = "SELECT execution_id, fence FROM run_claims"


class Models(ModelServer):
    """Two models that are slow and fail: each fifth call gets an error, or no answer at all."""

    def __init__(self, chance: random.Random) -> None:
        super().__init__(models=("tiny-1", "tiny-2"), key=SECRET)
        self._chance = chance
        self.calls: Counter[str] = Counter()

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while (head := await read_head(reader)) is not None:
            heard = Heard(head, await read_body(reader, head))
            self.heard.append(heard)
            if head.method == "POST":
                self.calls[self.prompts[-1].split()[0]] += 1
                await asyncio.sleep(self._chance.uniform(0.05, 0.6))
                if self._chance.random() < 0.1:
                    return
                if self._chance.random() < 0.1:
                    writer.write(b"HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n")
                    continue
            writer.write(self._operation(heard).wire())
            await writer.drain()


class Team:
    """The processes of one database."""

    def __init__(self, directory: Path) -> None:
        self.database = postgres.database_for(directory)
        env = {"RUNWATCH_DATABASE": self.database.reveal(), "RUNWATCH_CONFIG": str(directory / "settings.toml")}
        self.apis = [ServiceProcess(directory / f"api{n}", "--api-only", env=env) for n in range(SIZE)]
        worker = ("--worker-only", "--concurrency", "8")
        self.workers = [ServiceProcess(directory / f"worker{n}", *worker, env=env) for n in range(SIZE)]

    def sql(self, statement: str) -> list[tuple[Any, ...]]:
        return postgres.run_sql(statement, self.database.reveal().partition("?")[0].rpartition("/")[2])

    @property
    def client(self) -> httpx.AsyncClient:
        """A caller of the first interface."""
        api = self.apis[0]
        return httpx.AsyncClient(base_url=api.base_url, headers={"Authorization": f"Bearer {api.api_key}"}, timeout=60)


@pytest.fixture
def team(tmp_path: Path) -> Iterator[Team]:
    team = Team(tmp_path)
    try:
        for process in (*team.apis, *team.workers):
            process.start()
        yield team
    finally:
        for process in (*team.apis, *team.workers):
            process.kill()
        postgres.drop_database(tmp_path)


async def until(is_so: Callable[[], bool]) -> None:
    while not is_so():
        await asyncio.sleep(0.05)


async def submit(team: Team, client: httpx.AsyncClient, number: int, chance: random.Random) -> str:
    """Submit one run until some interface has acknowledged it."""
    body = live_body(["fallback"], max_cost_usd=CAP_USD, max_runtime_s=3600)
    body["task"]["objective"] = f"run-{number} sentinel"
    while True:
        url = f"{chance.choice(team.apis).base_url}/v1/executions"
        try:
            answer = await client.post(url, json=body, headers={"Idempotency-Key": f"run-{number}"})
        except httpx.TransportError:
            await asyncio.sleep(0.1)
            continue
        if answer.status_code < 500:
            assert answer.status_code == 200, answer.text
            return str(answer.json()["execution_id"])
        await asyncio.sleep(0.1)


async def restart(process: ServiceProcess) -> None:
    await asyncio.to_thread(process.kill)
    await asyncio.to_thread(process.start)


async def stop_and_continue(team: Team) -> None:
    """Stop one worker with the calls it makes; kill all others; let new ones take over; then let the first go on."""
    stopped, *gone = team.workers
    await until(lambda: team.sql(LIVE) == [(0,)] or len(team.sql(CLAIMED)) > 0)
    os.kill(stopped.pid, signal.SIGSTOP)
    try:
        for worker in gone:
            await asyncio.to_thread(worker.kill)
        claimed = dict(team.sql(CLAIMED))
        for worker in gone:
            await asyncio.to_thread(worker.start)
        await until(lambda: all(fence > claimed.get(run, fence - 1) for run, fence in team.sql(FENCES)))
    finally:
        os.kill(stopped.pid, signal.SIGCONT)


async def havoc(team: Team, models: Models, chance: random.Random) -> None:
    """Kill something at moments that the number of calls gives."""
    victims = [team.workers[0], team.apis[0], None, team.workers[1]]
    if LONG:
        victims += [chance.choice([*team.apis, *team.workers]) for _ in range(KILLS - len(victims))]
    for number, victim in enumerate(victims, start=1):
        await until(lambda: models.calls.total() >= number * RUNS // (len(victims) + 2))  # noqa: B023 - it waits here
        if victim is not None:
            await restart(victim)
            continue
        await stop_and_continue(team)
        team.sql(END_SESSIONS)


def faults_of(run: Json, receipt: Json, events: list[Json], calls: int) -> list[str]:
    """What is wrong with a run that has ended."""
    attempts = only_slice(receipt).get("attempts") or []
    kinds = [event["state"] for event in events if event["type"] == "lifecycle" and "slice_id" not in event]
    return [
        fault
        for fault, is_so in {
            f"{calls} calls and {len(attempts)} attempts": calls > len(attempts),
            "an event twice": len({event["event_id"] for event in events}) < len(events),
            f"events in the order {kinds}": kinds != ["accepted", "queued", "running", run["status"]],
            "another end in the receipt": receipt["status"] != run["status"],
            "more than the cap": receipt["totals"]["usd"] > CAP_USD,
            "a call that nobody knows of": receipt["totals"]["usd"] > 0 and not attempts,
        }.items()
        if is_so
    ]


@pytest.mark.exhaustive
async def test_no_acknowledged_run_is_lost_and_no_call_is_unknown(team: Team) -> None:
    chance = random.Random(SEED)
    async with Models(chance) as models, team.client as client:
        local = Local(cast("Any", None), SystemClock(), client)
        prices = {"*": {"input_usd_per_million": "10", "output_usd_per_million": "20"}}
        saved = await save(local, models, prices=prices)
        for model in ("tiny-1", "tiny-2"):
            await model_arm(local, saved.deployments[model])
        places = asyncio.Semaphore(CALLERS)

        async def placed(number: int) -> str:
            async with places:
                return await submit(team, client, number, chance)

        killing: Awaitable[None] = asyncio.ensure_future(havoc(team, models, chance))
        ids = await asyncio.gather(*(placed(number) for number in range(RUNS)))
        await killing
        await until(lambda: team.sql(LIVE) == [(0,)])
        assert len(set(ids)) == RUNS
        assert team.sql("SELECT count(*) FROM runs") == [(RUNS,)]
        assert team.sql("SELECT count(*) FROM (SELECT event_id FROM events GROUP BY 1 HAVING count(*) > 1) t") == [(0,)]
        wrong = {}
        for number, run_id in enumerate(ids):
            run, receipt = await local.get(f"/v1/executions/{run_id}"), await local.get(f"/v1/receipts/{run_id}")
            if faults := faults_of(run, receipt, await local.events(run_id), models.calls[f"run-{number}"]):
                wrong[run_id] = faults
        assert wrong == {}
