"""Statements handed to SQLite's driver say what they say through SQLAlchemy."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from runwatch.service.backends.sqlite import SqliteFile
from runwatch.service.tables import SCHEMA_VERSION, runs_table, tenants_table
from runwatch.service.transaction import Transaction

SLICES = [{"slice_id": "sl_1", "work": None}]


@pytest.mark.parametrize(
    ("where", "found"),
    [
        ({}, ["ex_2", "ex_1"]),
        ({"reason": None}, ["ex_1"]),
        ({"status": ("queued", "running")}, ["ex_2", "ex_1"]),
        ({"status": ("running",), "reason": "late"}, ["ex_2"]),
        ({"status": ()}, []),
    ],
    ids=["any", "null", "one of", "both", "one of none"],
)
def test_rows_come_by_their_conditions_with_values_of_their_types(
    tmp_path: Path, where: Mapping[str, Any], found: list[str]
) -> None:
    file = SqliteFile(tmp_path / "service.db")
    file.open_writer(SCHEMA_VERSION)
    with file.writer.connect() as connection, connection.begin():
        transaction = Transaction(connection, datetime(2026, 11, 20, tzinfo=UTC))
        transaction.add(tenants_table, tenant_id="tn_1", display_name="One")
        run = {"tenant_id": "tn_1", "mode": "echo", "policy": "{}", "max_runtime_s": 60.0, "spend_usd": "0"}
        transaction.add(runs_table, execution_id="ex_1", status="queued", slices=SLICES, **run)
        transaction.add(runs_table, execution_id="ex_2", status="queued", slices=[], **run)
        transaction.change(runs_table, {"execution_id": "ex_2"}, status="running", reason="late")
        rows = transaction.newest(runs_table, where, limit=5)
        assert [row["execution_id"] for row in rows] == found
        assert [row["slices"] for row in rows if row["execution_id"] == "ex_1"] == [SLICES] * ("ex_1" in found)
        assert transaction.count(runs_table, where) == len(found)
        everything = [dict(row) for row in connection.execute(runs_table.select()).mappings()]
        assert sorted(transaction.list_all(runs_table, {}), key=lambda row: row["sequence"]) == everything
    file.close()
