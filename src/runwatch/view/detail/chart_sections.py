"""Charts as lines of a detail: a label, a bar, its number, and a link to what the number counts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from runwatch.base.text import cell_width
from runwatch.view.detail.plots import Value, draw_bar, draw_stack, largest_value, pattern_legend
from runwatch.view.detail.sections import DetailLine, DetailSection
from runwatch.view.text.format import RenderContext
from runwatch.view.text.glyphs import Glyphs, Role
from runwatch.view.text.safe_text import SafeText, best_cut, elide_middle, fit, line, truncate

WidthOf = Callable[[Sequence[SafeText]], int]
"""Returns the width left for values next to these labels, in cells."""

_MARK: Final = 4
"""Cells after a value that mark it as a link."""

_WORTH: Final = 12
"""Minimum bar width, in cells. Below it the text after the numbers is dropped."""

MIN_BAR_CELLS: Final = 4
"""Minimum width of a bar. Below it the number is shown alone."""

_GAP: Final = 2

_LABEL_GAP: Final = 3
"""Cells between a label of a detail and its value."""


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


def fit_labels(
    labels: Sequence[SafeText], value_cells: int, room_of: WidthOf, glyphs: Glyphs
) -> tuple[list[SafeText], int]:
    """Cut labels that leave values no room, where they still differ, so that bars begin below each other.

    Labels longer than those of other details take the room that values leave.

    Args:
        value_cells: Width of the widest value, with the sign of its link.

    Returns:
        The labels, and the cells for a value beside them, which are less than ``value_cells`` in a narrow window.
    """
    room = room_of(())
    widest = max(map(cell_width, labels), default=0)
    # A value below its label is two cells in.
    is_beside = (cells for cells in range(widest, 0, -1) if room_of([line("x" * cells, None)]) < room - 2)
    usual = next(is_beside, widest)
    most = min(widest, room - _LABEL_GAP - value_cells)
    width, mark = max(usual, most), glyphs.ellipsis
    shorten = best_cut(labels, width, mark, truncate, elide_middle)
    cut = [shorten(label, width, mark) for label in labels]
    return cut, room - _LABEL_GAP - most if most > usual else room_of(cut)


def _fit_names(
    names: Sequence[SafeText], number_cells: int, room_of: WidthOf, glyphs: Glyphs
) -> tuple[list[SafeText], int]:
    """Do the same for the names beside numbers with bars: a name is whole even if bars leave, but is not cut less
    because of them.
    """
    bar_cells = number_cells + _GAP + MIN_BAR_CELLS
    whole, beside_bars = (fit_labels(names, cells, room_of, glyphs) for cells in (number_cells, bar_cells))
    return beside_bars if whole[0] != names and beside_bars[1] >= bar_cells else whole


@dataclass(frozen=True, slots=True)
class BarChart:
    """Lines of one chart.

    Attributes:
        series: The names of the parts of the bars; a last line then says which pattern is which part.
    """

    title: str
    rows: Sequence[ChartRow]
    series: Sequence[str] = ()


def bar_section(
    title: str,
    plotted: Sequence[ChartRow],
    room_of: WidthOf,
    context: RenderContext,
    *,
    largest: Value = None,
    series: Sequence[str] = (),
) -> list[DetailSection]:
    """Return a section of bars; an empty list if there is nothing to draw."""
    return bar_sections([BarChart(title, plotted, series)], room_of, context, largest=largest)


def bar_sections(
    charts: Sequence[BarChart], room_of: WidthOf, context: RenderContext, *, largest: Value = None
) -> list[DetailSection]:
    """Return a section of bars for each chart that has lines, with the numbers of all below each other.

    All lines have the words behind their numbers, or the first count of them, or none. Counts at the beginning of these
    words are below each other too.
    """
    count_cells = max((len(_count(row)) for chart in charts for row in chart.rows), default=0)
    charts = [
        replace(chart, rows=[_with_aligned_count(row, count_cells) for row in chart.rows])
        for chart in charts
        if chart.rows
    ]
    number_cells = max((cell_width(row.number) for chart in charts for row in chart.rows), default=0)
    fitted = [
        _fit_names([row.label for row in chart.rows], number_cells + _MARK, room_of, context.glyphs) for chart in charts
    ]
    most = min((cells for _, cells in fitted), default=0) - _MARK - number_cells - _GAP - _WORTH
    # The first count says most.
    shorter = [replace(chart, rows=[_with_first_count(row) for row in chart.rows]) for chart in charts]
    charts, more_cells = next(
        ((each, cells) for each in (charts, shorter) if (cells := _more_cells(each)) <= most), (charts, 0)
    )
    return [
        _bar_section(chart, labels, cells - _MARK, (number_cells, more_cells), context, largest)
        for chart, (labels, cells) in zip(charts, fitted, strict=True)
    ]


def _more_cells(charts: Sequence[BarChart]) -> int:
    return max((cell_width(line(row.more)) for chart in charts for row in chart.rows), default=0)


def _count(row: ChartRow) -> str:
    """Return the count that the words behind a number begin with; empty if they begin with no digit."""
    return row.more.partition(" ")[0] if row.more[:1].isdecimal() else ""


def _with_aligned_count(row: ChartRow, cells: int) -> ChartRow:
    count = _count(row)
    return replace(row, more=" " * (cells - len(count)) + row.more) if count else row


def _with_first_count(row: ChartRow) -> ChartRow:
    return replace(row, more=row.more.partition(", ")[0])


def _bar_section(
    chart: BarChart,
    labels: Sequence[SafeText],
    cells: int,
    widths: tuple[int, int],
    context: RenderContext,
    largest: Value,
) -> DetailSection:
    """Return a section of bars. ``widths`` are those of the numbers and of the words behind them, 0 for no words."""
    glyphs, (number_cells, more_cells) = context.glyphs, widths
    wanted_cells = number_cells + (_GAP + more_cells if more_cells else 0)
    text_cells = min(wanted_cells, max(0, cells))
    bar_cells = cells - text_cells - _GAP
    top = largest_value([row.value for row in chart.rows]) if largest is None else largest
    lines = []
    for row, label in zip(chart.rows, labels, strict=True):
        number = fit(row.number, number_cells, "right")
        shown = fit(line(f"{number}  {row.more}") if more_cells else number, text_cells, mark=glyphs.ellipsis)
        if bar_cells >= MIN_BAR_CELLS:
            bar = (
                draw_stack(row.parts, top, bar_cells, glyphs)
                if row.parts
                else draw_bar(row.value, top, bar_cells, glyphs)
            )
            shown = line(f"{bar}{' ' * _GAP}{shown}", None)
        else:
            # At the end of the line, as in other sections, which may have bars.
            shown = line(f"{' ' * max(0, cells - text_cells)}{shown}", None)
        if row.target is None:
            # Only lines that are links are padded, so that their marks are aligned.
            shown = line(shown.rstrip(" "), None)
        lines.append(DetailLine(label, shown, row.role, target=row.target))
    if chart.series and any(row.parts for row in chart.rows):
        lines.append(DetailLine(line(""), pattern_legend(chart.series, glyphs), Role.QUIET))
    return DetailSection(line(chart.title), tuple(lines))
