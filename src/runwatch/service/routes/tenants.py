"""The organization behind a key, new organizations, and their names (manual: interface, "Account and tenants")."""

from __future__ import annotations

from typing import Any, Final

from runwatch.base.log import keep_secret
from runwatch.records.requests.organization import TenantName
from runwatch.service.access import api_keys
from runwatch.service.access.authentication import Principal, add_key, add_tenant, hash_secret, new_key
from runwatch.service.errors import RefusalError
from runwatch.service.http.bodies import parse_body
from runwatch.service.http.endpoints import Endpoint, shows, takes
from runwatch.service.http.responses import ServiceResponse, make_json_response
from runwatch.service.http.service_call import ServiceCall
from runwatch.service.organization import wallet
from runwatch.service.organization.closed_secrets import find_closed
from runwatch.service.tables import tenants_table
from runwatch.service.transaction import Row, Transaction, pick

MAX_CLOSED: Final = 100
"""Most records with an unreadable secret to name in the account."""


def read_account(transaction: Transaction, call: ServiceCall) -> dict[str, Any]:
    """Return who the caller is and what is left to spend.

    The additional member ``closed_secrets`` names up to :data:`MAX_CLOSED` records whose secret no master key opens; it
    is omitted when there are none. If no balance is kept, it reads zero and its state ``sandbox``, because nothing is
    paid for through the service. Organizations of a service with sample sources are demos.
    """
    tenant_id, context = call.tenant_id, call.context
    closed = find_closed(context.closed_handles, transaction, tenant_id)
    return {
        "tenant_id": tenant_id,
        "authenticated_principal_id": call.principal.key_id,
        "display_name": transaction.get(tenants_table, {"tenant_id": tenant_id})["display_name"],
        "quota_tier": "local",
        "is_demo": context.options.sample,
        "quota": wallet.quota_json(transaction, tenant_id, context.rate_limit.requests_per_minute),
        **wallet.funds_json(transaction, tenant_id),
        **({"closed_secrets": [secret.raw for secret in closed[:MAX_CLOSED]]} if closed else {}),
    }


TENANTS: Final = 1_000
"""Number of organizations at which a service stops accepting sign-ups."""

FULL_S: Final = 86_400
"""Seconds a caller is then asked to wait."""

_SHOWN: Final = "tenant_id display_name created_at"


async def sign_up(call: ServiceCall) -> ServiceResponse:
    """Create an organization with its first key, an owner's, returned only here. The one route without a key.

    Available only on a service started with ``--allow-signup``. Idempotency keys are ignored, because they would have
    no owner yet. Refuses with ``permission_denied`` on every other service; ``rate_limited`` after too many sign-ups
    within an hour, ``quota_exceeded`` when there are :data:`TENANTS` organizations.
    """
    if not call.context.options.allow_signup:
        raise RefusalError(
            "permission_denied", "This service takes no sign-ups. Start it with --allow-signup for that."
        )
    request = parse_body(TenantName, call.content)
    call.context.strangers.sign_up(call.peer)
    key = new_key()
    keep_secret(key)

    def effect(transaction: Transaction) -> tuple[Row, api_keys.KeyRow]:
        if transaction.count(tenants_table, {}) >= TENANTS:
            detail = f"This service has {TENANTS:,} organizations and makes no more of them."
            raise RefusalError("quota_exceeded", detail, retry_after_s=FULL_S)
        tenant_id = add_tenant(transaction, request.display_name)
        key_id = add_key(transaction, tenant_id, key, role="owner", display_name="owner")
        return transaction.get(tenants_table, {"tenant_id": tenant_id}), api_keys.find(transaction, tenant_id, key_id)

    tenant, row = await call.context.database.write(effect)
    call.context.keys.add(hash_secret(key.reveal()), Principal(tenant["tenant_id"], row["api_key_id"], row["role"]))
    return make_json_response({**pick(tenant, _SHOWN), "api_key": api_keys.created_json(row, key)})


def rename(transaction: Transaction, call: ServiceCall, request: TenantName) -> dict[str, Any]:
    """Rename the caller's organization; any other organization does not exist for the caller."""
    if call.ids["tenant_id"] != call.tenant_id:
        raise RefusalError("not_found", "There is no organization with this id.")
    mine = {"tenant_id": call.tenant_id}
    transaction.change(tenants_table, mine, display_name=request.display_name)
    return pick(transaction.get(tenants_table, mine), _SHOWN)


ENDPOINTS: Final = (
    Endpoint("GET", "/v1/account", shows(read_account)),
    Endpoint("POST", "/v1/tenants", sign_up, takes_body=True, is_open=True),
    Endpoint("PATCH", "/v1/tenants/{tenant_id}", takes(TenantName, rename), takes_body=True),
)
