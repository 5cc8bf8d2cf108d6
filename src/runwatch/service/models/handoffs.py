"""Credential handoffs: how the secret of a source gets here without any API request carrying it (wire reference 2.6).

A handoff is begun with the API, completed on a private page (or at once, where no secret is needed) and consumed by the
connection that it was for. It works for ten minutes; every read and write expires those that are over.
"""

from __future__ import annotations

import hashlib
from datetime import timedelta
from typing import Any, Final

from runwatch.base.clock import format_iso
from runwatch.service.access import private_entry
from runwatch.service.access.authentication import Principal, is_active
from runwatch.service.errors import RefusalError, make_validation_error
from runwatch.service.ids import new_id
from runwatch.service.models.sources import KEYLESS, SourceDefinition
from runwatch.service.tables.models import handoffs
from runwatch.service.transaction import Row, Transaction

KIND: Final = "source"
"""The kind of the private page."""

VALID_FOR: Final = timedelta(minutes=10)
"""How long a handoff works, from its beginning (wire reference 2.6)."""

_OPEN: Final = ("pending", "completed")
_SCOPE_CHARACTERS: Final = 24
_SHOWN: Final = (
    "handoff_intent_id",
    "source_id",
    "auth_scheme",
    "state",
    "failure_code",
    "expires_at",
    "completed_at",
    "failed_at",
    "expired_at",
    "consumed_at",
    "created_at",
    "updated_at",
)


def begin(
    transaction: Transaction,
    principal: Principal,
    profile: SourceDefinition,
    auth_scheme: str,
    endpoint: dict[str, Any],
    *,
    origin: str,
) -> tuple[Row, str | None]:
    """Keep a new handoff; return it with the address of its page, or ``None`` where no secret is needed.

    Args:
        transaction: Where it is kept.
        principal: Who begins it.
        profile: The source.
        auth_scheme: How callers show the source who they are.
        endpoint: What :func:`runwatch.service.models.sources.endpoint_of` made of the source.
        origin: Where the service is found.
    """
    now = format_iso(transaction.now)
    handoff_id = new_id("hand", transaction.now)
    is_keyless = auth_scheme == KEYLESS
    transaction.add(
        handoffs,
        handoff_intent_id=handoff_id,
        tenant_id=principal.tenant_id,
        principal_id=principal.key_id,
        source_id=profile.source_id,
        auth_scheme=auth_scheme,
        endpoint=endpoint,
        state="completed" if is_keyless else "pending",
        source_scope=find_scope(endpoint["base_url"], handoff_id) if is_keyless else None,
        expires_at=format_iso(transaction.now + VALID_FOR),
        completed_at=now if is_keyless else None,
        created_at=now,
        updated_at=now,
    )
    address = None
    if not is_keyless:
        _, address = private_entry.begin(
            transaction,
            principal,
            KIND,
            handoff_id,
            origin=origin,
            intent_id=handoff_id,
            valid_for=VALID_FOR,
            source=profile.display_name,
            base_url=endpoint["base_url"],
        )
    return find(transaction, principal.tenant_id, handoff_id), address


def find(transaction: Transaction, tenant_id: str, handoff_id: str) -> Row:
    """A handoff of an organization.

    Raises:
        Refusal: ``not_found``, for an unknown id as for another organization's.
    """
    row = transaction.one(handoffs, {"handoff_intent_id": handoff_id, "tenant_id": tenant_id})
    if row is None:
        raise RefusalError("not_found", "There is no credential handoff with this id.")
    return row


def is_overdue(transaction: Transaction, row: Row) -> bool:
    """Whether a handoff is over and not marked so: its time has passed, or the key that began it is not active."""
    if row["state"] not in _OPEN:
        return False
    return row["expires_at"] <= format_iso(transaction.now) or not is_active(transaction, row["principal_id"])


def expire(transaction: Transaction, tenant_id: str) -> list[str]:
    """Mark the organization's overdue handoffs as expired; return the handles of the secrets that nobody took over."""
    handles = []
    for row in transaction.list_all(handoffs, {"tenant_id": tenant_id, "state": _OPEN}):
        if is_overdue(transaction, row):
            if row["secret_handle"] is not None:
                handles.append(row["secret_handle"])
            expired_at = min(row["expires_at"], format_iso(transaction.now))
            _change(transaction, row, state="expired", expired_at=expired_at, secret_handle=None)
    return handles


def complete(transaction: Transaction, token: str, handle: str) -> Row:
    """Complete a handoff with the secret that was stored under a handle; its page, which works as long, is used up.

    Raises:
        Refusal: ``not_found`` for an unknown page, ``invalid_state`` when the page or the handoff is used or over.
    """
    intent = private_entry.use(transaction, KIND, token)
    row = find(transaction, intent.tenant_id, intent.subject_id)
    if row["state"] != "pending":
        raise RefusalError("invalid_state", f"The credential handoff is {row['state']}. Begin anew.")
    _change(
        transaction,
        row,
        state="completed",
        completed_at=format_iso(transaction.now),
        secret_handle=handle,
        source_scope=find_scope(row["endpoint"]["base_url"], handle),
    )
    return find(transaction, intent.tenant_id, intent.subject_id)


def consume(transaction: Transaction, tenant_id: str, handoff_id: str) -> Row:
    """Use a completed handoff up, and return it as it was, with the handle of its secret for the connection to keep.

    Raises:
        Refusal: ``validation_failed`` for one that nobody knows, ``invalid_state`` for one that is not completed, used
            or over.
    """
    row = transaction.one(handoffs, {"handoff_intent_id": handoff_id, "tenant_id": tenant_id})
    if row is None:
        raise make_validation_error(("handoff_intent_id", "There is no such credential handoff."))
    state = "expired" if is_overdue(transaction, row) else row["state"]
    if state != "completed":
        raise RefusalError("invalid_state", f"The credential handoff is {state}; only a completed one can be used.")
    _change(transaction, row, state="consumed", consumed_at=format_iso(transaction.now), secret_handle=None)
    return row


def handoff_json(row: Row) -> dict[str, Any]:
    """A handoff as the interface shows it; ``endpoint`` is ours."""
    form = {name: row[name] for name in _SHOWN}
    form["endpoint"] = {name: row["endpoint"][name] for name in ("base_url", "protocol_profile")}
    if row["source_scope"] is not None:
        form["source_scope"] = row["source_scope"]
    return form


def find_scope(base_url: str, handle: str) -> dict[str, str]:
    """The account that a credential opens, as an opaque reference of ours: no source is asked for its own name."""
    digest = hashlib.sha256(f"{base_url}\n{handle}".encode()).hexdigest()
    return {"kind": "account", "account_ref": f"acct_{digest[:_SCOPE_CHARACTERS]}"}


def _change(transaction: Transaction, row: Row, **values: object) -> None:
    where = {"handoff_intent_id": row["handoff_intent_id"]}
    transaction.change(handoffs, where, **values, updated_at=format_iso(transaction.now))
