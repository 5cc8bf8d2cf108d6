"""Charts as lines of a detail: a label, a bar, its number, and a link to what the number counts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from runwatch.base.text import cell_width
from runwatch.view.detail.plots import ChartBar, Value, bars_with_numbers, pattern_legend
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
        parts: What the value is the sum of, each drawn in a pattern of its own; empty for one bar.
    """

    label: SafeText
    value: Value
    number: SafeText
    more: str = ""
    target: object = None
    role: Role = Role.PLAIN
    parts: tuple[Value, ...] = ()


def largest_first(plotted: Iterable[ChartRow]) -> list[ChartRow]:
    """Sort lines by descending value, lines without one last."""
    return sorted(plotted, key=lambda one: (one.value is None, -(one.value or 0)))


def bar_section(
    title: str,
    plotted: Sequence[ChartRow],
    room_of: WidthOf,
    context: RenderContext,
    *,
    largest: Value = None,
    series: Sequence[str] = (),
) -> list[DetailSection]:
    """Return a section of bars; an empty list if there is nothing to draw.

    Args:
        series: Names of the parts of each bar, for a last line that says which pattern is which.
    """
    if not plotted:
        return []
    room = room_of([row.label for row in plotted]) - _MARK
    numbers = max(cell_width(row.number) for row in plotted)
    words = [_row_text(row, numbers) for row in plotted]
    widest = max(map(cell_width, words))
    if room - widest < _WORTH:
        words, widest = [fit(row.number, numbers, "right") for row in plotted], numbers
    # Numbers are right-aligned; the text after them is left-aligned.
    bars = [ChartBar(row.value, fit(text, widest), row.parts) for row, text in zip(plotted, words, strict=True)]
    drawn = bars_with_numbers(bars, room, context.glyphs, largest=largest)
    lines = tuple(
        # Pad lines that are links, so their marks are aligned.
        DetailLine(
            row.label, text if row.target is not None else line(text.rstrip(" "), None), row.role, target=row.target
        )
        for row, text in zip(plotted, drawn, strict=True)
    )
    if series and any(row.parts for row in plotted):
        lines += (DetailLine(line(""), pattern_legend(series, context.glyphs), Role.QUIET),)
    return [DetailSection(line(title), lines)]


def _row_text(one: ChartRow, numbers: int) -> SafeText:
    number = fit(one.number, numbers, "right")
    return line(f"{number}  {one.more}" if one.more else number)
