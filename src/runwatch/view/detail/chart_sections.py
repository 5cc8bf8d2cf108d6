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


def fit_labels(labels: Sequence[SafeText], room_of: WidthOf, glyphs: Glyphs) -> list[SafeText]:
    """Cut labels in their middle that are too long to have a value beside them, so that bars begin below each other."""
    room = room_of(())
    widest = max(map(cell_width, labels), default=0)
    # A value below its label is two cells in.
    is_beside = (cells for cells in range(widest, 0, -1) if room_of([line("x" * cells, None)]) < room - 2)
    most = next(is_beside, widest)
    return [elide_middle(label, most, glyphs.ellipsis) for label in labels]


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
    labels = fit_labels([row.label for row in plotted], room_of, glyphs)
    cells = room_of(labels) - _MARK
    number_cells = max(cell_width(row.number) for row in plotted)
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
        if row.target is None:
            # Only lines that are links are padded, so that their marks are aligned.
            shown = line(shown.rstrip(" "), None)
        lines.append(DetailLine(label, shown, row.role, target=row.target))
    if series and any(row.parts for row in plotted):
        lines.append(DetailLine(line(""), pattern_legend(series, glyphs), Role.QUIET))
    return [DetailSection(line(title), tuple(lines))]
