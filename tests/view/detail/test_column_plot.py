"""A plot by day: the chosen day is described, all days can be reached, and parts differ by pattern."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runwatch.base.text import cell_width
from runwatch.view.detail.column_plot import (
    ColumnPlot,
    PlotDay,
    PlotGrouping,
    PlotPlace,
    group_by_series,
)
from runwatch.view.text.glyphs import ASCII, UNICODE
from runwatch.view.text.safe_text import line


def days(count: int) -> tuple[PlotDay, ...]:
    return tuple(
        PlotDay(f"2026-{8 + number // 28:02}-{number % 28 + 1:02}", Decimal(number), line(f"{number}.0  1 run"))
        for number in range(count)
    )


PARTS = PlotGrouping(
    "part",
    (line("usage"), line("fee")),
    tuple((Decimal(number) - number // 2, Decimal(number // 2)) for number in range(9)),
)


def drawn(plot: ColumnPlot, place: PlotPlace, cells: int) -> list[str]:
    return [text for text, _ in plot.draw(place, cells, UNICODE)]


def test_the_last_day_is_chosen_first_and_told_with_the_ends_the_most_and_the_least() -> None:
    plot = ColumnPlot(days(9), (PARTS,))
    *columns, told, axis, values, legend = drawn(plot, PlotPlace(grouping=1), 60)
    assert columns[-1].startswith("▁▁▁ ███ ███ ")
    assert columns[0].endswith("▒▒▒")
    assert told == f"{' ' * 32}▲ 2026-08-09  8.0  1 run"
    assert drawn(plot, PlotPlace(), 36)[5] == f"{'2026-08-09  8.0  1 run ▲':>33}"
    assert (axis.split(), values) == (["08-01", "08-09"], "most 8.0000 on 08-09, least 0.0000 on 08-01")
    assert legend == "by part: █ usage 4.0000   ▒ fee 4.0000"


def test_a_divided_column_is_as_high_as_an_undivided_one_and_a_part_below_half_a_row_has_none() -> None:
    sizes = [(40, 20, 10, 10), (8, 4, 3, 0), (1, 12, 0, 6), (1, 1, 1, 1)]
    parts = tuple(tuple(map(Decimal, own)) for own in sizes)
    grouping = PlotGrouping("model", tuple(map(line, "abcd")), parts)
    plot = ColumnPlot(
        tuple(PlotDay(f"2026-08-0{day}", sum(own), line("")) for day, own in enumerate(parts)), (grouping,)
    )
    rows = drawn(plot, PlotPlace(grouping=1), 4)[:8]
    assert ["".join(column).strip() for column in zip(*rows, strict=True)] == ["▓░▒▒████", "▄█", "▇▒", "▃"]


def test_the_choice_moves_from_end_to_end_and_no_further() -> None:
    plot, place = ColumnPlot(days(9), (PARTS,)), PlotPlace()
    for _ in range(20):
        place = plot.moved(place, -1)
    assert plot.chosen(place) == 0
    assert drawn(plot, place, 60)[5] == "▲ 2026-08-01  0.0  1 run"
    assert drawn(plot, place, 60)[-1] == "not grouped; possible by part"
    assert plot.regrouped(plot.regrouped(place)) == place


@pytest.mark.parametrize(
    ("back", "ends"), [(0, ("…09-15", "10-10")), (30, ("…08-19", "09-14…")), (65, ("08-01", "08-24…"))]
)
def test_days_that_do_not_fit_are_reached_by_pages(back: int, ends: tuple[str, str]) -> None:
    plot = ColumnPlot(days(66))
    axis = drawn(plot, plot.moved(PlotPlace(), -back), 24)[6]
    assert (axis.split()[0], axis.split()[-1]) == ends


def test_small_series_are_taken_together() -> None:
    named = [
        (line(name), [Decimal(size), Decimal(1)]) for name, size in (("a", 9), ("b", 1), ("c", 7), ("d", 2), ("e", 8))
    ]
    (grouping,) = group_by_series("model", named, lambda day, _: day == 0)
    assert [str(name) for name in grouping.series] == ["a", "e", "c", "others"]
    assert grouping.parts == ((Decimal(9), Decimal(8), Decimal(7), Decimal(3)), ())


def test_the_legend_has_the_amounts_of_the_chosen_day_in_one_order_and_those_of_the_others_that_fit() -> None:
    sizes = {"a": (0, 90), "b": (2, 80), "c": (1, 70), "d": (9, 1), "e": (8, 1)}
    named = [(line(name), [Decimal(size) for size in own]) for name, own in sizes.items()]
    groupings = tuple(group_by_series("model", named, lambda *_: True))
    for cells, legend in (
        (90, "█ a   ▒ b 2.0000   ░ c 1.0000   ▓ others 17.0000 (d 9.0000, e 8.0000)"),
        # The largest of the others has room on every day: on the second day it takes a row more.
        (77, "█ a   ▒ b 2.0000   ░ c 1.0000\n▓ others 17.0000 (d 9.0000, e 8.0000)"),
        (70, "█ a   ▒ b 2.0000   ░ c 1.0000\n▓ others 17.0000 (d 9.0000, e 8.0000)"),
        (54, "█ a   ▒ b 2.0000   ░ c 1.0000\n▓ others 17.0000 (d 9.0000, e 8.0000)"),
        (18, "█ a\n▒ b 2.0000\n░ c 1.0000\n▓ others 17.0000"),
        (15, "█ a\n▒ b   ░ c\n▓ others"),
        (30, "█ a   ▒ b 2.0000\n░ c 1.0000   ▓ others 17.0000\n"),
    ):
        rows = drawn(ColumnPlot(days(2), groupings), PlotPlace("2026-08-01", 1), cells)
        assert "\n".join(rows).endswith(f"\nby model: {legend}")


def test_the_legend_has_as_many_rows_on_every_day() -> None:
    names = ["sample/cedar-deep", "river/river-mini", "ember"]
    (grouping,) = group_by_series("model", [(line(n), [Decimal(2), Decimal(0)]) for n in names], lambda *_: True)
    plot = ColumnPlot(days(2), (grouping,))
    legends = [drawn(plot, PlotPlace(f"2026-08-0{day}", 1), 48)[-2:] for day in (1, 2)]
    assert legends == [
        ["by model: █ sample/cedar-deep 2.0000", "▒ river/river-mini 2.0000   ░ ember 2.0000"],
        ["by model: █ sample/cedar-deep", "▒ river/river-mini   ░ ember"],
    ]


def test_a_day_between_two_halves_has_its_value_before_the_mark_and_its_counts_behind_it() -> None:
    assert drawn(ColumnPlot(days(9)), PlotPlace("2026-08-05"), 34)[5] == " 08-05  4.0 ▲ 1 run"


def test_what_there_is_in_all_days_is_on_as_many_rows_as_it_needs() -> None:
    rows = drawn(ColumnPlot(days(9)), PlotPlace(), 36)[7:]
    assert rows == ["most 8.0000 on 08-09,", "least 0.0000 on 08-01"]


def test_a_day_that_is_unknown_is_no_least_and_days_are_counted_that_are_not_known_whole() -> None:
    lost = PlotDay("2026-08-10", None, line("unknown  1 run"), is_partial=True)
    part = PlotDay("2026-08-11", Decimal(0), line("at least 0  1 run"), is_partial=True)
    large = PlotDay("2026-08-12", Decimal(40), line("at least 40  1 run"), is_partial=True)
    gap = PlotDay("2026-08-13", None, line("no receipt"))
    words = "1 day unknown, 2 in part"
    axis = drawn(ColumnPlot((*days(9)[1:], lost, part, large, gap)), PlotPlace(), 120)[7]
    assert axis == f"most ≥ 40.0000 on 08-12, least 1.0000 on 08-02, {words}"
    assert drawn(ColumnPlot((lost, gap)), PlotPlace(), 120)[6:] == ["08-13", "1 day unknown"]


def test_no_part_of_a_day_is_larger_than_the_day() -> None:
    """The day's total is "at least", so it is never rounded up, and neither is its part."""
    day = PlotDay("2026-08-01", Decimal("0.01046"), line("at least 0.0104  2 runs"), is_partial=True)
    parts = PlotGrouping("model", (line("a"), line("b")), ((Decimal("0.01046"), Decimal(0)),))
    assert drawn(ColumnPlot((day,), (parts,)), PlotPlace(grouping=1), 60)[-1] == "by model: █ a ≥ 0.0104   ▒ b"


@given(st.integers(1, 90), st.integers(0, 89), st.integers(0, 2), st.integers(8, 120))
def test_rows_fit_and_the_chosen_day_is_in_sight(count: int, chosen: int, grouping: int, cells: int) -> None:
    whole = days(count)
    parts = PlotGrouping("part", (line("usage"),), tuple((Decimal(number),) for number in range(count)))
    plot = ColumnPlot(whole, (parts,))
    place = PlotPlace(whole[chosen % count].name, grouping)
    seen = plot.in_sight(place, cells)
    assert seen.first <= chosen % count < seen.first + seen.shown
    assert all(cell_width(text) <= cells for text, _ in plot.draw(place, cells, ASCII))
