"""A record field by field: sections, long values on several rows, and ways to other records."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import BindingType
from textual.geometry import Size
from textual.selection import Selection
from textual.strip import Strip

from runwatch.base.text import cell_width
from runwatch.tui.actions import bindings
from runwatch.tui.draw import Piece, segment, word
from runwatch.tui.kit import kit
from runwatch.tui.messages import LinkFollowed
from runwatch.tui.themes import ACCENT
from runwatch.tui.widgets.line_list import LineList
from runwatch.tui.widgets.wrapping import wrapped
from runwatch.view.drawn import Drawn, cut, fit, line
from runwatch.view.glyphs import Role

if TYPE_CHECKING:
    from runwatch.view.detail import Section

MARGIN: Final = 2
"""Cells before a label: the cursor, a space."""

LABEL_CELLS: Final = 26
"""The widest label; longer ones are cut."""

LEAST_VALUE_CELLS: Final = 20
"""What a value needs beside its label; in a narrower window it starts below it."""


@dataclass(frozen=True, slots=True)
class DetailLink:
    """A way from the record to another one.

    Attributes:
        label: What the other one is to this one.
        text: Its name or id.
        target: What the screen gets when a person follows it.
    """

    label: Drawn
    text: Drawn
    target: object


@dataclass(frozen=True, slots=True)
class _Row:
    """One row of the view: what is drawn on it, and what stands behind it."""

    pieces: tuple[Piece, ...]
    value: Drawn | None = None
    target: object = None


class DetailView(LineList, inherit_bindings=False):
    """Sections of a record. The text can be selected with the mouse.

    Args:
        id: The widget's id.
        classes: The widget's classes.
    """

    ALLOW_SELECT = True
    BINDINGS: ClassVar[list[BindingType]] = bindings("detail")

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._sections: tuple[Section, ...] = ()
        self._links: tuple[DetailLink, ...] = ()
        self._head: tuple[Piece, ...] = ()
        self._rows: list[_Row] = []
        self._is_stale = False
        self._wanted_lead: type | None = None

    # What the screen says and asks.

    def show(
        self, sections: Sequence[Section], links: Sequence[DetailLink] = (), *, head: Sequence[Piece] = ()
    ) -> None:
        """Show other sections; the window stays where it is, so that a refresh moves nothing.

        Args:
            sections: The fields; a section without a title only sets its fields apart.
            links: Ways to other records, shown last.
            head: A line above everything, such as what this kind of record never holds.
        """
        shown = (tuple(sections), tuple(links), tuple(head))
        if shown == (self._sections, self._links, self._head):
            return
        self._sections, self._links, self._head = shown
        self._lay_out()

    def start_over(self) -> None:
        """Go to the first line, as for another record."""
        self.move_cursor(0)
        self.scroll_to(y=0, animate=False)

    def value_cells(self, labels: Sequence[Drawn]) -> int:
        """The cells that values have which stand beside labels like these, or below them in a narrow window."""
        room = max(1, self.cells - MARGIN)
        beside = _label_cells(labels, room)
        return room - (beside + 3 if beside else 2 if any(labels) else 0)

    def go_to_lead(self, kind: type = object) -> None:
        """Put the cursor on the first line that leads to something of a kind, unless a person has put it elsewhere."""
        # Fields that were not laid out yet, because the pane was hidden, are gone through when they are.
        self._wanted_lead = None if self._rows else kind
        if self._cursor == 0:
            found = (index for index, row in enumerate(self._rows) if row.target is not None)
            self.move_cursor(next((index for index in found if isinstance(self._rows[index].target, kind)), 0))

    @property
    def value(self) -> Drawn | None:
        """The whole value that the cursor stands on."""
        return self._rows[self._cursor].value if self._rows else None

    @property
    def has_target(self) -> bool:
        """Whether the row that the cursor stands on leads anywhere."""
        return bool(self._rows) and self._rows[self._cursor].target is not None

    @property
    def is_stale(self) -> bool:
        """Whether the fields are drawn as old ones."""
        return self._is_stale

    @is_stale.setter
    def is_stale(self, stale: bool) -> None:
        if self._is_stale != stale:
            self._is_stale = stale
            self.refresh()

    # How it is drawn.

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """The rows that the fields need, also before they were drawn: what stands below them never has to move."""
        if self._rows:
            return super().get_content_height(container, viewport, width)
        return len(self._rows_in(max(1, width - self.styles.scrollbar_size_vertical - MARGIN)))

    def line_count(self) -> int:
        """How many rows there are."""
        return len(self._rows)

    def draw_line(self, index: int, part: int, width: int, style: Style) -> list[Segment]:
        """One row."""
        app = kit(self)
        is_cursor = index == self._cursor and self.has_focus
        segments = [self.piece(line(app.marks.cursor if is_cursor else " "), ACCENT, style), segment(_SPACE, style)]
        for text, role in self._rows[index].pieces:
            segments.append(self.piece(text, Role.QUIET if self._is_stale and role != ACCENT else role, style))
        return segments

    def cursor_style(self) -> Style:
        """The cursor is drawn only where a person moves it: details are read more than walked through."""
        return super().cursor_style() if self.has_focus else self.get_component_rich_style("line-list--line")

    def render_line(self, y: int) -> Strip:
        """One row of the window, ready to be selected with the mouse."""
        strip = super().render_line(y)
        row = round(self.scroll_y) + y
        selection = self.text_selection
        if selection is not None and (span := selection.get_span(row)) is not None:
            start, end = span
            marked = self.screen.get_component_rich_style("screen--selection")
            end = strip.cell_length if end == -1 else end
            before, inside, after = strip.crop(0, start), strip.crop(start, end), strip.crop(end)
            strip = Strip.join([before, inside.apply_style(marked), after])
        return strip.apply_offsets(0, row)

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """The text that was selected with the mouse."""
        margin = " " * MARGIN
        text = "\n".join(margin + "".join(piece for piece, _ in row.pieces) for row in self._rows)
        return selection.extract(text), "\n"

    def selection_updated(self, selection: Selection | None) -> None:
        """Draw what is selected."""
        self.refresh()

    # What people do.

    def line_chosen(self) -> None:
        """Follow the link of the row."""
        target = self._rows[self._cursor].target
        if target is not None:
            self.post_message(LinkFollowed(self, target))

    def on_mount(self) -> None:
        """Lay the fields out."""
        self._lay_out()

    def on_resize(self, event: events.Resize) -> None:
        """Lay the fields out for the new width."""
        self._lay_out()

    # Inside.

    def _lay_out(self) -> None:
        if not self.is_mounted or not self.size.width:
            return
        held = self._rows[self._cursor].target if self._rows else None
        self._rows = rows = self._rows_in(max(1, self.cells - MARGIN))
        self._cursor = _place_of(held, rows, max(0, min(self._cursor, len(rows) - 1)))
        self.set_size()
        if self._wanted_lead is not None and rows:
            self.go_to_lead(self._wanted_lead)
        self.refresh()

    def _rows_in(self, room: int) -> list[_Row]:
        """The rows that the fields take in so many cells."""
        rows: list[_Row] = [_Row(self._head), _EMPTY] if self._head else []
        for group in _groups(self._sections):
            labels = _label_cells([entry.label for section in group for entry in section.lines], room)
            for section in group:
                if section.title:
                    rows.append(_Row(((section.title, ACCENT),)))
                for entry in section.lines:
                    note = entry.note or entry.does or (kit(self).marks.crumb if entry.target is not None else "")
                    rows += self._field(entry.label, entry.text, entry.role, note, labels, room, entry.target)
                rows.append(_EMPTY)
        labels = _label_cells([link.label for link in self._links], room)
        for link in self._links:
            rows += self._field(link.label, link.text, ACCENT, kit(self).marks.crumb, labels, room, link.target)
        while rows and rows[-1] is _EMPTY:
            rows.pop()
        return rows

    def _field(
        self, label: Drawn, text: Drawn, role: str, note: str, labels: int, room: int, target: object = None
    ) -> list[_Row]:
        """A label and its value: side by side, or the value below where the window is narrow."""
        rows: list[_Row] = []
        mark = kit(self).glyphs.ellipsis
        if labels:
            label = fit(cut(label, labels, mark), labels)
            indent = labels + 3
        elif label:
            rows.append(_Row(((cut(label, room, mark), Role.QUIET),), text, target))
            indent = 2
        else:
            indent = 0
        values = wrapped(text, max(1, room - indent))
        for number, value in enumerate(values):
            first = (line(f"{label}   "), Role.QUIET) if labels and not number else (line(" " * indent), Role.QUIET)
            rows.append(_Row((first, (value, role)), text, target))
        if note and rows:
            beside = (line(f"   {note}"), Role.QUIET)
            if sum(cell_width(piece) for piece, _ in (*rows[-1].pieces, beside)) <= room:
                rows[-1] = _Row((*rows[-1].pieces, beside), text, target)
            else:
                rows.append(_Row(((line(" " * indent), Role.QUIET), word(note)), text, target))
        return rows


def _place_of(held: object, rows: Sequence[_Row], cursor: int) -> int:
    """Where the cursor stands in new rows: on what it led to before, wherever that has moved, else where it was."""
    if held is None or (rows and rows[cursor].target == held):
        return cursor
    return next((index for index, row in enumerate(rows) if row.target == held), cursor)


def _groups(sections: Sequence[Section]) -> Iterator[list[Section]]:
    """Sections whose values stand below each other: one with a title, and those without that follow it."""
    group: list[Section] = []
    for section in sections:
        if section.title and group:
            yield group
            group = []
        group.append(section)
    if group:
        yield group


def _label_cells(labels: Sequence[Drawn], room: int) -> int:
    """The cells of the labels of a group; 0 where values stand below their labels because the window is narrow."""
    cells = min(max(map(cell_width, labels), default=0), LABEL_CELLS)
    return cells if room - cells - 3 >= LEAST_VALUE_CELLS else 0


_EMPTY: Final = _Row(())
_SPACE: Final = line(" ")
