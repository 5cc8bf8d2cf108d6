"""``webhooks deliveries``: deliveries of a webhook."""

from __future__ import annotations

from typing import Final

from runwatch.commands.shared.list_reader import filter_by_options, parse_limit
from runwatch.commands.shared.record_printer import RecordPrinter
from runwatch.commands.shared.session import CommandSession, in_session
from runwatch.view.resources.webhooks import DELIVERIES

LIST: Final = "getWebhooksByWebhookIdDeliveries"


@in_session
async def deliveries(session: CommandSession) -> int:
    """``webhooks deliveries``: print the deliveries of a webhook with their results, newest first."""
    call = session.call
    pages = session.client.pages(LIST, path={"webhook_id": call.options.id}, limit=parse_limit(call))
    values = [value async for page in pages for value in page.values]
    RecordPrinter(call, session.settings, DELIVERIES).records(filter_by_options(call, values))
    return 0
