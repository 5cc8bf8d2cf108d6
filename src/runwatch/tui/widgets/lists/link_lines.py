"""Lines whose parts lead somewhere: a cursor that goes from number to number, and ``enter`` opens what it counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import BindingType

from runwatch.base.text import cell_width
from runwatch.tui.core.key_bindings import make_bindings
from runwatch.tui.core.messages import WidgetMessage
from runwatch.tui.core.rendering import to_segment
from runwatch.tui.core.themes import ACCENT
from runwatch.tui.core.widget_app import get_app
from runwatch.tui.widgets.lists.line_list import LineList
from runwatch.view.overview.links import LinkedLine, LinkSpan, ViewLink
from runwatch.view.text.safe_text import line, truncate

MARGIN: Final = 2
"""Cells before a line: the cursor, a space."""


class LinkLines(LineList, inherit_bindings=False):
    """The lines. What leads nowhere is passed over by the cursor."""

    BINDINGS: ClassVar[list[BindingType]] = make_bindings(
        "list",
        only=(
            "list.open", "list.up", "list.down", "list.page_up", "list.page_down", "list.top", "list.bottom",
            "list.left", "list.right",
        ),
    )  # fmt: skip

    @dataclass(eq=False, repr=False)
    class LinkOpened(WidgetMessage):
        """The user opened a spot.

        Attributes:
            way: Where it leads.
        """

        way: ViewLink

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._lines: tuple[LinkedLine, ...] = ()
        self._column = 0

    # What the screen says and asks.

    @property
    def room(self) -> int:
        """The cells that a line may take."""
        return max(0, self.cells - MARGIN)

    @property
    def way(self) -> ViewLink | None:
        """Where the spot under the cursor leads; ``None`` where nothing does."""
        ways = self._ways(self._cursor)
        return ways[min(self._column, len(ways) - 1)].way if ways else None

    @property
    def place(self) -> tuple[int, int]:
        """The line of the cursor, and which of the spots in it."""
        return self._cursor, self._column

    def go_to(self, place: tuple[int, int]) -> None:
        """Put the cursor where it was; on the nearest spot there is."""
        self._column = max(0, place[1])
        self.move_cursor(place[0])
        if self.way is None:
            self._find(None)

    def show(self, lines: Sequence[LinkedLine]) -> None:
        """Show other lines; the cursor stays on what leads to the same place, wherever that stands now."""
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

    # How it is drawn.

    def line_count(self) -> int:
        """How many lines there are."""
        return len(self._lines)

    def draw_line(self, index: int, part: int, width: int, style: Style) -> list[Segment]:
        """One line; the spot under the cursor stands out, with a mark before the line where there are no colours."""
        app = get_app(self)
        is_here = index == self._cursor and self.has_focus and bool(self._ways(index))
        chosen = self._chosen(index) if is_here else None
        segments = [
            self.piece(line(app.chrome_glyphs.cursor if is_here else " "), ACCENT, style),
            to_segment(line(" "), style),
        ]
        room = width - MARGIN
        for number, spot in enumerate(self._lines[index]):
            ground = super().cursor_style() if number == chosen else style
            shown = truncate(spot.text, max(0, room), app.glyphs.ellipsis)
            segments.append(self.piece(shown, spot.role, ground))
            room -= cell_width(shown)
        return segments

    def cursor_style(self) -> Style:
        """A line is ground; what stands out is a part of it."""
        return self.get_component_rich_style("line-list--line")

    # What people do.

    def line_opened(self) -> None:
        """Open what the spot leads to."""
        way = self.way
        if way is not None:
            self.post_message(self.LinkOpened(self, way))

    def action_move(self, step: int) -> None:
        """Go to the next line that leads somewhere."""
        found = self._cursor + step
        while 0 <= found < len(self._lines) and not self._ways(found):
            found += 1 if step > 0 else -1
        if 0 <= found < len(self._lines):
            self.move_cursor(found)

    def action_move_sideways(self, step: int) -> None:
        """Go to the next number of the line."""
        ways = self._ways(self._cursor)
        if ways:
            self._column = max(0, min(min(self._column, len(ways) - 1) + step, len(ways) - 1))
            self._refresh_lines(self._cursor)

    async def on_click(self, event: events.Click) -> None:
        """Put the cursor on the spot that somebody clicked; a second click, which LineList sees, opens it."""
        offset = event.get_content_offset(self)
        place = None if offset is None else self.row_at(offset.y)
        if offset is None or place is None:
            return
        ways = self._ways(place[0])
        end = MARGIN
        for spot in self._lines[place[0]]:
            end += cell_width(spot.text)
            if offset.x < end:
                if spot in ways:
                    self._column = ways.index(spot)
                break
        self._refresh_lines(place[0])

    # Inside.

    def _ways(self, index: int) -> list[LinkSpan]:
        """The spots of a line that lead somewhere."""
        return [spot for spot in self._lines[index] if spot.way is not None] if index < len(self._lines) else []

    def _chosen(self, index: int) -> int:
        """Which part of the line the cursor stands on."""
        places = [number for number, spot in enumerate(self._lines[index]) if spot.way is not None]
        return places[min(self._column, len(places) - 1)]

    def _find(self, way: ViewLink | None) -> None:
        """Put the cursor on the spot that leads there; else leave it near where it is, on something that leads on."""
        for number in range(len(self._lines)):
            for column, spot in enumerate(self._ways(number)):
                if way is not None and spot.way == way:
                    self._cursor, self._column = number, column
                    return
        leading = [number for number in range(len(self._lines)) if self._ways(number)]
        if leading and self._cursor not in leading:
            self._cursor = min(leading, key=lambda number: abs(number - self._cursor))
