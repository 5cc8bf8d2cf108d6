"""The database: group commit, savepoints, readers that cannot write, and files it refuses.

What takes ``either`` is tried in an SQLite file and in PostgreSQL.
"""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import AsyncIterator
from pathlib import Path

import psycopg
import pytest

from runwatch.base.errors import DataError
from runwatch.service.database import ServiceDatabase, SingleWriterDatabase, TransactionRunner
from runwatch.service.tables import SCHEMA_VERSION, api_keys_table, tenants_table
from runwatch.service.transaction import Transaction
from tests.service.conftest import Either
from tests.support.clock import FakeClock

# The short run tries both places.
pytestmark = pytest.mark.representatives(key=lambda case: case["either"])


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "service.db"


@pytest.fixture
async def database(either: Either) -> AsyncIterator[ServiceDatabase]:
    database = ServiceDatabase.open(either(), FakeClock())
    yield database
    await asyncio.to_thread(database.close)


def add(name: str, transaction: Transaction) -> str:
    transaction.add(tenants_table, tenant_id=name, display_name=name, created_at="now")
    return name


async def names(database: TransactionRunner) -> set[str]:
    return await database.read(
        lambda transaction: {row["tenant_id"] for row in transaction.list_all(tenants_table, {})}
    )


class Gate:
    """A write that holds the writer thread until released, so later writes share one commit."""

    def __init__(self, database: ServiceDatabase) -> None:
        self._reached = threading.Event()
        self._open = threading.Event()
        self._write = asyncio.ensure_future(database.write(self._wait))

    async def reached(self) -> None:
        await asyncio.to_thread(self._reached.wait, 30)

    async def open(self) -> None:
        self._open.set()
        await self._write

    def _wait(self, _: Transaction) -> None:
        self._reached.set()
        assert self._open.wait(30)


async def test_a_write_that_fails_hurts_none_of_those_that_share_its_commit(database: ServiceDatabase) -> None:
    def fail(transaction: Transaction) -> None:
        add("half", transaction)
        add("half", transaction)

    gate = Gate(database)
    await gate.reached()
    writes = [
        asyncio.ensure_future(database.write(lambda transaction: add("one", transaction))),
        asyncio.ensure_future(database.write(fail)),
        asyncio.ensure_future(database.write(lambda transaction: add("two", transaction))),
    ]
    await asyncio.sleep(0)
    await gate.open()
    one, failed, two = await asyncio.gather(*writes, return_exceptions=True)
    assert (one, two) == ("one", "two")
    assert isinstance(failed, (psycopg.IntegrityError, sqlite3.IntegrityError))
    assert await names(database) == {"one", "two"}


async def test_no_caller_hears_of_its_write_before_the_commit_it_shares(database: ServiceDatabase) -> None:
    first = Gate(database)
    await first.reached()
    write = asyncio.ensure_future(database.write(lambda transaction: add("early", transaction)))
    await asyncio.sleep(0)
    second = Gate(database)
    await asyncio.sleep(0)
    await first.open()
    # By now the writer has run the early write and waits at the second gate, in the same transaction.
    await second.reached()
    assert not write.done()
    assert await names(database) == set()
    await second.open()
    assert await write == "early"
    assert await names(database) == {"early"}


async def test_a_commit_that_fails_as_a_whole_fails_all_its_writes_and_none_after_it(database: ServiceDatabase) -> None:
    def lose(transaction: Transaction) -> None:
        if transaction._connection.dialect.name != "sqlite":
            transaction._driver.execute("SELECT pg_terminate_backend(pg_backend_pid())").fetchall()
        # What a full disk does: SQLite ends the transaction by itself.
        transaction._driver.execute("ROLLBACK")
        raise OSError("disk full")

    gate = Gate(database)
    await gate.reached()
    writes = [
        asyncio.ensure_future(database.write(lambda transaction: add("lost", transaction))),
        asyncio.ensure_future(database.write(lose)),
        asyncio.ensure_future(database.write(lambda transaction: add("lost too", transaction))),
    ]
    await asyncio.sleep(0)
    await gate.open()
    for outcome in await asyncio.gather(*writes, return_exceptions=True):
        assert isinstance(outcome, Exception)
    assert await database.write(lambda transaction: add("next", transaction)) == "next"
    assert await names(database) == {"next"}


async def test_a_caller_that_has_gone_before_its_write_began_gets_none(database: ServiceDatabase) -> None:
    gate = Gate(database)
    await gate.reached()
    write = asyncio.ensure_future(database.write(lambda transaction: add("unwanted", transaction)))
    await asyncio.sleep(0)
    write.cancel()
    await asyncio.sleep(0)
    await gate.open()
    assert await database.write(lambda transaction: add("wanted", transaction)) == "wanted"
    assert await names(database) == {"wanted"}


async def test_writes_that_wait_are_on_the_disk_after_closing(either: Either) -> None:
    database = ServiceDatabase.open(either(), FakeClock())
    gate = Gate(database)
    await gate.reached()
    write = asyncio.ensure_future(database.write(lambda transaction: add("last", transaction)))
    await asyncio.sleep(0)
    closing = asyncio.ensure_future(asyncio.to_thread(database.close))
    await gate.open()
    await closing
    assert await write == "last"
    with pytest.raises(DataError):
        await database.write(lambda transaction: add("too late", transaction))
    await asyncio.to_thread(database.close)
    again = ServiceDatabase.open(either(), FakeClock())
    assert await names(again) == {"last"}
    await asyncio.to_thread(again.close)


async def test_a_reader_cannot_write(database: ServiceDatabase) -> None:
    with pytest.raises((psycopg.Error, sqlite3.Error), match=r"read-?only"):
        await database.read(lambda transaction: add("sneaked in", transaction))
    assert await names(database) == set()


async def test_a_write_takes_its_moment_when_its_turn_comes(either: Either) -> None:
    clock = FakeClock()
    database = ServiceDatabase.open(either(), clock)
    gate = Gate(database)
    await gate.reached()
    write = asyncio.ensure_future(database.write(lambda transaction: transaction.now))
    await asyncio.sleep(0)
    clock.advance(5)
    await gate.open()
    assert await write == clock.now()
    await asyncio.to_thread(database.close)


async def test_the_database_is_private_and_durable(path: Path) -> None:
    database = ServiceDatabase.open(path, FakeClock())
    await database.write(lambda transaction: add("kept", transaction))
    assert {file.stat().st_mode & 0o777 for file in path.parent.iterdir()} == {0o600}
    assert path.parent.stat().st_mode & 0o777 == 0o700
    pragmas = await database.write(
        lambda transaction: [
            transaction._connection.exec_driver_sql(f"PRAGMA {name}").scalar_one()
            for name in ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")
        ]
    )
    await asyncio.to_thread(database.close)
    assert pragmas == ["wal", 2, 1, 5000]


def test_a_database_that_others_could_read_is_closed_to_them(path: Path) -> None:
    path.parent.mkdir()
    path.touch(0o644)
    ServiceDatabase.open(path, FakeClock()).close()
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_newer_schema_is_refused_and_left_alone(path: Path) -> None:
    ServiceDatabase.open(path, FakeClock()).close()
    with sqlite3.connect(path) as connection:
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(DataError, match="newer version"):
        ServiceDatabase.open(path, FakeClock())
    assert path.read_bytes() == before


def test_a_file_that_is_no_database_is_refused_and_left_alone(path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(b"not a database at all" * 100)
    with pytest.raises(DataError, match="damaged or not a database"):
        ServiceDatabase.open(path, FakeClock())
    assert path.read_bytes() == b"not a database at all" * 100


def test_a_place_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(DataError, match="cannot be opened"):
        ServiceDatabase.open(tmp_path / "file" / "service.db", FakeClock())


async def test_conditions_may_ask_for_no_value_and_for_one_of_none(database: ServiceDatabase) -> None:
    def effect(transaction: Transaction) -> list[set[str]]:
        add("a", transaction)
        for key_id, revoked_at in (("key_1", None), ("key_2", "now")):
            transaction.add(
                api_keys_table, api_key_id=key_id, tenant_id="a", key_hash=key_id, key_prefix="", role="owner",
                display_name="", status="active", created_at="now", revoked_at=revoked_at,
            )  # fmt: skip
        wheres: list[dict[str, object]] = [
            {"revoked_at": None}, {"revoked_at": "now"}, {"api_key_id": ()}, {"api_key_id": ("key_1", "key_2")},
            {"api_key_id": ("key_2",), "revoked_at": "now"}, {},
        ]  # fmt: skip
        return [{row["api_key_id"] for row in transaction.list_all(api_keys_table, where)} for where in wheres]

    found = await database.write(effect)
    assert found == [{"key_1"}, {"key_2"}, set(), {"key_1", "key_2"}, {"key_2"}, {"key_1", "key_2"}]


async def test_a_sole_database_is_on_the_disk_once_it_is_closed(either: Either) -> None:
    def fail(transaction: Transaction) -> None:
        add("lost", transaction)
        raise RuntimeError

    sole = SingleWriterDatabase.open(either(), FakeClock())
    await sole.write(lambda transaction: add("kept", transaction))
    with pytest.raises(RuntimeError):
        await sole.write(fail)
    assert await names(sole) == {"kept"}
    sole.close()
    sole.close()
    later = ServiceDatabase.open(either(), FakeClock())
    assert await names(later) == {"kept"}
    await asyncio.to_thread(later.close)
