"""Last use of each key: in memory immediately, on disk at most once a minute for all keys together."""

from __future__ import annotations

import asyncio
from typing import Final

from runwatch.base.clock import Clock, Timers, format_iso
from runwatch.service.database import ServiceDatabase
from runwatch.service.tables import key_uses_table
from runwatch.service.transaction import Transaction

STORE_AFTER_S: Final = 60.0
"""Seconds that uses wait for others before a write; a killed service loses as much."""


def store_use(transaction: Transaction, key_id: str, at: str) -> None:
    """Write a use of a key; a later one, which another process may have written, stays."""
    known = transaction.one(key_uses_table, {"api_key_id": key_id})
    if known is None or known["last_used_at"] < at:
        transaction.put(key_uses_table, {"api_key_id": key_id}, known, last_used_at=at)


class KeyUses:
    def __init__(self, database: ServiceDatabase, clock: Clock, timers: Timers) -> None:
        self._database = database
        self._clock = clock
        self._timers = timers
        self._last: dict[str, str] = {}
        self._not_stored: set[str] = set()
        self._timer: asyncio.TimerHandle | None = None
        self._storing: asyncio.Task[None] | None = None

    def record_use(self, key_id: str) -> None:
        self._last[key_id] = format_iso(self._clock.now())
        self._not_stored.add(key_id)
        if self._timer is None:
            self._timer = self._timers.call_later(STORE_AFTER_S, self._store_soon)

    def last_of(self, key_id: str) -> str | None:
        """Return when a key was last used since the service started, or ``None``."""
        return self._last.get(key_id)

    async def flush(self) -> None:
        """Write pending uses and return once they are on disk."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._storing is not None:
            await asyncio.gather(self._storing, return_exceptions=True)
        if self._not_stored:
            await self._store()

    def _store_soon(self) -> None:
        self._timer = None
        self._storing = asyncio.ensure_future(self._store())
        # Uses that could not be written are written with the next ones.
        self._storing.add_done_callback(lambda task: task.cancelled() or task.exception())

    async def _store(self) -> None:
        uses = {key_id: self._last[key_id] for key_id in self._not_stored}

        def store(transaction: Transaction) -> None:
            for key_id, at in uses.items():
                store_use(transaction, key_id, at)

        await self._database.write(store)
        self._not_stored = {key_id for key_id in self._not_stored if self._last[key_id] != uses.get(key_id)}
