"""A database of the test's own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from runwatch.store.db.database import Database
from runwatch.store.repositories.event_store import EventStore
from runwatch.store.repositories.watch_list import WatchList
from tests.store.stub import StubClient
from tests.support.clock import FakeClock


@pytest.fixture
def database_path(tmp_path: Path) -> Path:
    """Where the test's database is, or will be."""
    return tmp_path / "console-data" / "console.db"


@pytest.fixture
def database(database_path: Path) -> Iterator[Database]:
    """An open database, closed afterwards."""
    opened = Database.open(database_path)
    yield opened
    opened.close()


@pytest.fixture
def store(database: Database) -> EventStore:
    return EventStore(database)


@pytest.fixture
def client() -> StubClient:
    return StubClient()


@pytest.fixture
def watchlist(database: Database, clock: FakeClock) -> WatchList:
    return WatchList(database, clock=clock)
