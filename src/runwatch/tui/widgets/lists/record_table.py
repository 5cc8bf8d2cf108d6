"""A table of records that opens at once at any size and keeps its cursor on a record id."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from operator import attrgetter, indexOf
from typing import Any, Final, NamedTuple, Protocol

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.cache import LRUCache
from textual.geometry import Offset
from textual.message import Message
from textual.reactive import reactive
from textual.selection import Selection
from textual.strip import Strip

from runwatch.base.memory import note_long_lived
from runwatch.base.text import cell_width
from runwatch.tui.core.jump_target import JumpTarget
from runwatch.tui.core.key_bindings import make_bindings
from runwatch.tui.core.mouse_selection import drop_selection
from runwatch.tui.core.rendering import to_segment
from runwatch.tui.core.themes import ACCENT
from runwatch.tui.core.widget_app import get_app
from runwatch.tui.widgets.lists.column_layout import ColumnScroll, PlacedColumn
from runwatch.tui.widgets.lists.column_widths import MEASURED_ROWS, ColumnWidths
from runwatch.tui.widgets.lists.line_list import LineList
from runwatch.view.spec.resource import Column
from runwatch.view.text.format import fit_id, without_seconds
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import (
    SafeText,
    elide_middle,
    fit,
    last_words,
    line,
    truncate_before,
)
from runwatch.view.text.styled_text import StyledText

MARGIN: Final = 3
"""Cells before the first column: a mark, the cursor, a space."""

LONG_TABLE_ROWS: Final = 20_000
"""Number of rows from which a garbage collection over the list causes a noticeable pause."""

MAX_STRIPS: Final = 500
"""Maximum number of drawn rows kept, so that scrolling by one line draws one line, not the whole window."""

MAX_SELECTION_STEP: Final = 100
"""How many rows may come or go above selected text that stays selected."""


class TableRow(Protocol):
    """A table row, such as :class:`runwatch.view.table.rows.RecordRow`."""

    @property
    def key(self) -> str:
        """Identifies the row in its table."""

    def cell(self, column: Any) -> StyledText: ...


class _Looks(NamedTuple):
    """Visible state of a table: what affects every row, and for each row its cursor, key and cells."""

    frame: object
    rows: tuple[tuple[object, ...], ...]


class RecordTable(LineList, inherit_bindings=False):
    """A table with rows and columns. The caller sorts, filters and renders the rows; cursor and marks are row ids.

    Args:
        measured_rows: How many of the first rows decide how wide the columns are.

    Attributes:
        cursor_key: The id of the row under the cursor; ``None`` if there are no rows.
        has_own_order: Whether the list has an order of its own, which is not that of a column in sight.
        assumed: By column, the text that says nothing here, such as the profile that the header names: a column that
            has no other text is hidden.
    """

    HEAD_ROWS = 1
    BINDINGS = make_bindings("list")

    is_stale = reactive(default=False)
    """Whether the text is drawn as outdated."""

    @dataclass(eq=False, repr=False)
    class RowHighlighted(Message):
        """The cursor moved to another row, by user input or because its row was removed; ``None`` if the table is
        empty.
        """

        row_id: str | None

    @dataclass(eq=False, repr=False)
    class RowOpened(Message):
        """The user opened a row, with enter or a second click."""

        row_id: str

    @dataclass(eq=False, repr=False)
    class MarksChanged(Message):
        """The user marked or unmarked rows."""

        before: frozenset[str]
        after: frozenset[str]

    @dataclass(eq=False, repr=False)
    class EndRequested(Message):
        """The user went to the last row."""

    @dataclass(eq=False, repr=False)
    class SideReached(Message):
        """The user went sideways where no other column is.

        Attributes:
            step: -1 to the left, 1 to the right.
        """

        step: int

    @dataclass(eq=False, repr=False)
    class SortRequested(Message):
        """The user requested another sort order with a column head or a key.

        Attributes:
            column_id: The column to sort by; empty for the list's own order.
            reverse: Whether to reverse the order, because the table is already sorted by this column.
        """

        column_id: str
        reverse: bool

    def __init__(
        self, columns: Sequence[Column[Any]], *, measured_rows: int = MEASURED_ROWS, id: str | None = None
    ) -> None:
        super().__init__(id=id)
        self._columns: Final = tuple(columns)
        self._widths: Final = ColumnWidths(self._columns, measured_rows)
        self.rows: Sequence[TableRow] = ()
        self.cursor_key: str | None = None
        self._marks: frozenset[str] = frozenset()
        self._mark_from: str | None = None
        self._follows_top = True
        self._sorted_by: tuple[str, bool] | None = None
        self._is_own_order = False
        self.has_own_order = False
        self.assumed: Mapping[str, str] = {}
        self._placed_in = 0
        self._longest = LONG_TABLE_ROWS // 2
        self._looks: _Looks | None = None
        self._strips: Final[LRUCache[object, Strip]] = LRUCache(MAX_STRIPS)
        self._strips_for: object = None

    # Called by the screen.

    def show(self, rows: Sequence[TableRow]) -> None:
        """Show other rows, or the same ones reordered or changed.

        While the list follows its top, the cursor stays on the first row. Otherwise it stays on its id, and the visible
        rows keep their place on the screen. If the cursor's row is gone, the cursor moves to the row now in its place.
        Passing the same object as before means that no row was added, removed or moved.
        """
        if rows is self.rows:
            if not self._widths.is_measured or self._present_looks() != self._looks:
                self._measure(only_shown=self._widths.is_measured)
                self._lay_out()
                self._refresh_if_changed()
            return
        top = round(self.scroll_y)
        anchor = self._anchor(top)
        before = self.cursor_key
        self._move_selection(rows)
        self.rows = rows
        if not rows:
            # There is nothing to stay on.
            self._follows_top = True
        if len(rows) >= 2 * self._longest:
            # Once every time the list doubles.
            self._longest = len(rows)
            note_long_lived(len(rows))
        follows_top = self.follows_top
        self._cursor = 0 if follows_top else self._find(self._cursor, self.cursor_key)
        self._measure()
        self._lay_out()
        self.cursor_key = rows[self._cursor].key if rows else None
        self.set_size()
        if anchor is not None and self.is_mounted and not follows_top:
            self._keep_in_place(top, *anchor)
        self._refresh_if_changed()
        if self.cursor_key != before:
            self.post_message(self.RowHighlighted(self.cursor_key))

    def measure_again(self) -> None:
        """Measure the first rows again on the next :meth:`show`, because the content of the same rows changed."""
        self._widths.measure_again()

    def forget_widths(self) -> None:
        """Forget all column widths, because other rows come first or every cell of a column is rendered differently."""
        self._widths.forget()

    @property
    def follows_top(self) -> bool:
        """Whether list and cursor stay at the top when rows come: the cursor is at the first row and was not moved, or
        was moved there with a key. A row that the user does something with keeps the cursor.
        """
        return self._follows_top and round(self.scroll_y) == 0

    def leave_top(self) -> None:
        """Keep the cursor on its row from now on, wherever that goes: the user does something with it."""
        self._follows_top = False

    @property
    def rows_above(self) -> int:
        return min(round(self.scroll_y), len(self.rows))

    def select(self, key: str) -> bool:
        """Move the cursor to a row by its id; return whether it exists."""
        index = self._find(-1, key)
        if index < 0:
            return False
        self.move_cursor(index)
        return True

    @property
    def cursor_row(self) -> TableRow | None:
        return self.rows[self._cursor] if self.rows else None

    @property
    def label_without_id(self) -> SafeText | None:
        """The user's label and the id of the row at the cursor, if its column has room for the label alone."""
        row = self.cursor_row
        placed = next((placed for placed in self._placed if placed.column.shows_id), None)
        if row is None or placed is None:
            return None
        text = row.cell(placed.column).text
        _, has_label, short = text.rpartition(" ")
        return text if has_label and short not in self._shown(text, placed) else None

    @property
    def marks(self) -> frozenset[str]:
        """Ids of the marked rows, including rows not shown now."""
        return self._marks

    def mark(self, keys: Collection[str]) -> None:
        """Mark exactly these rows."""
        if self._marks != (marks := frozenset(keys)):
            self._marks = marks
            self.refresh()

    def sorted_by(self, column_id: str | None, *, descending: bool = False, is_own: bool = False) -> None:
        """Show the sort column in the head.

        Args:
            is_own: Whether it is the list's own order, which the head does not mark.
        """
        self._is_own_order = is_own
        self._sorted_by = None if column_id is None else (column_id, descending)
        self._lay_out()
        self.refresh()

    @property
    def is_wide(self) -> bool:
        """Whether every column gets its full width."""
        return self._widths.is_wide

    @property
    def _scroll(self) -> ColumnScroll:
        return self._widths.scroll

    @property
    def _placed(self) -> tuple[PlacedColumn, ...]:
        return self._widths.scroll.placed

    @property
    def column_ids(self) -> tuple[str, ...]:
        return tuple(column.id for column in self._columns)

    @property
    def shown_columns(self) -> tuple[str, ...]:
        return tuple(placed.column.id for placed in self._placed)

    @property
    def shows_order(self) -> bool:
        """Whether the head has the mark of the order; without room for it, only the frame says the order."""
        return any(self._is_marked(placed) for placed in self._placed)

    @property
    def wanted_cells(self) -> int:
        """The width in which every column is whole, with margin and scroll bar."""
        return MARGIN + self._widths.wanted_cells(self._title) + self.size.width - self.cells

    # Drawing.

    def line_count(self) -> int:
        return len(self.rows)

    def draw_head(self, row: int, width: int, style: Style) -> list[Segment]:
        app = get_app(self)
        if width != self._placed_in:
            # The first paint happens before the widget receives its size.
            self._measure()
            self._place()
        marks, left = app.chrome_glyphs, self._left_sign
        segments = [to_segment(line(" " * MARGIN), style)]
        for placed in self._placed:
            role = ACCENT if self._is_marked_by(placed.column) else Role.QUIET
            title = self._title(placed.column) if self._is_marked(placed) else line(placed.column.title)
            if placed.column.keeps_sign and cell_width(title) > placed.width:
                title = line(app.glyphs.good)
            text = fit(title, placed.width, placed.column.align, app.glyphs.ellipsis)
            segments.append(self.piece(text, role, style))
            sign = marks.left if left == MARGIN + placed.start + placed.width + placed.gap - 1 else ""
            segments.append(self.piece(line(" " * (placed.gap - len(sign)) + sign), ACCENT, style))
        if self._placed and self._right_sign is not None:
            last = self._placed[-1]
            room = max(0, width - 1 - MARGIN - last.start - last.width)
            segments[-1] = self.piece(line(" " * room + marks.right), ACCENT, style)
        return segments

    @property
    def _left_sign(self) -> int | None:
        """The cell of the sign that columns are hidden at the left."""
        cells = (one.start + one.width + one.gap for one in self._placed if one.column is self._scroll.after)
        return next((MARGIN + end - 1 for end in cells), None)

    @property
    def _right_sign(self) -> int | None:
        """The cell of the sign that columns are hidden at the right."""
        return self.cells - 1 if self._scroll.is_right else None

    def line_strip(self, index: int, part: int, width: int, style: Style) -> Strip:
        """Return the row's cached drawing if it still looks the same."""
        drawn_for = (get_app(self).palette, self._placed, self._widths.cuts, self.size.width)
        if drawn_for != self._strips_for:
            self._strips_for = drawn_for
            self._strips.clear()
        row = self.rows[index]
        cells = tuple(row.cell(placed.column) for placed in self._placed)
        looks = (cells, style, index == self._cursor, row.key in self._marks, self.is_stale)
        strip = self._strips.get(looks)
        if strip is None:
            strip = self._strips[looks] = super().line_strip(index, part, width, style)
        return strip

    def draw_line(self, index: int, part: int, width: int, style: Style) -> list[Segment]:
        app = get_app(self)
        row = self.rows[index]
        is_marked, is_cursor = row.key in self._marks, index == self._cursor
        segments = [
            self.piece(line(app.chrome_glyphs.marked if is_marked else " "), ACCENT, style),
            self.piece(line(app.chrome_glyphs.cursor if is_cursor else " "), ACCENT, style),
            to_segment(_SPACE, style),
        ]
        for placed in self._placed:
            text, role = row.cell(placed.column)
            shown = self._shown(text, placed)
            segments += [
                self.piece(shown, Role.QUIET if self.is_stale else role, style),
                to_segment(line(" " * placed.gap), style),
            ]
        return segments

    def _shown(self, text: SafeText, placed: PlacedColumn) -> SafeText:
        """Return a cell's text at the width of its column."""
        glyphs = get_app(self).glyphs
        mark = glyphs.ellipsis
        if placed.column.is_id:
            text = fit_id(text, placed.width, glyphs)
        elif (cut := self._widths.cuts.get(placed.column.id)) is not None:
            text = cut(text, placed.width, mark)
        elif placed.column.elides_middle:
            text = elide_middle(text, placed.width, mark)
        elif placed.column.keeps_last_part:
            text = truncate_before(text, f" {glyphs.dot} ", placed.width, mark)
        elif placed.column.keeps_sign and cell_width(text) > placed.width:
            text = line(text.partition(" ")[0])
        elif placed.column.puts_newest_first and cell_width(text) > placed.width:
            text = without_seconds(text)
        if placed.column.keeps_last_words:
            text = last_words(text, placed.width)
        return fit(text, placed.width, placed.column.align, mark)

    def copied_text(self, index: int, start: int, end: int | None) -> str:
        """Return the selected cells with two spaces between them; one that is selected whole gives all of its value."""
        found: list[str] = []
        at = MARGIN
        for placed in self._placed:
            text = self.rows[index].cell(placed.column).text
            shown = self._shown(text, placed)
            first = at + len(shown) - len(shown.lstrip())
            last = at + len(shown.rstrip())
            if start <= first and (end is None or last <= end):
                found.append(text.strip())
            else:
                found.append(shown[max(0, start - at) : None if end is None else max(0, end - at)].strip())
            at += len(shown) + placed.gap
        return "  ".join(filter(None, found))

    def hovered_text(self, index: int, part: int, x: int) -> SafeText | None:
        placed = self._column_at(x)
        if placed is None:
            return None
        text = self.rows[index].cell(placed.column).text
        return None if self._shown(text, placed).strip() == text.strip() else text

    def _column_at(self, x: int) -> PlacedColumn | None:
        for placed in self._placed:
            if placed.start <= x - MARGIN < placed.start + placed.width + placed.gap:
                return placed
        return None

    # Called on user input.

    def jump_targets(self) -> Iterable[JumpTarget]:
        """Yield the rows in sight, by id: they may have moved by the time a label is typed."""
        for index, y in self._lines_in_sight():
            yield JumpTarget(self.content_region.x, y, partial(self._jump_to_key, self.rows[index].key), is_row=True)

    def _jump_to_key(self, key: str) -> None:
        self.focus()
        self.select(key)

    def cursor_moved(self) -> None:
        self.cursor_key = self.rows[self._cursor].key if self.rows else None
        self.post_message(self.RowHighlighted(self.cursor_key))

    def move_cursor(self, index: int) -> None:
        self.leave_top()
        super().move_cursor(index)

    def line_opened(self) -> None:
        if self.cursor_key is not None:
            self.post_message(self.RowOpened(self.cursor_key))

    def action_move_to(self, index: int) -> None:
        """Move the cursor to a row; a negative index counts from the end of the list, which may go on."""
        super().action_move_to(index)
        self._follow_top()
        if index < 0:
            self.post_message(self.EndRequested())

    def action_move(self, step: int) -> None:
        super().action_move(step)
        self._follow_top()

    def action_move_page(self, pages: int) -> None:
        super().action_move_page(pages)
        self._follow_top()

    def _follow_top(self) -> None:
        """Have the list follow its top if a key has moved the cursor there."""
        self._follows_top = self._cursor == 0

    def on_mount(self) -> None:
        self._lay_out()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Lay out the columns for the rows that come into sight: a number among them may be wider."""
        super().watch_scroll_y(old_value, new_value)
        if self.is_mounted and round(old_value) != round(new_value):
            self._measure(only_shown=True)
            self._lay_out()

    def on_unmount(self) -> None:
        """Release the rows: there may be very many."""
        self.rows = ()
        self._widths.measure_again()

    def on_resize(self, event: events.Resize) -> None:
        self._measure()
        self._lay_out()

    async def on_click(self, event: events.Click) -> None:
        offset = event.get_content_offset(self)
        if offset is None or offset.y >= self.HEAD_ROWS or self.text_selection is not None:
            return
        placed = self._column_at(offset.x)
        if offset.x in {self._left_sign, self._right_sign}:
            self.action_move_sideways(1 if offset.x == self._right_sign else -1)
        elif placed is not None:
            self._ask_order(placed.column.id)

    def action_mark(self) -> None:
        """Toggle the mark of the row under the cursor and move to the next row."""
        if self.cursor_key is None:
            return
        self._mark_from = self.cursor_key
        self._change_marks(self._marks ^ {self.cursor_key})
        self.move_cursor(self._cursor + 1)

    def action_mark_range(self) -> None:
        """Mark all rows from the last marked one to the cursor."""
        if self.cursor_key is None:
            return
        self.leave_top()
        start = self._find(self._cursor, self._mark_from) if self._mark_from else self._cursor
        first, last = sorted((start, self._cursor))
        self._mark_from = self.cursor_key
        self._change_marks(self._marks | {self.rows[index].key for index in range(first, last + 1)})

    def _change_marks(self, keys: Collection[str]) -> None:
        before = self.marks
        self.mark(keys)
        if self.marks != before:
            self.post_message(self.MarksChanged(before, self.marks))

    def action_sort(self) -> None:
        """Sort by the next column in sight, and after the last one in the list's own order."""
        ids = [*self.shown_columns, *([""] if self.has_own_order else ())]
        is_usual = self._sorted_by is None or (self._is_own_order and self.has_own_order)
        present = "" if self._sorted_by is None or is_usual else self._sorted_by[0]
        if present not in ids:
            # A column that is out of sight: go on behind the nearest one before it that is not.
            every = self.column_ids
            before = every[: every.index(present)] if present in every else ()
            present = next((id for id in reversed(before) if id in ids), ids[-1])
        self.post_message(self.SortRequested(ids[(ids.index(present) + 1) % len(ids)], reverse=False))

    def action_reverse(self) -> None:
        if self._sorted_by is not None:
            self._ask_order(self._sorted_by[0])

    def action_wide(self) -> None:
        """Toggle full column widths; left and right then scroll the columns that do not fit into view."""
        self._widths.toggle_wide()
        self._measure()
        self._lay_out()

    def action_move_sideways(self, step: int) -> None:
        """Bring the next hidden column into sight, or undo that."""
        before = self._scroll.steps
        self._widths.step(step)
        self._place()
        if self._scroll.steps == before:
            self.post_message(self.SideReached(step))
        else:
            self.refresh()

    def _ask_order(self, column_id: str) -> None:
        is_present = self._sorted_by is not None and self._sorted_by[0] == column_id
        self.post_message(self.SortRequested(column_id, is_present))

    def _is_marked_by(self, column: Column[Any]) -> bool:
        return self._sorted_by is not None and self._sorted_by[0] == column.id and not self._is_own_order

    def _is_marked(self, placed: PlacedColumn) -> bool:
        return self._is_marked_by(placed.column) and cell_width(self._title(placed.column)) <= placed.width

    def _title(self, column: Column[Any]) -> SafeText:
        """Return the head of a column, of the one that the user sorts by with the mark of the order."""
        if self._sorted_by is None or not self._is_marked_by(column):
            return line(column.title)
        marks = get_app(self).chrome_glyphs
        is_falling = self._sorted_by[1] is not column.puts_newest_first
        return line(f"{column.title} {marks.falling if is_falling else marks.rising}")

    def _find(self, index: int, key: str | None) -> int:
        """Return the current index of a row, or the nearest to ``index`` if it is gone."""
        rows = self.rows
        if key is not None and not (0 <= index < len(rows) and rows[index].key == key):
            # With a hundred thousand rows, a Python loop takes longer than a frame.
            with contextlib.suppress(ValueError):
                return indexOf(map(attrgetter("key"), rows), key)
        return min(index, max(0, len(rows) - 1))

    def _move_selection(self, rows: Sequence[TableRow]) -> None:
        """Keep the selection on its first and last row; drop it if they are gone or others came between them."""
        selection = self.text_selection if self.is_mounted else None
        if selection is None:
            return
        start, end = selection
        steps = {None if edge is None else self._step_of(edge.y - self.HEAD_ROWS, rows) for edge in selection}
        step = steps.pop() if len(steps) == 1 else None
        if start is None or end is None or step is None:
            drop_selection(self)
        elif step:
            moved = Selection(start + Offset(0, step), end + Offset(0, step))
            self.screen.selections = {**self.screen.selections, self: moved}

    def _step_of(self, index: int, rows: Sequence[TableRow]) -> int | None:
        """Return how far a row moves when other rows are shown; ``None`` if it is gone or far away."""
        if not 0 <= index < len(self.rows):
            return None
        key = self.rows[index].key
        return next((at - index for at in _around(index, len(rows)) if rows[at].key == key), None)

    def _anchor(self, top: int) -> tuple[str, int] | None:
        """Return a visible row's key and its offset from the top: the cursor's row if visible, else the first."""
        if not self.rows:
            return None
        offset = self._cursor - top
        if 0 <= offset < self.rows_in_sight and self.cursor_key is not None:
            return self.cursor_key, offset
        top = min(top, len(self.rows) - 1)
        return self.rows[top].key, 0

    def _keep_in_place(self, top: int, key: str, offset: int) -> None:
        # Finding one of a hundred thousand rows takes as long as a frame, and the cursor's row is already found.
        index = self._cursor if key == self.cursor_key else self._find(top + offset, key)
        if top == 0 and key == self.cursor_key and index < self.rows_in_sight:
            return
        self.scroll_to(y=max(0, index - offset), animate=False, force=True)

    def _measure(self, *, only_shown: bool = False) -> None:
        """Measure the first rows and those in sight, and unless ``only_shown`` those from the cursor on."""
        top, rows = round(self.scroll_y), self.rows_in_sight
        sight = set(range(top, min(top + rows, len(self.rows))))
        if not only_shown:
            # Other rows are scrolled to the cursor after this.
            sight.update(range(self._cursor, min(self._cursor + rows, len(self.rows))))
        self._widths.measure(self.rows, sight, rows, get_app(self).glyphs, assumed=self.assumed, only_shown=only_shown)

    def _lay_out(self) -> None:
        if not self.is_mounted:
            return
        before = self._scroll
        self._place()
        if self._scroll != before:
            self.refresh()

    def _place(self) -> None:
        self._placed_in = self.cells
        # A full window stays full when a filter bar takes a line of it.
        known = len(self.rows) if len(self.rows) < self.rows_in_sight else MEASURED_ROWS
        self._widths.lay_out(self.cells - MARGIN, known, self._title, get_app(self).glyphs.ellipsis)

    def _refresh_if_changed(self) -> None:
        """Redraw only what changed: rows are updated every second, and a screen may stay open for days."""
        before, self._looks = self._looks, self._present_looks()
        if before is None or before.frame != self._looks.frame:
            self.refresh()
            return
        top = round(self.scroll_y)
        pairs = enumerate(zip(before.rows, self._looks.rows, strict=True), top)
        if changed := [index for index, (old, new) in pairs if old != new]:
            self._refresh_lines(*changed)

    def _present_looks(self) -> _Looks:
        top = round(self.scroll_y)
        sight = range(top, min(len(self.rows), top + self.rows_in_sight))
        columns = [placed.column for placed in self._placed]
        rows = ((index == self._cursor, self.rows[index]) for index in sight)
        return _Looks(
            (len(self.rows), top, len(sight), self._scroll),
            tuple((is_cursor, row.key, *map(row.cell, columns)) for is_cursor, row in rows),
        )


def _around(index: int, count: int) -> Iterable[int]:
    """Yield the indices within :data:`MAX_SELECTION_STEP` of one, the nearest first."""
    for step in range(MAX_SELECTION_STEP):
        yield from (at for at in {index - step, index + step} if 0 <= at < count)


_SPACE: Final = line(" ")
