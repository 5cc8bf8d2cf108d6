"""Writes of unknown outcome at the session: listed, asked again, and settled by what is read meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import pytest

from runwatch.api.errors import ApiError
from runwatch.api.operations import CANCEL, SUBMIT
from runwatch.base.json import encode_body
from runwatch.records.run import Run
from runwatch.store.repositories.outbox import WriteRequest
from tests.store.live_service import LimitedService, Watching, watching
from tests.support.builders import account, problem, request_body, run
from tests.support.scripted import Said

LOST = Said(503, problem("upstream_unavailable"))
CANCEL_ONE = WriteRequest(CANCEL, {"execution_id": "ex_1"}, None, "key-1", "cancel")
SUBMIT_ONE = WriteRequest(SUBMIT, {}, encode_body(request_body()), "key-2", "nightly")


def service() -> LimitedService:
    """A service with one live run that answers no write."""
    made = LimitedService(runs=[run("ex_1")], account=account(quota=None))
    made.say("POST", ".*", LOST)
    return made


async def done(watch: Watching, work: Coroutine[Any, Any, Any]) -> Any:
    """Return the result of some work, after the time of its retries."""
    task = asyncio.ensure_future(work)
    for _ in range(60):
        if task.done():
            break
        await watch.let_pass(0.5)
    return await asyncio.wait_for(task, 20)


async def lose(watch: Watching, order: WriteRequest) -> None:
    """Send a write whose answer does not come."""
    with pytest.raises(ApiError) as caught:
        await done(watch, watch.session.send_write(order))
    assert not caught.value.outcome_known


async def test_a_write_stays_unsettled_until_it_is_answered_under_its_own_key(tmp_path: Path) -> None:
    async with watching(service(), tmp_path) as watch:
        await lose(watch, SUBMIT_ONE)
        (kept,) = await watch.session.unconfirmed_writes()
        assert kept.request == SUBMIT_ONE
        with pytest.raises(ApiError):
            await done(watch, watch.session.retry_write(kept))
        assert await watch.session.unconfirmed_writes() == [kept]
        watch.service.say("POST", "/v1/executions", Said(200, run("ex_2", "accepted")))
        answer = await done(watch, watch.session.retry_write(kept))
        assert Run(answer.value).id == "ex_2"
        assert await watch.session.unconfirmed_writes() == []
        sent = watch.service.requests("POST")
        assert {(heard.body, heard.head.header("idempotency-key")) for heard in sent} == {(SUBMIT_ONE.body, "key-2")}


async def test_the_cancel_of_a_run_that_is_read_as_ended_settles_itself(tmp_path: Path) -> None:
    async with watching(service(), tmp_path) as watch:
        await lose(watch, CANCEL_ONE)
        await lose(watch, SUBMIT_ONE)
        assert [kept.request for kept in await watch.session.unconfirmed_writes()] == [CANCEL_ONE, SUBMIT_ONE]
        watch.service.runs[0]["status"] = "completed"
        await watch.let_pass(16)
        assert [kept.request for kept in await watch.session.unconfirmed_writes()] == [SUBMIT_ONE]
        assert [kept.request for kept in await watch.session.outbox.unconfirmed(watch.session.scope)] == [SUBMIT_ONE]


async def test_the_cancel_of_an_unknown_run_stays(tmp_path: Path) -> None:
    async with watching(service(), tmp_path) as watch:
        order = WriteRequest(CANCEL, {"execution_id": "ex_elsewhere"}, None, "key-3", "cancel")
        await lose(watch, order)
        assert [kept.request for kept in await watch.session.unconfirmed_writes()] == [order]


async def test_a_run_is_followed_until_nobody_follows_it(tmp_path: Path) -> None:
    async with watching(service(), tmp_path) as watch:
        live = watch.session.live
        assert not live.tails.follows("ex_1")
        live.tails.follow("ex_1", "test")
        watch.service.runs[0]["status"] = "failed"
        await watch.let_pass(60)
        assert live.tails.follows("ex_1"), "that its last event has come does not end it"
        live.tails.unfollow("ex_1", "test")
        assert not live.tails.follows("ex_1")


async def test_a_run_that_two_follow_is_read_on_when_one_leaves(tmp_path: Path) -> None:
    # A screen follows its run before the previous screen, which showed the same one, has left it.
    async with watching(service(), tmp_path) as watch:
        tails = watch.session.live.tails
        tails.follow("ex_1", "earlier")
        tails.follow("ex_1", "later", in_focus=False)
        tails.unfollow("ex_1", "earlier")
        tails.unfollow("ex_1", "somebody else")
        await watch.let_pass(5)
        assert watch.service.requests("GET", ".*/events")
        assert tails.follows("ex_1", "later")
        assert not tails.follows("ex_1", "earlier")
        tails.unfollow("ex_1", "later")
        assert not tails.follows("ex_1")
