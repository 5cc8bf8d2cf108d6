"""The organization behind a key (manual: interface, "Account and tenants")."""

from __future__ import annotations

from typing import Final

from runwatch.service.http.endpoints import AuthenticatedRequest, Endpoint
from runwatch.service.http.responses import ServiceResponse, make_json_response
from runwatch.service.organization import wallet
from runwatch.service.organization.closed_secrets import find_closed
from runwatch.service.tables import tenants
from runwatch.service.transaction import Transaction

MAX_CLOSED: Final = 100
"""Most records with an unreadable secret to name in the account."""


async def read_account(call: AuthenticatedRequest) -> ServiceResponse:
    """Return who the caller is and what is left to spend.

    The additional member ``closed_secrets`` names up to :data:`MAX_CLOSED` records whose secret no master key opens; it
    is omitted when there are none. If no balance is kept, it reads zero and its state ``sandbox``, because nothing is
    paid for through the service.
    """
    principal = call.principal

    def read(transaction: Transaction) -> ServiceResponse:
        closed = find_closed(call.context.closed_handles, transaction, principal.tenant_id)
        tenant = transaction.one(tenants, {"tenant_id": principal.tenant_id})
        assert tenant is not None
        return make_json_response(
            {
                "tenant_id": principal.tenant_id,
                "authenticated_principal_id": principal.key_id,
                "display_name": tenant["display_name"],
                "quota_tier": "local",
                "is_demo": False,
                "quota": wallet.quota_form(
                    transaction, principal.tenant_id, call.context.rate_limit.requests_per_minute
                ),
                **wallet.funds_form(transaction, principal.tenant_id),
                **({"closed_secrets": [secret.raw for secret in closed[:MAX_CLOSED]]} if closed else {}),
            }
        )

    return await call.read(read)


ENDPOINTS: Final = (Endpoint("GET", "/v1/account", read_account),)
