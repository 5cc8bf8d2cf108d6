"""Plots as lines of a detail."""

from __future__ import annotations

from decimal import Decimal

from runwatch.view.detail.chart_sections import ChartRow, bar_section, column_section, largest_first
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import line
from tests.view.strategies import CONTEXT


def plotted(label: str, value: int | None, more: str = "", target: object = None) -> ChartRow:
    number = line("?" if value is None else str(value))
    return ChartRow(line(label), None if value is None else Decimal(value), number, more, target)


def test_lines_have_their_label_bar_number_words_and_target() -> None:
    (section,) = bar_section(
        "Runs", [plotted("mon", 10, "10 runs", "there"), plotted("tue", 5, "5 runs")], lambda _: 34, CONTEXT
    )
    assert [(entry.label, entry.text, entry.target) for entry in section.lines] == [
        ("mon", "█████████████████  10  10 runs", "there"),
        ("tue", "████████▌           5  5 runs", None),
    ]


def test_a_bar_is_worth_more_than_the_words_behind_its_number() -> None:
    (section,) = bar_section("Runs", [plotted("mon", 10, "ten runs in all")], lambda _: 24, CONTEXT)
    assert section.lines[0].text == "████████████████  10"


def test_a_stack_says_which_pattern_is_which() -> None:
    rows = [
        ChartRow(line("mon"), Decimal(10), line("10"), parts=(Decimal(8), Decimal(2))),
        ChartRow(line("tue"), Decimal(5), line("5"), parts=(Decimal(4), Decimal(1))),
    ]
    (section,) = bar_section("Spend", rows, lambda _: 18, CONTEXT, series=("usage", "fee"))
    assert [entry.text for entry in section.lines] == ["████████▒▒  10", "████▒        5", "█ usage   ▒ fee"]


def test_nothing_to_plot_is_no_section() -> None:
    assert bar_section("Runs", [], lambda _: 40, CONTEXT) == []
    assert column_section("Runs", [], 3, lambda _: 40, CONTEXT) == []
    assert column_section("Runs", [("2026-11-20", 1)], 3, lambda _: 0, CONTEXT) == []


def test_the_largest_comes_first_and_what_is_not_known_last() -> None:
    assert [one.label for one in largest_first([plotted("a", None), plotted("b", 1), plotted("c", 7)])] == [
        "c", "b", "a",
    ]  # fmt: skip


def test_columns_have_the_ends_of_their_time_below_them() -> None:
    days = [(f"2026-11-{day:02}", Decimal(day)) for day in range(1, 9)]
    (section,) = column_section("Days", days, 2, lambda _: 40, CONTEXT)
    assert [entry.role for entry in section.lines] == [Role.LIVE, Role.LIVE, Role.QUIET]
    assert section.lines[-1].text == "11-01                     11-08"
    (wide,) = column_section("Days", [*days, ("2026-11-09", None)] * 4, 2, lambda _: 70, CONTEXT)
    assert "  most 8.0000 on 11-08  " in wide.lines[-1].text
    (narrow,) = column_section("Days", days, 2, lambda _: 8, CONTEXT)
    assert narrow.lines[-1].text == "11-08"
