"""The runs of a PostgreSQL database that wait for a driver, as jobs of Procrastinate. Only ``--database`` imports this.

A job is deferred or aborted in the transaction of what it is about, so neither is there without the other.
"""

from __future__ import annotations

from typing import Any, Final, cast

import psycopg
from procrastinate import App, SyncPsycopgConnector
from procrastinate.schema import SchemaManager
from sqlalchemy import Connection

from runwatch.service.transaction import RunQueue

RUNS: Final = "runs"
"""Queue of the jobs that drive runs; the lock of each is the run's id."""

DRIVE: Final = "drive_run"
"""Name of their task; its one argument is ``execution_id``."""

STALLED_S: Final = 8.0
"""Seconds without a heartbeat after which a worker's jobs are given to others."""

_EXISTS: Final = "SELECT pg_catalog.to_regclass('procrastinate_jobs') IS NOT NULL"
_HAS_INDEX: Final = "SELECT pg_catalog.to_regclass('runwatch_jobs_by_lock') IS NOT NULL"
# A look for the next job compares it with those of the same lock. Procrastinate has no index that begins with the lock.
_INDEX: Final = "CREATE INDEX runwatch_jobs_by_lock ON procrastinate_jobs (lock) WHERE status IN ('todo', 'doing')"
# Each condition has an index of Procrastinate's. A waiting job has the lock also as its queueing lock.
_WAITS: Final = "SELECT 1 FROM procrastinate_jobs WHERE queueing_lock = %s AND status = 'todo'"
_UNENDED: Final = (
    "SELECT id FROM procrastinate_jobs"
    " WHERE (queueing_lock = %s AND status = 'todo') OR (lock = %s AND status = 'doing')"
)


class JobQueue(RunQueue):
    """Deferrer of jobs on connections of others; it opens none."""

    def __init__(self) -> None:
        self._app = App(connector=SyncPsycopgConnector())

    def prepare(self, connection: Connection) -> None:
        """Create Procrastinate's tables in the current transaction, and an index of ours, unless they exist."""
        session = _session(connection)
        if session.execute(_EXISTS).fetchone() != (True,):
            session.execute(SchemaManager.get_schema())
        if session.execute(_HAS_INDEX).fetchone() != (True,):
            session.execute(_INDEX)

    def add(self, connection: Connection, execution_id: str) -> None:
        session = _session(connection)
        # A job that waits already would break the queueing lock, and with it the whole transaction.
        if session.execute(_WAITS, (execution_id,)).fetchone() is None:
            job = self._app.configure_task(
                DRIVE, queue=RUNS, lock=execution_id, queueing_lock=execution_id, connection=session
            )
            job.defer(execution_id=execution_id)

    def abort(self, connection: Connection, execution_id: str) -> None:
        session = _session(connection)
        for (job_id,) in session.execute(_UNENDED, (execution_id, execution_id)).fetchall():
            self._app.job_manager.cancel_job_by_id(job_id, abort=True, delete_job=True, connection=session)


def _session(connection: Connection) -> psycopg.Connection[tuple[Any, ...]]:
    return cast("psycopg.Connection[tuple[Any, ...]]", connection.connection.dbapi_connection)
