"""The watch list: what was submitted or added here, with our own request."""

from __future__ import annotations

import json

import pytest

from runwatch.api.errors import InvalidRequestError
from runwatch.store.db.database import Database
from runwatch.store.repositories.scope import Scope
from runwatch.store.repositories.watch_list import WatchedRun, WatchList
from tests.store.stub import SCOPE
from tests.support.builders import RUN_ID, request_body
from tests.support.clock import START, FakeClock
from tests.support.hostile import CORPUS

REQUEST = json.dumps(request_body()).encode()


async def test_added_runs_are_listed_latest_first(watchlist: WatchList, clock: FakeClock) -> None:
    await watchlist.add(SCOPE, ["ex_1", "ex_2"])
    clock.advance(5)
    await watchlist.add(SCOPE, ["ex_3"])
    listed = await watchlist.list(SCOPE)
    assert [watched.run_id for watched in listed] == ["ex_3", "ex_2", "ex_1"]
    assert listed[0] == WatchedRun("ex_3", "added", clock.now(), None)


async def test_the_list_is_kept_on_the_disk(watchlist: WatchList, database: Database) -> None:
    await watchlist.add(SCOPE, [RUN_ID], source="submitted", request=REQUEST)
    database.close()
    again = Database.open(database.path)
    try:
        assert list(await WatchList(again).list(SCOPE)) == [WatchedRun(RUN_ID, "submitted", START, request_body())]
    finally:
        again.close()


async def test_our_own_request_is_given_back(watchlist: WatchList) -> None:
    await watchlist.add(SCOPE, [RUN_ID], source="submitted", request=REQUEST)
    assert await watchlist.request_of(SCOPE, RUN_ID) == request_body()
    assert await watchlist.request_of(SCOPE, "ex_other") is None


async def test_adding_a_run_that_was_submitted_here_forgets_nothing(watchlist: WatchList, clock: FakeClock) -> None:
    await watchlist.add(SCOPE, [RUN_ID], source="submitted", request=REQUEST)
    clock.advance(60)
    await watchlist.add(SCOPE, [RUN_ID])
    assert list(await watchlist.list(SCOPE)) == [WatchedRun(RUN_ID, "submitted", START, request_body())]


async def test_a_run_that_was_added_and_turns_out_to_be_ours_gets_its_request(watchlist: WatchList) -> None:
    await watchlist.add(SCOPE, [RUN_ID])
    await watchlist.add(SCOPE, [RUN_ID], source="submitted", request=REQUEST)
    assert list(await watchlist.list(SCOPE)) == [WatchedRun(RUN_ID, "submitted", START, request_body())]


async def test_every_scope_has_a_list_of_its_own(watchlist: WatchList) -> None:
    await watchlist.add(SCOPE, [RUN_ID], source="submitted", request=REQUEST)
    other = Scope("work", "ten_02", SCOPE.principal)
    assert list(await watchlist.list(other)) == []
    assert await watchlist.request_of(other, RUN_ID) is None


@pytest.mark.parametrize("request_bytes", [b"", b"{", b"[1]", b"\xff\xfe"])
async def test_a_request_that_is_no_object_is_none(watchlist: WatchList, request_bytes: bytes) -> None:
    await watchlist.add(SCOPE, [RUN_ID], source="submitted", request=request_bytes)
    assert await watchlist.request_of(SCOPE, RUN_ID) is None
    assert [watched.request for watched in await watchlist.list(SCOPE)] == [None]


async def test_any_text_can_be_an_id(watchlist: WatchList) -> None:
    for hostile in CORPUS:
        scope = Scope(hostile.text, hostile.name, "key_1")
        await watchlist.add(scope, [hostile.text], source="submitted", request=REQUEST)
        [watched] = await watchlist.list(scope)
        assert watched.run_id == hostile.text, hostile.name


async def test_a_key_is_not_added_as_an_id(watchlist: WatchList) -> None:
    with pytest.raises(InvalidRequestError, match="Looks like"):
        await watchlist.add(SCOPE, ["ex_1", "sk-ant-api03-canary-5f1e7c2b9d40"])
    assert await watchlist.list(SCOPE) == []
