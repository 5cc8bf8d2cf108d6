"""API keys; see :mod:`runwatch.service.access.api_keys` for rules beyond the specification."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Final

from runwatch.base.log import keep_secret
from runwatch.records.requests.organization import KeyLabel, KeyMint
from runwatch.service.access import api_keys, browser_sessions
from runwatch.service.access.authentication import Principal, add_key, hash_secret, new_key
from runwatch.service.checks import bindings
from runwatch.service.http.bodies import parse_body
from runwatch.service.http.endpoints import Endpoint, shows, takes
from runwatch.service.http.responses import ServiceResponse, make_one_time_response
from runwatch.service.http.service_call import ServiceCall
from runwatch.service.models import handoffs
from runwatch.service.transaction import Transaction

_KEY: Final = "/v1/api-keys/{api_key_id}"


def list_keys(transaction: Transaction, call: ServiceCall) -> dict[str, Any]:
    """Return every key of the organization, newest first, by prefix and never in full. The list has no pages."""
    rows = api_keys.list_all(transaction, call.tenant_id)
    return {"api_keys": [api_keys.key_json(row, call.context.key_uses) for row in rows]}


async def mint_key(call: ServiceCall) -> ServiceResponse:
    """Mint a key, returned only here."""
    request = parse_body(KeyMint, call.content)
    tenant_id, key = call.tenant_id, new_key()
    keep_secret(key)
    expires_in = None if request.expires_in_s is None else timedelta(seconds=request.expires_in_s)

    def effect(transaction: Transaction) -> tuple[ServiceResponse, api_keys.KeyRow]:
        key_id = add_key(
            transaction, tenant_id, key, role=request.role, display_name=request.display_name, expires_in=expires_in
        )
        row = api_keys.find(transaction, tenant_id, key_id)
        withheld = {**api_keys.key_json(row), "key_withheld": True}
        return make_one_time_response(api_keys.created_json(row, key), withheld), row

    response, row = await call.write_with(effect)
    call.context.keys.add(
        hash_secret(key.reveal()), Principal(tenant_id, row["api_key_id"], request.role), row["expires_at"]
    )
    return response


def label_key(transaction: Transaction, call: ServiceCall, request: KeyLabel) -> dict[str, Any]:
    row = api_keys.rename(transaction, call.tenant_id, call.ids["api_key_id"], request.display_name)
    return api_keys.key_json(row, call.context.key_uses)


async def revoke_key(call: ServiceCall) -> ServiceResponse:
    """Revoke a key, effective from this response, and cancel what it started and did not finish."""
    key_id, tenant_id = call.ids["api_key_id"], call.tenant_id

    def effect(transaction: Transaction) -> tuple[dict[str, Any], list[str]]:
        row = api_keys.revoke(transaction, call.principal, key_id)
        browser_sessions.end_all(transaction, key_id)
        return api_keys.key_json(row, call.context.key_uses), handoffs.expire(transaction, tenant_id)

    response, unused = await call.write_with(effect)
    call.context.keys.revoke(key_id)
    await call.context.vault.remove_all(unused)
    await bindings.destroy_all_retired(call.context.database, call.context.vault, tenant_id)
    return response


ENDPOINTS: Final = (
    Endpoint("GET", "/v1/api-keys", shows(list_keys)),
    Endpoint("POST", "/v1/api-keys", mint_key),
    Endpoint("PATCH", _KEY, takes(KeyLabel, label_key), takes_body=True),
    Endpoint("POST", f"{_KEY}/revoke", revoke_key),
)
