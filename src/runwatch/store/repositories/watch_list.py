"""Watch list: runs that were submitted or added here.

Where a service has no list of runs, this is the list. The stored request supplies what a run does not say of itself,
mode and policy (manual: decisions, "Lists").
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from runwatch.api.request_builder import refuse_secrets
from runwatch.base.clock import Clock, SystemClock, format_iso
from runwatch.base.json import loads
from runwatch.store.db.database import Database
from runwatch.store.db.text_codec import decode_text, encode_text
from runwatch.store.repositories.scope import Scope, ensure_scope_row, find_scope_row

WatchSource = Literal["submitted", "added"]
"""How a run came onto the watch list."""


@dataclass(frozen=True, slots=True)
class WatchedRun:
    """A run on the watch list.

    Attributes:
        source: Whether it was submitted here or added by hand.
        added_at: When it was added to the list.
        request: The submit sent from here, decoded; ``None`` if the run was not submitted here.
    """

    run_id: str
    source: WatchSource
    added_at: datetime
    request: Mapping[str, Any] | None = field(repr=False)


class WatchList:
    """The watch lists of all scopes."""

    def __init__(self, database: Database, *, clock: Clock | None = None) -> None:
        self._database = database
        self._clock = clock or SystemClock()

    async def add(
        self,
        scope: Scope,
        run_ids: Iterable[str],
        *,
        source: WatchSource = "added",
        request: bytes | None = None,
    ) -> None:
        """Add runs. One already on the list keeps its time, its request, and that it was submitted.

        Raises:
            InvalidRequestError: An id that a user added is a well-known key; nothing was stored.
        """
        watched, at = list(run_ids), self._clock.now()
        if source == "added":
            for run_id in watched:
                refuse_secrets("getExecutionsByExecutionId", {"execution_id": run_id}, None, None)

        def work(connection: sqlite3.Connection) -> None:
            key = ensure_scope_row(connection, scope)
            for run_id in watched:
                add_watched_run(connection, key, run_id, source=source, request=request, at=at)

        await self._database.write(work)

    async def request_of(self, scope: Scope, run_id: str) -> Mapping[str, Any] | None:
        """Return the submit of a run, decoded, or ``None`` if it was not submitted here."""

        def work(connection: sqlite3.Connection) -> Mapping[str, Any] | None:
            row = connection.execute(
                "SELECT request FROM watch WHERE scope = ? AND run_id = ?",
                (find_scope_row(connection, scope), encode_text(run_id)),
            ).fetchone()
            return _decoded(row[0]) if row else None

        return await self._database.read(work)

    async def list(self, scope: Scope) -> Sequence[WatchedRun]:
        """Return the runs on the list, the latest first."""

        def work(connection: sqlite3.Connection) -> Sequence[WatchedRun]:
            rows = connection.execute(
                "SELECT run_id, source, added_at, request FROM watch WHERE scope = ?"
                " ORDER BY added_at DESC, rowid DESC",
                (find_scope_row(connection, scope),),
            )
            return [
                WatchedRun(decode_text(run_id), source, datetime.fromisoformat(added_at), _decoded(request))
                for run_id, source, added_at, request in rows
            ]

        return await self._database.read(work)


def add_watched_run(
    connection: sqlite3.Connection,
    scope: int,
    run_id: str,
    *,
    source: WatchSource,
    request: bytes | None,
    at: datetime,
) -> None:
    """Add one run to the list of a scope's row; for use inside a write."""
    connection.execute(
        "INSERT INTO watch (scope, run_id, source, added_at, request) VALUES (?, ?, ?, ?, ?)"
        " ON CONFLICT (scope, run_id) DO UPDATE SET"
        " source = CASE source WHEN 'submitted' THEN source ELSE excluded.source END,"
        " request = coalesce(request, excluded.request)",
        (scope, encode_text(run_id), source, format_iso(at), request),
    )


def _decoded(request: bytes | None) -> Mapping[str, Any] | None:
    if request is None:
        return None
    try:
        value = loads(request)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None
