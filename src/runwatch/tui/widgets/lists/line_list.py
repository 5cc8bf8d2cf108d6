"""Base class of tables, event logs and details: many lines, of which only the visible ones are drawn."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import ClassVar, Final

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.geometry import Region, Size
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip
from textual.widget import Widget

from runwatch.base.text import cell_width
from runwatch.tui.core.jump_target import JumpTarget
from runwatch.tui.core.mouse_selection import selectable
from runwatch.tui.core.rendering import StyledSpan, StyledSpans, to_content, to_segment, to_spans
from runwatch.tui.core.widget_app import get_app
from runwatch.tui.widgets.lists.text_wrap import wrap_text
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import SafeText, line, truncate

_CURSOR = "line-list--cursor"
_CURSOR_QUIET = "line-list--cursor-quiet"
_LINE = "line-list--line"

_EMPTY_TEXT_MARGIN: Final = 3
"""Cells beside the text of an empty list: two before it as in the table, and one after it."""

MAX_COPIED_LINES: Final = 1_000
MAX_HOVERED_CELLS: Final = 1_000
"""Maximum width of a cut text that the mouse shows."""

PART_STRIDE: Final = 1_000_000
"""Distance of two rows of one line in a selection, in characters."""


class LineList(ScrollView, can_focus=True, inherit_bindings=False):
    """Lines with a cursor. Subclasses supply the number of lines and draw them. Their text is selected with the mouse.

    In a selection, lines are counted from 0 with the rows above them, and text that is not in sight belongs to a
    selection only if the mouse was there: one that goes on into another widget ends with the window.
    """

    HEAD_ROWS: ClassVar[int] = 0
    """Rows above the lines that do not scroll."""

    HIDES_CURSOR: ClassVar[bool] = False
    """Whether the cursor is highlighted only with the focus, in what is read more than navigated."""

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

    _cursor = 0
    _empty_text: tuple[StyledSpans, ...] = ()
    _clicked: int | None = None
    _fitted_to = Size(0, 0)

    # For subclasses to override.

    def line_count(self) -> int:
        raise NotImplementedError

    def draw_line(self, index: int, part: int, width: int, style: Style) -> list[Segment]:
        """Return the segments of one row of a line, at most ``width`` cells; a line has one row unless a subclass says
        otherwise.
        """
        raise NotImplementedError

    def rows_to_scroll(self) -> int:
        """Return the number of rows the scroll bar represents; row N at the top of the window is line N."""
        return self.line_count()

    def draw_head(self, row: int, width: int, style: Style) -> list[Segment]:
        """Return the segments of a row above the lines."""
        raise NotImplementedError

    def copied_text(self, index: int, start: int, end: int | None) -> str:
        """Return the selected text of a line, between characters of the row as drawn; subclasses replace what is cut by
        the whole.
        """
        return _text(self.draw_line(index, 0, self.cells, Style.null()))[start:end]

    def hovered_text(self, index: int, part: int, x: int) -> SafeText | None:
        """Return the whole of a text that is cut where the mouse is; ``None`` if nothing is cut there."""
        return None

    @property
    def enter_label(self) -> str | None:
        """What enter does on the line under the cursor: ``None`` for what the screen says, empty for nothing."""
        return None

    def cursor_moved(self) -> None:
        """Handle a cursor move to another line."""

    def line_opened(self) -> None:
        """Handle the user opening the line under the cursor."""

    def jump_to_line(self, index: int) -> None:
        """Go to a line for which the user typed a jump label."""
        self.focus()
        self.move_cursor(index)

    # Public.

    def jump_targets(self) -> Iterable[JumpTarget]:
        """Yield the lines in sight."""
        for index, y in self._lines_in_sight():
            yield JumpTarget(self.content_region.x, y, partial(self.jump_to_line, index), is_row=True)

    @property
    def cursor(self) -> int:
        """The line under the cursor, counted from 0; also 0 if there are no lines."""
        return self._cursor

    @property
    def rows_in_sight(self) -> int:
        return max(1, self.size.height - self.HEAD_ROWS)

    @property
    def rows_below(self) -> int:
        return max(0, self.rows_to_scroll() + self.HEAD_ROWS - round(self.scroll_y) - self.size.height)

    @property
    def cells(self) -> int:
        """The cells of a row, without the scroll bar's, so that nothing moves when the scroll bar appears."""
        return max(0, self.size.width - self.styles.scrollbar_size_vertical)

    @property
    def empty_text(self) -> tuple[StyledSpans, ...]:
        """The text shown if there are no lines."""
        return self._empty_text

    @empty_text.setter
    def empty_text(self, lines: Sequence[StyledSpans]) -> None:
        before, self._empty_text = self._empty_text, tuple(lines)
        if self._empty_text != before and not self.line_count():
            self.refresh()

    @property
    def empty_row_count(self) -> int:
        """The number of rows of that text, as wrapped to the width."""
        return len(self._empty_text_rows(self.cells))

    def move_cursor(self, index: int) -> None:
        """Move the cursor to the nearest existing line and scroll it into view."""
        index = max(0, min(index, self.line_count() - 1))
        before, self._cursor = self._cursor, index
        self.show_cursor()
        if index != before:
            self._refresh_lines(before, index)
            self.cursor_moved()

    def show_cursor(self) -> None:
        """Scroll as little as needed to show the cursor."""
        top, rows = round(self.scroll_y), self.rows_in_sight
        if self._cursor < top:
            self._scroll_at_once(self._cursor)
        elif self._cursor >= top + rows:
            self._scroll_at_once(self._cursor - rows + 1)

    def move_cursor_to_top(self, index: int) -> None:
        """Move the cursor to a line and scroll it to the top, as far as lines follow it."""
        self.move_cursor(index)
        self._scroll_at_once(self._cursor)

    def _scroll_at_once(self, top: int) -> None:
        # New lines may need a scroll bar that exists only after the next layout.
        self.scroll_to(y=top, animate=False, force=True)

    def set_size(self) -> None:
        """Tell Textual how far the lines scroll."""
        before = self.virtual_size
        size = Size(self.size.width, self.rows_to_scroll() + self.HEAD_ROWS)
        if size == before:
            return
        room = self.container_size.height
        if size.width == before.width and (size.height > room) == (before.height > room) and not self._fits_its_lines():
            # Only the scroll bar changes, so no layout is needed. `_scroll_update` is private (checked on Textual
            # 8.2.8); every public setter of the size lays out the screen.
            self.set_reactive(Widget.virtual_size, size)
            self._scroll_update(size)
        else:
            self.virtual_size = size

    def row_at(self, row: int) -> tuple[int, int] | None:
        """Return the line shown in a row of the window and the row within that line; ``None`` for an empty row."""
        index = round(self.scroll_y) + row - self.HEAD_ROWS
        return (index, 0) if row >= self.HEAD_ROWS and index < self.line_count() else None

    def render_line(self, y: int) -> Strip:
        return selectable(self, self._row_strip(y), y, *self._selection_place(y))

    def _row_strip(self, y: int) -> Strip:
        width, style = self.cells, self.get_component_rich_style(_LINE)
        if y < self.HEAD_ROWS:
            return self._strip(self.draw_head(y, width, style), width, style)
        if not self.line_count():
            return self._strip(self._empty_text_line(y - self.HEAD_ROWS, width, style), width, style)
        position = self.row_at(y)
        if position is None:
            return Strip.blank(self.size.width, style)
        index, part = position
        if index == self._cursor:
            style = self.cursor_style()
        return self.line_strip(index, part, width, style)

    def line_strip(self, index: int, part: int, width: int, style: Style) -> Strip:
        """Draw one row of a line across the window, with :meth:`draw_line`."""
        return self._strip(self.draw_line(index, part, width, style), width, style)

    def cursor_style(self) -> Style:
        """Return the style of the cursor's line, brighter if the list has the focus."""
        without = _LINE if self.HIDES_CURSOR else _CURSOR_QUIET
        return self.get_component_rich_style(_CURSOR if self.has_focus else without)

    def piece(self, text: SafeText, role: str, style: Style) -> Segment:
        return to_segment(text, style + get_app(self).role_style(role))

    def pieces(self, spans: Iterable[StyledSpan], style: Style) -> list[Segment]:
        return [self.piece(text, role, style) for text, role in spans]

    # Called by Textual and on user input. Textual calls the on_ methods of subclasses first, then these.

    def on_mount(self) -> None:
        """Look at the size after each layout.

        If something scrolls between a change of the layout and the layout itself, Textual 8.2.8 gives a widget its new
        size without a ``Resize``.
        """
        self.screen.screen_layout_refresh_signal.subscribe(self, self._look_at_size, immediate=True)

    def _look_at_size(self, _screen: object) -> None:
        if self.outer_size != self._fitted_to:
            # A Resize that did come is handled first.
            self.call_later(self._resize_again)

    def _resize_again(self) -> None:
        if self.outer_size != self._fitted_to:
            self.post_message(events.Resize(self.outer_size, self.virtual_size, self.container_size))

    def on_resize(self, event: events.Resize) -> None:
        self._fitted_to = event.size
        self.set_size()
        self.call_after_refresh(self.show_cursor)

    async def on_click(self, event: events.Click) -> None:
        """Move the cursor to the clicked line; a second click opens the line. The end of a selection is no click."""
        # Textual would select all text with a second click.
        event.prevent_default()
        offset = event.get_content_offset(self)
        if offset is None or self.text_selection is not None:
            return
        event.stop()
        position = self.row_at(offset.y)
        if position is None:
            return
        self.move_cursor(position[0])
        # A link may have opened this list with the first click.
        is_second = event.chain == 2 and self._clicked == position[0]
        self._clicked = position[0]
        if is_second:
            self.line_opened()

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Have the tooltip show what is cut under the mouse."""
        offset = event.get_content_offset(self)
        position = None if offset is None else self.row_at(offset.y)
        text = None if offset is None or position is None else self.hovered_text(*position, offset.x)
        self.tooltip = (
            None if text is None else to_content(truncate(text, MAX_HOVERED_CELLS, get_app(self).glyphs.ellipsis))
        )

    # Selecting text.

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """Return the selected text without the margins of lines that are selected from their beginning."""
        start, end = selection
        rows = [self._selection_place(row)[0] for row in range(self.size.height)]
        first = rows[0] if start is None else start.y
        last = rows[-1] if end is None else end.y
        texts: list[str] = []
        for number in range(first, min(last, first + MAX_COPIED_LINES - 1, self.HEAD_ROWS + self.line_count() - 1) + 1):
            begin = start.x if start is not None and number == first else 0
            stop = end.x if end is not None and number == last else None
            if number >= self.HEAD_ROWS:
                texts.append(self.copied_text(number - self.HEAD_ROWS, begin, stop).rstrip())
            else:
                head = _text(self.draw_head(number, self.cells, Style.null()))
                texts.append(" ".join(head[begin:stop].split()))
        return "\n".join(texts), "\n"

    def selection_updated(self, selection: Selection | None) -> None:
        self.refresh()

    def _selection_place(self, row: int) -> tuple[int, int]:
        """Return the line of a row in a selection, and the character that the row begins with."""
        position = self.row_at(row)
        if position is not None:
            return self.HEAD_ROWS + position[0], position[1] * PART_STRIDE
        # Rows above the lines, those below the last one, or the text of an empty list.
        return min(row, self.HEAD_ROWS + self.line_count()) if row >= self.HEAD_ROWS else row, 0

    def action_open(self) -> None:
        if self.line_count():
            self.line_opened()

    def action_move(self, step: int) -> None:
        self.move_cursor(self._cursor + step)

    def action_move_page(self, pages: int) -> None:
        """Move window and cursor by pages, with one line of overlap; the cursor keeps its row of the window."""
        step = pages * max(1, self.rows_in_sight - 1)
        index, top = self._cursor + step, round(self.scroll_y)
        self._scroll_at_once(max(0, top + min(step, self.rows_below)))
        self.move_cursor(index)

    def action_move_to(self, index: int) -> None:
        """Move the cursor to a line; a negative index counts from the end."""
        self.move_cursor(index if index >= 0 else self.line_count() + index)

    # Drawing.

    def _fits_its_lines(self) -> bool:
        """Return whether the height of the list follows its lines."""
        height = self.styles.height
        return height is None or height.is_auto

    def _lines_in_sight(self) -> Iterable[tuple[int, int]]:
        """Yield each line whose first row is in sight, with that row of the window."""
        region = self.content_region
        for row in range(self.HEAD_ROWS, region.height):
            position = self.row_at(row)
            if position is not None and position[1] == 0:
                yield position[0], region.y + row

    def _refresh_lines(self, *indices: int) -> None:
        for row in range(self.HEAD_ROWS, self.size.height):
            position = self.row_at(row)
            if position is not None and position[0] in indices:
                self.refresh(Region(0, row, self.size.width, 1))

    def _refresh_changed(self, before: Sequence[object], after: Sequence[object]) -> None:
        """Redraw the lines that changed, or all if their number changed."""
        if len(before) != len(after):
            self.refresh()
        elif changed := [index for index, (old, new) in enumerate(zip(before, after, strict=True)) if old != new]:
            self._refresh_lines(*changed)

    def _strip(self, segments: list[Segment], width: int, style: Style) -> Strip:
        return Strip(segments).adjust_cell_length(width, style).adjust_cell_length(self.size.width, style)

    def _empty_text_line(self, row: int, width: int, style: Style) -> list[Segment]:
        rows = self._empty_text_rows(width)
        # One empty row separates the text from column heads.
        if not 0 < row <= len(rows):
            return []
        room, mark = width - _EMPTY_TEXT_MARGIN, get_app(self).glyphs.ellipsis
        segments = [to_segment(line("  "), style)]
        for text, role in rows[row - 1]:
            shown = truncate(text, max(0, room), mark)
            room -= cell_width(shown)
            segments.append(self.piece(shown, role, style))
        return segments

    def _empty_text_rows(self, width: int) -> list[Sequence[StyledSpan]]:
        """Return that text by rows: a text of one style is wrapped, one of several styles is one row."""
        room = width - _EMPTY_TEXT_MARGIN
        rows: list[Sequence[StyledSpan]] = []
        for spans in (to_spans(each, Role.QUIET) for each in self._empty_text):
            if len(spans) == 1 and room > 0:
                text, role = spans[0]
                rows += [((row, role),) for row in wrap_text(text, room)]
            else:
                rows.append(spans)
        return rows


def _text(segments: Iterable[Segment]) -> str:
    return "".join(segment.text for segment in segments)
