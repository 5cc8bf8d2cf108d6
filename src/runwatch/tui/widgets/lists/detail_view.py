"""A record field by field: sections, multi-row values and links to other records."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.geometry import Size
from textual.message import Message
from textual.reactive import reactive

from runwatch.base.text import cell_width
from runwatch.tui.core.jump_target import JumpTarget
from runwatch.tui.core.key_bindings import make_bindings
from runwatch.tui.core.mouse_selection import drop_selection
from runwatch.tui.core.rendering import StyledSpan
from runwatch.tui.core.themes import ACCENT
from runwatch.tui.core.widget_app import get_app
from runwatch.tui.widgets.lists.detail_layout import (
    DetailLayout,
    DetailLink,
    DetailRow,
    PlotInSight,
    find_cursor_row,
    find_entry_row,
    find_entry_start,
    label_cells,
)
from runwatch.tui.widgets.lists.line_list import LineList
from runwatch.view.detail.column_plot import PlotPlace
from runwatch.view.detail.fold_state import FoldHeader, FoldKey
from runwatch.view.detail.sections import DetailLine, DetailSection
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import SafeText, line

if TYPE_CHECKING:
    from runwatch.tui.widgets.bars.status_bar import KeyHint

MARGIN: Final = 2
"""Cells before a label: the cursor and the fold mark."""

FOLDED: Final = line("+")
"""Precedes a folded heading."""


class DetailView(LineList, inherit_bindings=False):
    """Sections of a record.

    Titled sections and tree branches can be folded; the fold state is kept while the console runs, by the name of a
    resource or, without one, by the screen and the id of the view.
    """

    HIDES_CURSOR = True
    BINDINGS = make_bindings("detail")

    is_stale = reactive(default=False)
    """Whether the text is drawn as outdated."""

    @dataclass(eq=False, repr=False)
    class LinkOpened(Message):
        """The user opened a field's link, as passed by the screen."""

        link: object

    @dataclass(eq=False, repr=False)
    class EmptyDayOpened(Message):
        """The user opened a day of a plot which leads nowhere; the words are the day, and what is known of it."""

        words: SafeText

    class NothingOpened(Message):
        """The user pressed enter on a line that leads nowhere."""

    class WidthChanged(Message):
        """The cells of a row are others than when the view was last shown; plots made for the old width are wrong."""

    class HintsChanged(Message):
        """The cursor came into a plot or left it, or enter does something else on its line than on the one before."""

    def __init__(self, *, about: str = "", id: str | None = None) -> None:
        super().__init__(id=id)
        self._about: Final = about
        self._is_whole = False
        self._sections: tuple[DetailSection, ...] = ()
        self._links: tuple[DetailLink, ...] = ()
        self._head: tuple[StyledSpan, ...] = ()
        self._rows: list[DetailRow] = []
        self._wanted_lead: type | None = None
        self._wanted_place = ""
        self._places: dict[FoldKey, PlotPlace] = {}
        self._known_cells = 0
        self._hinted: tuple[bool, str | None] = False, None

    # Called by the screen.

    def show(
        self,
        sections: Sequence[DetailSection],
        links: Sequence[DetailLink] = (),
        *,
        head: Sequence[StyledSpan] = (),
        whole: bool = False,
    ) -> None:
        """Show other sections; the scroll position stays, so that a refresh moves nothing.

        Args:
            sections: The fields; a section without a title only separates its fields.
            links: Links to other records, shown last.
            head: A line above everything, such as what this kind of record never contains.
            whole: Whether to unfold everything, such as for search results.
        """
        shown = (tuple(sections), tuple(links), tuple(head), whole)
        if shown == (self._sections, self._links, self._head, self._is_whole):
            return
        self._sections, self._links, self._head, self._is_whole = shown
        self._lay_out()

    def reset(self) -> None:
        """Move to the first line, for another record."""
        self._wanted_place = ""
        drop_selection(self)
        if not self.size.width:
            # A hidden pane has the rows of the record that it showed last, among which no target must be looked for.
            self._rows = []
        self.move_cursor(0)
        self.scroll_to(y=0, animate=False)

    def value_cells(self, labels: Sequence[SafeText]) -> int:
        """Return the cells available to values beside these labels, or below them in a narrow window.

        While the view is hidden, these are the cells that it had when it was last shown.
        """
        room = max(1, (self.cells or self._known_cells) - MARGIN)
        beside = label_cells(labels, room)
        return room - (beside + 3 if beside else 2 if any(labels) else 0)

    def go_to_target(self, kind: type = object) -> None:
        """Move the cursor to the first line with a target of this kind, unless the user has moved the cursor."""
        # A hidden pane has no layout yet; the search is then repeated after the layout.
        self._wanted_lead = None if self._rows else kind
        if self._cursor == 0:
            self._unfold_lead(kind)
            found = (index for index, row in enumerate(self._rows) if row.target is not None)
            self.move_cursor(next((index for index in found if isinstance(self._rows[index].target, kind)), 0))

    def go_to_section(self, title: SafeText, words: Sequence[str] = ()) -> None:
        """Move the cursor to a section's heading, and scroll the heading to the top.

        With case-folded words, the cursor goes on to the line that has all of them, or is in a value that has.
        """
        found = (index for index, row in enumerate(self._rows) if row.head is not None and row.head.key == (title,))
        index = next(found, 0)
        self.move_cursor_to_top(index)
        if words:
            rows = self._rows[index + 1 :]
            drawn = [" ".join(text for text, _ in row.pieces).casefold() for row in rows]
            whole = [str(row.value or "").casefold() for row in rows]
            hits = (
                at for texts in (drawn, whole) for at, text in enumerate(texts) if all(word in text for word in words)
            )
            self.move_cursor(index + 1 + next(hits, -1))

    @property
    def place(self) -> str:
        """The line under the cursor, for :meth:`go_to_place`: its number in its section, and the section's title."""
        part = self._rows[self._cursor].part[:1] if self._rows else ()
        return f"{self._cursor - (self._first_row_of(part) or 0)} {part[0] if part else ''}"

    def go_to_place(self, place: str) -> None:
        """Move the cursor to a line of a section once that is shown, unless the user moves it before."""
        self._wanted_place = place
        self._go_to_wanted_place()

    def _go_to_wanted_place(self) -> None:
        number, _, title = self._wanted_place.partition(" ")
        first = self._first_row_of((line(title, None),) if title else ())
        if first is not None and number.isdecimal():
            self._wanted_place = ""
            self.move_cursor(first + int(number))

    def _first_row_of(self, part: FoldKey) -> int | None:
        rows = enumerate(self._rows)
        return next((index for index, row in rows if row.entry is not None and row.part[:1] == part), None)

    @property
    def value(self) -> SafeText | None:
        """The complete value under the cursor."""
        return self._rows[self._cursor].value if self._rows else None

    @property
    def plot_hints(self) -> Sequence[KeyHint]:
        """The hints for a plot: grouping works in the whole view, the days where the focus and the cursor are in the
        plot.
        """
        grouping: tuple[KeyHint, ...] = ("detail.group",) if self._plot_to_group is not None else ()
        has_days = self._is_in_plot and self.has_focus
        return (*grouping, ("detail.fold", "day before"), ("detail.unfold", "next day")) if has_days else grouping

    @property
    def _plot_to_group(self) -> PlotInSight | None:
        """The plot at the cursor, or the first one in sight, or the first of all, of those that can be grouped."""
        top = round(self.scroll_y)
        rows = self._rows[self._cursor : self._cursor + 1] + self._rows[top : top + self.rows_in_sight] + self._rows
        return next((row.plot for row in rows if row.plot is not None and row.plot.plot.groupings), None)

    @property
    def _is_in_plot(self) -> bool:
        return bool(self._rows) and self._rows[self._cursor].plot is not None

    def cursor_moved(self) -> None:
        self._wanted_place = ""
        self._update_hints()

    def _update_hints(self) -> None:
        before, self._hinted = self._hinted, (self._is_in_plot, self.enter_label)
        if self._hinted != before:
            self.post_message(self.HintsChanged())

    @property
    def enter_label(self) -> str | None:
        """The screen's word for a link, and that for a folded part."""
        head = self._rows[self._cursor].head if self._rows else None
        return None if self.has_target else "unfold" if head is not None and head.is_folded else ""

    @property
    def target(self) -> object | None:
        """The link target of the row under the cursor; ``None`` if it has none."""
        return self._rows[self._cursor].target if self._rows else None

    @property
    def has_target(self) -> bool:
        return self.target is not None

    # Drawing.

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """Return the rows the fields need, even before they are drawn, so that widgets below never move."""
        if self._rows:
            return super().get_content_height(container, viewport, width)
        return len(self._rows_in(max(1, width - self.styles.scrollbar_size_vertical - MARGIN)))

    def line_count(self) -> int:
        return len(self._rows)

    def draw_line(self, index: int, part: int, width: int, style: Style) -> list[Segment]:
        app, row = get_app(self), self._rows[index]
        is_cursor = index == self._cursor and self.has_focus
        sign = FOLDED if row.head is not None and row.head.is_folded else _SPACE
        segments = [self.piece(line(app.chrome_glyphs.cursor if is_cursor else " "), ACCENT, style)]
        segments.append(self.piece(sign, ACCENT, style))
        for text, role in row.pieces:
            segments.append(self.piece(text, Role.QUIET if self.is_stale and role != ACCENT else role, style))
        return segments

    def copied_text(self, index: int, start: int, end: int | None) -> str:
        """Return the text without the marks of the margin."""
        return (" " * MARGIN + "".join(piece for piece, _ in self._rows[index].pieces))[start:end]

    # Called on user input.

    def jump_targets(self) -> Iterable[JumpTarget]:
        x, before = self.content_region.x, None
        for index, y in self._lines_in_sight():
            row = self._rows[index]
            # A value of several rows is one link.
            if row.target is not None and row.target is not before:
                yield JumpTarget(x, y, partial(self._jump_to_link, row.target, index))
            elif row.head is not None:
                yield JumpTarget(x, y, partial(self.jump_to_line, index), is_row=True)
            before = row.target

    def _jump_to_link(self, target: object, index: int) -> None:
        # The record may have been read again meanwhile.
        found = find_cursor_row(target, self._rows, min(index, len(self._rows) - 1))
        self.jump_to_line(found)
        if self._rows[found].target == target:
            self.line_opened()

    def action_move_page(self, pages: int) -> None:
        super().action_move_page(pages)
        self._go_to_entry()

    def action_move_to(self, index: int) -> None:
        super().action_move_to(index)
        self._go_to_entry()

    def _go_to_entry(self) -> None:
        """Move the cursor to the first row of a wrapped entry, unless that is out of sight."""
        first = find_entry_start(self._rows, self._cursor)
        if first >= round(self.scroll_y):
            self.move_cursor(first)

    def line_opened(self) -> None:
        """Open the row's link, or unfold the part below it."""
        row = self._rows[self._cursor]
        if row.target is not None:
            self.post_message(self.LinkOpened(row.target))
        elif row.plot is not None:
            self.post_message(self.EmptyDayOpened(row.value or line("")))
        elif row.head is not None and row.head.is_folded:
            self.action_unfold()
        else:
            self.post_message(self.NothingOpened())

    def action_toggle_fold(self) -> None:
        head = self._part_at_cursor()
        if head is not None:
            self._fold([head.key], folded=not head.is_folded)

    def action_fold(self) -> None:
        """Move to the heading of the part at the cursor; on the heading, fold it, or move to its parent if it is
        folded. In a plot, go to the day before.
        """
        if self._choose_day(-1):
            return
        head = self._part_at_cursor()
        if head is None:
            return
        if self._rows[self._cursor].head is head and not head.is_folded:
            self._fold([head.key], folded=True)
            return
        wanted = head.key[:-1] if head.is_folded else head.key
        around = (index for index, row in enumerate(self._rows) if row.head is not None and row.head.key == wanted)
        self.move_cursor(next(around, self._cursor))

    def action_unfold(self) -> None:
        """Unfold the part whose heading is under the cursor; in a plot, go to the next day."""
        if self._choose_day(1):
            return
        head = self._part_at_cursor()
        if head is not None and head.is_folded:
            self._fold([head.key], folded=False)

    def action_fold_all(self) -> None:
        """Fold every section, or unfold all if all are folded."""
        heads = [row.head for row in self._rows if row.head is not None and len(row.head.key) == 1]
        self._fold([head.key for head in heads], folded=not all(head.is_folded for head in heads))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Leave the key that groups to the screen where nothing here can be grouped."""
        if action == "group" and self._plot_to_group is None:
            return False
        return super().check_action(action, parameters)

    def action_group(self) -> None:
        """Divide the columns of a plot in the next way, and bring it into sight."""
        seen = self._plot_to_group
        if seen is not None:
            self._choose(seen, seen.plot.regrouped(seen.place))
            self._show_plot(seen.key)

    def _show_plot(self, key: FoldKey) -> None:
        """Scroll to the last row of a plot, unless it is in sight, and take the cursor along."""
        last = self._last_row_of_plot(key)
        if not 0 <= last - round(self.scroll_y) < self.rows_in_sight:
            self.move_cursor(last)
            self._scroll_at_once(max(0, last - self.rows_in_sight + 1))

    def _choose_day(self, step: int) -> bool:
        """Go to another day of the plot at the cursor; return whether there is one."""
        seen = self._rows[self._cursor].plot if self._rows else None
        if seen is not None:
            self._choose(seen, seen.plot.moved(seen.place, step))
        return seen is not None

    def _choose(self, seen: PlotInSight, place: PlotPlace) -> None:
        self._places[seen.key] = place
        before, self._rows = self._rows, self._rows_in(max(1, self.cells - MARGIN))
        self._refresh_changed(before, self._rows)
        last = self._last_row_of_plot(seen.key)
        # The last row shows the parts of the chosen day.
        if last >= round(self.scroll_y) + self.rows_in_sight and last - self._cursor < self.rows_in_sight:
            self._scroll_at_once(last - self.rows_in_sight + 1)

    def _last_row_of_plot(self, key: FoldKey) -> int:
        return max((n for n, row in enumerate(self._rows) if row.plot and row.plot.key == key), default=0)

    def _place_in(self, key: FoldKey) -> PlotPlace:
        return self._places.get(key, PlotPlace())

    async def on_click(self, event: events.Click) -> None:
        """Toggle the part whose heading is clicked, choose the day, or open the link, unless text is being selected."""
        offset = event.get_content_offset(self)
        found = None if offset is None or event.chain != 1 or self.text_selection else self.row_at(offset.y)
        if offset is None or found is None:
            return
        row = self._rows[found[0]]
        if row.head is not None:
            self.move_cursor(found[0])
            self._fold([row.head.key], folded=not row.head.is_folded)
        elif row.plot is not None:
            self.move_cursor(found[0])
            number = row.plot.columns.day_at(offset.x - MARGIN)
            if number is not None:
                self._choose_day(number - row.plot.plot.chosen(row.plot.place))
        elif row.target is not None and self._is_on_link(row, offset.x):
            self.move_cursor(found[0])
            self.line_opened()

    def _is_on_link(self, row: DetailRow, x: int) -> bool:
        """Return whether a cell is part of the link's text, not of its label or of the free cells after it."""
        label, *others = (cell_width(text) for text, _ in row.pieces)
        return MARGIN + label <= x < MARGIN + label + sum(others)

    def on_mount(self) -> None:
        self._lay_out()

    def on_resize(self, event: events.Resize) -> None:
        self._lay_out()
        if self.cells != self._known_cells:
            self._known_cells = self.cells
            self.post_message(self.WidthChanged())

    def _lay_out(self) -> None:
        if not self.is_mounted or not self.size.width:
            return
        before, cursor = self._rows, self._cursor
        target = before[cursor].target if before else None
        self._rows = rows = self._rows_in(max(1, self.cells - MARGIN))
        # The first row is where the cursor is before the user moves it.
        found = find_entry_row(before, rows, cursor) if cursor > 0 else None
        self._cursor = found if found is not None else find_cursor_row(target, rows, max(0, min(cursor, len(rows) - 1)))
        is_in_sight = 0 <= cursor - round(self.scroll_y) < self.rows_in_sight
        self.set_size()
        if self._wanted_lead is not None and rows:
            self.go_to_target(self._wanted_lead)
        if self._wanted_place:
            self._go_to_wanted_place()
        if self._cursor == cursor:
            self._refresh_changed(before, rows)
        else:
            self.refresh()
            if is_in_sight:
                self.show_cursor()
        self._update_hints()

    def _rows_in(self, room: int) -> list[DetailRow]:
        """Return the rows of the fields at a width of ``room`` cells."""
        app = get_app(self)
        layout = DetailLayout(room, app.glyphs, app.chrome_glyphs.crumb, self._is_folded, self._place_in)
        return layout.rows(self._sections, self._links, self._head)

    def _unfold_lead(self, kind: type) -> None:
        """Unfold the first section with a target of this kind, unless such a line is already visible."""
        if any(row.target is not None and isinstance(row.target, kind) for row in self._rows):
            return
        for section in self._sections:
            if any(entry.target is not None and isinstance(entry.target, kind) for entry in section.lines):
                if self._is_folded((section.title,), 0):
                    self._fold([(section.title,)], folded=False)
                return

    def _is_folded(self, key: FoldKey, count: int) -> bool:
        return not self._is_whole and get_app(self).folds.is_folded(self._name_of_folds, key, count)

    @property
    def _name_of_folds(self) -> str:
        """The name for fold state; without ``about``, the screen and id of the view."""
        return self._about or f"{type(self.screen).__name__} {self.id}"

    def _fold(self, keys: Sequence[FoldKey], *, folded: bool) -> None:
        """Fold or unfold parts; after folding, move the cursor to the nearest visible heading."""
        part = self._rows[self._cursor].part if self._rows else ()
        for key in keys:
            get_app(self).folds.fold(self._name_of_folds, key, folded=folded)
        self._lay_out()
        heads = {row.head.key: index for index, row in enumerate(self._rows) if row.head is not None}
        gone = [part[:depth] for depth in range(len(part), 0, -1)]
        if folded:
            self.move_cursor(next((heads[key] for key in gone if key in heads), self._cursor))
        self.show_cursor()

    def _part_at_cursor(self) -> FoldHeader | None:
        part = self._rows[self._cursor].part if self._rows else ()
        return next((row.head for row in self._rows if row.head is not None and row.head.key == part), None)


_SPACE: Final = line(" ")


def text_section(*texts: SafeText, role: Role = Role.PLAIN) -> DetailSection:
    """Return a section of texts without labels, such as sentences in place of fields, or JSON."""
    return DetailSection(line(""), tuple(DetailLine(line(""), text, role) for text in texts))
