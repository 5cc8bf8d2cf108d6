"""Cached lists: what was seen last, without what can hold a part of a prompt or an output."""

from __future__ import annotations

from runwatch.records.run import Run
from runwatch.store.db.database import Database
from runwatch.store.repositories.record_cache import RecordCache
from tests.store.stub import SCOPE
from tests.support.builders import open_run
from tests.support.clock import START


async def test_what_a_provider_said_on_a_call_is_not_cached(database: Database) -> None:
    ended = open_run("ex_1", "failed")
    single = Run({**ended.raw, "provider_errors": [{"attempt": 1, "message": "three rivers"}]})
    cache = RecordCache(database)
    await cache.save(SCOPE, "run", [single], START)
    assert await cache.load(SCOPE, Run) == ([ended], START)
