"""``webhooks create|rotate|remove|deliveries|replay``: addresses that get final runs."""

from __future__ import annotations

from typing import Any, Final

from runwatch.api.operations import OPERATIONS
from runwatch.commands.call import Call
from runwatch.commands.listing import limit_of, meets_options
from runwatch.commands.outcomes import for_each
from runwatch.commands.printing import Printer
from runwatch.commands.resources import as_record, print_record
from runwatch.commands.session import Session, with_session
from runwatch.commands.writing import body_from, need, with_given, write, writing
from runwatch.records.record import Record
from runwatch.records.webhook import Delivery, Webhook
from runwatch.view.resource import ResourceSpec
from runwatch.view.resources.webhooks import DELIVERIES, WEBHOOKS

CREATE: Final = "postWebhooks"
ROTATE: Final = "postWebhooksByWebhookIdRotateSecret"
REMOVE: Final = "deleteWebhooksByWebhookId"
REPLAY: Final = "postWebhooksDeliveriesByDeliveryIdReplay"
LIST: Final = "getWebhooksByWebhookIdDeliveries"


def create(call: Call) -> int:
    """``webhooks create``: add a webhook and print its signing secret, this once."""
    body = with_given(body_from(call), {"url": call.options.url, "event_types": call.options.event or None})
    need(body, {"url": "--url", "event_types": "--event"})
    return _write(call, CREATE, "add a webhook", {}, WEBHOOKS, Webhook, body)


def rotate(call: Call) -> int:
    """``webhooks rotate``: another signing secret, printed this once; the one before ends at once."""
    webhook_id = call.options.id
    return _write(
        call, ROTATE, f"give {webhook_id} another secret", {"webhook_id": webhook_id}, WEBHOOKS, Webhook, None
    )


def remove(call: Call) -> int:
    """``webhooks remove``: one outcome a webhook; its secret and its deliveries go with it."""

    async def one(session: Session, webhook_id: str) -> str | None:
        value = await write(session, REMOVE, f"remove {webhook_id}", path={"webhook_id": webhook_id})
        return value.get("status") if isinstance(value, dict) else None

    return for_each(call, REMOVE, one, asks="Remove", singular="webhook", member="webhook_id", done="removed")


def replay(call: Call) -> int:
    """``webhooks replay``: the same event once more, as a delivery of its own."""
    delivery_id = call.options.id
    return _write(
        call, REPLAY, f"deliver {delivery_id} again", {"delivery_id": delivery_id}, DELIVERIES, Delivery, None
    )


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


def _write(
    call: Call,
    operation: str,
    label: str,
    path: dict[str, str],
    spec: ResourceSpec[Any],
    kind: type[Record],
    body: dict[str, Any] | None,
) -> int:
    async def work(session: Session) -> int:
        made = as_record(kind, await write(session, operation, label, path=path, body=body))
        print_record(session, spec, made)
        if made.raw.get("secret"):
            call.output.note("the signing secret is shown this once; keep it now")
        elif operation != REPLAY:
            call.output.warn("the service did not show the secret; 'runwatch webhooks rotate' gives another one")
        return 0

    return writing(call, operation, work)
