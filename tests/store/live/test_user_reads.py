"""What the user waits for goes first, a service that is gone is looked for, and a list goes on at its end."""

from __future__ import annotations

from pathlib import Path

import pytest

from runwatch.api.errors import ApiProblem
from runwatch.records.arm import Arm
from runwatch.records.receipt import Receipt
from runwatch.records.run import Run
from runwatch.records.verifier import Verifier
from runwatch.store.live.request_budget import sweep_interval_s
from runwatch.store.session import ServiceSession
from runwatch.store.state.changes import CacheRead
from runwatch.store.state.failure_kind import FailureKind
from runwatch.store.state.store import Store
from tests.store.live_service import LimitedService, session_options, watching
from tests.support.builders import account, echo_receipt, problem, run
from tests.support.scripted import Heard, Said

MANY = 450


def many(limit: int | None = None) -> LimitedService:
    """A service with a live run and many that have ended."""
    ended = [run(f"ex_{number:04}", "completed") for number in range(1, MANY)]
    return LimitedService(
        limit, runs=[run("ex_0000"), *ended], receipts=[echo_receipt("ex_0001")], account=account(quota=None)
    )


class Cut(LimitedService):
    """A service that answers every page after the first with an error."""

    beyond = Said(502, b"<html>gone</html>", content_type="text/html")
    asked = 0

    def _operation(self, heard: Heard) -> Said:
        if "cursor=" not in heard.head.start[1]:
            return super()._operation(heard)
        self.asked += 1
        return self.beyond


def test_sweeps_leave_half_of_a_very_low_limit_to_others() -> None:
    assert sweep_interval_s(60) == 10
    assert 60 / sweep_interval_s(5) == 2.5


async def test_a_list_that_the_user_opens_does_not_wait_for_the_budget(tmp_path: Path) -> None:
    service = many()
    service._account = dict(account(quota={"rate_limit_rpm": 5}).raw)
    async with watching(service, tmp_path) as watch:
        await watch.let_pass(1)
        live = watch.session.live
        assert live.budget.limit_rpm == 5
        while live.budget.background_wait_s() == 0:
            live.budget.note_sent()
        live.start_list(Receipt)
        await watch.let_pass(0.1)
        assert len(service.requests("GET", "/v1/receipts")) == 1


async def test_what_is_in_sight_is_read_before_account_receipts_and_side_lists(tmp_path: Path) -> None:
    service = many()
    service._account = dict(account(quota={"rate_limit_rpm": 5}).raw)
    async with watching(service, tmp_path) as watch:
        live = watch.session.live
        live.start_list(Run)
        for kind in (Receipt, Arm, Verifier):
            live.start_list(kind, is_side=True)
        await watch.let_pass(55)
        paths = [heard.head.path for heard in service.heard]
        assert paths[:2] == ["/v1/account", "/v1/executions"], "the account names the owner of local data, once"
        assert paths.count("/v1/account") == 1
        assert service.refused == 0
        assert len(paths) <= 5
        live.ask(Receipt)
        live.ask(Run)
        asked = len(service.heard)
        await watch.let_pass(0.1)
        assert [heard.head.path for heard in service.heard[asked:]] == ["/v1/executions", "/v1/receipts"]


async def test_a_console_that_starts_again_counts_what_the_last_one_sent(tmp_path: Path) -> None:
    service = many()
    service._account = dict(account(quota={"rate_limit_rpm": 5}).raw)
    async with watching(service, tmp_path) as watch:
        await watch.let_pass(1)
        sent = len(service.heard)
        await watch.session.journal.flush()
        again = await ServiceSession.open(
            watch.session.target, tmp_path / "console.db", Store(), session_options(watch.clock)
        )
        try:
            await again.start(())
            budget = again.live.budget
            assert budget.per_minute - budget.own_per_minute == sent
        finally:
            await again.close()


async def test_asking_anyway_ends_a_hold_and_a_second_429_closes_it_again(tmp_path: Path) -> None:
    async with watching(many(), tmp_path) as watch:
        live = watch.session.live
        watch.service.holds_for_s = 50
        while live.hold_s == 0:
            await watch.let_pass(0.5)
        asked = len(watch.service.heard)
        watch.service.holds_for_s = 40
        live.ask(Run)
        await watch.let_pass(1)
        assert [heard.head.path for heard in watch.service.heard[asked:]] == ["/v1/executions"]
        assert 38 < live.hold_s <= 40
        live.ask(Run)
        await watch.let_pass(1)
        assert live.hold_s == 0


async def test_a_service_that_is_gone_is_noticed_and_its_return_is_seen_within_five_seconds(tmp_path: Path) -> None:
    async with watching(many(), tmp_path) as watch:
        connection = watch.session.live.connection
        await watch.let_pass(5)
        watch.service.say("*", ".*", Said(502, b"<html>gone</html>", content_type="text/html"))
        lost_at = watch.clock.now()
        await watch.let_pass(60)
        tried = len(watch.service.heard)
        await watch.let_pass(60)
        assert 18 <= len(watch.service.heard) - tried <= 26, "every three seconds, and lists ever more seldom"
        lost_since = connection.lost_since
        assert lost_since is not None
        assert (lost_since - lost_at).total_seconds() < 12
        live, unread = watch.session.live, watch.session.store.collection("work", "arm")
        known = live.state(watch.session.store.collection("work", "run"), 5).failure
        assert (unread.failure, live.state(unread, 5).failure) == (None, known)
        assert known is not None, "a list that was not read since knows why too"
        watch.service._said.clear()
        await watch.let_pass(5)
        assert watch.session.live.connection.lost_since is None
        collection = watch.session.store.collection("work", "run")
        assert collection.failure is None


@pytest.mark.exhaustive
async def test_a_list_behind_error_pages_is_asked_less_and_less_often(tmp_path: Path) -> None:
    service = many()
    service.say("GET", "/v1/receipts", Said(502, b"<html>gone</html>", content_type="text/html"))
    async with watching(service, tmp_path) as watch:
        live = watch.session.live
        live.start_list(Receipt)
        lost = []
        await watch.let_pass(240, lambda: lost.append(live.connection.lost_since))
        assert not any(lost), "other lists get responses"
        asked = len(service.requests("GET", "/v1/receipts"))
        await watch.let_pass(60)
        # Every 30 s, three attempts each.
        assert 6 <= len(service.requests("GET", "/v1/receipts")) - asked <= 9


async def test_a_problem_with_a_5xx_is_a_response(tmp_path: Path) -> None:
    async with watching(many(), tmp_path) as watch:
        watch.service.say("GET", "/v1/executions", Said(503, problem("upstream_unavailable")))
        await watch.let_pass(60)
        assert watch.session.live.connection.lost_since is None


async def test_a_list_goes_on_page_by_page_and_to_its_end(tmp_path: Path) -> None:
    async with watching(many(), tmp_path) as watch:
        continuation, store = watch.session.live.runs.continuation, watch.session.store
        await watch.let_pass(3)
        assert len(store.collection("work", "run").by_id) == 100
        continuation.go_on()
        await watch.let_pass(1)
        assert len(store.collection("work", "run").by_id) == 200
        continuation.go_to_end()
        await watch.let_pass(20)
        collection = store.collection("work", "run")
        assert [record.id for record in collection.records] == [f"ex_{number:04}" for number in range(MANY)]
        assert collection.end_is_proven, "a sweep that joins what is known keeps the end"
        packed = [record.id for record in collection.records if record.packed is not None]
        assert packed == [f"ex_{number:04}" for number in range(100, MANY)], "further pages take little memory"
        assert not continuation.has_more


async def test_reading_on_waits_longer_after_each_error_page_and_ends_at_a_refused_cursor(tmp_path: Path) -> None:
    service = Cut(runs=[run(f"ex_{number:04}", "completed") for number in range(MANY)])
    async with watching(service, tmp_path) as watch:
        continuation = watch.session.live.runs.continuation
        await watch.let_pass(3)
        continuation.go_to_end()
        await watch.let_pass(120)
        assert continuation.is_reading
        assert watch.session.live.connection.lost_since is None, "other requests get responses"
        assert 3 < service.asked < 40
        service.beyond = Said(400, problem("invalid_cursor"))
        await watch.let_pass(60)
        assert (continuation.is_reading, continuation.has_more) == (False, True)


async def test_receipts_of_watched_runs_are_read_without_a_list_of_receipts(tmp_path: Path) -> None:
    service = many()
    service.say("GET", "/v1/receipts", Said(404, problem("not_found")))
    async with watching(service, tmp_path) as watch:
        session = watch.session
        await session.watch_list.add(session.scope, ["ex_0001", "ex_0000", "ex_gone"])
        session.live.start_list(Receipt)
        await watch.let_pass(60)
        assert len(service.requests("GET", "/v1/receipts/ex_gone")) == 1, "one that is not there is asked for once"
        assert service.requests("GET", "/v1/receipts/ex_0000") == [], "a live run has none yet"
        collection = session.store.collection("work", "receipt")
        assert [record.id for record in collection.records] == ["ex_0001"]
        assert collection.failure is not None
        assert collection.failure.kind is FailureKind.NOT_OFFERED


async def test_a_live_run_that_the_service_does_not_have_leaves_the_list(tmp_path: Path) -> None:
    service = many()
    service.say("GET", "/v1/executions/ex_gone", Said(404, problem("not_found")))
    service.say("GET", "/v1/executions/ex_hidden", Said(403, problem("permission_denied")))
    async with watching(service, tmp_path) as watch:
        store = watch.session.store
        old = tuple(run(run_id) for run_id in ("ex_gone", "ex_hidden"))
        store.apply(CacheRead("work", Run.KIND, watch.clock.now(), watch.clock.monotonic(), old, watch.clock.now()))
        watch.session.live.refresh(Run)
        await watch.let_pass(60)
        assert len(service.requests("GET", "/v1/executions/ex_gone")) == 1
        assert store.get("work", Run.KIND, "ex_gone") is None
        assert store.get("work", Run.KIND, "ex_hidden") is not None, "a refusal does not say that it is gone"


async def test_a_list_that_the_service_does_not_offer_is_a_request_and_no_problem(tmp_path: Path) -> None:
    service = many()
    service.say("GET", "/v1/receipts", Said(404, problem("not_found")))
    service.say("GET", "/v1/executions/ex_9", Said(404, problem("not_found")))
    async with watching(service, tmp_path) as watch:
        session = watch.session
        session.live.start_list(Receipt)
        await watch.let_pass(3)
        await session.journal.flush()
        assert await session.journal.count_problems() == 0
        with pytest.raises(ApiProblem):
            await session.client.get_run("ex_9")
        await session.journal.flush()
        assert await session.journal.count_problems() == 1
