"""``runwatch admin copy``: an embedded service's data in PostgreSQL, with every row, or not at all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection

from runwatch.base.errors import DataError, RunwatchError, UsageError
from runwatch.base.files import private_directory
from runwatch.base.secrets.secret import Secret
from runwatch.service import data_copy
from runwatch.service.access.vault import Vault
from runwatch.service.backends.postgresql import PostgresDatabase
from runwatch.service.backends.sqlite import SqliteFile
from runwatch.service.data_copy import DataCopy
from runwatch.service.database import ServiceDatabase
from runwatch.service.options import ServeOptions
from runwatch.service.startup import DATABASE_FILE
from runwatch.service.tables import (
    idempotency_table,
    metadata,
    problems_table,
    runs_table,
    sealed_secrets_table,
    tenants_table,
    webhook_deliveries_table,
    webhooks_table,
)
from runwatch.service.transaction import Transaction
from tests.support import postgres
from tests.support.cli import Cli
from tests.support.clock import FakeClock
from tests.support.master_keys import MASTER_KEYS

ODD = "a\0b \ufdd0 \x1b[31m \u202e ä"
PROBLEM = {"instance": "i", "at": "now", "method": "GET", "path": "/", "code": "internal", "body": ODD}


@pytest.fixture
async def source(tmp_path: Path) -> Path:
    """The data directory of an embedded service with rows of every type, a gap in a sequence, and a secret."""
    data_dir = private_directory(tmp_path / "source")
    database = ServiceDatabase.open(SqliteFile(data_dir / DATABASE_FILE), FakeClock())

    def fill(transaction: Transaction) -> None:
        transaction.add(tenants_table, tenant_id="ten_1", display_name=ODD, created_at="now")
        for number in range(700):
            transaction.add(problems_table, **PROBLEM | {"instance": f"i{number}"})
        transaction.remove(problems_table, {"instance": "i699"})
        run = {"execution_id": "ex_1", "tenant_id": "ten_1", "mode": "live", "status": "running", "created_at": "now"}
        limits = {"policy": "{}", "max_runtime_s": 0.1, "spend_usd": "0.10"}
        transaction.add(runs_table, **run, **limits, slices=[{"packet": {"text": ODD, "number": 1.10, "none": None}}])
        hook = {"tenant_id": "ten_1", "webhook_id": "wh_1", "created_at": "now"}
        transaction.add(webhooks_table, **hook, url="u", event_types=[], secret_handle="h")
        sent = {"event_id": "ev_1", "event_type": "t", "execution_id": "ex_1", "body": "{}", "attempts": 1}
        for status in ("pending", "failed"):
            transaction.add(webhook_deliveries_table, **hook, **sent, delivery_id=status, status=status)
        kept = {"tenant_id": "ten_1", "endpoint": "e", "key": "k", "principal_id": "p", "digest": "d", "status": 202}
        transaction.add(idempotency_table, **kept, body=b"\x00\xff", recorded_at="now")

    await database.write(fill)
    database.close()
    await Vault(data_dir, MASTER_KEYS).put(Secret("sk-sentinel"))
    (data_dir / "service.json").write_text("{}")
    return data_dir


@pytest.fixture
def target(tmp_path: Path) -> ServeOptions:
    data_dir = tmp_path / "target"
    address = postgres.database_for(data_dir, is_empty=True)
    return ServeOptions(data_dir=data_dir, master_keys=lambda: MASTER_KEYS, json=False, database=address)


async def copy(source: Path, target: ServeOptions) -> DataCopy:
    return await data_copy.copy_data(source, target, FakeClock())


def rows_of(target: ServeOptions) -> dict[str, list[Any]]:
    assert target.database is not None
    database = PostgresDatabase(target.database, target.data_dir)
    with database.writer.begin() as connection:
        found = {table.name: list(connection.execute(table.select()).all()) for table in metadata.sorted_tables}
    database.close()
    return found


@pytest.mark.exhaustive
async def test_every_row_and_secret_is_copied_and_numbers_go_on_where_they_were(
    source: Path, target: ServeOptions
) -> None:
    copied = await copy(source, target)
    assert {one.name: one.rows for one in copied.tables if one.rows} == {
        "tenants": 1, "problems": 699, "runs": 1, "idempotency": 1, "webhooks": 1, "webhook_deliveries": 2,
    }  # fmt: skip
    assert (copied.secrets, copied.unfinished, copied.deliveries) == (1, 1, 1)
    file = SqliteFile(source / DATABASE_FILE)
    file.open_reader(1)
    with file.reader.begin() as connection:
        for table in metadata.sorted_tables:
            assert table is sealed_secrets_table or sorted(map(repr, connection.execute(table.select()))) == sorted(
                map(repr, rows_of(target)[table.name])
            )
    file.close()
    assert target.database is not None
    database = ServiceDatabase.open(PostgresDatabase(target.database, target.data_dir), FakeClock())
    await database.write(lambda transaction: transaction.add(problems_table, **PROBLEM))
    last = await database.read(lambda transaction: transaction.newest(problems_table, {})[0]["sequence"])
    database.close()
    assert last == 701
    (kept,) = rows_of(target)["sealed_secrets"]
    assert MASTER_KEYS.open(kept.sealed, kept.handle) == b"sk-sentinel"
    assert (target.data_dir / "service.json").read_text() == "{}"


@pytest.mark.parametrize("fails_in", ["comparison", "sequences"])
async def test_a_copy_that_fails_leaves_no_row_and_can_be_made_again(
    source: Path, target: ServeOptions, fails_in: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def spoil(self: object, connection: Connection, last: object) -> None:
        raise DataError("The disk is full")

    if fails_in == "sequences":
        monkeypatch.setattr(PostgresDatabase, "continue_sequences", spoil)
    else:
        digests = iter(range(10_000))
        monkeypatch.setattr(data_copy, "_digest", lambda _: next(digests))
    with pytest.raises(DataError, match="not the same on both sides" if fails_in == "comparison" else "disk is full"):
        await copy(source, target)
    assert not any(rows_of(target).values())
    monkeypatch.undo()
    assert (await copy(source, target)).secrets == 1


async def test_what_cannot_be_copied_is_refused_with_what_to_do(
    source: Path, target: ServeOptions, tmp_path: Path
) -> None:
    async def refusal(source: Path, target: ServeOptions) -> RunwatchError:
        with pytest.raises(RunwatchError) as refused:
            await copy(source, target)
        assert refused.value.hint
        return refused.value

    assert "no data" in (await refusal(tmp_path / "nothing", target)).title
    own = ServeOptions(data_dir=source, master_keys=target.master_keys, json=False, database=target.database)
    assert "embedded database" in (await refusal(source, own)).title
    unnamed = ServeOptions(data_dir=tmp_path / "other", master_keys=target.master_keys, json=False)
    assert isinstance(await refusal(source, unnamed), UsageError)
    await copy(source, target)
    assert "not empty" in (await refusal(source, target)).title


async def test_the_command_prints_rows_and_digests(source: Path, target: ServeOptions, tmp_path: Path) -> None:
    assert target.database is not None
    runwatch = Cli(tmp_path, env={"RUNWATCH_DATABASE": target.database.reveal()})
    words = ("admin", "copy", "--source-dir", str(source), "--data-dir", str(target.data_dir))
    told = runwatch(*words).errors
    assert "not final: 1, webhook deliveries that wait: 1." in told
    assert f"serve --data-dir {target.data_dir}" in " ".join(told.split())
