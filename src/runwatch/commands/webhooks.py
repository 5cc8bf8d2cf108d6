"""``webhooks deliveries``: deliveries of a webhook."""

from __future__ import annotations

from typing import Any, Final

from runwatch.api.operations import OPERATIONS
from runwatch.commands.cli.invocation import Invocation
from runwatch.commands.shared.list_reader import filter_by_options, parse_limit
from runwatch.commands.shared.record_printer import RecordPrinter
from runwatch.commands.shared.session import CommandSession, run_in_session
from runwatch.view.resources.webhooks import DELIVERIES

LIST: Final = "getWebhooksByWebhookIdDeliveries"


def deliveries(call: Invocation) -> int:
    """``webhooks deliveries``: print the deliveries of a webhook with their results, newest first."""

    async def work(session: CommandSession) -> int:
        limit = parse_limit(call)
        values: list[Any] = []
        path = {"webhook_id": call.options.id}
        async for page in session.client.pages(OPERATIONS[LIST], path=path, limit=limit):
            values += page.values
        RecordPrinter(call, session.settings, DELIVERIES).records(filter_by_options(call, values))
        return 0

    return run_in_session(call, work)
