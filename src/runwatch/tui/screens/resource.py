"""The generic screen: the list of a resource beside the detail of the record under the cursor."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, ClassVar, Final

from textual.binding import BindingType
from textual.containers import Container
from textual.timer import Timer
from textual.widget import Widget

from runwatch.store.freshness import PaneState
from runwatch.tui.actions import bindings
from runwatch.tui.draw import Piece, Pieces, word
from runwatch.tui.messages import (
    FilterChanged,
    FilterKept,
    FilterLeft,
    HeaderClicked,
    LinkFollowed,
    RowHighlighted,
    RowOpened,
)
from runwatch.tui.screens.base import ConsoleScreen
from runwatch.tui.sources import Source
from runwatch.tui.widgets.detail_view import DetailLink, DetailView
from runwatch.tui.widgets.filter_bar import Complete, FilterBar, completion
from runwatch.tui.widgets.list_pane import ListPane
from runwatch.tui.widgets.pane import Pane
from runwatch.tui.widgets.record_table import RecordTable
from runwatch.tui.widgets.status_line import Hint
from runwatch.tui.work import start_work
from runwatch.view.drawn import Drawn, json_block, line
from runwatch.view.format import Context, short_id
from runwatch.view.glyphs import Role
from runwatch.view.pane_words import DIMMED, TROUBLED, age_words, note_lines
from runwatch.view.resource import Action, Column, ResourceSpec, SortKey
from runwatch.view.table import Drawing, Row, rows_of, select, sort

if TYPE_CHECKING:
    from runwatch.records.record import Record
    from runwatch.view.copies import Copy
    from runwatch.view.query import Query

SIDE_BY_SIDE: Final = 100
"""From this width on list and detail stand side by side; in a narrower window one of them has it all."""

DEBOUNCE_S: Final = 0.15
"""How long the cursor rests before the detail follows it."""

SEEN_VALUES: Final = 200
"""Rows whose values a filter's completion offers."""


class ResourceScreen(ConsoleScreen):
    """The screen of one resource.

    Args:
        spec: What the resource looks like.
        source: Where its rows come from.
    """

    BINDINGS: ClassVar[list[BindingType]] = bindings(
        "screen",
        only=(
            "screen.filter", "screen.filters", "screen.copy", "screen.copy_menu", "screen.actions", "screen.raw",
            "screen.full", "screen.preview", "screen.pause",
        ),
    )  # fmt: skip
    DEFAULT_CSS = """
    ResourceScreen {
        & #panes {
            layout: horizontal;
            height: 1fr;
        }
        & #list {
            width: 13fr;
        }
        & #detail {
            width: 12fr;
        }
        & #filter {
            display: none;
        }
        &.-filtering #filter {
            display: block;
        }
        &.-narrow #detail, &.-no-preview #detail, &.-full-list #detail {
            display: none;
        }
        &.-narrow.-opened #detail {
            display: block;
        }
        &.-narrow.-opened #list, &.-full-detail #list {
            display: none;
        }
        &.-full-detail #detail {
            display: block;
        }
    }
    """

    def __init__(self, spec: ResourceSpec[Any], source: Source) -> None:
        super().__init__()
        self.spec: Final = spec
        self._source = source
        self._items: Sequence[Any] | None = None
        self._drawing: Final[Drawing[Any]] = Drawing(spec, Context(datetime.min.replace(tzinfo=UTC)))
        self._every_row: list[Row[Any]] = []
        self._sorted_of: tuple[Sequence[Row[Any]], tuple[SortKey, ...]] = ((), ())
        self._rows: list[Row[Any]] = []
        self._query: Query | None = None
        self._filter_is_off = False
        self._is_unreadable = False
        self._sort: tuple[SortKey, ...] = spec.sort
        self._shown: str | None = None
        self._rest: Timer | None = None
        self._is_raw = False
        self._is_paused = False
        self._total = 0
        self._wanted: str | None = None
        self._opens_wanted = False

    # What it is made of.

    def body(self) -> Iterable[Widget]:
        """The panes, and the filter below them while one is typed."""
        table = RecordTable(self.spec.columns, id="table")
        yield Container(ListPane(table, id="list"), self.detail_pane(), id="panes")
        yield self.filter_bar(self._complete)

    def detail_pane(self) -> Pane:
        """The second pane."""
        return Pane(self.detail(), id="detail")

    def filter_bar(self, complete: Complete) -> FilterBar:
        """Where a filter is typed."""
        return FilterBar(complete, id="filter")

    def detail(self) -> Widget:
        """What stands in the second pane."""
        return DetailView(id="fields")

    @property
    def table(self) -> RecordTable:
        """The list."""
        return self.query_one("#table", RecordTable)

    @property
    def row(self) -> Row[Any] | None:
        """The row under the cursor."""
        row = self.table.cursor_row
        return row if isinstance(row, Row) else None

    def chosen(self) -> list[Row[Any]]:
        """The marked rows, or the one under the cursor where none is marked."""
        marks = self.table.marks
        marked = [row for row in self._all_rows() if row.key in marks]
        return marked or [row for row in (self.row,) if row is not None]

    def lists(self) -> tuple[type[Record], ...]:
        """Its own, unless the records come from this machine."""
        return () if self.spec.is_local else (self.spec.record,)

    def crumbs(self) -> Sequence[str]:
        """The resource, and the record while its detail has the window."""
        title = self.spec.title.partition(" · ")[0]
        if self._shown and (self.has_class("-opened") or self.has_class("-full-detail")):
            return (title, short_id(self._shown, self.console.glyphs))
        return (title,)

    def hints(self) -> Sequence[Hint]:
        """What most people do on every list."""
        return ("list.open", "screen.filter", "screen.copy", "screen.refresh", "screen.raw", "screen.time", "app.quit")

    # When something changes.

    def use(self, source: Source) -> None:
        """Take the rows from somewhere else from now on."""
        self._source = source
        self.read_source()

    def on_mount(self) -> None:
        """Show what is known."""
        self._fit()
        self.table.focus()
        self.read_source()
        self._show_order()
        self.show_rows()

    def on_resize(self) -> None:
        """Put the panes beside each other, or one in place of the other."""
        self._fit()

    def data_changed(self, kinds: frozenset[str]) -> None:
        """Draw the rows anew; a paused screen keeps what it shows."""
        if not self._is_paused:
            self.show_rows()

    def want(self, key: str, *, opened: bool = False) -> None:
        """Put the cursor on a row, as soon as it is there, and open it if asked to; a filter that hides it goes."""
        self._wanted, self._opens_wanted = key, opened
        self.show_rows()
        if self._wanted is not None and any(row.key == key for row in self._all_rows()):
            self._apply_filter("")

    def filter_by(self, text: str) -> None:
        """Filter as if a person had typed it; what cannot be read stands where filters are typed, with the reason."""
        if not self._apply_filter(text):
            self.action_filter()
            self.query_one("#filter", FilterBar).edit(text)
            self._apply_filter(text)

    def read_source(self) -> None:
        """Get what the source has to fetch, and draw it."""

        async def read() -> None:
            await self._source.read()
            self.show_rows()

        start_work(self, read(), f"reading {self.spec.name}", group="source", exclusive=True)

    def tick(self) -> None:
        """Ages in the frame and in the rows grow."""
        if self._is_paused:
            self._show_edge()
        else:
            self.show_rows()

    def show_rows(self) -> None:
        """Draw the list anew from what is known."""
        if not self.is_mounted:
            return
        found = self._all_rows()
        self._drawing.context = self.console.context()
        self._total = len(found)
        if self._query is not None and not self._filter_is_off:
            found = select(found, self._query.matches)
        before, order = self._sorted_of
        if found is not before or self._sort is not order:
            self._rows = sort(self.spec, found, self._sort)
            self._sorted_of = found, self._sort
        state = self._source.state()
        self.table.is_stale = state.load in DIMMED
        self.table.show(self._rows)
        self.query_one(ListPane).show_note(self._note(state), is_trouble=state.load in TROUBLED)
        if self._wanted is not None and self.table.select(self._wanted):
            self._wanted = None
            if self._opens_wanted:
                self.open_detail()
        self._show_edge()
        self._count_matches()
        self.show_detail()

    def show_detail(self) -> None:
        """Draw the record under the cursor anew."""
        row = self.row
        view = self.query_one("#fields", DetailView)
        if row is None:
            view.show(())
            self.query_one("#detail", Pane).show_edge(title=line(""), state=line(""))
            return
        if row.id != self._shown:
            self._shown = row.id
            view.start_over()
        from runwatch.view.detail import Line, Section, sections

        context = self.console.context()
        head: Sequence[Piece] = ((line(self.spec.note), Role.QUIET),) if self.spec.note else ()
        if self._is_raw:
            view.show([Section(line(""), (Line(line(""), json_block(dict(row.subject.raw))),))])
        else:
            view.show(sections(self.spec, row.subject, context), self._links(row), head=head)
        self.query_one("#detail", Pane).show_edge(title=self.detail_title(row), state=self._view_word())

    def detail_title(self, row: Row[Any]) -> Pieces:
        """What the frame of the detail is headed with."""
        return line(f"{self.spec.singular} {short_id(row.id, self.console.glyphs)}")

    def counters(self) -> Pieces:
        """What the lower right of the list's frame adds up."""
        return line("")

    # What people do.

    def on_row_highlighted(self, message: RowHighlighted) -> None:
        """Let the detail follow once the cursor rests."""
        message.stop()
        if self._rest is not None:
            self._rest.stop()
        self._rest = self.set_timer(DEBOUNCE_S, self.show_detail)

    def on_row_opened(self, message: RowOpened) -> None:
        """Go into the detail."""
        message.stop()
        self.open_detail()

    def open_detail(self) -> None:
        """Show the record under the cursor, and put the focus on it."""
        self.show_detail()
        self.add_class("-opened")
        self.show_crumbs(self._filter_words())
        # Until then a person may have gone to another screen.
        self.call_after_refresh(lambda: self.focus_detail() if self.is_current else None)

    def focus_detail(self) -> None:
        """Put the focus into the detail."""
        self.query_one("#fields").focus()

    def on_link_followed(self, message: LinkFollowed) -> None:
        """Go to the record that a field leads to."""
        message.stop()
        if isinstance(message.link, tuple):
            # Later, because this screen cannot wait for its own end.
            self.console.call_later(self.console.open_record, *message.link)

    def on_header_clicked(self, message: HeaderClicked) -> None:
        """Sort, or turn the order round."""
        message.stop()
        present = self._order()
        is_turned = message.reverse and present is not None and not present.descending
        self._sort = (SortKey(message.column_id, is_turned),)
        self._show_order()
        self.show_rows()

    def action_filter(self) -> None:
        """Type a filter."""
        self.add_class("-filtering")
        self._is_unreadable = False
        self.query_one("#filter", FilterBar).edit(self.filter_text)
        self._count_matches()

    def action_filters(self) -> None:
        """Take the filter away, or put it back."""
        self._filter_is_off = not self._filter_is_off
        self.show_crumbs(self._filter_words())
        self.show_rows()

    def on_filter_changed(self, message: FilterChanged) -> None:
        """Filter while a person types; what cannot be read leaves the last good filter applied."""
        message.stop()
        self._apply_filter(message.text)

    def on_filter_kept(self, message: FilterKept) -> None:
        """Go back to the rows with the filter on."""
        message.stop()
        self._apply_filter(message.text)
        self._close_filter()

    def on_filter_left(self, message: FilterLeft) -> None:
        """Go back to all rows."""
        message.stop()
        self._apply_filter("")
        self._close_filter()

    async def action_copy(self) -> None:
        """Copy the id of the record."""
        row = self.row
        if row is not None:
            await self.console.copy_text(row.id, line(f"{self.spec.singular} id"))

    def action_copy_menu(self) -> None:
        """Choose what to copy of the record."""
        from runwatch.tui.record_menus import open_copy_menu

        open_copy_menu(self)

    def copies_in_focus(self) -> Iterable[Copy]:
        """What of the pane that has the focus can be copied beside the record."""
        from runwatch.view.copies import Copy

        focused = self.focused
        if isinstance(focused, DetailView) and focused.value:
            yield Copy(line("value under the cursor"), focused.value)

    def action_show_actions(self) -> None:
        """Show everything that can be done with the record, and why the rest of it cannot."""
        from runwatch.tui.record_menus import open_action_menu

        open_action_menu(self)

    async def take_choice(self, target: object) -> None:
        """Copy or do what was chosen in a menu of a record."""
        from runwatch.tui.record_menus import take_choice
        from runwatch.view.copies import Copy

        if isinstance(target, Copy | tuple):
            await take_choice(self, target)
        else:
            await super().take_choice(target)

    async def do_with(self, row: Row[Any], action: Action[Any]) -> None:
        """Do something with a record; what no screen does is done by a verb of the command line."""
        self.say(f"runwatch {action.verb} {row.id} does this on the command line", Role.WARN)

    def action_raw(self) -> None:
        """Show fields, or the JSON as it came."""
        self._is_raw = not self._is_raw
        self.show_detail()

    def action_full(self) -> None:
        """Give the pane that has the focus the whole window, or share it again."""
        in_detail = self.query_one("#detail").has_focus_within
        name = "-full-detail" if in_detail else "-full-list"
        self.toggle_class(name)
        self.show_crumbs(self._filter_words())

    def action_preview(self) -> None:
        """Show the detail beside the list, or the list alone."""
        self.toggle_class("-no-preview")
        self.table.focus()

    def action_pause(self) -> None:
        """Keep what is shown, or go on."""
        self._is_paused = not self._is_paused
        self.tick()

    def action_refresh(self) -> None:
        """Read now."""
        self.console.refresh_kind(self.spec)
        self.read_source()

    def action_back(self) -> None:
        """One level: out of the detail, then out of the filter, then to the screen before."""
        if self.has_class("-opened") or self.has_class("-full-detail"):
            self.remove_class("-opened", "-full-detail")
            self.table.focus()
        elif self.query_one("#detail").has_focus_within:
            self.table.focus()
        elif self.is_filtered:
            self._apply_filter("")
        else:
            super().action_back()
        self.show_crumbs(self._filter_words())

    @property
    def is_filtered(self) -> bool:
        """Whether some rows are left out."""
        return self._query is not None

    @property
    def filter_text(self) -> str:
        """The filter as a person goes on with it."""
        return self._query.text if self._query else ""

    @property
    def is_at_root(self) -> bool:
        """Whether going back would leave this screen."""
        is_open = self.has_class("-opened") or self.has_class("-full-detail")
        return not is_open and not self.query_one("#detail").has_focus_within and not self.is_filtered

    # Inside.

    def _all_rows(self) -> list[Row[Any]]:
        """The rows before any filter; the same list as before as long as nothing of it has changed."""
        items = self._source.items()
        if items is not self._items:
            self._items, self._every_row = items, rows_of(self._drawing, items)
        return self._every_row

    def _fit(self) -> None:
        self.set_class(self.size.width < SIDE_BY_SIDE, "-narrow")

    def _note(self, state: PaneState) -> tuple[Drawn, ...]:
        if self._total and self._query is not None and not self._rows:
            return (
                line(f"0 of {self._total} match {self._query.text}"),
                line(f"{self.console.keys.shown('screen.back')} clears the filter"),
            )
        failure = self.console.failure
        if failure is not None:
            return tuple(line(text) for text in (failure.title, failure.detail, failure.hint) if text)
        if self.console.desk is None and self._source.state().age_s is None:
            return (line(self.console.opening_words),)
        return note_lines(self.spec, state, self.console.context(), self.console.keys.shown)

    def _show_edge(self) -> None:
        state, context = self._source.state(), self.console.context()
        of = f"{len(self._rows)} of {self._total}" if len(self._rows) != self._total else f"{self._total}"
        more = "" if self._source.end_is_proven() else "+"
        # Before the first answer there is no number, not even nought.
        number = line(f"   {of}{more}") if self._total or state.age_s is not None else line("")
        title: Pieces = (word(self.spec.title, Role.PLAIN), number)
        pane = self.query_one("#list", Pane)
        age = age_words(state, context)
        is_lost = self.console.failure is not None and state.age_s is None
        shown = word("not connected", Role.BAD) if is_lost else (age.text, str(age.role))
        paused: tuple[Piece, ...] = (word("PAUSED  ", Role.WARN), shown) if self._is_paused else (shown,)
        pane.show_edge(title=title, state=self._order_words(), age=paused, counters=self.counters())

    def _order(self) -> SortKey | None:
        """The first column that rows are sorted by, the one that the head names."""
        return next((key for key in self._sort if isinstance(self.spec.field(key.field), Column)), None)

    def _order_words(self) -> Pieces:
        order = self._order()
        if order is None:
            return line("")
        marks = self.console.marks
        return (word(f"sort {order.field} {marks.falling if order.descending else marks.rising}"),)

    def _show_order(self) -> None:
        order = self._order()
        if order is not None:
            self.table.sorted_by(order.field, descending=order.descending)

    def _view_word(self) -> Pieces:
        return (word("raw"),) if self._is_raw else line("")

    def _links(self, row: Row[Any]) -> list[DetailLink]:
        links = []
        for link in self.spec.links:
            target = link.target(row.subject)
            if target:
                shown = short_id(target, self.console.glyphs)
                links.append(DetailLink(line(link.label), line(shown), (link.kind, target)))
        return links

    def _apply_filter(self, text: str) -> bool:
        """Filter by a text; answer whether it could be read, otherwise the last good filter stays."""
        if text.strip():
            from runwatch.view.query import QueryError
            from runwatch.view.query_text import parse

            try:
                self._query = parse(text, self.spec, named=self.console.settings.filters)
            except QueryError as error:
                self._is_unreadable = True
                self.query_one("#filter", FilterBar).show_error(line(str(error)))
                return False
        else:
            self._query = None
        self._is_unreadable = False
        self._filter_is_off = False
        self.show_crumbs(self._filter_words())
        self.show_rows()
        return True

    def _count_matches(self) -> None:
        # Rows that come meanwhile do not take away what is wrong with the filter.
        if self.has_class("-filtering") and not self._is_unreadable:
            self.query_one("#filter", FilterBar).show_count(line(f"{len(self._rows)}/{self._total}"))

    def _close_filter(self) -> None:
        self.remove_class("-filtering")
        self.table.focus()

    def _filter_words(self) -> Pieces | None:
        if self._query is None:
            return None
        off = " (off)" if self._filter_is_off else ""
        return (word("filter "), word(f"{self._query.text}{off}", Role.PLAIN))

    def _complete(self, text: str) -> str | None:
        fields = {
            column.id: sorted({line(row.value(column.id)) for row in self._rows[:SEEN_VALUES] if row.value(column.id)})
            for column in self.spec.all_fields()
        }
        return completion(fields, tuple(self.spec.flags))(text)
