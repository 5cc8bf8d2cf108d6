"""Columns leave a narrow window in their order, and none is wider than it needs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runwatch.tui.widgets.lists.column_layout import ColumnNeed, ColumnScroll, is_whole, lay_out_columns, scroll_columns
from runwatch.tui.widgets.lists.column_widths import ColumnWidths
from runwatch.view.resources.registry import RESOURCES
from runwatch.view.resources.verifiers import VERIFIERS
from runwatch.view.spec.resource import Column, ResourceSpec
from runwatch.view.text.glyphs import UNICODE
from runwatch.view.text.safe_text import line
from runwatch.view.text.styled_text import StyledText
from tests.tui.samples import column

COLUMNS = (
    column("status", "status", min_cells=8),
    column("run", "run", min_cells=6),
    column("age", "age", hide_order=3, min_cells=4),
    column("cost", "cost", hide_order=1, min_cells=6),
    column("last", "last", hide_order=2, min_cells=5),
)
NATURAL = [11, 9, 5, 14, 10]
NEEDS = [
    ColumnNeed(column.min_cells, column.min_cells, natural) for column, natural in zip(COLUMNS, NATURAL, strict=True)
]


def shown(room: int, **more: object) -> dict[str, int]:
    """The placed columns with their widths."""
    return {placed.column.id: placed.width for placed in lay_out_columns(COLUMNS, NEEDS, room, **more)}  # type: ignore[arg-type]


ALL = [column.id for column in COLUMNS]


def test_everything_is_whole_where_there_is_room() -> None:
    assert shown(100) == {"status": 11, "run": 9, "age": 5, "cost": 14, "last": 10}


@pytest.mark.parametrize(
    ("room", "columns"),
    [
        (53, ["status", "run", "age", "cost", "last"]),
        (52, ["status", "run", "age", "last"]),
        # A cell is for the sign that columns are hidden.
        (39, ["status", "run", "age", "last"]),
        (38, ["status", "run", "age"]),
        (27, ["status", "run"]),
        (16, ["status", "run"]),
    ],
)
def test_columns_leave_in_their_order_when_the_rest_would_be_cut(room: int, columns: list[str]) -> None:
    assert list(shown(room)) == columns


def test_what_is_left_over_goes_first_to_those_that_need_least() -> None:
    assert shown(37, keep=ALL) == {"status": 11, "run": 6, "age": 5, "cost": 6, "last": 5}


def test_heads_are_whole_before_anything_else_is() -> None:
    """The run's cells need more than the head of the last column, and less than both together."""
    needs = [*NEEDS[:4], ColumnNeed(5, 9, 10)]
    placed = lay_out_columns(COLUMNS, needs, 37, keep=ALL)
    assert {part.column.id: part.width for part in placed} == {"status": 8, "run": 6, "age": 4, "cost": 6, "last": 9}


def test_a_head_for_which_there_is_no_room_leaves_it_to_the_cells() -> None:
    needs = [*NEEDS[:4], ColumnNeed(5, 10, 10)]
    placed = lay_out_columns(COLUMNS, needs, 37, keep=ALL)
    assert {part.column.id: part.width for part in placed} == {"status": 11, "run": 6, "age": 5, "cost": 6, "last": 5}


def test_a_time_is_as_wide_as_its_head_before_a_text_has_all_its_room() -> None:
    columns = (column("run", "run"), column("age", "created", never_cut=True), column("by", "by"))
    needs = [ColumnNeed(9, 9, 9), ColumnNeed(4, 7, 7), ColumnNeed(12, 12, 20)]
    assert [placed.width for placed in lay_out_columns(columns, needs, 29)] == [9, 7, 11]


def test_columns_that_never_leave_stay_in_a_window_that_is_too_narrow() -> None:
    assert shown(10) == {"status": 4, "run": 4}
    assert shown(12) == {"status": 5, "run": 5}


def test_an_extra_column_waits_until_the_others_are_whole() -> None:
    columns = (*COLUMNS[:2], column("model", "model", is_extra=True, hide_order=1, min_cells=5))
    needs = [*NEEDS[:2], ColumnNeed(5, 5, 9)]

    def ids(room: int) -> list[str]:
        return [placed.column.id for placed in lay_out_columns(columns, needs, room)]

    # Status, run and the third are whole in 11, 9 and 9 cells; there are 2 gaps.
    assert ids(32) == ["status", "run"]
    assert ids(33) == ["status", "run", "model"]


def test_a_reason_is_whole_before_an_id_and_a_name_is_legible_before_both() -> None:
    columns = (
        column("run", "run", elides_middle=True, whole_first=True),
        column("model", "model"),
        column("why", "why", whole_first=True),
    )
    needs = [ColumnNeed(9, 9, 29, short=9), ColumnNeed(5, 5, 8), ColumnNeed(5, 5, 20)]

    def widths(room: int) -> list[int]:
        return [placed.width for placed in lay_out_columns(columns, needs, room)]

    assert widths(61) == [29, 8, 20]
    # Columns are one cell apart before an id is cut.
    assert widths(59) == [29, 8, 20]
    assert widths(58) == [9, 8, 20]
    assert widths(38) == [9, 7, 20]
    assert widths(31) == [9, 5, 15]
    # A long reason is cut before an id, and cuts no model.
    needs[2] = ColumnNeed(5, 5, 39)
    assert widths(77) == [29, 8, 36]
    assert widths(69) == [29, 8, 30]
    assert widths(68) == [9, 8, 39]
    assert widths(52) == [9, 8, 31]


class _OrdinaryRow:
    """A row with a long name, a reason and ids."""

    def __init__(self, columns: Sequence[Column[Any]]) -> None:
        self._columns = columns

    def cell(self, column: Column[Any]) -> StyledText:
        return StyledText(line("x" * self.cells(column) if not column.is_id else f"ex_{'0' * 26}"))

    def cells(self, column: Column[Any]) -> int:
        """The width of a column's text."""
        if column.is_id:
            return 29
        if column.id == "status" or is_whole(column):
            return max(9, column.min_cells)
        if column.whole_first:
            return 34 if self._columns.index(column) < 2 else 29
        return 23 if column.keeps_difference or column.elides_middle else 14


@pytest.mark.parametrize("spec", RESOURCES, ids=lambda spec: spec.name)
def test_a_wider_window_cuts_no_text_that_is_whole_in_a_narrower_one(spec: ResourceSpec[Any]) -> None:
    row, whole = _OrdinaryRow(spec.columns), set[str]()
    for cells in range(75, 196):
        widths = ColumnWidths(spec.columns)
        widths.measure([row], {0}, 20, UNICODE, assumed={}, only_shown=False)
        widths.lay_out(cells, 1, lambda column: line(column.title), "…")
        before, placed = whole, widths.scroll.placed
        whole = {one.column.id for one in placed if one.width >= row.cells(one.column) and not one.column.is_extra}
        assert before <= whole, (cells, before - whole)


def test_an_id_that_was_whole_stays_so_while_the_others_have_their_least_width() -> None:
    columns = (column("status", "status"), column("run", "run", elides_middle=True), column("why", "why"))
    needs = [ColumnNeed(11, 11, 11), ColumnNeed(8, 8, 29, short=8), ColumnNeed(10, 10, 22)]

    def widths(room: int) -> list[int]:
        return [placed.width for placed in lay_out_columns(columns, needs, room, held={"run": 29})]

    assert widths(62) == [11, 29, 20]
    assert widths(52) == [11, 29, 10]
    assert widths(51) == [11, 8, 22]


@pytest.mark.parametrize("room", range(60, 130, 3))
def test_a_layout_whose_ids_are_held_is_the_one_that_made_them_whole(room: int) -> None:
    columns = [
        column("status", "status", min_cells=8),
        column("run", "run", is_id=True),
        column("why", "why", whole_first=True),
        column("model", "model", keeps_difference=True),
    ]
    needs = [ColumnNeed(11, 11, 11), ColumnNeed(8, 8, 29, short=8), ColumnNeed(10, 10, 39), ColumnNeed(4, 5, 17)]
    first = lay_out_columns(columns, needs, room)
    keep = {placed.column.id for placed in first}
    held = {"run": 29} if any(placed.column.id == "run" and placed.width == 29 for placed in first) else {}
    is_close = first[0].gap == 1
    assert lay_out_columns(columns, needs, room, keep=keep, held=held, is_close=is_close) == first
    assert {placed.gap for placed in lay_out_columns(columns, needs, 200, is_close=True)} == {1}


def test_wide_columns_are_whole_and_leave_room_for_the_sign_that_more_follow() -> None:
    # All are whole in 11, 9, 5, 14 and 10 cells with 4 gaps.
    assert shown(57, wide=True) == dict(zip(ALL, NATURAL, strict=True))
    assert shown(56, wide=True) == dict(zip(ALL[:4], NATURAL[:4], strict=True))
    assert shown(40, wide=True) == dict(zip(ALL[:3], NATURAL[:3], strict=True))


def test_a_text_beside_the_first_two_columns_is_cut_rather_than_left_out_in_a_wide_table() -> None:
    columns = [column("status", "status"), column("run", "run"), column("why", "why"), column("model", "model")]
    needs = [ColumnNeed(8, 8, 8), ColumnNeed(8, 8, 30), ColumnNeed(4, 4, 39), ColumnNeed(4, 4, 16)]
    placed = lay_out_columns(columns, needs, 74, wide=True)
    assert {one.column.id: one.width for one in placed} == {"status": 8, "run": 30, "why": 31}


def test_columns_are_one_cell_apart_where_that_makes_an_id_whole() -> None:
    columns = (column("code", "code"), column("id", "id", elides_middle=True, shows_id=True), column("at", "at"))
    needs = [ColumnNeed(5, 5, 5), ColumnNeed(9, 9, 36, short=9), ColumnNeed(4, 4, 4)]

    def widths(room: int) -> list[int]:
        return [placed.width for placed in lay_out_columns(columns, needs, room)]

    assert widths(49) == [5, 36, 4]
    assert widths(47) == [5, 36, 4]
    # One that cannot be whole takes no more room than its short form.
    assert widths(46) == [5, 9, 4]


def test_columns_that_are_kept_stay_when_a_cell_grows_and_texts_give_the_room() -> None:
    needs = [*NEEDS[:3], ColumnNeed(12, 12, 14), *NEEDS[4:]]
    assert "cost" not in [placed.column.id for placed in lay_out_columns(COLUMNS, needs, 38)]
    kept = lay_out_columns(COLUMNS, needs, 38, keep={column.id for column in COLUMNS})
    assert [placed.column.id for placed in kept] == [column.id for column in COLUMNS]
    assert kept[-1].start + kept[-1].width <= 38


def test_a_reason_that_lacks_little_is_whole_before_a_name_that_lacks_more_and_both_before_an_id() -> None:
    columns = (
        column("name", "name", whole_first=True),
        column("id", "id", elides_middle=True),
        column("why", "why", whole_first=True),
    )
    needs = [ColumnNeed(5, 5, 40), ColumnNeed(8, 8, 20, short=8), ColumnNeed(5, 5, 30)]
    assert [placed.width for placed in lay_out_columns(columns, needs, 24 + 8 + 24 + 2)] == [24, 8, 24]
    assert [placed.width for placed in lay_out_columns(columns, needs, 38 + 8 + 30 + 2)] == [38, 8, 30]
    assert [placed.width for placed in lay_out_columns(columns, needs, 40 + 20 + 30 + 4)] == [40, 20, 30]


def test_a_number_that_is_kept_and_does_not_fit_is_left_out_rather_than_cut() -> None:
    columns = (*COLUMNS[:2], column("cost", "cost", align="right"), column("took", "took", never_cut=True))
    needs = [*NEEDS[:2], ColumnNeed(20, 20, 20), ColumnNeed(4, 4, 4)]
    kept = lay_out_columns(columns, needs, 22, keep={column.id for column in columns})
    assert [placed.column.id for placed in kept] == ["status", "run", "took"]


def test_a_column_is_wider_than_its_cells_only_where_the_others_are_whole() -> None:
    columns = (column("name", "name"), column("why", "why"))
    needs = [ColumnNeed(8, 8, 8, 20), ColumnNeed(4, 4, 15, 10)]

    def widths(room: int) -> list[int]:
        return [placed.width for placed in lay_out_columns(columns, needs, room)]

    assert widths(21) == [8, 12]
    assert widths(30) == [13, 15]
    assert widths(50) == [20, 15]


def test_a_narrow_pane_shows_few_columns_rather_than_ellipses() -> None:
    columns = tuple(column(name, name) for name in ("status", "run", "why", "model"))
    needs = [ColumnNeed(10, 10, 10)] * 4

    def widths(room: int) -> list[int]:
        return [placed.width for placed in lay_out_columns(columns, needs, room)]

    assert widths(39) == [9, 9, 9, 9]
    assert widths(38) == [10, 10, 10]
    assert widths(22) == [10, 10]
    assert widths(4) == [1, 1]


def scrolled(room: int, steps: int, *, wide: bool = False) -> ColumnScroll:
    before = lay_out_columns(COLUMNS, NEEDS, room, wide=wide)
    return scroll_columns(COLUMNS, NEEDS, room, before, steps, wide=wide)


def test_each_step_brings_one_hidden_column_whole_and_hides_only_as_many_as_that_takes() -> None:
    def states(room: int, *, wide: bool = False) -> list[tuple[dict[str, int], bool, bool]]:
        found = [scrolled(room, steps, wide=wide) for steps in range(9)]
        ends = next(steps for steps, one in enumerate(found) if not one.is_right)
        assert {one.steps for one in found[ends:]} == {ends}
        return [
            ({it.column.id: it.width for it in one.placed}, one.after is COLUMNS[1], one.is_right)
            for one in found[: ends + 1]
        ]

    assert states(53) == [({"status": 11, "run": 9, "age": 5, "cost": 14, "last": 10}, False, False)]
    assert states(40) == [
        ({"status": 11, "run": 9, "age": 5, "last": 10}, False, True),
        ({"status": 11, "run": 9, "cost": 14}, True, True),
        ({"status": 11, "run": 9, "last": 10}, True, False),
    ]
    assert states(40, wide=True) == [
        ({"status": 11, "run": 9, "age": 5}, False, True),
        ({"status": 11, "run": 9, "cost": 14}, True, True),
        ({"status": 11, "run": 9, "last": 10}, True, False),
    ]
    # A column that is wider than the room beside the first two is cut to it.
    assert states(30)[1] == ({"status": 11, "run": 9, "cost": 7}, True, True)


def test_a_name_that_is_cut_takes_the_room_that_a_step_leaves() -> None:
    columns = tuple(column(name, name, hide_order=order) for name, order in (("status", 0), ("name", 0), ("id", 2)))
    needs = [ColumnNeed(8, 8, 8), ColumnNeed(8, 8, 30), ColumnNeed(8, 8, 20)]
    before = lay_out_columns(columns, needs, 50, keep={"status", "name"}, held={"name": 12})
    after = scroll_columns(columns, needs, 50, before, 1)
    assert [(it.column.id, it.width) for it in after.placed] == [("status", 8), ("name", 17), ("id", 20)]


def test_a_step_in_a_wide_table_fills_the_room_that_a_hidden_column_leaves() -> None:
    columns = tuple(column(name, name) for name in ("status", "run", "why", "cost", "took", "model"))
    needs = [ColumnNeed(width, width, width) for width in (8, 8, 20, 6, 4, 30)]
    before = lay_out_columns(columns, needs, 44, wide=True)
    assert [it.column.id for it in before] == ["status", "run", "why"]
    after = scroll_columns(columns, needs, 44, before, 1, wide=True)
    assert [it.column.id for it in after.placed] == ["status", "run", "cost", "took"]
    assert after.is_right


@given(
    st.lists(
        st.tuples(st.integers(0, 4), st.integers(1, 12), st.integers(0, 20), st.integers(0, 40)), min_size=1, max_size=8
    ),
    st.integers(1, 120),
    st.booleans(),
    st.integers(0, 9),
)
def test_columns_never_overlap_nor_leave_the_window(
    facts: list[tuple[int, int, int, int]], room: int, wide: bool, steps: int
) -> None:
    columns = [
        column(str(n), str(n), hide_order=leaves, min_cells=least) for n, (leaves, least, _, _) in enumerate(facts)
    ]
    needs = [ColumnNeed(least, least + head, least + head + rest) for _, least, head, rest in facts]
    placed = lay_out_columns(columns, needs, room, wide=wide)
    placed = scroll_columns(columns, needs, room, placed, steps, wide=wide).placed
    position = 0
    for part in placed:
        assert part.start == position
        assert 0 < part.width <= needs[int(part.column.id)].whole
        position += part.width + part.gap
    assert not placed or position - placed[-1].gap <= room


def test_the_name_of_a_check_is_whole_before_its_data_classes_are_there() -> None:
    cells = {"name": 31, "reason": 29, "verifier": 30, "url": 48, "classes": 12}
    columns = VERIFIERS.columns
    needs = [ColumnNeed(min(it.min_cells, 9), 9, cells.get(it.id, 9)) for it in columns]
    placed = {part.column.id: part.width for part in lay_out_columns(columns, needs, 104)}
    assert placed["name"] == 31
    assert "classes" not in placed


def test_a_name_is_not_cut_beside_wide_gaps() -> None:
    columns = (column("status", "status"), column("name", "name", whole_first=True), column("at", "at", never_cut=True))
    needs = [ColumnNeed(8, 8, 8), ColumnNeed(5, 5, 40), ColumnNeed(4, 4, 4)]
    assert [(placed.width, placed.gap) for placed in lay_out_columns(columns, needs, 48)] == [(8, 1), (34, 1), (4, 1)]
    assert [(placed.width, placed.gap) for placed in lay_out_columns(columns, needs, 56)] == [(8, 2), (40, 2), (4, 2)]
