"""A one-line widget with clickable parts at its left and right end."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Final, NamedTuple

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.color import Color
from textual.selection import Selection
from textual.strip import Strip
from textual.widget import Widget

from runwatch.tui.core.jump_target import JumpTarget
from runwatch.tui.core.mouse_selection import selectable
from runwatch.tui.core.rendering import StyledSpan, cut_spans, spans_width, to_segment
from runwatch.tui.core.widget_app import get_app
from runwatch.view.text.safe_text import line

MARGIN: Final = 1
"""Free cells at both ends."""

MIN_GAP: Final = 3
"""Minimum cells between the left and the right parts."""


class BarPart(NamedTuple):
    """A part of a bar.

    Attributes:
        target: What a click opens or selects; ``None`` if it is not clickable.
        gap: Cells between it and the part before.
        colour: Background, ``#rrggbb``, if it differs from the bar's.
    """

    pieces: tuple[StyledSpan, ...]
    target: object = None
    gap: int = 2
    colour: str | None = None

    @property
    def width(self) -> int:
        """Its width in cells, without the gap."""
        return spans_width(self.pieces)


def measure_parts(parts: Sequence[BarPart]) -> int:
    """Return the width in cells of parts side by side."""
    return sum(part.width for part in parts) + sum(part.gap for part in parts[1:])


class Bar(Widget):
    """A one-line bar. Subclasses supply the parts."""

    DEFAULT_CSS = """
    Bar {
        height: 1;
        width: 1fr;
        background: $surface;
        color: $role-plain;
    }
    """

    def parts(self, width: int) -> tuple[Sequence[BarPart], Sequence[BarPart]]:
        """Return the left and the right parts for ``width`` cells. The right ones are cut only if there are no left
        ones.
        """
        raise NotImplementedError

    def part_clicked(self, target: object) -> None:
        """Handle a click on a part that has a target."""

    def jump_targets(self) -> Iterable[JumpTarget]:
        """Yield the parts that can be clicked."""
        if not self.size:
            return
        region = self.content_region
        for number, (start, part, _) in enumerate(self._placed()):
            if part.target is not None:
                # A label in a gap of one cell would join the texts beside it.
                has_room = not number or part.gap > 1 or self._placed()[number - 1][1].target is None
                x = region.x + start
                yield JumpTarget(x, region.y, partial(self.part_clicked, part.target), is_before=has_room)

    def render_line(self, y: int) -> Strip:
        return selectable(self, self._row_strip(y), y, y)

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        return " ".join(selection.extract(self._row_strip(0).text).split()), "\n"

    def selection_updated(self, selection: Selection | None) -> None:
        self.refresh()

    def _row_strip(self, y: int) -> Strip:
        ground = self.rich_style
        if y:
            return Strip.blank(self.size.width, ground)
        segments: list[Segment] = []
        position = 0
        for start, part, shown in self._placed():
            segments.append(to_segment(line(" " * (start - position)), ground))
            style = ground if part.colour is None else ground + _on(part.colour)
            for text, role in shown:
                own = style if part.colour is not None else style + get_app(self).role_style(role)
                segments.append(to_segment(text, own))
            position = start + spans_width(shown)
        return Strip(segments).adjust_cell_length(self.size.width, ground)

    async def on_click(self, event: events.Click) -> None:
        # Textual would select all text with a second click.
        event.prevent_default()
        offset = event.get_content_offset(self)
        if offset is None or self.text_selection is not None:
            return
        for start, part, shown in self._placed():
            if part.target is not None and start <= offset.x < start + spans_width(shown):
                event.stop()
                self.part_clicked(part.target)

    def _placed(self) -> list[tuple[int, BarPart, tuple[StyledSpan, ...]]]:
        """Return each part with its first cell and its visible text."""
        width = self.size.width - 2 * MARGIN
        if width < 1:
            return []
        left, right = self.parts(width)
        right_start = max(0, width - measure_parts(right))
        placed = self._run(left, 0, right_start - MIN_GAP if right else width)
        return placed + self._run(right, right_start, width)

    def _run(self, parts: Sequence[BarPart], start: int, end: int) -> list[tuple[int, BarPart, tuple[StyledSpan, ...]]]:
        placed: list[tuple[int, BarPart, tuple[StyledSpan, ...]]] = []
        mark = get_app(self).glyphs.ellipsis
        for number, part in enumerate(parts):
            start += part.gap if number else 0
            if start >= end:
                break
            shown = cut_spans(part.pieces, end - start, mark)
            placed.append((start + MARGIN, part, shown))
            start += spans_width(shown)
        return placed


def _on(colour: str) -> Style:
    ground = Color.parse(colour)
    return Style(bgcolor=ground.rich_color, color=ground.get_contrast_text(1.0).rich_color, bold=True)
