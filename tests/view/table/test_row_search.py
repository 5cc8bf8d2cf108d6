"""A search finds the rows that match, nearest to the cursor first, and typing on searches only what was found."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runwatch.base.generators import run_to_end
from runwatch.base.text import fold_text
from runwatch.records import packing
from runwatch.records.receipt import Receipt
from runwatch.records.record import RecordPacker
from runwatch.records.run import Run
from runwatch.view.query.expressions import Query, QueryError
from runwatch.view.query.parser import parse_filter
from runwatch.view.resources.receipts import RECEIPTS
from runwatch.view.resources.registry import resource_named
from runwatch.view.runs.run_facts import RunFacts
from runwatch.view.spec.resource import ResourceSpec
from runwatch.view.table.profile_column import RecordProfiles
from runwatch.view.table.row_search import SEARCH_STEP_ROWS, RowSearch
from runwatch.view.table.row_texts import FIRST_CHECK_TEXTS, SharedText, column_texts
from runwatch.view.table.rows import RecordRow, build_rows
from runwatch.view.text.safe_text import line
from tests.support import builders
from tests.support.receipts import baseline_receipt, echo_receipt, live_receipt
from tests.view.strategies import CONTEXT, garbage, hostile, json_values, many, numbers

RUNS = resource_named("runs")
FILTERS = (
    "fail", "FAIL", "failed", "a", "", '"no "', "status=failed", "status:fail", "status:failed", "cost>0.1", "age<10m",
    "is:live", "has:reason", "!fail", "!failed", "fail | a", "fail a", "a fail is:problem", "/^ex_/", "/^ex_[0-9]/",
    "run:ex", "run:ex_1 fail", "~fl", "~fal", "~f a", "1", "İ", "ß",
)  # fmt: skip


def filters() -> st.SearchStrategy[str]:
    return st.one_of(st.sampled_from(FILTERS), st.text(max_size=6), st.text('aeIı0.1_ |!"', max_size=8))


def odd_runs() -> st.SearchStrategy[list[Run]]:
    """Runs with members of any type."""
    words = st.sampled_from(["failed", "completed", "FAIL a", "straße", "", 5, None, ["a"], {"x": "fail"}, 0.10])
    members = st.fixed_dictionaries(
        {
            "execution_id": st.one_of(st.text(max_size=5), st.sampled_from(["ex_1", "ex_a", 7])), "status": words,
            "reason": words, "mode": words, "spend_usd": words,
            "created_at": st.sampled_from(["2026-11-21T11:59:00Z", "soon", 1]),
        },
    )  # fmt: skip
    return st.lists(members.map(Run), max_size=5)


def parsed(text: str) -> Query | None:
    try:
        return parse_filter(text, RUNS)
    except QueryError:
        return None


def said_by(row: RecordRow[Any], spec: ResourceSpec[Any]) -> list[str]:
    """What a row says by the definition, with nothing that was made for another row."""
    (alone,) = build_rows(spec, [row.item], CONTEXT)
    texts: list[str] = [line(alone.id, None)]
    for column in spec.all_columns:
        texts += column_texts(column, alone.subject)
    return texts


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


def odd_receipts() -> st.SearchStrategy[list[Receipt]]:
    """Many receipts, of which several say the same in some columns."""
    whole = [live_receipt(), baseline_receipt(), echo_receipt()]
    words = st.sampled_from(["failed", "completed", "straße", None, 5])
    made = st.builds(
        lambda receipt, name, status, reason, totals, score: Receipt(
            {
                **receipt.raw, "execution_id": name, "status": status, "reason": reason,
                "totals": {**receipt.raw["totals"], **totals},
                "slices": [{**part, "recorded_check": score} for part in receipt.raw["slices"]],
            }
        ),
        st.sampled_from(whole),
        st.one_of(st.text("ex_0", min_size=3, max_size=30), hostile, st.just("漢字" * 9)),
        words,
        words,
        st.fixed_dictionaries({}, optional={"runtime_s": numbers, "usd": numbers, "unknown_calls": st.integers(0, 2)}),
        st.fixed_dictionaries(
            {"state": st.just("customer_verdict"), "is_correct": st.booleans(), "quality_score": numbers}
        ),
    )  # fmt: skip
    return st.lists(st.one_of(made, garbage(Receipt).map(Receipt)), min_size=1, max_size=6)


def packed(records: list[Receipt]) -> list[Receipt]:
    """The same records packed, with few values kept for all."""
    made = [Receipt(dict(record.raw)) for record in records]
    with patch.multiple(packing, MAX_SHARED_VALUES=2, MAX_SHARED_OBJECTS=1):
        RecordPacker(Receipt).pack(made)
    return made


@many
@given(odd_receipts(), st.data())
def test_whatever_part_of_a_text_is_sought_the_rows_that_say_it_are_found(
    found: list[Receipt], data: st.DataObject
) -> None:
    listed: list[tuple[ResourceSpec[Any], list[Any]]] = [
        (RECEIPTS, found),
        (RUNS, [RunFacts(Run(dict(record.raw)), receipt=record) for record in found]),
        (RECEIPTS, packed(found)),
    ]
    for spec, records in listed:
        rows = build_rows(spec, records, CONTEXT)
        texts = {row.key: [text.casefold() for text in said_by(row, spec)] for row in rows}
        text = data.draw(st.sampled_from([text for said in texts.values() for text in said]))
        start = data.draw(st.integers(0, len(text)))
        word = text[start : start + data.draw(st.integers(1, 12))]
        assert [row.key for row in rows if row.contains(fold_text(word))] == [
            key for key, said in texts.items() if any(word in each for each in said)
        ]
        for row in rows:
            assert sorted(set(row.text().split("\n"))) == sorted(set(said_by(row, spec)))


@pytest.mark.parametrize("is_packed", [False, True])
def test_rows_that_differ_in_what_they_say_share_only_what_they_have_in_common(is_packed: bool) -> None:
    listed = [
        baseline_receipt(f"ex_{number}", reason="needle" if number % 100 == 50 else "thread", totals={
            "usd": number / 7, "platform_fee_usd": 0.05, "runtime_s": number + 0.5,
        })
        for number in range(600)
    ]  # fmt: skip
    if is_packed:
        RecordPacker(Receipt).pack(listed)
    rows = build_rows(RECEIPTS, listed, CONTEXT)
    shared_texts = [row.shared_text() for row in rows]
    assert len(set(shared_texts[FIRST_CHECK_TEXTS:])) == 2
    texts = {row.key: said_by(row, RECEIPTS) for row in rows}
    for word in ("needle", "thread", "output seen", "ex_19", "1.5", "min", "0.05", "baseline", "t"):
        said = [key for key, found in texts.items() if any(word in text for text in found)]
        assert [row.key for row in parse_filter(f'"{word}"', RECEIPTS).keep(rows)] == said


def test_receipts_that_differ_in_their_scores_share_the_rest_of_what_they_say() -> None:
    check = {"state": "customer_verdict", "verifier_id": "vrf_1"}
    listed = [
        Receipt({**raw, "slices": [{**raw["slices"][0], "recorded_check": check | verdict}]})
        for number in range(400)
        for raw in [baseline_receipt(f"ex_{number}").raw]
        for verdict in [{"is_correct": number % 3 == 0, "quality_score": number / 1_000}]
    ]
    rows = build_rows(RECEIPTS, listed, CONTEXT)
    shared_texts = set([row.shared_text() for row in rows][FIRST_CHECK_TEXTS:])
    assert len(shared_texts) == 2
    assert all(
        text.unshared.find_columns(fold_text(word)) == () for text in shared_texts for word in ("needle", "accepted")
    )
    for word in ("accepted", "rejected", "reject", "0.399", "✗ 0.1", "1"):
        said = [row.key for row in rows if any(word in text for text in said_by(row, RECEIPTS))]
        assert [row.key for row in parse_filter(f'"{word}"', RECEIPTS).keep(rows)] == said


def test_a_profile_is_each_row_s_own() -> None:
    profiles = RecordProfiles()
    listed = [echo_receipt(f"ex_{number}") for number in range(4)]
    for number, record in enumerate(listed):
        profiles.add(record, f"profile-{number % 2}")
    spec = profiles.add_column(RECEIPTS)
    found = parse_filter("profile-1", spec).keep(build_rows(spec, listed, CONTEXT))
    assert [row.key for row in found] == ["ex_1", "ex_3"]


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
    rows = build_rows(RUNS, [builders.run(f"ex_{number:04}") for number in range(10 * SEARCH_STEP_ROWS)], CONTEXT)
    search = RowSearch(rows, parse_filter("ex_", RUNS), 5 * SEARCH_STEP_ROWS)
    steps = search.steps()
    for _ in range(4):
        next(steps)
    found = search.found()
    assert found == rows[3 * SEARCH_STEP_ROWS : 7 * SEARCH_STEP_ROWS]
    assert search.count == len(found)
    assert run_to_end(steps) == rows


@pytest.mark.parametrize("at", [0, 4 * SEARCH_STEP_ROWS + 4, 10 * SEARCH_STEP_ROWS - 4])
def test_rows_that_are_certain_to_match_count_as_found_from_the_beginning(at: int) -> None:
    rows = build_rows(RUNS, [builders.run(f"ex_{number:04}") for number in range(10 * SEARCH_STEP_ROWS)], CONTEXT)
    query, known = parse_filter("!ex_0003", RUNS), rows[::4]
    search = RowSearch(rows, query, at, known)
    assert search.found() == known
    for _ in search.steps():
        found = search.found()
        assert found == [row for row in rows if row in set(found)]
        assert set(known) <= set(found)
        assert search.count == len(found)
    assert search.found() == query.keep(rows)


def test_no_step_of_a_search_looks_at_more_rows_than_a_step_may(monkeypatch: pytest.MonkeyPatch) -> None:
    looked = 0
    original = RecordRow.shared_text

    def counted(row: RecordRow[Any]) -> SharedText[Any]:
        nonlocal looked
        looked += 1
        return original(row)

    monkeypatch.setattr(RecordRow, "shared_text", counted)
    rows = build_rows(RECEIPTS, [echo_receipt(f"ex_{number}") for number in range(3 * SEARCH_STEP_ROWS)], CONTEXT)
    steps = RowSearch(rows, parse_filter("ex_1", RECEIPTS)).steps()
    assert [looked for _ in steps] == [SEARCH_STEP_ROWS, 2 * SEARCH_STEP_ROWS, 3 * SEARCH_STEP_ROWS]


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


def test_a_fuzzy_word_ranks_rows_and_equal_ones_stay_in_order() -> None:
    runs = [
        builders.run("ex_1", "failed", reason="any_other_reason"),
        builders.run("ex_2", "failed", reason="no_route"),
        builders.run("ex_3", "completed"),
        builders.run("ex_4", "failed", reason="no_route"),
    ]
    rows = build_rows(RUNS, runs, CONTEXT)
    search = RowSearch(rows, parse_filter("~nor", RUNS), near=2)
    assert [row.id for row in run_to_end(search.steps())] == ["ex_1", "ex_2", "ex_4"]
    assert [row.id for row in search.ranked()] == ["ex_2", "ex_4", "ex_1"]
