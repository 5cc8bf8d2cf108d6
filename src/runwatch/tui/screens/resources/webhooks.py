"""Webhooks: who is notified of final runs, and what was delivered."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Final

from runwatch.records.record import Record
from runwatch.records.webhook import Deliveries, Delivery
from runwatch.store.live.report_poller import ReportQuery
from runwatch.tui.screens.base.tabbed_screen import RECORD, TabbedScreen
from runwatch.tui.sources.row_sources import RowSource
from runwatch.view.actions.webhooks import REPLAY
from runwatch.view.detail.sections import DetailSection
from runwatch.view.resources.webhooks import WEBHOOKS, delivery_sections
from runwatch.view.table.rows import RecordRow
from runwatch.view.text.format import RenderContext
from runwatch.view.text.safe_text import SafeText, line

if TYPE_CHECKING:
    from runwatch.tui.widgets.lists.detail_view import DetailView

DELIVERIES: Final = "deliveries"


class WebhooksScreen(TabbedScreen):
    """The screen of webhooks."""

    TABS: ClassVar[tuple[tuple[str, SafeText], ...]] = ((RECORD, line("Record")), (DELIVERIES, line("Deliveries")))

    def __init__(self, source: RowSource) -> None:
        super().__init__(WEBHOOKS, source)

    def report_for(self, tab: str, row: RecordRow[Any]) -> ReportQuery | None:
        """Return the query for the webhook's newest deliveries."""
        return ReportQuery("getWebhooksByWebhookIdDeliveries", Deliveries, path=(("webhook_id", row.id),))

    def side_sections(
        self, tab: str, row: RecordRow[Any], record: Record | None, context: RenderContext
    ) -> Sequence[DetailSection]:
        """Return the deliveries."""
        assert isinstance(record, Deliveries)
        return delivery_sections(record.deliveries or (), context, more=record.next_cursor is not None)

    def on_detail_view_link_opened(self, message: DetailView.LinkOpened) -> None:
        """Deliver again after confirmation."""
        if isinstance(message.link, Delivery):
            message.stop()
            self.console.perform(self, message.link, REPLAY)
