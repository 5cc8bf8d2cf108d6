"""Looking back: what happened around a moment, what there was to look through, and the neighbours of nothing."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest

from runwatch.base.clock import format_iso
from runwatch.records.problem import Problem
from runwatch.store.db.database import Database
from runwatch.store.repositories import activity as module
from runwatch.store.repositories.activity import RunEnd, count_problem_codes, find_activity
from runwatch.store.repositories.event_store import EventStore
from runwatch.store.repositories.journal import Journal, JournalProblem, JournalRequest
from runwatch.store.repositories.record_cache import RecordCache
from tests.store.stub import SCOPE, exchange
from tests.support.builders import echo_events, open_run, problem
from tests.support.clock import START
from tests.support.hostile import CORPUS


@pytest.fixture
def journal(database: Database) -> Journal:
    return Journal(database)


def note(journal: Journal, minutes: float, said: Problem | None = None, **over: Any) -> None:
    """Note a request this many minutes after the start, and the problem that it met."""
    status = said.status if said is not None else 200
    journal.note(exchange(1, at=START + timedelta(minutes=minutes), status=status, problem=said, **over))


def around(minutes: float, within: float = 5) -> list[tuple[datetime, datetime]]:
    middle = START + timedelta(minutes=minutes)
    return [(middle - timedelta(minutes=within), middle + timedelta(minutes=within))]


async def test_requests_and_problems_of_the_time_come_in_order(journal: Journal) -> None:
    for minutes in (0, 10, 20):
        note(journal, minutes, problem("not_found") if minutes != 20 else None)
    found = await find_activity(journal, around(10, within=10))
    assert [(type(line), line.at) for line in found.lines] == [
        (JournalProblem, START), (JournalRequest, START),
        (JournalProblem, START + timedelta(minutes=10)), (JournalRequest, START + timedelta(minutes=10)),
        (JournalRequest, START + timedelta(minutes=20)),
    ]  # fmt: skip
    assert found.neighbours == []
    assert (found.kept.problems, found.kept.requests, found.kept.ends) == (2, 3, 0)
    assert (found.kept.since, found.kept.until) == (START, START + timedelta(minutes=20))


async def test_several_stretches_leave_out_what_lies_between(journal: Journal) -> None:
    for minutes in (0, 30, 60):
        note(journal, minutes)
    found = await find_activity(journal, [*around(0), *around(60)])
    assert [line.at for line in found.lines] == [START, START + timedelta(minutes=60)]


async def test_the_end_of_a_followed_run_is_found_by_its_last_event(journal: Journal, database: Database) -> None:
    events = EventStore(database)
    await events.append(SCOPE, "ex_1", echo_events("ex_1", final="failed"))
    await events.append(SCOPE, "ex_2", echo_events("ex_2")[:-1])
    ended = echo_events("ex_1", final="failed")[-1].at
    assert ended is not None
    found = await find_activity(journal, [(ended, ended)])
    [end] = found.lines
    assert isinstance(end, RunEnd)
    assert (end.run_id, end.status, end.profile, end.at) == ("ex_1", "failed", "work", ended)
    assert found.kept.ends == 1


async def test_a_run_of_the_list_is_reported_once_and_with_its_reason(journal: Journal, database: Database) -> None:
    await EventStore(database).append(SCOPE, "ex_1", echo_events("ex_1", final="failed"))
    ended = open_run("ex_1", "failed", reason="fallback_exhausted", completed_at=format_iso(START))
    await RecordCache(database).save(SCOPE, "run", [ended, open_run("ex_2", "running")], START)
    found = await find_activity(journal, [(START, START)])
    assert [line.raw["reason"] for line in found.lines if isinstance(line, RunEnd)] == ["fallback_exhausted"]


async def test_words_narrow_what_is_found_wherever_they_stand(journal: Journal) -> None:
    said = problem("rate_limited", instance="0b1f6c1e-8a34-4f0e-9f5d-2d0a9c5c7e11")
    note(journal, 0, said, path="/v1/executions/ex_100%", key="key-9")
    note(journal, 1, problem("not_found"), path="/v1/executions/ex_2")
    for words in ("rate_limited", "RATE_limited ex_100%", "0b1f6c1e-8a34", "0b1f6c1e8a344f0e", "key-9 429"):
        lines = (await find_activity(journal, around(0), words)).lines
        assert {line.at for line in lines} == {START}, words
    assert (await find_activity(journal, around(0), "ex_1__%")).lines == []
    assert (await find_activity(journal, around(0), "rate_limited ex_2")).lines == []


async def test_nothing_found_names_the_nearest_of_each_kind(journal: Journal, database: Database) -> None:
    ended = open_run("ex_1", "completed", completed_at=format_iso(START))
    await RecordCache(database).save(SCOPE, "run", [ended], START)
    for minutes in (-90, -60, 60, 90):
        note(journal, minutes, problem("not_found"))
    note(journal, -61)
    before_all = START - timedelta(days=400)
    found = await find_activity(journal, around(0), "not_found")
    assert [line.at for line in found.neighbours] == [START - timedelta(minutes=60), START + timedelta(minutes=60)]
    found = await find_activity(journal, [(before_all, before_all)])
    assert {type(line) for line in found.neighbours} == {JournalProblem, JournalRequest, RunEnd}
    assert min(line.at for line in found.neighbours) == START - timedelta(minutes=90)


async def test_an_empty_journal_has_neither_lines_nor_neighbours(journal: Journal) -> None:
    found = await find_activity(journal, around(0))
    assert (found.lines, found.neighbours) == ([], [])
    assert (found.kept.requests, found.kept.since, found.kept.until) == (0, None, None)


async def test_of_very_many_requests_the_nearest_are_given(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_ENTRIES", 3)
    for minutes in range(-4, 5):
        note(journal, minutes)
    found = await find_activity(journal, around(0))
    assert [line.at for line in found.lines] == [START + timedelta(minutes=minutes) for minutes in (-1, 0, 1)]


@pytest.mark.parametrize("hostile", CORPUS, ids=lambda hostile: hostile.name)
async def test_any_text_may_be_looked_for(journal: Journal, hostile: Any) -> None:
    note(journal, 0, problem("not_found"))
    await find_activity(journal, around(0), hostile.text)


async def test_edges_of_the_calendar_may_be_looked_at(journal: Journal) -> None:
    note(journal, 0)
    edges = [datetime.min.replace(tzinfo=START.tzinfo), datetime.max.replace(tzinfo=START.tzinfo)]
    assert len((await find_activity(journal, [(edges[0], edges[1])])).lines) == 1


async def test_codes_are_counted_with_their_first_and_last_time(journal: Journal) -> None:
    for minutes, code in ((0, "rate_limited"), (5, "not_found"), (9, "rate_limited")):
        note(journal, minutes, problem(code), path=f"/v1/executions/ex_{minutes}")
    note(journal, 3, problem("rate_limited"), profile="other")
    first, second = await count_problem_codes(journal)
    assert (first.code, first.count, first.profiles, first.paths) == ("rate_limited", 3, 2, 3)
    assert (first.first, first.last) == (START, START + timedelta(minutes=9))
    assert (second.code, second.count) == ("not_found", 1)
