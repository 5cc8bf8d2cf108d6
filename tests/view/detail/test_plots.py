"""Plots fit their cells whatever the values are, and never tell an unknown from a nought wrongly."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runwatch.base.text import cell_width
from runwatch.view.detail.plots import (
    column_width,
    draw_bar,
    draw_column_chart,
    draw_sparkline,
    draw_stack,
)
from runwatch.view.text.glyphs import ASCII, UNICODE, Glyphs
from runwatch.view.text.safe_text import SafeText
from tests.view.strategies import many

values = st.one_of(
    st.none(), st.integers(-(10**40), 10**40), st.decimals(allow_nan=False, allow_infinity=False, places=4),
    st.sampled_from([Decimal(0), Decimal("1E+999"), Decimal("1E-999"), Decimal("-0.0"), 0]),
)  # fmt: skip
glyph_sets = st.sampled_from([UNICODE, ASCII])
cells = st.integers(-2, 60)


@many
@given(values, values, cells, glyph_sets)
def test_a_bar_takes_exactly_its_cells(
    value: Decimal | int | None, largest: Decimal | int | None, room: int, glyphs: Glyphs
) -> None:
    drawn = draw_bar(value, largest, room, glyphs)
    assert isinstance(drawn, SafeText)
    assert cell_width(drawn) == max(0, room)
    assert glyphs is UNICODE or drawn.isascii()


@many
@given(st.lists(values, max_size=4), values, cells, glyph_sets)
def test_stacks_take_exactly_their_cells(
    parts: list[Decimal | int | None], largest: Decimal | int | None, room: int, glyphs: Glyphs
) -> None:
    drawn = draw_stack(parts, largest, room, glyphs)
    assert cell_width(drawn) == max(0, room)
    assert len(set(drawn) - {" "}) <= sum(part is not None and part > 0 for part in parts)


@pytest.mark.parametrize(
    ("parts", "shown"),
    [
        ((6, 4), "██████▒▒▒▒"),
        ((3, 2), "███▒▒     "),
        ((99, 1), "█" * 10),
        ((93, 7), "█████████▒"),
        ((1, 1, 8), "█▒░░░░░░░░"),
        ((0, 5), "▒▒▒▒▒     "),
        ((None, 0), " " * 10),
    ],
)
def test_a_stack_shows_each_part_in_its_pattern(parts: tuple[int | None, ...], shown: str) -> None:
    largest = max(10, sum(part or 0 for part in parts))
    assert draw_stack(parts, largest, 10) == shown


@many
@given(st.lists(values, max_size=90), cells, st.integers(-1, 6), glyph_sets)
def test_sparks_and_columns_are_never_wider_or_higher_than_asked(
    given_values: list[Decimal | int | None], room: int, rows: int, glyphs: Glyphs
) -> None:
    assert cell_width(draw_sparkline(given_values, room, glyphs)) == min(len(given_values), max(0, room))
    drawn = draw_column_chart(given_values, rows, room, glyphs)
    assert len(drawn) == (max(0, rows) if given_values and room > 0 else 0)
    assert all(cell_width(row) <= room for row in drawn)
    assert len({cell_width(row) for row in drawn}) <= 1


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (Decimal(4), "████"), (Decimal(2), "██  "), (Decimal("0.5"), "▌   "), (Decimal("1e-900"), "▏   "), (0, "    "),
        (None, "    "), (Decimal(-4), "    "), (5, "████"),
    ],
)  # fmt: skip
def test_a_bar_is_as_long_as_its_part_of_the_largest(value: Decimal | int | None, shown: str) -> None:
    assert draw_bar(value, Decimal(4), 4) == shown


def test_a_spark_tells_nought_from_a_little_and_from_nothing_known() -> None:
    assert draw_sparkline([0, Decimal("0.0001"), None, 7, 14], 10) == "▁▂ ▄█"
    assert draw_sparkline([0, Decimal("0.0001"), None, 7, 14], 10, ASCII) == "_. -#"
    assert draw_sparkline([0, 1, 2], 2) == "▄█"


def test_a_spark_can_be_drawn_against_a_known_whole() -> None:
    assert draw_sparkline([Decimal("0.5"), 1], 4, largest=1) == "▄█"


def test_columns_stand_on_the_ground() -> None:
    assert draw_column_chart([0, 8, 16, None], 2, 7) == ["    █  ", "▁ █ █  "]


@pytest.mark.parametrize(
    ("count", "room", "width"), [(7, 30, (3, 1)), (7, 20, (2, 1)), (7, 13, (1, 1)), (9, 5, (1, 0))]
)
def test_columns_are_as_wide_as_their_number_allows(count: int, room: int, width: tuple[int, int]) -> None:
    assert column_width(count, room) == width


def test_of_too_many_columns_the_last_are_shown() -> None:
    assert draw_column_chart([*range(10), 0, 8], 1, 3, ASCII) == ["#_*"]
