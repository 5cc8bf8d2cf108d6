"""Receipts: filtered by the service, added up in sight, compared with the usage report, and checked for content."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, ClassVar, Final

from textual.binding import BindingType

from runwatch.records.receipt import Receipt
from runwatch.records.run import Run
from runwatch.tui.actions import bindings
from runwatch.tui.adding import Adding, Reconciling
from runwatch.tui.draw import Piece, Pieces, pieces_of, word
from runwatch.tui.narrowing import NarrowedSource
from runwatch.tui.screens.resource import ResourceScreen
from runwatch.tui.sources import Source
from runwatch.tui.widgets.detail_view import DetailView, LinkFollowed
from runwatch.tui.widgets.pane import Pane
from runwatch.tui.widgets.status_line import Hint
from runwatch.view.detail import Line, Section
from runwatch.view.drawn import Drawn, line
from runwatch.view.format import short_id
from runwatch.view.glyphs import Role
from runwatch.view.narrowing import narrowed_words
from runwatch.view.packet import outcome_and_action, packet_of
from runwatch.view.query import server_part
from runwatch.view.receipt_context import context_section, with_ways
from runwatch.view.receipt_plots import spend_sections
from runwatch.view.receipt_sums import Reconciliation, total_words
from runwatch.view.resources.receipts import RECEIPTS
from runwatch.view.table import Row

if TYPE_CHECKING:
    from runwatch.records.record import Record
    from runwatch.view.format import Context
    from runwatch.view.query import Query

_TOTAL: Final = "Total"
"""The section behind which stands what is known from elsewhere."""


class ReceiptsScreen(ResourceScreen):
    """The screen of receipts.

    Args:
        source: Where the whole list comes from.
    """

    BINDINGS: ClassVar[list[BindingType]] = bindings("screen", only=("screen.spend",))

    def __init__(self, source: Source) -> None:
        super().__init__(RECEIPTS, source)
        self._whole = source
        self._shown_sums: Final = Adding(self, "adding shown", self._added)
        self._all_sums: Final = Adding(self, "adding all", self._added)
        self._reconciling: Reconciling | None = None
        self._shows_spend = False

    # What it is made of.

    def hints(self) -> Sequence[Hint]:
        """What reviewers do with receipts."""
        return (
            "list.open", "screen.filter", "screen.spend", "screen.compare", "list.mark", "screen.export",
            "screen.copy", "screen.raw", "screen.refresh", "screen.time", "app.quit",
        )  # fmt: skip

    def lists(self) -> tuple[type[Record], ...]:
        """The whole list, unless the service filters it."""
        return () if self._narrowed is not None else super().lists()

    def on_unmount(self) -> None:
        """Nobody looks any more."""
        if self._narrowed is not None:
            self._narrowed.close()
        if self._reconciling is not None:
            self._reconciling.close()
        self._shown_sums.close()
        self._all_sums.close()

    # What they add up to.

    def counters(self) -> Pieces:
        """What the rows that are shown have cost."""
        if self._source.state().age_s is None and not self.listing.shown:
            return line("")
        sums = self._shown_sums.take(self.listing.shown, _receipt_of_row)
        if sums is None:
            return (word(f"adding up{self.console.glyphs.ellipsis}"),)
        return (word(total_words(sums, is_whole=self._source.end_is_proven()), Role.PLAIN),)

    def action_spend(self) -> None:
        """Show what the rows add up to in place of the record, or the record again."""
        self._shows_spend = not self._shows_spend
        self.query_one("#fields", DetailView).start_over()
        if self._shows_spend:
            self.open_detail()
        else:
            self.show_detail()

    def action_raw(self) -> None:
        """Show fields or JSON, of the record."""
        self._shows_spend = False
        super().action_raw()

    def action_back(self) -> None:
        """One level, as everywhere; out of the sums it leads to the list."""
        if self._shows_spend:
            self._shows_spend = False
            self.show_detail()
        super().action_back()

    def show_detail(self) -> None:
        """Show the record under the cursor, or what all of them add up to."""
        if not self._shows_spend:
            super().show_detail()
            return
        view = self.query_one("#fields", DetailView)
        sums = self._shown_sums.take(self.listing.shown, _receipt_of_row)
        is_whole = self._source.end_is_proven()
        if sums is None:
            adding = line(f"adding up{self.console.glyphs.ellipsis}")
            view.show([Section(line(""), (Line(line(""), adding, Role.QUIET),))])
        else:
            context = self.console.context()
            view.show(spend_sections(sums, self._compared(), view.value_cells, context, is_whole=is_whole))
        title = line("Spend of the receipts shown" if self.is_filtered else "Spend")
        self.query_one("#detail", Pane).show_edge(title=title, state=line(""))

    def on_link_followed(self, message: LinkFollowed) -> None:
        """Keep the rows that a line of the sums counts."""
        if isinstance(message.link, str):
            # Terms side by side must all hold; an alternative cannot be narrowed like that.
            before = "" if "|" in self.filter_text else self.filter_text
            if message.link not in before:
                self.filter_by(f"{before} {message.link}".strip())

    def _added(self) -> None:
        if self.is_mounted:
            self._show_edge()
            self.show_detail()

    def _compared(self) -> Reconciliation | Drawn:
        desk = self.console.desk
        if desk is None:
            return line("not compared: the service is not connected")
        if self._reconciling is None:
            self._reconciling = Reconciling(desk)
        is_all = self._query is None and self._narrowed is None
        whole = self._shown_sums.sums if is_all else self._all_sums.take(self._whole.items(), _itself)
        return self._reconciling.compare(whole, is_whole=self._whole.end_is_proven())

    # One receipt.

    def detail_title(self, row: Row[Any]) -> Pieces:
        """The id and how the run ended."""
        glyphs, receipt = self.console.glyphs, row.subject
        shown = outcome_and_action(receipt.status, packet_of(receipt.decision_packet), glyphs)
        status = (shown.text, str(shown.role))
        return ((short_id(row.id, glyphs), Role.PLAIN), word("  "), status)

    def detail_sections(self, row: Row[Any], context: Context) -> Sequence[Section]:
        """The receipt, and what is known of it from elsewhere."""
        made = with_ways(super().detail_sections(row, context), row.subject)
        position = next((number for number, part in enumerate(made, 1) if part.title == _TOTAL), len(made))
        desk = self.console.desk
        run = seen_at = None
        if desk is not None:
            known = desk.store.get(desk.scope.profile, Run.KIND, row.id)
            run = known.record if known is not None and isinstance(known.record, Run) else None
            read = desk.store.get(desk.scope.profile, Receipt.KIND, row.id)
            seen_at = None if read is None else read.seen_at
        made.insert(position, context_section(row.subject, run, seen_at, self._compared(), context))
        return made

    # The part of the filter that the service does.

    @property
    def _narrowed(self) -> NarrowedSource | None:
        return self._source if isinstance(self._source, NarrowedSource) else None

    def use(self, source: Source) -> None:
        """Take the rows from somewhere else from now on, filtered by the service as before."""
        self._widen()
        self._whole = source
        super().use(source)
        self._narrow()

    def data_changed(self, kinds: frozenset[str]) -> None:
        """Draw the rows anew; a list that the service does not filter is read whole again."""
        narrowed, desk = self._narrowed, self.console.desk
        if narrowed is not None and narrowed.is_refused and desk is not None:
            desk.live.show(Receipt)
            self.show_crumbs(self._filter_words())
        super().data_changed(kinds)

    def action_filters(self) -> None:
        """Take the filter away or put it back, at the service too."""
        super().action_filters()
        self._narrow()

    def action_refresh(self) -> None:
        """Read now what is shown."""
        if self._reconciling is not None:
            self._reconciling.refresh()
        if self._narrowed is None:
            super().action_refresh()
        else:
            self._narrowed.open()

    def reach(self) -> tuple[Piece, ...]:
        """What the service was asked for."""
        narrowed = self._narrowed
        if narrowed is None:
            return ()
        words, dot = narrowed_words(narrowed.parameters, self.console.context()), self.console.glyphs.dot
        if narrowed.is_refused:
            return (word(f" {dot} refused, filtered here: {words}", Role.WARN),)
        return (word(f" {dot} sent: "), word(words, Role.PLAIN))

    def _filter_words(self) -> Pieces | None:
        words = super()._filter_words()
        narrowed = self._narrowed
        if words is None or narrowed is None or narrowed.is_refused:
            return words
        return (*pieces_of(words), word(f"  {self.console.glyphs.dot} sent to the service"))

    def _apply_filter(self, text: str) -> bool:
        is_read = super()._apply_filter(text)
        # While a person types, the rows are filtered here; the service is asked for what was meant in the end.
        if is_read and not self.has_class("-filtering"):
            self._narrow()
        return is_read

    def _close_filter(self) -> None:
        super()._close_filter()
        self._narrow()

    def _narrow(self) -> None:
        """Have the service filter what it can; the answer replaces the rows when it is there."""
        desk, query, narrowed = self.console.desk, None if self._filter_is_off else self._query, self._narrowed
        if desk is None or (narrowed and query and narrowed.query.text == query.text):
            return
        self._widen()
        if query is not None and _asked(query, desk.clock.now()):
            self._source = NarrowedSource(self._whole, Receipt, desk, query, _asked)
            desk.live.hide(Receipt)
        self.show_crumbs(self._filter_words())
        self.show_rows()

    def _widen(self) -> None:
        narrowed, desk = self._narrowed, self.console.desk
        if narrowed is not None:
            narrowed.close()
            self._source = self._whole
            if desk is not None:
                desk.live.show(Receipt)


def _asked(query: Query, now: datetime) -> Mapping[str, str]:
    """The part of a filter that the service does."""
    assert Receipt.WIRE is not None
    return server_part(query, Receipt.WIRE.filters, now)


def _receipt_of_row(row: Row[Any]) -> Receipt:
    assert isinstance(row.item, Receipt)
    return row.item


def _itself(receipt: Receipt) -> Receipt:
    return receipt
