"""A record field by field: sections, long values on several rows, and ways to other records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import BindingType
from textual.geometry import Size
from textual.selection import Selection
from textual.strip import Strip

from runwatch.tui.core.key_bindings import make_bindings
from runwatch.tui.core.messages import WidgetMessage
from runwatch.tui.core.rendering import StyledSpan
from runwatch.tui.core.themes import ACCENT
from runwatch.tui.core.widget_app import get_app
from runwatch.tui.widgets.lists.detail_layout import DetailLayout, DetailLink, DetailRow, find_cursor_row, label_cells
from runwatch.tui.widgets.lists.line_list import LineList
from runwatch.view.detail.fold_state import FoldHeader, FoldKey
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import SafeText, line

if TYPE_CHECKING:
    from runwatch.view.detail.sections import DetailSection

MARGIN: Final = 2
"""Cells before a label: the cursor, and the sign of what is folded."""

FOLDED: Final = line("+")
"""Before the head of a part that is folded."""


class DetailView(LineList, inherit_bindings=False):
    """Sections of a record. The text can be selected with the mouse.

    Each part with a heading, and in a tree whatever has lines below it, can be folded; that is remembered as long as
    the console runs.

    Args:
        about: Whose parts are folded together, such as the name of a resource; the place of the view when left out.
        id: The widget's id.
        classes: The widget's classes.
    """

    ALLOW_SELECT = True
    BINDINGS: ClassVar[list[BindingType]] = make_bindings("detail")

    @dataclass(eq=False, repr=False)
    class LinkOpened(WidgetMessage):
        """The user opened what a field leads to.

        Attributes:
            link: What the field leads to, as the screen gave it.
        """

        widget: DetailView
        link: object

    def __init__(self, *, about: str = "", id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._about: Final = about
        self._is_whole = False
        self._sections: tuple[DetailSection, ...] = ()
        self._links: tuple[DetailLink, ...] = ()
        self._head: tuple[StyledSpan, ...] = ()
        self._rows: list[DetailRow] = []
        self._is_stale = False
        self._wanted_lead: type | None = None

    # What the screen says and asks.

    def show(
        self,
        sections: Sequence[DetailSection],
        links: Sequence[DetailLink] = (),
        *,
        head: Sequence[StyledSpan] = (),
        whole: bool = False,
    ) -> None:
        """Show other sections; the window stays where it is, so that a refresh moves nothing.

        Args:
            sections: The fields; a section without a title only sets its fields apart.
            links: Ways to other records, shown last.
            head: A line above everything, such as what this kind of record never holds.
            whole: Whether nothing is folded, as where a search has found the lines.
        """
        shown = (tuple(sections), tuple(links), tuple(head), whole)
        if shown == (self._sections, self._links, self._head, self._is_whole):
            return
        self._sections, self._links, self._head, self._is_whole = shown
        self._lay_out()

    def reset(self) -> None:
        """Go to the first line, as for another record."""
        self.move_cursor(0)
        self.scroll_to(y=0, animate=False)

    def value_cells(self, labels: Sequence[SafeText]) -> int:
        """The cells that values have which stand beside labels like these, or below them in a narrow window."""
        room = max(1, self.cells - MARGIN)
        beside = label_cells(labels, room)
        return room - (beside + 3 if beside else 2 if any(labels) else 0)

    def go_to_target(self, kind: type = object) -> None:
        """Put the cursor on the first line that leads to something of a kind, unless the user has put it elsewhere."""
        # Fields that were not laid out yet, because the pane was hidden, are gone through when they are.
        self._wanted_lead = None if self._rows else kind
        if self._cursor == 0:
            self._unfold_lead(kind)
            found = (index for index, row in enumerate(self._rows) if row.target is not None)
            self.move_cursor(next((index for index in found if isinstance(self._rows[index].target, kind)), 0))

    def go_to_section(self, title: SafeText) -> None:
        """Put the cursor on a section's heading, and the heading at the top of the window."""
        found = (index for index, row in enumerate(self._rows) if row.head is not None and row.head.key == (title,))
        index = next(found, 0)
        self.move_cursor(index)
        self.scroll_to(y=index, animate=False)

    @property
    def value(self) -> SafeText | None:
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
        app, row = get_app(self), self._rows[index]
        is_cursor = index == self._cursor and self.has_focus
        sign = FOLDED if row.head is not None and row.head.is_folded else _SPACE
        segments = [self.piece(line(app.chrome_glyphs.cursor if is_cursor else " "), ACCENT, style)]
        segments.append(self.piece(sign, ACCENT, style))
        for text, role in row.pieces:
            segments.append(self.piece(text, Role.QUIET if self._is_stale and role != ACCENT else role, style))
        return segments

    def cursor_style(self) -> Style:
        """The cursor is drawn only where the user moves it: details are read more than walked through."""
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

    def line_opened(self) -> None:
        """Follow the link of the row, or unfold what is folded below it."""
        row = self._rows[self._cursor]
        if row.target is not None:
            self.post_message(self.LinkOpened(self, row.target))
        elif row.head is not None and row.head.is_folded:
            self.action_unfold()

    def action_toggle_fold(self) -> None:
        """Fold the part that the cursor stands in, or unfold it."""
        head = self._part_at_cursor()
        if head is not None:
            self._fold([head.key], folded=not head.is_folded)

    def action_fold(self) -> None:
        """Go to the head of the part that the cursor stands in; fold it there, or go to the one around it."""
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
        """Unfold the part whose head the cursor stands on."""
        head = self._part_at_cursor()
        if head is not None and head.is_folded:
            self._fold([head.key], folded=False)

    def action_fold_all(self) -> None:
        """Fold every section, or unfold them where all are folded."""
        heads = [row.head for row in self._rows if row.head is not None and len(row.head.key) == 1]
        self._fold([head.key for head in heads], folded=not all(head.is_folded for head in heads))

    async def on_click(self, event: events.Click) -> None:
        """Fold or unfold the part whose head somebody clicked; a text that is being selected stays as it is."""
        offset = event.get_content_offset(self)
        place = None if offset is None or event.chain != 1 or self.text_selection else self.row_at(offset.y)
        if place is not None and (head := self._rows[place[0]].head) is not None:
            self.move_cursor(place[0])
            self._fold([head.key], folded=not head.is_folded)

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
        before, cursor = self._rows, self._cursor
        held = before[cursor].target if before else None
        self._rows = rows = self._rows_in(max(1, self.cells - MARGIN))
        self._cursor = find_cursor_row(held, rows, max(0, min(self._cursor, len(rows) - 1)))
        self.set_size()
        if self._wanted_lead is not None and rows:
            self.go_to_target(self._wanted_lead)
        if self._cursor == cursor:
            self._refresh_changed(before, rows)
        else:
            self.refresh()

    def _rows_in(self, room: int) -> list[DetailRow]:
        """The rows that the fields take in so many cells."""
        app = get_app(self)
        layout = DetailLayout(room, app.glyphs, app.chrome_glyphs.crumb, self._is_folded)
        return layout.rows(self._sections, self._links, self._head)

    def _unfold_lead(self, kind: type) -> None:
        """Unfold the first section that leads to something of a kind, where no line in sight does."""
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
        """What the fields are about; where nobody has said it, the place where they stand."""
        return self._about or f"{type(self.screen).__name__} {self.id}"

    def _fold(self, keys: Sequence[FoldKey], *, folded: bool) -> None:
        """Fold parts or unfold them, and put the cursor on the head of the part that it stood in."""
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
        """The innermost part that the cursor stands in."""
        part = self._rows[self._cursor].part if self._rows else ()
        return next((row.head for row in self._rows if row.head is not None and row.head.key == part), None)


_SPACE: Final = line(" ")
