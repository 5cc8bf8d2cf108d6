"""Rows: sorted, filtered and compared without losing one."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from itertools import pairwise
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runwatch.base.json import ExactNumber
from runwatch.records import packing
from runwatch.records.receipt import Receipt
from runwatch.records.record import RecordPacker
from runwatch.records.run import Run
from runwatch.store.state.collection import StoredRecord
from runwatch.view.resources.receipts import RECEIPTS
from runwatch.view.resources.registry import resource_named
from runwatch.view.runs.run_facts import RunFacts, SubmittedRequest
from runwatch.view.spec.resource import Column, Field, SortKey
from runwatch.view.table import rows as table
from runwatch.view.text.format import RenderContext
from runwatch.view.text.glyphs import ASCII, Role
from runwatch.view.text.safe_text import SafeText
from tests.support import builders
from tests.support.receipts import live_receipt
from tests.support.rows import cells_of, roles_of
from tests.support.sorting import sort_rows
from tests.view.strategies import CONTEXT, NOW, garbage, json_values, many, numbers, words

RUNS = resource_named("runs")


def ids(rows: list[table.RecordRow[Any]]) -> list[str]:
    return [row.id for row in rows]


def cells(item: Any, context: RenderContext = CONTEXT) -> dict[str, SafeText]:
    (row,) = table.build_rows(RUNS, [item], context)
    return cells_of(row)


def test_a_live_run_shows_a_gauge_its_last_event_and_its_age() -> None:
    facts = RunFacts(
        builders.run("ex_1", created_at="2026-11-21T11:59:18Z", spend_usd=0.014),
        SubmittedRequest(builders.full_request_body()),
        last_event=builders.verification_event(4, at="2026-11-21T11:59:58Z"),
    )
    shown = cells(facts)
    assert shown["status"] == "● running"
    assert (shown["took"], shown["started"]) == ("0:42", "42s ago")
    assert shown["cost"] == "0.0140"
    assert shown["used"] == "▕█░░░░▏ 5 %"
    assert shown["last"] == "check 2s ago"
    assert shown["mode"] == "live"
    assert shown["reason"] == "–"


def test_a_test_run_never_shows_a_cost() -> None:
    shown = cells(RunFacts(builders.run(status="completed", mode="echo", spend_usd=0)))
    assert shown["cost"] == "test run"
    (row,) = table.build_rows(RUNS, [builders.run(mode="echo")], CONTEXT)
    assert roles_of(row)["cost"] is Role.TEST


def test_models_and_times_sort_as_they_are_shown_those_of_live_runs_too() -> None:
    def ended(run_id: str, seconds: int, model: str) -> RunFacts:
        at = f"2026-11-21T11:50:{seconds:02}Z"
        run = builders.run(run_id, "completed", created_at="2026-11-21T11:50:00Z", completed_at=at)
        return RunFacts(Run({**run.raw, "current": {"model_key": model}}))

    live = RunFacts(
        Run({**builders.run("live", created_at="2026-11-21T11:59:30Z").raw, "current": {"model_key": "b/mini"}}),
        stored=StoredRecord(builders.run("live"), NOW, 0.0),
    )
    rows = table.build_rows(RUNS, [ended("slow", 50, "a/pro"), live, ended("quick", 2, "c/deep")], CONTEXT)
    assert ids(sort_rows(RUNS, rows, [SortKey("took")])) == ["quick", "live", "slow"]
    assert ids(sort_rows(RUNS, rows, [SortKey("model")])) == ["quick", "live", "slow"]


def test_an_ended_run_shows_what_it_took_and_when_it_ended() -> None:
    facts = RunFacts(
        builders.run("ex_1", "completed", created_at="2026-11-21T11:55:00Z"),
        receipt=builders.live_receipt(completed_at="2026-11-21T11:56:00Z"),
    )
    shown = cells(facts)
    assert (shown["took"], shown["last"], shown["cost"], shown["model"]) == (
        "0:09",
        "4m ago",
        "0.0642",
        "atlas-12b",
    )


def test_what_is_not_known_is_a_question_mark_and_never_a_zero() -> None:
    shown = cells(Run({"execution_id": "ex_1", "status": "failed"}))
    assert [shown[name] for name in ("started", "took", "mode", "cost", "last", "reason")] == ["?"] * 6


def test_a_cost_at_the_cap_says_limit() -> None:
    shown = cells(builders.open_run(spend_usd=0.25))
    assert shown["cost"] == "0.2500 LIMIT"


def test_an_unknown_status_is_live() -> None:
    (row,) = table.build_rows(RUNS, [builders.run(status="hovering")], CONTEXT)
    assert (cells_of(row)["status"], roles_of(row)["status"]) == ("● hovering", Role.LIVE)


def test_rows_with_the_same_id_get_keys_of_their_own() -> None:
    rows = table.build_rows(
        RUNS, [builders.run("a"), builders.run("a"), builders.run("a (2)"), builders.run("a")], CONTEXT
    )
    assert ids(rows) == ["a", "a", "a (2)", "a"]
    assert len({row.key for row in rows}) == 4


@many
@given(st.lists(st.text("ab ()23", max_size=5)))
def test_keys_are_unique_whatever_the_ids_are(names: list[str]) -> None:
    rows = table.build_rows(RUNS, [Run({"execution_id": name}) for name in names], CONTEXT)
    assert len({row.key for row in rows}) == len(names)
    assert ids(rows) == names


def test_the_default_order_is_live_first_then_newest() -> None:
    runs = [
        builders.run("old", created_at="2026-11-20T10:00:00Z"),
        builders.run("done", "completed", created_at="2026-11-21T11:00:00Z"),
        builders.run("new", created_at="2026-11-21T10:00:00Z"),
        builders.run("undated", created_at=None),
    ]
    assert ids(sort_rows(RUNS, table.build_rows(RUNS, runs, CONTEXT))) == ["new", "old", "undated", "done"]


def test_missing_values_come_last_in_either_direction_and_equal_ones_keep_their_order() -> None:
    runs = [builders.run(str(number), spend_usd=cost) for number, cost in enumerate([None, 2, 1, None, 2])]
    rows = table.build_rows(RUNS, runs, CONTEXT)
    assert ids(sort_rows(RUNS, rows, [SortKey("cost")])) == ["2", "1", "4", "0", "3"]
    assert ids(sort_rows(RUNS, rows, [SortKey("cost", descending=True)])) == ["1", "4", "2", "0", "3"]


@pytest.mark.parametrize("descending", [False, True])
def test_numbers_that_no_float_can_hold_are_sorted(descending: bool) -> None:
    values = [10**400 + 1, 1, 10**400, 2.5]
    rows = table.build_rows(
        RUNS, [Run({"execution_id": str(at), "x": value}) for at, value in enumerate(values)], CONTEXT
    )
    found = ids(sort_rows(RUNS, rows, [SortKey("x", descending)]))
    assert found == (["0", "2", "3", "1"] if descending else ["1", "3", "2", "0"])


def test_rows_sort_by_any_member_by_its_dotted_path() -> None:
    runs = [builders.run(str(cap), policy={"budget": {"max_cost_usd": cap}}) for cap in (3, 1, 2)]
    keys = [SortKey("policy.budget.max_cost_usd")]
    assert ids(sort_rows(RUNS, table.build_rows(RUNS, runs, CONTEXT), keys)) == ["1", "2", "3"]


@many
@given(st.lists(json_values, max_size=8), st.booleans())
def test_any_values_can_be_ordered_and_the_order_is_stable(values: list[Any], descending: bool) -> None:
    rows = table.build_rows(
        RUNS, [Run({"execution_id": str(at), "x": value}) for at, value in enumerate(values)], CONTEXT
    )
    ordered = sort_rows(RUNS, rows, [SortKey("x", descending)])
    known = [values[int(row.id)] for row in ordered if values[int(row.id)] is not None]
    keys = [table.make_comparable(value) for value in known]
    assert keys == sorted(keys, reverse=descending)
    assert len(ordered) == len(values)
    assert all(values[int(row.id)] is None for row in ordered[len(known) :])
    for (one, left), (other, right) in pairwise(zip(ordered, keys, strict=False)):
        assert left != right or int(one.id) < int(other.id)


@many
@given(
    st.lists(
        st.one_of(
            garbage(Receipt).map(Receipt),
            st.builds(
                live_receipt, status=words, reason=words, totals=st.fixed_dictionaries({"usd": numbers}),
                slices=st.lists(st.fixed_dictionaries({"cost": st.fixed_dictionaries({"unknown_calls": numbers})})),
            ),
        ),
        max_size=8,
    ),
    st.sampled_from([*RECEIPTS.all_columns, *RECEIPTS.fields]).map(lambda field: field.id), st.booleans(),
    st.integers(1, 3),
)  # fmt: skip
def test_packed_records_are_sorted_as_others_are(
    records: list[Receipt], name: str, descending: bool, limit: int
) -> None:
    packed = [Receipt(dict(record.raw)) for record in records]
    with patch.multiple(packing, MAX_SHARED_VALUES=2, MAX_SHARED_OBJECTS=limit):
        RecordPacker(Receipt).pack(packed)
    by, order = (SortKey(name, descending),), {}
    for made in (records, packed):
        rows = table.build_rows(RECEIPTS, made, CONTEXT)
        order[made is packed] = [row.key for row in sort_rows(RECEIPTS, rows, by)]
    assert order[True] == order[False]


def test_a_row_is_drawn_with_its_own_context() -> None:
    run = builders.run("ex_0123456789abcdefghij", created_at="2026-11-21T10:00:00Z")
    assert cells(run)["started"] == "2h ago"
    assert cells(run, replace(CONTEXT, time="utc"))["started"] == "10:00:00"
    (row,) = table.build_rows(RUNS, [run], CONTEXT)
    assert row.now == NOW


@pytest.mark.parametrize("name", ["status", "policy.data_classes", "nothing"])
def test_a_row_gives_fields_and_dotted_paths(name: str) -> None:
    (row,) = table.build_rows(RUNS, [builders.open_run()], CONTEXT)
    wanted = {"status": "running", "policy.data_classes": ["public", "tenant_internal"], "nothing": None}
    assert row.value(name) == wanted[name]


def test_rows_are_drawn_in_the_context_that_is_put_in_their_hand() -> None:
    run = builders.run("ex_0123456789abcdefghij", created_at="2026-11-21T10:00:00Z")
    drawing = table.RowRenderer(RUNS, CONTEXT)
    (row,) = table.build_rows_with(drawing, [run])
    before, subject = cells_of(row)["started"], row.subject
    drawing.context = replace(CONTEXT, now=NOW + timedelta(hours=3))
    assert (before, cells_of(row)["started"]) == ("2h ago", "5h ago")
    assert row.subject is subject


def test_as_time_goes_by_only_what_tells_the_time_is_drawn_anew() -> None:
    drawn: list[str] = []

    def noting(column: Column[Any]) -> Column[Any]:
        def cell(facts: Any, context: RenderContext) -> Any:
            drawn.append(column.id)
            shown = column.draw(facts, context)
            return column.value(facts) if shown is None else shown

        return replace(column, cell=cell)

    spec = replace(RUNS, columns=tuple(map(noting, RUNS.columns)), fields=())
    drawing = table.RowRenderer(spec, CONTEXT)
    (row,) = table.build_rows_with(drawing, [builders.run("ex_1", "running", created_at="2026-11-21T10:00:00Z")])
    before = cells_of(row)
    assert sorted(drawn) == sorted(column.id for column in spec.columns)

    drawn.clear()
    drawing.context = replace(CONTEXT, now=NOW + timedelta(hours=3))
    after = cells_of(row)
    assert {name for name in after if after[name] != before[name]} <= set(drawn) < set(after)
    assert {"started", "took"} <= set(drawn)
    assert "status" not in drawn

    drawn.clear()
    drawing.context = replace(CONTEXT, now=NOW + timedelta(hours=3))
    assert (cells_of(row), cells_of(row)) == (after, after)
    assert len(drawn) == len(set(drawn))

    drawn.clear()
    drawing.context = replace(CONTEXT, glyphs=ASCII)
    assert set(cells_of(row)) == set(drawn)


# A hundred thousand rows.


def counting_spec(counts: list[int]) -> Any:
    """Runs sorted by a field that counts how often it is asked for, in the last number of a list."""

    def asked(run: RunFacts) -> object:
        counts[-1] += 1
        return run.id

    return replace(RUNS, fields=(*RUNS.fields, Field(id="asked", value=asked)))


@pytest.mark.parametrize("descending", [False, True])
def test_no_step_of_sorting_looks_at_more_rows_than_a_step_may(descending: bool) -> None:
    counts = [0]
    spec = counting_spec(counts)
    made = table.build_rows(spec, [builders.run(f"ex_{number * 7919 % 5003:05}") for number in range(5000)], CONTEXT)
    steps = table.sort_rows(spec, made, (SortKey("asked", descending),))
    while True:
        try:
            next(steps)
        except StopIteration as done:
            found = done.value
            break
        counts.append(0)
    assert max(counts) <= table.STEP
    assert sum(counts) == 5000
    assert ids(found) == sorted(ids(made), reverse=descending)


_ALIKE = ("2.00000000000000000001", "2.00000000000000000002", "1e400", "2e400")
"""Two pairs of amounts of which both have the same float."""


@many
@given(
    st.lists(st.one_of(st.none(), st.integers(0, 5), st.sampled_from(_ALIKE).map(ExactNumber)), max_size=60),
    st.booleans(),
)
def test_sorting_in_steps_gives_the_order_of_sorting_at_once(
    values: list[int | ExactNumber | None], descending: bool
) -> None:
    (step, table.STEP), (run, table._RUN) = (table.STEP, 7), (table._RUN, 5)  # type: ignore[misc]
    try:
        raws = [builders.run(f"ex_{number}", spend_usd=value) for number, value in enumerate(values)]
        found = sort_rows(RUNS, table.build_rows(RUNS, raws, CONTEXT), (SortKey("cost", descending),))
    finally:
        table.STEP, table._RUN = step, run  # type: ignore[misc]
    present = [
        (Decimal(getattr(value, "literal", value)), number) for number, value in enumerate(values) if value is not None
    ]
    present.sort(key=lambda pair: pair[0], reverse=descending)
    missing = [number for number, value in enumerate(values) if value is None]
    assert ids(found) == [f"ex_{number}" for number in [*(number for _, number in present), *missing]]
