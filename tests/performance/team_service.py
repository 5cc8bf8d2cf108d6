"""The team's service on PostgreSQL beside the embedded one, and beside itself with many runs that wait.

``python -m tests.performance team-service``. Both are processes on the same two cores, and so are the database, the
workers and the callers. PostgreSQL writes to the disk before it answers.
"""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from runwatch.api.client import Client
from runwatch.base.json import encode_body
from tests.performance.measure import Figure
from tests.support import postgres
from tests.support.builders import request_body
from tests.support.client_calls import submit_run
from tests.support.crowd import Crowd, crowd
from tests.support.reading import seconds_of_reads
from tests.support.service import ServiceProcess
from tests.support.team import Team

RUNS: Final = 200
WORKERS: Final = (1, 2, 4)
TURNS: Final = 2
"""How often runs are submitted to each side with so many workers, in turns."""

READS_S: Final = 2.0
READ_TURNS: Final = 6
READS: Final = {"one run by its id": "/v1/executions/{}", "a page of 50 runs": "/v1/executions?limit=50"}
"""What is read, with the id of a run in its place."""

MORE_READS: Final = {
    "a page of 50 runs that wait": "/v1/executions?limit=50&status=accepted",
    "the account, with their number": "/v1/account",
}
"""What is read besides while many runs wait."""

FEW: Final = 100
MANY: Final = 100_000
"""Runs that wait while one reads."""

DRIVE_S: Final = 8.0
"""How long runs are driven while many others wait."""

TARGET_WAITING: Final = 1.5

_COLUMNS: Final = (
    "SELECT string_agg(column_name, ', ') FROM information_schema.columns"
    " WHERE table_schema = current_schema() AND table_name = '{table}' AND column_name NOT IN ('sequence', 'id')"
)
_MORE: Final = """
    INSERT INTO {table} ({columns})
    SELECT {values} FROM generate_series(1, {more}) AS number,
        (SELECT * FROM {table} ORDER BY {key} LIMIT 1) AS one
"""
_TABLES: Final = {
    "procrastinate_jobs": "lock", "runs": "execution_id", "events": "execution_id", "run_owners": "execution_id",
}  # fmt: skip
"""What is stored of a run that waits, and by what its first one is found; runs without a job would get one."""

_MANIFOLD: Final = {"execution_id", "event_id", "lock", "queueing_lock"}


@dataclass(slots=True)
class Side:
    """Reads of one side, in seconds each."""

    taken: list[float] = field(default_factory=list)

    @property
    def p99(self) -> float:
        """What 99 of 100 took at most."""
        return statistics.quantiles(self.taken, n=100, method="inclusive")[98]

    @property
    def p50(self) -> float:
        """What half of them took at most."""
        return statistics.median(self.taken)


def figures(runs: int = RUNS, waiting: int = MANY) -> list[Figure]:
    """Measure and judge.

    Args:
        runs: How many runs are submitted at once.
        waiting: How many wait while one reads.
    """
    postgres.keep_on_disk()
    with tempfile.TemporaryDirectory() as directory:
        return [*_beside_embedded(Path(directory), runs), *_while_many_wait(Path(directory) / "waiting", waiting)]


def _beside_embedded(directory: Path, runs: int) -> list[Figure]:
    table: list[Figure] = []
    with ExitStack() as stack:
        embedded = stack.enter_context(ServiceProcess(directory / "embedded"))
        team = stack.enter_context(Team(directory / "team", workers=max(WORKERS), places=50, is_started=False))
        (api,) = team.apis
        api.start()
        for workers in WORKERS:
            for worker in team.workers[:workers]:
                if not worker.line:
                    worker.start()
            sides: dict[ServiceProcess, list[Crowd]] = {embedded: [], api: []}
            for _ in range(TURNS):
                for service, crowds in sides.items():
                    crowds.append(asyncio.run(_crowd(service, runs)))
            names = {1: "one worker", 2: "two workers", 4: "four workers"}
            table += _compared(names[workers], runs, sides[embedded], sides[api])
        for worker in team.workers:
            worker.stop()
        run_ids = {service: crowds[-1].runs[0].id for service, crowds in sides.items()}
        for what, path in READS.items():
            reads = _read({service: path.format(run_id) for service, run_id in run_ids.items()})
            table += [
                Figure(f"{what}, p99, embedded", f"{reads[embedded].p99 * 1000:.1f} ms", "1.00"),
                Figure(f"{what}, p99, on PostgreSQL", f"{reads[api].p99 * 1000:.1f} ms",
                       f"{reads[api].p99 / reads[embedded].p99:.2f}"),
            ]  # fmt: skip
    return table


def _compared(workers: str, runs: int, embedded: Sequence[Crowd], team: Sequence[Crowd]) -> list[Figure]:
    def a_second(crowds: Sequence[Crowd], seconds: Callable[[Crowd], float]) -> float:
        return runs / statistics.median(map(seconds, crowds))

    done, done_embedded = (a_second(crowds, lambda made: made.final_s) for crowds in (team, embedded))
    taken, taken_embedded = (a_second(crowds, lambda made: made.accepted_s) for crowds in (team, embedded))
    return [
        Figure(f"{runs} test runs at once, runs to their receipt a second, embedded", f"{done_embedded:.0f}", "1.00"),
        Figure(f"… on PostgreSQL with {workers}", f"{done:.0f}", f"{done / done_embedded:.2f}"),
        Figure("… submits a second meanwhile, embedded", f"{taken_embedded:.0f}", "1.00"),
        Figure(f"… on PostgreSQL with {workers}", f"{taken:.0f}", f"{taken / taken_embedded:.2f}"),
    ]  # fmt: skip


async def _crowd(service: ServiceProcess, runs: int) -> Crowd:
    async with Client(service.target) as client:
        return await crowd(client, runs)


def _read(paths: Mapping[ServiceProcess, str]) -> dict[ServiceProcess, Side]:
    """Read each side's path in turns, one reader at a time."""
    found = {service: Side() for service in paths}
    for _ in range(READ_TURNS):
        for service, path in paths.items():
            found[service].taken += asyncio.run(_seconds(service, path))
    return found


async def _seconds(service: ServiceProcess, path: str) -> list[float]:
    return await seconds_of_reads(service.base_url, service.api_key, path, at_once=1, seconds=READS_S)


# Many runs that wait.


def _while_many_wait(directory: Path, waiting: int) -> list[Figure]:
    counts = min(FEW, waiting // 2), waiting
    table = []
    with ExitStack() as stack:
        teams = [stack.enter_context(Team(directory / f"{count}", is_started=False)) for count in counts]
        few, many = (team.apis[0].start() for team in teams)
        run_ids = {api: asyncio.run(_submit(api)) for api in (few, many)}
        for team, count in zip(teams, counts, strict=True):
            _add_runs(team, count)
        for what, path in (READS | MORE_READS).items():
            reads = _read({api: path.format(run_ids[api]) for api in (few, many)})
            ratio = reads[many].p99 / reads[few].p99
            table += [
                Figure(f"{what} while {counts[0]:,} runs wait, p99", f"{reads[few].p99 * 1000:.1f} ms", "1.00"),
                Figure(f"… while {counts[1]:,} wait", f"{reads[many].p99 * 1000:.1f} ms", f"{ratio:.2f}",
                       f"≤ {TARGET_WAITING:g} × with {counts[0]:,}", ratio <= TARGET_WAITING),
                Figure("… p50", f"{reads[many].p50 * 1000:.1f} ms", f"{reads[many].p50 / reads[few].p50:.2f}"),
            ]  # fmt: skip
        began = time.monotonic()
        asyncio.run(_submit(many))
        submit_s = time.monotonic() - began
        teams[1].workers[0].start()
        driven = _driven_a_second(teams[1])
    return [
        *table,
        Figure(f"a submit while {counts[1]:,} runs wait", f"{submit_s * 1000:.0f} ms"),
        Figure("… runs to their receipt a second with one worker of 8 places", f"{driven:.0f}"),
    ]


async def _submit(service: ServiceProcess) -> str:
    body = request_body()
    body["policy"]["budget"]["max_runtime_s"] = 86_400
    async with Client(service.target) as client:
        return (await submit_run(client, encode_body(body), key=str(uuid.uuid4()))).id


def _add_runs(team: Team, count: int) -> None:
    """Add runs like the first one, with an event and a job each, until there are so many."""
    for table, key in _TABLES.items():
        ((columns,),) = team.sql(_COLUMNS.format(table=table))
        values = ", ".join(_value(column) for column in columns.split(", "))
        team.sql(_MORE.format(table=table, key=key, columns=columns, values=values, more=count - 1))
        team.sql(f"VACUUM ANALYZE {table}")
    team.sql(f"UPDATE run_counts SET submitted = {count}")


def _value(column: str) -> str:
    if column in _MANIFOLD:
        return f"one.{column} || number"
    if column == "args":
        return "jsonb_build_object('execution_id', one.lock || number)"
    return f"one.{column}"


def _driven_a_second(team: Team) -> float:
    """Receipts a second once there are some."""
    count = "SELECT count(*) FROM receipts"
    while team.sql(count) == [(0,)]:
        time.sleep(0.05)
    ((before,),), began = team.sql(count), time.monotonic()
    time.sleep(DRIVE_S)
    ((after,),) = team.sql(count)
    return float(after - before) / (time.monotonic() - began)
