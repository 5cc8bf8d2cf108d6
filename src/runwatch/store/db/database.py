"""The console's database: one SQLite file that several console processes share.

Every statement runs on the database's own thread, so that the event loop never waits for a disk. A write takes the lock
when it begins and is on disk when it returns (WAL, synchronous FULL), so a power cut or kill -9 loses no confirmed
write.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import sqlite3
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Final, TypeVar

from runwatch.base.errors import DataError
from runwatch.base.files import PRIVATE_FILE, check_data_dir, hold_lock, private_directory
from runwatch.base.sqlite_errors import BUSY, DAMAGED, UNWRITABLE, find_error_code
from runwatch.store.db.schema import MIGRATIONS, SCHEMA_VERSION

T = TypeVar("T")

Work = Callable[[sqlite3.Connection], T]
"""Statements to run on the database's thread. They return values, never a cursor, and do not commit.

Do slow work before or after the statements, not between their rows: each row passes the interpreter lock to the UI
thread and takes it back before that wakes, so the screen would freeze until the last row.
"""

BUSY_S: Final = 5.0
"""How long a statement waits for another process, in seconds."""

PAGE: Final = 8192
"""Page size of a new database, in bytes. With SQLite's default of 4096 a scan of a million events takes a third longer.
"""

MIN_FREE_BYTES: Final = 1 << 16
"""Bytes that a disk must have left; with less, a disk error is reported as a full disk."""

_log = logging.getLogger(__name__)


class Database:
    """An open database. Create it with :meth:`open`.

    Attributes:
        path: The database file; its directory belongs to this installation alone.
    """

    def __init__(self, path: Path, executor: ThreadPoolExecutor, connection: sqlite3.Connection) -> None:
        self.path = path
        self._log_path = path.with_name(f"{path.name}-wal")
        self._executor = executor
        self._connection = connection
        self._closing = threading.Lock()
        self._is_closed = False

    @classmethod
    def open(cls, path: Path) -> Database:
        """Open or create the database (file 0600, directory 0700), and migrate its schema.

        Raises:
            DataError: It is corrupt, was written by a newer runwatch, or cannot be written. Nothing was changed.
        """
        executor = ThreadPoolExecutor(1, thread_name_prefix="runwatch-data")
        try:
            connection = executor.submit(_connect, path).result()
        except BaseException:
            executor.shutdown()
            raise
        return cls(path, executor, connection)

    async def read(self, work: Work[T]) -> T:
        """Run statements that change nothing, all on the same state of the database."""
        return await self._run(lambda: self._transact("BEGIN", work))

    def read_now(self, work: Work[T]) -> T:
        """Read as :meth:`read` does, for a thread without an event loop."""
        return self._executor.submit(self._transact, "BEGIN", work).result()

    async def write(self, work: Work[T]) -> T:
        """Run statements as one transaction: on return all of it is on disk, on an exception none of it.

        A cancelled task waits for a transaction that has begun, and drops one that has not.

        Raises:
            DataError: The database cannot be written, or another process keeps it busy for :data:`BUSY_S`.
        """
        return await self._run(lambda: self._transact("BEGIN IMMEDIATE", work))

    def write_soon(self, work: Work[object], *, failed: Callable[[], object] = lambda: None) -> None:
        """Queue a transaction without waiting for it; it is done before :meth:`close` returns.

        Args:
            failed: Called on the database's thread after a failure, which is also logged.
        """
        try:
            self._executor.submit(self._write_quietly, work, failed)
        except RuntimeError:
            _log.warning("a write came after the database was closed")

    @property
    def last_write(self) -> tuple[int, int] | None:
        """What every write of any process changes: time and size of the write-ahead log; ``None`` without one.

        Asks no other thread, and costs no wait, because the file is open.
        """
        try:
            found = self._log_path.stat()
        except OSError:
            return None
        return found.st_mtime_ns, found.st_size

    async def faults(self) -> list[str]:
        """Return the errors that SQLite's integrity check finds; empty if there are none. Reads the whole file.

        Raises:
            DataError: The file cannot be read at all.
        """
        return await self._run(self._faults)

    def close(self) -> None:
        """Finish queued work and close the file. May be called again."""
        with self._closing:
            if not self._is_closed:
                self._is_closed = True
                self._executor.submit(self._connection.close)
                self._executor.shutdown()

    async def _run(self, job: Callable[[], T]) -> T:
        try:
            running = self._executor.submit(job)
        except RuntimeError:
            raise DataError("The console's database is closed", detail=str(self.path)) from None
        waiting = asyncio.wrap_future(running)
        try:
            return await asyncio.shield(waiting)
        except asyncio.CancelledError:
            if not running.cancel():
                await asyncio.wait([waiting])
            raise

    def _transact(self, begin: str, work: Work[T]) -> T:
        with _explained(self.path):
            return _transaction(self._connection, begin, work)

    def _faults(self) -> list[str]:
        with _explained(self.path):
            try:
                rows = self._connection.execute("PRAGMA integrity_check").fetchall()
            except sqlite3.DatabaseError as error:
                if find_error_code(error) not in DAMAGED:
                    raise
                return [str(error)]
            return [str(row[0]) for row in rows if row[0] != "ok"]

    def _write_quietly(self, work: Work[object], failed: Callable[[], object]) -> None:
        try:
            self._transact("BEGIN IMMEDIATE", work)
        except Exception:
            _log.exception("a background write failed")
            failed()


def _transaction(connection: sqlite3.Connection, begin: str, work: Work[T]) -> T:
    connection.execute(begin)
    try:
        result = work(connection)
        connection.execute("COMMIT")
    except BaseException:
        # SQLite itself rolls back when the disk is full.
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    return result


def _connect(path: Path) -> sqlite3.Connection:
    with _explained(path):
        check_data_dir(path.parent)
        _make_private(path)
        connection = sqlite3.connect(path, timeout=BUSY_S, isolation_level=None)
        try:
            _prepare(connection, path)
        except BaseException:
            connection.close()
            raise
        return connection


def _make_private(path: Path) -> None:
    private_directory(path.parent)
    # SQLite gives its side files the mode of the database. An existing file is not opened here: closing it would drop
    # the locks that another connection of this process holds on it.
    with contextlib.suppress(FileExistsError):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, PRIVATE_FILE))
    if path.stat().st_mode & 0o077:
        path.chmod(PRIVATE_FILE)


def _prepare(connection: sqlite3.Connection, path: Path) -> None:
    # Takes effect only on an empty file.
    connection.execute(f"PRAGMA page_size = {PAGE}")
    if _version(connection, path) < SCHEMA_VERSION:
        with hold_lock(path.with_suffix(".lock")):
            connection.execute("PRAGMA journal_mode = WAL")
            for number in range(_version(connection, path), SCHEMA_VERSION):
                _transaction(connection, "BEGIN IMMEDIATE", partial(_migrate, number=number))
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA foreign_keys = ON")


def _migrate(connection: sqlite3.Connection, *, number: int) -> None:
    for statement in MIGRATIONS[number]:
        connection.execute(statement)
    connection.execute(f"PRAGMA user_version = {number + 1}")


def _version(connection: sqlite3.Connection, path: Path) -> int:
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    if version > SCHEMA_VERSION:
        raise DataError(
            "The console's data was written by a newer runwatch",
            detail=f"{path} has schema {version}; this runwatch knows schemas up to {SCHEMA_VERSION}",
            hint=f"Install a runwatch that knows schema {version}, or set RUNWATCH_DATA_DIR to another directory.",
        )
    return version


@contextlib.contextmanager
def _explained(path: Path) -> Iterator[None]:
    """Convert errors of SQLite and the system into errors the user can act on; programming errors pass through."""
    try:
        yield
    except OSError as error:
        raise _unwritable(path, error.strerror or str(error)) from error
    except sqlite3.Error as error:
        code = find_error_code(error)
        if code in DAMAGED:
            raise DataError(
                "The console's database is damaged",
                detail=f"{path}: {error}",
                hint=f"Nothing was deleted. Move {path.name} and its -wal and -shm files out of {path.parent}, keep "
                "them for a rescue with `sqlite3 … .recover`, and start again.",
            ) from error
        if code in BUSY:
            raise DataError(
                "Another runwatch process is using the console's database",
                detail=str(path),
                hint="Try again; if it keeps failing, look for a runwatch process that hangs.",
                retryable=True,
            ) from error
        if code == sqlite3.SQLITE_FULL or (code == sqlite3.SQLITE_IOERR and _is_full(path.parent)):
            raise DataError(
                "No space is left for the console's data",
                detail=f"{path}: {error}",
                hint=f"Make room on the disk of {path.parent}, or set RUNWATCH_DATA_DIR to a directory on another one. "
                "Nothing stored is lost.",
            ) from error
        if code in UNWRITABLE:
            raise _unwritable(path, str(error)) from error
        raise


def _is_full(directory: Path) -> bool:
    """Return whether there is hardly room for another page; SQLite reports some full disks as a general I/O error."""
    # Imported here because shutil loads the compression libraries, which the start does not need.
    import shutil

    try:
        return shutil.disk_usage(directory).free < MIN_FREE_BYTES
    except OSError:
        return False


def _unwritable(path: Path, reason: str) -> DataError:
    return DataError(
        "The console's data directory is not usable",
        detail=f"{path}: {reason}",
        hint=f"See that {path.parent} is a directory of yours, writable and with space left, or set RUNWATCH_DATA_DIR "
        "to another one.",
    )
