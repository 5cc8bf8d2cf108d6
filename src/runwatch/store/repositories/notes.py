"""Local notes: labels, notes, decisions, and intents that the user started here.

They are never sent to the service. They belong to a scope, so two profiles of one service share none.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Final, Literal, NamedTuple

from runwatch.base.clock import Clock, SystemClock, format_iso
from runwatch.store.db.database import Database
from runwatch.store.db.text_codec import decode_text, encode_text
from runwatch.store.repositories.scope import Scope, ensure_scope_row, find_scope_row

NotePurpose = Literal["label", "note", "decision", "intent", "pins", "notice"]
"""Purpose of a note; a record has at most one note of each. The pins of a scope are about no record, and a notice says
that a console has told on the desktop of a run's end."""

NOTICE_KEPT: Final = timedelta(days=1)
"""How long it is known that a run's end was told; every console has read that end long before."""


class LocalNote(NamedTuple):
    """One note about one record.

    Attributes:
        text: The text; JSON where it has parts.
    """

    record_id: str
    purpose: NotePurpose
    at: datetime
    text: str


class LocalNotes:
    """The notes of all scopes."""

    def __init__(self, database: Database, *, clock: Clock | None = None) -> None:
        self._database = database
        self._clock = clock or SystemClock()

    async def write(
        self, scope: Scope, kind: str, record_id: str, purpose: NotePurpose, text: str, *, seen: str | None = None
    ) -> str | None:
        """Write or replace a note; an empty text deletes it.

        Args:
            seen: The text that the user saw before editing, empty for none. If another console has written a different
                one since, that one stays. ``None`` always overwrites.

        Returns:
            The unseen text that stays; ``None`` if the new one was written.
        """
        at = self._clock.now()

        def work(connection: sqlite3.Connection) -> str | None:
            place = (ensure_scope_row(connection, scope), kind, encode_text(record_id), purpose)
            row = connection.execute(_SELECT, place).fetchone()
            present = "" if row is None else decode_text(row[0])
            if seen is not None and present not in (seen, text):
                return present
            if text:
                connection.execute(
                    "INSERT OR REPLACE INTO note (scope, kind, record_id, purpose, at, text) VALUES (?, ?, ?, ?, ?, ?)",
                    (*place, format_iso(at), encode_text(text)),
                )
            else:
                connection.execute(_DELETE, place)
            return None

        return await self._database.write(work)

    async def list_for(self, scope: Scope, kind: str) -> list[LocalNote]:
        """Return all notes about the records of a kind, the latest first."""

        def work(connection: sqlite3.Connection) -> list[LocalNote]:
            rows = connection.execute(
                "SELECT record_id, purpose, at, text FROM note WHERE scope = ? AND kind = ?"
                " ORDER BY at DESC, record_id, purpose",
                (find_scope_row(connection, scope), kind),
            )
            return [
                LocalNote(decode_text(record_id), purpose, datetime.fromisoformat(at), decode_text(text))
                for record_id, purpose, at, text in rows
            ]

        return await self._database.read(work)

    async def claim_notices(self, scope: Scope, run_ids: Collection[str]) -> Collection[str]:
        """Return those of ended runs that no console with this database has told of; it counts as told from now on."""
        at = self._clock.now()

        def work(connection: sqlite3.Connection) -> Collection[str]:
            key = ensure_scope_row(connection, scope)
            old = format_iso(at - NOTICE_KEPT)
            connection.execute("DELETE FROM note WHERE scope = ? AND kind = ? AND at < ?", (key, _NOTICE, old))
            return {
                run_id
                for run_id in run_ids
                if connection.execute(
                    "INSERT OR IGNORE INTO note (scope, kind, record_id, purpose, at, text) VALUES (?, ?, ?, ?, ?, '')",
                    (key, _NOTICE, encode_text(run_id), _NOTICE, format_iso(at)),
                ).rowcount
            }

        return await self._database.write(work)


_NOTICE: Final = "notice"
"""Kind and purpose of the rows of told ends: no list of a kind's notes has them."""

_SELECT: Final = "SELECT text FROM note WHERE scope = ? AND kind = ? AND record_id = ? AND purpose = ?"
_DELETE: Final = "DELETE FROM note WHERE scope = ? AND kind = ? AND record_id = ? AND purpose = ?"
