"""Charts as lines of a detail: a label, a bar, its number, and a link to what the number counts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from runwatch.base.text import cell_width
from runwatch.view.detail.plots import Value, draw_bar, draw_stack, largest_value, pattern_legend
from runwatch.view.detail.sections import DetailLine, DetailSection
from runwatch.view.text.format import RenderContext
from runwatch.view.text.glyphs import Glyphs, Role
from runwatch.view.text.safe_text import SafeText, elide_middle, fit, line

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
    """Cut labels in their middle that leave values no room, so that bars begin below each other.

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
    cut = [elide_middle(label, max(usual, most), glyphs.ellipsis) for label in labels]
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

    With the names of a series, a last line says which pattern is which part of the bars.
    """
    if not plotted:
        return []
    glyphs = context.glyphs
    number_cells = max(cell_width(row.number) for row in plotted)
    labels, cells = _fit_names([row.label for row in plotted], number_cells + _MARK, room_of, glyphs)
    cells -= _MARK
    numbers = [fit(row.number, number_cells, "right") for row in plotted]
    texts = [line(f"{text}  {row.more}" if row.more else text) for row, text in zip(plotted, numbers, strict=True)]
    if cells - max(map(cell_width, texts)) < _WORTH:
        texts = numbers
    text_cells = min(max(map(cell_width, texts)), max(0, cells))
    bar_cells = cells - text_cells - _GAP
    top = largest_value([row.value for row in plotted]) if largest is None else largest
    lines = []
    for row, label, text in zip(plotted, labels, texts, strict=True):
        shown = fit(text, text_cells, mark=glyphs.ellipsis)
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
    if series and any(row.parts for row in plotted):
        lines.append(DetailLine(line(""), pattern_legend(series, glyphs), Role.QUIET))
    return [DetailSection(line(title), tuple(lines))]
