"""The model catalog: counted by facets, and each entry with the models saved from it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from runwatch.records.arm import Arm
from runwatch.records.record import Record
from runwatch.records.source import SourceConnection
from runwatch.store.state.freshness import LoadState, PaneState
from runwatch.tui.core.workers import start_worker
from runwatch.tui.flows.action_dialog import perform_action
from runwatch.tui.screens.base.faceted_screen import FacetedScreen
from runwatch.tui.sources.row_sources import RowSource
from runwatch.tui.widgets.bars.status_bar import KeyHint
from runwatch.view.actions.arms import SAVE
from runwatch.view.actions.sources import find_without_models
from runwatch.view.detail.sections import DetailSection
from runwatch.view.resources.models import MODELS, saved_model_sections, unread_models_lines
from runwatch.view.table.rows import RecordRow
from runwatch.view.text.format import RenderContext
from runwatch.view.text.safe_text import SafeText

if TYPE_CHECKING:
    from runwatch.tui.widgets.lists.detail_view import DetailView


class ModelsScreen(FacetedScreen):
    def __init__(self, source: RowSource) -> None:
        super().__init__(MODELS, source)
        self._asks_connections = True

    def polled_lists(self) -> tuple[type[Record], ...]:
        """Return saved models too; they show what uses an entry."""
        return (*super().polled_lists(), Arm)

    def rows_shown(self, *, keeps_detail: bool) -> None:
        """Read the connections once where no model is listed: one of them may have models that are not read yet."""
        super().rows_shown(keeps_detail=keeps_detail)
        session = self.console.session
        if self._asks_connections and session is not None and self._is_empty:
            from runwatch.tui.sources.record_loader import load_records

            self._asks_connections = False
            start_worker(self, load_records(session, SourceConnection), "reading the connections")

    def empty_text(self, state: PaneState) -> tuple[SafeText, ...]:
        """Name the connections whose models are not read, and the key that reads them."""
        if state.load is not LoadState.EMPTY or not (found := self._connections_without_models()):
            return super().empty_text(state)
        key = self.console.keys.shown("screen.new") if self.offers("screen.new") else ""
        return unread_models_lines(found, self.console.render_context(), key)

    def all_hints(self) -> Sequence[KeyHint]:
        """Name the key that saves by what it does here: without a model, it leads to the first one."""
        first, *others = (hint for hint in super().all_hints() if hint != "screen.new")
        if self.row is not None:
            return [first, ("screen.new", "save"), *others]
        if not self._is_empty:
            # Not read yet, or all rows are filtered out.
            return [first, *others]
        return [first, ("screen.new", "read models" if self._connections_without_models() else "connect"), *others]

    def detail_sections(self, row: RecordRow[Any], context: RenderContext) -> Sequence[DetailSection]:
        """Return the models saved from the entry, then its fields."""
        collection = self.console.store.collection(self.console.profile_name, Arm.KIND)
        is_read = collection.read_at is not None or collection.cached_at is not None
        fields = super().detail_sections(row, context)
        save = SAVE if self.offers("screen.new") and SAVE.enabled_when(row.subject) else None
        return [
            *saved_model_sections(row.id, [*self.console.records(Arm).values()], context, is_known=is_read, save=save),
            *fields,
        ]

    def on_detail_view_link_opened(self, message: DetailView.LinkOpened) -> None:
        """Save the model of the detail; the base class opens records."""
        if message.link is SAVE and self.row is not None:
            perform_action(self, self.row.subject, SAVE)

    async def action_new(self) -> None:
        """Save the model at the cursor; without one, bring the models of a connection, or make a connection."""
        if not self._is_empty:
            await super().action_new()
            return
        from runwatch.tui.flows.model_servers import bring_models

        bring_models(self, self._connections_without_models())

    @property
    def _is_empty(self) -> bool:
        """Whether the service lists no model."""
        return self._source.state().load is LoadState.EMPTY

    def _connections_without_models(self) -> list[SourceConnection]:
        """Return the known connections without models, if no model is listed at all."""
        if self._total:
            return []
        return find_without_models(self.console.records(SourceConnection).values(), ())
