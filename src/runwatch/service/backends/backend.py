"""What :class:`~runwatch.service.database.ServiceDatabase` needs of a database that holds the tables."""

from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from types import MappingProxyType
from typing import Any

from sqlalchemy import Connection, Engine, RootTransaction

from runwatch.base.errors import DataError
from runwatch.base.secrets.sealing import MasterKeys
from runwatch.service.transaction import RunQueue


class Backend(ABC):
    """A database, opened once by this process. Whether others may use it at the same time is its own matter.

    Attributes:
        writer: Its one connection writes.
        reader: Its connections cannot write; each transaction sees one state of the database.
        queue: Where runs wait for a driver; ``None`` if the engine of this process drives every run.
        parameters: Parameters of a connection, where there are several and some are made elsewhere.
        keys: The master keys of a service of several processes. Once it is open, the first one is the newest that all
            of them have.
    """

    writer: Engine
    reader: Engine
    queue: RunQueue | None = None
    keys: MasterKeys | None = None
    parameters: Mapping[str, Any] = MappingProxyType({})

    @abstractmethod
    def is_new(self) -> bool:
        """Return whether nothing was ever stored in it. Raises DataError if it cannot be reached."""

    @abstractmethod
    def open_writer(self, schema_version: int) -> None:
        """Connect the writer, and create or migrate the tables.

        Raises:
            DataError: It cannot be opened or migrated, is damaged or in use, or was written by a newer version.
        """

    @abstractmethod
    def open_reader(self, size: int) -> None:
        """Connect this many readers, once the writer is open."""

    @abstractmethod
    def in_transaction(self, connection: Connection) -> bool:
        """Return whether a transaction is left after a failure, so that it can return to a savepoint."""

    @abstractmethod
    def translate_errors(self) -> AbstractContextManager[None]:
        """Translate errors of the database itself; statement mistakes and broken constraints pass unchanged.

        Raises:
            DataError: The database is damaged, or cannot be written or reached.
        """

    def translate_read_errors(self) -> AbstractContextManager[None]:
        """Translate errors of a database that cannot be reached for a read; others pass unchanged.

        Raises:
            DataError: The database cannot be reached.
        """
        return contextlib.nullcontext()

    def begin(self, connection: Connection) -> RootTransaction:
        """Begin a transaction of the writer."""
        return connection.begin()

    def single_statements(self, connection: Connection) -> AbstractContextManager[object]:
        """Have every statement of a reader be a transaction of its own during the block, where that costs less."""
        return connection.begin()

    def pipelined(self, connection: Connection) -> AbstractContextManager[None]:
        """Have statements without rows wait for no answer during the block, where the database can.

        What such a statement raises comes with a later one, or at the end of the block.
        """
        return contextlib.nullcontext()

    def may_be_late(self, error: Exception) -> bool:
        """Return whether an error in such a block may be that of an earlier statement."""
        return False

    def ping(self) -> None:  # noqa: B027 - a file is always there
        """Have the database answer in a new session."""

    def renew(self, connection: Connection) -> None:  # noqa: B027 - a file loses no connection
        """Connect the idle writer again if its connection was lost; try once, and raise nothing."""

    def was_committed(self, connection: Connection, error: Exception) -> bool:
        """Return whether a transaction of the writer was committed for certain, although its commit raised this."""
        return False

    def when_taken(self, notify: Callable[[DataError], object]) -> None:  # noqa: B027 - most databases cannot be taken
        """Call a function, on any thread, if another service has opened the database since this one did."""

    def close(self) -> None:
        for engine in (getattr(self, "reader", None), getattr(self, "writer", None)):
            if engine is not None:
                engine.dispose()
