"""API keys of an organization: mint, list, label, revoke (manual: interface, "API keys").

The specification defines neither a body for minting nor roles. Here a label, a role and a time to live may be given.
Without a role the key is an owner's, like the organization's first key; without a time to live it never expires. The
interface has two key states: an expired key is shown as ``revoked`` without a revoking key.

A key is returned once, in the response that mints it. The same request repeated with its idempotency key is answered
with ``key_withheld`` in place of ``key``: a caller that lost the response revokes that key, whose id is still in the
response, and mints another.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from runwatch.base.clock import format_iso
from runwatch.base.secrets.secret import Secret
from runwatch.service import decision_log
from runwatch.service.access.authentication import Principal
from runwatch.service.access.finder import finder
from runwatch.service.access.key_uses import KeyUses
from runwatch.service.errors import RefusalError
from runwatch.service.tables import api_keys_table, key_expiries_table, key_uses_table
from runwatch.service.transaction import Row, Transaction, pick

KeyRow = Mapping[str, Any]
"""A key's row with its expiry and last use."""


_find: Final = finder(api_keys_table, "api_key_id", "API key")


def find(transaction: Transaction, tenant_id: str, api_key_id: str) -> KeyRow:
    """Return a key of an organization. Refuses with ``not_found`` for an unknown id or one of another organization."""
    return _whole(transaction, _find(transaction, tenant_id, api_key_id))


def list_all(transaction: Transaction, tenant_id: str) -> list[KeyRow]:
    """Return all keys of an organization including revoked ones, newest first."""
    rows = [_whole(transaction, row) for row in transaction.list_all(api_keys_table, {"tenant_id": tenant_id})]
    return sorted(rows, key=lambda row: (row["created_at"], row["api_key_id"]), reverse=True)


def rename(transaction: Transaction, tenant_id: str, api_key_id: str, display_name: str) -> KeyRow:
    """Relabel a key in any state. Refuses with ``not_found``."""
    find(transaction, tenant_id, api_key_id)
    transaction.change(api_keys_table, {"api_key_id": api_key_id}, display_name=display_name)
    return find(transaction, tenant_id, api_key_id)


def revoke(transaction: Transaction, principal: Principal, api_key_id: str) -> KeyRow:
    """Revoke a key permanently and record who did it; the caller's own key is allowed.

    Refuses with ``not_found``; ``invalid_state`` when it is already revoked or expired, or is the organization's last
    non-expiring owner key, without which the organization would be locked out.
    """
    row = find(transaction, principal.tenant_id, api_key_id)
    if row["status"] != "active":
        raise RefusalError("invalid_state", "The key is already revoked or has expired.")
    owners = transaction.list_all(
        api_keys_table, {"tenant_id": principal.tenant_id, "role": "owner", "status": "active"}
    )
    lasting = {owner["api_key_id"] for owner in owners if _expiry(transaction, owner) is None}
    if lasting == {api_key_id}:
        detail = "This is the last key of an owner that does not expire; mint another such key first."
        raise RefusalError("invalid_state", detail)
    transaction.change(
        api_keys_table,
        {"api_key_id": api_key_id},
        status="revoked",
        revoked_at=format_iso(transaction.now),
        revoked_by=principal.key_id,
    )
    decision_log.record_decision(
        transaction, principal.tenant_id, "api_key_revocation", "revoked", "api_key", api_key_id, principal.key_id
    )
    return find(transaction, principal.tenant_id, api_key_id)


def _expiry(transaction: Transaction, row: Row) -> str | None:
    expiry = transaction.one(key_expiries_table, {"api_key_id": row["api_key_id"]})
    return None if expiry is None else str(expiry["expires_at"])


def _whole(transaction: Transaction, row: Row) -> KeyRow:
    expires_at = _expiry(transaction, row)
    use = transaction.one(key_uses_table, {"api_key_id": row["api_key_id"]})
    whole = {**row, "expires_at": expires_at, "last_used_at": use and use["last_used_at"]}
    if row["status"] == "active" and expires_at is not None and expires_at <= format_iso(transaction.now):
        whole |= {"status": "revoked", "revoked_at": expires_at}
    return whole


def key_json(row: KeyRow, uses: KeyUses | None = None) -> dict[str, Any]:
    """Build the JSON of a key with its first characters, never the key itself.

    Args:
        uses: Uses that may not be on disk yet.
    """
    return {
        **pick(row, "api_key_id key_prefix display_name role status created_at revoked_at revoked_by expires_at"),
        "last_used_at": (uses and uses.last_of(row["api_key_id"])) or row["last_used_at"],
    }


def created_json(row: KeyRow, key: Secret) -> dict[str, Any]:
    return {**key_json(row), "key": key.reveal()}
