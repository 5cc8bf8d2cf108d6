"""Kept events go by age, and the oldest first where they take too much of the disk."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from runwatch.base.clock import format_iso
from runwatch.store.db.database import PAGE, Database
from runwatch.store.repositories.event_retention import RetentionPolicy, prune_events, used_bytes
from runwatch.store.repositories.event_store import EventStore
from runwatch.store.repositories.scope import Scope
from tests.store.stub import SCOPE
from tests.support.builders import event

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
MONTH = timedelta(days=30)
RUNS = ("third", "first", "second")
DAYS_AGO = {"first": 9, "second": 8, "third": 7, "live": 10}


async def fill(store: EventStore, scope: Scope, run_id: str, state: str = "completed") -> None:
    """Two hundred kilobytes of events that end this many days ago."""
    at = format_iso(NOW - timedelta(days=DAYS_AGO[run_id]))
    more = [event(number, "running", at=at, note="x" * 2000) for number in range(1, 100)]
    await store.append(scope, run_id, [*more, event(100, state, at=at)])


async def kept(store: EventStore, scope: Scope) -> set[str]:
    return {run_id for run_id in DAYS_AGO if await store.count(scope, run_id)}


async def test_the_runs_that_ended_first_go_until_the_rest_fits(store: EventStore, database: Database) -> None:
    empty = await used_bytes(database)
    for run_id in RUNS:
        await fill(store, SCOPE, run_id)
    most = empty + (await used_bytes(database) - empty) // 2
    assert await prune_events(database, RetentionPolicy(MONTH, most), NOW) == 2
    assert await kept(store, SCOPE) == {"third"}
    assert await used_bytes(database) <= most


async def test_events_of_live_runs_stay_whatever_they_take(store: EventStore, database: Database) -> None:
    await fill(store, SCOPE, "first")
    await fill(store, SCOPE, "live", "running")
    assert await prune_events(database, RetentionPolicy(MONTH, 1), NOW) == 1
    assert await kept(store, SCOPE) == {"live"}


async def test_nothing_goes_where_there_is_room_or_no_bound(store: EventStore, database: Database) -> None:
    for run_id in RUNS:
        await fill(store, SCOPE, run_id)
    assert await prune_events(database, RetentionPolicy(MONTH, await used_bytes(database)), NOW) == 0
    assert await prune_events(database, RetentionPolicy(MONTH), NOW) == 0
    assert await kept(store, SCOPE) == set(RUNS)


async def test_what_is_too_old_goes_also_where_there_is_room(store: EventStore, database: Database) -> None:
    for run_id in RUNS:
        await fill(store, SCOPE, run_id)
    assert await prune_events(database, RetentionPolicy(timedelta(days=8, hours=12), 1 << 30), NOW) == 1
    assert await kept(store, SCOPE) == {"second", "third"}


async def test_a_file_that_was_full_does_not_grow_while_runs_come_and_go(store: EventStore, database: Database) -> None:
    await fill(store, SCOPE, "first")
    size = await used_bytes(database)
    for number in range(5):
        DAYS_AGO[f"more {number}"] = 5 - number
        await fill(store, SCOPE, f"more {number}")
        await prune_events(database, RetentionPolicy(MONTH, size), NOW)
        del DAYS_AGO[f"more {number}"]
    pages = await database.read(lambda connection: connection.execute("PRAGMA page_count").fetchone()[0])
    assert pages * PAGE < 3 * size
