"""What happened around a moment as one list: in order, told once, and drawn whatever it is made of."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from runwatch.base.clock import format_iso
from runwatch.records.record import Record
from runwatch.records.service_problem import ServiceProblem
from runwatch.store.repositories.activity import ActivityResult, JournalExtent, RunEnd
from runwatch.store.repositories.journal import JournalProblem, JournalRequest
from runwatch.store.service_problems import ServiceProblems, find_instances
from runwatch.view.detail.sections import build_sections
from runwatch.view.problems.activity import (
    ACTIVITY,
    ActivityEntry,
    activity_text,
    describe_search,
    find_nearest_activity,
    fold_reads,
    merge_activity,
    merge_service_problems,
)
from runwatch.view.problems.journal_entries import (
    ProblemEntry,
    RequestEntry,
    attach_problems,
    fold_unreached,
    problem_from_journal,
    request_from_journal,
)
from runwatch.view.problems.time_query import TimeQuery
from runwatch.view.resources.problem_codes import NO_CODE, PROBLEM_CODES, ProblemCode, count_codes
from runwatch.view.resources.requests import REQUESTS
from runwatch.view.table.rows import build_rows
from tests.support.builders import problem
from tests.support.hostile import CORPUS
from tests.support.rows import cells_of
from tests.view.strategies import CONTEXT, CONTEXTS, NOW

INSTANCE = "0b1f6c1e-8a34-4f0e-9f5d-2d0a9c5c7e11"
ASKED = TimeQuery((NOW,))

SAID = problem("not_found", instance=INSTANCE)
MET = JournalProblem(
    at=NOW, profile="work", origin="https://api.example.com", operation="getExecutionsByExecutionId", method="GET",
    path="/v1/executions/ex_1", status=404, code="not_found", title=SAID.title, detail=None, instance=INSTANCE,
    key=None, attempt=1, raw=SAID.raw,
)  # fmt: skip
SENT = JournalRequest(
    at=NOW, profile="work", origin="https://api.example.com", operation="getExecutionsByExecutionId", method="GET",
    path="/v1/executions/ex_1", query="", status=404, elapsed_s=0.1, attempt=1, key=None, sent_bytes=0,
    received_bytes=9, error=None,
)  # fmt: skip
ENDED = RunEnd(NOW - timedelta(seconds=90), "work", "ex_9", "failed", {"reason": "fallback_exhausted"})
KEPT = JournalExtent(1, 1, 1, NOW - timedelta(days=1), NOW)


def test_reads_that_succeeded_are_one_entry_and_nothing_else_is_folded() -> None:
    polled = [replace(SENT, at=NOW + timedelta(seconds=second), status=200) for second in (-20, 5, 9)]
    written = replace(SENT, method="POST", status=200)
    found = fold_reads(merge_activity(ASKED, nearby(ENDED, polled[0], SENT, written, *polled[1:])))
    assert [(each.what, each.request, each.reads) for each in found] == [
        ("run", None, None),
        ("request", "3 reads that succeeded", 3),
        ("request", "GET /v1/executions/ex_1", None),
        ("request", "POST /v1/executions/ex_1", None),
    ]
    assert found[1].raw["until"] == format_iso(polled[2].at)
    one = merge_activity(ASKED, nearby(polled[0]))
    assert fold_reads(one) == one


def test_tries_that_reached_nobody_are_one_entry_until_something_is_reached() -> None:
    def sent(second: int, error: str | None = "refused", **over: Any) -> JournalRequest:
        at = NOW + timedelta(seconds=second)
        return replace(SENT, at=at, **{"error": error, "status": None if error else 200, **over})

    tried = [sent(0), sent(2, "dns"), sent(3, "cancelled"), sent(3, origin="https://other"), sent(4), sent(5, None)]
    tried += [sent(6), sent(8), sent(9, method="POST"), sent(11)]
    around = fold_reads(merge_activity(ASKED, nearby(*tried)))
    one = "/v1/executions/ex_1"
    assert [each.request for each in around] == [
        *("2 reads that succeeded", f"GET {one}", "3 tries that reached nobody", f"POST {one}"),
        "3 tries that reached nobody",
    ]
    later = fold_reads(merge_activity(ASKED, nearby(sent(0), sent(2), sent(63), sent(65))))
    assert [each.request for each in later] == ["2 tries that reached nobody"] * 2
    listed: Any = fold_unreached([request_from_journal(each) for each in reversed(tried[:2])])
    listed = fold_unreached([request_from_journal(tried[4]), *listed])
    [row] = build_rows(REQUESTS, listed, CONTEXT)
    assert cells_of(row)["path"] == f"3 tries since {NOW:%H:%M:%S}"
    assert listed[0].id == fold_unreached([*listed, request_from_journal(sent(4))])[-1].id


def answered(**over: Any) -> ServiceProblem:
    members = {
        "instance": INSTANCE, "at": format_iso(NOW), "code": "not_found", "method": "GET",
        "path": "/v1/executions/ex_1", "principal_id": "key_1", "cause": "it was swept", "problem": dict(SAID.raw),
    }  # fmt: skip
    return ServiceProblem({**members, **over})


def nearby(*lines: Any, near: list[Any] | None = None) -> ActivityResult:
    return ActivityResult(list(lines), KEPT, near or [])


def test_everything_comes_in_the_order_of_time_with_its_distance() -> None:
    found = merge_activity(ASKED, nearby(MET, SENT, ENDED))
    assert [(each.what, float(each.offset_s or 0)) for each in found] == [("run", -90), ("problem", 0), ("request", 0)]
    assert [each.is_trouble for each in found] == [True, True, True]
    assert found[0].reason == "fallback_exhausted"
    assert found[1].raw["kept"] == SAID.raw
    assert len({each.id for each in found}) == 3


def test_what_was_met_here_and_answered_there_is_reported_once_with_its_cause() -> None:
    other = answered(instance="another", at=format_iso(NOW + timedelta(seconds=5)), cause=None)
    found = merge_activity(ASKED, nearby(MET), ServiceProblems((answered(), other)))
    assert [(each.instance, each.found_in, each.cause) for each in found] == [
        (INSTANCE, "this machine, local service", "it was swept"), ("another", "local service", None),
    ]  # fmt: skip


def test_words_hold_for_the_store_of_the_service_too() -> None:
    asked = replace(ASKED, text="SWEPT not_found")
    kept = ServiceProblems((answered(), answered(instance="another", cause="something else")))
    assert [each.instance for each in merge_activity(asked, nearby(), kept)] == [INSTANCE]
    for text in (INSTANCE, INSTANCE.replace("-", ""), "404", "ex_1"):
        assert merge_activity(replace(ASKED, text=text), nearby(), ServiceProblems((answered(),))), text


def test_the_neighbours_of_nothing_come_from_both_places() -> None:
    before = answered(at=format_iso(NOW - timedelta(hours=1)))
    found = find_nearest_activity(ASKED, nearby(near=[ENDED]), ServiceProblems(neighbours=(before,)))
    assert [each.what for each in found] == ["problem", "run"]
    assert activity_text(found[1]) == f"{format_iso(ENDED.at)}  run  failed  ex_9"


def test_what_was_searched_is_said_with_its_reach() -> None:
    said = describe_search(replace(ASKED, text="ex_1"), nearby(), ServiceProblems((), 5, NOW, NOW))
    for words in ("11:55:00 UTC to 2026-11-21 12:05:00 UTC for 'ex_1'", "1 problem, 1 request, 1 end of runs",
                  "from 2026-11-20 12:00:00 UTC", "the local service's store (5 answered"):  # fmt: skip
        assert words in said
    empty = ActivityResult([], JournalExtent(0, 0, 0, None, None), [])
    assert "0 problems, 0 requests, 0 ends of runs)" in describe_search(ASKED, empty, None, "it is not running")
    assert "was not searched: it is not running." in describe_search(ASKED, empty, None, "it is not running")


@pytest.mark.parametrize("context", CONTEXTS)
@pytest.mark.parametrize("line", [MET, SENT, ENDED])
def test_each_is_drawn_in_the_list_and_in_detail(line: Any, context: Any) -> None:
    [found] = merge_activity(ASKED, nearby(line))
    [row] = build_rows(ACTIVITY, [found], context)
    assert row
    assert build_sections(ACTIVITY, found, context)


@pytest.mark.parametrize(("method", "shown"), [("GET", "⊘ cancelled"), ("POST", "✗ cancelled")])
def test_a_read_that_was_given_up_is_no_failure(method: str, shown: str) -> None:
    raw = {"what": "request", "method": method, "path": "/v1/account", "error": "cancelled"}
    [row] = build_rows(ACTIVITY, [ActivityEntry(raw)], CONTEXT)
    assert cells_of(row)["outcome"] == shown
    [row] = build_rows(REQUESTS, [RequestEntry(raw)], CONTEXT)
    assert cells_of(row)["status"] == shown


@pytest.mark.parametrize("hostile", CORPUS, ids=lambda hostile: hostile.name)
def test_hostile_members_are_only_text(hostile: Any) -> None:
    names = ("what", "code", "method", "path", "instance", "run_id", "state", "cause", "title", "key", "found_in")
    it = ActivityEntry(dict.fromkeys(names, hostile.text) | {"time": hostile.text, "offset_s": 1, "kept": hostile.text})
    build_rows(ACTIVITY, [it], CONTEXT)
    for section in build_sections(ACTIVITY, it, CONTEXT):
        for each in section.lines:
            assert not [character for character in each.text if character < " " and character not in "\n\t"]


def test_members_of_the_wrong_type_spoil_nothing() -> None:
    it = ActivityEntry({name: [1] for name in ActivityEntry.MEMBERS})
    assert isinstance(it.id, str)
    build_rows(ACTIVITY, [it], CONTEXT)
    build_sections(ACTIVITY, it, CONTEXT)


def test_times_are_reported_with_the_day_where_that_is_not_today() -> None:
    cells = {}
    for days in (0, 40, 400):
        it = ActivityEntry({"time": format_iso(NOW - timedelta(days=days)), "offset_s": 0})
        column = ACTIVITY.column("time")
        assert column is not None
        drawn = column.draw(it, CONTEXT)
        assert drawn is not None
        cells[days] = drawn.text
    assert cells == {0: "12:00:00Z", 40: "10-12 12:00:00Z", 400: "2025-10-17 12:00:00Z"}


def test_whole_instances_are_found_in_any_text() -> None:
    text = f"Hello,\nit said {INSTANCE.upper()}; and before {INSTANCE.replace('-', '')[:-1]}2. ffffff is none."
    assert find_instances(text) == [INSTANCE, INSTANCE[:-1] + "2"]
    assert find_instances("") == []


def test_causes_of_the_service_go_to_the_problems_that_were_met() -> None:
    entry = problem_from_journal(MET)
    found = merge_service_problems([entry], ServiceProblems((answered(), answered(instance="another"))))
    assert [(each.instance, each.cause) for each in found] == [(INSTANCE, "it was swept"), ("another", "it was swept")]
    assert found[1].problem.instance == INSTANCE
    assert merge_service_problems([entry], None) == [entry]


def test_a_request_knows_the_problem_that_it_met() -> None:
    request = request_from_journal(SENT)
    [found] = attach_problems([request], [problem_from_journal(MET)])
    assert (found.instance, found.code, found.problem_id) == (INSTANCE, "not_found", INSTANCE)
    [other] = attach_problems([RequestEntry({**request.raw, "attempt": 2})], [problem_from_journal(MET)])
    assert (other.instance, other.problem_id) == (None, None)


def test_a_problem_without_an_instance_is_reached_by_its_moment() -> None:
    met = problem_from_journal(replace(MET, instance=None, raw={"title": "cut", "status": 404}))
    [found] = attach_problems([request_from_journal(SENT)], [met])
    assert found.problem_id == met.id


@pytest.mark.parametrize(
    ("path", "run"),
    [
        ("/v1/executions/ex_1", "ex_1"),
        ("/v1/executions/ex_%C3%A4%2F1/events", "ex_ä/1"),
        ("/v1/receipts/ex_1", "ex_1"),
        ("/v1/executions", None),
        ("/v1/executions/", None),
        ("/v1/arms/arm_1", None),
        ("", None),
    ],
)
def test_the_run_of_a_path_is_known(path: str, run: str | None) -> None:
    assert RequestEntry({"path": path}).run_id == run
    assert ProblemEntry({"path": path}).run_id == run


def test_codes_are_counted_and_drawn() -> None:
    entries = [problem_from_journal(MET), problem_from_journal(replace(MET, at=NOW + timedelta(hours=1), path="/v1/x"))]
    entries += [ProblemEntry({"title": "cut"})]
    first, second = count_codes(entries)
    assert (first.code, first.count, first.paths, first.profiles, first.filter) == (
        "not_found", 2, 2, 1, "code=not_found",
    )  # fmt: skip
    assert (first.first, first.last) == (NOW, NOW + timedelta(hours=1))
    assert (second.id, second.filter, second.first) == (NO_CODE, "!has:code", None)
    for it in (first, second, ProblemCode({name: [1] for name in ProblemCode.MEMBERS})):
        build_rows(PROBLEM_CODES, [it], CONTEXT)
        assert build_sections(PROBLEM_CODES, it, CONTEXT)


def test_the_new_records_read_what_they_declare() -> None:
    told = answered()
    assert told.flaws() == ()
    assert (told.id, told.at) == (INSTANCE, datetime(2026, 11, 21, 12, 0, tzinfo=UTC))
    assert all(issubclass(kind, Record) for kind in (ServiceProblem, ActivityEntry, ProblemCode))
