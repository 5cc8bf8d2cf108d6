"""Runs as jobs of Procrastinate in a PostgreSQL database."""

from __future__ import annotations

import asyncio
import json
import logging
import math
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import psycopg
import pytest
from procrastinate import PsycopgConnector, exceptions
from psycopg.pq import TransactionStatus

from runwatch.base.clock import SystemClock
from runwatch.service.backends import job_connector
from runwatch.service.execution import job_engine
from runwatch.service.execution.job_engine import JobEngine
from runwatch.service.organization.wallet import set_limits
from runwatch.service.server import _is_no_outage
from tests.service.conftest import Json, Local, Serving, echo_body
from tests.service.live_work import (
    FakeJudge,
    FakeProviders,
    LiveWork,
    add_model,
    in_short,
    live_body,
    outcomes,
    scripted,
)
from tests.service.test_engine import WHOLE
from tests.service.test_postgresql import END_SESSIONS
from tests.support import postgres

__all__ = ["scripted"]

ENDED = {"completed", "failed", "cancelled", "expired"}

Scripted = tuple[FakeProviders, FakeJudge]


class Jobs:
    """A service whose runs are jobs, as a test starts it: also again after it ended."""

    def __init__(self, serving: Serving, data_dir: Path, scripted: Scripted) -> None:
        self._serving = serving
        self._scripted = scripted
        self.database = postgres.database_for(data_dir)
        self._name = self.database.reveal().partition("?")[0].rpartition("/")[2]

    @asynccontextmanager
    async def work(self, max_runs: int = 4) -> AsyncIterator[LiveWork]:
        async with self._serving(SystemClock(), database=self.database, max_runs=max_runs) as service:
            yield LiveWork(service, *self._scripted)

    def sql(self, statement: str) -> list[tuple[Any, ...]]:
        return postgres.run_sql(statement, self._name)

    def leave(self) -> None:
        """Have the database end every session and take none."""
        postgres.run_sql(f"ALTER DATABASE {self._name} ALLOW_CONNECTIONS false")
        postgres.run_sql(END_SESSIONS.replace("current_database()", f"'{self._name}'"))

    def come_back(self) -> None:
        postgres.run_sql(f"ALTER DATABASE {self._name} ALLOW_CONNECTIONS true")

    def waiting(self) -> list[tuple[Any, ...]]:
        """State and lock of every job that drives a run."""
        return self.sql("SELECT status, lock FROM procrastinate_jobs WHERE queue_name = 'runs' ORDER BY id")


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that is busy for long is not taken for one that is gone."""
    monkeypatch.setattr(job_engine, "STALLED_S", 3600.0)


@pytest.fixture
def jobs(serving: Serving, data_dir: Path, scripted: Scripted) -> Jobs:
    return Jobs(serving, data_dir, scripted)


def engine_of(work: LiveWork) -> JobEngine:
    engine = work.service.context.engine
    assert isinstance(engine, JobEngine)
    return engine


async def until(is_so: Callable[[], bool]) -> None:
    while not is_so():
        await asyncio.sleep(0.01)


async def ended(service: Local, run_id: str) -> Json:
    """A run once it is final and no driver has it."""
    while (run := await service.get(f"/v1/executions/{run_id}"))["status"] not in ENDED:
        await asyncio.sleep(0.02)
    await service.context.engine.settled()
    return run


async def submit(work: LiveWork, *on_eval: str) -> str:
    """Submit a live run with two saved models; return its id."""
    for model in ("ember", "atlas"):
        await work.having(add_model, model)
    return str((await work.service.submit(live_body(list(on_eval))))["execution_id"])


async def test_a_run_is_driven_to_its_end_and_leaves_no_job(jobs: Jobs) -> None:
    async with jobs.work() as work:
        run_id = (await work.service.submit())["execution_id"]
        assert (await ended(work.service, run_id))["status"] == "completed"
        assert in_short(await work.service.events(run_id)) == WHOLE
        await until(lambda: jobs.waiting() == [])


async def test_a_refused_run_leaves_no_job(jobs: Jobs) -> None:
    async with jobs.work(max_runs=0) as work:
        await work.service.submit(key="once")
        refused = await work.service.http.post("/v1/executions", json=echo_body(), headers={"Idempotency-Key": "once"})
        assert refused.status_code == 200
        await work.service.http.post("/v1/executions", json=live_body(), headers={"Idempotency-Key": "no model"})
    assert len(jobs.waiting()) == 1


async def test_a_cancelled_run_drops_its_call(jobs: Jobs) -> None:
    async with jobs.work() as work:
        work.providers.script("ember", asyncio.Event())
        run_id = await submit(work, "gate")
        await work.providers.begun.wait()
        await work.service.http.post(f"/v1/executions/{run_id}/cancel")
        await until(lambda: work.providers.hung_up == 1)
        await until(lambda: jobs.waiting() == [])
        assert (await ended(work.service, run_id))["status"] == "cancelled"


@pytest.mark.exhaustive
async def test_runs_that_wait_for_their_organizations_limit_take_no_place(jobs: Jobs) -> None:
    async with jobs.work(max_runs=2) as work:
        database, tenant_id = work.service.context.database, await work.tenant()
        await database.write(partial(set_limits, tenant_id=tenant_id, concurrency=1))
        answer = asyncio.Event()
        work.providers.script("ember", answer)
        first = await submit(work, "gate")
        await work.providers.begun.wait()
        others = [(await work.service.submit())["execution_id"] for _ in range(4)]
        await until(lambda: jobs.waiting() == [("doing", first)])
        answer.set()
        for run_id in (first, *others):
            assert (await ended(work.service, run_id))["status"] == "completed"


@pytest.mark.exhaustive
@pytest.mark.parametrize("max_runs", [0, 1])
async def test_a_run_without_a_driver_expires(jobs: Jobs, monkeypatch: pytest.MonkeyPatch, max_runs: int) -> None:
    monkeypatch.setattr(job_engine, "OVERDUE_S", -100.0)
    async with jobs.work(max_runs=max_runs) as work:
        database, tenant_id = work.service.context.database, await work.tenant()
        await database.write(partial(set_limits, tenant_id=tenant_id, concurrency=0))
        run_id = (await work.service.submit())["execution_id"]
        run = await ended(work.service, run_id)
        assert (run["status"], run["reason"]) == ("expired", "runtime_exceeded")


@pytest.mark.exhaustive
async def test_runs_of_a_service_without_jobs_go_on(jobs: Jobs, serving: Serving) -> None:
    async with jobs.work(max_runs=0) as work:
        run_id = (await work.service.submit())["execution_id"]
    jobs.sql("DELETE FROM procrastinate_jobs")
    async with jobs.work() as work:
        assert (await ended(work.service, run_id))["status"] == "completed"


@pytest.mark.parametrize("has_heir", [False, True])
async def test_a_stopping_service_lets_calls_end_and_gives_its_runs_to_the_next_at_once_and_before_new_ones(
    jobs: Jobs, *, has_heir: bool
) -> None:
    answer = asyncio.Event()
    async with AsyncExitStack() as stack:
        work = await stack.enter_async_context(jobs.work())
        work.providers.script("ember", answer)
        run_id = await submit(work, "gate")
        await work.providers.begun.wait()
        if has_heir:
            # As when there is room for a run that is just being started.
            await work.service.context.database.write(lambda transaction: transaction.enqueue_run(run_id))
        with psycopg.connect(jobs.database.reveal(), autocommit=True) as other:
            other.execute('LISTEN "procrastinate_queue_v1#runs"')
            stopping = asyncio.ensure_future(stack.aclose())
            await until(lambda: engine_of(work)._is_stopping)
            answer.set()
            await stopping
            told = [json.loads(notice.payload) for notice in other.notifies(stop_after=1)]
    ((job_id, *waiting),) = jobs.sql("SELECT id, status, lock, priority FROM procrastinate_jobs")
    assert waiting == ["todo", run_id, 1]
    assert told == [{"type": "job_inserted", "job_id": job_id}]
    async with jobs.work() as work:
        assert (await ended(work.service, run_id))["status"] == "completed"
    assert len(work.providers.calls) == 1


async def test_the_runs_of_a_worker_that_is_gone_get_another_driver(
    jobs: Jobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job_engine, "_JUST_STARTED", "SELECT 1 WHERE %(grace)s < 0")
    answer = asyncio.Event()
    async with jobs.work() as work:
        engine_of(work)._upkeep.late_at = -math.inf
        work.providers.script("ember", answer)
        run_id = await submit(work, "fallback")
        await work.providers.begun.wait()
        # What is left of a worker that was pruned; it runs on.
        jobs.sql("UPDATE procrastinate_jobs SET worker_id = NULL WHERE status = 'doing'")
        while (run := await work.service.get(f"/v1/executions/{run_id}"))["status"] != "completed":
            await asyncio.sleep(0.02)
        before = await work.service.events(run_id)
        answer.set()
        await work.service.context.engine.settled()
        assert await work.service.events(run_id) == before
        assert run["spend_usd"] is None
        receipt = await work.service.get(f"/v1/receipts/{run_id}")
        assert outcomes(receipt) == [("candidate", "interrupted"), ("candidate", "answered")]
        await until(lambda: jobs.waiting() == [])


async def test_no_worker_is_taken_for_gone_while_the_database_was_late(jobs: Jobs) -> None:
    async with jobs.work() as work:
        engine, answer = engine_of(work), asyncio.Event()
        work.providers.script("ember", answer)
        engine._upkeep.late_at = math.inf
        run_id = await submit(work, "gate")
        await work.providers.begun.wait()
        jobs.sql("UPDATE procrastinate_jobs SET worker_id = NULL WHERE status = 'doing'")
        await engine._take_over(0)
        assert jobs.waiting() == [("doing", run_id)]
        answer.set()
        assert (await ended(work.service, run_id))["status"] == "completed"


def lines_of(caplog: pytest.LogCaptureFixture) -> list[str]:
    """The lines of the log, each once: the logging of other tests in this process may hand a record on twice."""
    return list(dict.fromkeys(caplog.messages))


def log_outages(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    """Take what the log file of a service gets."""
    caplog.handler.addFilter(_is_no_outage)
    caplog.set_level(logging.ERROR, "psycopg.pool")
    caplog.set_level(logging.WARNING)
    monkeypatch.setattr(logging.getLogger("runwatch"), "propagate", True)


@pytest.mark.exhaustive
async def test_a_call_that_ends_while_the_database_is_away_is_written_at_its_return_and_told_in_two_lines(
    jobs: Jobs, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    log_outages(monkeypatch, caplog)
    monkeypatch.setattr(job_connector, "CONNECT_S", 0.1)
    async with jobs.work() as work:
        answer = asyncio.Event()
        work.providers.script("ember", answer)
        run_id = await submit(work, "gate")
        await work.providers.begun.wait()
        before = engine_of(work)._upkeep.late_at
        jobs.leave()
        answer.set()
        await until(lambda: engine_of(work)._upkeep.late_at > before and bool(caplog.messages))
        jobs.come_back()
        assert (await ended(work.service, run_id))["status"] == "completed"
        await until(lambda: len(lines_of(caplog)) > 1)
    first, last = lines_of(caplog)
    assert (first.partition(",")[0], last.partition(" after")[0]) == (
        "the database cannot be reached",
        "the database is back",
    )
    assert len(work.providers.calls) == 1


@pytest.mark.exhaustive
async def test_a_service_ends_while_the_database_is_away_with_one_line(
    jobs: Jobs, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    log_outages(monkeypatch, caplog)
    monkeypatch.setattr(job_connector, "CONNECT_S", 0.1)
    monkeypatch.setattr(job_engine, "DRAIN_S", 0.1)
    async with jobs.work() as work:
        work.providers.script("ember", asyncio.Event())
        await submit(work, "gate")
        await work.providers.begun.wait()
        jobs.leave()
        engine = engine_of(work)
    jobs.come_back()
    assert all(task.done() for task in engine._tasks)
    assert len(lines_of(caplog)) == 1


async def test_a_worker_that_stands_still_keeps_no_job_locked(jobs: Jobs) -> None:
    async with jobs.work() as work, engine_of(work)._runs.pool.connection() as session:
        await session.execute("SELECT 1")
        assert session.info.transaction_status == TransactionStatus.IDLE


async def test_many_waiting_jobs_are_counted_so_that_the_next_one_is_found_quickly(jobs: Jobs) -> None:
    async with jobs.work():
        jobs.sql(
            "INSERT INTO procrastinate_jobs (queue_name, task_name) SELECT 'other', 'none' FROM generate_series(1, 600)"
        )
        counted = "SELECT last_analyze IS NOT NULL FROM pg_stat_user_tables WHERE relname = 'procrastinate_jobs'"
        while jobs.sql(counted) != [(True,)]:
            await asyncio.sleep(0.05)


async def test_a_job_that_was_taken_while_the_answer_was_lost_is_done(
    jobs: Jobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    fetch, lost = PsycopgConnector.execute_query_one_async, 0

    async def lose_one(self: PsycopgConnector, query: Any, **arguments: Any) -> dict[str, Any]:
        nonlocal lost
        row: dict[str, Any] = await fetch(self, query, **arguments)
        if "procrastinate_fetch_job" in query and row.get("queue_name") == "runs" and not lost:
            lost += 1
            raise exceptions.ConnectorException from psycopg.OperationalError("the connection was lost")
        return row

    monkeypatch.setattr(PsycopgConnector, "execute_query_one_async", lose_one)
    async with jobs.work() as work:
        run_id = (await work.service.submit())["execution_id"]
        assert (await ended(work.service, run_id))["status"] == "completed"
    assert lost == 1
