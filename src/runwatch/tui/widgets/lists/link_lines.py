"""Lines that contain links. The cursor moves from link to link, and ``enter`` opens the records a number counts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.message import Message

from runwatch.base.text import cell_width
from runwatch.tui.core.jump_target import JumpTarget
from runwatch.tui.core.key_bindings import make_bindings
from runwatch.tui.core.rendering import to_segment
from runwatch.tui.core.themes import ACCENT
from runwatch.tui.core.widget_app import get_app
from runwatch.tui.widgets.lists.line_list import LineList
from runwatch.view.overview.links import LinkedLine, LinkSpan, ViewLink
from runwatch.view.text.safe_text import line, truncate

MARGIN: Final = 2
"""Cells before a line: the cursor and a space."""


class LinkLines(LineList, inherit_bindings=False):
    """The lines. The cursor skips text without a link."""

    BINDINGS = make_bindings(
        "list.open", "list.up", "list.down", "list.page_up", "list.page_down", "list.top", "list.bottom", "list.left",
        "list.right"
    )  # fmt: skip

    @dataclass(eq=False, repr=False)
    class LinkOpened(Message):
        way: ViewLink

    _lines: tuple[LinkedLine, ...] = ()
    _column = 0

    # Called by the screen.

    @property
    def room(self) -> int:
        return max(0, self.cells - MARGIN)

    @property
    def way(self) -> ViewLink | None:
        """The target of the link under the cursor; ``None`` if there is none."""
        ways = self._ways(self._cursor)
        return ways[min(self._column, len(ways) - 1)].way if ways else None

    @property
    def enter_label(self) -> str | None:
        """Nothing where there is no link."""
        return None if self.way is not None else ""

    @property
    def position(self) -> tuple[int, int]:
        """The cursor's line, and the index of the link in it."""
        return self._cursor, self._column

    def go_to(self, position: tuple[int, int]) -> None:
        """Move the cursor to a previous place, or to the nearest link."""
        self._column = max(0, position[1])
        self.move_cursor(position[0])
        if self.way is None:
            self._find(None)

    def show(self, lines: Sequence[LinkedLine]) -> None:
        """Show other lines; the cursor stays on the link with the same target, even if it moved."""
        if tuple(lines) == self._lines:
            return
        before, present = self.way, (self._lines, self._cursor, self._column)
        self._lines = tuple(lines)
        self._cursor = max(0, min(self._cursor, len(self._lines) - 1))
        if self.way is None or self.way != before:
            self._find(before)
        self.set_size()
        self.show_cursor()
        if (self._cursor, self._column) == present[1:]:
            self._refresh_changed(present[0], self._lines)
        else:
            self.refresh()

    # Drawing.

    def line_count(self) -> int:
        return len(self._lines)

    def draw_line(self, index: int, part: int, width: int, style: Style) -> list[Segment]:
        """Draw one line. The link under the cursor is highlighted, and a mark precedes the line for terminals without
        colors.
        """
        is_here = index == self._cursor and self.has_focus and bool(self._ways(index))
        return self._draw_spans(self._lines[index], width, style, self._chosen(index) if is_here else None)

    def _draw_spans(self, spans: LinkedLine, width: int, style: Style, chosen: int | None) -> list[Segment]:
        """Draw a line; ``chosen`` is the index of the link under the cursor, ``None`` without the cursor."""
        app = get_app(self)
        mark = " " if chosen is None else app.chrome_glyphs.cursor
        segments = [self.piece(line(mark), ACCENT, style), to_segment(line(" "), style)]
        room = width - MARGIN
        for number, spot in enumerate(spans):
            ground = super().cursor_style() if number == chosen else style
            shown = truncate(spot.text, max(0, room), app.glyphs.ellipsis)
            segments.append(self.piece(shown, spot.role, ground))
            room -= cell_width(shown)
        return segments

    def cursor_style(self) -> Style:
        """Return the plain line style: only the link is highlighted."""
        return self.get_component_rich_style("line-list--line")

    # Called on user input.

    def jump_targets(self) -> Iterable[JumpTarget]:
        for index, y in self._lines_in_sight():
            start = self.content_region.x + MARGIN
            for spot in self._lines[index]:
                if spot.way is not None:
                    x = start + cell_width(spot.text) - cell_width(spot.text.lstrip())
                    yield JumpTarget(x, y, partial(self.post_message, self.LinkOpened(spot.way)), is_before=True)
                start += cell_width(spot.text)

    def line_opened(self) -> None:
        way = self.way
        if way is not None:
            self.post_message(self.LinkOpened(way))

    def action_move(self, step: int) -> None:
        found = self._cursor + step
        while 0 <= found < len(self._lines) and not self._ways(found):
            found += 1 if step > 0 else -1
        if 0 <= found < len(self._lines):
            self.move_cursor(found)

    def action_move_sideways(self, step: int) -> None:
        ways = self._ways(self._cursor)
        if ways:
            self._column = max(0, min(min(self._column, len(ways) - 1) + step, len(ways) - 1))
            self._refresh_lines(self._cursor)

    async def on_click(self, event: events.Click) -> None:
        """Open the clicked link, unless text is being selected."""
        offset = event.get_content_offset(self)
        position = None if offset is None or event.chain != 1 or self.text_selection else self.row_at(offset.y)
        if offset is None or position is None:
            return
        ways = self._ways(position[0])
        end = MARGIN
        for spot in self._lines[position[0]]:
            end += cell_width(spot.text)
            if offset.x < end:
                if spot in ways:
                    self._column = ways.index(spot)
                    self.move_cursor(position[0])
                    self.line_opened()
                break
        self._refresh_lines(position[0])

    def copied_text(self, index: int, start: int, end: int | None) -> str:
        """Return the text of a line, whole where it is selected to its end."""
        return (" " * MARGIN + "".join(spot.text for spot in self._lines[index]))[start:end].lstrip()

    def _ways(self, index: int) -> list[LinkSpan]:
        return [spot for spot in self._lines[index] if spot.way is not None] if index < len(self._lines) else []

    def _chosen(self, index: int) -> int:
        columns = [number for number, spot in enumerate(self._lines[index]) if spot.way is not None]
        return columns[min(self._column, len(columns) - 1)]

    def _find(self, way: ViewLink | None) -> None:
        """Move the cursor to the link with this target, or if there is none, to the nearest line with a link."""
        for number in range(len(self._lines)):
            for column, spot in enumerate(self._ways(number)):
                if way is not None and spot.way == way:
                    self._cursor, self._column = number, column
                    return
        leading = [number for number in range(len(self._lines)) if self._ways(number)]
        if leading and self._cursor not in leading:
            self._cursor = min(leading, key=lambda number: abs(number - self._cursor))


class LinkTable(LinkLines):
    """Lines with links below a heading, which does not scroll; without lines, their text takes its row."""

    HEAD_ROWS = 1

    _head: LinkedLine = ()

    def show_table(self, head: LinkedLine, lines: Sequence[LinkedLine]) -> None:
        if head != self._head:
            self._head = head
            self.refresh()
        self.show(lines)

    def draw_head(self, row: int, width: int, style: Style) -> list[Segment]:
        return self._draw_spans(self._head, width, style, None) if self._lines else []

    def _empty_text_line(self, row: int, width: int, style: Style) -> list[Segment]:
        return super()._empty_text_line(row + self.HEAD_ROWS, width, style)
