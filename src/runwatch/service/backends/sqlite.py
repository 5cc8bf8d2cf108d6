"""The tables in an SQLite file (manual: decisions, "Local service storage")."""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Final, cast
from urllib.parse import quote

from sqlalchemy import Connection, Engine, QueuePool, create_engine, event

from runwatch.base.errors import DataError
from runwatch.base.files import PRIVATE_FILE, private_directory
from runwatch.service.backends.backend import Backend
from runwatch.service.migrations.backup import remove_backup
from runwatch.service.migrations.disk_errors import translate_disk_errors
from runwatch.service.tables import metadata

# Deleted data is overwritten: prompts and outputs must be gone after their retention.
_PRAGMAS: Final = ("journal_mode=WAL", "synchronous=FULL", "secure_delete=ON", "foreign_keys=ON", "busy_timeout=5000")


_JSON: Final = json.JSONDecoder()


class SqliteFile(Backend):
    """A file, created with mode 0600 if it does not exist; the caller holds the data directory's lock."""

    def __init__(self, path: Path) -> None:
        self.path: Final = path

    def is_new(self) -> bool:
        return not self.path.exists()

    def open_writer(self, schema_version: int) -> None:
        path = self.path
        try:
            private_directory(path.parent)
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, PRIVATE_FILE))
            path.chmod(PRIVATE_FILE)
        except OSError as error:
            raise DataError(
                "The service's database cannot be opened",
                detail=f"{path}: {error.strerror}",
                hint="Make the data directory writable, or name another one with --data-dir.",
            ) from error
        self.writer = _engine(path, "rw", "BEGIN IMMEDIATE", 1)
        try:
            _prepare(self.writer, path, schema_version)
        except BaseException:
            self.writer.dispose()
            raise

    def open_reader(self, size: int) -> None:
        self.reader = _engine(self.path, "ro", "BEGIN", size)

    def in_transaction(self, connection: Connection) -> bool:
        return cast(sqlite3.Connection, connection.connection.dbapi_connection).in_transaction

    def translate_errors(self) -> AbstractContextManager[None]:
        return translate_disk_errors(self.path)

    def last_sequences(self, connection: Connection) -> dict[str, int]:
        """Return the last sequence number that each table has given, also to rows that are gone."""
        return dict(connection.exec_driver_sql("SELECT name, seq FROM sqlite_sequence").all())


def _read_json(text: str) -> Any:
    """Read a value that this service has written; ``json.loads`` takes ten times as long to find its start and end."""
    return _JSON.raw_decode(text)[0]


def _engine(path: Path, mode: str, begin: str, size: int) -> Engine:
    def connect() -> sqlite3.Connection:
        connection = sqlite3.connect(f"file:{quote(str(path))}?mode={mode}", uri=True, check_same_thread=False)
        connection.isolation_level = None
        try:
            for pragma in _PRAGMAS if mode == "rw" else _PRAGMAS[3:]:
                connection.execute(f"PRAGMA {pragma}")
        except BaseException:
            connection.close()
            raise
        return connection

    # Errors reach the log and stored causes, and statement values may be prompts, so values are left out.
    engine = create_engine(
        "sqlite://",
        creator=connect,
        poolclass=QueuePool,
        pool_size=size,
        max_overflow=0,
        hide_parameters=True,
        json_deserializer=_read_json,
    )

    def begin_transaction(connection: Connection) -> None:
        connection.exec_driver_sql(begin)

    event.listen(engine, "begin", begin_transaction)
    return engine


def _prepare(engine: Engine, path: Path, schema_version: int) -> None:
    with translate_disk_errors(path), engine.begin() as connection:
        version = connection.exec_driver_sql("PRAGMA user_version").scalar_one()
        if version > schema_version:
            raise DataError(
                "The service's database was written by a newer version of runwatch",
                detail=f"{path} has schema version {version}; this version reads up to {schema_version}.",
                hint="Update runwatch, or name another data directory with --data-dir.",
            )
        if version == 0:
            metadata.create_all(connection)
        is_older = 0 < version < schema_version
        if not is_older:
            connection.exec_driver_sql(f"PRAGMA user_version = {schema_version}")
    if is_older:
        # Alembic is slow to import, and only an older file needs it.
        from runwatch.service.migrations.upgrade import migrate

        migrate(engine, path, schema_version)
    # This also removes the copy of a migration killed after its commit.
    remove_backup(path)
