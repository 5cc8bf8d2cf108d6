"""A service's data in PostgreSQL: what differs from the embedded file. The other tests of the database run on both."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import psycopg
import pytest
from alembic.autogenerate import compare_metadata
from alembic.operations import Operations
from alembic.runtime.migration import MigrationContext
from sqlalchemy import Column, Text

from runwatch import cli
from runwatch.base.errors import DataError, LocalServiceError, RunwatchError, UsageError
from runwatch.base.files import private_directory
from runwatch.base.log import redact
from runwatch.base.secrets.secret import Secret
from runwatch.service import database as database_module
from runwatch.service.backends import job_queue, postgresql
from runwatch.service.backends.postgresql import PostgresDatabase
from runwatch.service.backends.postgresql_session import Session
from runwatch.service.database import ServiceDatabase, SingleWriterDatabase
from runwatch.service.errors import DatabaseUnreachableError
from runwatch.service.migrations import revisions
from runwatch.service.tables import SCHEMA_VERSION, metadata, tenants_table
from runwatch.service.transaction import Transaction
from tests.service.conftest import Serving, echo_body
from tests.support import postgres
from tests.support.clock import FakeClock
from tests.support.problems import check
from tests.support.service import ServiceProcess

IMPORTS = "import sys, runwatch.cli, runwatch.service.server; print({'psycopg', 'procrastinate'} & set(sys.modules))"
END_SESSIONS = (
    "SELECT pg_terminate_backend(pid, 30000) FROM pg_stat_activity"
    " WHERE datname = current_database() AND pid <> pg_backend_pid()"
)


FIRST_SCHEMA = Path(__file__).with_name("postgresql_8.sql")
COLUMNS = (
    "SELECT table_name, column_name, data_type, is_nullable, collation_name FROM information_schema.columns"
    " WHERE table_schema = current_schema() ORDER BY table_name, column_name"
)
INDEXES = "SELECT indexdef FROM pg_indexes WHERE schemaname = current_schema() ORDER BY indexdef"


class Place:
    """A database with its data directory, opened as often as a test asks."""

    def __init__(self, data_dir: Path, *, is_empty: bool = False) -> None:
        self.data_dir = private_directory(data_dir)
        self.address = postgres.database_for(data_dir, is_empty=is_empty)
        self.backend = PostgresDatabase(self.address, data_dir)

    def open(self) -> ServiceDatabase:
        self.backend = PostgresDatabase(self.address, self.data_dir)
        return ServiceDatabase.open(self.backend, FakeClock())

    def sql(self, statement: str) -> list[tuple[Any, ...]]:
        """Execute a statement in its own session."""
        return postgres.run_sql(statement, self.address.reveal().partition("?")[0].rpartition("/")[2])


@pytest.fixture
def place(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    # Every write tries again at once.
    monkeypatch.setattr(postgresql, "AGAIN_S", 0.0)
    return Place(data_dir)


@pytest.fixture
def database(place: Place) -> Iterator[ServiceDatabase]:
    database = place.open()
    yield database
    database.close()


def add(name: str) -> Callable[[Transaction], None]:
    return lambda transaction: transaction.add(tenants_table, tenant_id=name, display_name=name, created_at="now")


async def names(database: ServiceDatabase) -> list[str]:
    return await database.read(
        lambda transaction: [row["tenant_id"] for row in transaction.list_all(tenants_table, {})]
    )


async def test_one_service_at_a_time_uses_a_database_and_a_second_one_is_told_who(
    place: Place, database: ServiceDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as hurried:
        hurried.setattr(postgresql, "LOCK_WAIT_S", 0.0)
        with pytest.raises(LocalServiceError, match="Another service uses this database") as refused:
            place.open()
    assert "is held by runwatch-" in (refused.value.detail or "")
    database.close()
    place.open().close()


@pytest.mark.parametrize("answer", ["1", "pg_backend_pid() + 1"])
@pytest.mark.representatives(key=lambda case: case["answer"])
async def test_a_pooler_that_changes_sessions_between_transactions_is_named(
    place: Place, monkeypatch: pytest.MonkeyPatch, answer: str
) -> None:
    # Two transactions meet one session, or each client keeps its own.
    monkeypatch.setattr(postgresql, "_SESSION", f"SELECT {answer}")
    if answer != "1":
        place.open().close()
        return
    with pytest.raises(DataError, match="behind a pooler") as refused:
        place.open()
    assert "PgBouncer" in (refused.value.detail or "")


async def test_texts_of_every_kind_come_back_and_compare_by_their_characters(
    place: Place, database: ServiceDatabase
) -> None:
    odd = ["a\0b", "\ufdd0", "\ufdd00", "\ufdd01\0"]
    for name in ["b", "B", "a", "ä", *odd]:
        await database.write(add(name))
    assert sorted(await names(database)) == sorted(["b", "B", "a", "ä", *odd])
    found = await database.read(lambda transaction: transaction.list_all(tenants_table, {"display_name": tuple(odd)}))
    assert {row["tenant_id"] for row in found} == set(odd)
    ordered = place.sql("SELECT tenant_id FROM tenants WHERE created_at >= 'now' ORDER BY tenant_id LIMIT 3")
    assert ordered == [("B",), ("a",), ("a\ufdd00b",)]


async def test_a_server_that_says_nothing_is_given_up(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Session, "limit_s", 0.3)
    database = place.open()
    for act in (database.read, database.write):
        with pytest.raises(DatabaseUnreachableError, match="has not answered"):
            await act(lambda transaction: transaction._connection.exec_driver_sql("SELECT pg_sleep(3600)"))
    # The server still sleeps, and has the lock of the session.
    place.sql(END_SESSIONS)
    monkeypatch.undo()
    monkeypatch.setattr(postgresql, "AGAIN_S", 0.0)
    await database.write(add("kept"))
    assert await names(database) == ["kept"]
    database.close()


async def test_a_session_that_was_ended_while_idle_is_not_noticed(place: Place, database: ServiceDatabase) -> None:
    assert await names(database) == []
    place.sql(END_SESSIONS)
    await database.write(add("kept"))
    assert await names(database) == ["kept"]


@pytest.mark.parametrize("is_kept", [True, False])
@pytest.mark.representatives(key=lambda case: case["is_kept"])
async def test_a_commit_whose_answer_was_lost_is_reported_as_done_only_if_it_was_kept(
    place: Place, database: ServiceDatabase, monkeypatch: pytest.MonkeyPatch, is_kept: bool
) -> None:
    def commit(connection: Any) -> None:
        monkeypatch.undo()
        if is_kept:
            connection.commit()
        place.sql(END_SESSIONS)
        connection.execute("SELECT 1")

    monkeypatch.setattr(place.backend.writer.dialect, "do_commit", commit)
    write = database.write(add("doubtful"))
    if is_kept:
        await write
    else:
        with pytest.raises(DatabaseUnreachableError):
            await write
    assert await names(database) == ["doubtful"] * is_kept
    await database.write(add("next"))


async def test_a_service_whose_database_another_one_opened_meanwhile_writes_nothing_more(
    place: Place, database: ServiceDatabase
) -> None:
    told: asyncio.Queue[DataError] = asyncio.Queue()
    database.when_taken(told.put_nowait)
    await database.write(add("before"))
    place.sql("UPDATE runwatch_database SET openings = openings + 1")
    place.sql(END_SESSIONS)
    with pytest.raises(DataError, match="Another service has opened this database"):
        await database.write(add("after"))
    assert (await told.get()).detail
    assert place.sql("SELECT tenant_id FROM tenants") == [("before",)]


async def test_a_service_answers_503_while_its_database_is_away_and_goes_on_when_it_is_back(
    place: Place, serving: Serving
) -> None:
    name = place.address.reveal().partition("?")[0].rpartition("/")[2]
    async with serving(database=place.address) as service:
        before = (await service.submit(key="before"))["execution_id"]
        await service.finished(before)
        postgres.run_sql(f"ALTER DATABASE {name} ALLOW_CONNECTIONS false")
        postgres.run_sql(END_SESSIONS.replace("current_database()", f"'{name}'"))
        posted = service.http.post("/v1/executions", json=echo_body(), headers={"Idempotency-Key": "away"})
        for answer, words in (
            (await service.http.get("/v1/executions"), "Nothing was changed"),
            (await posted, "may have been kept"),
        ):
            assert words in (check(answer, "service_unavailable").detail or "")
            assert answer.headers["Retry-After"] == "1"
        postgres.run_sql(f"ALTER DATABASE {name} ALLOW_CONNECTIONS true")
        runs = (await service.get("/v1/executions"))["executions"]
        assert [run["execution_id"] for run in runs] == [before]
        await service.finished((await service.submit(key="after"))["execution_id"])


async def test_an_error_names_no_value_of_a_row(database: ServiceDatabase) -> None:
    await database.write(add("sentinel-prompt"))
    with pytest.raises(psycopg.IntegrityError, match="duplicate key") as refused:
        await database.write(add("sentinel-prompt"))
    assert "sentinel-prompt" not in str(refused.value)


@pytest.mark.parametrize(
    ("address", "error"),
    [
        ("postgresql://user:sentinel-password@127.0.0.1:1/x", DatabaseUnreachableError),
        ("postgresql://user:sentinel-password%zz@127.0.0.1:1/x", UsageError),
        ("mysql://user:sentinel-password@127.0.0.1:1/x", UsageError),
        ("postgresql://user:part@sentinel-password@127.0.0.1:1/x", UsageError),
        ("postgresql://user:sentinel-password/part@127.0.0.1:1/x", UsageError),
        ("postgresql://user:5432/sentinel-password@127.0.0.1:1/x", UsageError),
        ("postgresql://me@work:sentinel-password@127.0.0.1:1/x", UsageError),
    ],
)
def test_a_password_is_in_no_message_and_no_log(tmp_path: Path, address: str, error: type[Exception]) -> None:
    with pytest.raises(error) as refused:
        PostgresDatabase(Secret(address), tmp_path).is_new()
    assert isinstance(refused.value, RunwatchError)
    assert "%40 for @" in (refused.value.hint or "")
    told: BaseException | None = refused.value
    seen: list[str] = []
    while told is not None:
        seen += [str(told), repr(told)]
        told = told.__cause__
    assert "sentinel-password" not in "".join(seen)
    if error is DatabaseUnreachableError:
        assert redact("sentinel-password") != "sentinel-password"


@pytest.mark.parametrize(
    "address",
    ["postgresql://u:secret@h/d", "postgresql://u:se/cret@h/d", "postgresql://u:se?cret@h/d", "postgresql://u:se#cret@h",
     "postgresql://h/d?password=secret", "postgresql://["],
)  # fmt: skip
def test_a_password_in_an_argument_is_refused(address: str) -> None:
    call: Any = SimpleNamespace(environment={})
    with pytest.raises(UsageError, match="does not belong in an argument"):
        cli._find_database(call, address)


@pytest.mark.parametrize(
    ("option", "variable", "found"),
    [
        (None, "", None),
        (None, "postgresql://u:secret@h/d", "postgresql://u:secret@h/d"),
        ("postgresql://h/d", "postgresql://h/e", "postgresql://h/d"),
    ],
)
def test_the_address_comes_from_the_option_or_the_environment(
    option: str | None, variable: str, found: str | None
) -> None:
    call: Any = SimpleNamespace(environment={"RUNWATCH_DATABASE": variable})
    address = cli._find_database(call, option)
    assert (address and address.reveal()) == found


def test_the_command_keeps_the_data_in_the_database_that_it_names(place: Place) -> None:
    with ServiceProcess(place.data_dir, "--database", place.address.reveal()) as service:
        headers = {"Authorization": f"Bearer {service.api_key}"}
        account = httpx.get(f"{service.base_url}/v1/account", headers=headers, timeout=60).json()
        assert place.sql("SELECT tenant_id FROM tenants") == [(account["tenant_id"],)]
    assert not (place.data_dir / "service.db").exists()


def test_a_service_without_the_option_imports_nothing_of_postgresql() -> None:
    loaded = subprocess.run([sys.executable, "-c", IMPORTS], capture_output=True, text=True, check=True).stdout
    assert loaded == "set()\n"


@pytest.mark.parametrize("package", ["psycopg", "procrastinate"])
async def test_without_the_package_a_start_says_how_to_install_it(
    serving: Serving, monkeypatch: pytest.MonkeyPatch, package: str
) -> None:
    for module in (postgresql, job_queue):
        monkeypatch.delitem(sys.modules, module.__name__)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(UsageError) as refused:
        await serving(database=Secret("postgresql://h/d")).__aenter__()
    assert f"{sys.executable} -m pip install" in (refused.value.hint or "")
    assert "psycopg[binary]" in (refused.value.hint or "")


async def test_a_data_directory_belongs_to_one_database(place: Place, serving: Serving, tmp_path: Path) -> None:
    async with serving(database=place.address):
        pass
    with pytest.raises(DataError, match="belongs to a PostgreSQL database"):
        await serving(database=None).__aenter__()
    other = postgres.database_for(tmp_path / "other", is_empty=True)
    with pytest.raises(DataError, match="belongs to another database"):
        await serving(database=other).__aenter__()
    postgres.drop_database(tmp_path / "other")
    (place.data_dir / "service.db").touch()
    with pytest.raises(DataError, match="has an embedded database"):
        await serving(database=place.address).__aenter__()


async def test_what_is_discarded_leaves_a_new_database_new(place: Place) -> None:
    for ends, is_new in ((SingleWriterDatabase.discard, True), (SingleWriterDatabase.close, False)):
        sole = SingleWriterDatabase.open(PostgresDatabase(place.address, place.data_dir), FakeClock())
        await sole.write(add("first"))
        ends(sole)
        assert PostgresDatabase(place.address, place.data_dir).is_new() is is_new


def test_the_tables_are_those_that_the_code_declares(place: Place) -> None:
    backend = PostgresDatabase(place.address, place.data_dir)
    backend.open_writer(SCHEMA_VERSION)
    with backend.writer.connect() as connection:
        context = MigrationContext.configure(
            connection, opts={"include_name": lambda name, kind, parents: name != "runwatch_database"}
        )
        assert compare_metadata(context, metadata) == []
    backend.close()


def test_from_the_first_schema_a_database_gets_the_declared_tables(place: Place, data_dir: Path) -> None:
    first = Place(data_dir.with_name("first"), is_empty=True)
    first.sql(FIRST_SCHEMA.read_text("ascii"))
    first.sql(f"{postgresql._CREATE_STATE}; INSERT INTO runwatch_database VALUES (8, 0, 'first')")
    first.open().close()
    for question in (COLUMNS, INDEXES):
        assert first.sql(question) == place.sql(question)
    postgres.drop_database(first.data_dir)


async def test_an_older_schema_is_migrated_and_a_newer_one_is_refused(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    def revision(op: Operations) -> None:
        op.add_column("tenants", Column("added", Text, server_default="x"))

    place.open().close()
    with monkeypatch.context() as newer:
        newer.setattr(revisions, "REVISIONS", (*revisions.REVISIONS, revision))
        newer.setattr(database_module, "SCHEMA_VERSION", SCHEMA_VERSION + 1)
        database = place.open()
        await database.write(add("migrated"))
        database.close()
    assert place.sql("SELECT tenant_id, added FROM tenants") == [("migrated", "x")]
    assert ("tenants", "added", "text", "YES", "C") in place.sql(COLUMNS)
    with pytest.raises(DataError, match="newer version"):
        place.open()


def test_a_schema_with_tables_of_another_program_is_refused(data_dir: Path) -> None:
    private_directory(data_dir)
    address = postgres.database_for(data_dir, is_empty=True)
    with psycopg.connect(address.reveal(), autocommit=True) as connection:
        connection.execute("CREATE TABLE events (id integer)")
    with pytest.raises(DataError, match="not usable") as refused:
        ServiceDatabase.open(PostgresDatabase(address, data_dir), FakeClock())
    assert "tables of another program" in (refused.value.hint or "")
    assert not (data_dir / "database-id").exists()
