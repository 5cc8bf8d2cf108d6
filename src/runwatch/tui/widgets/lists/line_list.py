"""What tables, event lists and details have in common: many lines, of which only those in sight are drawn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.geometry import Region, Size
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widget import Widget

from runwatch.base.text import cell_width
from runwatch.tui.core.rendering import StyledSpans, to_segment, to_spans
from runwatch.tui.core.widget_app import get_app
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import SafeText, line, truncate

_CURSOR = "line-list--cursor"
_CURSOR_QUIET = "line-list--cursor-quiet"
_LINE = "line-list--line"


class LineList(ScrollView, can_focus=True, inherit_bindings=False):
    """Lines with a cursor. Subclasses say how many there are and what stands on one.

    Attributes:
        HEAD_ROWS: Rows above the lines that do not scroll.
    """

    HEAD_ROWS: ClassVar[int] = 0
    ALLOW_SELECT = False
    COMPONENT_CLASSES: ClassVar[set[str]] = {_CURSOR, _CURSOR_QUIET, _LINE}
    DEFAULT_CSS = """
    LineList {
        height: 1fr;
        overflow-x: hidden;
        overflow-y: auto;
        scrollbar-gutter: stable;
        scrollbar-size-vertical: 1;
        scrollbar-size-horizontal: 0;
        background: $background;
        color: $role-plain;
        & > .line-list--cursor {
            background: $selection;
            text-style: $selection-style;
        }
        & > .line-list--cursor-quiet {
            background: $selection-quiet;
            text-style: $selection-quiet-style;
        }
    }
    """

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._cursor = 0
        self._note: tuple[StyledSpans, ...] = ()

    # What subclasses say.

    def line_count(self) -> int:
        """How many lines there are."""
        raise NotImplementedError

    def draw_line(self, index: int, part: int, width: int, style: Style) -> list[Segment]:
        """The segments of one row of a line, at most ``width`` cells.

        Args:
            index: The line.
            part: Which of its rows, counted from 0; lines have one row unless a subclass says otherwise.
            width: The cells there are.
            style: The ground.
        """
        raise NotImplementedError

    def rows_to_scroll(self) -> int:
        """How many rows the scroll bar stands for; the top of the window is on the line of the same number."""
        return self.line_count()

    def draw_head(self, row: int, width: int, style: Style) -> list[Segment]:
        """The segments of a row above the lines."""
        raise NotImplementedError

    def cursor_moved(self) -> None:
        """Called when the cursor came to stand on another line."""

    def line_opened(self) -> None:
        """Called when the user opens the line under the cursor."""

    # What everybody may ask and do.

    @property
    def cursor(self) -> int:
        """The line the cursor stands on, counted from 0; 0 too when there is none."""
        return self._cursor

    @property
    def rows_in_sight(self) -> int:
        """How many lines the window shows."""
        return max(1, self.size.height - self.HEAD_ROWS)

    @property
    def cells(self) -> int:
        """How many cells a row has; the place of the scroll bar is kept free, so that nothing jumps when it comes."""
        return max(0, self.size.width - self.styles.scrollbar_size_vertical)

    @property
    def note(self) -> tuple[StyledSpans, ...]:
        """What is said where there are no lines."""
        return self._note

    @note.setter
    def note(self, lines: Sequence[StyledSpans]) -> None:
        before, self._note = self._note, tuple(lines)
        if self._note != before and not self.line_count():
            self.refresh()

    def move_cursor(self, index: int) -> None:
        """Put the cursor on a line, the nearest one there is, and scroll until it is in sight."""
        index = max(0, min(index, self.line_count() - 1))
        before, self._cursor = self._cursor, index
        self.show_cursor()
        if index != before:
            self._refresh_lines(before, index)
            self.cursor_moved()

    def show_cursor(self) -> None:
        """Scroll as little as needed until the cursor is in sight."""
        top, rows = round(self.scroll_y), self.rows_in_sight
        if self._cursor < top:
            self._scroll_at_once(self._cursor)
        elif self._cursor >= top + rows:
            self._scroll_at_once(self._cursor - rows + 1)

    def _scroll_at_once(self, top: int) -> None:
        # Lines that have just come may need a scroll bar that stands only after the next layout.
        self.scroll_to(y=top, animate=False, force=True)

    def set_size(self) -> None:
        """Tell Textual how far the lines can be scrolled."""
        before = self.virtual_size
        size = Size(self.size.width, self.rows_to_scroll() + self.HEAD_ROWS)
        if size == before:
            return
        room = self.container_size.height
        if size.width == before.width and (size.height > room) == (before.height > room) and not self._fits_its_lines():
            # Only the scroll bar looks different then, and the screen need not be laid out anew. `_scroll_update` is
            # private (checked on Textual 8.2.8); every public setter of the size lays out the screen.
            self.set_reactive(Widget.virtual_size, size)
            self._scroll_update(size)
        else:
            self.virtual_size = size

    def row_at(self, row: int) -> tuple[int, int] | None:
        """The line that a row of the window shows and which of its rows that is; ``None`` where there is none."""
        index = round(self.scroll_y) + row - self.HEAD_ROWS
        return (index, 0) if row >= self.HEAD_ROWS and index < self.line_count() else None

    def render_line(self, y: int) -> Strip:
        """One row of the window."""
        width, style = self.cells, self.get_component_rich_style(_LINE)
        if y < self.HEAD_ROWS:
            return self._strip(self.draw_head(y, width, style), width, style)
        if not self.line_count():
            return self._strip(self._note_line(y - self.HEAD_ROWS, width, style), width, style)
        place = self.row_at(y)
        if place is None:
            return Strip.blank(self.size.width, style)
        index, part = place
        if index == self._cursor:
            style = self.cursor_style()
        return self.line_strip(index, part, width, style)

    def line_strip(self, index: int, part: int, width: int, style: Style) -> Strip:
        """One row of a line over the whole window, drawn as :meth:`draw_line` says."""
        return self._strip(self.draw_line(index, part, width, style), width, style)

    def cursor_style(self) -> Style:
        """How the line under the cursor is drawn: brighter in the pane that has the focus."""
        return self.get_component_rich_style(_CURSOR if self.has_focus else _CURSOR_QUIET)

    def piece(self, text: SafeText, role: str, style: Style) -> Segment:
        """A stretch of a line in a role, on the ground of that line."""
        return to_segment(text, style + get_app(self).role_style(role))

    # What Textual and people do. Textual calls the on_ methods of subclasses and then these as well.

    def on_resize(self, event: events.Resize) -> None:
        """Keep the cursor in sight when the window changes."""
        self.set_size()
        self.call_after_refresh(self.show_cursor)

    def on_focus(self, event: events.Focus) -> None:
        """Draw the cursor of the focused pane."""
        self.refresh()

    def on_blur(self, event: events.Blur) -> None:
        """Draw the quiet cursor."""
        self.refresh()

    async def on_click(self, event: events.Click) -> None:
        """Put the cursor where somebody clicked; a second click opens the line."""
        offset = event.get_content_offset(self)
        if offset is None:
            return
        event.stop()
        place = self.row_at(offset.y)
        if place is None:
            return
        self.move_cursor(place[0])
        if event.chain == 2:
            self.line_opened()

    def action_open(self) -> None:
        """Open the line under the cursor."""
        if self.line_count():
            self.line_opened()

    def action_move(self, step: int) -> None:
        """Move the cursor by lines."""
        self.move_cursor(self._cursor + step)

    def action_move_page(self, pages: int) -> None:
        """Move the cursor by windows, with one line of overlap."""
        self.move_cursor(self._cursor + pages * max(1, self.rows_in_sight - 1))

    def action_move_to(self, index: int) -> None:
        """Move the cursor to a line, counted from the end where it is negative."""
        self.move_cursor(index if index >= 0 else self.line_count() + index)

    # How it is drawn.

    def _fits_its_lines(self) -> bool:
        """Whether the window gets as high as its lines need."""
        height = self.styles.height
        return height is None or height.is_auto

    def _refresh_lines(self, *indices: int) -> None:
        """Draw these lines anew and no others."""
        for row in range(self.HEAD_ROWS, self.size.height):
            place = self.row_at(row)
            if place is not None and place[0] in indices:
                self.refresh(Region(0, row, self.size.width, 1))

    def _refresh_changed(self, before: Sequence[object], after: Sequence[object]) -> None:
        """Draw the lines anew that are others than before, or all of them where there are more or fewer."""
        if len(before) != len(after):
            self.refresh()
        elif changed := [index for index, (old, new) in enumerate(zip(before, after, strict=True)) if old != new]:
            self._refresh_lines(*changed)

    def _strip(self, segments: list[Segment], width: int, style: Style) -> Strip:
        return Strip(segments).adjust_cell_length(width, style).adjust_cell_length(self.size.width, style)

    def _note_line(self, row: int, width: int, style: Style) -> list[Segment]:
        # One free row above the note sets it apart from heads of columns.
        if not 0 < row <= len(self._note):
            return []
        room, mark = width - 3, get_app(self).glyphs.ellipsis
        segments = [to_segment(line("  "), style)]
        for text, role in to_spans(self._note[row - 1], Role.QUIET):
            shown = truncate(text, max(0, room), mark)
            room -= cell_width(shown)
            segments.append(self.piece(shown, role, style))
        return segments
