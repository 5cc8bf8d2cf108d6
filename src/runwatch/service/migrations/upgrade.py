"""Apply the revisions missing from a database file, all in one transaction or none.

A revision is a function that receives Alembic's operations. SQLite's own ``user_version`` stores a file's version, so
that older code can refuse it without Alembic.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import cast

from alembic.operations import Operations
from alembic.runtime.migration import MigrationContext
from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError

from runwatch.base.errors import DataError
from runwatch.base.sqlite_errors import UNWRITABLE, find_error_code
from runwatch.service.migrations import revisions
from runwatch.service.migrations.backup import backup_of, make_backup
from runwatch.service.migrations.disk_errors import translate_disk_errors


def migrate(engine: Engine, path: Path, target: int) -> None:
    """Migrate a database file to a newer schema version. Leave a copy for the caller to remove.

    Args:
        engine: Writes to the file; the caller holds the data directory's lock.

    Raises:
        DataError: The migration failed; the file is unchanged, and the error names the copy.
    """
    with translate_disk_errors(path), _without_foreign_keys(engine) as connection:
        transaction = connection.begin()
        version = int(connection.exec_driver_sql("PRAGMA user_version").scalar_one())
        try:
            with transaction:
                make_backup(path)
                _apply(connection, version, target)
        except DataError:
            raise
        except Exception as error:
            raise _failed(path, version, error) from error


def apply_revisions(connection: Connection, version: int, target: int) -> None:
    """Apply the revisions between two schema versions in the current transaction, to any database."""
    operations = Operations(MigrationContext.configure(connection))
    for revision in revisions.REVISIONS[version - 1 : target - 1]:
        revision(operations)


def _apply(connection: Connection, version: int, target: int) -> None:
    with _sequences_kept(connection):
        apply_revisions(connection, version, target)
    if broken := {row[0] for row in connection.exec_driver_sql("PRAGMA foreign_key_check")}:
        raise sqlite3.IntegrityError(f"rows of {', '.join(sorted(broken))} refer to rows that are not there")
    connection.exec_driver_sql(f"PRAGMA user_version = {target}")


@contextlib.contextmanager
def _without_foreign_keys(engine: Engine) -> Iterator[Connection]:
    """Yield a connection that ignores foreign keys, so that a referenced table can be recreated.

    SQLite accepts that setting only between transactions.
    """
    with engine.connect() as connection:
        _raw(connection).execute("PRAGMA foreign_keys=OFF")
        try:
            yield connection
        finally:
            _raw(connection).execute("PRAGMA foreign_keys=ON")


@contextlib.contextmanager
def _sequences_kept(connection: Connection) -> Iterator[None]:
    """Keep recreated tables from reusing sequence numbers; cursors may name deleted rows."""
    query = "SELECT name, seq FROM sqlite_sequence"
    before = dict(_raw(connection).execute(query))
    yield
    after = dict(_raw(connection).execute(query))
    tables = {name for (name,) in connection.exec_driver_sql("SELECT name FROM sqlite_master WHERE type = 'table'")}
    for name in tables & before.keys():
        if before[name] > after.get(name, 0):
            connection.exec_driver_sql("DELETE FROM sqlite_sequence WHERE name = ?", (name,))
            connection.exec_driver_sql("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", (name, before[name]))


def _raw(connection: Connection) -> sqlite3.Connection:
    return cast(sqlite3.Connection, connection.connection.dbapi_connection)


def _failed(path: Path, version: int, error: Exception) -> DataError:
    # Row values may be prompts: repeat only SQLite's own words, which name tables and columns.
    found = error.orig if isinstance(error, DBAPIError) else error
    reason = str(found) if isinstance(found, sqlite3.Error) else type(error).__name__
    is_unwritable = find_error_code(found) in UNWRITABLE
    step = (
        f"See that {path.parent} is writable and its disk has space left, and start again."
        if is_unwritable
        else "Use the version of runwatch from before, which still opens it, and report this."
    )
    return DataError(
        "The service's database could not be migrated",
        detail=f"{path} is as it was, at schema version {version}: {reason}",
        hint=f"{step} A copy from before is {backup_of(path)}",
        retryable=is_unwritable,
    )
