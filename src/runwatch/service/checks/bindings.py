"""Protected connections of output checks and review agents in the database (wire reference 2.4 and 2.13).

The steps themselves are in :mod:`runwatch.service.checks.binding_state`. Whatever is read here is as the time has made
it: a key whose stop date has come is stopped for every reader, whether or not somebody has written that down yet. The
caller has made sure that the subject belongs to the caller's organization.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final
from urllib.parse import urlsplit

from runwatch.records.requests.binding import OPERATION_KEY, StopChoice
from runwatch.service.access import private_entry
from runwatch.service.access.authentication import Principal, is_active
from runwatch.service.access.private_entry import EntryIntent
from runwatch.service.access.vault import Vault
from runwatch.service.checks import binding_json as forms
from runwatch.service.checks import binding_state as states
from runwatch.service.checks.binding_state import Binding, StagedKey
from runwatch.service.checks.stop_date import StopDate, parse_stop
from runwatch.service.database import ServiceDatabase
from runwatch.service.errors import make_validation_error
from runwatch.service.tables.checks import bindings, entry_intents
from runwatch.service.transaction import Row, Transaction

_PORTS: Final = {"https": 443, "http": 80}


def find_origin(url: str) -> str:
    """Scheme, host and port of an endpoint, the port left out where it is the scheme's own."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    shown = f"[{host}]" if ":" in host else host
    port = "" if parts.port in {None, _PORTS.get(parts.scheme)} else f":{parts.port}"
    return f"{parts.scheme}://{shown}{port}"


def load(transaction: Transaction, subject_id: str) -> Binding:
    """The binding of a subject as it is now; an unbound one where there never was a key."""
    row = transaction.one(bindings, {"subject_id": subject_id})
    return Binding() if row is None else _as_of(transaction, row)


def summary(transaction: Transaction, subject_id: str) -> dict[str, Any]:
    """The connection as the output check shows it."""
    return forms.summary_json(load(transaction, subject_id), transaction.now)


def view(transaction: Transaction, subject_id: str, operation_key: str | None = None) -> dict[str, Any]:
    """The whole connection, without any secret.

    Args:
        transaction: Where it is read.
        subject_id: The check or agent.
        operation_key: Adds ``last_operation``: the last step with this key, ``null`` for an intent whose key has not
            been entered, ``{status: unknown}`` for a key that nobody knows here.

    Raises:
        Refusal: ``validation_failed``, when the operation key is none.
    """
    if operation_key is not None and not OPERATION_KEY.fullmatch(operation_key):
        raise make_validation_error(("operation_key", "Must be 1 to 256 letters, digits and . _ : -."))
    binding = load(transaction, subject_id)
    form = forms.view_json(binding, transaction.now)
    if operation_key is not None:
        step = binding.operation(operation_key)
        if step is not None:
            form["last_operation"] = forms.operation_json(step)
        else:
            asked = transaction.one(entry_intents, {"intent_id": operation_key, "subject_id": subject_id})
            form["last_operation"] = {"status": "unknown"} if asked is None else None
    return form


def begin_intent(
    transaction: Transaction,
    principal: Principal,
    kind: str,
    subject_id: str,
    *,
    display_name: str,
    url: str,
    stop_choice: StopChoice,
    service_origin: str,
) -> dict[str, Any]:
    """Permit the user to type the key of an endpoint once, and answer where.

    The answer holds ``continue_url``, which is a secret: it is told once and kept nowhere.

    Args:
        transaction: Where the intent is kept.
        principal: Who asks.
        kind: ``verifier`` or ``agent``.
        subject_id: The check or agent.
        display_name: Its name, for the page.
        url: Its endpoint.
        stop_choice: When the key shall stop.
        service_origin: Where this service is found.

    Raises:
        Refusal: ``validation_failed``, when the stop date cannot be.
    """
    stop = parse_stop(stop_choice, transaction.now)
    origin = find_origin(url)
    intent, continue_url = private_entry.begin(
        transaction,
        principal,
        kind,
        subject_id,
        origin=service_origin,
        display_name=display_name,
        endpoint_origin=origin,
        stop=list(stop),
    )
    return {
        "intent_id": intent.intent_id,
        "continue_url": continue_url,
        "intake_origin": service_origin,
        "origin": origin,
        "expires_at": intent.expires_at,
        "stop_choice": stop_choice.model_dump(exclude_unset=True),
    }


def stage(transaction: Transaction, intent: EntryIntent, handle: str) -> StagedKey:
    """Have the key that was entered for an intent wait for its test."""
    if transaction.one(bindings, {"subject_id": intent.subject_id}) is None:
        transaction.add(
            bindings,
            subject_id=intent.subject_id,
            tenant_id=intent.tenant_id,
            kind=intent.kind,
            generation=0,
            state=forms.to_json(Binding()),
        )
    binding = states.stage(
        load(transaction, intent.subject_id),
        handle,
        intent.details["endpoint_origin"],
        StopDate(*intent.details["stop"]),
        intent.intent_id,
        transaction.now,
    )
    _save(transaction, intent.subject_id, binding)
    assert binding.pending is not None
    return binding.pending


def find_staged(transaction: Transaction, subject_id: str, handle: str, captured_generation: int) -> StagedKey | None:
    """The staged key that a test is asked for; ``None`` when that very key is in use already.

    Raises:
        Refusal: ``invalid_state``, when it is not, or not any more, the one that waits.
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
    """Take a staged key into use after its test, or let go of it when the test failed.

    Args:
        transaction: Where it is written.
        subject_id: The check or agent.
        handle: Names the staged key.
        captured_generation: The generation that came of its staging.
        operation_key: Under which the outcome can be looked up; the intent's id finds it in any case.
        failure: Why the test failed (wire reference 2.4, ``last_test.reason``); ``None`` when it passed.

    Raises:
        Refusal: ``invalid_state``, when the connection has changed since the key was entered.
    """
    binding = load(transaction, subject_id)
    staged = states.find_staged(binding, handle, captured_generation)
    if failure is None:
        binding = states.promote(binding, staged, operation_key, transaction.now)
    else:
        binding = states.fail_test(binding, staged, failure, transaction.now)
    _save(transaction, subject_id, binding)
    return binding


def revoke(transaction: Transaction, subject_id: str, operation_key: str | None = None) -> Binding:
    """Stop the use of the key.

    Raises:
        Refusal: ``invalid_state``, when there never was one.
    """
    binding = states.revoke(load(transaction, subject_id), operation_key, transaction.now)
    _save(transaction, subject_id, binding)
    return binding


def release(transaction: Transaction, subject_id: str) -> None:
    """Stop the use of every key of a subject that is retired; harmless when there is none."""
    binding = load(transaction, subject_id)
    if binding.handles:
        _save(transaction, subject_id, states.revoke(binding, None, transaction.now))


def follow_endpoint(transaction: Transaction, subject_id: str, url: str) -> None:
    """Note where the endpoint is now: a key of another origin is revoked with ``origin_invalidated``."""
    binding = load(transaction, subject_id)
    if binding.generation:
        _save(transaction, subject_id, states.follow_origin(binding, find_origin(url), transaction.now))


def find_secret_handle(transaction: Transaction, subject_id: str, now: datetime) -> str | None:
    """The vault's handle of the key that is in use at a moment, ``None`` where none is."""
    row = transaction.one(bindings, {"subject_id": subject_id})
    return None if row is None else states.advance_to(_stored(row), now).handle


def named_handles(transaction: Transaction) -> set[str]:
    """Every handle whose secret has to stay in the vault, of all organizations."""
    rows = transaction.list_all(bindings, {})
    return {handle for row in rows for handle in _as_of(transaction, row).handles}


async def destroy_retired(database: ServiceDatabase, vault: Vault, subject_id: str) -> None:
    """Remove the secrets of the keys that were let go of, and note that they are gone.

    A crash in between leaves them scheduled, and the next call does it again.
    """
    doomed = (await database.read(lambda transaction: load(transaction, subject_id))).doomed
    if not doomed:
        return
    for handle in doomed:
        await vault.remove(handle)

    def note(transaction: Transaction) -> None:
        _save(transaction, subject_id, states.destroyed(load(transaction, subject_id), doomed, transaction.now))

    await database.write(note)


async def destroy_all_retired(database: ServiceDatabase, vault: Vault, tenant_id: str | None = None) -> None:
    """Do :func:`destroy_retired` for every subject, or for those of one organization."""
    where = {} if tenant_id is None else {"tenant_id": tenant_id}
    subjects = await database.read(
        lambda transaction: [row["subject_id"] for row in transaction.list_all(bindings, where)]
    )
    for subject_id in subjects:
        await destroy_retired(database, vault, subject_id)


def _as_of(transaction: Transaction, row: Row) -> Binding:
    """The stored binding as it is now: a key that waits for its test goes with the API key that asked for its page."""
    binding = states.advance_to(_stored(row), transaction.now)
    asked_by = (
        None if binding.pending is None else private_entry.count_begun(transaction, binding.pending.operation_key)
    )
    if asked_by is not None and not is_active(transaction, asked_by):
        return states.withdraw(binding, transaction.now)
    return binding


def _stored(row: Row) -> Binding:
    return forms.from_json(row["generation"], row["state"])


def _save(transaction: Transaction, subject_id: str, binding: Binding) -> None:
    transaction.change(
        bindings, {"subject_id": subject_id}, generation=binding.generation, state=forms.to_json(binding)
    )
