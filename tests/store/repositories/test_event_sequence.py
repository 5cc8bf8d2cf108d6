"""Events in a row: of one run, and of several runs merged by time without a copy in memory."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runwatch.base.clock import format_iso
from runwatch.records.event import RunEvent
from runwatch.store.db.database import Database
from runwatch.store.repositories.event_sequence import MergedSequence, RunSequence
from runwatch.store.repositories.event_store import RECENT, EventStore
from runwatch.store.repositories.scope import Scope
from tests.store.stub import SCOPE
from tests.support.builders import event
from tests.support.clock import START


def told(run_id: str, number: int, seconds: float | None, **over: Any) -> RunEvent:
    """An event of a run, this many seconds after the start; without a time where that is ``None``."""
    at = None if seconds is None else format_iso(START + timedelta(seconds=seconds))
    return event(number, execution_id=run_id, at=at, **over)


async def names(sequence: MergedSequence | RunSequence) -> list[str]:
    await sequence.grow()
    return [f"{item.execution_id}.{item.id}" for item in await sequence.window(0, sequence.length)]


def name(run_id: str, number: int) -> str:
    return f"{run_id}.{event(number).id}"


async def test_events_of_several_runs_stand_in_the_order_of_their_times(store: EventStore) -> None:
    await store.append(SCOPE, "a", [told("a", 1, 0), told("a", 2, 4), told("a", 3, 8)])
    await store.append(SCOPE, "b", [told("b", 1, 1), told("b", 2, 5)])
    await store.append(SCOPE, "c", [told("c", 1, 2)])
    merged = MergedSequence(store, SCOPE, ["a", "b"])
    assert await names(merged) == [name("a", 1), name("b", 1), name("a", 2), name("b", 2), name("a", 3)]


async def test_what_comes_later_goes_where_its_time_belongs(store: EventStore) -> None:
    await store.append(SCOPE, "a", [told("a", 1, 0), told("a", 2, 9)])
    merged = MergedSequence(store, SCOPE, ["a", "b"])
    assert await names(merged) == [name("a", 1), name("a", 2)]
    # The last one has the time of an earlier one.
    await store.append(SCOPE, "b", [told("b", 1, 1), told("b", 2, 9)])
    await store.append(SCOPE, "a", [told("a", 3, 12)])
    await store.append(SCOPE, "b", [told("b", 3, 11)])
    assert list(await merged.grow()) == [1]
    shown = [name("a", 1), name("b", 1), name("a", 2), name("b", 2), name("b", 3), name("a", 3)]
    assert await names(merged) == shown
    assert await names(merged) == shown


async def test_a_run_that_is_added_brings_its_events_and_none_twice(store: EventStore) -> None:
    await store.append(SCOPE, "a", [told("a", 1, 5)])
    await store.append(SCOPE, "b", [told("b", 1, 0)])
    merged = MergedSequence(store, SCOPE, ["a"])
    await merged.grow()
    merged.add("b")
    merged.add("b")
    merged.add("a")
    assert await names(merged) == [name("b", 1), name("a", 1)]
    assert list(merged.run_ids) == ["a", "b"]


async def test_a_finished_run_is_read_once_more_and_keeps_its_events(store: EventStore) -> None:
    await store.append(SCOPE, "a", [told("a", 1, 0)])
    merged = MergedSequence(store, SCOPE, ["a"])
    merged.finish("a")
    assert await names(merged) == [name("a", 1)]
    await store.append(SCOPE, "a", [told("a", 2, 1)])
    assert await names(merged) == [name("a", 1)]


async def test_the_order_of_one_run_holds_whatever_its_times_say(store: EventStore) -> None:
    await store.append(SCOPE, "a", [told("a", 1, 9), told("a", 2, 1), told("a", 3, None), told("a", 4, 10)])
    await store.append(SCOPE, "b", [told("b", 1, None), told("b", 2, 5), told("b", 3, 9.5)])
    merged = MergedSequence(store, SCOPE, ["a", "b"])
    assert await names(merged) == [
        name("b", 1), name("b", 2), name("a", 1), name("a", 2), name("a", 3), name("b", 3), name("a", 4),
    ]  # fmt: skip


async def test_forms_of_a_moment_that_differ_only_in_writing_are_the_same_time(store: EventStore) -> None:
    await store.append(SCOPE, "a", [event(1, execution_id="a", at="2026-11-20T10:00:00.500Z")])
    await store.append(SCOPE, "b", [event(1, execution_id="b", at="2026-11-20T12:00:00+02:00")])
    await store.append(SCOPE, "c", [event(1, execution_id="c", at="now")])
    merged = MergedSequence(store, SCOPE, ["a", "b"])
    assert await names(merged) == [name("b", 1), name("a", 1)]
    assert len(await names(MergedSequence(store, SCOPE, ["a", "b", "c"]))) == 3


async def test_a_window_holds_what_is_there_and_a_scan_names_what_is_kept(store: EventStore) -> None:
    await store.append(SCOPE, "a", [told("a", number, 2 * number) for number in range(10)])
    await store.append(SCOPE, "b", [told("b", number, 2 * number + 1) for number in range(10)])
    merged = MergedSequence(store, SCOPE, ["a", "b"])
    await merged.grow()
    assert [item.execution_id for item in await merged.window(3, 4)] == ["b", "a", "b", "a"]
    assert await merged.window(20, 5) == []
    assert await merged.scan(4, 11, lambda item: item.execution_id == "a") == [4, 6, 8, 10]


async def test_runs_of_which_nothing_is_kept_are_an_empty_row(store: EventStore) -> None:
    merged = MergedSequence(store, SCOPE, ["a"])
    assert await names(merged) == []
    assert await names(MergedSequence(store, SCOPE)) == []


async def test_an_event_that_was_forgotten_meanwhile_is_one_that_nothing_is_known_of(store: EventStore) -> None:
    await store.append(SCOPE, "a", [told("a", 1, 0, type="lifecycle", state="completed")])
    merged = MergedSequence(store, SCOPE, ["a"])
    await merged.grow()
    assert await store.prune(START + timedelta(days=1)) == 1
    assert [dict(item.raw) for item in await merged.window(0, 1)] == [{}]


async def test_one_run_keeps_its_numbers_and_is_scanned_in_parts(store: EventStore) -> None:
    await store.append(SCOPE, "a", [told("a", number, number) for number in range(6)])
    sequence = RunSequence(store, SCOPE, "a")
    assert sequence.length == 0
    await sequence.grow()
    assert sequence.length == 6
    assert await sequence.scan(1, 5, lambda item: item.id != event(2).id) == [1, 3, 4]
    assert await sequence.holding(event(3).id, 1, 6) == [3]


async def test_events_that_have_just_come_are_not_decoded_again(store: EventStore) -> None:
    came = [told("a", number, number) for number in range(RECENT + 3)]
    page = (await store.append(SCOPE, "a", came[:-1])).new + (await store.append(SCOPE, "a", came[-1:])).new
    run, merged = RunSequence(store, SCOPE, "a"), MergedSequence(store, SCOPE, ["a"])
    for sequence in (run, merged):
        await sequence.grow()
        newest = await sequence.window(3, RECENT)
        assert [id(item) for item in newest] == [id(item) for item in page[3:]]
        older = await sequence.window(2, RECENT + 1)
        assert older == page[2:]
        assert all(one is not other for one, other in zip(older, page[2:], strict=True))


@pytest.mark.exhaustive
@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 5)), max_size=12), st.integers(0, 12))
def test_however_events_come_each_is_there_once_and_each_run_in_its_order(
    tmp_path_factory: pytest.TempPathFactory, come: list[tuple[str, int]], first: int
) -> None:
    import asyncio

    async def merged() -> tuple[list[str], list[str]]:
        database = Database.open(tmp_path_factory.mktemp("events") / "console.db")
        scope, store = Scope("work", "ten_01", "key_1"), EventStore(database)
        try:
            sequence, before = MergedSequence(store, scope, list("abc")), list[str]()
            for number, (run_id, seconds) in enumerate(come):
                await store.append(scope, run_id, [told(run_id, number, seconds)])
                if number + 1 == first:
                    before = await names(sequence)
            inserted = list(await sequence.grow())
            shown = await names(sequence)
            kept = [one for place, one in enumerate(shown) if place not in inserted][: len(before)]
            assert kept == before
            return shown, [name(run_id, number) for number, (run_id, _) in enumerate(come)]
        finally:
            database.close()

    shown, sent = asyncio.run(merged())
    assert sorted(shown) == sorted(sent)
    for run_id in "abc":
        assert [one for one in shown if one.startswith(run_id)] == [one for one in sent if one.startswith(run_id)]
    latest: dict[str, int] = {}
    times: dict[str, int] = {}
    for number, (run_id, seconds) in enumerate(come):
        times[name(run_id, number)] = latest[run_id] = max(seconds, latest.get(run_id, 0))
    assert [times[one] for one in shown] == sorted(times.values())
