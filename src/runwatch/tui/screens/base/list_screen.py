"""A list of records: its rows filtered and sorted, and the texts of its frame."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final

from textual import events
from textual.timer import Timer

from runwatch.records.run import Run
from runwatch.store.state.freshness import LoadState, PaneState
from runwatch.tui.core.key_bindings import make_bindings
from runwatch.tui.core.rendering import StyledSpan, StyledSpans, label_span, to_spans
from runwatch.tui.core.workers import start_worker
from runwatch.tui.shell.record_screen import RecordScreen
from runwatch.tui.shell.undo_stack import LocalChange
from runwatch.tui.sources.list_model import ListModel
from runwatch.tui.sources.row_sources import RowSource
from runwatch.tui.widgets.bars.filter_bar import Completer, FilterBar, complete_filter
from runwatch.tui.widgets.lists.record_table import RecordTable, TableRow
from runwatch.tui.widgets.panes.list_pane import ListPane
from runwatch.tui.widgets.panes.pane import EdgeText, Pane, TextForms
from runwatch.view.detail.pane_state import FAILED_STATES, freshness_text, is_stale
from runwatch.view.spec.resource import ResourceSpec, SortKey
from runwatch.view.table.list_count import list_count_text
from runwatch.view.table.rows import RecordRow
from runwatch.view.text.format import grouped_number
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import SafeText, line

if TYPE_CHECKING:
    from runwatch.records.record import Record
    from runwatch.store.live.list_continuation import ListContinuation
    from runwatch.tui.shell.console import Console
    from runwatch.view.export.file_formats import FileFormat
    from runwatch.view.query.expressions import Query, Term

_OF_MODELS: Final = frozenset({"run", "model", "arm", "connection"})
"""Kinds that need a source of models; an empty list of them leads to the search for model servers."""

MAX_COMPLETED_ROWS: Final = 200
"""Rows whose values are suggested while typing a filter."""

GATHER_READS_S: Final = 4.0
"""How long to gather the console's own reads, which never stop, before a list of requests shows them."""


class ListScreen(RecordScreen):
    """A screen with a list."""

    BINDINGS = make_bindings(
        "screen.filter", "screen.filters", "screen.pause", "screen.export", "screen.compare", "screen.commands"
    )

    def __init__(self, spec: ResourceSpec[Any], source: RowSource) -> None:
        super().__init__()
        self.spec = spec
        self._source = source
        self.listing: Final = ListModel(spec, self, self.show_rows)
        self._query: Query | None = None
        self._query_before: Query | None = None
        self._filter_is_off = False
        # The rows and the cursor when the filter bar opened: half a filter may hide the row for a moment.
        self._filtered_from: tuple[Sequence[TableRow], int] | None = None
        self._nearest: tuple[Query | None, str | None] = None, None
        # The ranked rows whose best match was selected.
        self._best_of: list[RecordRow[Any]] = []
        self._settled_filter = ""
        self._is_unreadable = False
        self._stored_filter = ""
        self._sort: tuple[SortKey, ...] = spec.sort
        self._soon: Timer | None = None
        self._widths_for: tuple[str, Query | None] = "", None
        self._paused_at: float | None = None
        self._held: Sequence[Any] | None = None
        self._total = 0
        self._goes_to_end = False
        self.compared = None

    # Widgets and content.

    def filter_bar(self, complete: Completer) -> FilterBar:
        return FilterBar(complete, id="filter")

    @property
    def table(self) -> RecordTable:
        return self.query_one("#table", RecordTable)

    @property
    def row(self) -> RecordRow[Any] | None:
        row = self.table.cursor_row
        return row if isinstance(row, RecordRow) else None

    def marked_rows(self) -> list[RecordRow[Any]]:
        marks = self.table.marks.intersection(row.key for row in self.listing.shown_rows) if self.table.marks else ()
        return [row for row in self.all_rows() if row.key in marks] if marks else []

    def selected_rows(self) -> list[RecordRow[Any]]:
        return self.marked_rows() or [row for row in (self.row,) if row is not None]

    def unmark(self, keys: Collection[str]) -> None:
        marks = self.console.row_marks.get(self.spec.name, frozenset())
        _set_marks(self.console, self.spec.name, marks.difference(keys))

    def all_rows(self) -> list[RecordRow[Any]]:
        self.listing.set_records(self._records)
        return self.listing.all_rows

    @property
    def _records(self) -> Sequence[Any]:
        """The records to list; those of a paused list stay as they were."""
        return self._source.items() if self._held is None else self._held

    def rows_to_export(self) -> list[RecordRow[Any]]:
        return self.marked_rows() or list(self.listing.shown_rows)

    def polled_lists(self) -> tuple[type[Record], ...]:
        """Return its own kind, unless its records are local, and those whose names it shows."""
        return self.spec.named_kinds if self.spec.is_local else (self.spec.record, *self.spec.named_kinds)

    # Updates.

    def use(self, source: RowSource) -> None:
        self._source = source
        if self._held is not None:
            self._held = source.items()
        self.read_source()
        self.look_further()

    def on_mount(self) -> None:
        self._sort = self.console.list_sorts.get(self.spec.name, self.spec.sort)
        kept = self.console.row_cache
        if kept is not None and kept.name == self.spec.name:
            self.listing.take_over(kept)
            self.console.row_cache = None
        self.table.mark(self.console.row_marks.get(self.spec.name, ()))
        self.table.focus()
        self.watch(self.table, "scroll_y", self._show_edge, init=False)
        self.read_source()
        self._show_order()
        self.show_rows()

    def on_unmount(self) -> None:
        """Keep the rows of a long list for the next screen of that list; free those of another list."""
        self.console.row_cache = self.listing.release(self.console.row_cache)

    def data_changed(self, kinds: frozenset[str]) -> None:
        """Update the rows, unless paused.

        Runs are polled all the time; a list of another kind waits for the next second.
        """
        if self._paused_at is None and (kinds != {Run.KIND} or self.spec.record is Run):
            self.show_rows()

    def continuations(self) -> Sequence[ListContinuation]:
        """Return what reads on in the list; empty for a list that is read whole."""
        session = self.console.session
        continuation = None if session is None else session.live.continuation(self.spec.kind)
        return () if continuation is None else (continuation,)

    @property
    def is_going_to_end(self) -> bool:
        """Whether the list is read on to its end, for the user."""
        return self._goes_to_end and any(continuation.is_reading for continuation in self.continuations())

    def go_to_end(self) -> None:
        """Read the list on to its end, within the request budget."""
        for continuation in self.continuations():
            continuation.go_to_end()
        self._goes_to_end = True
        self._show_edge()

    def stop_going(self) -> None:
        """Stop to read on; what was read stays."""
        for continuation in self.continuations() if self._goes_to_end else ():
            continuation.stop()
        self._goes_to_end = False
        self._show_edge()

    def look_further(self) -> None:
        """Look for matches of the filter in the rest of the list, once it is typed; without a filter, stop that."""
        if self.has_class("-filtering"):
            return
        if self._query is not None and not self._filter_is_off:
            self.go_to_end()
        elif self._goes_to_end:
            self.stop_going()

    def filter_by(self, text: str, *, is_undoable: bool = True) -> bool:
        """Filter as if the user had typed it, and return whether the filter is valid; the filter bar keeps an invalid
        one with its error.
        """
        if self._apply_filter(text, is_undoable=is_undoable):
            return True
        self.action_filter()
        self.query_one("#filter", FilterBar).edit(text)
        return self._apply_filter(text)

    def read_source(self) -> None:
        start_worker(self, self._read_rows(), f"reading {self.spec.name}", group="source", exclusive=True)

    async def _read_rows(self) -> None:
        await self._source.read()
        self.show_rows()

    def read_soon(self) -> None:
        """Read the source once for all changes within :data:`GATHER_READS_S`."""
        if self._soon is None:
            self._soon = self.set_timer(GATHER_READS_S, self._read_now)

    def _read_now(self) -> None:
        self._soon = None
        self.read_source()

    def tick(self) -> None:
        self.show_ages()

    def show_ages(self, *, keeps_detail: bool = False) -> None:
        if self._paused_at is not None:
            self._show_edge()
        else:
            self.show_rows(keeps_detail=keeps_detail)

    def show_rows(self, *, keeps_detail: bool = False) -> None:
        """Update the list from the known records, and unless ``keeps_detail`` the detail of a row that stays."""
        if not self.is_mounted:
            return
        listing, items, context = self.listing, self._records, self.console.render_context()
        query = None if self._filter_is_off else self._query
        listing.set_records(items)
        listing.drawing.context = context
        self._total = len(items)
        listing.update_rows(query, self._sort, self.console.clock.monotonic(), self.row)
        state = self._source.state()
        self.table.is_stale = is_stale(state)
        if self._widths_for != (widths_for := (context.time, query)):
            # A filter that leaves the same rows moves no column.
            if self._widths_for[0] != context.time or listing.shown_rows != self.table.rows:
                self.table.forget_widths()
                self._widths_for = widths_for
            elif not listing.is_under_way:
                self._widths_for = widths_for
        self.table.show(listing.shown_rows)
        if self._filtered_from is not None:
            self._select_while_typing(query, *self._filtered_from)
        self.query_one(ListPane).show_state_text(self.empty_text(state), is_trouble=state.load in FAILED_STATES)
        self._show_edge()
        self._count_matches()
        self.rows_shown(keeps_detail=keeps_detail)
        listing.free()

    def _select_while_typing(self, query: Query | None, before: Sequence[TableRow], cursor: int) -> None:
        """Move the cursor to the best match, or to the row nearest to where it was before the filter was typed."""
        shown = self.listing.shown_rows
        if self.listing.is_ranked and shown:
            if shown is not self._best_of:
                self._best_of = shown
                self.table.select(shown[0].key)
        elif (query, self.table.cursor_key) != self._nearest:
            self._select_nearest(before, cursor)
        self._nearest = query, self.table.cursor_key

    def _select_nearest(self, before: Sequence[TableRow], cursor: int) -> None:
        """Move the cursor to the row nearest to where it was before the filter was typed."""
        key_of = attrgetter("key")
        shown = set(map(key_of, self.listing.shown_rows))
        below = next(((n, key) for n, key in enumerate(map(key_of, before[cursor:])) if key in shown), None)
        reach = cursor if below is None else min(cursor, below[0])
        above = (key for key in map(key_of, before[cursor - reach : cursor][::-1]) if key in shown)
        nearest = next(above, None if below is None else below[1])
        if nearest not in (None, self.table.cursor_key):
            self.table.select(nearest)

    def rows_shown(self, *, keeps_detail: bool) -> None:
        """Called when the rows are updated; subclasses update what depends on them."""

    def counters(self) -> EdgeText:
        """Return the totals at the lower right of the list's frame."""
        return line("")

    def server_filter_text(self) -> tuple[StyledSpan, ...]:
        """Return the server filter, shown after the age of the data; empty if the whole list was requested."""
        return ()

    # Messages and key actions.

    def on_record_table_marks_changed(self, message: RecordTable.MarksChanged) -> None:
        self._make_marks_undoable(message.before, message.after)

    def _make_marks_undoable(self, before: frozenset[str], after: Collection[str] = ()) -> None:
        from runwatch.view.actions.own_command import records_text

        console, name = self.console, self.spec.name

        async def undo() -> str:
            _set_marks(console, name, before)
            return ""

        console.row_marks[name] = frozenset(after)
        changed = sorted(before.symmetric_difference(after))
        about = records_text(self.spec, changed, self.console.glyphs)
        self.console.undo.push(LocalChange(f"mark{'s' * (len(changed) > 1)} of {about}", undo))
        self._show_edge()
        self.show_hints()

    def restore_filter(self, text: str) -> None:
        """Filter as before; that is no change to undo."""
        self.filter_by(text, is_undoable=False)

    def restore_stored_filter(self, text: str) -> None:
        """Filter as a stored view or a pin says. One that cannot be read is kept, for the user to correct, and the list
        shows all rows.
        """
        from runwatch.view.query.expressions import QueryError
        from runwatch.view.query.parser import parse_filter

        try:
            parse_filter(text, self.spec, named=self.console.settings.filters)
        except QueryError as error:
            self._stored_filter = text
            self.console.warn_of_filter(text, error.short_words)
        else:
            self.restore_filter(text)

    def _settle_filter(self, *, is_undoable: bool = True) -> None:
        """Note that the filter is no longer being typed, and make a change of it undoable."""
        before, self._settled_filter = self._settled_filter, self.filter_text
        if before == self._settled_filter or not is_undoable:
            return

        async def undo() -> str:
            self.restore_filter(before)
            return ""

        again = f"the filter {line(before, 40)} is back" if before else "the filter is cleared again"
        name = again if not self._settled_filter else f"filter {line(self._settled_filter, 40)}; {again}"
        self.console.undo.push(LocalChange(name, undo, self))

    def on_record_table_side_reached(self, message: RecordTable.SideReached) -> None:
        message.stop()
        self.refuse_key(f"No other column is to the {'right' if message.step > 0 else 'left'}.")

    def on_record_table_sort_requested(self, message: RecordTable.SortRequested) -> None:
        present = self._order()
        is_turned = message.reverse and present is not None and not present.descending
        self._sort = (SortKey(message.column_id, is_turned),) if message.column_id else self.spec.sort
        self.console.list_sorts[self.spec.name] = self._sort
        self.table.leave_top()
        self._show_order()
        self.show_rows()

    def on_key(self, event: events.Key) -> None:
        """Start the user's own command that has this key, or say what lists it is for; no action has the key."""
        if self.has_class("-filtering") or self.has_overlay:
            return
        command = self.console.command_keys.find(event.key, self.spec.name)
        if command is not None:
            from runwatch.tui.flows.own_commands.menu import start_command_at_cursor

            event.stop()
            start_command_at_cursor(self, command)
        elif others := self.console.command_keys.find_all(event.key):
            event.stop()
            message = "; ".join(f"the command {other.name} is for {', '.join(other.kinds)}" for other in others)
            self.notify_user(message)

    def action_show_commands(self) -> None:
        from runwatch.tui.flows.own_commands.menu import open_command_menu

        open_command_menu(self)

    def action_filter(self) -> None:
        self.add_class("-filtering")
        self.clear_notice()
        self._query_before = self._query
        self.table.leave_top()
        self._filtered_from = self.table.rows, self.table.cursor
        self._settled_filter = self.filter_text
        self._is_unreadable = False
        self.query_one("#filter", FilterBar).edit(self.filter_text or self._stored_filter)
        self._count_matches()

    def action_filters(self) -> None:
        if self._query is None:
            self.refuse_key("There is no filter to switch off.")
            return
        self._filter_is_off = not self._filter_is_off
        self.show_crumbs()
        self.show_rows()
        self.look_further()

    def filter_typed(self, text: str) -> None:
        self._apply_filter(text)

    def filter_submitted(self, text: str) -> bool:
        return self._apply_filter(text)

    def filter_cancelled(self) -> None:
        self._apply_filter("")
        self._stored_filter = ""

    def action_pause(self) -> None:
        """Pause or resume the list and its detail; a paused list is not read. Runs are read on every screen."""
        pauses = self._paused_at is None
        self._paused_at = self.console.clock.monotonic() if pauses else None
        # Those in sight, as newer ones may be on their way to it.
        self._held = (self.listing.records or self._source.items()) if pauses else None
        if (session := self.console.session) is not None:
            for record in self.polled_lists():
                (session.live.stop_list if pauses else session.live.start_list)(record)
        for detail in self.query("#detail").results(Pane):
            detail.show_pause((self.pause_span(),) if pauses else line(""))
        self.show_hints()
        if pauses:
            self._show_edge()
        else:
            self.show_rows()

    @property
    def is_paused(self) -> bool:
        return self._paused_at is not None

    def action_export(self) -> None:
        from runwatch.tui.flows.exports import open_export_menu

        open_export_menu(self)

    def export_pieces(self, form: FileFormat, rows: Sequence[RecordRow[Any]]) -> Iterator[str]:
        from runwatch.view.export.file_formats import export_records

        context = self.console.render_context()

        def pieces() -> Iterator[str]:
            # Subjects are created in the writing thread: for 100,000 rows, the delay would be noticeable here.
            yield from export_records(form, self.spec, [row.subject for row in rows], context)

        return pieces()

    def action_compare(self) -> None:
        from runwatch.tui.flows.comparison import compare_rows

        self.table.leave_top()
        compare_rows(self)

    def resume(self) -> None:
        """End a pause: what the user wants to see is not among the rows."""
        if self._paused_at is not None:
            self.action_pause()

    def action_refresh(self) -> None:
        self.resume()
        self.console.refresh_resource(self.spec)
        self.read_source()

    @property
    def is_filtered(self) -> bool:
        return self._query is not None

    @property
    def filter_text(self) -> str:
        """The filter text, for further editing."""
        return self._query.text if self._query else ""

    def empty_text(self, state: PaneState) -> tuple[SafeText, ...]:
        if self._total and not self.listing.shown_rows and self.listing.is_under_way:
            does = "searching" if self.listing.work == "searching" else "listing"
            number = grouped_number(self._total)
            return (line(f"{does} {number} {self.spec.name}{self.console.glyphs.ellipsis}"),)
        if self._total and self._query is not None and not self.listing.shown_rows:
            does = "stops reading on" if self.is_going_to_end else "clears the filter"
            return (
                line(f"0 of {grouped_number(self._total)} match {self._query.text}"),
                *self.suggested_filters(self._query.term),
                line(f"{self.console.keys.shown('screen.back')} {does}"),
            )
        lines = self.unread_lines(self.spec, state, can_create=self.offers("screen.new"))
        return (*lines, *self.model_server_lines()) if state.load is LoadState.EMPTY else lines

    def model_server_lines(self) -> tuple[SafeText, ...]:
        """Return the key that leads from an empty list to its first model; empty where it has no use."""
        from runwatch.tui.flows.model_servers import can_search

        if self.spec.kind not in _OF_MODELS or not can_search(self.console):
            return ()
        key = self.console.keys.shown("app.find_servers")
        return (line(f"{key} looks for model servers on this machine, for live runs."),)

    def suggested_filters(self, term: Term) -> tuple[SafeText, ...]:
        """Say what a filter without matches probably meant, by the values that the first rows have."""
        from runwatch.view.query.suggested_values import suggest_value

        def values_of(name: str) -> Iterator[str]:
            field = self.spec.field(name)
            yield from () if field is None else field.choices
            for row in self.listing.all_rows[:MAX_COMPLETED_ROWS]:
                value = row.value(name)
                if isinstance(value, str) and value:
                    yield value

        near = suggest_value(term, values_of, self.spec.flags)
        return (line(f"did you mean {near}?"),) if near else ()

    def _show_edge(self) -> None:
        state = self._source.state()
        # Before the first response the number is unknown, not 0.
        number = line(f"   {self._count_text()}") if self._total or state.age_s is not None else line("")
        title: StyledSpans = (label_span(self.spec.title, Role.PLAIN), number, *self._marks_text())
        pane = self.query_one("#list", Pane)
        age_pieces = (*self._reading_text(), *self._age_spans(state), *self.server_filter_text())
        work, more = self._work_text(), self._elsewhere_text()
        pane.set_border_text(
            title=title,
            state=TextForms(tuple((*work, *to_spans(text)) for text in self._state_texts())),
            age=TextForms(((*age_pieces, *more), age_pieces)),
            counters=self.counters(),
        )

    def _elsewhere_text(self) -> tuple[StyledSpan, ...]:
        """Say where the other records of an opened file are."""
        if not self.console.has_file:
            return ()
        from runwatch.tui.sources.file_source import FileSource

        source = self._source
        return (label_span(source.elsewhere_text()),) if isinstance(source, FileSource) else ()

    def _marks_text(self) -> StyledSpans:
        """Return how many rows are marked, those that the filter hides apart."""
        marks = self.table.marks
        if not marks:
            return ()
        shown = sum(row.key in marks for row in self.listing.shown_rows)
        hidden = sum(row.key in marks for row in self.listing.all_rows) - shown
        texts = [f"{grouped_number(shown)} marked"] if shown or not hidden else []
        # Short enough for the frame of a list at 80 columns.
        texts += [f"{grouped_number(hidden)} hidden mark{'s' * (hidden != 1)}"] if hidden else []
        return (label_span(f"   {' · '.join(texts)}", Role.WARN),)

    def _age_spans(self, state: PaneState) -> tuple[StyledSpan, ...]:
        """Return the age of the rows; of a paused list that is when it was paused."""
        if self._paused_at is None:
            return (self.age_span(state),)
        paused = self.pause_span(f" {freshness_text(self.console.clock.monotonic() - self._paused_at)}")
        return (paused, label_span("  "), self.age_span(state)) if state.load in FAILED_STATES else (paused,)

    def _count_text(self) -> SafeText:
        continuations = self.continuations()
        totals = [continuation.total for continuation in continuations]
        return list_count_text(
            len(self.listing.shown_rows),
            self._total,
            self.console.glyphs,
            is_whole=self._source.end_is_proven(),
            goes_on=any(continuation.has_more for continuation in continuations),
            total=sum(filter(None, totals)) if totals and None not in totals else None,
        )

    def _reading_text(self) -> tuple[StyledSpan, ...]:
        """Say that the list is read on, and which key stops that, or that records between its rows are missing."""
        if self.is_going_to_end:
            return (label_span(f"reading on, {self.console.keys.shown('screen.back')} stops  ", Role.LIVE),)
        gaps = [continuation for continuation in self.continuations() if continuation.has_gap]
        if not gaps:
            return ()
        if any(continuation.is_reading for continuation in gaps):
            return (label_span("reading missing ones  ", Role.LIVE),)
        return (label_span("some are missing, G reads them  ", Role.WARN),)

    def _work_text(self) -> tuple[StyledSpan, ...]:
        """Say that the rows of another order or filter are still shown."""
        work = self.listing.work
        return (label_span(f"{work}{self.console.glyphs.ellipsis}  ", Role.LIVE),) if work else ()

    def _order(self) -> SortKey | None:
        """Return the first sort column that the header can show."""
        known = {*self.table.column_ids, *(column.id for column in self.spec.columns)}
        return next((key for key in self._sort if key.field in known), None)

    def _state_texts(self) -> Iterator[StyledSpans]:
        """Yield the position, after the label and id of the row at the cursor if the row has room for the label
        alone; then less of both.
        """
        texts, label = list(self._position_texts()), self.table.label_without_id
        if label is not None:
            for text in map(to_spans, texts):
                gap = "  " if any(words for words, _ in text) else ""
                yield (label_span(f"{label}{gap}", Role.PLAIN), *text)
        yield from texts

    def _position_texts(self) -> Iterator[StyledSpans]:
        """Yield how many newer rows are above the window, the key that leads there and the order, then less of that
        for a frame whose title needs the room.
        """
        above, order, order_words = self.table.rows_above, self._order(), self._order_text()
        is_newest_first = order is not None and not order.descending and self._sorts_by_time(order)
        if above and is_newest_first and not self.listing.is_ranked:
            newer = f"{grouped_number(above)} newer above"
            words = label_span(f"{newer} {self.console.glyphs.dot} {self.console.keys.shown('list.top')}", Role.LIVE)
            yield (words, label_span("  "), *to_spans(order_words))
            yield (words,)
            yield (label_span(newer, Role.LIVE),)
        else:
            yield order_words
        yield line("")

    def _order_text(self) -> StyledSpans:
        if self.listing.is_ranked:
            return (label_span("best match first"),)
        order = self._order()
        if order is None:
            return line("")
        first = [key.words for key in self._sort if key.words]
        column = next((column for column in self.spec.columns if column.id == order.field), None)
        # A list may have other times than that by which it is in order unasked.
        if self._sorts_by_time(order) and any(order.field == key.field for key in self.spec.sort):
            if column is not None and self._is_other_time_shown(order):
                first.append(column.title)
            return (label_span(", ".join([*first, "oldest first" if order.descending else "newest first"])),)
        marks = self.console.chrome_glyphs
        # The heading, which is not always the word that filters use.
        title = order.field if column is None else column.title
        is_falling = order.descending is not (column is not None and column.puts_newest_first)
        way = f"{title} {marks.falling if is_falling else marks.rising}"
        return (label_span(", ".join([*first, way]) if first else f"sort {way}"),)

    def _sorts_by_time(self, order: SortKey) -> bool:
        return any(column.id == order.field and column.puts_newest_first for column in self.spec.columns)

    def _is_other_time_shown(self, order: SortKey) -> bool:
        """Return whether the rows seem to be in no order, by a time that is shown without the one that orders them."""
        shown = self.table.shown_columns
        times = {column.id for column in self.spec.columns if column.puts_newest_first and column.id != order.field}
        return not self.table.shows_order and not times.isdisjoint(shown)

    def _show_order(self) -> None:
        order, table, own = self._order(), self.table, self.spec.sort
        is_plain = len(own) == 1 and not own[0].descending and own[0].field in table.shown_columns
        table.has_own_order = not is_plain
        if order is None:
            table.sorted_by(None)
        else:
            table.sorted_by(order.field, descending=order.descending, is_own=self._sort == own)

    def _apply_filter(self, text: str, *, is_undoable: bool = True) -> bool:
        """Apply a filter text and return whether it is valid.

        If it is not, the filter from before the typing applies again: rows of the text's valid beginning would look
        like the result.
        """
        if text.strip():
            from runwatch.view.query.expressions import QueryError
            from runwatch.view.query.parser import parse_filter

            try:
                self._query = parse_filter(text, self.spec, named=self.console.settings.filters)
                self._is_unreadable = False
            except QueryError as error:
                if self.has_class("-filtering"):
                    self._query = self._query_before
                self._is_unreadable = True
                bar = self.query_one("#filter", FilterBar)
                if meant := self._typed_flag_text(text):
                    bar.show_meaning(meant)
                else:
                    bar.show_error(line(f"not applied: {error.short_words}"))
        else:
            self._query = None
            self._is_unreadable = False
        if self._query is not None:
            self._stored_filter = ""
        self._filter_is_off = self._filter_is_off and self._is_unreadable
        if not self.has_class("-filtering"):
            self._settle_filter(is_undoable=is_undoable)
        self.show_crumbs()
        self.show_rows()
        self.look_further()
        return not self._is_unreadable

    def _count_matches(self) -> None:
        # New rows do not clear the error of an invalid filter.
        if self.has_class("-filtering") and not self._is_unreadable:
            so_far = self.console.glyphs.ellipsis if self.listing.is_under_way else ""
            bar = self.query_one("#filter", FilterBar)
            count = f"{grouped_number(len(self.listing.shown_rows))}{so_far}/{grouped_number(self._total)}"
            if meant := self._typed_flag_text(bar.text):
                bar.show_meaning(line(f"{meant}   {count}"))
            else:
                bar.show_count(line(count))

    def _typed_flag_text(self, text: str) -> SafeText:
        """Explain the ``is:`` being typed; empty if none is."""
        if "is:" not in text:
            return line("")
        from runwatch.view.table.flag_meanings import typed_flag_text

        return typed_flag_text(self.spec, text)

    def close_filter(self) -> None:
        super().close_filter()
        self._filtered_from = None
        self._settle_filter()
        self.table.focus()
        self.look_further()

    def crumbs_note(self) -> StyledSpans | None:
        """Return the filter, and whether it is switched off."""
        if self._query is None:
            return None
        off = " (off)" if self._filter_is_off else ""
        return (label_span("filter "), label_span(f"{self._query.text}{off}", Role.PLAIN))

    def complete_filter(self, text: str) -> Iterator[str]:
        """Yield a filter with each word that its last one may become, from the rows in sight."""
        fields = [field.id for field in self.spec.all_fields()]
        return complete_filter(
            text, _Seen(fields, self.listing.shown_rows[:MAX_COMPLETED_ROWS]), tuple(self.spec.flags)
        )

    def _complete(self, text: str) -> str | None:
        return next(self.complete_filter(text), None)


class _Seen(Mapping[str, Sequence[SafeText]]):
    """The values of each field in some rows, computed on access, because completion needs few of the fields."""

    def __init__(self, fields: Sequence[str], rows: Sequence[RecordRow[Any]]) -> None:
        self._fields = fields
        self._rows = rows

    def __getitem__(self, name: str) -> Sequence[SafeText]:
        if name not in self._fields:
            raise KeyError(name)
        return sorted({line(value) for row in self._rows if (value := row.value(name))})

    def __iter__(self) -> Iterator[str]:
        return iter(self._fields)

    def __len__(self) -> int:
        return len(self._fields)


def _set_marks(console: Console, name: str, marks: frozenset[str]) -> None:
    """Mark exactly these rows of a list, on the screen that shows it and for the next one."""
    console.row_marks[name] = marks
    for screen in console.app.screen_stack:
        if isinstance(screen, ListScreen) and screen.spec.name == name:
            screen.table.mark(marks)
            screen._show_edge()
