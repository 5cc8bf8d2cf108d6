"""The event store: every event once, in order, exactly, and found again at once."""

from __future__ import annotations

import json
import sqlite3
from datetime import timedelta
from typing import Any

import pytest

from runwatch.base.clock import format_iso
from runwatch.base.errors import UsageError
from runwatch.records.event import RunEvent
from runwatch.store.db.database import Database
from runwatch.store.repositories import event_store as module
from runwatch.store.repositories.event_store import EventGap, EventStore
from runwatch.store.repositories.scope import Scope
from tests.store.stub import SCOPE
from tests.support.builders import RUN_ID, echo_events, event, live_events
from tests.support.clock import START
from tests.support.hostile import CORPUS


def nameless(state: str = "running", **over: Any) -> RunEvent:
    raw = dict(event(1, state, **over).raw)
    del raw["event_id"]
    return RunEvent(raw)


def states(events: list[RunEvent]) -> list[object]:
    return [item.raw.get("state") for item in events]


async def test_new_events_come_back_in_order_and_known_ones_do_not(store: EventStore) -> None:
    first, second, third = event(1), event(2), event(3)
    assert (await store.append(SCOPE, RUN_ID, [first, second])).new == [first, second]
    assert (await store.append(SCOPE, RUN_ID, [second, third], after="ev_0001")).new == [third]
    assert (await store.append(SCOPE, RUN_ID, [first, second, third])).new == []
    assert await store.window(SCOPE, RUN_ID, 0, 10) == [first, second, third]
    assert await store.count(SCOPE, RUN_ID) == 3


async def test_an_event_that_comes_twice_in_a_page_is_kept_once(store: EventStore) -> None:
    assert (await store.append(SCOPE, RUN_ID, [event(1), event(1), event(2)])).new == [event(1), event(2)]
    assert await store.count(SCOPE, RUN_ID) == 2


async def test_an_event_never_changes(store: EventStore) -> None:
    await store.append(SCOPE, RUN_ID, [event(1, "queued")])
    assert (await store.append(SCOPE, RUN_ID, [event(1, "running")])).new == []
    assert await store.window(SCOPE, RUN_ID, 0, 1) == [event(1, "queued")]


async def test_a_run_that_nothing_is_known_of_is_empty(store: EventStore) -> None:
    assert await store.count(SCOPE, "ex_?") == 0
    assert await store.window(SCOPE, "ex_?", 0, 10) == []
    assert await store.window(SCOPE, "ex_?", -5, 5) == []
    assert await store.search(SCOPE, "ex_?", "a", 0, 9) == []
    assert await store.cursor(SCOPE, "ex_?") is None
    assert await store.gaps(SCOPE, "ex_?") == []
    assert not await store.is_complete(SCOPE, "ex_?")


async def test_the_cursor_is_the_last_event_that_was_applied(store: EventStore) -> None:
    await store.append(SCOPE, RUN_ID, [event(1), event(2)])
    assert await store.cursor(SCOPE, RUN_ID) == "ev_0002"
    await store.append(SCOPE, RUN_ID, [nameless()], after="ev_0002")
    await store.append(SCOPE, RUN_ID, [], after="ev_0002")
    assert await store.cursor(SCOPE, RUN_ID) == "ev_0002"


async def test_events_and_cursor_move_together_or_not_at_all(database: Database, store: EventStore) -> None:
    await store.append(SCOPE, RUN_ID, [event(1)])
    await database.write(
        lambda connection: connection.execute(
            "CREATE TRIGGER crash BEFORE UPDATE ON run BEGIN SELECT RAISE(ABORT, 'crash'); END"
        ).fetchall()
    )
    with pytest.raises(sqlite3.IntegrityError, match="crash"):
        await store.append(SCOPE, RUN_ID, [event(2), event(3)])
    assert await store.count(SCOPE, RUN_ID) == 1
    assert await store.cursor(SCOPE, RUN_ID) == "ev_0001"


async def test_runs_profiles_services_and_principals_are_kept_apart(store: EventStore) -> None:
    others = [
        (Scope("play", SCOPE.service, SCOPE.principal), RUN_ID),
        (Scope(SCOPE.profile, "ten_02", SCOPE.principal), RUN_ID),
        (Scope(SCOPE.profile, SCOPE.service, "key_2"), RUN_ID),
        (SCOPE, "ex_other"),
    ]
    await store.append(SCOPE, RUN_ID, [event(1)])
    for other, run_id in others:
        assert await store.count(other, run_id) == 0
        assert (await store.append(other, run_id, [event(1)])).new == [event(1)]
    assert await store.count(SCOPE, RUN_ID) == 1


@pytest.mark.parametrize(
    ("start", "count", "numbers"),
    [(0, 3, [0, 1, 2]), (8, 5, [8, 9]), (10, 5, []), (-3, 3, [7, 8, 9]), (-3, 2, [7, 8]), (-99, 2, [0, 1]), (4, 0, [])],
)
async def test_a_window_is_any_stretch_from_either_end(
    store: EventStore, start: int, count: int, numbers: list[int]
) -> None:
    events = [event(number) for number in range(10)]
    await store.append(SCOPE, RUN_ID, events)
    assert await store.window(SCOPE, RUN_ID, start, count) == [events[number] for number in numbers]


async def test_counts_and_windows_step_into_an_index_and_scan_nothing(database: Database) -> None:
    statements: list[str] = []
    store = EventStore(database)
    await store.append(SCOPE, RUN_ID, [event(1)])
    await database.read(lambda connection: connection.set_trace_callback(statements.append))
    await store.count(SCOPE, RUN_ID)
    await store.cursor(SCOPE, RUN_ID)
    await store.window(SCOPE, RUN_ID, -100, 100)
    await store.append(SCOPE, RUN_ID, [nameless(), event(1)], after="ev_0001")
    await database.read(lambda connection: connection.set_trace_callback(None))
    asked = [statement for statement in statements if statement.startswith(("SELECT", "INSERT", "UPDATE"))]
    assert len(asked) >= 8

    def plan(connection: sqlite3.Connection) -> list[str]:
        return [row[3] for query in asked for row in connection.execute(f"EXPLAIN QUERY PLAN {query}")]

    steps = await database.read(plan)
    assert [step for step in steps if "SCAN" in step or "TEMP B-TREE" in step] == []
    assert any("event_by_seq" in step for step in steps)


async def test_the_exact_text_of_an_event_is_kept(store: EventStore) -> None:
    text = '{ "event_id":"e1",  "type": "lifecycle", "cost": 0.10, "big": 1e400, "name": "\\u00e9é\\ud800" }'
    await store.append(SCOPE, RUN_ID, [RunEvent(json.loads(text), text)])
    [kept] = await store.window(SCOPE, RUN_ID, 0, 1)
    assert kept.wire_text == text
    assert kept.json() == '{"event_id":"e1","type":"lifecycle","cost":0.10,"big":1e400,"name":"\\u00e9\\u00e9\\ud800"}'


async def test_any_text_can_be_an_id_a_run_and_a_profile(store: EventStore) -> None:
    for hostile in CORPUS:
        text = hostile.text
        scope = Scope(text, hostile.name, text)
        odd = event(1, reason=text, event_id=text, type=text, slice_id=text)
        assert (await store.append(scope, text, [odd, event(2)])).new == [odd, event(2)], hostile.name
        assert (await store.append(scope, text, [odd, event(2)])).new == [], hostile.name
        assert await store.window(scope, text, 0, 5) == [odd, event(2)], hostile.name
        await store.append(scope, text, [odd])
        assert await store.cursor(scope, text) == (text or "ev_0002"), hostile.name


async def test_all_kinds_of_events_come_back_as_they_were(store: EventStore) -> None:
    events = live_events()
    await store.append(SCOPE, RUN_ID, events)
    assert await store.window(SCOPE, RUN_ID, 0, 100) == events


@pytest.mark.parametrize("final", ["completed", "failed", "cancelled", "expired"])
async def test_the_final_event_completes_the_run(store: EventStore, final: str) -> None:
    events = echo_events(final=final)
    await store.append(SCOPE, RUN_ID, events[:-1])
    assert not await store.is_complete(SCOPE, RUN_ID)
    await store.append(SCOPE, RUN_ID, events[-1:], after=events[-2].id)
    assert await store.is_complete(SCOPE, RUN_ID)
    await store.append(SCOPE, RUN_ID, events[:1])
    assert await store.is_complete(SCOPE, RUN_ID)


async def test_a_run_without_a_final_event_can_be_called_complete(store: EventStore) -> None:
    await store.mark_complete(SCOPE, RUN_ID)
    assert await store.is_complete(SCOPE, RUN_ID)


# Events without an id.


@pytest.mark.parametrize("odd", [None, "", {}, [], True, 1.5, {"id": "x"}])
async def test_an_event_without_a_usable_id_is_kept_once(store: EventStore, odd: object) -> None:
    page = [event(1), event(2, event_id=odd, state="odd"), event(3)]
    assert (await store.append(SCOPE, RUN_ID, page)).new == page
    assert (await store.append(SCOPE, RUN_ID, page)).new == []
    assert (await store.append(SCOPE, RUN_ID, page[1:], after="ev_0001")).new == []
    assert states(await store.window(SCOPE, RUN_ID, 0, 9)) == ["running", "odd", "running"]


async def test_a_number_serves_as_an_id(store: EventStore) -> None:
    await store.append(SCOPE, RUN_ID, [event(1, event_id=17), event(2, event_id=17, state="other")])
    assert await store.count(SCOPE, RUN_ID) == 1
    assert await store.cursor(SCOPE, RUN_ID) == "17"


async def test_the_same_words_without_an_id_are_as_many_events_as_came(store: EventStore) -> None:
    page = [nameless(), nameless(), event(1), nameless()]
    assert len((await store.append(SCOPE, RUN_ID, page)).new) == 4
    assert (await store.append(SCOPE, RUN_ID, page)).new == []
    assert (await store.append(SCOPE, RUN_ID, page[3:], after="ev_0001")).new == []
    assert (await store.append(SCOPE, RUN_ID, page[2:])).new == []
    assert len((await store.append(SCOPE, RUN_ID, [nameless(), nameless()], after="ev_0001")).new) == 1
    assert len((await store.append(SCOPE, RUN_ID, [event(2), nameless()], after="ev_0001")).new) == 2
    assert await store.count(SCOPE, RUN_ID) == 7


async def test_a_log_without_any_id_grows_by_what_is_new(store: EventStore) -> None:
    log = [nameless("queued"), nameless("running"), nameless("running")]
    for length in (1, 2, 3, 3):
        await store.append(SCOPE, RUN_ID, log[:length])
        assert await store.count(SCOPE, RUN_ID) == length
    assert states(await store.window(SCOPE, RUN_ID, 0, 9)) == ["queued", "running", "running"]


async def test_a_late_page_without_ids_is_recognised(store: EventStore) -> None:
    late = [nameless("odd")]
    await store.append(SCOPE, RUN_ID, [event(1)])
    await store.append(SCOPE, RUN_ID, [*late, event(2)], after="ev_0001")
    assert (await store.append(SCOPE, RUN_ID, late, after="ev_0001")).new == []


async def test_more_than_was_asked_for_is_recognised(store: EventStore) -> None:
    log = [nameless("odd"), event(1), nameless("odd"), event(2)]
    await store.append(SCOPE, RUN_ID, log)
    assert (await store.append(SCOPE, RUN_ID, [*log, event(3)], after="ev_lost")).new == [event(3)]
    assert (await store.append(SCOPE, RUN_ID, log[2:], after="ev_lost")).new == []


# Search.


async def test_a_search_finds_any_part_of_an_event_in_either_case(store: EventStore) -> None:
    await store.append(SCOPE, RUN_ID, [event(1, reason="Cost_Budget 50%"), event(2), event(3, reason="cost budget")])
    assert await store.search(SCOPE, RUN_ID, "COST", 0, 3) == [0, 2]
    assert await store.search(SCOPE, RUN_ID, "t_B", 0, 3) == [0]
    assert await store.search(SCOPE, RUN_ID, "0%", 0, 3) == [0]
    assert await store.search(SCOPE, RUN_ID, "budget", 1, 3) == [2]
    assert await store.search(SCOPE, RUN_ID, "ev_", 0, 2) == [0, 1]
    assert await store.search(SCOPE, RUN_ID, "nowhere", 0, 3) == []


@pytest.mark.parametrize("text", ["é", "日本", '"quoted"', "back\\slash", "line\nend", "\x00", "\ud800", "\U0001f600"])
@pytest.mark.parametrize("ascii_only", [True, False])
async def test_a_search_finds_what_the_json_escapes(store: EventStore, text: str, ascii_only: bool) -> None:
    raw = {"event_id": "e1", "reason": f"before {text} after"}
    wire = json.dumps(raw, ensure_ascii=ascii_only or "\ud800" in text)
    await store.append(SCOPE, RUN_ID, [event(1), RunEvent(raw, wire)])
    assert await store.search(SCOPE, RUN_ID, text, 0, 2) == [1]


async def test_a_search_for_an_endless_text_is_refused(store: EventStore) -> None:
    with pytest.raises(UsageError):
        await store.search(SCOPE, RUN_ID, "a" * (module.MAX_SEARCH_CHARACTERS + 1), 0, 1)


# Gaps.


async def test_gaps_are_where_they_were(store: EventStore) -> None:
    early, late = START, START + timedelta(seconds=90)
    await store.note_gap(SCOPE, RUN_ID, early, late)
    await store.append(SCOPE, RUN_ID, [event(1), event(2)])
    await store.note_gap(SCOPE, RUN_ID, late, late + timedelta(seconds=5))
    await store.note_gap(SCOPE, RUN_ID, late, late + timedelta(seconds=5))
    assert await store.gaps(SCOPE, RUN_ID) == [EventGap(early, late, 0), EventGap(late, late + timedelta(seconds=5), 2)]


async def test_gaps_of_two_consoles_for_one_outage_are_one(store: EventStore) -> None:
    await store.append(SCOPE, RUN_ID, [event(1)])
    began, ended = START, START + timedelta(seconds=26)
    await store.note_gap(SCOPE, RUN_ID, began + timedelta(seconds=3), ended)
    await store.append(SCOPE, RUN_ID, [event(2)])
    await store.note_gap(SCOPE, RUN_ID, began, ended + timedelta(milliseconds=5))
    await store.note_gap(SCOPE, RUN_ID, ended + timedelta(seconds=9), ended + timedelta(seconds=20))
    assert await store.gaps(SCOPE, RUN_ID) == [
        EventGap(began, ended + timedelta(milliseconds=5), 1),
        EventGap(ended + timedelta(seconds=9), ended + timedelta(seconds=20), 2),
    ]


async def test_old_runs_that_have_ended_are_forgotten_and_live_ones_stay(store: EventStore, database: Database) -> None:
    old = START - timedelta(days=40)
    await store.append(SCOPE, "old", [event(1, "completed", at=format_iso(old))])
    await store.append(SCOPE, "old and live", [event(1, "running", at=format_iso(old))])
    await store.append(SCOPE, "new", [event(1, "completed", at=format_iso(START))])
    assert await store.prune(START - timedelta(days=30)) == 1
    assert [await store.count(SCOPE, run) for run in ("old", "old and live", "new")] == [0, 1, 1]
    orphans = await database.read(lambda connection: connection.execute("SELECT count(*) FROM event").fetchone()[0])
    assert orphans == 2
