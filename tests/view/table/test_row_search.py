"""A search finds the rows that match, nearest to the cursor first, and typing on searches only what was found."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runwatch.base.generators import run_to_end
from runwatch.records.receipt import Receipt
from runwatch.records.run import Run
from runwatch.view.query.expressions import Query, QueryError
from runwatch.view.query.parser import parse_filter
from runwatch.view.resources.receipts import RECEIPTS
from runwatch.view.resources.registry import resource_named
from runwatch.view.table.row_search import SEARCHED, RowSearch
from runwatch.view.table.rows import RecordRow, build_rows
from tests.support import builders
from tests.support.receipts import echo_receipt
from tests.view.strategies import CONTEXT, json_values, many

RUNS = resource_named("runs")
FILTERS = (
    "fail", "FAIL", "failed", "a", "", '"no "', "status=failed", "status:fail", "status:failed", "cost>0.1", "age<10m",
    "is:live", "has:reason", "!fail", "!failed", "fail | a", "fail a", "a fail is:problem", "/^ex_/", "/^ex_[0-9]/",
    "run:ex", "run:ex_1 fail", "1", "İ", "ß",
)  # fmt: skip


def filters() -> st.SearchStrategy[str]:
    return st.one_of(st.sampled_from(FILTERS), st.text(max_size=6), st.text('aeIı0.1_ |!"', max_size=8))


def odd_runs() -> st.SearchStrategy[list[Run]]:
    """Runs with members of any type."""
    words = st.sampled_from(["failed", "completed", "FAIL a", "straße", "", 5, None, ["a"], {"x": "fail"}, 0.10])
    members = st.fixed_dictionaries(
        {
            "execution_id": st.one_of(st.text(max_size=5), st.sampled_from(["ex_1", "ex_a", 7])),
            "status": words,
            "reason": words,
            "mode": words,
            "spend_usd": words,
            "created_at": st.sampled_from(["2026-11-21T11:59:00Z", "soon", 1]),
        }
    )
    return st.lists(members.map(Run), max_size=5)


def parsed(text: str) -> Query | None:
    try:
        return parse_filter(text, RUNS)
    except QueryError:
        return None


def plainly(rows: list[RecordRow[Any]], query: Query) -> list[str]:
    """What the definition of a filter says, row by row."""
    return [row.key for row in rows if query.matches(row)]


@many
@given(odd_runs(), filters(), st.integers(0, 6))
def test_a_search_finds_what_the_filter_says_of_each_row(found: list[Run], text: str, near: int) -> None:
    query, rows = parsed(text), build_rows(RUNS, found, CONTEXT)
    if query is not None:
        search = RowSearch(rows, query, min(near, len(rows)))
        assert [row.key for row in run_to_end(search.steps())] == plainly(rows, query)
        assert [row.key for row in query.keep(rows)] == plainly(rows, query)


@many
@given(odd_runs(), filters(), filters())
def test_a_filter_that_narrows_another_finds_nothing_that_the_other_does_not(
    found: list[Run], one: str, other: str
) -> None:
    rows = build_rows(RUNS, found, CONTEXT)
    for text in (one, one + other, f"{one} {other}"):
        before, query = parsed(one), parsed(text)
        if before is not None and query is not None and query.narrows(before):
            assert set(plainly(rows, query)) <= set(plainly(rows, before))


@pytest.mark.parametrize(
    ("before", "after", "narrows"),
    [
        ("fa", "fail", True),
        ("FA", "fail", True),
        ("fail", "fa", False),
        ("fail", "fail is:live", True),
        ("fail is:live", "fail", False),
        ("is:live fa", "fail is:live", True),
        ("status:fa", "status:fail", True),
        ("status:fa", "reason:fail", False),
        ("status=fa", "status=fail", False),
        ("!fa", "!fail", False),
        ("!fa", "!fa x", True),
        ("fa | x", "fa | x", True),
        ("fa | x", "fail | x", False),
        ("", "x", True),
        ("x", "", False),
    ],
)
def test_typing_on_narrows_only_where_no_other_row_can_match(before: str, after: str, narrows: bool) -> None:
    assert parse_filter(after, RUNS).narrows(parse_filter(before, RUNS)) is narrows


@pytest.mark.parametrize(
    ("text", "is_timed"),
    [("fail", False), ("is:live /x/ has:age", False), ("age<10m", True), ("fail | !age:1", True), ("age=1", True)],
)
def test_only_a_filter_on_a_field_is_searched_again_as_time_passes(text: str, is_timed: bool) -> None:
    assert parse_filter(text, RUNS).is_timed is is_timed


def test_the_rows_nearest_to_the_cursor_are_found_first() -> None:
    rows = build_rows(RUNS, [builders.run(f"ex_{number:04}") for number in range(10 * SEARCHED)], CONTEXT)
    search = RowSearch(rows, parse_filter("ex_", RUNS), 5 * SEARCHED)
    steps = search.steps()
    for _ in range(4):
        next(steps)
    found = search.found()
    assert found == rows[3 * SEARCHED : 7 * SEARCHED]
    assert search.count == len(found)
    assert run_to_end(steps) == rows


def test_no_step_of_a_search_looks_at_more_rows_than_a_step_may(monkeypatch: pytest.MonkeyPatch) -> None:
    looked = 0
    original = RecordRow.folded

    def counted(row: RecordRow[Any]) -> bytes:
        nonlocal looked
        looked += 1
        return original(row)

    monkeypatch.setattr(RecordRow, "folded", counted)
    rows = build_rows(RECEIPTS, [echo_receipt(f"ex_{number}") for number in range(3 * SEARCHED)], CONTEXT)
    steps = RowSearch(rows, parse_filter("ex_1", RECEIPTS)).steps()
    assert [looked for _ in steps] == [SEARCHED, 2 * SEARCHED, 3 * SEARCHED]


@many
@given(json_values, json_values, st.text(max_size=8))
def test_records_of_odd_types_and_hostile_text_are_searched_as_they_are_shown(
    status: Any, reason: Any, name: str
) -> None:
    raw = {"execution_id": f"ex_{name}\x1b[31m\u202e\ud800", "status": status, "reason": reason}
    for spec, record in ((RUNS, Run(dict(raw))), (RECEIPTS, Receipt(dict(raw)))):
        (row,) = build_rows(spec, [record], CONTEXT)
        assert parse_filter('"[31m"', spec).keep([row]) == [row]
        for said in row.text().split("\n"):
            assert "\x1b" not in said
            if said and len(said) < 100:
                quoted = said.replace("\\", "\\\\").replace('"', '\\"')
                assert parse_filter(f'"{quoted}"', spec).keep([row]) == [row]
