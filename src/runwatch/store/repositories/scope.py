"""Scope of local data: a profile, the identity of its service, and the principal of its key there.

An address identifies neither: it can move to another service, and one service can have two. The account does:
``tenant_id`` and ``authenticated_principal_id`` (manual: interface, "Account and tenants").
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from runwatch.base.network.service_target import Target
from runwatch.store.db.text_codec import decode_text, encode_text

if TYPE_CHECKING:
    from runwatch.api.client import Client
    from runwatch.records.account import Account
    from runwatch.store.db.database import Database


@dataclass(frozen=True, slots=True)
class Scope:
    """Owner of all local data.

    Attributes:
        service: The organization's ``tenant_id``, or the origin if the account could not be read.
        principal: The ``authenticated_principal_id`` of the key, or the key's fingerprint.
        note: Why service and principal are stand-ins; ``None`` when they come from the account.
    """

    profile: str
    service: str
    principal: str
    note: str | None = field(default=None, compare=False)


def fingerprint_key(target: Target) -> str:
    """Return a short digest that distinguishes the keys of an origin; the key cannot be recovered from it."""
    if target.key is None:
        return "no-key"
    digest = hashlib.sha256(f"{target.origin}\n{target.key.reveal()}".encode("utf-8", "surrogatepass"))
    return f"fingerprint-{digest.hexdigest()[:16]}"


async def read_scope(client: Client, database: Database, on_account: Callable[[Account], None] | None = None) -> Scope:
    """Return the scope of this client's data.

    The account is read once for each profile, origin and key, and remembered. If it cannot be read, origin and
    fingerprint stand in, with a note; data stored under them moves over once the account can be read.

    Args:
        on_account: Called with the account, if it is read.
    """
    target = client.target
    known = await database.read(lambda connection: find_known_scope(connection, target))
    if known is not None:
        return known
    # Imported here, because the lists of the last session are shown without the client.
    from runwatch.api.errors import ApiError

    stand_in = stand_in_scope(target)
    try:
        account = await client.get_account()
    except ApiError as error:
        return replace(stand_in, note=f"the account could not be read: {error.title}")
    if on_account is not None:
        on_account(account)
    service, principal = account.tenant_id, account.authenticated_principal_id
    if not service or not principal:
        return replace(stand_in, note="the account names no tenant or no principal")
    scope = Scope(target.profile, service, principal)
    await database.write(lambda connection: _learn(connection, _place_of(target), stand_in, scope))
    return scope


def _place_of(target: Target) -> tuple[str | bytes, str, str]:
    return encode_text(target.profile), target.origin, fingerprint_key(target)


def stand_in_scope(target: Target) -> Scope:
    """Return the scope of data whose service or key has no account that could be read."""
    return Scope(target.profile, target.origin, fingerprint_key(target))


def find_known_scope(connection: sqlite3.Connection, target: Target) -> Scope | None:
    """Return the scope of a service and its key, or ``None`` if its account has never been read."""
    row = connection.execute(
        "SELECT service, principal FROM identity WHERE profile = ? AND origin = ? AND fingerprint = ?",
        _place_of(target),
    ).fetchone()
    return Scope(target.profile, decode_text(row[0]), decode_text(row[1])) if row else None


def _learn(connection: sqlite3.Connection, place: tuple[str | bytes, ...], stand_in: Scope, scope: Scope) -> None:
    connection.execute(
        "INSERT OR REPLACE INTO identity (profile, origin, fingerprint, service, principal) VALUES (?, ?, ?, ?, ?)",
        (*place, encode_text(scope.service), encode_text(scope.principal)),
    )
    old = find_scope_row(connection, stand_in)
    if old is None:
        return
    moved = (ensure_scope_row(connection, scope), old)
    # Existing data of the scope wins over the same names of the stand-in, which are deleted with its row.
    for table in ("outbox", "watch", "run", "note", "version"):
        connection.execute(f"UPDATE OR IGNORE {table} SET scope = ? WHERE scope = ?", moved)  # noqa: S608 - names of ours
    connection.execute("DELETE FROM scope WHERE id = ?", (old,))


def find_scope_row(connection: sqlite3.Connection, scope: Scope) -> int | None:
    """Return the row of a scope, or ``None`` if it has no data."""
    row = connection.execute(
        "SELECT id FROM scope WHERE service = ? AND principal = ? AND profile = ?",
        (encode_text(scope.service), encode_text(scope.principal), encode_text(scope.profile)),
    ).fetchone()
    return None if row is None else int(row[0])


def ensure_scope_row(connection: sqlite3.Connection, scope: Scope) -> int:
    """Return the row of a scope, and create it if needed; for use inside a write."""
    connection.execute(
        "INSERT INTO scope (service, principal, profile) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
        (encode_text(scope.service), encode_text(scope.principal), encode_text(scope.profile)),
    )
    key = find_scope_row(connection, scope)
    assert key is not None
    return key
