"""The service's database: one writer thread with group commit, and readers that cannot write (manual: decisions, "Local
service storage").

A write is a function over a :class:`~runwatch.service.transaction.Transaction`. The writer thread takes all waiting
writes, runs each in a savepoint of one transaction, so that a failing one does not affect the others, and notifies the
callers only after the commit is on disk. Nothing here runs on the event loop.
"""

from __future__ import annotations

import asyncio
import contextlib
import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, Final, Generic, Protocol, TypeVar

from sqlalchemy import Connection, Table

from runwatch.base.clock import Clock
from runwatch.base.errors import DataError
from runwatch.service.backends.backend import Backend
from runwatch.service.backends.sqlite import SqliteFile
from runwatch.service.tables import SCHEMA_VERSION
from runwatch.service.transaction import Transaction, driver_of

T = TypeVar("T")

READERS: Final = 4
"""Number of concurrent reads."""

BATCH: Final = 256
"""Most writes in one commit, so that the first one does not wait forever."""

RENEW_S: Final = 2.0
"""Seconds without a write after which a process of several checks whether the database still knows it."""


class TransactionRunner(Protocol):
    """Reads and writes of a database; see :class:`ServiceDatabase`."""

    async def read(self, function: Callable[[Transaction], T]) -> T: ...

    async def write(self, function: Callable[[Transaction], T]) -> T: ...


class _WaitingWrite(Generic[T]):
    def __init__(self, function: Callable[[Transaction], T]) -> None:
        self._function = function
        self.future: Future[T] = Future()
        self.added: set[Table] = set()
        self._result: T | None = None
        self._error: BaseException | None = None

    def run(self, connection: Connection, backend: Backend, now: datetime, savepoint: _Savepoint | None) -> None:
        """Run the function, and keep its result for :meth:`report`.

        Args:
            savepoint: Undoes its writes if it fails; ``None`` if it is alone in the transaction.

        Raises:
            Exception: The failure ends the whole transaction, as on a full disk or if it is alone in it.
        """
        self._error = None
        try:
            with savepoint or contextlib.nullcontext():
                transaction = Transaction(connection, now, backend.queue)
                self._result = self._function(transaction)
            self.added = transaction.added
        except Exception as error:
            if savepoint is None or not backend.in_transaction(connection) or backend.may_be_late(error):
                raise
            self._error = error

    def report(self) -> None:
        if self._error is not None:
            self.future.set_exception(self._error)
        else:
            self.future.set_result(self._result)  # type: ignore[arg-type]  # T itself may be None


class ServiceDatabase:
    """The open database, created by :meth:`open`."""

    def __init__(self, backend: Backend, clock: Clock) -> None:
        self._backend = backend
        self._clock = clock
        self._writes: queue.SimpleQueue[_WaitingWrite[Any] | None] = queue.SimpleQueue()
        self._closing = threading.Lock()
        self._is_closed = False
        self._is_ended = False
        self._watchers: list[tuple[Table, Callable[[], object]]] = []
        self._readers = ThreadPoolExecutor(READERS, thread_name_prefix="database-reader")
        self._thread = threading.Thread(target=self._write_all, name="database-writer", daemon=True)
        self._thread.start()

    @classmethod
    def open(cls, location: Path | Backend, clock: Clock) -> ServiceDatabase:
        """Open a database, or the SQLite file of a path; tables that do not exist are created.

        Raises:
            DataError: It cannot be opened or migrated, is damaged or in use, or was written by a newer version.
        """
        backend = _open(location)
        backend.open_reader(READERS)
        return cls(backend, clock)

    async def read(self, function: Callable[[Transaction], T]) -> T:
        """Run a read-only function on a reader thread, over one consistent state of the database.

        Raises DataError if the database cannot be reached.
        """
        return await asyncio.get_running_loop().run_in_executor(self._readers, self._read, function)

    async def read_statement(self, function: Callable[[Transaction], T]) -> T:
        """Run a read-only function of one statement, or of statements that need no common state, at less cost.

        Raises:
            DataError: The database cannot be reached.
        """
        reading = partial(self._read, function, is_statement=True)
        return await asyncio.get_running_loop().run_in_executor(self._readers, reading)

    async def write(self, function: Callable[[Transaction], T]) -> T:
        """Run a writing function, and return its result once it is on disk.

        If the function raises, its error is raised here and none of its writes are kept. The function runs on the
        writer thread and blocks all other writes, so it must do nothing but its statements.

        Raises:
            DataError: The database is closed, or cannot be written or reached. If it was lost during the commit, the
                write may have been kept.
        """
        write = _WaitingWrite(function)
        with self._closing:
            if self._is_closed:
                raise DataError("The service's database is closed", detail="The service is stopping.")
            self._writes.put(write)
        with self._backend.translate_errors():
            return await asyncio.wrap_future(write.future)

    async def ping(self) -> None:
        """Ask the database for an answer, beside everything else that waits for one.

        Raises DatabaseUnreachableError if it gives none in time.
        """
        with self._backend.translate_read_errors():
            await asyncio.to_thread(self._backend.ping)

    def watch(self, table: Table, notify: Callable[[], None]) -> None:
        """Call a function on the running event loop after every commit that added rows to a table."""
        loop = asyncio.get_running_loop()
        self._watchers.append((table, lambda: loop.call_soon_threadsafe(notify)))

    def when_taken(self, notify: Callable[[DataError], None]) -> None:
        """Call a function on the running event loop if another service has opened the database since."""
        loop = asyncio.get_running_loop()
        self._backend.when_taken(lambda error: loop.call_soon_threadsafe(notify, error))

    def close(self) -> None:
        """Finish waiting writes and close; do nothing if already closed."""
        with self._closing:
            if self._is_closed:
                return
            self._is_closed = True
            self._writes.put(None)
        self._thread.join()
        self._readers.shutdown()
        self._backend.close()

    def _read(self, function: Callable[[Transaction], T], *, is_statement: bool = False) -> T:
        reader = self._backend.reader
        with self._backend.translate_read_errors():
            with reader.connect() as connection:
                try:
                    return self._read_once(connection, function, is_statement=is_statement)
                except Exception:
                    if not connection.invalidated:
                        raise
            # The connection was lost, perhaps while it was idle, and the other idle ones with it. A function that only
            # reads can start again.
            reader.dispose()
            with reader.connect() as connection:
                return self._read_once(connection, function, is_statement=is_statement)

    def _read_once(self, connection: Connection, function: Callable[[Transaction], T], *, is_statement: bool) -> T:
        with self._backend.single_statements(connection) if is_statement else connection.begin():
            return function(Transaction(connection, self._clock.now()))

    def _write_all(self) -> None:
        with self._backend.writer.connect() as connection:
            while not self._is_ended:
                writes: list[_WaitingWrite[Any]] = []
                try:
                    self._collect(self._writes.get(timeout=None if self._backend.queue is None else RENEW_S), writes)
                except queue.Empty:
                    self._backend.renew(connection)
                    continue
                self._collect_waiting(writes)
                self._commit(connection, writes)

    def _collect_waiting(self, writes: list[_WaitingWrite[Any]]) -> None:
        with contextlib.suppress(queue.Empty):
            while len(writes) < BATCH and not self._is_ended:
                self._collect(self._writes.get_nowait(), writes)

    def _collect(self, write: _WaitingWrite[Any] | None, writes: list[_WaitingWrite[Any]]) -> None:
        if write is None:
            self._is_ended = True
        elif write.future.set_running_or_notify_cancel():
            # Writes whose caller was cancelled before they started are skipped.
            writes.append(write)

    def _commit(self, connection: Connection, writes: list[_WaitingWrite[Any]], *, is_again: bool = False) -> None:
        is_committing = False
        try:
            with self._backend.begin(connection):
                if self._backend.queue is not None and not is_again:
                    # More writes have come while this process waited for its turn.
                    self._collect_waiting(writes)
                with self._backend.pipelined(connection):
                    savepoint = _Savepoint(connection, self._backend) if len(writes) > 1 else None
                    for write in writes:
                        write.run(connection, self._backend, self._clock.now(), savepoint)
                is_committing = True
        except Exception as error:
            are_several = len(writes) > 1 and not is_committing
            if are_several and self._backend.may_be_late(error) and not connection.invalidated:
                # It is not known which write has failed, so each is committed alone.
                for write in writes:
                    self._commit(connection, [write], is_again=True)
                return
            if not (is_committing and self._backend.was_committed(connection, error)):
                # The whole transaction failed: no write of it may be taken as done.
                for write in writes:
                    write.future.set_exception(error)
                return
        for write in writes:
            write.report()
        added = {table for write in writes for table in write.added}
        for table, notify in self._watchers:
            if table in added:
                notify()


class SingleWriterDatabase(TransactionRunner):
    """A database used by a single task, in one transaction that ends when it is closed.

    Nothing is on disk until then. Use it for all-or-nothing creation, such as the past of the sample organization.
    """

    def __init__(self, backend: Backend, clock: Clock) -> None:
        self._backend = backend
        self._clock = clock
        self._connection = backend.writer.connect()
        self._connection.begin()
        self._savepoint = _Savepoint(self._connection, backend)

    @classmethod
    def open(cls, location: Path | Backend, clock: Clock) -> SingleWriterDatabase:
        """Create the database; see :meth:`ServiceDatabase.open`.

        Raises:
            DataError: As there.
        """
        return cls(_open(location), clock)

    async def read(self, function: Callable[[Transaction], T]) -> T:
        """Run a read-only function immediately."""
        return function(Transaction(self._connection, self._clock.now()))

    async def write(self, function: Callable[[Transaction], T]) -> T:
        """Run a writing function immediately; if it raises, none of its writes are kept."""
        with self._savepoint:
            return function(Transaction(self._connection, self._clock.now()))

    def close(self) -> None:
        """Commit everything and close; do nothing if already closed."""
        if not self._connection.closed:
            with self._connection:
                self._connection.commit()
        self._backend.close()

    def discard(self) -> None:
        """Close without keeping anything; do nothing if already closed."""
        self._connection.close()
        self._backend.close()


def _open(location: Path | Backend) -> Backend:
    backend = SqliteFile(location) if isinstance(location, Path) else location
    backend.open_writer(SCHEMA_VERSION)
    return backend


class _Savepoint:
    """Undoes the writes of a block that raises, unless the failure has ended the whole transaction.

    It is set when it is made, and again after every block.
    """

    def __init__(self, connection: Connection, backend: Backend) -> None:
        self._connection = connection
        self._backend = backend
        driver_of(connection).execute("SAVEPOINT one_write")

    def __enter__(self) -> None: ...

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            driver_of(self._connection).execute("RELEASE one_write")
            driver_of(self._connection).execute("SAVEPOINT one_write")
        elif self._backend.in_transaction(self._connection):
            driver_of(self._connection).execute("ROLLBACK TO one_write")
