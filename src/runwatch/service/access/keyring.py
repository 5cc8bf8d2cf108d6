"""API keys of an organization: mint, list, label, revoke (wire reference 2.11 and 6.17).

The references show no body for minting and no roles; ours: a label and a role may be given, and a key without a role is
an owner's, as the first key of an organization is. A key is told once, in the answer that mints it. The same request
sent again with its idempotency key is answered with ``key_withheld`` in place of ``key``: whoever lost the answer
revokes that key, whose id the answer still names, and mints another.
"""

from __future__ import annotations

from typing import Any

from runwatch.base.clock import iso
from runwatch.base.secret import Secret
from runwatch.service.access.auth import Principal
from runwatch.service.http.answer import Refusal
from runwatch.service.organization import audit
from runwatch.service.tables import api_keys
from runwatch.service.transaction import Row, Transaction


def find(transaction: Transaction, tenant_id: str, api_key_id: str) -> Row:
    """A key of an organization.

    Raises:
        Refusal: ``not_found``, for an unknown id as for another organization's.
    """
    row = transaction.one(api_keys, {"api_key_id": api_key_id, "tenant_id": tenant_id})
    if row is None:
        raise Refusal("not_found", "There is no API key with this id.")
    return row


def every(transaction: Transaction, tenant_id: str) -> list[Row]:
    """All keys of an organization, revoked ones included, newest first."""
    rows = transaction.every(api_keys, {"tenant_id": tenant_id})
    return sorted(rows, key=lambda row: (row["created_at"], row["api_key_id"]), reverse=True)


def rename(transaction: Transaction, tenant_id: str, api_key_id: str, display_name: str) -> Row:
    """Give a key another label, whatever its status is.

    Raises:
        Refusal: ``not_found``.
    """
    find(transaction, tenant_id, api_key_id)
    transaction.change(api_keys, {"api_key_id": api_key_id}, display_name=display_name)
    return find(transaction, tenant_id, api_key_id)


def revoke(transaction: Transaction, principal: Principal, api_key_id: str) -> Row:
    """End a key for ever and note who did; it may be the key that calls.

    Raises:
        Refusal: ``not_found``; ``invalid_state`` when it is revoked already, or is the organization's last key of an
            owner, without which nobody could make another.
    """
    row = find(transaction, principal.tenant_id, api_key_id)
    if row["status"] != "active":
        raise Refusal("invalid_state", "The key is revoked already.")
    owners = {"tenant_id": principal.tenant_id, "role": "owner", "status": "active"}
    if row["role"] == "owner" and transaction.count(api_keys, owners) == 1:
        raise Refusal("invalid_state", "This is the last key of an owner; mint another one first.")
    transaction.change(
        api_keys,
        {"api_key_id": api_key_id},
        status="revoked",
        revoked_at=iso(transaction.now),
        revoked_by=principal.key_id,
    )
    audit.note(
        transaction, principal.tenant_id, "api_key_revocation", "revoked", "api_key", api_key_id, principal.key_id
    )
    return find(transaction, principal.tenant_id, api_key_id)


def read_form(row: Row) -> dict[str, Any]:
    """A key as the interface shows it: by its first characters, never the key."""
    return {
        "api_key_id": row["api_key_id"],
        "key_prefix": row["key_prefix"],
        "display_name": row["display_name"],
        "role": row["role"],
        "status": row["status"],
        "created_at": row["created_at"],
        "revoked_at": row["revoked_at"],
        "revoked_by": row["revoked_by"],
    }


def told_form(row: Row, key: Secret) -> dict[str, Any]:
    """A key as the answer that mints it tells it."""
    return {**read_form(row), "key": key.reveal()}


def withheld_form(row: Row) -> dict[str, Any]:
    """The same answer as it is kept and given again: the key is not in it."""
    return {**read_form(row), "key_withheld": True}
