"""Plots as lines of a detail."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runwatch.base.text import cell_width, is_clean
from runwatch.view.detail.chart_sections import BarChart, ChartRow, bar_section, bar_sections, largest_first
from runwatch.view.text.glyphs import ASCII, Glyphs
from runwatch.view.text.safe_text import SafeText, line
from tests.view.detail.test_plots import cells, glyph_sets, values
from tests.view.strategies import CONTEXT, many, texts


def plotted(label: str, value: int | None, more: str = "", target: object = None) -> ChartRow:
    number = line("?" if value is None else str(value))
    return ChartRow(line(label), None if value is None else Decimal(value), number, more, target)


def test_lines_have_their_label_bar_number_words_and_target() -> None:
    (section,) = bar_section(
        "Runs", [plotted("mon", 10, "10 runs", "there"), plotted("tue", 5, "5 runs")], lambda _: 34, CONTEXT
    )
    assert [(entry.label, entry.text, entry.target) for entry in section.lines] == [
        ("mon", "█████████████████  10  10 runs", "there"),
        ("tue", "████████▌           5   5 runs", None),
    ]


def test_a_bar_is_worth_more_than_the_words_behind_its_number() -> None:
    (section,) = bar_section("Runs", [plotted("mon", 10, "ten runs in all")], lambda _: 24, CONTEXT)
    assert section.lines[0].text == "████████████████  10"


def test_numbers_are_at_the_end_of_the_line_also_where_there_is_no_room_for_a_bar() -> None:
    rows, context = [plotted("mon", 10), plotted("tue", 5)], replace(CONTEXT, glyphs=ASCII)
    (section,) = bar_section("Runs", rows, lambda _: 14, context)
    assert [entry.text for entry in section.lines] == ["######  10", "###      5"]
    (section,) = bar_section("Runs", rows, lambda _: 9, context)
    assert [entry.text for entry in section.lines] == ["   10", "    5"], "at the end of the line, as those beside bars"


@pytest.mark.parametrize(
    ("room", "words"),
    [(40, ["  10 runs, 2 fees", "   1 run"]), (30, ["  10 runs", "   1 run"]), (26, ["", ""])],
)
def test_numbers_of_charts_are_below_each_other_and_all_have_words_or_none(room: int, words: list[str]) -> None:
    charts = [
        BarChart("Models", [plotted("long", 90, "10 runs, 2 fees")]),
        BarChart("Keys", [plotted("a", 90, "1 run")]),
    ]
    found = [entry.text for section in bar_sections(charts, lambda _: room, CONTEXT) for entry in section.lines]
    assert [text.partition("90")[2] for text in found] == words
    assert len({text.index("90") for text in found}) == 1


@pytest.mark.parametrize(
    ("cells", "label", "bar"),
    [
        (60, "a model with a name of 31 cells", 18),
        (46, "a model with a name of 31 cells", 4),
        # A bar leaves its room to whole names, but not to names that are cut all the same.
        (40, "a model with a name of 31 cells", 0),
        (39, "a model with a name of…", 4),
        (34, "a model with a name of 3…", 0),
    ],
)
def test_names_take_the_room_that_numbers_and_bars_leave(cells: int, label: str, bar: int) -> None:
    def room_of(labels: Sequence[SafeText]) -> int:
        widest = max((len(label) for label in labels if len(label) <= 20), default=0)
        return cells - widest - 3 if widest else cells - 2 if labels else cells

    (section,) = bar_section("Runs", [plotted("a model with a name of 31 cells", 10)], room_of, CONTEXT)
    assert section.lines[0].label == label
    assert section.lines[0].text.count("█") == bar


@many
@given(st.lists(st.builds(ChartRow, texts.map(line), values, texts.map(line)), max_size=8), cells, glyph_sets)
def test_charts_are_never_wider_than_asked(rows: list[ChartRow], room: int, glyphs: Glyphs) -> None:
    for section in bar_section("Runs", rows, lambda _: room, replace(CONTEXT, glyphs=glyphs)):
        assert all(cell_width(entry.text) <= max(0, room) and is_clean(entry.text) for entry in section.lines)


def test_a_stack_says_which_pattern_is_which() -> None:
    rows = [
        ChartRow(line("mon"), Decimal(10), line("10"), parts=(Decimal(8), Decimal(2))),
        ChartRow(line("tue"), Decimal(5), line("5"), parts=(Decimal(4), Decimal(1))),
    ]
    (section,) = bar_section("Spend", rows, lambda _: 18, CONTEXT, series=("usage", "fee"))
    assert [entry.text for entry in section.lines] == ["████████▒▒  10", "████▒        5", "█ usage   ▒ fee"]


def test_nothing_to_plot_is_no_section() -> None:
    assert bar_section("Runs", [], lambda _: 40, CONTEXT) == []


def test_the_largest_comes_first_and_what_is_not_known_last() -> None:
    assert [one.label for one in largest_first([plotted("a", None), plotted("b", 1), plotted("c", 7)])] == [
        "c", "b", "a",
    ]  # fmt: skip
