"""Webhooks: who is told of final runs, and what was delivered."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Final

from runwatch.records.record import Record
from runwatch.records.webhook import Deliveries, Delivery
from runwatch.store.reports import Report
from runwatch.tui.screens.tabbed import RECORD, TabbedScreen
from runwatch.tui.sources import Source
from runwatch.view.detail import Section
from runwatch.view.drawn import Drawn, line
from runwatch.view.format import Context
from runwatch.view.resources.webhooks import WEBHOOKS, delivery_sections
from runwatch.view.table import Row
from runwatch.view.writes.webhooks import REPLAY

if TYPE_CHECKING:
    from runwatch.tui.widgets.detail_view import LinkFollowed

DELIVERIES: Final = "deliveries"


class WebhooksScreen(TabbedScreen):
    """The screen of webhooks."""

    TABS: ClassVar[tuple[tuple[str, Drawn], ...]] = ((RECORD, line("Record")), (DELIVERIES, line("Deliveries")))

    def __init__(self, source: Source) -> None:
        super().__init__(WEBHOOKS, source)

    def asked(self, tab: str, row: Row[Any]) -> Report | None:
        """The newest deliveries to this webhook."""
        return Report("getWebhooksByWebhookIdDeliveries", Deliveries, path=(("webhook_id", row.id),))

    def side_sections(self, tab: str, row: Row[Any], record: Record | None, context: Context) -> Sequence[Section]:
        """The deliveries."""
        assert isinstance(record, Deliveries)
        return delivery_sections(record.deliveries or (), context, more=record.next_cursor is not None)

    def on_link_followed(self, message: LinkFollowed) -> None:
        """Deliver again, once a person has confirmed it."""
        if isinstance(message.link, Delivery):
            message.stop()
            self.console.perform(self, message.link, REPLAY)
