"""The service's database: one writer thread with group commit, and readers that cannot write (manual: decisions, "Local
service storage").

A write is a function over a :class:`~runwatch.service.transaction.Transaction`. The writer thread takes all waiting
writes, runs each in a savepoint of one transaction, so that a failing one does not affect the others, and notifies the
callers only after the commit is on disk. Nothing here runs on the event loop.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import queue
import sqlite3
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import datetime
from pathlib import Path
from typing import Any, Final, Generic, TypeVar, cast
from urllib.parse import quote

from sqlalchemy import Connection, Engine, QueuePool, Table, create_engine, event

from runwatch.base.clock import Clock
from runwatch.base.errors import DataError
from runwatch.base.files import PRIVATE_FILE, private_directory
from runwatch.service.disk_errors import translate_disk_errors
from runwatch.service.migrations.backup import remove_backup
from runwatch.service.tables import SCHEMA_VERSION, metadata
from runwatch.service.transaction import Transaction

T = TypeVar("T")

READERS: Final = 4
"""Number of concurrent reads."""

BATCH: Final = 256
"""Most writes in one commit, so that the first one does not wait forever."""

# Deleted data is overwritten: prompts and outputs must be gone after their retention.
_PRAGMAS: Final = ("journal_mode=WAL", "synchronous=FULL", "secure_delete=ON", "foreign_keys=ON", "busy_timeout=5000")


class _Job(Generic[T]):
    def __init__(self, function: Callable[[Transaction], T]) -> None:
        self._function = function
        self.future: Future[T] = Future()
        self.added: set[Table] = set()
        self._result: T | None = None
        self._error: BaseException | None = None

    def run(self, connection: Connection, now: datetime) -> None:
        """Run the function in a savepoint and keep its result for :meth:`tell`.

        Raises:
            SQLAlchemyError: the failure ended the whole transaction, for example on a full disk.
        """
        try:
            with _savepoint(connection):
                transaction = Transaction(connection, now)
                self._result = self._function(transaction)
            self.added = transaction.added
        except Exception as error:
            if not _in_transaction(connection):
                raise
            self._error = error

    def tell(self) -> None:
        if self._error is not None:
            self.future.set_exception(self._error)
        else:
            self.future.set_result(self._result)  # type: ignore[arg-type]  # T itself may be None


class ServiceDatabase:
    """The open database, created by :meth:`open`; the caller holds the data directory's lock."""

    def __init__(self, path: Path, writer: Engine, reader: Engine, clock: Clock) -> None:
        self._path = path
        self._writer = writer
        self._reader = reader
        self._clock = clock
        self._jobs: queue.SimpleQueue[_Job[Any] | None] = queue.SimpleQueue()
        self._closing = threading.Lock()
        self._is_closed = False
        self._watchers: list[tuple[Table, Callable[[], object]]] = []
        self._readers = ThreadPoolExecutor(READERS, thread_name_prefix="database-reader")
        self._thread = threading.Thread(target=self._write_all, name="database-writer", daemon=True)
        self._thread.start()

    @classmethod
    def open(cls, path: Path, clock: Clock) -> ServiceDatabase:
        """Open the database of ``path``, creating it with mode 0600 if it does not exist.

        Raises:
            DataError: it cannot be opened or migrated, is damaged, or was written by a newer version.
        """
        return cls(path, _open_writer(path), _engine(path, "ro", "BEGIN", READERS), clock)

    async def read(self, function: Callable[[Transaction], T]) -> T:
        """Run a read-only function on a reader thread, over one consistent state of the database."""
        return await asyncio.get_running_loop().run_in_executor(self._readers, self._read, function)

    async def write(self, function: Callable[[Transaction], T]) -> T:
        """Run a writing function, and return its result once it is on disk.

        If the function raises, its error is raised here and none of its writes are kept. The function runs on the
        writer thread and blocks all other writes, so it must do nothing but its statements.

        Raises:
            DataError: the database is closed, or its disk is full or cannot be written.
        """
        job = _Job(function)
        with self._closing:
            if self._is_closed:
                raise DataError("The service's database is closed", detail="The service is stopping.")
            self._jobs.put(job)
        with translate_disk_errors(self._path):
            return await asyncio.wrap_future(job.future)

    def watch(self, table: Table, told: Callable[[], None]) -> None:
        """Call a function on the running event loop after every commit that added rows to a table."""
        loop = asyncio.get_running_loop()
        self._watchers.append((table, lambda: loop.call_soon_threadsafe(told)))

    def close(self) -> None:
        """Finish waiting writes and close; do nothing if already closed."""
        with self._closing:
            if self._is_closed:
                return
            self._is_closed = True
            self._jobs.put(None)
        self._thread.join()
        self._readers.shutdown()
        self._reader.dispose()
        self._writer.dispose()

    def _read(self, function: Callable[[Transaction], T]) -> T:
        with self._reader.connect() as connection, connection.begin():
            return function(Transaction(connection, self._clock.now()))

    def _write_all(self) -> None:
        is_open = True
        with self._writer.connect() as connection:
            while is_open:
                waiting = [self._jobs.get()]
                with contextlib.suppress(queue.Empty):
                    while len(waiting) < BATCH:
                        waiting.append(self._jobs.get_nowait())
                is_open = None not in waiting
                # Skip writes whose caller was cancelled before they started.
                self._commit(
                    connection,
                    [job for job in waiting if job is not None and job.future.set_running_or_notify_cancel()],
                )

    def _commit(self, connection: Connection, jobs: list[_Job[Any]]) -> None:
        try:
            with connection.begin():
                for job in jobs:
                    job.run(connection, self._clock.now())
        except Exception as error:
            # The whole transaction failed, so none of its writes is on disk.
            for job in jobs:
                job.future.set_exception(error)
            return
        for job in jobs:
            job.tell()
        added = {table for job in jobs for table in job.added}
        for table, tell in self._watchers:
            if table in added:
                tell()


class SingleWriterDatabase(ServiceDatabase):
    """A database used by a single task, in one transaction that ends when it is closed.

    Nothing is on disk until then. Use it for all-or-nothing creation, such as the past of the sample organization.
    """

    def __init__(self, writer: Engine, clock: Clock) -> None:
        self._writer = writer
        self._clock = clock
        self._connection = writer.connect()
        self._connection.begin()

    @classmethod
    def open(cls, path: Path, clock: Clock) -> SingleWriterDatabase:
        """Create the database of ``path``; see :meth:`ServiceDatabase.open`.

        Raises:
            DataError: as there.
        """
        return cls(_open_writer(path), clock)

    async def read(self, function: Callable[[Transaction], T]) -> T:
        """Run a read-only function immediately."""
        return function(Transaction(self._connection, self._clock.now()))

    async def write(self, function: Callable[[Transaction], T]) -> T:
        """Run a writing function immediately; if it raises, none of its writes are kept."""
        with _savepoint(self._connection):
            return function(Transaction(self._connection, self._clock.now()))

    def close(self) -> None:
        """Commit everything and close; do nothing if already closed."""
        if not self._connection.closed:
            with self._connection:
                self._connection.commit()
        self._writer.dispose()


def _open_writer(path: Path) -> Engine:
    """Open the single writing connection, creating the file if it does not exist.

    Raises:
        DataError: it cannot be opened, written or migrated, is damaged, or was written by a newer version.
    """
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
    writer = _engine(path, "rw", "BEGIN IMMEDIATE", 1)
    try:
        _prepare(writer, path)
    except BaseException:
        writer.dispose()
        raise
    return writer


@contextlib.contextmanager
def _savepoint(connection: Connection) -> Iterator[None]:
    """Undo the block's writes if it raises, unless the failure has ended the whole transaction.

    Every savepoint has the same name, so that its statements are built and prepared only once.
    """
    connection.exec_driver_sql("SAVEPOINT one_write")
    try:
        yield
    except BaseException:
        if _in_transaction(connection):
            connection.exec_driver_sql("ROLLBACK TO one_write")
            connection.exec_driver_sql("RELEASE one_write")
        raise
    connection.exec_driver_sql("RELEASE one_write")


def _in_transaction(connection: Connection) -> bool:
    return cast(sqlite3.Connection, connection.connection.dbapi_connection).in_transaction


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
        "sqlite://", creator=connect, poolclass=QueuePool, pool_size=size, max_overflow=0, hide_parameters=True
    )

    def begin_transaction(connection: Connection) -> None:
        connection.exec_driver_sql(begin)

    event.listen(engine, "begin", begin_transaction)
    return engine


def _prepare(engine: Engine, path: Path) -> None:
    with translate_disk_errors(path), engine.begin() as connection:
        version = connection.exec_driver_sql("PRAGMA user_version").scalar_one()
        if version > SCHEMA_VERSION:
            raise DataError(
                "The service's database was written by a newer version of runwatch",
                detail=f"{path} has schema version {version}; this version reads up to {SCHEMA_VERSION}.",
                hint="Update runwatch, or name another data directory with --data-dir.",
            )
        if version == 0:
            metadata.create_all(connection)
        is_older = 0 < version < SCHEMA_VERSION
        if not is_older:
            connection.exec_driver_sql(f"PRAGMA user_version = {SCHEMA_VERSION}")
    if is_older:
        # Alembic is slow to import, and only an older file needs it.
        from runwatch.service.migrations.upgrade import migrate

        migrate(engine, path, SCHEMA_VERSION)
    # This also removes the copy of a migration killed after its commit.
    remove_backup(path)
