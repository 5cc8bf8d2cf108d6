"""How long kept events stay and how much of the disk they take: ended runs go by age, and the oldest before the newest.

Lists, requests, problems and versions that are kept have fixed bounds of their own; events are what fills a disk. What
has been deleted here is still at the service, and comes again when somebody opens the run.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final, Self

from runwatch.store.db.database import Database
from runwatch.store.repositories.event_store import EventStore

if TYPE_CHECKING:
    from runwatch.settings.declarations import Settings

PRUNE_INTERVAL_S: Final = 3600.0
"""How often an open console looks whether there is too much."""


@dataclass(frozen=True, slots=True)
class RetentionPolicy:
    """What the settings allow.

    Attributes:
        age: Events of a run that ended longer ago are deleted.
        most_bytes: With more than this in the console's database, the events of ended runs go until it is less; 0 for
            no bound.
    """

    age: timedelta
    most_bytes: int = 0

    @classmethod
    def by(cls, settings: Settings) -> Self:
        """What these settings allow."""
        return cls(timedelta(days=settings.keep_events_days), settings.keep_events_mb * 1_000_000)


async def prune_events(database: Database, keeping: RetentionPolicy, now: datetime) -> int:
    """Delete the events of ended runs that are too old, and of the oldest ones while all together is too much.

    Events of live runs stay: they are what somebody watches. The file keeps its size on the disk; what is freed in it
    is taken first by what comes next, so that it does not grow beyond the bound.

    Returns:
        How many runs were forgotten.

    Raises:
        DataError: the database cannot be written.
    """
    count = await EventStore(database).prune(now - keeping.age)
    while keeping.most_bytes and await used_bytes(database) > keeping.most_bytes:
        # One run a transaction: other work has its turn in between.
        if not await database.write(_forget_oldest):
            break
        count += 1
    return count


async def used_bytes(database: Database) -> int:
    """How many bytes of the database hold something.

    Raises:
        DataError: the database cannot be read.
    """

    def work(connection: sqlite3.Connection) -> int:
        size, pages, free = (
            int(connection.execute(f"PRAGMA {name}").fetchone()[0])
            for name in ("page_size", "page_count", "freelist_count")
        )
        return size * (pages - free)

    return await database.read(work)


def _forget_oldest(connection: sqlite3.Connection) -> int:
    """Delete the ended run with events whose last one is the oldest; answer how many runs that were."""
    return connection.execute(
        "DELETE FROM run WHERE id = (SELECT id FROM (SELECT id, (SELECT coalesce(at, '') FROM event"
        " WHERE event.run = run.id ORDER BY seq DESC LIMIT 1) AS last FROM run WHERE is_complete)"
        " WHERE last IS NOT NULL ORDER BY last LIMIT 1)"
    ).rowcount
