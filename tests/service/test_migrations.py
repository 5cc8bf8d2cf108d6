"""Migrations: from the files of version 0.1.0 to the tables that the code declares, whole or not at all."""

from __future__ import annotations

import asyncio
import json
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy
from alembic.autogenerate import compare_metadata
from alembic.operations import Operations
from alembic.runtime.migration import MigrationContext
from sqlalchemy import Column, ForeignKey, Index, Integer, MetaData, Table, Text, UniqueConstraint, create_engine
from sqlalchemy.pool import NullPool

from runwatch.base.errors import DataError, LocalServiceError
from runwatch.base.network.service_file import service_lock
from runwatch.service import database as database_module
from runwatch.service.database import ServiceDatabase
from runwatch.service.migrations import revisions
from runwatch.service.migrations.backup import backup_of
from runwatch.service.tables import SCHEMA_VERSION, metadata, runs_table
from runwatch.service.transaction import Transaction
from tests.make_data_of_0_1_0 import unpack
from tests.service.conftest import Json, Serving
from tests.service.killed_migration import MOMENTS
from tests.support.clock import FakeClock
from tests.support.postgres import on_file
from tests.support.schema import missing_revision, shape_of_file, shape_of_new

NEXT = SCHEMA_VERSION + 1

Rows = dict[str, list[tuple[Any, ...]]]


@pytest.fixture
def told(data_dir: Path) -> Json:
    """What a caller of version 0.1.0 was told; the data directory is in its place."""
    return unpack(data_dir)


@pytest.fixture
def path(data_dir: Path, told: Json) -> Path:
    """The database file of version 0.1.0."""
    return data_dir / "service.db"


@pytest.fixture
def next_revision(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Makes the code one version newer: with a revision that has this body."""

    def add(body: str) -> None:
        def revision(op: Operations) -> None:
            exec(body, {**vars(sqlalchemy), "op": op})

        monkeypatch.setattr(revisions, "REVISIONS", (*revisions.REVISIONS, revision))
        monkeypatch.setattr(database_module, "SCHEMA_VERSION", NEXT)

    return add


def open_and_close(path: Path) -> None:
    """What a start does to a file."""
    ServiceDatabase.open(path, FakeClock()).close()


def version_of(path: Path) -> int:
    """The schema version that a file says."""
    with closing(sqlite3.connect(path)) as connection:
        return int(connection.execute("PRAGMA user_version").fetchone()[0])


def rows_of(path: Path) -> Rows:
    """All that a file holds, by table."""
    with closing(sqlite3.connect(path)) as connection:
        return {table: connection.execute(f"SELECT * FROM {table}").fetchall() for table in shape_of_file(path)}


def assert_as_before(path: Path, before: Rows, skill_id: str) -> None:
    """Nothing is lost or changed, apart from what a revision says of one skill."""
    after = rows_of(path)
    expected = before | {"arms": [row for row in before["arms"] if skill_id not in row]}
    found = {table: after[table] for table in before}
    found["arms"] = [row for row in found["arms"] if skill_id not in row]
    assert found == expected
    counts = after.pop("run_counts", None)
    assert all(after[table] == [] for table in after.keys() - before.keys())
    if counts is not None:
        assert sum(submitted for *_, submitted, _ in counts) == len(before["runs"])
        assert sum(ended for *_, ended in counts) == len(before["receipts"])
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []


def assert_declared(path: Path, declared: MetaData = metadata) -> None:
    """Alembic and SQLite see the tables that the code declares."""
    lacking = missing_revision(path, declared)
    assert not lacking, f"runwatch.service.tables has changed and needs a revision such as:\n\n{lacking}"
    engine = create_engine(f"sqlite:///{path}", poolclass=NullPool)
    with engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), declared) == []
    assert shape_of_file(path) == shape_of_new(declared)


@pytest.mark.parametrize("version", range(1, SCHEMA_VERSION + 1))
def test_from_every_version_a_file_gets_the_declared_tables_and_keeps_its_rows(
    path: Path, told: Json, version: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = rows_of(path)
    with monkeypatch.context() as patch:
        patch.setattr(database_module, "SCHEMA_VERSION", version)
        open_and_close(path)
    assert version_of(path) == version
    assert_as_before(path, before, told["skill_id"])
    open_and_close(path)
    assert version_of(path) == SCHEMA_VERSION
    assert_as_before(path, before, told["skill_id"])
    assert_declared(path)
    assert not backup_of(path).exists()


@pytest.mark.exhaustive
def test_a_file_of_an_unreleased_version_that_has_some_tables_already_is_migrated(tmp_path: Path) -> None:
    path = tmp_path / "service.db"
    open_and_close(path)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("INSERT INTO service_keys VALUES ('cursors', x'00')")
        connection.execute("PRAGMA user_version = 1")
        connection.commit()
    before = rows_of(path)
    open_and_close(path)
    assert (version_of(path), rows_of(path)) == (SCHEMA_VERSION, before)
    assert_declared(path)


def test_runs_of_earlier_versions_count_the_calls_of_unknown_and_of_estimated_cost(tmp_path: Path) -> None:
    path = tmp_path / "service.db"
    open_and_close(path)
    calls: dict[
        str, list[tuple[str, str | None, int, int | None, str | None]]
    ] = {  # state, failure_kind, was_sent, tokens, pricing_basis
        "ex_known": [("answered", None, 1, 5, "source_reported"), ("failed", "request_refused", 1, 0, None)],
        "ex_lost": [("failed", "network", 1, None, None), ("failed", "network", 0, None, None)],
        "ex_guessed": [("answered", None, 1, 5, "estimated"), ("interrupted", None, 1, None, None)],
        "ex_live": [("started", None, 1, None, None)],
    }
    before = [{"slice_id": "sl_1", "capability": "text.generate", "status": "failed"}]
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("INSERT INTO tenants (tenant_id, display_name, created_at) VALUES ('t', '', '')")
        for run_id, attempts in calls.items():
            connection.execute(
                "INSERT INTO runs (execution_id, tenant_id, mode, status, policy, max_runtime_s, created_at, slices,"
                " spend_usd) VALUES (?, 't', 'live', 'failed', '{}', 1, '', ?, '0')",
                (run_id, json.dumps(before)),
            )
            for number, (state, kind, was_sent, tokens, basis) in enumerate(attempts, 1):
                connection.execute(
                    "INSERT INTO attempts (execution_id, number, arm_id, phase, state, started_at, failure_kind,"
                    " was_sent, input_tokens, output_tokens, usd, pricing_basis)"
                    " VALUES (?, ?, 'a', 'candidate', ?, '', ?, ?, ?, ?, '0', ?)",
                    (run_id, number, state, kind, was_sent, tokens, tokens, basis),
                )
        connection.execute("PRAGMA user_version = 7")
        connection.commit()
    open_and_close(path)
    with closing(sqlite3.connect(path)) as connection:
        found = {name: json.loads(text) for name, text in connection.execute("SELECT execution_id, slices FROM runs")}
    assert found["ex_known"] == found["ex_live"] == before
    assert found["ex_lost"] == [{**before[0], "unknown_calls": 1, "estimated_calls": 0}]
    assert found["ex_guessed"] == [{**before[0], "unknown_calls": 1, "estimated_calls": 1}]


def test_a_new_file_has_the_declared_tables_and_the_version(tmp_path: Path) -> None:
    open_and_close(tmp_path / "service.db")
    assert version_of(tmp_path / "service.db") == SCHEMA_VERSION
    assert_declared(tmp_path / "service.db")


def test_the_revisions_end_at_the_version_of_the_code() -> None:
    assert len(revisions.REVISIONS) == SCHEMA_VERSION - 1


def add_column(declared: MetaData) -> None:
    declared.tables["runs"].append_column(Column("added", Text))


def allow_no_value(declared: MetaData) -> None:
    """A column that may be null."""
    declared.tables["runs"].c.mode.nullable = True


def change_type(declared: MetaData) -> None:
    declared.tables["runs"].c.mode.type = Integer()


def add_index(declared: MetaData) -> None:
    Index("runs_by_mode", declared.tables["runs"].c.mode)


def widen_index(declared: MetaData) -> None:
    (index,) = (index for index in declared.tables["audit"].indexes if index.name == "audit_by_tenant")
    declared.tables["audit"].indexes.remove(index)
    Index("audit_by_tenant", *index.columns, declared.tables["audit"].c.sequence)


def add_unique(declared: MetaData) -> None:
    """Values that may be there once."""
    declared.tables["runs"].append_constraint(UniqueConstraint("created_at"))


def add_reference(declared: MetaData) -> None:
    declared.tables["problems"].c.tenant_id.append_foreign_key(ForeignKey("tenants.tenant_id"))


def give_numbers_again(declared: MetaData) -> None:
    """Numbers of deleted rows that are given out again."""
    declared.tables["runs"].dialect_options["sqlite"]["autoincrement"] = False


def add_table(declared: MetaData) -> None:
    Table("added", declared, Column("name", Text, primary_key=True))


def remove_table(declared: MetaData) -> None:
    declared.remove(declared.tables["key_uses"])


@pytest.mark.parametrize(
    "change",
    [
        add_column, allow_no_value, change_type, add_index, widen_index, add_unique, add_reference, give_numbers_again,
        add_table, remove_table,
    ],
)  # fmt: skip
def test_a_change_of_the_tables_without_a_revision_is_found(path: Path, change: Callable[[MetaData], None]) -> None:
    declared = MetaData()
    for table in metadata.sorted_tables:
        table.to_metadata(declared)
    open_and_close(path)
    assert_declared(path, declared)
    change(declared)
    with pytest.raises(AssertionError):
        assert_declared(path, declared)


@pytest.mark.exhaustive
def test_a_missing_revision_is_written_out(path: Path) -> None:
    open_and_close(path)
    declared = MetaData()
    for table in metadata.sorted_tables:
        table.to_metadata(declared)
    add_column(declared)
    assert "with op.batch_alter_table('runs'" in missing_revision(path, declared)
    assert "sa.Column('added', sa.Text(), nullable=True)" in missing_revision(path, declared)


START = """
import sys
from pathlib import Path
from runwatch.service.process import serve
from runwatch.service.options import ServeOptions
from tests.support.master_keys import master_keys
assert serve(ServeOptions(data_dir=Path(sys.argv[1]), master_keys=master_keys, json=True, idle_exit_s=0)) == 0
print(sorted({name.partition(".")[0] for name in sys.modules} & {"alembic", "mako", "sqlalchemy"}))
"""


def imported_by_a_start(data_dir: Path) -> str:
    """Which of the migration's libraries a start of the service imports."""
    command = [sys.executable, "-c", START, str(data_dir)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout.splitlines()[-1]


@pytest.mark.exhaustive
def test_alembic_is_imported_for_an_older_file_alone(data_dir: Path) -> None:
    assert imported_by_a_start(data_dir) == "['sqlalchemy']"
    assert imported_by_a_start(data_dir) == "['sqlalchemy']"
    shutil.rmtree(data_dir)
    unpack(data_dir)
    assert imported_by_a_start(data_dir) == "['alembic', 'mako', 'sqlalchemy']"


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_migration_that_is_killed_leaves_a_file_that_the_next_start_migrates(
    path: Path, told: Json, moment: str
) -> None:
    before = rows_of(path)
    command = [sys.executable, "-m", "tests.service.killed_migration", str(path), moment]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    left = {file.name for file in path.parent.iterdir() if "before-migration" in file.name}
    assert left == {backup_of(path).name + (".part" if moment == "while_it_is_copied" else "")}
    if moment == "after_the_commit":
        assert version_of(path) == SCHEMA_VERSION
    else:
        assert (version_of(path), rows_of(path)) == (1, before)
    open_and_close(path)
    assert version_of(path) == SCHEMA_VERSION
    assert_as_before(path, before, told["skill_id"])
    assert_declared(path)
    assert [file.name for file in path.parent.iterdir() if "before-migration" in file.name] == []


FAILURES = {
    "a mistake": (
        "op.execute('DELETE FROM results')\nraise ValueError('sentinel-prompt')", "ValueError", "report this",
    ),
    "a statement": ("op.execute('DELETE FROM results')\nop.drop_table('nowhere')", "no such table: nowhere", "report"),
    "a reference": ("op.execute('DELETE FROM runs')", "rows of ", "report this"),
    "a constraint": (
        "op.execute('UPDATE runs SET execution_id = 1')", "UNIQUE constraint failed: runs.execution_id", "report this",
    ),
    "no space": (
        "op.execute('PRAGMA max_page_count = 1')\nop.execute('CREATE TABLE big AS SELECT zeroblob(1000000)')",
        "database or disk is full", "space left, and start again",
    ),
}  # fmt: skip


@pytest.mark.parametrize("failure", FAILURES)
def test_a_migration_that_fails_leaves_the_file_as_it_was_and_names_its_copy(
    path: Path, failure: str, next_revision: Callable[[str], None]
) -> None:
    body, reason, step = FAILURES[failure]
    before, shape = rows_of(path), shape_of_file(path)
    next_revision(body)
    with pytest.raises(DataError, match="could not be migrated") as caught:
        open_and_close(path)
    copy = backup_of(path)
    for file in (path, copy):
        assert (version_of(file), rows_of(file), shape_of_file(file)) == (1, before, shape)
    assert copy.stat().st_mode & 0o777 == 0o600
    detail, hint = caught.value.detail or "", caught.value.hint or ""
    assert f"{path} is as it was, at schema version 1: {reason}" in detail
    assert step in hint
    assert str(copy) in hint
    assert "sentinel-prompt" not in detail + hint


def test_after_a_failure_a_repaired_version_migrates_the_file_and_removes_the_copy(
    path: Path, told: Json, next_revision: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = rows_of(path)
    next_revision("raise ValueError")
    with pytest.raises(DataError):
        open_and_close(path)
    monkeypatch.undo()
    assert backup_of(path).exists()
    open_and_close(path)
    assert_as_before(path, before, told["skill_id"])
    assert not backup_of(path).exists()


def test_a_file_that_cannot_be_copied_is_not_migrated(path: Path) -> None:
    before = rows_of(path)
    (path.parent / f"{backup_of(path).name}.part").mkdir()
    with pytest.raises(DataError, match="cannot be copied first") as caught:
        open_and_close(path)
    assert "space for a second file" in (caught.value.hint or "")
    assert (version_of(path), rows_of(path)) == (1, before)


async def test_a_table_that_others_refer_to_can_be_made_anew(
    path: Path, told: Json, next_revision: Callable[[str], None]
) -> None:
    with closing(sqlite3.connect(path)) as connection:
        # A number that was given out and deleted is not given out again.
        connection.execute("UPDATE sqlite_sequence SET seq = 50 WHERE name = 'runs'")
        connection.commit()
    before, shape = rows_of(path), shape_of_file(path)
    next_revision(
        "with op.batch_alter_table('runs', table_kwargs={'sqlite_autoincrement': True}) as table:\n"
        "    table.alter_column('mode', nullable=True)\n"
        "    table.add_column(Column('kind', Text, nullable=False, server_default='usual'))"
    )
    database = ServiceDatabase.open(path, FakeClock())

    def write(transaction: Transaction) -> tuple[int, int]:
        row = transaction.one(runs_table, {"execution_id": told["runs"][0]})
        assert row is not None
        copied = {name: value for name, value in row.items() if name != "sequence"}
        transaction.add(runs_table, **copied | {"execution_id": "ex"})
        added = transaction.one(runs_table, {"execution_id": "ex"})
        assert added is not None
        return added["sequence"], transaction._connection.exec_driver_sql("PRAGMA foreign_keys").scalar_one()

    assert await database.write(write) == (51, 1)
    await asyncio.to_thread(database.close)
    after = rows_of(path)
    assert [row[:-1] for row in after["runs"][:-1]] == before["runs"]
    assert {row[-1] for row in after["runs"]} == {"usual"}
    assert {table: after[table] for table in before if table not in {"runs", "arms"}} == {
        table: before[table] for table in before if table not in {"runs", "arms"}
    }
    changed = shape_of_file(path)
    assert changed["events"] == shape["events"]
    assert {name: changed["runs"][name] for name in ("indexes", "foreign keys", "gives numbers once")} == {
        name: shape["runs"][name] for name in ("indexes", "foreign keys", "gives numbers once")
    }


def test_a_file_that_a_newer_version_migrated_is_refused_and_left_alone(
    path: Path, next_revision: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    next_revision("op.create_table('added', Column('name', Text))")
    open_and_close(path)
    assert version_of(path) == NEXT
    monkeypatch.undo()
    before = path.read_bytes()
    with pytest.raises(DataError, match="newer version"):
        open_and_close(path)
    assert path.read_bytes() == before


@on_file
async def test_a_file_whose_directory_another_service_holds_is_not_migrated(
    serving: Serving, path: Path, data_dir: Path
) -> None:
    lock = service_lock(data_dir)
    assert lock.acquire(wait=False)
    with pytest.raises(LocalServiceError):
        await serving().__aenter__()
    lock.release()
    assert version_of(path) == 1
    async with serving():
        assert version_of(path) == SCHEMA_VERSION
