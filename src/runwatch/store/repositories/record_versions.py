"""Earlier versions of records: each text that a record had, with the first and last time it was seen.

Only for kinds whose lists are read completely and seldom change. A text that returns after another one is a new
version, so the versions of a record show its history.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Generic, TypeVar

from runwatch.base.clock import format_iso
from runwatch.base.json import loads
from runwatch.records.digest import compute_digest
from runwatch.records.record import Record
from runwatch.records.template import Template
from runwatch.store.db.database import Database
from runwatch.store.db.text_codec import decode_text, encode_text
from runwatch.store.repositories.scope import Scope, ensure_scope_row, find_scope_row

R = TypeVar("R", bound=Record)

VERSIONED_KINDS: Final[tuple[type[Record], ...]] = (Template,)
KEPT_FOR: Final = timedelta(days=90)
"""How long a version is stored after it was last seen."""


@dataclass(frozen=True, slots=True)
class RecordVersion(Generic[R]):
    """One text that a record had.

    Attributes:
        first_seen_at: When this machine first saw it.
        last_seen_at: When it last did.
    """

    record: R
    digest: str
    first_seen_at: datetime
    last_seen_at: datetime


class RecordVersions:
    """The versions of all scopes."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def note(self, scope: Scope, records: Iterable[Record], at: datetime) -> None:
        """Store what was seen: an unchanged record extends its latest version, any other one is a new version.

        A record without an id, or nested too deeply to encode, has no versions.
        """
        seen = []
        for record in records:
            if record.id:
                with contextlib.suppress(ValueError):
                    seen.append(
                        (record.KIND, encode_text(record.id), compute_digest(record), encode_text(record.json()))
                    )
        moment = format_iso(at)

        def work(connection: sqlite3.Connection) -> None:
            key = ensure_scope_row(connection, scope)
            for kind, record_id, digest, text in seen:
                latest = connection.execute(
                    "SELECT digest, first_seen_at FROM version WHERE scope = ? AND kind = ? AND record_id = ?"
                    " ORDER BY first_seen_at DESC LIMIT 1",
                    (key, kind, record_id),
                ).fetchone()
                if latest is not None and latest[0] == digest:
                    connection.execute(
                        "UPDATE version SET last_seen_at = max(last_seen_at, ?)"
                        " WHERE scope = ? AND kind = ? AND record_id = ? AND first_seen_at = ?",
                        (moment, key, kind, record_id, latest[1]),
                    )
                elif latest is None or latest[1] < moment:
                    # A version that another console saw later is newer than this one.
                    connection.execute(
                        "INSERT INTO version (scope, kind, record_id, first_seen_at, last_seen_at, digest, text)"
                        " VALUES (?, ?, ?, ?, ?, ?, ?)",
                        (key, kind, record_id, moment, moment, digest, text),
                    )

        if seen:
            await self._database.write(work)

    async def of(self, scope: Scope, kind: type[R]) -> dict[str, list[RecordVersion[R]]]:
        """Return the versions of every record of a kind by its id, newest first."""

        def work(connection: sqlite3.Connection) -> dict[str, list[RecordVersion[R]]]:
            rows = connection.execute(
                "SELECT record_id, text, digest, first_seen_at, last_seen_at FROM version"
                " WHERE scope = ? AND kind = ? ORDER BY first_seen_at DESC",
                (find_scope_row(connection, scope), kind.KIND),
            )
            found: dict[str, list[RecordVersion[R]]] = {}
            for record_id, text, digest, first, last in rows:
                version = RecordVersion(
                    kind(loads(decode_text(text))), digest, datetime.fromisoformat(first), datetime.fromisoformat(last)
                )
                found.setdefault(decode_text(record_id), []).append(version)
            return found

        return await self._database.read(work)

    async def prune(self, now: datetime) -> int:
        """Delete versions last seen longer ago than :data:`KEPT_FOR`, and return their number."""
        before = format_iso(now - KEPT_FOR)

        def work(connection: sqlite3.Connection) -> int:
            return connection.execute("DELETE FROM version WHERE last_seen_at < ?", (before,)).rowcount

        return await self._database.write(work)
