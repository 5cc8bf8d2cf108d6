"""What the console knows, and the state of a pane over it."""

from __future__ import annotations

import asyncio
import threading
from datetime import UTC, datetime, timedelta

import pytest

from runwatch.api.errors import ApiProblem, RateLimitedError
from runwatch.records.problem import Problem
from runwatch.records.run import Run
from runwatch.store.state.changes import (
    CacheRead,
    ListContinued,
    ListRead,
    ReadFailed,
    ReadFailure,
    ReadStarted,
    RecordGone,
    RecordRead,
    StoreChange,
    read_failure_from_error,
)
from runwatch.store.state.collection import CollectionDelta
from runwatch.store.state.failure_kind import FailureKind
from runwatch.store.state.freshness import LoadState, pane_state
from runwatch.store.state.reducer import STEP
from runwatch.store.state.store import MAX_SYNC_RECORDS, Store

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)


@pytest.fixture
def store() -> Store:
    return Store()


def run(name: str, status: str = "running") -> Run:
    return Run({"execution_id": name, "status": status})


def read(*runs: Run, complete: bool = True, at: float = 10.0) -> ListRead:
    return ListRead("local", "run", NOW, at, runs, complete=complete, end_is_proven=complete)


def state_of(store: Store, *, monotonic: float = 10.0, hold_s: float = 0.0) -> LoadState:
    collection = store.collection("local", "run")
    return pane_state(collection, now=NOW, monotonic=monotonic, interval_s=5, hold_s=hold_s).load


def test_a_list_tells_what_is_new_what_differs_and_what_has_gone(store: Store) -> None:
    assert store.apply(read(run("a"), run("b"))) == CollectionDelta("local", "run", added=("a", "b"))
    assert store.apply(read(run("c"), run("a", "completed"))) == CollectionDelta("local", "run", ("c",), ("a",), ("b",))
    assert [record.id for record in store.collection("local", "run").records] == ["c", "a"]


def test_a_list_looks_the_same_after_a_read_that_finds_nothing_new(store: Store) -> None:
    collection = store.collection("local", "run")
    looks = [collection.looks]
    for change in (
        ReadStarted("local", "run", NOW, 9.0, "GET /v1/executions"),
        read(run("a")),
        ReadFailed("local", "run", NOW, 11.0, ReadFailure(FailureKind.ERROR, "no")),
        read(run("a"), at=12.0),
        read(run("a", "completed"), at=13.0),
    ):
        store.apply(change)
        assert collection.looks not in looks[-1:]
        looks.append(collection.looks)
    store.apply(ReadStarted("local", "run", NOW, 14.0, "GET /v1/executions"))
    store.apply(read(run("a", "completed"), at=15.0))
    assert collection.looks == looks[-1]


def test_a_first_page_takes_nothing_away(store: Store) -> None:
    store.apply(read(run("a"), run("b")))
    assert store.apply(read(run("c"), complete=False)) == CollectionDelta("local", "run", added=("c",))
    assert [record.id for record in store.collection("local", "run").records] == ["c", "a", "b"]


def test_cached_records_never_replace_what_the_service_said_now(store: Store) -> None:
    store.apply(read(run("a", "completed")))
    old = CacheRead("local", "run", NOW, 11, (run("a", "running"), run("z")), seen_at=NOW - timedelta(hours=1))
    assert store.apply(old) == CollectionDelta("local", "run", added=("z",))
    known = store.get("local", "run", "a")
    assert known is not None
    assert known.record.raw["status"] == "completed"


def test_a_single_record_goes_to_the_front_when_it_is_new_and_stays_in_place_when_not(store: Store) -> None:
    store.apply(read(run("a"), run("b")))
    store.apply(RecordRead("local", "run", NOW, 11, run("new")))
    store.apply(RecordRead("local", "run", NOW, 11, run("b", "failed")))
    assert [record.id for record in store.collection("local", "run").records] == ["new", "a", "b"]
    assert store.apply(RecordGone("local", "run", NOW, 12, "a")).removed == ("a",)
    assert store.apply(RecordGone("local", "run", NOW, 12, "a")).removed == ()


def test_profiles_are_kept_apart(store: Store) -> None:
    store.apply(read(run("a")))
    assert store.get("prod", "run", "a") is None


def test_listeners_hear_every_change_until_they_leave(store: Store) -> None:
    heard: list[CollectionDelta] = []
    leave = store.listen(heard.append)
    store.apply(ReadStarted("local", "run", NOW, 1, "GET /v1/executions"))
    leave()
    store.apply(read(run("a")))
    assert heard == [CollectionDelta("local", "run")]


def test_another_thread_may_not_write(store: Store) -> None:
    errors: list[Exception] = []

    def write() -> None:
        try:
            store.apply(read(run("a")))
        except RuntimeError as error:
            errors.append(error)

    thread = threading.Thread(target=write)
    thread.start()
    thread.join()
    assert len(errors) == 1


def test_a_pane_goes_through_its_states(store: Store) -> None:
    assert state_of(store) is LoadState.LOADING
    store.apply(ReadStarted("local", "run", NOW, 10, "GET /v1/executions"))
    assert state_of(store) is LoadState.LOADING
    store.apply(read())
    assert state_of(store) is LoadState.EMPTY
    store.apply(read(run("a")))
    assert state_of(store) is LoadState.FRESH
    store.apply(ReadStarted("local", "run", NOW, 11, "GET /v1/executions"))
    assert state_of(store) is LoadState.REFRESHING
    assert state_of(store, monotonic=21) is LoadState.STALE
    assert state_of(store, hold_s=3) is LoadState.RATE_LIMITED


@pytest.mark.parametrize(
    ("trouble", "expected"),
    [
        (FailureKind.OFFLINE, LoadState.OFFLINE),
        (FailureKind.NOT_AUTHORISED, LoadState.NOT_AUTHORISED),
        (FailureKind.NOT_OFFERED, LoadState.NOT_OFFERED),
        (FailureKind.ERROR, LoadState.ERROR),
    ],
)
def test_a_failure_names_the_state_and_keeps_the_rows(trouble: FailureKind, expected: LoadState, store: Store) -> None:
    store.apply(read(run("a")))
    store.apply(ReadFailed("local", "run", NOW, 12, ReadFailure(trouble, "it went wrong")))
    later = NOW + timedelta(seconds=9)
    store.apply(ReadFailed("local", "run", later, 21, ReadFailure(trouble, "it went wrong")))
    collection = store.collection("local", "run")
    state = pane_state(collection, now=later, monotonic=21, interval_s=5)
    assert (state.load, state.since, state.age_s) == (expected, NOW, 11)
    assert len(collection.records) == 1
    store.apply(read(run("a"), at=22))
    assert collection.failing_since is None


def test_cached_records_show_the_age_of_the_earlier_session(store: Store) -> None:
    store.apply(CacheRead("local", "run", NOW, 10, (run("a"),), seen_at=NOW - timedelta(minutes=5)))
    state = pane_state(store.collection("local", "run"), now=NOW, monotonic=10, interval_s=5)
    assert (state.load, state.age_s) == (LoadState.STALE, 300)


@pytest.mark.parametrize(
    ("status", "collection", "expected"),
    [
        (401, True, FailureKind.NOT_AUTHORISED),
        (403, True, FailureKind.NOT_AUTHORISED),
        (404, True, FailureKind.NOT_OFFERED),
        (405, True, FailureKind.NOT_OFFERED),
        (501, True, FailureKind.NOT_OFFERED),
        (404, False, FailureKind.ERROR),
        (429, True, FailureKind.RATE_LIMITED),
        (503, True, FailureKind.OFFLINE),
        (400, True, FailureKind.ERROR),
    ],
)
def test_statuses_stand_for_troubles(status: int, collection: bool, expected: FailureKind) -> None:
    problem = Problem({"type": "about:blank", "title": "t", "status": status, "instance": "i"})
    error = ApiProblem(
        "t", problem=problem, status=status, is_synthetic=False, wait_s=None, operation="getExecutions", attempts=1,
        outcome_known=True, key=None, detail=None, hint="do this", retryable=False,
    )  # fmt: skip
    failure = read_failure_from_error(error, collection=collection)
    assert (failure.kind, failure.problem, failure.hint) == (expected, problem, "do this")


def test_a_hold_tells_its_seconds() -> None:
    failure = read_failure_from_error(RateLimitedError(operation="getExecutions", seconds=7), collection=True)
    assert (failure.kind, failure.hold_s) == (FailureKind.RATE_LIMITED, 7)


def test_the_revision_goes_up_with_every_change_of_the_records_and_stays_without_one(store: Store) -> None:
    collection = store.collection("local", "run")

    def goes_up(change: StoreChange) -> bool:
        before = collection.revision
        store.apply(change)
        return collection.revision > before

    assert goes_up(read(run("a"), run("b")))
    assert not goes_up(read(run("a"), run("b"), at=11))
    assert goes_up(read(run("b"), run("a")))
    assert goes_up(read(run("b", "completed"), run("a")))
    assert not goes_up(RecordRead("local", "run", NOW, 12, run("a")))
    assert goes_up(RecordRead("local", "run", NOW, 12, run("a", "failed")))
    assert goes_up(RecordRead("local", "run", NOW, 12, run("c")))
    assert not goes_up(ReadStarted("local", "run", NOW, 13, "GET /v1/executions"))
    assert goes_up(RecordGone("local", "run", NOW, 14, "c"))
    assert not goes_up(RecordGone("local", "run", NOW, 14, "c"))
    assert goes_up(CacheRead("local", "run", NOW, 15, (run("d"),), seen_at=NOW))


async def test_a_long_list_is_taken_in_steps_and_is_there_all_at_once(store: Store) -> None:
    told: list[CollectionDelta] = []
    store.listen(told.append)
    long = tuple(run(f"ex_{number}") for number in range(2 * MAX_SYNC_RECORDS))
    seen = []
    taking = asyncio.ensure_future(store.apply_in_steps(read(*long)))
    while not taking.done():
        seen.append(len(store.collection("local", "run").by_id))
        await asyncio.sleep(0)
    assert set(seen) == {0}
    assert len(store.collection("local", "run").by_id) == len(long)
    assert seen.count(0) >= 2 * len(long) // STEP
    assert told == [await taking]
    assert len(told[0].added) == len(long)


@pytest.mark.parametrize("complete", [True, False])
async def test_a_list_taken_in_steps_does_what_one_taken_at_once_does(complete: bool) -> None:
    first = tuple(run(f"ex_{number}") for number in range(MAX_SYNC_RECORDS))
    second = tuple(
        run(f"ex_{number}", "failed" if number % 7 == 0 else "running") for number in range(MAX_SYNC_RECORDS, 100, -1)
    )
    at_once, in_steps = Store(), Store()
    for store in (at_once, in_steps):
        store.apply(read(*first))
    assert await in_steps.apply_in_steps(read(*second, complete=complete)) == at_once.apply(
        read(*second, complete=complete)
    )
    assert in_steps.collection("local", "run") == at_once.collection("local", "run")


async def test_what_changes_while_a_long_list_is_taken_is_not_lost(store: Store) -> None:
    long = tuple(run(f"ex_{number}") for number in range(2 * MAX_SYNC_RECORDS))
    taking = asyncio.ensure_future(store.apply_in_steps(read(*long, complete=False)))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    store.apply(RecordRead("local", "run", NOW, 11, run("new")))
    assert (await taking).added == tuple(record.id for record in long)
    assert [record.id for record in store.collection("local", "run").records][-1] == "new"


async def test_a_list_is_taken_also_where_something_changes_all_the_time(store: Store) -> None:
    long = tuple(run(f"ex_{number}") for number in range(2 * MAX_SYNC_RECORDS))
    taking = asyncio.ensure_future(store.apply_in_steps(read(*long, complete=False)))
    for number in range(10_000):
        if taking.done():
            break
        store.apply(RecordRead("local", "run", NOW, 11, run(f"new {number}")))
        await asyncio.sleep(0)
    assert len((await taking).added) == len(long)


async def test_a_list_that_nobody_shows_any_more_is_not_mixed_with_the_one_that_came_after_it(store: Store) -> None:
    long = tuple(run(f"ex_{number}") for number in range(2 * MAX_SYNC_RECORDS))
    taking = asyncio.ensure_future(store.apply_in_steps(read(*long, complete=False)))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    store.forget("local", "run")
    store.apply(read(run("other"), complete=False))
    await taking
    assert "other" in store.collection("local", "run").by_id


@pytest.mark.parametrize("change", [
    ListRead("local", "run", NOW + timedelta(seconds=9), 19, (run("a"),)),
    ListContinued("local", "run", NOW + timedelta(seconds=9), 19, (run("a"),)),
    RecordRead("local", "run", NOW + timedelta(seconds=9), 19, run("a")),
])  # fmt: skip
def test_who_holds_an_unchanged_record_sees_that_it_was_read_again(store: Store, change: StoreChange) -> None:
    store.apply(read(run("a")))
    held = store.get("local", "run", "a")
    assert held is not None
    store.apply(change)
    assert store.get("local", "run", "a") is held
    assert held.seen_at == change.at
