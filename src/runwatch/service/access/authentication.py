"""Authenticate callers by bearer keys, stored as hashes (manual: interface, "Authentication and keys")."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from runwatch.base.clock import Clock, format_iso
from runwatch.base.secrets.secret import Secret
from runwatch.service.database import ServiceDatabase
from runwatch.service.errors import RefusalError
from runwatch.service.ids import new_id, random_word
from runwatch.service.tables import api_keys_table, key_expiries_table, local_owner_table, tenants_table
from runwatch.service.transaction import Row, Transaction

KEY_PREFIX: Final = "solverapi_test_"
"""Prefix of every key, so that the redaction of every public client recognizes it."""

_SHOWN_CHARACTERS: Final = len(KEY_PREFIX) + 4
_KEY_BYTES: Final = 32
_ID_CHARACTERS: Final = 16


@dataclass(frozen=True, slots=True)
class Principal:
    """The caller of a request.

    Attributes:
        tenant_id: The organization; nothing of another one exists for this caller.
        key_id: Id of the key, which identifies the caller in records (``cancelled_by``, ``acted_by``).
        role: One of :data:`runwatch.service.access.roles.Role`; empty for no permission.
    """

    tenant_id: str
    key_id: str
    role: str = ""


ANONYMOUS: Final = Principal("", "")
"""Caller of an open endpoint without a key."""


def new_key() -> Secret:
    return Secret(KEY_PREFIX + secrets.token_urlsafe(_KEY_BYTES))


def hash_secret(key: str) -> str:
    """Return the stored hash of a key. A plain hash is enough for 256 random bits."""
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()


def add_key(
    transaction: Transaction,
    tenant_id: str,
    key: Secret,
    *,
    role: str,
    display_name: str,
    expires_in: timedelta | None = None,
) -> str:
    """Store a new active key of an organization and return its id."""
    key_id = f"key_{random_word(_ID_CHARACTERS)}"
    transaction.add(
        api_keys_table,
        api_key_id=key_id,
        tenant_id=tenant_id,
        key_hash=hash_secret(key.reveal()),
        key_prefix=key.reveal()[:_SHOWN_CHARACTERS],
        role=role,
        display_name=display_name,
        status="active",
    )
    if expires_in is not None:
        transaction.add(key_expiries_table, api_key_id=key_id, expires_at=format_iso(transaction.now + expires_in))
    return key_id


def is_active(transaction: Transaction, key_id: str) -> bool:
    """Whether a key is neither revoked nor expired.

    Everything started by a key checks this at each step, so that nothing outlives its key (manual: security, "Private
    pages").
    """
    if transaction.one(api_keys_table, {"api_key_id": key_id, "status": "active"}) is None:
        return False
    expiry = transaction.one(key_expiries_table, {"api_key_id": key_id})
    return expiry is None or str(expiry["expires_at"]) > format_iso(transaction.now)


def ensure_owner(transaction: Transaction, offered: Secret, *, shared_from: str = "") -> Secret:
    """Ensure that the owner of the data directory has a working key, and return it.

    The offered key comes from the directory's ``service.json``, or is new if the file has none. A key unknown to the
    database becomes the owner's key and replaces the earlier one, because the file was lost or replaced. A key that is
    revoked, expiring or not an owner's is never accepted: the owner would be locked out.

    Args:
        shared_from: Name of the data directory where others have owner's keys of their own, so that none replaces
            another.
    """
    key = offered if offered.reveal().startswith(KEY_PREFIX) else new_key()
    known = transaction.one(api_keys_table, {"key_hash": hash_secret(key.reveal())})
    if (
        known is not None
        and known["status"] == "active"
        and known["role"] == "owner"
        and transaction.one(key_expiries_table, {"api_key_id": known["api_key_id"]}) is None
    ):
        _settle(transaction, known["tenant_id"], known["api_key_id"])
        return key
    if known is not None:
        key = new_key()
    # A database older than the record of the file's key has no other owner key.
    owners = transaction.list_all(local_owner_table, {}) or transaction.list_all(
        api_keys_table, {"role": "owner", "status": "active"}
    )
    earlier = next(iter(owners), None)
    if earlier is not None and not shared_from:
        active = {"api_key_id": earlier["api_key_id"], "status": "active"}
        transaction.change(api_keys_table, active, status="revoked", revoked_at=format_iso(transaction.now))
    tenant_id = _first_tenant(transaction) if earlier is None else earlier["tenant_id"]
    name = f"owner of {shared_from}" if shared_from else "owner"
    _settle(transaction, tenant_id, add_key(transaction, tenant_id, key, role="owner", display_name=name))
    return key


def local_tenant(transaction: Transaction) -> str:
    """Return the organization that the key of ``service.json`` opens."""
    (owner,) = transaction.list_all(local_owner_table, {})
    return str(owner["tenant_id"])


def _settle(transaction: Transaction, tenant_id: str, key_id: str) -> None:
    transaction.remove(local_owner_table, {})
    transaction.add(local_owner_table, tenant_id=tenant_id, api_key_id=key_id)


def _first_tenant(transaction: Transaction) -> str:
    for tenant in transaction.list_all(tenants_table, {}):
        return str(tenant["tenant_id"])
    return add_tenant(transaction, "Local organization")


def add_tenant(transaction: Transaction, display_name: str) -> str:
    tenant_id = new_id("ten", transaction.now)
    transaction.add(tenants_table, tenant_id=tenant_id, display_name=display_name)
    return tenant_id


def _shown_key(authorization: Sequence[str]) -> str:
    """Return the key in the ``Authorization`` headers of a request; empty for none or several."""
    scheme, _, key = authorization[0].partition(" ") if len(authorization) == 1 else ("", "", "")
    return key.strip() if scheme.lower() == "bearer" else ""


@dataclass(frozen=True, slots=True)
class _Known:
    principal: Principal
    expires_at: str | None


class ActiveKeys:
    """The active keys in memory.

    A service that is one process is the only writer of its database. Others have :meth:`refresh` read the database
    before a key is looked up.

    Code that commits a new or revoked key reports it here right after the commit. A revoked key is never added again,
    in whichever order the two are reported. A key stops working at its expiry.
    """

    def __init__(self, active: Sequence[Row], clock: Clock, expiries: Mapping[str, str] | None = None) -> None:
        self._clock = clock
        # Keys are looked up by hash in a dictionary, whose timing may reveal how much of a hash matches. That is no
        # help to an attacker: hashes of chosen texts cannot be steered to a stored one, and a key has 256 random bits.
        self._by_hash: dict[str, _Known] = {}
        self._hashes: dict[str, str] = {}
        self._revoked: set[str] = set()
        for row in active:
            principal = Principal(row["tenant_id"], row["api_key_id"], row["role"])
            self.add(row["key_hash"], principal, (expiries or {}).get(row["api_key_id"]))

    @classmethod
    def load(cls, transaction: Transaction, clock: Clock) -> ActiveKeys:
        expiries = {row["api_key_id"]: row["expires_at"] for row in transaction.list_all(key_expiries_table, {})}
        return cls(transaction.list_all(api_keys_table, {"status": "active"}), clock, expiries)

    def add(self, key_hash: str, principal: Principal, expires_at: str | None = None) -> None:
        """Add a key that was stored.

        Args:
            expires_at: Its expiry as an ISO timestamp; ``None`` for never.
        """
        if principal.key_id not in self._revoked:
            self._by_hash[key_hash] = _Known(principal, expires_at)
            self._hashes[principal.key_id] = key_hash

    def revoke(self, key_id: str) -> None:
        """Remove a revoked key; do nothing if it is already gone."""
        self._revoked.add(key_id)
        self._by_hash.pop(self._hashes.pop(key_id, ""), None)

    async def refresh(
        self, database: ServiceDatabase, authorization: Sequence[str] = (), *, key_id: str | None = None
    ) -> None:
        """Learn what other processes have done to the key of a request, or to the one with this id."""
        where = {"api_key_id": key_id} if key_id else {"key_hash": hash_secret(_shown_key(authorization))}

        def find(transaction: Transaction) -> tuple[Row | None, Row | None]:
            row = transaction.one(api_keys_table, where)
            # Role and expiry of a key never change.
            if row is None or row["api_key_id"] in self._hashes:
                return row, None
            return row, transaction.one(key_expiries_table, {"api_key_id": row["api_key_id"]})

        row, expiry = await database.read_statement(find)
        if row is None:
            return
        if row["status"] != "active":
            self.revoke(row["api_key_id"])
        elif row["api_key_id"] not in self._hashes:
            principal = Principal(row["tenant_id"], row["api_key_id"], row["role"])
            self.add(row["key_hash"], principal, None if expiry is None else str(expiry["expires_at"]))

    def holder_of(self, key_id: str) -> Principal | None:
        """Return the caller of a key by the key's id, or ``None`` if it is revoked, expired or unknown."""
        known = self._by_hash.get(self._hashes.get(key_id, ""))
        return None if known is None or self._is_over(known) else known.principal

    def principal_of(self, authorization: Sequence[str]) -> Principal:
        """Return the caller behind the ``Authorization`` headers of a request.

        Refuses with ``unauthenticated`` for a missing, repeated, unknown or expired bearer key.
        """
        key = _shown_key(authorization)
        known = self._by_hash.get(hash_secret(key)) if key else None
        if known is not None and not self._is_over(known):
            return known.principal
        detail = "The Authorization header has no key that is known and active here."
        if not authorization:
            detail = "Send the header Authorization: Bearer <API key>."
        elif known is not None:
            # Only the holder of the key learns this.
            detail = f"This API key expired at {known.expires_at}. Ask an owner for a new one."
        raise RefusalError("unauthenticated", detail, headers=(("WWW-Authenticate", "Bearer"),))

    def _is_over(self, known: _Known) -> bool:
        return known.expires_at is not None and known.expires_at <= format_iso(self._clock.now())
