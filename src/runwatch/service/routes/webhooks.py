"""Webhooks (wire reference 2.14; what is ours stands in :mod:`runwatch.service.organization.webhooks`).

A signing secret is told in the answer that makes it and never again; the same request sent again with its idempotency
key is answered with ``secret_withheld`` in its place. Whoever lost the answer rotates the secret.
"""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

from runwatch.base.addresses import AddressKind, address_named, kind_of
from runwatch.base.secret import Secret
from runwatch.base.target import may_be_loopback
from runwatch.records.requests.webhooks import WebhookRequest
from runwatch.service.errors import invalid
from runwatch.service.http.answer import Answer, answer_json, answer_once
from runwatch.service.http.bodies import read_as
from runwatch.service.http.call import Call, Endpoint
from runwatch.service.http.paging import next_cursor, read_paging
from runwatch.service.organization import webhooks
from runwatch.service.transaction import Row, Transaction

_WEBHOOK: Final = "/v1/webhooks/{webhook_id}"


async def list_webhooks(call: Call) -> Answer:
    """Every webhook of the organization, newest first. The list has no pages."""
    rows = await call.read(lambda transaction: webhooks.every(transaction, call.principal.tenant_id))
    return answer_json({"webhooks": [webhooks.read_form(row) for row in rows]})


async def add_webhook(call: Call) -> Answer:
    """A new webhook, with the secret that its deliveries are signed with."""
    request = read_as(WebhookRequest, call.content)
    _check_scheme(call, request.url)
    secret = webhooks.new_secret()
    handle = await call.context.vault.put(secret)

    def effect(transaction: Transaction) -> Answer:
        event_types = [str(event_type) for event_type in request.event_types]
        return _told(webhooks.add(transaction, call.principal.tenant_id, request.url, event_types, handle), secret)

    try:
        return await call.write(effect)
    except Exception:
        await call.context.vault.remove(handle)
        raise


async def remove_webhook(call: Call) -> Answer:
    """Remove a webhook, its deliveries and its secret. Not in the specification.

    A try that is under way may still arrive; nothing is sent afterwards.
    """
    secrets: list[str] = []

    def effect(transaction: Transaction) -> Answer:
        form, handle = webhooks.remove(transaction, call.principal.tenant_id, call.ids["webhook_id"])
        secrets.append(handle)
        return answer_json(form)

    answer = await call.write(effect)
    for handle in secrets:
        await call.context.vault.remove(handle)
    return answer


async def list_deliveries(call: Call) -> Answer:
    """A page of the deliveries to a webhook, newest first."""
    paging = read_paging(call, "deliveries", call.ids["webhook_id"])
    page = await call.read(
        lambda transaction: webhooks.deliveries(
            transaction,
            call.principal.tenant_id,
            call.ids["webhook_id"],
            before=paging.before,
            limit=paging.limit + 1,
        )
    )
    items = [webhooks.delivery_form(row) for row in page[: paging.limit]]
    return answer_json({"deliveries": items, "next_cursor": next_cursor(page, paging)})


async def rotate_secret(call: Call) -> Answer:
    """A new signing secret; the one before ends at once, also for deliveries that are still being tried."""
    tenant_id, webhook_id = call.principal.tenant_id, call.ids["webhook_id"]
    secret = webhooks.new_secret()
    handle = await call.context.vault.put(secret)
    earlier: list[str] = []

    def effect(transaction: Transaction) -> Answer:
        earlier.append(webhooks.find(transaction, tenant_id, webhook_id)["secret_handle"])
        webhooks.set_secret(transaction, webhook_id, handle)
        return _told(webhooks.find(transaction, tenant_id, webhook_id), secret)

    try:
        answer = await call.write(effect)
    except Exception:
        await call.context.vault.remove(handle)
        raise
    await call.context.vault.remove(earlier[0])
    return answer


async def replay(call: Call) -> Answer:
    """Tell the same event again, as a new delivery."""

    def effect(transaction: Transaction) -> Answer:
        row = webhooks.replay(transaction, call.principal.tenant_id, call.ids["delivery_id"])
        return answer_json(webhooks.delivery_form(row))

    return await call.write(effect)


def _check_scheme(call: Call, url: str) -> None:
    """Refuse an address that no delivery could go to, as far as it can be told without looking its name up.

    Raises:
        Refusal: ``validation_failed``.
    """
    parts = urlsplit(url)
    reach = call.context.reach_policy.endpoints(call.principal.tenant_id)
    is_loopback = may_be_loopback(parts.hostname or "")
    named = address_named(parts.hostname or "")
    if named is not None and kind_of(named) not in {AddressKind.PUBLIC, AddressKind.LOOPBACK}:
        raise invalid(("url", "Must be a public address; private, link-local and reserved ones are never called."))
    if is_loopback and AddressKind.LOOPBACK not in reach.addresses:
        raise invalid(("url", "Must not be on this machine."))
    if parts.scheme == "http" and not is_loopback:
        raise invalid(("url", "Must begin with https."))


def _told(row: Row, secret: Secret) -> Answer:
    shown = webhooks.read_form(row)
    return answer_once({**shown, "secret": secret.reveal()}, {**shown, "secret_withheld": True})


ENDPOINTS: Final = (
    Endpoint("GET", "/v1/webhooks", list_webhooks),
    Endpoint("POST", "/v1/webhooks", add_webhook, takes_body=True),
    Endpoint("DELETE", _WEBHOOK, remove_webhook),
    Endpoint("GET", f"{_WEBHOOK}/deliveries", list_deliveries),
    Endpoint("POST", f"{_WEBHOOK}/rotate-secret", rotate_secret),
    Endpoint("POST", "/v1/webhooks/deliveries/{delivery_id}/replay", replay),
)
