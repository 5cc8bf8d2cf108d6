"""Receipts: filtered by the service, totalled, reconciled with the usage report, and checked for content."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, ClassVar, Final

from runwatch.records.receipt import Receipt
from runwatch.records.run import Run
from runwatch.tui.core.key_bindings import make_bindings
from runwatch.tui.core.rendering import StyledSpan, StyledSpans, label_span, to_spans
from runwatch.tui.screens.base.resource_screen import DETAIL_CELLS, MIN_DETAIL_CELLS, ResourceScreen
from runwatch.tui.sources.receipt_totals import ReceiptTotalsModel, UsageReconciler
from runwatch.tui.sources.row_sources import RowSource
from runwatch.tui.sources.server_filter_source import ServerFilterSource
from runwatch.tui.widgets.lists.detail_view import DetailView, text_section
from runwatch.tui.widgets.panes.pane import Pane
from runwatch.view.detail.sections import DetailSection
from runwatch.view.query.server_filter import describe_server_filter, server_parameters
from runwatch.view.receipts.charts import spend_sections
from runwatch.view.receipts.run_context import add_links, run_context_section
from runwatch.view.receipts.totals import UsageReconciliation, total_text
from runwatch.view.resources.receipts import RECEIPTS
from runwatch.view.runs.decision_packet import parse_packet, run_outcome_title
from runwatch.view.table.rows import RecordRow
from runwatch.view.text.format import short_id
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import SafeText, line

if TYPE_CHECKING:
    from runwatch.records.record import Record
    from runwatch.store.live.list_continuation import ListContinuation
    from runwatch.tui.widgets.bars.status_bar import KeyHint
    from runwatch.view.query.expressions import Query
    from runwatch.view.text.format import RenderContext

_ON_RECEIPTS: Final = frozenset({"raw", "compare", "copy_menu"})
"""Handlers of keys that do something with the receipt at the cursor, and nothing with the totals."""

_TOTAL: Final = "Total"
"""The section after which values from other sources are inserted."""


class ReceiptsScreen(ResourceScreen):
    """The screen of receipts."""

    BINDINGS = make_bindings("screen.spend", "screen.add")
    HINTS = (
        "list.open", "screen.filter", "screen.spend", "screen.compare", "list.mark", "screen.facets", "screen.export",
        "screen.copy", "screen.add", "screen.raw", "screen.refresh", "screen.time", "app.quit",
    )  # fmt: skip

    WANTED_DETAIL: ClassVar[int] = MIN_DETAIL_CELLS
    """Reasons, models and amounts of the list come first."""

    def __init__(self, source: RowSource) -> None:
        super().__init__(RECEIPTS, source)
        self._whole = source
        self._shown_sums: Final = ReceiptTotalsModel(self, "adding shown", self._added)
        self._all_sums: Final = ReceiptTotalsModel(self, "adding all", self._added)
        self._reconciling: UsageReconciler | None = None
        self._shows_spend = False
        self._looks_here = False
        # The line at the cursor in the totals, while others are added up.
        self._left_line: int | None = None

    # Layout.

    def polled_lists(self) -> tuple[type[Record], ...]:
        """Return the list, unless the service filters it."""
        return () if self._narrowed is not None else super().polled_lists()

    def on_unmount(self) -> None:
        if self._narrowed is not None:
            self._narrowed.close()
        if self._reconciling is not None:
            self._reconciling.close()
        self._shown_sums.close()
        self._all_sums.close()

    # Totals.

    @property
    def _spend_is_alone(self) -> bool:
        """Whether the totals have the focus or cover the list, so that no receipt is meant."""
        return self._shows_spend and (self._is_in_detail or not self.query_one("#list").display)

    @property
    def row(self) -> RecordRow[Any] | None:
        """The receipt at the cursor; ``None`` while none is meant."""
        return None if self._spend_is_alone else super().row

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Disable the keys for a receipt while none is meant."""
        return not (action in _ON_RECEIPTS and self._spend_is_alone) and super().check_action(action, parameters)

    def hints(self) -> Sequence[KeyHint]:
        """Return the hints; those of the totals while they have the focus, and of their plot if they have one."""
        if not self._shows_spend:
            return super().hints()
        if not self._is_in_detail:
            return [("screen.spend", "receipt") if hint == "screen.spend" else hint for hint in super().hints()]
        plot = self.query_one("#fields", DetailView).plot_hints
        receipt = [("screen.spend", "receipt")] if self.listing.shown_rows else []
        copy = ("screen.copy", "copy value")
        return [("detail.open", "filter by it"), *plot, *receipt, ("screen.back", "list"), "screen.filter",
                "screen.full", "screen.refresh", copy, "screen.export", "app.quit"]  # fmt: skip

    def key_help(self, id: str) -> str:
        if id == "screen.spend" and self._shows_spend:
            return "Show the receipt at the cursor instead of the spend."
        if id == "screen.copy" and self._spend_is_alone:
            return "Copy the value under the cursor."
        return super().key_help(id)

    def counters(self) -> StyledSpans:
        if self._source.state().age_s is None and not self.listing.shown_rows:
            return line("")
        # While rows are being found, their total would be outdated at once.
        sums = None if self.listing.is_under_way else self._shown_sums.take(self.listing.shown_rows, _receipt_of_row)
        if sums is None:
            return (label_span(f"adding up{self.console.glyphs.ellipsis}"),)
        return (label_span(total_text(sums, is_whole=self._source.end_is_proven()), Role.PLAIN),)

    def breadcrumbs(self) -> Sequence[str]:
        """Return the totals instead of a receipt while they are shown."""
        return (self.spec.title, "Spend") if self._shows_spend and self._is_opened else super().breadcrumbs()

    def action_add(self) -> None:
        """Add run ids to the watch list; their receipts are read one by one."""
        from runwatch.tui.flows.runs.add_runs import open_add_runs

        open_add_runs(self)

    def usual_share(self) -> float:
        """Return the share of the width of a receipt; of the totals, whose plots need more, that of half the window,
        but no more than lines may be long.
        """
        share = super().usual_share()
        return max(share, min(0.5, DETAIL_CELLS / self.size.width)) if share and self._shows_spend else share

    async def action_copy(self) -> None:
        if self._spend_is_alone:
            await self.copy_word((self.query_one("#fields", DetailView).value or "").strip(), "value under the cursor")
        else:
            await super().action_copy()

    def action_show_actions(self) -> None:
        if self._spend_is_alone:
            self.open_more_keys()
        else:
            super().action_show_actions()

    def action_spend(self) -> None:
        """Show the totals or, instead of them, the receipt at the cursor; without a receipt, the list."""
        if self._shows_spend and not self.listing.shown_rows:
            self.action_back()
            return
        self._shows_spend, self._left_line = not self._shows_spend, None
        self._fit_panes()
        self.query_one("#fields", DetailView).reset()
        if self._shows_spend:
            self.open_detail()
        else:
            self.show_detail()
            self.show_crumbs()
        self.show_hints()

    def action_raw(self) -> None:
        self._shows_spend = False
        self._fit_panes()
        super().action_raw()

    def action_back(self) -> None:
        """Go back one level; from the totals, go to the list."""
        if self._shows_spend:
            self._shows_spend = False
            self._fit_panes()
            self.show_detail()
            self.show_hints()
        super().action_back()

    def show_detail(self) -> None:
        """Show the record under the cursor, or the totals."""
        if not self._shows_spend:
            super().show_detail()
            return
        view, state = self.query_one("#fields", DetailView), self._source.state()
        sums = self._shown_sums.take(self.listing.shown_rows, _receipt_of_row)
        is_whole = self._source.end_is_proven()
        if state.age_s is None and not self.listing.shown_rows:
            view.show([text_section(*self.unread_lines(self.spec, state), role=Role.QUIET)])
        elif sums is None:
            self._left_line = view.cursor if self._left_line is None else self._left_line
            view.show([text_section(line(f"adding up{self.console.glyphs.ellipsis}"), role=Role.QUIET)])
        else:
            context = self.console.render_context()
            view.show(spend_sections(sums, self._compared(), view.value_cells, context, is_whole=is_whole))
            if self._left_line:
                view.move_cursor(self._left_line)
            self._left_line = None
            self.show_hints()
        title = line("Spend of the receipts shown" if self.is_filtered else "Spend")
        self.query_one("#detail", Pane).set_border_text(title=title, state=line(""), age=(self.age_span(state),))

    def on_detail_view_link_opened(self, message: DetailView.LinkOpened) -> None:
        """Filter by the rows a line of the totals counts."""
        if isinstance(message.link, str):
            # Adjacent terms are combined with AND, which would not narrow an alternative.
            before = "" if "|" in self.filter_text else self.filter_text
            if message.link not in before:
                self.filter_by(f"{before} {message.link}".strip())

    def _added(self) -> None:
        if self.is_mounted:
            self._show_edge()
            self.show_detail()

    def _compared(self) -> UsageReconciliation | SafeText:
        session = self.console.session
        if session is None:
            return line("not compared: the service is not connected")
        if self._reconciling is None:
            self._reconciling = UsageReconciler(session)
        is_all = self._query is None and self._narrowed is None
        whole = self._shown_sums.sums if is_all else self._all_sums.take(self._whole.items(), _itself)
        return self._reconciling.compare(whole, is_whole=self._whole.end_is_proven())

    # One receipt.

    def detail_title(self, row: RecordRow[Any]) -> StyledSpans:
        glyphs, receipt = self.console.glyphs, row.subject
        status = run_outcome_title(receipt.status, parse_packet(receipt.decision_packet), glyphs)
        return ((short_id(row.id, glyphs), Role.PLAIN), label_span("  "), status)

    def detail_sections(self, row: RecordRow[Any], context: RenderContext) -> Sequence[DetailSection]:
        """Return the receipt's fields, with those known from other sources."""
        made = add_links(super().detail_sections(row, context), row.subject)
        position = next((number for number, part in enumerate(made, 1) if part.title == _TOTAL), len(made))
        session = self.console.session
        run = seen_at = None
        if session is not None:
            run = session.store.find(session.scope.profile, Run, row.id)
            read = session.store.get(session.scope.profile, Receipt.KIND, row.id)
            seen_at = None if read is None else read.seen_at
        made.insert(position, run_context_section(row.subject, run, seen_at, self._compared(), context))
        return made

    # The server filter.

    @property
    def _narrowed(self) -> ServerFilterSource | None:
        return self._source if isinstance(self._source, ServerFilterSource) else None

    def continuations(self) -> Sequence[ListContinuation]:
        narrowed = self._narrowed
        return super().continuations() if narrowed is None or narrowed.is_refused else narrowed.continuations()

    def use(self, source: RowSource) -> None:
        """Use another source of rows, with the same server filter."""
        self._widen()
        self._whole = source
        super().use(source)
        self._narrow()

    def data_changed(self, kinds: frozenset[str]) -> None:
        """Redraw the rows; if the service refused the filter, read the whole list again."""
        narrowed, session = self._narrowed, self.console.session
        if narrowed is not None and narrowed.is_refused and session is not None:
            self.show_crumbs()
            if not self._looks_here:
                self._looks_here = True
                session.live.start_list(Receipt)
                self.look_further()
        super().data_changed(kinds)

    def action_filters(self) -> None:
        """Toggle the filter, also at the service."""
        super().action_filters()
        self._narrow()

    def action_refresh(self) -> None:
        """Read the list, and after it the report that its spend is compared with, while that is shown."""
        if self._narrowed is None:
            super().action_refresh()
        else:
            self._narrowed.open()
        if self._reconciling is not None and self._shows_spend:
            self._reconciling.refresh()

    def server_filter_text(self) -> tuple[StyledSpan, ...]:
        narrowed = self._narrowed
        if narrowed is None:
            return ()
        words, dot = describe_server_filter(narrowed.parameters, self.console.render_context()), self.console.glyphs.dot
        if narrowed.is_refused:
            return (label_span(f" {dot} refused, filtered here: {words}", Role.WARN),)
        return (label_span(f" {dot} sent: "), label_span(words, Role.PLAIN))

    def crumbs_note(self) -> StyledSpans | None:
        """Return the filter, and whether the service applies it."""
        words = super().crumbs_note()
        narrowed = self._narrowed
        if words is None or narrowed is None or narrowed.is_refused:
            return words
        return (*to_spans(words), label_span(f"  {self.console.glyphs.dot} sent to the service"))

    def _apply_filter(self, text: str, *, is_undoable: bool = True) -> bool:
        is_read = super()._apply_filter(text, is_undoable=is_undoable)
        # Rows are filtered locally while the user types; only the final filter is sent.
        if is_read and not self.has_class("-filtering"):
            self._narrow()
        return is_read

    def close_filter(self) -> None:
        super().close_filter()
        self._narrow()

    def _narrow(self) -> None:
        """Let the service filter what it can; its response then replaces the rows."""
        session, query, narrowed = self.console.session, None if self._filter_is_off else self._query, self._narrowed
        if session is None or (narrowed and query and narrowed.query.text == query.text):
            return
        asks = query is not None and bool(_asked(query, session.clock.now()))
        if narrowed is not None or asks:
            self.resume()
        self._widen()
        if query is not None and asks:
            self._source = ServerFilterSource(self._whole, Receipt, session, query, _asked)
            self._looks_here = False
            session.live.stop_list(Receipt)
        self.show_crumbs()
        self.show_rows()
        self.look_further()

    def _widen(self) -> None:
        narrowed, session = self._narrowed, self.console.session
        if narrowed is not None:
            narrowed.close()
            self._source = self._whole
            if session is not None:
                session.live.start_list(Receipt)


def _asked(query: Query, now: datetime) -> Mapping[str, str]:
    """Return the part of a filter the service applies."""
    assert Receipt.WIRE is not None
    return server_parameters(query, Receipt.WIRE.filters, now)


def _receipt_of_row(row: RecordRow[Any]) -> Receipt:
    assert isinstance(row.item, Receipt)
    return row.item


def _itself(receipt: Receipt) -> Receipt:
    return receipt
