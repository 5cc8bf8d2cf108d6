"""Terminal charts: bars with labels and numbers, sparklines, and columns by day.

Every function returns safe text of at most the given width, in the given glyphs. An unknown value is a gap, never zero;
zero is drawn as zero; anything above zero shows at least the smallest mark, however small, except a part of a divided
value. A negative value has no length; the number beside it shows its sign.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import ROUND_FLOOR, Context, Decimal
from math import ceil
from typing import Final

from runwatch.view.text.glyphs import UNICODE, Glyphs
from runwatch.view.text.safe_text import SafeText, fit, line

Value = Decimal | int | None
"""A value to draw; ``None`` if unknown."""

_WIDEST_COLUMN: Final = 3
_SHARES: Final = Context(prec=12, Emin=-999_999, Emax=999_999)
"""Amounts may have up to a thousand digits; a chart needs a dozen."""

MAX_SERIES: Final = 4
"""Most series that differ by their pattern."""


def pattern_legend(names: Sequence[str], glyphs: Glyphs) -> SafeText:
    """Return what each pattern means: ``█ usage   ▒ fee``."""
    named = zip(glyphs.patterns, names, strict=False)
    return line("   ".join(f"{pattern} {line(name, 24)}" for pattern, name in named), None)


def draw_stack(parts: Sequence[Value], largest: Value, cells: int, glyphs: Glyphs = UNICODE) -> SafeText:
    """Draw parts of a value one after another in exactly ``cells`` cells, each in its pattern.

    All together are as long as a bar of whole cells.
    """
    filled = _part(sum(map(_length, parts), Decimal(0)), largest, cells)
    return fit(draw_parts(parts, filled, glyphs), max(0, cells))


def draw_parts(parts: Sequence[Value], cells: int, glyphs: Glyphs = UNICODE) -> SafeText:
    """Divide ``cells`` cells among parts, each in its pattern; empty if none is above zero.

    Cells left over go to the largest remainders, so a small part may have none.
    """
    known = [_length(part) for part in parts]
    total = sum(known, Decimal(0))
    if cells < 1 or total <= 0:
        return line("")
    shares = [_share(part, total) * cells for part in known]
    sizes = [int(share) for share in shares]
    remainders = sorted(range(len(shares)), key=lambda number: (sizes[number] - shares[number], -known[number]))
    for number in remainders[: max(0, cells - sum(sizes))]:
        sizes[number] += 1
    return line("".join(pattern * size for pattern, size in zip(glyphs.patterns, sizes, strict=False))[:cells], None)


def draw_bar(value: Value, largest: Value, cells: int, glyphs: Glyphs = UNICODE) -> SafeText:
    """Draw a horizontal bar in exactly ``cells`` cells; it is full if the value is the largest."""
    steps = glyphs.bar_steps
    filled = _part(value, largest, cells * len(steps))
    whole, rest = divmod(filled, len(steps))
    return fit(line(steps[-1] * whole + (steps[rest - 1] if rest else ""), None), max(0, cells))


def draw_span(start: float, end: float, cells: int, fill: str, *, mark: str = "") -> SafeText:
    """Draw a stretch of a line, such as a stretch of time, in exactly ``cells`` cells; it fills at least one of them.

    Args:
        start: Where it begins: 0 is the left end of the line, 1 the right end.
        fill: The glyph that fills it. Different ones tell stretches apart without color.
        mark: The glyph of its last cell, such as an open end.
    """
    if cells < 1:
        return line("")
    first = min(max(0, int(start * cells)), cells - 1)
    last = min(max(first, ceil(end * cells) - 1), cells - 1)
    drawn = " " * first + fill * (last - first + 1)
    return fit(line(drawn[:-1] + mark if mark else drawn, None), cells)


def draw_sparkline(values: Sequence[Value], cells: int, glyphs: Glyphs = UNICODE, *, largest: Value = None) -> SafeText:
    """Draw a sparkline of the last ``cells`` values, one cell each; unknown values are gaps.

    A full cell is the largest of the values drawn, unless another value is given for it.
    """
    last = list(values[len(values) - cells :] if 0 < cells < len(values) else values if cells > 0 else ())
    top = largest_value(last) if largest is None else largest
    steps = glyphs.column_steps
    return line("".join(" " if value is None else steps[_part(value, top, len(steps) - 1)] for value in last), None)


def draw_column_chart(
    values: Sequence[Value], rows: int, cells: int, glyphs: Glyphs = UNICODE, *, largest: Value = None
) -> list[SafeText]:
    """Draw a column for each of the last values that fit, ``rows`` rows high, top row first.

    A column is up to three cells wide, with a gap of one cell if there is room. Zero is drawn as a line in the lowest
    row. A full column is the largest of the values drawn, unless another value is given for it.
    """
    if rows < 1 or cells < 1 or not values:
        return []
    width, gap = column_width(len(values), cells)
    last = list(values[-((cells + gap) // (width + gap)) :])
    steps = glyphs.column_steps
    top = largest_value(last) if largest is None else largest
    heights = [None if value is None else _part(value, top, rows * len(steps)) for value in last]
    drawn = []
    for row in range(rows - 1, -1, -1):
        glyph_row = (_column_glyph(height, row, steps) for height in heights)
        drawn.append(line((" " * gap).join(glyph * width for glyph in glyph_row), None))
    return drawn


def column_width(count: int, cells: int) -> tuple[int, int]:
    """Return the width of one of ``count`` columns and the gap after it, in a chart of ``cells`` cells."""
    for width, gap in ((_WIDEST_COLUMN, 1), (2, 1), (1, 1)):
        if count * (width + gap) - gap <= cells:
            return width, gap
    return 1, 0


def _column_glyph(height: int | None, row: int, steps: Sequence[str]) -> str:
    """Return the glyph of a column in a row counted from the bottom; zero is drawn in the lowest row."""
    if height is None:
        return " "
    above = height - row * len(steps)
    if above <= 0:
        return steps[0] if row == 0 else " "
    return steps[min(above, len(steps)) - 1]


def _part(value: Value, largest: Value, steps: int) -> int:
    """Return how many of ``steps`` a value fills: 0 for zero and unknown values, at least 1 above zero."""
    if value is None or largest is None or value <= 0 or largest <= 0 or steps <= 0:
        return 0
    if value >= largest:
        return steps
    return max(1, min(steps, int((_share(value, largest) * steps).to_integral_value(ROUND_FLOOR))))


def _length(value: Value) -> Decimal:
    """Return what is drawn of a value."""
    return Decimal(0) if value is None else max(Decimal(0), Decimal(value))


def _share(value: Decimal | int, total: Decimal | int) -> Decimal:
    # Round first, so amounts of a thousand digits divide as fast as others.
    return _SHARES.divide(_SHARES.plus(Decimal(value)), _SHARES.plus(Decimal(total)))


def largest_value(values: Sequence[Value]) -> Value:
    """Return the largest known value; ``None`` if none is known."""
    return max((value for value in values if value is not None), default=None)
