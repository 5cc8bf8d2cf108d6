"""Charts as lines of a detail: a label, a bar, its number, and a link to what the number counts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from runwatch.base.text import cell_width
from runwatch.view.detail.plots import ChartBar, Value, bars_with_numbers, draw_column_chart
from runwatch.view.detail.sections import DetailLine, DetailSection
from runwatch.view.text.format import RenderContext
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import SafeText, fit, line

WidthOf = Callable[[Sequence[SafeText]], int]
"""Returns the width left for values next to these labels, in cells."""

_MARK: Final = 4
"""Cells after a value that mark it as a link."""

_WORTH: Final = 12
"""Minimum bar width, in cells. Below it the text after the numbers is dropped."""


@dataclass(frozen=True, slots=True)
class ChartRow:
    """One line of a chart.

    Attributes:
        value: Length of the bar; ``None`` for no bar.
    """

    label: SafeText
    value: Value
    number: SafeText
    more: str = ""
    target: object = None
    role: Role = Role.PLAIN


def largest_first(plotted: Iterable[ChartRow]) -> list[ChartRow]:
    """Sort lines by descending value, lines without one last."""
    return sorted(plotted, key=lambda one: (one.value is None, -(one.value or 0)))


def bar_section(
    title: str, plotted: Sequence[ChartRow], room_of: WidthOf, context: RenderContext, *, largest: Value = None
) -> list[DetailSection]:
    """Return a section of bars; an empty list if there is nothing to draw."""
    if not plotted:
        return []
    room = room_of([one.label for one in plotted]) - _MARK
    numbers = max(cell_width(one.number) for one in plotted)
    words = [_words(one, numbers) for one in plotted]
    widest = max(map(cell_width, words))
    if room - widest < _WORTH:
        words, widest = [fit(one.number, numbers, "right") for one in plotted], numbers
    # Numbers are right-aligned; the text after them is left-aligned.
    bars = [ChartBar(one.value, fit(text, widest)) for one, text in zip(plotted, words, strict=True)]
    drawn = bars_with_numbers(bars, room, context.glyphs, largest=largest)
    lines = (
        # Pad lines that are links, so their marks are aligned.
        DetailLine(
            one.label, text if one.target is not None else line(text.rstrip(" "), None), one.role, target=one.target
        )
        for one, text in zip(plotted, drawn, strict=True)
    )
    return [DetailSection(line(title), tuple(lines))]


def column_section(
    title: str, days: Sequence[tuple[str, Value]], rows: int, room_of: WidthOf, context: RenderContext
) -> list[DetailSection]:
    """Return a section with a column for each day and the first and last day below; an empty list if there are no days.

    Args:
        days: Days such as ``2026-11-20`` in order, each with its value; ``None`` is a gap.
        rows: Height of the columns, in rows.
    """
    drawn = draw_column_chart([value for _, value in days], rows, room_of(()), context.glyphs)
    if not drawn:
        return []
    cells = cell_width(drawn[0])
    lines = [DetailLine(line(""), row, Role.LIVE) for row in drawn]
    return [DetailSection(line(title), (*lines, DetailLine(line(""), _axis(days, cells), Role.QUIET)))]


def _words(one: ChartRow, numbers: int) -> SafeText:
    number = fit(one.number, numbers, "right")
    return line(f"{number}  {one.more}" if one.more else number)


def _axis(days: Sequence[tuple[str, Value]], cells: int) -> SafeText:
    """Format the first and the last day, without the year, below the ends of a chart; only the last if it is narrow."""
    left, right = line(days[0][0][5:], 10), line(days[-1][0][5:], 10)
    room = cells - cell_width(left) - cell_width(right)
    return line(f"{left}{' ' * room}{right}", None) if room > 0 and len(days) > 1 else right
