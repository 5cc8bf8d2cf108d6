"""Work on the rows of a long list is done in steps that never take long, and never twice."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from runwatch.base.generators import run_to_end
from runwatch.records.receipt import Receipt
from runwatch.view.resources.receipts import RECEIPTS
from runwatch.view.spec.resource import Column, SortKey
from runwatch.view.table.rows import DRAWN, STEP, RecordRow, RowRenderer, build_rows_with, filter_and_sort, rebuild_rows
from runwatch.view.text.format import RenderContext
from runwatch.view.text.glyphs import ASCII, UNICODE
from runwatch.view.text.safe_text import SafeText
from tests.support.receipts import echo_receipt
from tests.tui.samples import NOON

CONTEXT = RenderContext(NOON, UNICODE, "relative")


def drawing() -> RowRenderer[Receipt]:
    return RowRenderer(RECEIPTS, CONTEXT)


def receipts(count: int, **over: Any) -> list[Receipt]:
    return [echo_receipt(f"ex_{number}", **over) for number in range(count)]


def steps_of(steps: Generator[None, None, list[RecordRow[Receipt]]]) -> int:
    return sum(1 for _ in steps)


def test_rows_are_made_in_steps() -> None:
    assert steps_of(rebuild_rows(drawing(), receipts(3 * STEP + 1), [])) == 4


def test_rows_about_the_same_objects_are_the_same_rows() -> None:
    listed, drawn = receipts(5), drawing()
    before = build_rows_with(drawn, listed)
    changed = echo_receipt("ex_2", status="failed")
    after = run_to_end(rebuild_rows(drawn, [echo_receipt("ex_new"), *listed[:2], changed, *listed[3:]], before))
    assert [row.key for row in after] == ["ex_new", "ex_0", "ex_1", "ex_2", "ex_3", "ex_4"]
    assert [one is other for one, other in zip(before, after[1:], strict=True)] == [True, True, False, True, True]
    assert after[3].item is changed


def test_records_with_the_same_id_stay_apart_when_they_come_again_in_another_order() -> None:
    first, second = echo_receipt("ex_1"), echo_receipt("ex_1", status="failed")
    drawn = drawing()
    before = build_rows_with(drawn, [first, second])
    after = run_to_end(rebuild_rows(drawn, [second, first], before))
    assert [(row.key, row.item) for row in after] == [("ex_1", second), ("ex_1 (2)", first)]


def test_a_filter_looks_at_few_rows_a_step_because_it_may_draw_all_of_them() -> None:
    looked = 0

    def matches(row: RecordRow[Receipt]) -> bool:
        nonlocal looked
        looked += 1
        return True

    steps = filter_and_sort(RECEIPTS, build_rows_with(drawing(), receipts(3 * DRAWN)), (), matches)
    assert [looked for _ in steps] == [DRAWN, 2 * DRAWN, 3 * DRAWN]


def test_rows_of_the_same_value_stay_in_their_order_over_the_steps_of_sorting() -> None:
    found = build_rows_with(drawing(), receipts(2 * STEP + 7))
    for descending in (False, True):
        assert run_to_end(filter_and_sort(RECEIPTS, found, [SortKey("status", descending)])) == found


def test_the_text_of_a_row_is_made_once_but_for_what_changes_with_time(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = drawing()
    row = build_rows_with(drawn, receipts(1, created_at="2026-11-21T11:59:00Z"))[0]
    first = row.text()
    assert "ex_0" in first
    columns = []
    original = RecordRow._texts

    def counted(row: RecordRow[Any], column: Column[Any], subject: Any) -> list[SafeText]:
        columns.append(column.id)
        return original(row, column, subject)

    monkeypatch.setattr(RecordRow, "_texts", counted)
    drawn.context = replace(CONTEXT, now=NOON + timedelta(hours=2))
    assert row.text() != first
    assert row.text() == row.text()
    assert columns == ["created"]


def test_the_text_of_a_row_is_made_anew_with_other_glyphs() -> None:
    drawn = drawing()
    row = build_rows_with(drawn, receipts(1))[0]
    first = row.text()
    drawn.context = replace(CONTEXT, glyphs=ASCII)
    assert (
        row.text()
        == build_rows_with(RowRenderer(RECEIPTS, replace(CONTEXT, glyphs=ASCII)), receipts(1))[0].text()
        != first
    )
