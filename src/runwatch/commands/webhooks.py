"""``webhooks deliveries``: what was delivered to an address that gets final runs."""

from __future__ import annotations

from typing import Any, Final

from runwatch.api.operations import OPERATIONS
from runwatch.commands.call import Call
from runwatch.commands.listing import limit_of, meets_options
from runwatch.commands.printing import Printer
from runwatch.commands.session import Session, with_session
from runwatch.view.resources.webhooks import DELIVERIES

LIST: Final = "getWebhooksByWebhookIdDeliveries"


def deliveries(call: Call) -> int:
    """``webhooks deliveries``: what was delivered to a webhook, and what came of it, the newest first."""

    async def work(session: Session) -> int:
        limit = limit_of(call)
        values: list[Any] = []
        path = {"webhook_id": call.options.id}
        async for page in session.client.pages(OPERATIONS[LIST], path=path, limit=limit):
            values += page.values
        Printer(call, session.settings, DELIVERIES).records(meets_options(call, values))
        return 0

    return with_session(call, work)
