"""Cached lists of the last session, which the next one shows at once with their age.

Only lists are cached, never results of runs, because they hold model output. For the same reason
:attr:`~runwatch.records.record.Record.CONTENT` is left out.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final, TypeVar

from runwatch.base.clock import format_iso
from runwatch.base.json import dumps, loads
from runwatch.records.record import Record
from runwatch.store.db.database import Database
from runwatch.store.db.text_codec import decode_text, encode_text
from runwatch.store.repositories.scope import Scope, ensure_scope_row, find_scope_row

R = TypeVar("R", bound=Record)

MAX_CACHED_RECORDS: Final = 1_000
"""Maximum records of one kind; a list begins with the newest."""


class RecordCache:
    """The newest records of each kind, by scope."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def save(self, scope: Scope, kind: str, records: Sequence[Record], seen_at: datetime) -> None:
        """Store a list, replacing the one before."""
        # Records never change, so the database's thread can encode them, which takes longer than a frame.
        kept = records[:MAX_CACHED_RECORDS]

        def work(connection: sqlite3.Connection) -> None:
            key = ensure_scope_row(connection, scope)
            texts = [dumps(_without_content(record)) for record in kept]
            connection.execute("DELETE FROM cached_record WHERE scope = ? AND kind = ?", (key, kind))
            connection.executemany(
                "INSERT INTO cached_record (scope, kind, position, text) VALUES (?, ?, ?, ?)",
                [(key, kind, position, encode_text(text)) for position, text in enumerate(texts)],
            )
            connection.execute(
                "INSERT OR REPLACE INTO cached_list (scope, kind, seen_at) VALUES (?, ?, ?)",
                (key, kind, format_iso(seen_at)),
            )

        await self._database.write(work)

    async def load(self, scope: Scope, kind: type[R]) -> tuple[list[R], datetime | None]:
        """Return the cached list and when the service confirmed it; an empty one and ``None`` if there is none."""

        return await self._database.read(lambda connection: load_cached_list(connection, scope, kind))


def load_cached_list(connection: sqlite3.Connection, scope: Scope, kind: type[R]) -> tuple[list[R], datetime | None]:
    """Return what :meth:`RecordCache.load` returns."""
    key = find_scope_row(connection, scope)
    row = connection.execute(
        "SELECT seen_at FROM cached_list WHERE scope = ? AND kind = ?", (key, kind.KIND)
    ).fetchone()
    if row is None:
        return [], None
    texts = connection.execute(
        "SELECT text FROM cached_record WHERE scope = ? AND kind = ? ORDER BY position", (key, kind.KIND)
    )
    return [kind(loads(decode_text(text))) for (text,) in texts.fetchall()], datetime.fromisoformat(row[0])


def _without_content(record: Record) -> dict[str, Any]:
    return {name: value for name, value in record.raw.items() if name not in record.CONTENT}
