"""The engine of a service in any number of processes: runs are jobs of Procrastinate in the service's PostgreSQL
database. Only ``--database`` imports this.

Every run that can go on has a job. A worker takes the job, claims the run and drives it; one that has to wait for its
organization's limit of concurrent runs gives its job up, and gets a new one when there is room. Workers send heartbeats
to the database. Jobs of a worker whose heartbeats stop are given to others, by a job that runs every few seconds.

Procrastinate's lock is no fence: a worker that was stopped and continued runs on beside its successor. Its writes of
the run are refused (:mod:`runwatch.service.execution.fencing`), and so are its writes of the job
(:mod:`runwatch.service.backends.job_connector`).
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any, Final, TypeVar, cast

import psycopg
from procrastinate import App, BaseRetryStrategy, JobContext, RetryDecision, exceptions
from procrastinate.jobs import Job, Status
from procrastinate.manager import JobManager
from procrastinate.utils import utcnow

from runwatch.base.errors import DataError
from runwatch.records.states import LIVE_STATES
from runwatch.service.backends.job_connector import AGAIN_S, JobConnector, JobWriter
from runwatch.service.backends.job_queue import DRIVE, RUNS, STALLED_S
from runwatch.service.backends.postgresql import END_SILENT_TURNS, TURN_S
from runwatch.service.execution import runs, state_machine
from runwatch.service.execution.engine import Engine
from runwatch.service.execution.fencing import FencedOutError, claim
from runwatch.service.execution.live import live_rows
from runwatch.service.execution.retries import retry_forever
from runwatch.service.execution.state_machine import RunState
from runwatch.service.execution.step_runner import StepRunner
from runwatch.service.transaction import Transaction

HEARTBEAT_S: Final = 2.0
"""Seconds between two heartbeats of a worker."""

FORGOTTEN_S: Final = 60.0
"""Seconds without a heartbeat after which a worker is forgotten."""

_NEVER_S: Final = 1e9

POLL_S: Final = 1.0
"""Seconds between two searches for jobs and aborts whose notification was lost."""

DRAIN_S: Final = 20.0
"""Seconds that calls in progress may take once the engine stops; the outcome of a longer one is lost."""

PARTING_S: Final = 5.0
"""Seconds after that in which runs are given back; a database that hangs is not waited for."""

OVERDUE_S: Final = 5.0
"""Seconds after its cap at which a run without a driver is ended; a driver is earlier."""

_UPKEEP: Final = "upkeep"
# The seconds are the last of six fields.
_TAKE_OVER: Final = "* * * * * */3"
_EXPIRE: Final = "* * * * * */5"
_FIND_LEFT: Final = "* * * * * */15"
_CLEAN: Final = "7 * * * * 0"

_UPKEEP_AT_ONCE: Final = 2

_OVERDUE: Final = (
    f"SELECT execution_id FROM runs WHERE status IN {LIVE_STATES}"  # noqa: S608 - made of constants
    " AND created_at::timestamptz + make_interval(secs => max_runtime_s + %(grace)s) < %(now)s LIMIT 500"
)
# Runs that could go on and have no job. Those that wait for their organization's limit are woken, not found.
_LEFT: Final = (
    f"SELECT execution_id FROM runs WHERE status IN {LIVE_STATES}"  # noqa: S608 - made of constants
    " AND (status <> 'queued' OR NOT EXISTS (SELECT 1 FROM tenant_limits"
    " WHERE tenant_limits.tenant_id = runs.tenant_id AND concurrency IS NOT NULL))"
    " AND NOT EXISTS (SELECT 1 FROM procrastinate_jobs WHERE lock = execution_id AND status IN ('todo', 'doing'))"
    " ORDER BY sequence LIMIT 500"
)
_JUST_STARTED: Final = "SELECT 1 WHERE pg_postmaster_start_time() > now() - make_interval(secs => %(grace)s)"
_CHANGED: Final = """
    SELECT relname FROM pg_stat_user_tables
    WHERE relid = to_regclass('procrastinate_jobs') AND n_mod_since_analyze > 500
"""
_LIMITED: Final = (
    "SELECT DISTINCT tenant_id FROM runs JOIN tenant_limits USING (tenant_id)"
    " WHERE status = 'queued' AND concurrency IS NOT NULL"
)

T = TypeVar("T")

_log: Final = logging.getLogger(__name__)


class JobEngine(Engine):
    """Driver of the runs of the database, several at once.

    Args:
        max_runs: Most runs that this process drives at once; with 0 it does the upkeep of all runs alone.
    """

    def __init__(self, runner: StepRunner, *, parameters: Mapping[str, Any], max_runs: int) -> None:
        self.runner = runner
        self._database = runner.database
        self._clock = runner.clock
        self._max_runs = max_runs
        self._running: dict[int, Job] = {}
        self._is_idle = asyncio.Event()
        self._is_idle.set()
        self._is_stopping = False
        self._tasks: list[asyncio.Task[None]] = []
        self._runs, self._upkeep = JobConnector(parameters), JobConnector(parameters)

    @property
    def unfinished(self) -> int:
        return len(self._running)

    async def resume(self) -> None:
        await self._database.write(live_rows.sweep)
        driving, upkeep = _app(self._runs), _app(self._upkeep)
        try:
            if self._max_runs:
                await self._runs.open_async()
            await self._upkeep.open_async()
        except (exceptions.ConnectorException, psycopg.OperationalError) as error:
            raise DataError("The service's database cannot be reached", detail=str(error.__cause__ or error)) from error
        driving.task(name=DRIVE, queue=RUNS, pass_context=True, retry=_HandBack(self._is_kept))(self._drive)
        for work, cron in (
            (self._take_over, _TAKE_OVER),
            (self._expire, _EXPIRE),
            (self._find_left, _FIND_LEFT),
            (self._clean, _CLEAN),
        ):
            name = work.__name__.strip("_")
            upkeep.periodic(cron=cron)(upkeep.task(name=name, queue=_UPKEEP, queueing_lock=name)(work))
        await self._find_left(0)
        workers = [(upkeep, _UPKEEP, _UPKEEP_AT_ONCE)]
        if self._max_runs:
            workers.append((driving, RUNS, self._max_runs))
        for app, queue, at_once in workers:
            self._tasks.append(asyncio.create_task(self._work(app, queue, at_once), name=f"worker of {queue}"))

    def drive(self, run: RunState) -> None:
        """Do nothing: the run's job was deferred in the transaction that accepted it."""

    def let_go(self, execution_id: str) -> None:
        """Do nothing: the run's job was aborted in the transaction that ended it."""

    async def settled(self) -> None:
        await self._is_idle.wait()

    async def stop(self) -> None:
        """Take no more jobs, let calls in progress end for :data:`DRAIN_S`, and give the runs to other workers."""
        self._is_stopping = self._runs.is_closing = self._upkeep.is_closing = True
        for task in self._tasks:
            task.cancel()
        # Procrastinate's own heartbeats end before its jobs do.
        beating = asyncio.create_task(self._beat())
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=DRAIN_S + PARTING_S)
        beating.cancel()
        for connector in (self._runs, self._upkeep):
            with contextlib.suppress(Exception):
                await connector.close_async()

    async def _work(self, app: App, queue: str, at_once: int) -> None:
        """Run a worker, and another one if it ends by itself."""
        while not self._is_stopping:
            try:
                await app.run_worker_async(
                    queues=[queue],
                    name=queue,
                    concurrency=at_once,
                    install_signal_handlers=False,
                    fetch_job_polling_interval=POLL_S,
                    abort_job_polling_interval=POLL_S,
                    shutdown_graceful_timeout=DRAIN_S,
                    update_heartbeat_interval=HEARTBEAT_S,
                    # A worker that starts knows nothing of an outage just before.
                    stalled_worker_timeout=_NEVER_S,
                    delete_jobs="always",
                )
            except Exception:
                # A stop while the database is away ends with an error of the database.
                if not self._is_stopping:
                    _log.exception("the worker of %s ended, and another one takes its place", queue)
            await asyncio.sleep(AGAIN_S)

    async def _beat(self) -> None:
        while True:
            for worker_id in {job.worker_id for job in self._running.values()}:
                if worker_id is not None:
                    with contextlib.suppress(Exception):
                        await JobManager(self._runs).update_heartbeat(worker_id)
            await asyncio.sleep(HEARTBEAT_S)

    async def _drive(self, context: JobContext, execution_id: str) -> None:
        """Drive a run to its end, to a wait for its organization's limit, or until another driver has claimed it."""
        job = context.job
        assert job.id is not None
        self._running[job.id] = job
        self._runs.jobs.add(job.id)
        self._is_idle.clear()
        try:
            await self._drive_claimed(execution_id)
        except FencedOutError:
            _log.info("run %s has another driver", execution_id)
        finally:
            self._runs.jobs.discard(job.id)
            self._running.pop(job.id, None)
            if not self._running:
                self._is_idle.set()

    async def _drive_claimed(self, execution_id: str) -> None:
        run, fence = await self._retry_step(partial(self._database.write, partial(_begin, execution_id=execution_id)))
        runner = self.runner.fenced(execution_id, fence)
        while not run.is_final:
            updated = await self._retry_step(partial(runner.take_step, run))
            if run.status == "queued" and updated.status == "queued":
                return
            run = updated

    async def _retry_step(self, attempt: Callable[[], Awaitable[T]]) -> T:
        """Take a step, again for as long as it fails.

        Raises:
            FencedOutError: Another driver has claimed the run.
            HandedBackError: The engine stops.
        """
        return await retry_forever(
            attempt, self._clock, "a run cannot take its next step", is_over=lambda: self._is_stopping
        )

    def _is_kept(self, error: BaseException) -> bool:
        """Whether a job that ended with an error is to be done again."""
        return self._is_stopping or not isinstance(error, asyncio.CancelledError)

    async def _take_over(self, timestamp: int) -> None:
        """Give turns and jobs of processes that are gone to others, and keep looks for jobs quick."""
        await self._list(END_SILENT_TURNS, silent_s=TURN_S)
        if await self._list(_CHANGED):
            # With old statistics PostgreSQL compares every waiting job with every other one.
            await self._upkeep.execute_query_async("ANALYZE procrastinate_jobs")
        if await self._list(_JUST_STARTED, grace=STALLED_S):
            # No worker could send heartbeats while the database was away.
            return
        manager = JobWriter(self._upkeep)
        stalled = await manager.get_stalled_jobs(seconds_since_heartbeat=STALLED_S)
        if time.monotonic() - self._upkeep.late_at < STALLED_S:
            # The same while the database hung, or could not be reached from here.
            return
        for job in stalled:
            if job.queue == RUNS:
                _log.warning("the worker of %s is gone, and another one takes its place", job.lock)
                await manager.retry_job(job)
            else:
                await manager.finish_job(job, Status.ABORTED, delete_job=True)
        await manager.prune_stalled_workers(FORGOTTEN_S)

    async def _expire(self, timestamp: int) -> None:
        """End runs whose time is over and that no driver ends."""
        for execution_id in await self._list(_OVERDUE, now=self._clock.now(), grace=OVERDUE_S):
            await self._database.write(
                partial(runs.end, execution_id=execution_id, status="expired", reason="runtime_exceeded")
            )

    async def _find_left(self, timestamp: int) -> None:
        """Queue runs that could go on and have no job."""
        left, limited = await self._list(_LEFT), await self._list(_LIMITED)

        def queue(transaction: Transaction) -> None:
            for execution_id in left:
                transaction.enqueue_run(execution_id)
            for tenant_id in limited:
                runs.wake(transaction, tenant_id)

        if left or limited:
            await self._database.write(queue)

    async def _clean(self, timestamp: int) -> None:
        """Remove what has expired, and jobs that ended and were kept."""
        await self._database.write(live_rows.sweep)
        await JobManager(self._upkeep).delete_old_jobs(
            nb_hours=1, include_failed=True, include_cancelled=True, include_aborted=True
        )

    async def _list(self, query: str, **arguments: Any) -> list[str]:
        rows = await self._upkeep.execute_query_all_async(query, **arguments)
        return [cast("str", next(iter(row.values()))) for row in rows]


def _begin(transaction: Transaction, execution_id: str) -> tuple[RunState, int]:
    """Claim a run, and take the first step of a new one; return the run and the number of the claim."""
    run, fence = claim(transaction, execution_id)
    if run.status == "accepted" and run.time_left(transaction.now) > 0:
        run = runs.record(transaction, state_machine.queue(run, transaction.now))
    return run, fence


class _HandBack(BaseRetryStrategy):
    """Has a job done again by another worker, or after a failure.

    Args:
        is_kept: Returns whether a job that ended with this error is to be done again.
    """

    def __init__(self, is_kept: Callable[[BaseException], bool]) -> None:
        self._is_kept = is_kept

    def get_retry_decision(self, *, exception: BaseException, job: Job) -> RetryDecision | None:
        return RetryDecision(retry_at=utcnow()) if self._is_kept(exception) else None


def _app(connector: JobConnector) -> App:
    app = App(connector=connector)
    app.job_manager = JobWriter(connector)
    return app
