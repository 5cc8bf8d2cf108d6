"""Live data within the limit, in simulated minutes on a real service: nothing too often, nothing too old."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from runwatch.api.calls import RequestAttempt
from runwatch.api.http import transport
from runwatch.api.http.exchange import ConnectionLostError, HttpResponse
from runwatch.api.http.transport import Transport
from runwatch.api.operations import is_listable, list_operation
from runwatch.api.retry_policy import RETRIES
from runwatch.api.run_tail import FIRST_PAUSE_S, LONGEST_PAUSE_S
from runwatch.base.clock import format_iso
from runwatch.base.errors import DataError
from runwatch.records.account import Account
from runwatch.records.receipt import Receipt
from runwatch.records.run import Run
from runwatch.store.db.database import Database, Work
from runwatch.store.live.backoff import MAX_WAIT_S, Backoff
from runwatch.store.live.connection_state import PROBE_S
from runwatch.store.live.list_continuation import GAP_PAGES
from runwatch.store.live.poller import Poller
from runwatch.store.live.scheduler import HANGS_AFTER_S
from runwatch.store.repositories.event_retention import PRUNE_INTERVAL_S
from runwatch.store.repositories.event_store import EventStore
from runwatch.store.repositories.journal import Journal
from runwatch.store.state.changes import RecordRead
from runwatch.store.state.failure_kind import FailureKind
from runwatch.store.state.freshness import LoadState
from tests.store.live_service import LimitedService, Ticking, watching
from tests.store.stub import exchange
from tests.support.builders import account, echo_events, echo_receipt, event, problem, run
from tests.support.clock import FakeClock
from tests.support.scripted import Heard, Said

FORTY = [f"ex_{number:04}" for number in range(40)]


def limited(limit: int = 60, ticking: Ticking | None = None, clock: FakeClock | None = None) -> LimitedService:
    """Forty live runs on a service that takes this many requests a minute."""
    return LimitedService(
        limit, clock=ticking.clock if ticking else clock, runs=[run(run_id) for run_id in FORTY], events=ticking,
        account=account(quota={"rate_limit_rpm": limit}),
    )  # fmt: skip


def completed(prefix: str, count: int) -> list[dict[str, Any]]:
    """Runs as a scripted service keeps them."""
    return [dict(run(f"{prefix}{number:04}", "completed").raw) for number in range(count)]


class WithoutCursors(LimitedService):
    """A service that may refuse every page but the first of a list."""

    refuses_cursors = False

    def _answer(self, heard: Heard) -> Said:
        if self.refuses_cursors and "cursor" in heard.head.query:
            return Said(400, problem("invalid_request", status=400))
        return super()._answer(heard)


class SlowPages(LimitedService):
    """A service that takes a few seconds for each page of its runs."""

    poller: Poller | None = None

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.silent_s: list[float] = []

    def _answer(self, heard: Heard) -> Said:
        if self.poller is not None and heard.head.path == "/v1/executions":
            self.clock.advance(HANGS_AFTER_S / 2)
            self.silent_s.append(self.poller.silent_s)
        return super()._answer(heard)


class Ending:
    """Events of a run, of which the last four come when it has ended."""

    has_ended = False

    def events(self, run_id: str, after: str | None) -> list[dict[str, Any]]:
        """Return all of them, as some services do."""
        return [dict(each.raw) for each in echo_events(run_id)[: None if self.has_ended else 3]]


PAGE_OF_ANOTHER_SERVER = Said(404, b"<html>nothing here</html>", "text/html")


@pytest.mark.exhaustive
async def test_forty_live_runs_and_an_open_tail_on_sixty_requests_a_minute(tmp_path: Path) -> None:
    ticking = Ticking(FORTY[0])
    async with watching(limited(ticking=ticking), tmp_path) as watch:
        session = watch.session
        session.live.tails.follow(FORTY[0], "test")
        await watch.let_pass(5)
        oldest_tail: list[float] = []
        oldest_status: list[float] = []

        def look() -> None:
            now = watch.clock.monotonic()
            kept = session.live.tails.last_update(FORTY[0]).count
            if kept < ticking.count:
                oldest_tail.append(now - ticking.made_at(kept))
            read_at = session.store.collection("work", "run").read_at
            assert read_at is not None
            oldest_status.append(now - read_at)

        await watch.let_pass(300, look)
        assert watch.service.refused == 0
        assert max(oldest_tail) < 2.0
        assert max(oldest_status) < 15.0
        assert len(oldest_status) > 200
        assert {record.id for record in session.store.collection("work", "run").records} == set(FORTY)


async def test_the_sweep_goes_on_as_long_as_pages_end_with_a_live_run(tmp_path: Path) -> None:
    live = [run(f"ex_{number:04}") for number in range(250)]
    ended = [run(f"ex_{number:04}", "completed") for number in range(250, 600)]
    async with watching(LimitedService(runs=[*live, *ended], account=account(quota=None)), tmp_path) as watch:
        await watch.let_pass(5)
        known = watch.session.store.collection("work", "run").by_id
        assert known.keys() == {f"ex_{number:04}" for number in range(300)}


async def test_a_list_whose_pages_come_slowly_is_answered_all_the_time(tmp_path: Path) -> None:
    service = SlowPages(runs=[run(f"ex_{number:04}") for number in range(800)], account=account(quota=None))
    async with watching(service, tmp_path) as watch:
        service.poller = watch.session.live
        await watch.let_pass(30)
        assert len(service.silent_s) == 8
        assert max(service.silent_s) == 0


async def test_runs_that_end_below_the_newest_page_are_read_by_the_page(tmp_path: Path) -> None:
    service = LimitedService(runs=[run(f"ex_{number:04}") for number in range(800)], account=account(quota=None))
    async with watching(service, tmp_path) as watch:
        await watch.let_pass(3)
        service.runs[:] = completed("ex_", 800)
        asked = len(service.heard)
        await watch.let_pass(6)
        known = watch.session.store.collection("work", "run").records
        assert {record.status for record in known if isinstance(record, Run)} == {"completed"}
        assert list(watch.session.store.collection("work", "run").by_id) == [
            one["execution_id"] for one in service.runs
        ]
        assert len(service.heard) - asked < 20


async def test_live_runs_far_below_the_newest_page_are_read_one_by_one(tmp_path: Path) -> None:
    service = LimitedService(runs=completed("ex_", 800))
    service.runs[700] = dict(run("ex_0700").raw)
    async with watching(service, tmp_path) as watch:
        watch.session.live.runs.continuation.go_on(7)
        await watch.let_pass(3)
        service.runs[700]["status"] = "completed"
        asked = len(service.heard)
        await watch.let_pass(6)
        stored = watch.session.store.collection("work", "run").find(Run, "ex_0700")
        assert stored is not None
        assert stored.is_final
        assert not any("cursor" in heard.head.query for heard in service.heard[asked:])


@pytest.mark.exhaustive
async def test_one_live_run_far_down_does_not_have_the_others_read_one_by_one(tmp_path: Path) -> None:
    far = 5_000
    service = LimitedService(runs=completed("ex_", far + 1), account=account(quota=None))
    service.runs[:300] = [dict(run(f"ex_{number:04}").raw) for number in range(300)]
    service.runs[far] = dict(run(f"ex_{far}").raw)
    async with watching(service, tmp_path) as watch:
        watch.session.live.runs.continuation.go_to_end()
        await watch.let_pass(3)
        service.runs[:] = completed("ex_", far + 1)
        asked = len(service.heard)
        await watch.let_pass(8)
        known = watch.session.store.collection("work", "run").records
        assert {record.status for record in known if isinstance(record, Run)} == {"completed"}
        assert len(service.heard) - asked < 15


async def test_live_runs_are_read_one_by_one_where_their_page_is_refused(tmp_path: Path) -> None:
    service = WithoutCursors(runs=[run(f"ex_{number:04}") for number in range(104)], account=account(quota=None))
    async with watching(service, tmp_path) as watch:
        await watch.let_pass(3)
        service.runs[:], service.refuses_cursors = completed("ex_", 104), True
        await watch.let_pass(12)
        known = watch.session.store.collection("work", "run").records
        assert {record.status for record in known if isinstance(record, Run)} == {"completed"}


@pytest.mark.parametrize("status", [404, 410])
async def test_a_live_run_that_the_service_does_not_have_leaves_the_list(tmp_path: Path, status: int) -> None:
    service = LimitedService(runs=[run(run_id) for run_id in FORTY], account=account(quota=None))
    async with watching(service, tmp_path) as watch:
        service.runs[:] = [*completed("ex_new", 100), *service.runs[:-1]]
        service.say("GET", f"/v1/executions/{FORTY[-1]}", Said(status, problem("gone", status=status)))
        await watch.let_pass(12)
        known = watch.session.store.collection("work", "run").by_id
        assert FORTY[-1] not in known
        assert FORTY[-2] in known


@pytest.mark.parametrize("new", [300, 1_500])
async def test_a_gap_after_many_new_runs_is_closed_in_order(tmp_path: Path, new: int) -> None:
    service = LimitedService(runs=completed("ex_a", 250), account=account(quota=None))
    async with watching(service, tmp_path) as watch:
        live, runs = watch.session.live, watch.session.store.collection("work", "run")
        live.runs.continuation.go_to_end()
        await watch.let_pass(3)
        assert runs.end_is_proven
        service.runs[:0] = completed("ex_b", new)
        await watch.let_pass(3)
        assert list(runs.by_id) == [one["execution_id"] for one in service.runs]
        assert runs.end_is_proven
        assert not live.runs.continuation.has_more
        asked = len(service.heard)
        await watch.let_pass(5)
        assert not any("cursor" in heard.head.query for heard in service.heard[asked:])


async def test_a_gap_in_a_gap_is_closed_too(tmp_path: Path) -> None:
    service = LimitedService(runs=completed("ex_a", 150))
    async with watching(service, tmp_path) as watch:
        live, runs = watch.session.live, watch.session.store.collection("work", "run")
        live.runs.continuation.go_to_end()
        await watch.let_pass(3)
        live.scheduler.remove("rest of list run")
        service.runs[:0] = completed("ex_b", 350)
        await live.runs._sweep()
        live.scheduler.remove("rest of list run")
        service.runs[:0] = completed("ex_c", 350)
        await watch.let_pass(5)
        assert list(runs.by_id) == [one["execution_id"] for one in service.runs]
        assert runs.end_is_proven


async def test_a_gap_after_the_records_of_the_last_session_is_closed(tmp_path: Path) -> None:
    service = LimitedService(runs=completed("ex_a", 150), account=account(quota=None))
    async with watching(service, tmp_path, (Run,)) as watch:
        await watch.let_pass(3)
    service = LimitedService(runs=[*completed("ex_b", 350), *completed("ex_a", 150)], account=account(quota=None))
    async with watching(service, tmp_path, (Run,)) as watch:
        continuation, runs = watch.session.live.runs.continuation, watch.session.store.collection("work", "run")
        await watch.let_pass(3)
        assert list(runs.by_id) == [one["execution_id"] for one in service.runs[:450]]
        assert (continuation.has_gap, continuation.has_more, runs.end_is_proven) == (False, True, False)
        continuation.go_on()
        await watch.let_pass(1)
        assert runs.end_is_proven


async def test_other_records_in_a_filtered_list_are_no_gap(tmp_path: Path) -> None:
    service = LimitedService(runs=[run(f"ex_{number:04}") for number in range(1_500)], account=account(quota=None))
    async with watching(service, tmp_path) as watch:
        live = watch.session.live
        live.scheduler.remove(live.runs.JOB)
        live.start_filtered_list(Run, "run where x", lambda: {"status": "running"})
        await watch.let_pass(3)
        service.runs[:] = [dict(run(f"ex_new{number:04}").raw) for number in range(1_500)]
        asked = len(service.heard)
        await watch.let_pass(31)
        read = [heard.head for heard in service.heard[asked:] if "status" in heard.head.query]
        assert read
        assert not any("cursor" in head.query for head in read)


async def test_a_long_gap_is_read_on_when_the_user_gets_to_the_end(tmp_path: Path) -> None:
    service = LimitedService(runs=completed("ex_a", 150))
    async with watching(service, tmp_path) as watch:
        live, runs = watch.session.live, watch.session.store.collection("work", "run")
        await watch.let_pass(3)
        service.runs[:0] = completed("ex_b", 3_000)
        await watch.let_pass(3)
        assert len(runs.by_id) == 100 + 100 * (GAP_PAGES + 1)
        assert live.runs.continuation.has_more
        live.runs.continuation.go_to_end()
        await watch.let_pass(3)
        assert list(runs.by_id) == [one["execution_id"] for one in service.runs]
        assert runs.end_is_proven


async def test_after_a_429_there_is_a_countdown_silence_and_one_clean_refresh(tmp_path: Path) -> None:
    async with watching(limited(ticking=Ticking(FORTY[0])), tmp_path) as watch:
        session = watch.session
        session.live.tails.follow(FORTY[0], "test")
        await watch.let_pass(30)
        watch.service.holds_for_s = 20
        while session.live.hold_s == 0:
            await watch.let_pass(0.5)
        asked = len(watch.service.times)
        assert 19 < session.live.hold_s <= 20
        await watch.let_pass(10)
        assert 9 < session.live.hold_s <= 10
        await watch.let_pass(session.live.hold_s - 0.1)
        assert len(watch.service.times) == asked, "something was asked while the 429 held"
        await watch.let_pass(2)
        assert session.live.hold_s == 0
        paths = [heard.head.path for heard in watch.service.heard[asked:]]
        assert sorted(paths)[0] == "/v1/executions"
        assert len(paths) == len(set(paths)), "each is read once"
        await watch.let_pass(10)
        assert watch.service.refused == 1
        collection = session.store.collection("work", "run")
        assert collection.failure is None
        assert watch.clock.monotonic() - (collection.read_at or 0) < 12
        assert session.live.budget.limit_rpm == 30


@pytest.mark.parametrize("is_held", [True, False])
async def test_a_service_that_dies_and_returns_while_nothing_may_be_sent_is_reported_within_seconds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_held: bool
) -> None:
    opens = [True]

    async def can_connect(_: Transport) -> bool:
        return opens[0]

    monkeypatch.setattr(Transport, "can_connect", can_connect)
    async with watching(limited(), tmp_path) as watch:
        live = watch.session.live
        if is_held:
            watch.service.holds_for_s = 60
            while live.hold_s == 0:
                await watch.let_pass(0.5)
        else:
            for _ in range(60):
                live.budget.note_users_read()
        asked = len(watch.service.times)
        for opens[0] in (True, False, True):
            await watch.let_pass(7)
            assert (live.connection.lost_since is None) == opens[0]
        assert len(watch.service.times) == asked, "a request was sent"


async def test_the_user_goes_first_when_a_hold_ends(tmp_path: Path) -> None:
    async with watching(limited(), tmp_path) as watch:
        watch.service.holds_for_s = 10
        while watch.session.live.hold_s == 0:
            await watch.let_pass(0.5)
        waits: list[float] = []

        async def send() -> None:
            async with watch.session.live.scheduler.user_turn(waits.append):
                pass

        waiting = asyncio.ensure_future(send())
        await watch.let_pass(9)
        assert not waiting.done()
        assert [round(seconds) for seconds in waits] == [10]
        await watch.let_pass(2)
        assert waiting.done()


@pytest.mark.parametrize(("status", "code", "trouble"), [
    (401, "unauthenticated", FailureKind.NOT_AUTHORISED),
    (403, "permission_denied", FailureKind.NOT_AUTHORISED),
])  # fmt: skip
async def test_a_key_that_may_not_read_runs_is_not_tried_again_until_the_user_asks(
    tmp_path: Path, status: int, code: str, trouble: FailureKind
) -> None:
    service = limited()
    service.say("GET", "/v1/executions", Said(status, problem(code)))
    async with watching(service, tmp_path) as watch:
        await watch.let_pass(60)
        assert len(service.requests("GET", "/v1/executions")) == 1
        failure = watch.session.store.collection("work", "run").failure
        assert failure is not None
        assert failure.kind is trouble
        service._said.clear()
        watch.session.live.refresh(Run)
        await watch.let_pass(5)
        assert watch.session.store.collection("work", "run").failure is None


@pytest.mark.exhaustive
async def test_a_service_that_is_down_is_asked_ever_more_seldom_but_for_ever(tmp_path: Path) -> None:
    service = limited(clock=FakeClock(manual=True, chances=[0.5]))
    async with watching(service, tmp_path) as watch:
        service.say("GET", "/v1/executions", Said(503, problem("upstream_unavailable")))
        await watch.let_pass(600)
        times = [at for at, heard in zip(service.times, service.heard, strict=True) if heard.head.path.endswith("ns")]
        assert max(later - earlier for earlier, later in pairwise([*times[-20:], watch.clock.monotonic()])) < 35
        assert len(times) < 150
        service._said.clear()
        for _ in range(3):
            await watch.let_pass(35)
        assert watch.session.store.collection("work", "run").failure is None, (times[-20:], service.times[-9:])


async def test_a_disk_that_takes_a_minute_to_count_requests_takes_none_from_this_console(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with watching(limited(), tmp_path) as watch:
        journal, budget = watch.session.journal, watch.session.live.budget
        count_between, counts, others = journal.count_between, [0], [0]

        async def count_slowly(origin: str, since: datetime, until: datetime) -> int:
            counts.append(await count_between(origin, since, until))
            # What this console sent before the count is older than a minute after it.
            watch.clock.advance(60)
            return counts[-1]

        monkeypatch.setattr(journal, "count_between", count_slowly)
        while len(counts) < 4:
            await watch.let_pass(1)
            others.append(budget.per_minute - budget.own_per_minute)
        assert max(counts) > 0
        assert set(others) == {0}


async def test_the_local_database_is_used_once_for_several_reads_and_requests_of_other_consoles_count_within_a_second(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with watching(limited(600), tmp_path) as watch:
        budget, origin = watch.session.live.budget, watch.session.target.origin
        jobs: list[str] = []
        transact = Database._transact

        def count(database: Database, begin: str, work: Work[object]) -> object:
            jobs.append(begin)
            return transact(database, begin, work)

        await watch.let_pass(1)
        sent = len(watch.exchanges)
        monkeypatch.setattr(Database, "_transact", count)
        await watch.let_pass(60)
        # The first count after the opening's last write finds out that nothing else was written.
        assert len(jobs) <= (len(watch.exchanges) - sent) / 2 + 1
        monkeypatch.undo()
        other = Database.open(tmp_path / "console.db")
        try:
            for number in (1, 2):
                await watch.let_pass(1)
                journal = Journal(other)
                journal.note(exchange(number, origin=origin, at=watch.clock.now()))
                await journal.flush()
                await watch.let_pass(1)
                assert budget.per_minute - budget.own_per_minute == number
            await watch.let_pass(61)
            assert budget.per_minute == budget.own_per_minute
        finally:
            other.close()


async def test_without_a_list_of_runs_those_of_the_watch_list_are_read_one_by_one(tmp_path: Path) -> None:
    service = limited()
    service.say("GET", "/v1/executions", Said(404, problem("not_found")))
    async with watching(service, tmp_path) as watch:
        session = watch.session
        await session.watch_list.add(session.scope, [FORTY[1], FORTY[2]])
        session.live.refresh(Run)
        await watch.let_pass(25)
        collection = session.store.collection("work", "run")
        assert {record.id for record in collection.records} == {FORTY[1], FORTY[2]}
        assert collection.failure is not None
        assert collection.failure.kind is FailureKind.NOT_OFFERED


async def test_a_list_is_read_while_it_is_shown(tmp_path: Path) -> None:
    service = limited()
    service.receipts.extend(dict(echo_receipt(run_id).raw) for run_id in FORTY)
    async with watching(service, tmp_path) as watch:
        watch.session.live.start_list(Receipt)
        await watch.let_pass(70)
        assert len(service.requests("GET", "/v1/receipts")) == 3
        assert len(watch.session.store.collection("work", "receipt").records) == 40
        watch.session.live.stop_list(Receipt)
        await watch.let_pass(70)
        assert len(service.requests("GET", "/v1/receipts")) == 3


async def test_a_tail_ends_with_its_run_and_the_list_is_read_at_once(tmp_path: Path) -> None:
    service = LimitedService(runs=[run("ex_1")], events={"ex_1": echo_events("ex_1")}, account=account(quota=None))
    async with watching(service, tmp_path) as watch:
        service.runs[0]["status"] = "completed"
        before = len(service.requests("GET", "/v1/executions"))
        watch.session.live.tails.follow("ex_1", "test")
        await watch.let_pass(0.5)
        update = watch.session.live.tails.last_update("ex_1")
        assert update.count == 7
        assert update.is_complete
        assert len(service.requests("GET", "/v1/executions")) == before + 1
        last = watch.session.live.tails.last_event("ex_1")
        assert last is not None
        assert last.ends_run
        asked = len(service.requests("GET", ".*/events"))
        await watch.let_pass(30)
        assert len(service.requests("GET", ".*/events")) == asked
    async with watching(service, tmp_path) as watch:
        # Its last event is stored: opened again, it costs no request.
        watch.session.live.tails.follow("ex_1", "test")
        await watch.let_pass(30)
        assert len(service.requests("GET", ".*/events")) == asked
        again = watch.session.live.tails.last_update("ex_1")
        assert (again.count, again.is_complete) == (7, True)


async def test_the_last_events_are_read_at_once_when_another_read_says_that_the_run_has_ended(tmp_path: Path) -> None:
    ending = Ending()
    service = LimitedService(runs=[run("ex_1")], events=ending, account=account(quota=None))
    async with watching(service, tmp_path) as watch:
        session = watch.session
        session.live.tails.follow("ex_1", "test")
        await watch.let_pass(20)
        assert session.live.tails.last_update("ex_1").pause_s == LONGEST_PAUSE_S
        ending.has_ended = True
        asked = len(service.requests("GET", ".*/events"))
        now = session.clock
        change = RecordRead(session.scope.profile, Run.KIND, now.now(), now.monotonic(), run("ex_1", "completed"))
        session.store.apply(change)
        await watch.let_pass(0.1)
        assert len(service.requests("GET", ".*/events")) == asked + 1
        assert session.live.tails.last_update("ex_1").is_complete
        session.store.apply(change)
        await watch.let_pass(10)
        assert len(service.requests("GET", ".*/events")) == asked + 1


@pytest.mark.parametrize("status", [403, 405, 501])
async def test_a_tail_goes_on_by_events_alone_where_single_runs_cannot_be_read(tmp_path: Path, status: int) -> None:
    ticking = Ticking(FORTY[0], every_s=20)
    service = limited(ticking=ticking)
    service.say("GET", f"/v1/executions/{FORTY[0]}", Said(status, problem("x", status=status)))
    async with watching(service, tmp_path) as watch:
        watch.session.live.tails.follow(FORTY[0], "test")
        await watch.let_pass(70)
        update = watch.session.live.tails.last_update(FORTY[0])
        assert service.requests("GET", f"/v1/executions/{FORTY[0]}")
        assert (update.failure, update.count) == (None, ticking.count)


async def test_a_list_that_is_too_large_is_read_again_only_for_the_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transport, "MAX_BODY_BYTES", 50_000)
    service = limited()
    service.say("GET", "/v1/receipts", Said(200, {"receipts": [{"execution_id": "ex_1", "x": "x" * 60_000}]}))
    async with watching(service, tmp_path) as watch:
        live = watch.session.live
        live.start_list(Receipt)
        await watch.let_pass(300)
        failure = watch.session.store.collection("work", "receipt").failure
        assert failure is not None
        assert (failure.kind, failure.is_final) == (FailureKind.ERROR, True)
        assert len(service.requests("GET", "/v1/receipts")) == 1
        assert (live.connection.lost_since, live.connection.failing_since) == (None, None)
        live.ask(Receipt)
        await watch.let_pass(60)
        assert len(service.requests("GET", "/v1/receipts")) == 2


async def test_a_list_that_failed_is_read_again_soon_after_the_service_returns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refused(*_: object) -> HttpResponse:
        raise ConnectionLostError("refused", was_sent=False)

    async with watching(limited(), tmp_path) as watch:
        live, collection = watch.session.live, watch.session.store.collection("work", "receipt")
        live.start_list(Receipt)
        await watch.let_pass(2)
        with monkeypatch.context() as gone:
            gone.setattr(Transport, "send", refused)
            await watch.let_pass(150)
            assert collection.failure is not None
        await watch.let_pass(PROBE_S + 2)
        assert live.connection.lost_since is None
        assert collection.failure is None


async def test_after_a_lost_write_a_read_says_at_once_whether_the_service_is_gone(tmp_path: Path) -> None:
    async with watching(limited(), tmp_path) as watch:
        live = watch.session.live
        await watch.let_pass(20)
        asked = len(watch.service.requests("GET", "/v1/account"))
        lost = RequestAttempt(
            at=watch.clock.now(), operation="postExecutions", method="POST", path="/v1/executions", query="",
            status=None, elapsed_s=1.0, attempt=RETRIES + 1, key="key_1", sent_bytes=9, received_bytes=0, error="cut",
            problem=None, profile="work", origin="http://127.0.0.1:1",
        )  # fmt: skip
        live.note(lost)
        await watch.let_pass(1)
        assert len(watch.service.requests("GET", "/v1/account")) == asked + 1
        assert (live.connection.lost_since, "connection" in live.scheduler) == (None, False)


async def test_a_silence_is_kept_as_a_gap(tmp_path: Path) -> None:
    ticking = Ticking(FORTY[0], every_s=5)
    async with watching(limited(ticking=ticking), tmp_path) as watch:
        session = watch.session
        session.live.tails.follow(FORTY[0], "test")
        await watch.let_pass(12)
        watch.service.say("GET", ".*/events", Said(503, problem("upstream_unavailable")))
        await watch.let_pass(30)
        failure = session.live.tails.last_update(FORTY[0]).failure
        assert failure is not None
        assert failure.kind is FailureKind.OFFLINE
        watch.service._said.clear()
        await watch.let_pass(35)
        assert session.live.tails.last_update(FORTY[0]).failure is None
        (gap,) = await session.event_store.gaps(session.scope, FORTY[0])
        assert 20 < (gap.ended_at - gap.began_at).total_seconds() < 70
        kept = await session.event_store.count(session.scope, FORTY[0])
        assert kept >= ticking.count - 2


@pytest.mark.parametrize("status", [200, 502])
async def test_a_tail_is_read_again_soon_after_the_service_answers_again(tmp_path: Path, status: int) -> None:
    async with watching(limited(ticking=Ticking(FORTY[0], every_s=5)), tmp_path) as watch:
        tails = watch.session.live.tails
        tails.follow(FORTY[0], "test")
        await watch.let_pass(12)
        watch.service.say("GET", ".*", Said(status, b"<html>gone</html>", content_type="text/html"))
        await watch.let_pass(90)
        update = tails.last_update(FORTY[0])
        assert update.failure is not None
        assert update.failed_at is not None
        watch.service._said.clear()
        await watch.let_pass(31)
        assert tails.last_update(FORTY[0]).failure is None
        assert tails.last_update(FORTY[0]).failed_at is None


async def test_a_tail_that_cannot_be_kept_says_so_and_has_everything_once_there_is_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def full(*_: object, **__: object) -> list[object]:
        raise DataError("No space is left")

    ticking = Ticking(FORTY[0])
    async with watching(limited(ticking=ticking), tmp_path) as watch:
        live, events = watch.session.live, watch.session.event_store
        live.tails.follow(FORTY[0], "test")
        await watch.let_pass(10)
        kept = live.tails.last_update(FORTY[0]).count
        with monkeypatch.context() as patch:
            patch.setattr(EventStore, "append", full)
            await watch.let_pass(60)
            told = live.tails.last_update(FORTY[0])
            assert (told.unkept, told.failure, told.count) == ("No space is left", None, kept)
        await watch.let_pass(MAX_WAIT_S * 1.3)
        told = live.tails.last_update(FORTY[0])
        assert told.unkept is None
        assert told.count >= ticking.count - 5
        window = await events.window(watch.session.scope, FORTY[0], 0, told.count)
        assert [event.id for event in window] == [f"ev_{number:04}" for number in range(told.count)]
        assert await events.gaps(watch.session.scope, FORTY[0]) == []


async def test_a_tail_goes_on_with_its_pause_when_the_gap_before_a_status_could_not_be_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def full(*_: object) -> None:
        raise DataError("No space is left")

    service = LimitedService(runs=[run("ex_1")], events={"ex_1": []}, account=account(quota=None))
    service.say("GET", ".*/ex_1", *[Said(503, problem("upstream_unavailable"))] * 3, Said(200, dict(run("ex_1").raw)))
    async with watching(service, tmp_path) as watch:
        tails = watch.session.live.tails
        with monkeypatch.context() as patch:
            patch.setattr(EventStore, "note_gap", full)
            tails.follow("ex_1", "test")
            await watch.let_pass(6)
        waits = [update.pause_s for update in watch.updates if update.unkept == "No space is left"]
        assert waits[1] == FIRST_PAUSE_S
        asked = len(service.requests("GET", ".*/events"))
        await watch.let_pass(10)
        assert tails.last_update("ex_1").unkept is None
        assert len(service.requests("GET", ".*/events")) > asked


async def test_a_service_that_ignores_the_cursor_is_not_asked_without_pause(tmp_path: Path) -> None:
    service = LimitedService(runs=[run("ex_1")], account=account(quota=None))
    everything = {"events": [dict(event(number, execution_id="ex_1").raw) for number in range(3)]}
    service.say("GET", ".*/events", Said(200, everything))
    async with watching(service, tmp_path) as watch:
        watch.session.live.tails.follow("ex_1", "test")
        await watch.let_pass(60)
        assert watch.session.live.tails.last_update("ex_1").count == 3
        assert len(service.requests("GET", ".*/events")) < 65


@pytest.mark.parametrize(("in_focus", "most"), [(False, 22), (True, 45)])
async def test_a_busy_run_that_is_not_in_focus_is_read_once_a_second(tmp_path: Path, in_focus: bool, most: int) -> None:
    ticking = Ticking(FORTY[0])
    service = LimitedService(clock=ticking.clock, runs=[run(FORTY[0])], events=ticking, account=account(quota=None))
    async with watching(service, tmp_path) as watch:
        watch.session.live.tails.follow(FORTY[0], "test", in_focus=in_focus)
        await watch.let_pass(20)
        asked = len(service.requests("GET", ".*/events"))
        assert most - 10 < asked <= most
        assert watch.session.live.tails.last_update(FORTY[0]).count >= 18


async def test_a_run_that_is_followed_no_longer_is_not_read(tmp_path: Path) -> None:
    async with watching(limited(ticking=Ticking(FORTY[0])), tmp_path) as watch:
        watch.session.live.tails.follow(FORTY[0], "test")
        await watch.let_pass(5)
        watch.session.live.tails.unfollow(FORTY[0], "test")
        asked = len(watch.service.requests("GET", ".*/events"))
        await watch.let_pass(20)
        assert len(watch.service.requests("GET", ".*/events")) == asked


async def test_the_account_is_known_and_its_limit_is_held_to(tmp_path: Path) -> None:
    async with watching(limited(120), tmp_path) as watch:
        assert watch.session.live.budget.limit_rpm == 120
        (known,) = watch.session.store.collection("work", "account").records
        assert isinstance(known, Account)
        assert watch.session.scope.principal == "key_A1b2C3"


def test_waits_double_from_half_a_second_to_thirty_and_begin_again_after_a_good_answer() -> None:
    backoff = Backoff(FakeClock(chances=[0.5]))
    assert [backoff.next_s() for _ in range(8)] == [0.5, 1, 2, 4, 8, 16, MAX_WAIT_S, MAX_WAIT_S]
    backoff.reset()
    assert backoff.next_s() == 0.5


def test_waits_are_moved_by_chance_by_a_fifth_at_most() -> None:
    assert Backoff(FakeClock(chances=[0.0])).next_s() == pytest.approx(0.4)
    assert Backoff(FakeClock(chances=[0.999])).next_s() == pytest.approx(0.6, abs=0.01)


def test_what_is_listed_by_itself_is_known_from_its_place_on_the_wire() -> None:
    assert is_listable(Run)
    assert not is_listable(Account)
    assert list_operation(Receipt).id == "getReceipts"
    with pytest.raises(LookupError):
        list_operation(Account)


async def test_a_list_is_read_as_the_service_filters_it_and_the_whole_one_stays(tmp_path: Path) -> None:
    service = LimitedService(600, receipts=[echo_receipt("ex_1"), echo_receipt("ex_2", status="failed")])
    async with watching(service, tmp_path) as watch:
        live, store = watch.session.live, watch.session.store
        live.start_list(Receipt)
        await watch.let_pass(5)
        live.start_filtered_list(Receipt, "receipt where status=failed", lambda: {"status": "failed"})
        await watch.let_pass(5)
        assert [record.id for record in store.collection("work", "receipt where status=failed").records] == ["ex_2"]
        assert len(store.collection("work", "receipt").records) == 2
        live.stop_filtered_list("receipt where status=failed")
        asked = len(service.requests("GET", "/v1/receipts"))
        live.stop_list(Receipt)
        await watch.let_pass(120)
        assert len(service.requests("GET", "/v1/receipts")) == asked
        store.forget("work", "receipt where status=failed")
        assert store.collection("work", "receipt where status=failed").records == []


async def test_a_list_in_one_piece_is_taken_whole_however_long_it_is(tmp_path: Path) -> None:
    service = LimitedService(600, receipts=[echo_receipt(f"ex_{number}") for number in range(1_200)])
    async with watching(service, tmp_path) as watch:
        watch.session.live.start_list(Receipt)
        await watch.let_pass(5)
        collection = watch.session.store.collection("work", "receipt")
        assert len(collection.records) == 1_200
        assert collection.end_is_proven


async def test_a_console_that_stays_open_makes_room_every_hour(tmp_path: Path) -> None:
    async with watching(LimitedService(60, runs=[], account=account(quota={"rate_limit_rpm": 60})), tmp_path) as watch:
        session = watch.session
        old = format_iso(watch.clock.now() - timedelta(days=40))
        await session.event_store.append(session.scope, "old", [event(1, "completed", at=old)])
        watch.clock.advance(PRUNE_INTERVAL_S - 60)
        await watch.settle()
        assert await session.event_store.count(session.scope, "old") == 1
        watch.clock.advance(120)
        await watch.settle()
        assert await session.event_store.count(session.scope, "old") == 0


async def test_a_server_that_is_no_service_does_not_lack_its_lists(tmp_path: Path) -> None:
    service = limited()
    for path in ("/v1/account", "/v1/executions"):
        service.say("GET", path, PAGE_OF_ANOTHER_SERVER)
    async with watching(service, tmp_path) as watch:
        await watch.let_pass(10)
        failure = watch.session.store.collection("work", "run").failure
        assert failure is not None
        assert (failure.kind, failure.title) == (FailureKind.ERROR, "The answer did not come from the API (HTML)")


async def test_a_list_that_was_read_before_is_read_again_after_a_page_of_a_proxy(tmp_path: Path) -> None:
    async with watching(limited(), tmp_path) as watch:
        await watch.let_pass(10)
        watch.service.say("GET", "/v1/executions", PAGE_OF_ANOTHER_SERVER)
        await watch.let_pass(30)
        failure = watch.session.store.collection("work", "run").failure
        assert failure is not None
        assert failure.kind is FailureKind.ERROR
        before = len(watch.service.requests("GET", "/v1/executions"))
        await watch.let_pass(120)
        assert len(watch.service.requests("GET", "/v1/executions")) > before


@pytest.mark.parametrize("status", [404, 405, 501])
async def test_a_list_that_is_withdrawn_says_since_when_and_is_looked_for_again(tmp_path: Path, status: int) -> None:
    async with watching(limited(), tmp_path) as watch:
        await watch.let_pass(10)
        said = Said(status, problem("not_found", status=status))
        watch.service.say("GET", "/v1/executions", said)
        runs, since = watch.session.store.collection("work", "run"), watch.clock.now()
        await watch.let_pass(300)
        state = watch.session.live.state(runs, 5.0)
        assert state.failure is not None
        assert (state.load, state.failure.is_withdrawn) == (LoadState.ERROR, True)
        assert state.since is not None
        assert timedelta(0) <= state.since - since < timedelta(seconds=15)
        watch.service._said.clear()
        await watch.let_pass(40)
        assert runs.failure is None
