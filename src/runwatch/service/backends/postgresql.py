"""The tables in a PostgreSQL database (manual: team-service, "Database"). Only ``--database`` imports this.

The writer's session holds an advisory lock from its start to its end. Without a queue one process at a time uses the
database: the lock is its own. Every opening raises a number, so that a service whose session was lost notices that
another one has used the database since, and writes nothing more.

With a queue any number of processes use the database, and share that lock. Their writes take turns: each transaction
holds a second advisory lock, so that a write sees all earlier ones, as in a service that is one process.
"""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, LiteralString, cast

import psycopg
from psycopg.pq import TransactionStatus
from sqlalchemy import Connection, Engine, ExceptionContext, QueuePool, RootTransaction, create_engine, event
from sqlalchemy.exc import DBAPIError, StatementError

from runwatch.base.errors import DataError, LocalServiceError, RunwatchError
from runwatch.base.log import redact
from runwatch.base.secrets.sealing import MasterKeys
from runwatch.base.secrets.secret import Secret
from runwatch.service.backends.backend import Backend
from runwatch.service.backends.data_directory import make_pairing_error, pair, paired_with
from runwatch.service.backends.job_queue import JobQueue
from runwatch.service.backends.postgresql_address import ESCAPES, describe_address, parse_address
from runwatch.service.backends.postgresql_session import Session, text_adapters
from runwatch.service.errors import DatabaseUnreachableError
from runwatch.service.tables import metadata

OLDEST: Final = 15
"""The oldest major version of PostgreSQL that is supported."""

LOCK_WAIT_S: Final = 3.0
"""Seconds to wait for the lock at a start: the session of a killed process may end a moment after it."""

RESOLVE_S: Final = 10.0
"""Seconds to ask for the outcome of a commit whose answer was lost, while its callers wait."""

AGAIN_S: Final = 0.5
"""Seconds after a failed connection during which writes fail without another try."""

_PAUSE_S: Final = 0.1

WATCH_S: Final = 6.0
"""Seconds to watch for other processes before a migration: those that the server has dropped come back meanwhile, each
once its writer has been idle for :data:`runwatch.service.database.RENEW_S`.
"""

TURN_S: Final = 5
"""Seconds that a process may be silent in a write while others wait for their turn. Its session is then ended and the
write undone, so that a stopped process stops no other. The server does so only where it has answered all that it was
sent, so the upkeep of other processes looks too (:data:`END_SILENT_TURNS`).
"""

EXISTS: Final = (
    "SELECT 1 FROM pg_catalog.pg_tables"
    " WHERE schemaname = pg_catalog.current_schema() AND tablename = 'runwatch_database'"
)
_CREATE_STATE: Final = (
    "CREATE TABLE runwatch_database (schema_version integer NOT NULL, openings bigint NOT NULL, identity text NOT NULL)"
)
_FIRST_STATE: Final = "INSERT INTO runwatch_database VALUES (%s, 0, pg_catalog.gen_random_uuid()::text)"
_OPEN: Final = "UPDATE runwatch_database SET schema_version = %s, openings = openings + 1 RETURNING openings, identity"
_PLAIN_COLUMNS: Final = """
    SELECT table_name, column_name, CASE data_type WHEN 'text' THEN 'text COLLATE "C"' ELSE 'bigint' END
    FROM information_schema.columns
    WHERE table_schema = pg_catalog.current_schema() AND table_name <> 'runwatch_database'
        AND NOT pg_catalog.starts_with(table_name, 'procrastinate_')
        AND (data_type = 'text' AND collation_name IS DISTINCT FROM 'C' OR data_type = 'integer')
"""
_CONTINUE: Final = "SELECT pg_catalog.setval(pg_catalog.pg_get_serial_sequence(%s, 'sequence'), %s)"
_OUTCOME: Final = "SELECT pg_catalog.pg_xact_status(%s::text::xid8)"
_DURABLE: Final = (
    "SELECT pg_catalog.set_config('synchronous_commit', 'on', false)"
    " WHERE pg_catalog.current_setting('synchronous_commit') = 'off'"
)
# The server ends the session of a machine that is gone, and with it the lock, in half a minute and not in hours.
_NOTICED: Final = (
    "SELECT pg_catalog.set_config('tcp_keepalives_idle', '10', false),"
    " pg_catalog.set_config('tcp_keepalives_interval', '5', false),"
    " pg_catalog.set_config('tcp_keepalives_count', '4', false)"
)

# An advisory lock of two numbers: one of this program, and one of the schema's name.
_LOCKED: Final = "1920300663, pg_catalog.hashtext(coalesce(pg_catalog.current_schema(), ''))"
_SESSION: Final = "SELECT pg_catalog.pg_backend_pid()"
_TRY_LOCK: Final = f"SELECT pg_catalog.pg_try_advisory_lock({_LOCKED})"
_TRY_SHARED_LOCK: Final = f"SELECT pg_catalog.pg_try_advisory_lock_shared({_LOCKED})"
_LOCK_ALONE: Final = f"SELECT pg_catalog.pg_try_advisory_xact_lock({_LOCKED})"
# The number of this lock is the second of the process's start, which a new session of it does not change.
_NOW: Final = "SELECT extract(epoch FROM pg_catalog.clock_timestamp())::bigint"
_SINCE: Final = "SELECT pg_catalog.pg_advisory_lock_shared(1920300665, %s::bigint::bit(32)::integer)"
# The numbers of these locks are the beginnings of the master keys' ids: of the one that seals, and of each that opens.
_SEALS: Final = "SELECT pg_catalog.pg_advisory_lock_shared(1920300666, %s::bigint::bit(32)::integer)"
_SEALS_NO_MORE: Final = "SELECT pg_catalog.pg_advisory_unlock_shared(1920300666, %s::bigint::bit(32)::integer)"
_OPENS: Final = "SELECT pg_catalog.pg_advisory_lock_shared(1920300667, %s::bigint::bit(32)::integer)"
_TURN: Final = "1920300664, pg_catalog.hashtext(coalesce(pg_catalog.current_schema(), ''))"
_BEGIN: Final = "SELECT pg_catalog.pg_current_xact_id()::text"
_BEGIN_IN_TURN: Final = f"SELECT pg_catalog.pg_current_xact_id()::text, pg_catalog.pg_advisory_xact_lock({_TURN})"
_SILENCE: Final = f"SELECT pg_catalog.set_config('idle_in_transaction_session_timeout', '{TURN_S}s', false)"
HOLDERS: Final = """
    FROM pg_catalog.pg_locks held JOIN pg_catalog.pg_stat_activity USING (pid)
    WHERE locktype = 'advisory' AND granted AND classid = 1920300663 AND database = (
        SELECT oid FROM pg_catalog.pg_database WHERE datname = pg_catalog.current_database()
    ) AND objid::bigint = (pg_catalog.hashtext(coalesce(pg_catalog.current_schema(), ''))::bigint & 4294967295)
"""
"""The sessions that hold the lock of a process, each with its locks (``held``)."""

END_SILENT_TURNS: Final = """
    SELECT pg_catalog.pg_terminate_backend(pid)
    FROM pg_catalog.pg_locks JOIN pg_catalog.pg_stat_activity USING (pid)
    WHERE locktype = 'advisory' AND granted AND classid = 1920300664 AND database = (
        SELECT oid FROM pg_catalog.pg_database WHERE datname = pg_catalog.current_database()
    ) AND objid::bigint = (pg_catalog.hashtext(coalesce(pg_catalog.current_schema(), ''))::bigint & 4294967295)
        AND wait_event = 'ClientRead'
        AND state_change < pg_catalog.clock_timestamp() - pg_catalog.make_interval(secs => %(silent_s)s)
"""
"""Ends sessions that have the turn, and whose process has not said for so long what is next."""

_HOLDER: Final = f"""
    SELECT application_name || coalesce(', from ' || host(client_addr), '') AS name, pid {HOLDERS}
    AND pid <> pg_catalog.pg_backend_pid()
"""  # noqa: S608 - made of constants
_MASTER_KEYS: Final = f"""
    SELECT pid, name, classid::bigint, objid::bigint FROM ({_HOLDER}) AS holder JOIN pg_catalog.pg_locks USING (pid)
    WHERE locktype = 'advisory' AND granted AND classid IN (1920300666, 1920300667)
"""  # noqa: S608 - made of constants
_IS_SEALING: Final = 1920300666

# SQLSTATE classes and codes (https://www.postgresql.org/docs/current/errcodes-appendix.html).
_PASSING_CLASSES: Final = ("08", "53", "57", "58")
_READ_ONLY: Final = "25006"
_DUPLICATE_TABLE: Final = "42P07"


_log: Final = logging.getLogger(__name__)


class PostgresDatabase(Backend):
    """A database, named by an address; what the address lacks, libpq takes from ``PG*`` variables and ``.pgpass``.

    Args:
        data_dir: The data directory whose secrets the database names.
        name: What the sessions are called, before process and machine.
        keys: The master keys; processes with a queue have to have one in common.

    Raises:
        UsageError: The address is not usable.
    """

    def __init__(
        self,
        url: Secret,
        data_dir: Path,
        queue: JobQueue | None = None,
        name: str = "runwatch",
        keys: MasterKeys | None = None,
    ) -> None:
        self._data_dir = data_dir
        self.keys = keys
        self.parameters = parse_address(url, name)
        self.queue: JobQueue | None = queue
        self._address = describe_address(self.parameters)
        self._adapters = text_adapters()
        self._opening: int | None = None
        self._version = 0
        self._since: int | None = None
        self._when_taken: list[Callable[[DataError], object]] = []
        self._failed_at: float | None = None
        self._away_since: float | None = None
        self._transaction_id = ""
        self.writer = self._engine(self._connect_writer, 1)
        event.listen(self.writer, "begin", self._note_transaction)
        event.listen(self.writer, "commit", self._note_return)

    def is_new(self) -> bool:
        with self.translate_start_errors(), contextlib.closing(self._connect(autocommit=True)) as connection:
            if not connection.execute(EXISTS).fetchone():
                return True
            return connection.execute("SELECT 1 FROM tenants LIMIT 1").fetchone() is None

    def open_writer(self, schema_version: int) -> None:
        try:
            with self.translate_start_errors(), self.writer.begin() as connection:
                opening, identity = self._prepare(connection, schema_version)
                cast(Session, connection.connection.dbapi_connection).limit_s = Session.limit_s
            self._opening, self._version = opening, schema_version
            pair(self._data_dir, identity)
        except BaseException:
            self.close()
            raise

    def open_reader(self, size: int) -> None:
        self.reader = self._engine(self._connect_reader, size)

    def in_transaction(self, connection: Connection) -> bool:
        if connection.invalidated:
            return False
        status = cast(Session, connection.connection.dbapi_connection).info.transaction_status
        # Within a pipeline answers of a transaction may still be under way.
        return status in {TransactionStatus.INTRANS, TransactionStatus.INERROR, TransactionStatus.ACTIVE}

    def translate_errors(self) -> contextlib.AbstractContextManager[None]:
        # A server that has become a standby can be read only; a writer that asks again may find the new primary.
        return self._translate(passing=_READ_ONLY)

    def translate_read_errors(self) -> contextlib.AbstractContextManager[None]:
        return self._translate()

    @contextlib.contextmanager
    def _translate(self, passing: str | None = None) -> Iterator[None]:
        """Translate errors, one with the state ``passing`` as if the database could not be reached."""
        try:
            yield
        except (StatementError, psycopg.Error) as error:
            if isinstance(found := _original(error), DataError):
                # The connection was made in the middle of a statement.
                raise found from None
            if _is_passing(error) or (passing is not None and _state_of(error) == passing):
                raise self._unreachable(error) from error
            if isinstance(error, psycopg.Error):
                _shorten(error)
            raise

    def begin(self, connection: Connection) -> RootTransaction:
        try:
            return connection.begin()
        except DBAPIError as error:
            if not error.connection_invalidated:
                raise
        # The session was lost before anything was written.
        return connection.begin()

    @contextlib.contextmanager
    def single_statements(self, connection: Connection) -> Iterator[None]:
        session = cast(Session, connection.connection.dbapi_connection)
        session.autocommit = True
        try:
            yield
        finally:
            if not session.closed:
                session.autocommit = False

    @contextlib.contextmanager
    def pipelined(self, connection: Connection) -> Iterator[None]:
        session = cast(Session, connection.connection.dbapi_connection)
        try:
            with session.pipeline():
                yield
        except psycopg.Error as error:
            if session.closed:
                connection.invalidate(error)
            raise

    def may_be_late(self, error: Exception) -> bool:
        return isinstance(error, psycopg.Error)

    def ping(self) -> None:
        with contextlib.closing(self._connect(autocommit=True)) as session:
            session.execute("SELECT 1")

    def renew(self, connection: Connection) -> None:
        with contextlib.suppress(StatementError, psycopg.Error, RunwatchError):
            if not connection.invalidated:
                session = cast(Session, connection.connection.dbapi_connection)
                try:
                    session.execute("SELECT 1")
                    session.rollback()
                    self._note_return()
                except psycopg.Error:
                    connection.invalidate()
            if connection.invalidated:
                # A new session shows the process, and waits for no turn.
                _ = connection.connection

    def was_committed(self, connection: Connection, error: Exception) -> bool:
        if not (isinstance(error, DBAPIError) and error.connection_invalidated):
            return False
        asked, until = self._transaction_id, time.monotonic() + RESOLVE_S
        while time.monotonic() < until:
            try:
                # A new session gets the lock only once the one before has ended, and with it every doubt.
                with connection.begin():
                    found = connection.exec_driver_sql(_OUTCOME, (asked,)).scalar_one()
                    return bool(found == "committed")
            except (StatementError, psycopg.Error, DataError):
                time.sleep(_PAUSE_S)
        return False

    def continue_sequences(self, connection: Connection, last: Mapping[str, int]) -> None:
        """Have each table go on after its last sequence number."""
        for name, number in last.items():
            connection.exec_driver_sql(_CONTINUE, (name, number))

    def when_taken(self, notify: Callable[[DataError], object]) -> None:
        self._when_taken.append(notify)

    def _engine(self, connect: Callable[[], Session], size: int) -> Engine:
        # Errors reach the log and stored causes, and statement values may be prompts, so values are left out.
        engine = create_engine(
            "postgresql+psycopg://",
            creator=connect,
            poolclass=QueuePool,
            pool_size=size,
            max_overflow=0,
            hide_parameters=True,
            use_native_hstore=False,
        )
        event.listen(engine, "handle_error", _leave_out_values)
        return engine

    def _connect(self, *, autocommit: bool = False) -> Session:
        connection = Session.connect("", context=self._adapters, autocommit=autocommit, **self.parameters)
        try:
            if connection.info.server_version < OLDEST * 10_000:
                raise DataError(
                    "The service's database is of a version that is not supported",
                    detail=f"{self._address} is PostgreSQL {connection.info.server_version // 10_000}.",
                    hint=f"Use PostgreSQL {OLDEST} or newer.",
                )
            if connection.info.parameter_status("server_encoding") != "UTF8":
                raise DataError(
                    "The service's database cannot hold every text",
                    detail=f"{self._address} has the encoding {connection.info.parameter_status('server_encoding')}.",
                    hint="Create it with ENCODING 'UTF8'.",
                )
        except BaseException:
            connection.close()
            raise
        return connection

    def _connect_reader(self) -> Session:
        connection = self._connect()
        connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        connection.read_only = True
        return connection

    def _connect_writer(self) -> Session:
        """Connect, and take the lock for as long as the session lasts."""
        if self._failed_at is not None and time.monotonic() - self._failed_at < AGAIN_S:
            raise self._unreachable(None)
        try:
            connection = self._connect(autocommit=True)
            try:
                if self._opening is None:
                    self._refuse_changing_sessions(connection)
                self._lock(connection)
                # An answered write is on disk, whatever the server's default.
                connection.execute(_DURABLE)
                connection.execute(_NOTICED)
                if self.queue is not None:
                    connection.execute(_SILENCE)
                    if self._since is None:
                        self._since = _ask(connection, _NOW)
                    connection.execute(_SINCE, (self._since,))
                    self._agree_on_master_key(connection)
                connection.autocommit = False
                if self._opening is None:
                    # The start may migrate tables.
                    connection.limit_s = None
            except BaseException:
                connection.close()
                raise
        except Exception as error:
            self._failed_at = time.monotonic()
            if isinstance(error, psycopg.Error):
                self._note_outage(error)
            raise
        self._failed_at = None
        self._note_return()
        return connection

    def _lock(self, connection: Session) -> None:
        until = time.monotonic() + LOCK_WAIT_S
        while not _ask(connection, _TRY_LOCK if self.queue is None else _TRY_SHARED_LOCK):
            self._refuse_if_taken(connection)
            if time.monotonic() >= until:
                if self._opening is not None:
                    raise self._unreachable(None)
                holder = _ask(connection, _HOLDER)
                raise LocalServiceError(
                    "Another service uses this database",
                    detail=f"{self._address} is held by {holder or 'a session of another user'}.",
                    hint="One service at a time can use it: stop that one, or name another database.",
                )
            time.sleep(_PAUSE_S)
        self._refuse_if_taken(connection)

    def _refuse_changing_sessions(self, connection: Session) -> None:
        """Refuse a pooler that changes the session between two transactions: locks would stay behind in it.

        Every pooler makes up the process id that it names to a client. One that keeps the session gives it to nobody
        else meanwhile.
        """
        session = _ask(connection, _SESSION)
        if session == connection.info.backend_pid:
            return
        with contextlib.closing(self._connect()) as other:
            if _ask(other, _SESSION) != session == _ask(connection, _SESSION):
                return
        raise DataError(
            "The service's database is behind a pooler in transaction mode",
            detail=f"{self._address} is PgBouncer or the like, which gives a session to others between transactions.",
            hint="Name PostgreSQL itself, or a pool in session mode: locks and notifications belong to a session.",
        )

    def _refuse_if_taken(self, connection: Session) -> None:
        if self._opening is None:
            return
        if self.queue is not None:
            if _ask(connection, "SELECT schema_version FROM runwatch_database") == self._version:
                return
            taken = DataError(
                "A newer version of runwatch has migrated the database, and this process writes nothing more",
                detail=f"{self._address} was migrated while the connection was lost.",
                hint="Start this process again with the newer version.",
            )
        elif _ask(connection, "SELECT openings FROM runwatch_database") == self._opening:
            return
        else:
            taken = DataError(
                "Another service has opened this database, and this one writes nothing more",
                detail=f"{self._address} was opened again while the connection was lost.",
                hint="One service at a time can use it: stop the other one, and start this one again.",
            )
        for notify in self._when_taken:
            notify(taken)
        raise taken

    def _agree_on_master_key(self, connection: Session) -> None:
        """Show the master keys to other processes; at a start, seal with the newest one that all of them have.

        Raises LocalServiceError if one of them seals with a key that is not here, or all have none in common.
        """
        if self.keys is None:
            return
        known = {int.from_bytes(key.id[:4]): key for key in self.keys.keys}
        first, *_ = known
        connection.execute(_SEALS, (first,))
        for number in known:
            connection.execute(_OPENS, (number,))
        if self._opening is not None:
            return
        names: dict[int, str] = {}
        strangers, shared = set[int](), dict.fromkeys(known, 0)
        for pid, name, kind, number in connection.execute(_MASTER_KEYS):
            names[pid] = name
            if kind == _IS_SEALING and number not in known:
                strangers.add(pid)
            elif kind != _IS_SEALING and number in known:
                shared[number] += 1
        common = [number for number, count in shared.items() if count == len(names)]
        if strangers or not common:
            raise LocalServiceError(
                "Other processes of this database have another master key",
                detail=f"{self._address} is held by " + ", ".join(names[pid] for pid in strangers or names),
                hint=(
                    "Bring their master key here, master.key beside the settings or local_service.master_key_command,"
                    " and start again: one process could not open the secrets of the other."
                ),
            )
        if common[0] != first:
            self.keys = self.keys.sealing_with(known[common[0]])
            connection.execute(_SEALS, (common[0],))
            connection.execute(_SEALS_NO_MORE, (first,))

    def _prepare(self, connection: Connection, schema_version: int) -> tuple[int, str]:
        """Create or migrate the tables in the current transaction; return the number of this opening and the id."""
        if not connection.exec_driver_sql(EXISTS).all():
            if (known := paired_with(self._data_dir)) is not None:
                raise make_pairing_error(self._data_dir, known, "none yet")
            connection.exec_driver_sql(_CREATE_STATE)
            metadata.create_all(connection, checkfirst=False)
            connection.exec_driver_sql(_FIRST_STATE, (schema_version,))
        version = connection.exec_driver_sql("SELECT schema_version FROM runwatch_database").scalar_one()
        if version > schema_version:
            raise DataError(
                "The service's database was written by a newer version of runwatch",
                detail=f"{self._address} has schema version {version}; this version reads up to {schema_version}.",
                hint="Update runwatch, or name another database.",
            )
        if version < schema_version:
            if self.queue is not None:
                self._wait_alone(connection)
            # Alembic is slow to import, and only an older database needs it.
            from runwatch.service.migrations.upgrade import apply_revisions

            apply_revisions(connection, version, schema_version)
            # Revisions are written for every database; here new columns get the types of the declared ones.
            for table, column, kind in connection.exec_driver_sql(_PLAIN_COLUMNS).all():
                connection.exec_driver_sql(f'ALTER TABLE "{table}" ALTER COLUMN "{column}" TYPE {kind}')
        if self.queue is not None:
            self.queue.prepare(connection)
        opened = connection.exec_driver_sql(_OPEN, (schema_version,)).one()
        return int(opened.openings), str(opened.identity)

    def _wait_alone(self, connection: Connection) -> None:
        """Keep other processes out until the current transaction ends.

        Raises LocalServiceError if there is one, or it comes back within :data:`WATCH_S`.
        """
        until = time.monotonic() + WATCH_S
        while not (others := connection.exec_driver_sql(_HOLDER).all()):
            if time.monotonic() >= until and connection.exec_driver_sql(_LOCK_ALONE).scalar_one():
                return
            time.sleep(_PAUSE_S)
        raise LocalServiceError(
            "Processes of an older version use this database",
            detail=f"{self._address} is held by {others[0][0]}" + (f" and {len(others) - 1} more" * bool(others[1:])),
            hint="Stop every one of them, then start the newer version.",
        )

    def _note_transaction(self, connection: Connection) -> None:
        statement = _BEGIN if self.queue is None else _BEGIN_IN_TURN
        self._transaction_id = connection.exec_driver_sql(statement).scalar_one()

    @contextlib.contextmanager
    def translate_start_errors(self) -> Iterator[None]:
        """Translate every error of the database at a start."""
        try:
            yield
        except (StatementError, psycopg.Error) as error:
            state = _state_of(error)
            if state is None or _is_passing(error):
                raise self._unreachable(error) from error
            hint = "See that the user may create tables in the first schema of its search path."
            if state == _DUPLICATE_TABLE:
                hint = "The schema has tables of another program: name another database, or another schema."
            detail = f"{self._address}: {_error_text(error)} (SQLSTATE {state})"
            raise DataError("The service's database is not usable", detail=detail, hint=hint) from error

    def _note_return(self, _: object = None) -> None:
        since, self._away_since = self._away_since, None
        if since is not None:
            _log.warning("the database is back after %.0f s", time.monotonic() - since)

    def _note_outage(self, error: Exception | None) -> None:
        if self._opening is not None and self._away_since is None:
            self._away_since = time.monotonic()
            _log.error("the database cannot be reached, and is tried until it is back: %s", self._explain(error))

    def _explain(self, error: Exception | None) -> str:
        return f"{self._address}: {_error_text(error)}" if error else self._address

    def _unreachable(self, error: Exception | None) -> DatabaseUnreachableError:
        self._note_outage(error)
        return DatabaseUnreachableError(
            "The service's database cannot be reached",
            detail=self._explain(error),
            hint=(
                "See that it runs, and that address, user and password are right. A password comes from"
                " RUNWATCH_DATABASE, PGPASSWORD or the password file of PostgreSQL;"
                f" in RUNWATCH_DATABASE it has {ESCAPES}."
            ),
            retryable=True,
        )


def _ask(connection: Session, question: LiteralString) -> Any:
    row = connection.execute(question).fetchone()
    return row and row[0]


def _original(error: Exception) -> BaseException | None:
    return error.orig if isinstance(error, StatementError) else error


def _state_of(error: Exception) -> str | None:
    return getattr(_original(error), "sqlstate", None)


def _error_text(error: Exception) -> str:
    """Return what PostgreSQL says, without the values that it may repeat in the details."""
    found = _original(error)
    primary = found.diag.message_primary if isinstance(found, psycopg.Error) else None
    return redact(" ".join((primary or str(found)).split()))


def _is_passing(error: Exception) -> bool:
    """Return whether the database cannot be reached, stops, starts, or lacks disk, memory or connections."""
    if isinstance(error, DBAPIError) and error.connection_invalidated:
        return True
    state = _state_of(error)
    if state is None:
        return isinstance(_original(error), psycopg.OperationalError | psycopg.InterfaceError)
    return state.startswith(_PASSING_CLASSES)


def _leave_out_values(context: ExceptionContext) -> None:
    error = context.original_exception
    if isinstance(error, psycopg.Error) and context.sqlalchemy_exception is not None:
        _shorten(error)
        name = f"{type(error).__module__}.{type(error).__name__}"
        context.sqlalchemy_exception.args = (f"({name}) {error}",)


def _shorten(error: psycopg.Error) -> None:
    """Leave the details out of an error's text, because they repeat the values of a row."""
    if error.diag.message_primary:
        error.args = (error.diag.message_primary,)
