"""API keys of an organization: mint, list, label, revoke (wire reference 2.11 and 6.17).

The references show no body for minting and no roles; ours: a label, a role and a time to live may be given. A key
without a role is an owner's, as the first key of an organization is, and one without a time to live never expires. The
interface has two states of a key: one that has expired is shown as ``revoked`` from that moment, by no key.

A key is told once, in the answer that mints it. The same request sent again with its idempotency key is answered with
``key_withheld`` in place of ``key``: a caller that lost the answer revokes that key, whose id the answer still names,
and mints another.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from runwatch.base.clock import format_iso
from runwatch.base.secret import Secret
from runwatch.service import decision_log
from runwatch.service.access.authentication import Principal
from runwatch.service.access.key_uses import KeyUses
from runwatch.service.errors import RefusalError
from runwatch.service.tables import api_keys
from runwatch.service.tables.organization import key_expiries, key_uses
from runwatch.service.transaction import Row, Transaction

KeyRow = Mapping[str, Any]
"""A key's row with its expiry and last use."""


def find(transaction: Transaction, tenant_id: str, api_key_id: str) -> KeyRow:
    """A key of an organization.

    Raises:
        Refusal: ``not_found``, for an unknown id as for another organization's.
    """
    row = transaction.one(api_keys, {"api_key_id": api_key_id, "tenant_id": tenant_id})
    if row is None:
        raise RefusalError("not_found", "There is no API key with this id.")
    return _whole(transaction, row)


def list_all(transaction: Transaction, tenant_id: str) -> list[KeyRow]:
    """All keys of an organization, revoked ones included, newest first."""
    rows = [_whole(transaction, row) for row in transaction.list_all(api_keys, {"tenant_id": tenant_id})]
    return sorted(rows, key=lambda row: (row["created_at"], row["api_key_id"]), reverse=True)


def rename(transaction: Transaction, tenant_id: str, api_key_id: str, display_name: str) -> KeyRow:
    """Give a key another label, whatever its status is.

    Raises:
        Refusal: ``not_found``.
    """
    find(transaction, tenant_id, api_key_id)
    transaction.change(api_keys, {"api_key_id": api_key_id}, display_name=display_name)
    return find(transaction, tenant_id, api_key_id)


def revoke(transaction: Transaction, principal: Principal, api_key_id: str) -> KeyRow:
    """End a key for ever and note who did; it may be the key that calls.

    Raises:
        Refusal: ``not_found``; ``invalid_state`` when it is revoked or expired already, or is the organization's last
            key of an owner that never expires, without which the organization would be locked out in the end.
    """
    row = find(transaction, principal.tenant_id, api_key_id)
    if row["status"] != "active":
        raise RefusalError("invalid_state", "The key is revoked already, or has expired.")
    owners = transaction.list_all(api_keys, {"tenant_id": principal.tenant_id, "role": "owner", "status": "active"})
    lasting = {owner["api_key_id"] for owner in owners if _expiry(transaction, owner) is None}
    if lasting == {api_key_id}:
        detail = "This is the last key of an owner that does not expire; mint another such key first."
        raise RefusalError("invalid_state", detail)
    transaction.change(
        api_keys,
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
    expiry = transaction.one(key_expiries, {"api_key_id": row["api_key_id"]})
    return None if expiry is None else str(expiry["expires_at"])


def _whole(transaction: Transaction, row: Row) -> KeyRow:
    """A key's row with its expiry and last use, in the state that it is in now."""
    expires_at = _expiry(transaction, row)
    use = transaction.one(key_uses, {"api_key_id": row["api_key_id"]})
    whole = {**row, "expires_at": expires_at, "last_used_at": use and use["last_used_at"]}
    if row["status"] == "active" and expires_at is not None and expires_at <= format_iso(transaction.now):
        whole |= {"status": "revoked", "revoked_at": expires_at}
    return whole


def key_json(row: KeyRow, uses: KeyUses | None = None) -> dict[str, Any]:
    """A key as the interface shows it: by its first characters, never the key.

    Args:
        row: The key, from :func:`find` or :func:`list_all`.
        uses: The uses that may not be written down yet.
    """
    return {
        "api_key_id": row["api_key_id"],
        "key_prefix": row["key_prefix"],
        "display_name": row["display_name"],
        "role": row["role"],
        "status": row["status"],
        "created_at": row["created_at"],
        "revoked_at": row["revoked_at"],
        "revoked_by": row["revoked_by"],
        "expires_at": row["expires_at"],
        "last_used_at": (uses and uses.last_of(row["api_key_id"])) or row["last_used_at"],
    }


def created_json(row: KeyRow, key: Secret) -> dict[str, Any]:
    """A key as the answer that mints it tells it."""
    return {**key_json(row), "key": key.reveal()}


def withheld_json(row: KeyRow) -> dict[str, Any]:
    """The same answer as it is kept and given again: the key is not in it."""
    return {**key_json(row), "key_withheld": True}
