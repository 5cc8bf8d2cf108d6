"""Plots as lines of a detail: a label, a bar, its number, and a way to what the number counts. Pure."""

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
"""The cells that values have beside such labels."""

_MARK: Final = 4
"""Cells behind a value that say that it leads somewhere."""

_WORTH: Final = 12
"""Cells of bar that are worth more than the words behind its number."""


@dataclass(frozen=True, slots=True)
class ChartRow:
    """One line of a plot.

    Attributes:
        label: What it is about; cleaned.
        value: How long its bar is; ``None`` for none.
        number: The value in words.
        more: What is said behind it.
        target: What it leads to.
        role: Its colour.
    """

    label: SafeText
    value: Value
    number: SafeText
    more: str = ""
    target: object = None
    role: Role = Role.PLAIN


def largest_first(plotted: Iterable[ChartRow]) -> list[ChartRow]:
    """Lines in the order of their values, those without one last."""
    return sorted(plotted, key=lambda one: (one.value is None, -(one.value or 0)))


def bar_section(
    title: str, plotted: Sequence[ChartRow], room_of: WidthOf, context: RenderContext, *, largest: Value = None
) -> list[DetailSection]:
    """A section of bars; none where there is nothing to plot.

    Args:
        title: Its heading.
        plotted: Its lines in their order.
        room_of: The cells that there are.
        context: What it is drawn with.
        largest: What a full bar stands for; the largest of the values where it is not given.
    """
    if not plotted:
        return []
    room = room_of([one.label for one in plotted]) - _MARK
    numbers = max(cell_width(one.number) for one in plotted)
    words = [_words(one, numbers) for one in plotted]
    widest = max(map(cell_width, words))
    if room - widest < _WORTH:
        words, widest = [fit(one.number, numbers, "right") for one in plotted], numbers
    # Numbers stand below each other at their right ends, and what is said behind them at its left.
    bars = [ChartBar(one.value, fit(text, widest)) for one, text in zip(plotted, words, strict=True)]
    drawn = bars_with_numbers(bars, room, context.glyphs, largest=largest)
    lines = (
        # Where lines lead somewhere, the marks that say so stand below each other.
        DetailLine(
            one.label, text if one.target is not None else line(text.rstrip(" "), None), one.role, target=one.target
        )
        for one, text in zip(plotted, drawn, strict=True)
    )
    return [DetailSection(line(title), tuple(lines))]


def column_section(
    title: str, days: Sequence[tuple[str, Value]], rows: int, room_of: WidthOf, context: RenderContext
) -> list[DetailSection]:
    """A section with a column for each day, and the ends of the time below it; none where no day is known.

    Args:
        title: Its heading.
        days: Days such as ``2026-11-20`` in their order, each with its value; a gap where that is ``None``.
        rows: How many rows the columns are high.
        room_of: The cells that there are.
        context: What it is drawn with.
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
    """The first and the last day below the ends of a plot, without the year; of a narrow one only the last."""
    left, right = line(days[0][0][5:], 10), line(days[-1][0][5:], 10)
    room = cells - cell_width(left) - cell_width(right)
    return line(f"{left}{' ' * room}{right}", None) if room > 0 and len(days) > 1 else right
