"""Webhooks; see :mod:`runwatch.service.organization.webhooks` for rules beyond the specification.

A signing secret is returned only in the response that creates it. The same request repeated with its idempotency key is
answered with ``secret_withheld`` instead; users who lost the response rotate the secret.
"""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import urlsplit

from runwatch.base.network.addresses import AddressKind, classify_address, parse_address
from runwatch.base.network.service_target import may_be_loopback
from runwatch.base.secrets.secret import Secret
from runwatch.records.requests.webhooks import WebhookRequest
from runwatch.service.errors import make_validation_error
from runwatch.service.http.bodies import parse_body
from runwatch.service.http.endpoints import Endpoint, shows, writes
from runwatch.service.http.lists.pagination import parse_page_parameters
from runwatch.service.http.responses import ServiceResponse, make_one_time_response
from runwatch.service.http.service_call import ServiceCall
from runwatch.service.organization import webhooks
from runwatch.service.transaction import Row, Transaction

_WEBHOOK: Final = "/v1/webhooks/{webhook_id}"

_ALLOWING_LOOPBACK: Final = (
    " To allow it, end the service with 'runwatch serve --stop', then start it with"
    " 'runwatch serve --allow-loopback-checks'."
)


def list_webhooks(transaction: Transaction, call: ServiceCall) -> dict[str, Any]:
    """Return every webhook of the organization, newest first. The list has no pages."""
    return {"webhooks": [_webhook_json(call, row) for row in webhooks.every(transaction, call.tenant_id)]}


async def add_webhook(call: ServiceCall) -> ServiceResponse:
    """Add a webhook and return it with its signing secret."""
    request = parse_body(WebhookRequest, call.content)
    _check_scheme(call, request.url)
    secret = webhooks.new_secret()
    event_types = [str(event_type) for event_type in request.event_types]
    async with call.context.vault.stored(secret) as handle:
        return await call.write(
            lambda transaction: _response_with_secret(
                call, webhooks.add(transaction, call.tenant_id, request.url, event_types, handle), secret
            )
        )


async def remove_webhook(call: ServiceCall) -> ServiceResponse:
    """Remove a webhook, its deliveries and its secret. Not in the specification.

    A try in progress may still arrive; nothing is sent afterwards.
    """
    response, handle = await call.write_with(
        lambda transaction: webhooks.remove(transaction, call.tenant_id, call.ids["webhook_id"])
    )
    await call.context.vault.remove(handle)
    return response


def list_deliveries(transaction: Transaction, call: ServiceCall) -> dict[str, object]:
    """Return a page of a webhook's deliveries, newest first."""
    webhook_id = call.ids["webhook_id"]
    paging = parse_page_parameters(call, "deliveries", webhook_id)
    rows = webhooks.deliveries(transaction, call.tenant_id, webhook_id, before=paging.before, limit=paging.limit)
    return paging.page("deliveries", rows, lambda shown: [webhooks.delivery_json(row) for row in shown])


async def rotate_secret(call: ServiceCall) -> ServiceResponse:
    """Create a new signing secret; the old one ends at once, also for deliveries still being tried."""
    tenant_id, webhook_id = call.tenant_id, call.ids["webhook_id"]
    secret = webhooks.new_secret()
    async with call.context.vault.stored(secret) as handle:

        def effect(transaction: Transaction) -> tuple[ServiceResponse, str]:
            earlier = webhooks.find(transaction, tenant_id, webhook_id)["secret_handle"]
            webhooks.set_secret(transaction, webhook_id, handle)
            return _response_with_secret(call, webhooks.find(transaction, tenant_id, webhook_id), secret), earlier

        response, earlier = await call.write_with(effect)
    await call.context.vault.remove(earlier)
    return response


def replay(transaction: Transaction, call: ServiceCall) -> dict[str, Any]:
    """Queue the same event again as a new delivery."""
    return webhooks.delivery_json(webhooks.replay(transaction, call.tenant_id, call.ids["delivery_id"]))


def _check_scheme(call: ServiceCall, url: str) -> None:
    """Refuse an address that no delivery can reach, as far as is known without resolving its name."""
    parts = urlsplit(url)
    reach = call.context.reach_policy.endpoints(call.tenant_id)
    is_loopback = may_be_loopback(parts.hostname or "")
    named = parse_address(parts.hostname or "")
    if named is not None and classify_address(named) not in {AddressKind.PUBLIC, AddressKind.LOOPBACK}:
        raise make_validation_error(
            ("url", "Must be a public address; private, link-local and reserved ones are never called.")
        )
    if is_loopback and AddressKind.LOOPBACK not in reach.addresses:
        remedy = _ALLOWING_LOOPBACK if call.context.reach_policy.is_owner(call.tenant_id) else ""
        raise make_validation_error(("url", f"Must not be on this machine.{remedy}"))
    if parts.scheme == "http" and not is_loopback:
        raise make_validation_error(("url", "Must begin with https."))


def _webhook_json(call: ServiceCall, row: Row) -> dict[str, Any]:
    """Build the JSON of a webhook, with a note where the options of the service decide whether it is called."""
    shown = webhooks.webhook_json(row)
    if not may_be_loopback(urlsplit(row["url"]).hostname or ""):
        return shown
    is_called = AddressKind.LOOPBACK in call.context.reach_policy.endpoints(call.tenant_id).addresses
    note = "Called only while the service runs with" if is_called else "Not called, because the service runs without"
    return {**shown, "delivery_note": f"{note} --allow-loopback-checks."}


def _response_with_secret(call: ServiceCall, row: Row, secret: Secret) -> ServiceResponse:
    shown = _webhook_json(call, row)
    return make_one_time_response({**shown, "secret": secret.reveal()}, {**shown, "secret_withheld": True})


ENDPOINTS: Final = (
    Endpoint("GET", "/v1/webhooks", shows(list_webhooks)),
    Endpoint("POST", "/v1/webhooks", add_webhook, takes_body=True),
    Endpoint("DELETE", _WEBHOOK, remove_webhook),
    Endpoint("GET", f"{_WEBHOOK}/deliveries", shows(list_deliveries)),
    Endpoint("POST", f"{_WEBHOOK}/rotate-secret", rotate_secret),
    Endpoint("POST", "/v1/webhooks/deliveries/{delivery_id}/replay", writes(replay)),
)
