"""A service with a long past: its database gets as many runs and receipts as a test of long lists needs."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from runwatch.base.clock import format_iso

Row = dict[str, Any]


def make_past(database: Path, *, runs: int, receipts: int, events: int) -> str:
    """Add finished runs, one a second until now, to a database that has one at least and that no service holds.

    Each is the newest finished run of the database again, under its own id. Only the newest of them, as many as
    are asked for, get receipts. The id of the newest is returned; it alone has events, as many as are asked for.
    """
    newest = datetime.now(UTC)
    with contextlib.closing(sqlite3.connect(database)) as connection, connection:
        connection.row_factory = sqlite3.Row
        (run,) = connection.execute("SELECT * FROM runs WHERE status = 'completed' ORDER BY sequence DESC LIMIT 1")
        (receipt,) = connection.execute("SELECT * FROM receipts WHERE execution_id = ?", [run["execution_id"]])
        (event,) = connection.execute("SELECT * FROM events WHERE execution_id = ? LIMIT 1", [run["execution_id"]])
        past = [(f"ex_{number:026}", format_iso(newest - timedelta(seconds=runs - number))) for number in range(runs)]
        _insert(connection, "runs", (_again(run, *one) for one in past))
        _insert(connection, "receipts", (_again(receipt, *one) for one in past[runs - receipts :]))
        last, at = past[-1]
        _insert(connection, "events", (_again(event, last, at, event_id=f"ev_{n:026}") for n in range(events)))
        return last


def _again(row: sqlite3.Row, execution_id: str, at: str, **more: str) -> Row:
    """The same row for another run, which was accepted and ended at the same moment, with further ids."""
    again = {name: value for name, value in dict(row).items() if name != "sequence"}
    new = {"execution_id": execution_id, **more}
    moments = {name: at for name in ("created_at", "completed_at") if name in again}
    if "body" in again:
        body: str = again["body"]
        for name, value in new.items():
            body = body.replace(again[name], value)
        again["body"] = body
    return again | moments | new


def _insert(connection: sqlite3.Connection, table: str, rows: Iterator[Row]) -> None:
    first = next(rows)
    statement = f"INSERT INTO {table} ({', '.join(first)}) VALUES ({', '.join(f':{name}' for name in first)})"
    connection.execute(statement, first)
    connection.executemany(statement, rows)
