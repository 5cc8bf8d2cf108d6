"""Work on the rows of a long list is done in steps that never take long, and never twice."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from runwatch.base.generators import run_to_end
from runwatch.records.receipt import Receipt
from runwatch.view.resources.receipts import RECEIPTS
from runwatch.view.spec.resource import Column, SortKey
from runwatch.view.table import row_texts
from runwatch.view.table.rows import STEP, RecordRow, RowRenderer, build_rows_with, rebuild_rows, sort_rows
from runwatch.view.text.format import RenderContext
from runwatch.view.text.glyphs import ASCII, UNICODE
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


def test_rows_of_the_same_value_stay_in_their_order_over_the_steps_of_sorting() -> None:
    found = build_rows_with(drawing(), receipts(2 * STEP + 7))
    for descending in (False, True):
        assert run_to_end(sort_rows(RECEIPTS, found, [SortKey("status", descending)])) == found


def test_what_rows_say_alike_is_made_once_whatever_the_time_is(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []
    original = row_texts.column_texts

    def counted(column: Column[Any], subject: Any) -> Iterator[str]:
        made.append(column.id)
        return original(column, subject)

    monkeypatch.setattr(row_texts, "column_texts", counted)
    drawn = drawing()
    rows = build_rows_with(drawn, receipts(3 * row_texts.FIRST_CHECK_TEXTS, created_at="2026-11-21T11:59:00Z"))
    said = [row.shared_text().text for row in rows]
    assert len({id(row.shared_text()) for row in rows[row_texts.FIRST_CHECK_TEXTS :]}) == 1
    count = len(made)
    drawn.context = replace(CONTEXT, now=NOON + timedelta(hours=2))
    assert [row.shared_text().text for row in rows] == said
    assert len(made) == count


def test_a_row_says_the_same_with_other_glyphs_and_in_another_zone() -> None:
    listed = receipts(1)
    said = {
        build_rows_with(RowRenderer(RECEIPTS, replace(CONTEXT, **over)), listed)[0].text()
        for over in ({}, {"glyphs": ASCII}, {"time": "utc"}, {"now": NOON + timedelta(days=400)})
    }
    assert len(said) == 1
