"""``webhooks deliveries``: deliveries of a webhook."""

from __future__ import annotations

from typing import Any, Final

from runwatch.commands.shared.list_reader import filter_by_options, is_selective, read_list
from runwatch.commands.shared.record_printer import RecordPrinter
from runwatch.commands.shared.session import CommandSession, in_session
from runwatch.view.resources.webhooks import DELIVERIES

LIST: Final = "getWebhooksByWebhookIdDeliveries"


@in_session
async def deliveries(session: CommandSession) -> int:
    """``webhooks deliveries``: print the deliveries of a webhook with their results, newest first."""
    call = session.call
    printer = RecordPrinter(call, session.settings, DELIVERIES)

    async def select(values: list[Any]) -> list[Any]:
        return printer.select(filter_by_options(call, values))

    chosen = select if is_selective(call) else None
    printer.records(await read_list(session, LIST, select=chosen, path={"webhook_id": call.options.id}))
    return 0
