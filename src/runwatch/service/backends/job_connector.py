"""Jobs of Procrastinate as workers read and write them. Only ``--database`` imports this.

A worker that was taken for dead may go on beside its successor, so its writes of the job carry worker and number of the
try, and the database decides. While the database is away, a worker waits for it.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any, Final, TypeVar

import psycopg
from procrastinate import PsycopgConnector, exceptions
from procrastinate.jobs import Job, Status
from procrastinate.manager import JobManager
from psycopg_pool import AsyncConnectionPool

from runwatch.service.backends.postgresql_session import AsyncSession
from runwatch.service.errors import DatabaseUnreachableError

AGAIN_S: Final = 0.5
"""Seconds between two tries of what a database that is away has not done."""

CONNECT_S: Final = 1.0
"""Seconds to wait for a connection before a new one is begun; one that takes longer serves a later try."""

SLOW_S: Final = 5.0
"""Seconds after which an answer is late: the heartbeats of others may have been kept from the database as long."""

# A write of a job counts only while the job is still this worker's, in this try.
_FINISH: Final = """
    WITH owned AS (
        SELECT id FROM procrastinate_jobs WHERE id = %(job_id)s AND status = 'doing'
            AND worker_id IS NOT DISTINCT FROM %(worker_id)s AND attempts = %(attempts)s FOR UPDATE
    )
    SELECT procrastinate_finish_job_v1(id, %(status)s::procrastinate_job_status, %(delete)s) FROM owned
"""
# Runs that were begun go on before those that were not. Procrastinate itself tells workers of new jobs only.
_BEGUN: Final = 1
_TELL: Final = """
    pg_notify('procrastinate_queue_v1#' || queue_name, json_build_object('type', 'job_inserted', 'job_id', id)::text)
"""
_RETRY: Final = f"""
    WITH owned AS (
        SELECT id, queue_name FROM procrastinate_jobs WHERE id = %(job_id)s AND status = 'doing'
            AND worker_id IS NOT DISTINCT FROM %(worker_id)s AND attempts = %(attempts)s FOR UPDATE
    )
    SELECT procrastinate_retry_job_v2(id, now(), {_BEGUN}, NULL, NULL), {_TELL} FROM owned
"""  # noqa: S608 - made of constants
_PREFER: Final = f"""
    WITH heir AS (
        UPDATE procrastinate_jobs SET priority = {_BEGUN} WHERE queueing_lock = %(lock)s AND status = 'todo'
        RETURNING id, queue_name
    )
    SELECT {_TELL} FROM heir
"""  # noqa: S608 - made of constants
_TAKEN: Final = (
    "SELECT id, attempts FROM procrastinate_jobs WHERE status = 'doing' AND worker_id = %(worker_id)s"
    " AND id <> ALL(%(known)s)"
)

T = TypeVar("T")


class JobWriter(JobManager):
    """Writer of jobs that writes none that has become another worker's."""

    async def finish_job(self, job: Job, status: Status, delete_job: bool) -> None:
        await self.connector.execute_query_async(_FINISH, status=status.value, delete=delete_job, **_owner(job))

    async def retry_job(self, job: Job, *_: Any, **__: Any) -> None:
        """Have a job done again at once."""
        with contextlib.suppress(exceptions.UniqueViolation):
            await self.connector.execute_query_async(_RETRY, **_owner(job))
            return
        # Another job of the run waits already and does what this one would.
        await self.finish_job(job, Status.ABORTED, delete_job=True)
        await self.connector.execute_query_async(_PREFER, lock=job.lock)


def _owner(job: Job) -> dict[str, Any]:
    return {"job_id": job.id, "worker_id": job.worker_id, "attempts": job.attempts}


class JobConnector(PsycopgConnector):
    """Connector that waits for a database that is away, so that a worker's runs go on meanwhile.

    Attributes:
        late_at: When an answer last came late or not at all, in the seconds of :func:`time.monotonic`. The start counts
            as one: the database may have been away until then.
    """

    def __init__(self, parameters: Mapping[str, Any]) -> None:
        super().__init__(
            pool_factory=_Pool,
            connection_class=AsyncSession,
            kwargs=dict(parameters),
            configure=_commit_at_once,
            min_size=1,
            max_size=4,
            timeout=CONNECT_S,
            # Without its growing pauses: every wait for a connection begins a new one.
            reconnect_timeout=0.0,
        )
        self.jobs: Final[set[int]] = set()
        self.is_closing = False
        self.late_at = time.monotonic()

    async def execute_query_async(self, query: Any, **arguments: Any) -> None:
        await self._keep_trying(partial(super().execute_query_async, query, **arguments))

    async def execute_query_all_async(self, query: Any, **arguments: Any) -> list[dict[str, Any]]:
        return await self._keep_trying(partial(super().execute_query_all_async, query, **arguments))

    async def execute_query_one_async(self, query: Any, **arguments: Any) -> dict[str, Any]:
        fetch: Callable[[], Awaitable[dict[str, Any]]] = partial(super().execute_query_one_async, query, **arguments)
        if "procrastinate_fetch_job" not in query:
            return await self._keep_trying(fetch)
        try:
            return await fetch()
        except exceptions.ConnectorException as error:
            if not self._is_passing(error):
                raise
        # The job may have been taken although the answer was lost. Then no worker would drive it.
        known, worker_id = sorted(self.jobs), arguments["worker_id"]
        for row in await self.execute_query_all_async(_TAKEN, worker_id=worker_id, known=known):
            await self.execute_query_async(_RETRY, job_id=row["id"], worker_id=worker_id, attempts=row["attempts"])
        return await self.execute_query_one_async(query, **arguments)

    async def listen_notify(self, *arguments: Any, **more: Any) -> None:
        await self._keep_trying(partial(super().listen_notify, *arguments, **more))

    async def _keep_trying(self, attempt: Callable[[], Awaitable[T]]) -> T:
        has_failed = False
        while True:
            began = time.monotonic()
            try:
                answer = await attempt()
            except (exceptions.ConnectorException, psycopg.OperationalError) as error:
                if not self._is_passing(error):
                    raise
                self.late_at, has_failed = time.monotonic(), True
                if self.is_closing:
                    raise exceptions.ConnectorException from DatabaseUnreachableError(str(error.__cause__ or error))
                await asyncio.sleep(AGAIN_S)
            else:
                if has_failed or time.monotonic() - began > SLOW_S:
                    self.late_at = time.monotonic()
                return answer

    def _is_passing(self, error: Exception) -> bool:
        return isinstance(error.__cause__ or error, psycopg.OperationalError | psycopg.InterfaceError)


class _Pool(AsyncConnectionPool[psycopg.AsyncConnection[Any]]):
    """A pool that asks no connection whether it still lives: what fails is tried again anyway."""

    def __init__(self, *, check: object, **more: Any) -> None:
        super().__init__(**more)


async def _commit_at_once(connection: psycopg.AsyncConnection[Any]) -> None:
    """Make every statement a transaction of its own, so that a worker that is stopped after one keeps no row locked."""
    await connection.set_autocommit(True)
