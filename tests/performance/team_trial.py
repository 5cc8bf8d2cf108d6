"""A team service while its processes die under the hands of its callers: are acknowledged runs and calls all there?

``python -m tests.performance team-trial`` is the long form, for a quarter of an hour; the module by itself takes a
number of runs, and kills less for fewer. Interfaces and workers are killed and started again, workers are stopped for a
while, the database is restarted, all at moments that chance gives. Callers submit live runs and follow them; the models
are slow, and fail.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import signal
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeVar, cast

import httpx

from runwatch.base.clock import SystemClock
from runwatch.base.json import loads
from runwatch.records.states import FINAL_STATES
from tests.performance.measure import Figure, print_table
from tests.service.conftest import Json, Local
from tests.service.live_work import live_body, only_slice
from tests.service.sourcing import SECRET, model_arm, save
from tests.support import postgres
from tests.support.http1 import read_body, read_head
from tests.support.model_server import ModelServer
from tests.support.scripted import Heard
from tests.support.service import ServiceProcess
from tests.support.team import Team, restart

SEED: Final = 21
PRICES: Final = {"*": {"input_usd_per_million": "10", "output_usd_per_million": "20"}}
WORST_USD: Final = 0.082
"""What a call of unknown cost counts at least."""

CAPS_USD: Final = (0.05, 0.1)
"""The spending limits of runs: after one call of unknown cost the first permits no other one, the second does."""

BURST: Final = 6
"""Most runs that a caller submits before it waits for the last one's end."""

LOOK_S: Final = 0.25
"""How often one looks who drives which run."""

FOLLOW_S: Final = 0.5
AGAIN_S: Final = 0.1
LOST_S: Final = 240.0
"""Seconds without the end of any run after which those that are left count as lost."""

TARGET_TAKEN_OVER_S: Final = 15.0

AT_WORK: Final = "status IN ('running', 'progress')"
LOOK: Final = f"SELECT execution_id, fence, {AT_WORK} FROM runs JOIN run_claims USING (execution_id) WHERE {AT_WORK}"
LIVE: Final = "SELECT count(*) FROM runs WHERE status IN ('accepted', 'queued', 'running', 'progress')"
DOUBLED: Final = "SELECT count(*) FROM (SELECT event_id FROM events GROUP BY 1 HAVING count(*) > 1) AS doubled"
END_SESSIONS: Final = (
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database()"
    " AND pid <> pg_backend_pid()"
)

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """How much there is of everything.

    Attributes:
        places: Most runs that each worker drives at once.
        limit: Most runs that the organization has worked on at once.
        kills: How many times a process is killed and started again.
        stops: How many times a worker is stopped.
        stop_s: How many seconds it is stopped at least; it always is until others have its runs.
        restarts: How many times the database is restarted, every second time with a crash.
        cuts: How many times all sessions of the database are ended instead.
    """

    apis: int
    workers: int
    places: int = 8
    limit: int
    callers: int
    runs: int
    kills: int
    stops: int
    stop_s: float = 0.0
    restarts: int = 0
    cuts: int = 0


def whole(runs: int = 5_000) -> Size:
    """The long form."""
    kills, stops, restarts = (max(1, part * runs // 5_000) for part in (100, 9, 3))
    return Size(
        apis=3, workers=3, limit=20, callers=24, runs=runs, kills=kills, stops=stops, stop_s=20.0, restarts=restarts
    )


@dataclass(slots=True)
class Trial:
    """What came of it.

    Attributes:
        seconds: How long runs were submitted and driven.
        calls: How many calls the models got.
        ends: How many runs ended in each state.
        lost: Acknowledged runs that the service does not have, or that do not end.
        strays: Runs that the service has and no caller knows of.
        wrong: What is wrong with a run that has ended, by its id.
        doubled: How many events are stored twice.
        crowded: How many looks found more runs at work than the organization may have.
        taken_over: Seconds from the kill or the stop of a worker until each of its runs had another driver.
        delayed: The same where another worker was killed or stopped, or the database was restarted meanwhile.
    """

    seconds: float = 0.0
    calls: int = 0
    ends: Counter[str] = field(default_factory=Counter)
    lost: list[str] = field(default_factory=list)
    strays: int = 0
    wrong: dict[str, list[str]] = field(default_factory=dict)
    doubled: int = 0
    crowded: int = 0
    taken_over: list[float] = field(default_factory=list)
    delayed: list[float] = field(default_factory=list)

    def count(self, fault: str) -> int:
        """How many runs have a fault that begins with these words."""
        return sum(any(found.startswith(fault) for found in faults) for faults in self.wrong.values())


class Models(ModelServer):
    """Two models that are slow and fail: each fifth call gets an error, or no answer at all.

    Attributes:
        calls: How many calls each run has made, by the first word of its objective.
    """

    def __init__(self, chance: random.Random) -> None:
        super().__init__(models=("tiny-1", "tiny-2"), key=SECRET)
        self._chance = chance
        self.calls: Counter[str] = Counter()

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while (head := await read_head(reader)) is not None:
            heard = Heard(head, await read_body(reader, head))
            # What was heard before is counted, and would be read again with every call.
            self.heard[:] = [heard]
            if head.method == "POST":
                self.calls[loads(heard.body)["messages"][0]["content"].split()[0]] += 1
                await asyncio.sleep(self._chance.uniform(0.05, 0.6))
                if self._chance.random() < 0.1:
                    return
                if self._chance.random() < 0.1:
                    writer.write(b"HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n")
                    continue
            writer.write(self._operation(heard).wire())
            await writer.drain()


class Callers:
    """Callers that try again at another interface when one is gone."""

    def __init__(self, team: Team, client: httpx.AsyncClient, chance: random.Random) -> None:
        self._team = team
        self._client = client
        self._chance = chance
        self.ids: dict[int, str] = {}

    async def call(self, method: str, path: str, **more: Any) -> httpx.Response:
        """The first answer below 500 that some interface gives."""
        while True:
            with contextlib.suppress(httpx.TransportError):
                answer = await self._client.request(method, f"{self._team.address(self._chance)}{path}", **more)
                if answer.status_code < 500:
                    return answer
            await asyncio.sleep(AGAIN_S)

    async def get(self, path: str) -> Json:
        """What is there.

        Raises:
            LookupError: nothing is.
        """
        answer = await self.call("GET", path)
        if answer.status_code == 404:
            raise LookupError(path)
        assert answer.status_code == 200, answer.text
        return dict(answer.json())

    async def submit(self, number: int) -> str:
        """Submit a run until it is acknowledged."""
        body = live_body(["fallback"], max_cost_usd=CAPS_USD[number % 2], max_runtime_s=3600)
        body["task"]["objective"] = f"run-{number} sentinel"
        answer = await self.call("POST", "/v1/executions", json=body, headers={"Idempotency-Key": f"run-{number}"})
        assert answer.status_code == 200, answer.text
        self.ids[number] = str(answer.json()["execution_id"])
        return self.ids[number]

    async def follow(self, run_id: str) -> None:
        """Wait until a run has ended."""
        while (await self.get(f"/v1/executions/{run_id}"))["status"] not in FINAL_STATES:
            await asyncio.sleep(FOLLOW_S)

    async def work(self, numbers: list[int]) -> None:
        """Submit runs in bursts, and follow the last one of each, while there are numbers left."""
        while numbers:
            burst = [numbers.pop() for _ in range(min(len(numbers), self._chance.randint(1, BURST)))]
            for number in burst:
                run_id = await self.submit(number)
            await self.follow(run_id)


class Havoc:
    """Kills, stops and restarts, and how long runs then wait for another driver."""

    def __init__(self, team: Team, models: Models, size: Size, trial: Trial, chance: random.Random) -> None:
        self._team = team
        self._models = models
        self._size = size
        self._trial = trial
        self._chance = chance
        self._free = [*team.apis, *team.workers]
        self._waiting: dict[str, tuple[int, float]] = {}
        self._struck_at = 0.0
        self._restarts = 0

    async def wreak(self) -> None:
        """Do everything once, each at a moment that the number of calls and chance give."""
        size = self._size
        deeds = [self._kill] * size.kills + [self._stop] * size.stops + [self._cut] * size.cuts
        deeds += [self._restart_database] * size.restarts
        self._chance.shuffle(deeds)
        moments = sorted(self._chance.randrange(size.runs * 9 // 10) for _ in deeds)
        async with asyncio.TaskGroup() as begun:
            for moment, deed in zip(moments, deeds, strict=True):
                await until(lambda: self._models.calls.total() >= moment)  # noqa: B023 - it waits here
                await asyncio.sleep(self._chance.random())
                begun.create_task(deed())

    async def watch(self) -> None:
        """Look again and again which runs are worked on and who drives them."""
        while True:
            known = "".join(f", '{run_id}'" for run_id in self._waiting)
            found, now = await self._team.ask(f"{LOOK} OR execution_id IN (''{known})"), time.monotonic()
            self._trial.crowded += sum(is_at_work for _, _, is_at_work in found) > self._size.limit
            for run_id, fence, is_at_work in found:
                before, since = self._waiting.get(run_id, (fence, now))
                if fence > before:
                    is_delayed = self._struck_at > since
                    (self._trial.delayed if is_delayed else self._trial.taken_over).append(now - since)
                if fence > before or not is_at_work:
                    # Whoever ends a run with the same claim was alive all the time.
                    self._waiting.pop(run_id, None)
            await asyncio.sleep(LOOK_S)

    async def _kill(self) -> None:
        async with self._taken(self._free) as victim:
            await asyncio.to_thread(victim.kill)
            if victim in self._team.workers:
                await self._await_others()
            await restart(victim)

    async def _stop(self) -> None:
        async with self._taken(self._team.workers) as victim:
            os.kill(victim.pid, signal.SIGSTOP)
            try:
                await self._await_others()
                waiting = set(self._waiting)
                await asyncio.sleep(self._size.stop_s)
                await until(lambda: not waiting & set(self._waiting))
            finally:
                os.kill(victim.pid, signal.SIGCONT)

    async def _cut(self) -> None:
        await self._team.ask(END_SESSIONS)

    async def _restart_database(self) -> None:
        self._restarts += 1
        await asyncio.to_thread(postgres.restart_server, is_crash=self._restarts % 2 == 0)
        self._struck_at = time.monotonic()

    async def _await_others(self) -> None:
        """Take the time until every run that is worked on now has ended or got another driver."""
        self._struck_at = now = time.monotonic()
        for run_id, fence, _ in await self._team.ask(LOOK):
            if self._waiting.get(run_id, (-1, 0.0))[0] != fence:
                self._waiting[run_id] = (fence, now)

    @contextlib.asynccontextmanager
    async def _taken(self, among: Iterable[ServiceProcess]) -> Any:
        """One of these processes to which nothing else happens while the block runs."""
        await until(lambda: any(process in self._free for process in among))
        victim = self._chance.choice([process for process in among if process in self._free])
        self._free.remove(victim)
        try:
            yield victim
        finally:
            self._free.append(victim)


async def until(is_so: Callable[[], bool]) -> None:
    """Look again and again until something is so."""
    while not is_so():
        await asyncio.sleep(0.05)


async def run_trial(directory: Path, size: Size, *, seed: int = SEED) -> Trial:
    """Wreak havoc while callers submit runs and follow them; then look at each of them."""
    chance, trial = random.Random(seed), Trial()
    limit = ("--concurrency", str(size.limit))
    team = Team(directory, apis=size.apis, workers=size.workers, places=size.places, limits=limit)
    with team:
        async with Models(chance) as models, team.client() as client:
            await _save_models(client, models)
            models.calls.clear()
            callers, havoc = Callers(team, client, chance), Havoc(team, models, size, trial, chance)
            numbers, began = list(range(size.runs)), time.monotonic()
            working = _all(callers.work(numbers) for _ in range(size.callers))
            tasks = [asyncio.ensure_future(work) for work in (havoc.watch(), havoc.wreak(), working)]
            try:
                await _await_ends(team, *tasks)
            finally:
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)
            trial.seconds = time.monotonic() - began
            trial.calls = models.calls.total()
            trial.doubled = (await team.ask(DOUBLED))[0][0]
            trial.strays = (await team.ask("SELECT count(*) FROM runs"))[0][0] - len(set(callers.ids.values()))
            places = asyncio.Semaphore(size.callers)

            async def look(number: int, run_id: str) -> None:
                async with places:
                    await _look_at(callers, trial, run_id, CAPS_USD[number % 2], models.calls[f"run-{number}"])

            await _all(look(number, run_id) for number, run_id in callers.ids.items())
    return trial


async def _save_models(client: httpx.AsyncClient, models: Models) -> None:
    local = Local(cast("Any", None), SystemClock(), client)
    saved = await save(local, models, prices=PRICES)
    for model in ("tiny-1", "tiny-2"):
        await model_arm(local, saved.deployments[model])


async def _all(work: Iterable[Awaitable[T]]) -> list[T]:
    return list(await asyncio.gather(*work))


async def _await_ends(team: Team, endless: asyncio.Future[Any], *tasks: asyncio.Future[Any]) -> None:
    """Wait until all is done and no run is live, or until no run has ended for a long time."""
    seen, since = (-1, -1), time.monotonic()
    while time.monotonic() - since < LOST_S:
        for task in (endless, *tasks):
            if task.done():
                task.result()
        ((ended, live),) = await team.ask(f"SELECT (SELECT count(*) FROM receipts), ({LIVE})")
        if not live and all(task.done() for task in tasks):
            return
        if (ended, live) != seen:
            seen, since = (ended, live), time.monotonic()
        await asyncio.sleep(1.0)


async def _look_at(callers: Callers, trial: Trial, run_id: str, cap: float, calls: int) -> None:
    """Compare an acknowledged run, its receipt, its events and the calls that were made for it."""
    try:
        run, receipt = await callers.get(f"/v1/executions/{run_id}"), await callers.get(f"/v1/receipts/{run_id}")
    except LookupError:
        trial.lost.append(run_id)
        return
    trial.ends[run["status"]] += 1
    events = (await callers.get(f"/v1/executions/{run_id}/events"))["events"]
    attempts = only_slice(receipt)["attempts"]
    kinds = [event["state"] for event in events if event["type"] == "lifecycle" and "slice_id" not in event]
    times = [event["at"] for event in events]
    before = [
        sum(WORST_USD if one["usd"] is None else one["usd"] for one in attempts[:n]) for n in range(len(attempts))
    ]
    faults = [
        fault
        for fault, is_so in {
            f"calls: {calls} of them and {len(attempts)} attempts": calls > len(attempts),
            "events: one twice": len({event["event_id"] for event in events}) < len(events),
            f"events: {kinds}": kinds != ["accepted", "queued", "running", run["status"]],
            f"events: at {times}": times != sorted(times),
            "receipt: another end": receipt["status"] != run["status"],
            "cap: spent more": receipt["totals"]["usd"] > cap,
            f"cap: a call after {before}": any(spent >= cap for spent in before),
        }.items()
        if is_so
    ]
    if faults:
        trial.wrong[run_id] = faults


def figures(size: Size | None = None) -> list[Figure]:
    """Try it, and judge."""
    size = size or whole()
    with tempfile.TemporaryDirectory() as directory:
        trial = asyncio.run(run_trial(Path(directory), size))
    for run_id, faults in trial.wrong.items():
        print(run_id, *faults, file=sys.stderr)
    longest, ends = max(trial.taken_over, default=0.0), ", ".join(f"{n:,} {end}" for end, n in trial.ends.most_common())
    wrong = {fault: trial.count(fault) for fault in ("calls", "cap", "events", "receipt")}
    wrong["events"] += trial.doubled
    return [
        Figure(f"{size.runs:,} live runs of {size.callers} callers, {size.apis} interfaces and {size.workers} workers;"
               f" {size.kills} kills, {size.stops} workers stopped for {size.stop_s:g} s, {size.restarts} restarts of"
               f" the database: {ends}", f"{trial.seconds / 60:.0f} min"),
        Figure("… acknowledged runs that were lost", f"{len(trial.lost)}", "", "0", not trial.lost),
        Figure("… runs without a submit", f"{trial.strays}", "", "0", not trial.strays),
        Figure(f"… runs with a call that no attempt names, of {trial.calls:,} calls", f"{wrong['calls']}", "", "0",
               not wrong["calls"]),
        Figure("… runs beyond their spending limit", f"{wrong['cap']}", "", "0", not wrong["cap"]),
        Figure(f"… looks that found more than the {size.limit} runs at work which the organization may have",
               f"{trial.crowded}", "", "0", not trial.crowded),
        Figure("… runs with an event lost, doubled or out of order", f"{wrong['events']}", "", "0",
               not wrong["events"]),
        Figure("… receipts that tell of another end", f"{wrong['receipt']}", "", "0", not wrong["receipt"]),
        Figure(f"… {len(trial.taken_over):,} runs whose worker was killed or stopped, longest until they went on",
               f"{longest:.1f} s", "", f"≤ {TARGET_TAKEN_OVER_S:g} s", longest <= TARGET_TAKEN_OVER_S),
        Figure("… median", f"{statistics.median(trial.taken_over or [0.0]):.1f} s"),
        Figure(f"… {len(trial.delayed):,} more, while another worker was killed or stopped or the database restarted,"
               " longest",
               f"{max(trial.delayed, default=0.0):.1f} s"),
    ]  # fmt: skip


if __name__ == "__main__":
    print_table(figures(whole(*map(int, sys.argv[1:]))))
