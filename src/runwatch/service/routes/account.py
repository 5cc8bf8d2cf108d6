"""The organization behind a key (manual: interface, "Account and tenants")."""

from __future__ import annotations

from typing import Any, Final

from runwatch.service.http.endpoints import Endpoint, shows
from runwatch.service.http.service_call import ServiceCall
from runwatch.service.organization import wallet
from runwatch.service.organization.closed_secrets import find_closed
from runwatch.service.tables import tenants_table
from runwatch.service.transaction import Transaction

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


ENDPOINTS: Final = (Endpoint("GET", "/v1/account", shows(read_account)),)
