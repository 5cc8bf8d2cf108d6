"""API keys (wire reference 2.11; what is ours stands in :mod:`runwatch.service.access.keyring`)."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from runwatch.base.log import keep_secret
from runwatch.records.requests.keys import KeyLabel, KeyMint
from runwatch.service.access import keyring, sessions
from runwatch.service.access.auth import Principal, add_key, hash_of, new_key
from runwatch.service.checks import bindings
from runwatch.service.http.answer import Answer, answer_json, answer_once
from runwatch.service.http.bodies import read_as
from runwatch.service.http.call import Call, Endpoint
from runwatch.service.models import handoffs
from runwatch.service.transaction import Transaction

_KEY: Final = "/v1/api-keys/{api_key_id}"


async def list_keys(call: Call) -> Answer:
    """Every key of the organization, newest first, by prefix and never in full. The list has no pages."""
    rows = await call.read(lambda transaction: keyring.every(transaction, call.principal.tenant_id))
    return answer_json({"api_keys": [keyring.read_form(row, call.context.key_uses) for row in rows]})


async def mint_key(call: Call) -> Answer:
    """A new key, told this once."""
    request = read_as(KeyMint, call.content)
    tenant_id, key = call.principal.tenant_id, new_key()
    keep_secret(key)
    expires_in = None if request.expires_in_s is None else timedelta(seconds=request.expires_in_s)
    made: list[keyring.KeyRow] = []

    def effect(transaction: Transaction) -> Answer:
        key_id = add_key(
            transaction, tenant_id, key, role=request.role, display_name=request.display_name, expires_in=expires_in
        )
        row = keyring.find(transaction, tenant_id, key_id)
        made.append(row)
        return answer_once(keyring.told_form(row, key), keyring.withheld_form(row))

    answer = await call.write(effect)
    (row,) = made
    call.context.keys.add(
        hash_of(key.reveal()), Principal(tenant_id, row["api_key_id"], request.role), row["expires_at"]
    )
    return answer


async def label_key(call: Call) -> Answer:
    """Give a key another label."""
    request = read_as(KeyLabel, call.content)

    def effect(transaction: Transaction) -> Answer:
        row = keyring.rename(transaction, call.principal.tenant_id, call.ids["api_key_id"], request.display_name)
        return answer_json(keyring.read_form(row, call.context.key_uses))

    return await call.write(effect)


async def revoke_key(call: Call) -> Answer:
    """End a key, which is refused from this answer on, and what it began and did not finish."""
    key_id, tenant_id = call.ids["api_key_id"], call.principal.tenant_id
    unused: list[str] = []

    def effect(transaction: Transaction) -> Answer:
        row = keyring.revoke(transaction, call.principal, key_id)
        sessions.end_all(transaction, key_id)
        unused.extend(handoffs.expire(transaction, tenant_id))
        return answer_json(keyring.read_form(row, call.context.key_uses))

    answer = await call.write(effect)
    call.context.keys.revoke(key_id)
    for handle in unused:
        await call.context.vault.remove(handle)
    await bindings.destroy_all_retired(call.context.database, call.context.vault, tenant_id)
    return answer


ENDPOINTS: Final = (
    Endpoint("GET", "/v1/api-keys", list_keys),
    Endpoint("POST", "/v1/api-keys", mint_key),
    Endpoint("PATCH", _KEY, label_key, takes_body=True),
    Endpoint("POST", f"{_KEY}/revoke", revoke_key),
)
