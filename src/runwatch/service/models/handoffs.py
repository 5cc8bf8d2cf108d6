"""Credential handoffs: bring a source's secret to the service without any API request carrying it (manual: interface,
"Sources, connections and credential handoffs").

A handoff is started through the API, completed on a private page (or at once if no secret is needed) and used up by its
connection. It is valid for ten minutes; every read and write expires overdue ones.
"""

from __future__ import annotations

import hashlib
from datetime import timedelta
from typing import Any, Final

from runwatch.base.clock import format_iso
from runwatch.records.source import KEYLESS, SourceConnection
from runwatch.service.access import private_entry
from runwatch.service.access.authentication import Principal, is_active
from runwatch.service.access.finder import finder
from runwatch.service.errors import RefusalError, make_validation_error
from runwatch.service.ids import new_id
from runwatch.service.models.providers.source_definition import SourceDefinition
from runwatch.service.tables import handoffs_table
from runwatch.service.transaction import Row, Transaction, pick

KIND: Final = "source"

VALID_FOR: Final = timedelta(minutes=10)
"""Lifetime of a handoff from its start."""

_OPEN: Final = ("pending", "completed")
_SCOPE_CHARACTERS: Final = 24
_SHOWN: Final = (
    "handoff_intent_id source_id auth_scheme state failure_code expires_at completed_at failed_at expired_at "
    "consumed_at created_at updated_at"
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
    """Store a new handoff and return it with the address of its page, or ``None`` if no secret is needed."""
    now = format_iso(transaction.now)
    handoff_id = new_id("hand", transaction.now)
    is_keyless = auth_scheme == KEYLESS
    transaction.add(
        handoffs_table,
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


find: Final = finder(handoffs_table, "handoff_intent_id", "credential handoff")
"""Return the credential handoff with an id of an organization, or refuse with ``not_found``."""


def is_overdue(transaction: Transaction, row: Row) -> bool:
    """Whether an open handoff is past its time, or the key that started it is no longer active."""
    if row["state"] not in _OPEN:
        return False
    return row["expires_at"] <= format_iso(transaction.now) or not is_active(transaction, row["principal_id"])


def expire(transaction: Transaction, tenant_id: str) -> list[str]:
    """Mark the organization's overdue handoffs as expired; return the handles of their unused secrets."""
    handles = []
    for row in transaction.list_all(handoffs_table, {"tenant_id": tenant_id, "state": _OPEN}):
        if is_overdue(transaction, row):
            if row["secret_handle"] is not None:
                handles.append(row["secret_handle"])
            expired_at = min(row["expires_at"], format_iso(transaction.now))
            _change(transaction, row, state="expired", expired_at=expired_at, secret_handle=None)
    return handles


def complete(transaction: Transaction, token: str, handle: str) -> Row:
    """Complete a handoff with the secret stored under a handle, and use up its page, which has the same lifetime.

    Refuses with ``not_found`` for an unknown page, ``invalid_state`` when the page or the handoff is used or expired.
    """
    intent = private_entry.use(transaction, KIND, token)
    row = find(transaction, intent.tenant_id, intent.subject_id)
    if row["state"] != "pending":
        raise RefusalError("invalid_state", f"The credential handoff is {row['state']}. Start again.")
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
    """Use up a completed handoff and return it as it was, with the handle of its secret for the connection.

    Refuses with ``validation_failed`` for an unknown handoff, ``invalid_state`` for one not completed, used or expired.
    """
    row = transaction.one(handoffs_table, {"handoff_intent_id": handoff_id, "tenant_id": tenant_id})
    if row is None:
        raise make_validation_error(("handoff_intent_id", "There is no such credential handoff."))
    state = "expired" if is_overdue(transaction, row) else row["state"]
    if state != "completed":
        step = "Enter the key on its page first." if state == "pending" else "Start again."
        raise RefusalError(
            "invalid_state", f"The credential handoff is {state}; only a completed one can be used. {step}"
        )
    _change(transaction, row, state="consumed", consumed_at=format_iso(transaction.now), secret_handle=None)
    return row


def handoff_json(row: Row, connected: SourceConnection | None = None) -> dict[str, Any]:
    """Build the JSON of a handoff; ``endpoint`` and ``connected_as`` are not in the specification."""
    shown = pick(row, _SHOWN)
    shown["endpoint"] = pick(row["endpoint"], "base_url protocol_profile")
    if row["source_scope"] is not None:
        shown["source_scope"] = row["source_scope"]
    if connected is not None:
        shown["connected_as"] = pick(connected.raw, "connection_id display_name usable")
    return shown


def find_scope(base_url: str, handle: str) -> dict[str, str]:
    """Return an opaque reference to the account behind a credential, because sources are not asked for its name."""
    digest = hashlib.sha256(f"{base_url}\n{handle}".encode()).hexdigest()
    return {"kind": "account", "account_ref": f"acct_{digest[:_SCOPE_CHARACTERS]}"}


def _change(transaction: Transaction, row: Row, **values: object) -> None:
    where = {"handoff_intent_id": row["handoff_intent_id"]}
    transaction.change(handoffs_table, where, **values, updated_at=format_iso(transaction.now))
