"""Protected connections of output checks and review agents in the database (manual: interface, "Verifiers"; manual:
interface, "Review agents").

:mod:`runwatch.service.checks.binding_state` defines the steps. Every read applies the current time: a key past its stop
date is stopped for every reader, even before that is stored. Callers have already checked that the subject belongs to
their organization.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Any, Final
from urllib.parse import urlsplit

from pydantic import TypeAdapter

from runwatch.records.requests.binding import OPERATION_KEY
from runwatch.service.access import private_entry
from runwatch.service.access.authentication import is_active
from runwatch.service.access.private_entry import EntryIntent
from runwatch.service.access.vault import Vault
from runwatch.service.checks import binding_state as states
from runwatch.service.checks.binding_state import Binding, StagedKey
from runwatch.service.checks.stop_date import StopDate, days_left
from runwatch.service.database import TransactionRunner
from runwatch.service.errors import make_validation_error
from runwatch.service.tables import bindings_table, credentials_table, entry_intents_table
from runwatch.service.transaction import Row, Transaction, pick

_PORTS: Final = {"https": 443, "http": 80}
_BINDING: Final = TypeAdapter(Binding)

UNKNOWN_AUTH_REF: Final = (
    "Names neither a credential reference of the organization nor the key in use here. Leave it empty; enter the key on"
    " the private page once the check or agent is registered."
)


def find_origin(url: str) -> str:
    """Return scheme, host and port of an endpoint, without the scheme's default port."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    shown = f"[{host}]" if ":" in host else host
    port = "" if parts.port in {None, _PORTS.get(parts.scheme)} else f":{parts.port}"
    return f"{parts.scheme}://{shown}{port}"


def load(transaction: Transaction, subject_id: str) -> Binding:
    """Return the current binding of a subject; an unbound one if there never was a key."""
    row = transaction.one(bindings_table, {"subject_id": subject_id})
    return Binding() if row is None else _as_of(transaction, row)


def view(transaction: Transaction, subject_id: str, operation_key: str | None = None) -> dict[str, Any]:
    """Build the JSON of the whole connection, without secrets.

    Args:
        operation_key: Adds ``last_operation``: the last step with this key, ``null`` for an intent whose key was not
            entered, ``{status: unknown}`` for an unknown key.

    Raises:
        RefusalError: ``validation_failed`` for a malformed operation key.
    """
    if operation_key is not None and not OPERATION_KEY.fullmatch(operation_key):
        raise make_validation_error(("operation_key", "Must be 1 to 256 letters, digits and . _ : -."))
    binding = load(transaction, subject_id)
    shown = view_json(binding, transaction.now)
    if operation_key is not None:
        step = binding.operation(operation_key)
        if step is not None:
            shown["last_operation"] = {name: value for name, value in asdict(step).items() if name != "operation_key"}
        else:
            asked = transaction.one(entry_intents_table, {"intent_id": operation_key, "subject_id": subject_id})
            shown["last_operation"] = {"status": "unknown"} if asked is None else None
    return shown


def stage(transaction: Transaction, intent: EntryIntent, handle: str) -> StagedKey:
    """Stage the key entered for an intent until its test."""
    if transaction.one(bindings_table, {"subject_id": intent.subject_id}) is None:
        transaction.add(
            bindings_table,
            subject_id=intent.subject_id,
            tenant_id=intent.tenant_id,
            kind=intent.kind,
            generation=0,
            state=to_json(Binding()),
        )
    binding = states.stage(
        load(transaction, intent.subject_id),
        handle,
        intent.details["endpoint_origin"],
        StopDate(*intent.details["stop"]),
        intent.intent_id,
        transaction.now,
    )
    save(transaction, intent.subject_id, binding)
    assert binding.pending is not None
    return binding.pending


def find_staged(transaction: Transaction, subject_id: str, handle: str, captured_generation: int) -> StagedKey | None:
    """Return the staged key requested for a test, or ``None`` when that key is already in use.

    Refuses with ``invalid_state`` when it is not, or no longer, the staged one.
    """
    binding = load(transaction, subject_id)
    if binding.pending is None and binding.handle == handle:
        return None
    return states.find_staged(binding, handle, captured_generation)


def promote(
    transaction: Transaction,
    subject_id: str,
    *,
    handle: str,
    captured_generation: int,
    operation_key: str | None = None,
    failure: str | None = None,
) -> Binding:
    """Put a staged key into use after its test, or discard it when the test failed.

    Args:
        operation_key: Key for looking up the outcome, besides the intent's id.
        failure: Why the test failed (``last_test.reason``); ``None`` when it passed.

    Raises:
        RefusalError: ``invalid_state`` when the connection has changed since the key was entered.
    """
    binding = load(transaction, subject_id)
    staged = states.find_staged(binding, handle, captured_generation)
    if failure is None:
        binding = states.promote(binding, staged, operation_key, transaction.now)
    else:
        binding = states.fail_test(binding, staged, failure, transaction.now)
    save(transaction, subject_id, binding)
    return binding


def revoke(transaction: Transaction, subject_id: str, operation_key: str | None = None) -> Binding:
    """Stop using the key. Refuses with ``invalid_state`` when there never was one."""
    binding = states.revoke(load(transaction, subject_id), operation_key, transaction.now)
    save(transaction, subject_id, binding)
    return binding


def release(transaction: Transaction, subject_id: str) -> None:
    """Stop using every key of a retired subject; do nothing if there is none."""
    binding = load(transaction, subject_id)
    if binding.handles:
        save(transaction, subject_id, states.revoke(binding, None, transaction.now))


def follow_endpoint(transaction: Transaction, subject_id: str, url: str) -> None:
    """Record the endpoint's current address: a key of another origin is revoked with ``origin_invalidated``."""
    binding = load(transaction, subject_id)
    if binding.generation:
        save(transaction, subject_id, states.follow_origin(binding, find_origin(url), transaction.now))


def find_secret_handle(transaction: Transaction, subject_id: str, now: datetime) -> str | None:
    """Return the vault handle of the key in use at a time, or ``None``."""
    row = transaction.one(bindings_table, {"subject_id": subject_id})
    return None if row is None else states.advance_to(from_row(row), now).handle


def named_handles(transaction: Transaction) -> set[str]:
    """Return every handle whose secret must stay in the vault, for all organizations."""
    rows = transaction.list_all(bindings_table, {})
    return {handle for row in rows for handle in _as_of(transaction, row).handles}


async def destroy_retired(database: TransactionRunner, vault: Vault, subject_id: str) -> None:
    """Remove the secrets of discarded keys and mark them destroyed.

    After a crash in between, they stay scheduled and the next call repeats it.
    """
    doomed = (await database.read(lambda transaction: load(transaction, subject_id))).doomed
    if not doomed:
        return
    for handle in doomed:
        await vault.remove(handle)

    def mark_destroyed(transaction: Transaction) -> None:
        save(transaction, subject_id, states.destroyed(load(transaction, subject_id), doomed, transaction.now))

    await database.write(mark_destroyed)


async def destroy_all_retired(database: TransactionRunner, vault: Vault, tenant_id: str | None = None) -> None:
    """Run :func:`destroy_retired` for every subject, or for those of one organization."""
    where = {} if tenant_id is None else {"tenant_id": tenant_id}
    subjects = await database.read(
        lambda transaction: [row["subject_id"] for row in transaction.list_all(bindings_table, where)]
    )
    for subject_id in subjects:
        await destroy_retired(database, vault, subject_id)


def _as_of(transaction: Transaction, row: Row) -> Binding:
    """Return the current state of a stored binding: a staged key goes with the API key that requested its page."""
    binding = states.advance_to(from_row(row), transaction.now)
    asked_by = (
        None if binding.pending is None else private_entry.find_requester(transaction, binding.pending.operation_key)
    )
    if asked_by is not None and not is_active(transaction, asked_by):
        return states.withdraw(binding, transaction.now)
    return binding


def save(transaction: Transaction, subject_id: str, binding: Binding) -> None:
    transaction.change(
        bindings_table, {"subject_id": subject_id}, generation=binding.generation, state=to_json(binding)
    )


def check_auth_ref(
    transaction: Transaction, tenant_id: str, url: str, auth_ref: str, subject_id: str | None = None
) -> None:
    """Refuse an unknown reference.

    An endpoint receives only the key of its own connection, so a reference names that key, or a credential reference of
    the organization, which holds no key.

    Args:
        subject_id: The check or agent; ``None`` while it is being registered.

    Raises:
        RefusalError: ``validation_failed``.
    """
    if not auth_ref:
        return
    if transaction.one(credentials_table, {"credential_ref": auth_ref, "tenant_id": tenant_id}) is not None:
        return
    if subject_id is not None:
        binding = load(transaction, subject_id)
        if (binding.handle, binding.origin) == (auth_ref, find_origin(url)):
            return
    raise make_validation_error(("endpoint.auth_ref", UNKNOWN_AUTH_REF))


def summary_json(binding: Binding, now: datetime) -> dict[str, Any]:
    at = binding.stop.at
    return {
        "status": binding.status,
        "stop_at": at,
        "stop_time_zone": binding.stop.time_zone,
        "days_remaining": days_left(at, now) if at is not None and binding.status == "active" else None,
        "stopped_at": binding.stopped_at,
        "stop_reason": binding.stop_reason,
    }


def view_json(binding: Binding, now: datetime) -> dict[str, Any]:
    """Build the whole connection, without any operation.

    ``projection_ack`` is always confirmed, because the sender of the key reads the same rows that are shown here.
    """
    pending = binding.pending
    return summary_json(binding, now) | {
        "handle": binding.handle,
        "origin": binding.origin,
        "generation": binding.generation,
        "projection_ack": "acknowledged" if binding.generation else None,
        "pending_key": None if pending is None else pick(asdict(pending), "handle captured_generation staged_until"),
        "last_test": None if binding.last_test is None else asdict(binding.last_test),
        "replacement": _replacement(binding),
        "retired_keys": [asdict(key) for key in reversed(binding.retired)],
    }


def _replacement(binding: Binding) -> dict[str, Any] | None:
    """Return the outcome of the attempt to replace the current or last key."""
    pending, test = binding.pending, binding.last_test
    if binding.status == "unbound":
        return None
    if pending is not None:
        return {"status": "pending", "handle": pending.handle, "staged_until": pending.staged_until}
    if test is not None and test.outcome == "failed":
        return {"status": "failed", "handle": test.handle, "reason": test.reason, "at": test.at}
    return None


def to_json(binding: Binding) -> dict[str, Any]:
    """Build the stored form of a binding, without its generation."""
    return {name: value for name, value in asdict(binding).items() if name != "generation"}


def from_row(row: Mapping[str, Any]) -> Binding:
    return _BINDING.validate_python({**row["state"], "generation": row["generation"]})
