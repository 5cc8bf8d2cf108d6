"""Plots of a terminal: bars with labels and numbers, sparklines, and columns by day. Pure.

Every function answers drawn text of at most the cells it was given, in the glyphs of the set it was given. What is not
known is a gap and never a nought; a nought shows as one; anything above nought, however small beside the largest, shows
at least the smallest mark. A negative value has no length, and its number stands beside it with its sign.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Context, Decimal
from typing import Final

from runwatch.base.text import cell_width
from runwatch.view.text.glyphs import ASCII, UNICODE, Glyphs
from runwatch.view.text.safe_text import SafeText, fit, line

Value = Decimal | int | None
"""What is plotted; ``None`` where nothing is known."""

MIN_BAR_CELLS: Final = 4
"""Cells below which a bar says nothing; there its number stands alone."""

_GAP: Final = 2
_WIDEST_COLUMN: Final = 3
_SHARES: Final = Context(prec=12, Emin=-999_999, Emax=999_999)
"""Amounts have up to a thousand digits; a plot needs a dozen of them."""


@dataclass(frozen=True, slots=True)
class _Steps:
    """The glyphs of growing fill.

    Attributes:
        along: Parts of a cell of a horizontal bar, from the least to the full one.
        up: Parts of a cell of a column, from nought to the full one.
    """

    along: str
    up: str


_STEPS: Final = {UNICODE: _Steps("▏▎▍▌▋▊▉█", "▁▂▃▄▅▆▇█"), ASCII: _Steps("#", "_.:-=+*#")}


@dataclass(frozen=True, slots=True)
class ChartBar:
    """One line of a chart.

    Attributes:
        value: How long it is.
        shown: The number beside it, as its reader wants it.
    """

    value: Value
    shown: SafeText


def draw_bar(value: Value, largest: Value, cells: int, glyphs: Glyphs = UNICODE) -> SafeText:
    """A horizontal bar in exactly ``cells`` cells, full where the value is the largest one."""
    steps = _steps(glyphs).along
    filled = _part(value, largest, cells * len(steps))
    whole, rest = divmod(filled, len(steps))
    return fit(line(steps[-1] * whole + (steps[rest - 1] if rest else ""), None), max(0, cells))


def draw_bars(
    values: Sequence[Value], cells: int, glyphs: Glyphs = UNICODE, *, largest: Value = None
) -> list[SafeText]:
    """A bar for each value in exactly ``cells`` cells.

    Args:
        values: What they show.
        cells: How wide they are.
        glyphs: The glyphs.
        largest: What a full bar stands for; the largest of the values where it is not given.
    """
    top = _largest(values) if largest is None else largest
    return [draw_bar(value, top, cells, glyphs) for value in values]


def bars_with_numbers(
    shown: Sequence[ChartBar], cells: int, glyphs: Glyphs = UNICODE, *, largest: Value = None
) -> list[SafeText]:
    """A bar and its number for each line of a chart, in at most ``cells`` cells; labels are the caller's.

    Numbers stand below each other at their right ends. Where there is no room for both, the bars go first.

    Args:
        shown: The lines.
        cells: The cells there are.
        glyphs: The glyphs.
        largest: What a full bar stands for; the largest of the values where it is not given.
    """
    numbers = min(max((cell_width(one.shown) for one in shown), default=0), max(0, cells))
    room = cells - numbers - _GAP
    values = [one.value for one in shown]
    drawn = draw_bars(values, room, glyphs, largest=largest) if room >= MIN_BAR_CELLS else [line("")] * len(shown)
    gap = " " * _GAP if room >= MIN_BAR_CELLS else ""
    return [
        line(f"{left}{gap}{fit(one.shown, numbers, 'right', glyphs.ellipsis)}", None)
        for left, one in zip(drawn, shown, strict=True)
    ]


def draw_sparkline(values: Sequence[Value], cells: int, glyphs: Glyphs = UNICODE, *, largest: Value = None) -> SafeText:
    """A sparkline of the last ``cells`` values, a cell each; a gap where nothing is known.

    Args:
        values: In their order in time.
        cells: The most cells it takes.
        glyphs: The glyphs.
        largest: What a full cell stands for; the largest of the values that are shown where it is not given.
    """
    last = list(values[len(values) - cells :] if 0 < cells < len(values) else values if cells > 0 else ())
    top = _largest(last) if largest is None else largest
    steps = _steps(glyphs).up
    return line("".join(" " if one is None else steps[_part(one, top, len(steps) - 1)] for one in last), None)


def draw_column_chart(values: Sequence[Value], rows: int, cells: int, glyphs: Glyphs = UNICODE) -> list[SafeText]:
    """A column for each of the last values that have room, ``rows`` rows high, the top row first.

    A column is up to three cells wide with a free cell behind it where there is room for that. The lowest row shows a
    nought as a line on the ground.
    """
    if rows < 1 or cells < 1 or not values:
        return []
    width, gap = column_width(len(values), cells)
    last = list(values[-((cells + gap) // (width + gap)) :])
    steps = _steps(glyphs).up
    heights = [None if one is None else _part(one, _largest(last), rows * len(steps)) for one in last]
    drawn = []
    for row in range(rows - 1, -1, -1):
        glyph_row = (_column_glyph(height, row, steps) for height in heights)
        drawn.append(line((" " * gap).join(glyph * width for glyph in glyph_row), None))
    return drawn


def column_width(count: int, cells: int) -> tuple[int, int]:
    """The cells of one of ``count`` columns, and the free cells behind it, in a plot of ``cells`` cells."""
    for width, gap in ((_WIDEST_COLUMN, 1), (2, 1), (1, 1)):
        if count * (width + gap) - gap <= cells:
            return width, gap
    return 1, 0


def _column_glyph(height: int | None, row: int, steps: str) -> str:
    """The glyph of a column in a row counted from the ground; a nought lies on the ground."""
    if height is None:
        return " "
    above = height - row * len(steps)
    if above <= 0:
        return steps[0] if row == 0 else " "
    return steps[min(above, len(steps)) - 1]


def _part(value: Value, largest: Value, steps: int) -> int:
    """How many of ``steps`` a value takes: none for nought and what is not known, at least one above it."""
    if value is None or largest is None or value <= 0 or largest <= 0 or steps <= 0:
        return 0
    if value >= largest:
        return steps
    # Rounded first: amounts of a thousand digits are divided as quickly as others then.
    share = _SHARES.divide(_SHARES.plus(Decimal(value)), _SHARES.plus(Decimal(largest)))
    return max(1, min(steps, int((share * steps).to_integral_value(ROUND_FLOOR))))


def _largest(values: Sequence[Value]) -> Value:
    return max((value for value in values if value is not None), default=None)


def _steps(glyphs: Glyphs) -> _Steps:
    return _STEPS.get(glyphs, _STEPS[ASCII])
