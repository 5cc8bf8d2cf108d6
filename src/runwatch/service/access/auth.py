"""Who calls: bearer keys, kept as hashes (specification, Authentication; wire reference 1.3)."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from runwatch.base.clock import iso
from runwatch.base.secret import Secret
from runwatch.service.http.answer import Refusal
from runwatch.service.ids import new_id, random_word
from runwatch.service.tables import api_keys, tenants
from runwatch.service.tables.organization import local_owner
from runwatch.service.transaction import Row, Transaction

KEY_PREFIX: Final = "solverapi_test_"
"""What a key begins with, so that the redaction of every public client recognises it."""

_SHOWN_CHARACTERS: Final = len(KEY_PREFIX) + 4
_KEY_BYTES: Final = 32
_ID_CHARACTERS: Final = 16


@dataclass(frozen=True, slots=True)
class Principal:
    """Who a request comes from.

    Attributes:
        tenant_id: The organization; nothing of another one exists for this caller.
        key_id: The key's id, which stands for the caller in records (``cancelled_by``, ``acted_by``).
        role: What the key may do, one of :data:`runwatch.service.access.roles.ROLES`; empty for nothing.
    """

    tenant_id: str
    key_id: str
    role: str = ""


ANYONE: Final = Principal("", "")
"""The caller of an open endpoint who shows no key."""


def new_key() -> Secret:
    """A new bearer key."""
    return Secret(KEY_PREFIX + secrets.token_urlsafe(_KEY_BYTES))


def hash_of(key: str) -> str:
    """What is stored of a key. A plain hash is enough for 256 random bits."""
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()


def add_key(transaction: Transaction, tenant_id: str, key: Secret, *, role: str, display_name: str) -> str:
    """Store a new active key of an organization and return its id.

    Args:
        transaction: Where it is stored.
        tenant_id: The organization.
        key: The key; a hash and its first characters are stored.
        role: One of :data:`runwatch.service.access.roles.ROLES`.
        display_name: Its label.
    """
    key_id = f"key_{random_word(_ID_CHARACTERS)}"
    transaction.add(
        api_keys,
        api_key_id=key_id,
        tenant_id=tenant_id,
        key_hash=hash_of(key.reveal()),
        key_prefix=key.reveal()[:_SHOWN_CHARACTERS],
        role=role,
        display_name=display_name,
        status="active",
        created_at=iso(transaction.now),
    )
    return key_id


def is_active(transaction: Transaction, key_id: str) -> bool:
    """Whether a key may still be used.

    What a key began asks this each time it goes on, so that nothing outlives its key (manual, Security: Private pages).
    """
    return transaction.one(api_keys, {"api_key_id": key_id, "status": "active"}) is not None


def settle_owner(transaction: Transaction, offered: Secret) -> Secret:
    """Make sure that the person who owns the data directory has a key that works, and return it.

    The offered key is the one that the directory's ``service.json`` holds, or a new one where it holds none. A key
    that the database does not know becomes the owner's and takes the place of the earlier one: the file was lost or
    replaced. A revoked key is never taken back, and neither is one that is no owner's.
    """
    key = offered if offered.reveal().startswith(KEY_PREFIX) else new_key()
    known = transaction.one(api_keys, {"key_hash": hash_of(key.reveal())})
    if known is not None and known["status"] == "active" and known["role"] == "owner":
        _settle(transaction, known["tenant_id"], known["api_key_id"])
        return key
    if known is not None:
        key = new_key()
    earlier = _earlier_owner(transaction)
    if earlier is not None:
        active = {"api_key_id": earlier["api_key_id"], "status": "active"}
        transaction.change(api_keys, active, status="revoked", revoked_at=iso(transaction.now))
    tenant_id = _first_tenant(transaction) if earlier is None else earlier["tenant_id"]
    _settle(transaction, tenant_id, add_key(transaction, tenant_id, key, role="owner", display_name="owner"))
    return key


def local_tenant(transaction: Transaction) -> str:
    """The organization that the key of ``service.json`` opens."""
    (owner,) = transaction.every(local_owner, {})
    return str(owner["tenant_id"])


def _settle(transaction: Transaction, tenant_id: str, key_id: str) -> None:
    transaction.remove(local_owner, {})
    transaction.add(local_owner, tenant_id=tenant_id, api_key_id=key_id)


def _earlier_owner(transaction: Transaction) -> Row | None:
    for row in transaction.every(local_owner, {}):
        return row
    # A database from before the file's key was noted has no other key of an owner.
    for row in transaction.every(api_keys, {"role": "owner", "status": "active"}):
        return row
    return None


def _first_tenant(transaction: Transaction) -> str:
    for tenant in transaction.every(tenants, {}):
        return str(tenant["tenant_id"])
    return add_tenant(transaction, "Local organization")


def add_tenant(transaction: Transaction, display_name: str) -> str:
    """Store a new organization and return its id."""
    tenant_id = new_id("ten", transaction.now)
    transaction.add(tenants, tenant_id=tenant_id, display_name=display_name, created_at=iso(transaction.now))
    return tenant_id


class Keys:
    """The active keys, in memory: the service is the only writer of its database.

    Whoever commits a new or a revoked key tells it here right after the commit. A revoked key is never taken up again,
    in whichever order the two are told.
    """

    def __init__(self, active: Sequence[Row]) -> None:
        self._known: list[tuple[str, Principal]] = []
        self._revoked: set[str] = set()
        for row in active:
            self.add(row["key_hash"], Principal(row["tenant_id"], row["api_key_id"], row["role"]))

    @classmethod
    def load(cls, transaction: Transaction) -> Keys:
        """The keys that are active now."""
        return cls(transaction.every(api_keys, {"status": "active"}))

    def add(self, key_hash: str, principal: Principal) -> None:
        """Take up a key that was stored."""
        if principal.key_id not in self._revoked:
            self._known.append((key_hash, principal))

    def revoke(self, key_id: str) -> None:
        """Let go of a key that was revoked; harmless when it is gone already."""
        self._revoked.add(key_id)
        self._known = [(known, principal) for known, principal in self._known if principal.key_id != key_id]

    def holder_of(self, key_id: str) -> Principal | None:
        """The caller that an active key stands for, by the key's id."""
        return next((principal for _, principal in self._known if principal.key_id == key_id), None)

    def principal_of(self, authorization: Sequence[str]) -> Principal:
        """The caller behind the ``Authorization`` headers of a request.

        Every known hash is compared in constant time, whichever matches.

        Raises:
            Refusal: ``unauthenticated``, when there is no bearer key, more than one, or one that nobody knows.
        """
        found: Principal | None = None
        scheme, _, key = authorization[0].partition(" ") if len(authorization) == 1 else ("", "", "")
        if scheme.lower() == "bearer" and key.strip():
            offered = hash_of(key.strip())
            for known, principal in self._known:
                if hmac.compare_digest(known, offered):
                    found = principal
        if found is None:
            detail = "The Authorization header has no key that is known and active here."
            if not authorization:
                detail = "Send the header Authorization: Bearer <API key>."
            raise Refusal("unauthenticated", detail, headers=(("WWW-Authenticate", "Bearer"),))
        return found
