"""The database: private, durable, off the loop, and clear about what is wrong with it."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import hashlib
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from runwatch.base.errors import DataError
from runwatch.base.files import hold_lock
from runwatch.store.db import database as module
from runwatch.store.db.database import PAGE, Database
from runwatch.store.db.schema import MIGRATIONS, SCHEMA_VERSION


def _add(text: str = "x") -> module.Work[None]:
    def work(connection: sqlite3.Connection) -> None:
        connection.execute("INSERT INTO scope (profile, service, principal) VALUES (?, 's', 'p')", (text,))

    return work


def _profiles(connection: sqlite3.Connection) -> list[str]:
    return [row[0] for row in connection.execute("SELECT profile FROM scope ORDER BY id")]


def test_only_the_owner_can_enter_the_directory_and_read_the_files(database_path: Path) -> None:
    database = Database.open(database_path)
    try:
        assert database_path.parent.stat().st_mode & 0o777 == 0o700
        files = {path.name: path.stat().st_mode & 0o777 for path in database_path.parent.iterdir()}
        assert set(files) >= {"console.db", "console.db-wal", "console.db-shm"}
        assert set(files.values()) == {0o600}
    finally:
        database.close()


def test_a_database_that_others_could_read_is_made_private(database_path: Path) -> None:
    Database.open(database_path).close()
    database_path.chmod(0o644)
    Database.open(database_path).close()
    assert database_path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("is_first", [True, False])
async def test_every_connection_writes_ahead_flushes_and_checks_references(database_path: Path, is_first: bool) -> None:
    if not is_first:
        Database.open(database_path).close()
    database = Database.open(database_path)
    try:

        def pragmas(connection: sqlite3.Connection) -> list[object]:
            names = ("journal_mode", "synchronous", "foreign_keys", "busy_timeout", "page_size", "user_version")
            return [connection.execute(f"PRAGMA {name}").fetchone()[0] for name in names]

        assert await database.read(pragmas) == ["wal", 2, 1, 5000, PAGE, SCHEMA_VERSION]
    finally:
        database.close()


async def test_a_database_with_other_pages_keeps_them_and_what_is_in_it(
    database_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "PAGE", PAGE // 2)
    before = Database.open(database_path)
    await before.write(_add("kept"))
    before.close()
    monkeypatch.undo()
    database = Database.open(database_path)
    try:
        assert await database.read(lambda connection: connection.execute("PRAGMA page_size").fetchone()) == (PAGE // 2,)
        assert await database.read(lambda connection: connection.execute("SELECT profile FROM scope").fetchall()) == [
            ("kept",)
        ]
        assert await database.faults() == []
    finally:
        database.close()


async def test_all_statements_run_on_one_thread_that_is_not_the_loops(database: Database) -> None:
    threads = {await database.read(lambda _: threading.get_ident()) for _ in range(3)}
    threads.add(await database.write(lambda _: threading.get_ident()))
    assert len(threads) == 1
    assert threads != {threading.get_ident()}


async def test_the_loop_runs_on_while_a_statement_waits_for_the_disk(database: Database) -> None:
    gate = threading.Event()
    writing = asyncio.create_task(database.write(lambda _: gate.wait(30)))
    turns = 0
    while turns < 100:
        await asyncio.sleep(0)
        turns += 1
    assert not writing.done()
    gate.set()
    assert await writing


async def test_a_transaction_that_raises_leaves_nothing(database: Database) -> None:
    def work(connection: sqlite3.Connection) -> None:
        _add()(connection)
        raise LookupError("in the middle")

    with pytest.raises(LookupError):
        await database.write(work)
    await database.write(_add("later"))
    assert await database.read(_profiles) == ["later"]


async def test_a_mistake_in_a_statement_is_not_dressed_up_as_a_problem_of_the_disk(database: Database) -> None:
    with pytest.raises(sqlite3.OperationalError, match="no such table"):
        await database.read(lambda connection: connection.execute("SELECT * FROM nowhere"))


async def test_a_cancelled_task_waits_for_the_transaction_that_has_begun(database: Database) -> None:
    begun, gate = threading.Event(), threading.Event()

    def work(connection: sqlite3.Connection) -> None:
        begun.set()
        gate.wait(30)
        _add("kept")(connection)

    writing = asyncio.create_task(database.write(work))
    await asyncio.to_thread(begun.wait, 30)
    writing.cancel()
    await asyncio.sleep(0)
    assert not writing.done()
    gate.set()
    with pytest.raises(asyncio.CancelledError):
        await writing
    assert await database.read(_profiles) == ["kept"]


async def test_a_cancelled_task_gives_up_a_transaction_that_has_not_begun(database: Database) -> None:
    begun, gate = threading.Event(), threading.Event()

    def block(_: sqlite3.Connection) -> None:
        begun.set()
        gate.wait(30)

    first = asyncio.create_task(database.write(block))
    await asyncio.to_thread(begun.wait, 30)
    second = asyncio.create_task(database.write(_add("never")))
    await asyncio.sleep(0)
    second.cancel()
    with pytest.raises(asyncio.CancelledError):
        await second
    gate.set()
    await first
    assert await database.read(_profiles) == []


async def test_a_cancelled_transaction_that_fails_is_silent(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    begun, gate = threading.Event(), threading.Event()

    def work(_: sqlite3.Connection) -> None:
        begun.set()
        gate.wait(30)
        raise LookupError

    writing = asyncio.create_task(database.write(work))
    await asyncio.to_thread(begun.wait, 30)
    writing.cancel()
    gate.set()
    with pytest.raises(asyncio.CancelledError):
        await writing
    del writing
    gc.collect()
    assert caplog.records == []


async def test_closing_finishes_what_is_queued(database_path: Path) -> None:
    database = Database.open(database_path)
    for number in range(20):
        database.write_soon(_add(str(number)))
    database.close()
    database.close()
    again = Database.open(database_path)
    try:
        assert await again.read(_profiles) == [str(number) for number in range(20)]
    finally:
        again.close()


async def test_a_closed_database_says_so(database: Database, caplog: pytest.LogCaptureFixture) -> None:
    database.close()
    with pytest.raises(DataError, match="closed"):
        await database.read(_profiles)
    database.write_soon(_add())
    assert "after the database was closed" in caplog.text


async def test_a_write_that_nobody_waits_for_fails_into_the_log(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    def work(_: sqlite3.Connection) -> None:
        raise LookupError("lost line")

    database.write_soon(work)
    await database.read(_profiles)
    assert "lost line" in caplog.text


async def test_a_full_disk_is_named_and_the_rest_goes_on(database: Database) -> None:
    await database.write(_add("before"))
    await database.read(lambda connection: connection.execute("PRAGMA max_page_count = 1").fetchone())
    with pytest.raises(DataError, match="full") as caught:
        await database.write(lambda connection: [_add(f"{number:010000}")(connection) for number in range(100)])
    assert str(database.path.parent) in str(caught.value.hint)
    assert await database.read(_profiles) == ["before"]


async def test_a_file_that_became_read_only_is_named(database: Database) -> None:
    await database.read(lambda connection: connection.execute("PRAGMA query_only = ON").fetchall())
    with pytest.raises(DataError, match="not usable"):
        await database.write(_add())


async def test_a_process_that_keeps_the_database_busy_is_named(database: Database) -> None:
    await database.read(lambda connection: connection.execute("PRAGMA busy_timeout = 0").fetchall())
    other = sqlite3.connect(database.path, isolation_level=None)
    try:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(DataError, match="is using") as caught:
            await database.write(_add())
        assert caught.value.retryable
        assert await database.read(_profiles) == []
    finally:
        other.close()


def test_a_file_in_the_place_of_the_directory_is_named(database_path: Path) -> None:
    database_path.parent.write_text("in the way")
    with pytest.raises(DataError, match="not usable") as caught:
        Database.open(database_path)
    assert str(database_path) in str(caught.value)
    assert "RUNWATCH_DATA_DIR" in str(caught.value.hint)
    assert database_path.parent.read_text() == "in the way"


def test_a_directory_in_the_place_of_the_file_is_named(database_path: Path) -> None:
    database_path.mkdir(parents=True)
    with pytest.raises(DataError, match="not usable"):
        Database.open(database_path)


def test_a_directory_that_cannot_be_written_is_named(database_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path) -> Path:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(module, "private_directory", refuse)
    with pytest.raises(DataError, match="Permission denied"):
        Database.open(database_path)


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_a_newer_schema_is_refused_with_the_version_that_is_needed_and_not_touched(database_path: Path) -> None:
    Database.open(database_path).close()
    connection = sqlite3.connect(database_path)
    connection.execute("PRAGMA user_version = 4711")
    connection.close()
    before = _digest(database_path)
    with pytest.raises(DataError, match="newer runwatch") as caught:
        Database.open(database_path)
    assert "4711" in str(caught.value.detail)
    assert "4711" in str(caught.value.hint)
    assert str(SCHEMA_VERSION) in str(caught.value.detail)
    assert _digest(database_path) == before


@pytest.mark.parametrize("content", [b"this is no database at all" * 100, b"SQLite format 3\x00" + b"\xff" * 4096])
def test_a_file_that_is_no_database_is_named_and_not_touched(database_path: Path, content: bytes) -> None:
    database_path.parent.mkdir()
    database_path.write_bytes(content)
    with pytest.raises(DataError, match="damaged") as caught:
        Database.open(database_path)
    assert str(database_path) in str(caught.value)
    assert "Nothing was deleted" in str(caught.value.hint)
    assert database_path.read_bytes() == content


async def test_a_page_that_was_overwritten_is_found(database_path: Path) -> None:
    database = Database.open(database_path)
    await database.write(lambda connection: [_add(f"{number:0200}")(connection) for number in range(500)])
    assert await database.faults() == []
    database.close()
    with database_path.open("r+b") as file:
        file.seek(-PAGE, 2)
        file.write(b"\xa5" * PAGE)
    damaged = Database.open(database_path)
    try:
        assert await damaged.faults() != []
        with pytest.raises(DataError, match="damaged"):
            await damaged.read(lambda connection: connection.execute("SELECT profile FROM scope").fetchall())
    finally:
        damaged.close()


async def test_a_step_of_the_schema_happens_whole_or_not_at_all(
    database_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Database.open(database_path).close()
    step = ("CREATE TABLE later (id INTEGER)", "ALTER TABLE nowhere ADD COLUMN x")
    monkeypatch.setattr(module, "MIGRATIONS", (*MIGRATIONS, step))
    monkeypatch.setattr(module, "SCHEMA_VERSION", SCHEMA_VERSION + 1)
    with pytest.raises(sqlite3.OperationalError):
        Database.open(database_path)
    monkeypatch.setattr(module, "MIGRATIONS", (*MIGRATIONS, step[:1]))
    database = Database.open(database_path)
    try:
        assert await database.read(lambda connection: connection.execute("SELECT * FROM later").fetchall()) == []
        version = await database.read(lambda connection: connection.execute("PRAGMA user_version").fetchone())
        assert version == (SCHEMA_VERSION + 1,)
    finally:
        database.close()


async def test_a_step_that_another_process_took_while_this_one_waited_is_not_taken_twice(
    database_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited: list[Path] = []

    @contextlib.contextmanager
    def wait(path: Path) -> Iterator[None]:
        waited.append(path)
        monkeypatch.setattr(module, "hold_lock", hold_lock)
        Database.open(database_path).close()
        with hold_lock(path):
            yield

    monkeypatch.setattr(module, "hold_lock", wait)
    database = Database.open(database_path)
    try:
        assert waited == [database_path.parent / "console.lock"]
        await database.write(_add())
    finally:
        database.close()


def test_an_up_to_date_database_opens_without_the_lock(database_path: Path) -> None:
    Database.open(database_path).close()
    with hold_lock(database_path.parent / "console.lock"):
        Database.open(database_path).close()


def test_processes_that_open_a_new_database_at_once_all_get_it(database_path: Path) -> None:
    code = "import sys; from pathlib import Path; from runwatch.store.db.database import Database\n"
    code += "print('ready', flush=True); sys.stdin.readline()\n"
    code += "Database.open(Path(sys.argv[1])).close(); print('done')"
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(database_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for _ in range(4)
    ]
    for worker in workers:
        assert worker.stdout is not None
        assert worker.stdout.readline() == "ready\n"
    outputs = [worker.communicate("go\n", timeout=60)[0] for worker in workers]
    assert outputs == ["done\n"] * 4
    assert [worker.returncode for worker in workers] == [0] * 4


def test_importing_the_store_imports_neither_httpx_nor_pydantic() -> None:
    code = (
        "import sys; from runwatch.store.db import database; from runwatch.store.live import stored_run_tail\n"
        "from runwatch.store.repositories import event_store, journal, outbox, scope, watch_list\n"
        "print([name for name in ('httpx', 'pydantic') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == "[]\n"
