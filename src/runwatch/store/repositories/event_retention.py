"""Retention of stored events: ended runs are deleted by age, and the oldest first when they take too much disk.

Cached lists, requests, problems and versions have their own fixed bounds; only events can fill a disk. Deleted events
are still at the service and are read again when a user opens the run.
"""

from __future__ import annotations

import sqlite3
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final, NamedTuple, Self

from runwatch.store.db.database import Database
from runwatch.store.repositories.event_store import EventStore

if TYPE_CHECKING:
    from runwatch.settings.declarations import Settings

PRUNE_INTERVAL_S: Final = 3600.0
"""How often an open console checks whether to delete events."""


class RetentionPolicy(NamedTuple):
    """Bounds from the settings.

    Attributes:
        age: Events of a run that ended longer ago are deleted.
        most_bytes: When the console's database is larger, the events of ended runs are deleted until it is not; 0 for
            no bound.
    """

    age: timedelta
    most_bytes: int = 0

    @classmethod
    def by(cls, settings: Settings) -> Self:
        return cls(timedelta(days=settings.keep_events_days), settings.keep_events_mb * 1_000_000)


async def prune_events(database: Database, policy: RetentionPolicy, now: datetime) -> int:
    """Delete the events of ended runs that are too old, then the oldest ones until the size is within bounds.

    Events of live runs stay, because users watch them. The file keeps its size on disk, but new data reuses the freed
    space, so that it does not grow beyond the bound.

    Returns:
        How many runs were deleted.
    """
    count = await EventStore(database).prune(now - policy.age)
    while policy.most_bytes and await used_bytes(database) > policy.most_bytes:
        # One run a transaction, so that other work can go in between.
        if not await database.write(_forget_oldest):
            break
        count += 1
    return count


async def used_bytes(database: Database) -> int:
    """Return how many bytes of the database are in use."""

    def work(connection: sqlite3.Connection) -> int:
        size, pages, free = (
            int(connection.execute(f"PRAGMA {name}").fetchone()[0])
            for name in ("page_size", "page_count", "freelist_count")
        )
        return size * (pages - free)

    return await database.read(work)


def _forget_oldest(connection: sqlite3.Connection) -> int:
    """Delete the ended run whose last event is the oldest; return the number of runs deleted."""
    return connection.execute(
        "DELETE FROM run WHERE id = (SELECT id FROM (SELECT id, (SELECT coalesce(at, '') FROM event"
        " WHERE event.run = run.id ORDER BY seq DESC LIMIT 1) AS last FROM run WHERE is_complete)"
        " WHERE last IS NOT NULL ORDER BY last LIMIT 1)"
    ).rowcount
