"""Private entry: a one-time address where the user types a secret that no API request ever carries.

The address holds a token that is valid once and for a limited time; the database stores only its hash. The address
itself is a secret and appears in no log (manual: security, "Private pages"). The page is not in the specification.
"""

from __future__ import annotations

import secrets
from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import Any, Final

from runwatch.base.clock import format_iso
from runwatch.base.log import keep_secret
from runwatch.base.secrets.secret import Secret
from runwatch.service.access.authentication import Principal, hash_secret, is_active
from runwatch.service.errors import RefusalError
from runwatch.service.ids import new_id
from runwatch.service.tables import entry_intents_table
from runwatch.service.transaction import Row, Transaction

VALID_FOR: Final = timedelta(minutes=30)
"""Lifetime of an address."""

_TOKEN_BYTES: Final = 32


@dataclass(frozen=True, slots=True)
class EntryIntent:
    """A permission to enter something once.

    Attributes:
        intent_id: Its id, also the key of the operation that it starts.
        kind: What is entered: ``verifier``, ``agent``, ``source`` or ``github``.
    """

    intent_id: str
    tenant_id: str
    principal_id: str
    kind: str
    subject_id: str
    details: dict[str, Any]
    expires_at: str


def begin(
    transaction: Transaction,
    principal: Principal,
    kind: str,
    subject_id: str,
    *,
    origin: str,
    intent_id: str | None = None,
    valid_for: timedelta = VALID_FOR,
    **details: object,
) -> tuple[EntryIntent, str]:
    """Store a new intent, and return it with the address of its page.

    Args:
        intent_id: Its id, if it shares that of another resource.
    """
    token = secrets.token_urlsafe(_TOKEN_BYTES)
    keep_secret(Secret(token))
    intent = EntryIntent(
        intent_id=intent_id or new_id("int", transaction.now),
        tenant_id=principal.tenant_id,
        principal_id=principal.key_id,
        kind=kind,
        subject_id=subject_id,
        details=dict(details),
        expires_at=format_iso(transaction.now + valid_for),
    )
    transaction.add(
        entry_intents_table,
        **asdict(intent),
        token_hash=hash_secret(token),
    )
    return intent, f"{origin}/connect/{kind}?intent={token}"


def find(transaction: Transaction, kind: str, token: str) -> EntryIntent:
    """Return the intent of a valid token.

    Refuses with ``not_found`` for an unknown token, ``invalid_state`` for one that is used, expired, or whose key is
    not active.
    """
    row = transaction.one(entry_intents_table, {"token_hash": hash_secret(token), "kind": kind})
    if row is None:
        raise RefusalError("not_found", "This address is not valid. Ask for a new one.")
    if row["used_at"] is not None:
        raise RefusalError("invalid_state", f"This address was already used at {row['used_at']}. Ask for a new one.")
    if row["expires_at"] <= format_iso(transaction.now):
        raise RefusalError("invalid_state", "This address has expired. Ask for a new one.")
    if not is_active(transaction, row["principal_id"]):
        raise RefusalError("invalid_state", "The API key that asked for this address is not active. Ask for a new one.")
    return _intent(row)


def find_used(transaction: Transaction, kind: str, token: str) -> EntryIntent | None:
    """Return the intent completed with a token while the address would still be valid, else ``None``."""
    row = transaction.one(entry_intents_table, {"token_hash": hash_secret(token), "kind": kind})
    if row is None or row["used_at"] is None or row["expires_at"] <= format_iso(transaction.now):
        return None
    return _intent(row)


def find_requester(transaction: Transaction, intent_id: str) -> str | None:
    """Return the id of the key that requested an intent, or ``None`` for an unknown intent."""
    row = transaction.one(entry_intents_table, {"intent_id": intent_id})
    return None if row is None else str(row["principal_id"])


def use(transaction: Transaction, kind: str, token: str) -> EntryIntent:
    """Return the intent of a token and use the token up. Refuses as :func:`find` does."""
    intent = find(transaction, kind, token)
    transaction.change(entry_intents_table, {"intent_id": intent.intent_id}, used_at=format_iso(transaction.now))
    return intent


def _intent(row: Row) -> EntryIntent:
    return EntryIntent(**{name: row[name] for name in EntryIntent.__slots__})
