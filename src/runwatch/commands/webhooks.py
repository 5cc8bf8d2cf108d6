"""``webhooks deliveries``: deliveries of a webhook."""

from __future__ import annotations

from typing import Final

from runwatch.commands.shared.list_reader import read_list
from runwatch.commands.shared.record_printer import RecordPrinter
from runwatch.commands.shared.session import CommandSession, in_session
from runwatch.view.resources.webhooks import DELIVERIES

LIST: Final = "getWebhooksByWebhookIdDeliveries"


@in_session
async def deliveries(session: CommandSession) -> int:
    """``webhooks deliveries``: print the deliveries of a webhook with their results, newest first."""
    call = session.call
    printer = RecordPrinter(call, session.settings, DELIVERIES)
    printer.records(await read_list(session, LIST, keep=printer.select, path={"webhook_id": call.options.id}))
    return 0
