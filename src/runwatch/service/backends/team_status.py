"""What happens in the database of a service of several processes, for ``serve --status``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final, LiteralString

from runwatch.base.errors import DataError
from runwatch.base.secrets.secret import Secret
from runwatch.service.backends.job_queue import STALLED_S
from runwatch.service.backends.postgresql import EXISTS, HOLDERS, PostgresDatabase
from runwatch.service.backends.postgresql_session import Session

ROLES: Final = {"": "interface and worker", "-api": "interface", "-worker": "worker"}
"""What a process does, by what its sessions are called after ``runwatch``."""

_NAME: Final = re.compile(r"runwatch(-api|-worker)?-([0-9]+)@(.+)", re.DOTALL)

# Each process holds the shared lock in one session, and beside it one with the second of its start.
_PROCESSES: Final = f"""
    SELECT application_name, coalesce((
        SELECT pg_catalog.to_timestamp(started.objid::bigint) FROM pg_catalog.pg_locks started
        WHERE started.pid = held.pid AND started.locktype = 'advisory' AND started.classid = 1920300665
    ), backend_start) AS since {HOLDERS} ORDER BY since, backend_start
"""  # noqa: S608 - made of constants
_HAS_JOBS: Final = "SELECT pg_catalog.to_regclass('procrastinate_jobs') IS NOT NULL"
_COUNTS: Final = """
    SELECT count(*) FILTER (WHERE status = 'doing'), count(*) FILTER (WHERE status = 'todo'),
        count(*) FILTER (WHERE status = 'doing' AND (
            last_heartbeat IS NULL OR last_heartbeat < now() - make_interval(secs => %s)
        ))
    FROM procrastinate_jobs LEFT JOIN procrastinate_workers ON procrastinate_workers.id = worker_id
    WHERE queue_name = 'runs'
"""
_WAITING: Final = """
    SELECT count(*) FROM runs WHERE status = 'queued' AND NOT EXISTS (
        SELECT 1 FROM procrastinate_jobs WHERE lock = execution_id AND procrastinate_jobs.status IN ('todo', 'doing')
    )
"""
_OLDEST: Final = """
    SELECT execution_id, greatest(0, extract(epoch FROM now() - created_at::timestamptz))::float
    FROM runs WHERE status IN ('accepted', 'queued') ORDER BY sequence LIMIT 1
"""


@dataclass(frozen=True, slots=True)
class Process:
    """One process.

    Attributes:
        role: What it does; one of :data:`ROLES`.
        name: Process id and machine, or what the address of its database calls its sessions.
    """

    role: str
    name: str
    since: datetime


@dataclass(frozen=True, slots=True)
class TeamStatus:
    """What happens in a database.

    Attributes:
        driven: Number of runs that have a driver.
        waiting: Number of runs that wait for a worker.
        limited: Number of runs that wait for their organization's limit of concurrent runs.
        stalled: Number of the driven runs whose worker is gone, and that get another one.
    """

    processes: tuple[Process, ...]
    driven: int
    waiting: int
    limited: int
    stalled: int
    oldest_waiting: str | None
    oldest_waiting_s: float | None


def read_status(url: Secret) -> TeamStatus:
    """Return what happens in a database, without a change to it.

    Raises:
        UsageError: The address is not usable.
        DataError: The database cannot be reached, or no service has used it.
    """
    backend = PostgresDatabase(url, Path())
    with backend.translate_start_errors(), Session.connect("", **backend.parameters) as connection:
        connection.read_only = True

        def ask(question: LiteralString, *values: object) -> list[tuple[Any, ...]]:
            return connection.execute(question, values).fetchall()

        if not (ask(EXISTS) and ask(_HAS_JOBS) == [(True,)]):
            raise DataError("No team service has used this database", hint="Start one with: runwatch serve")
        ((driven, waiting, stalled),) = ask(_COUNTS, STALLED_S)
        ((limited,),) = ask(_WAITING)
        oldest, age = (ask(_OLDEST) or [(None, None)])[0]
        processes = tuple(_process(name, since) for name, since in ask(_PROCESSES))
    return TeamStatus(processes, driven, waiting, limited, stalled, oldest, age)


def list_processes(url: Secret) -> tuple[Process, ...]:
    """Return the processes that use a database, without a change to it.

    Raises:
        UsageError: The address is not usable.
        DataError: The database cannot be reached.
    """
    backend = PostgresDatabase(url, Path())
    with backend.translate_start_errors(), Session.connect("", **backend.parameters) as connection:
        return tuple(_process(name, since) for name, since in connection.execute(_PROCESSES).fetchall())


def _process(name: str, since: datetime) -> Process:
    found = _NAME.fullmatch(name)
    if found is None:
        return Process("process", name, since)
    return Process(ROLES[found[1] or ""], f"process {found[2]} on {found[3]}", since)
