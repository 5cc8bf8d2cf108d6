"""The private page for the key of an output check's or a review agent's endpoint.

The key goes into the vault and is staged there until its test; the page returns its handle and never the key (manual:
interface, "Verifiers"; manual: interface, "Review agents").
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from runwatch.base.secrets.secret import Secret
from runwatch.records.requests.binding import ConnectionIntentRequest, ConnectionTestRequest
from runwatch.service.access import private_entry
from runwatch.service.access.private_entry import EntryIntent
from runwatch.service.checks import bindings
from runwatch.service.checks.binding_state import StagedKey
from runwatch.service.checks.stop_date import parse_stop
from runwatch.service.errors import RefusalError, make_validation_error
from runwatch.service.http.bodies import parse_body
from runwatch.service.http.html_pages import PageInput
from runwatch.service.http.responses import ServiceResponse, make_continue_response
from runwatch.service.http.service_call import ServiceCall
from runwatch.service.routes.private_pages import EntryPage, read_secret
from runwatch.service.tables import arms_table, verifiers_table
from runwatch.service.transaction import Row, Transaction

OWN_KEYS: Final = "solverapi_"
"""Prefix of this API's keys; such a key is never an endpoint's key (manual: interface, "Authentication and keys")."""


def url_of_verifier(transaction: Transaction, intent: EntryIntent) -> str | None:
    """Return the endpoint of an output check that is not retired."""
    row = transaction.one(verifiers_table, {"verifier_id": intent.subject_id, "tenant_id": intent.tenant_id})
    return None if row is None or row["retired_at"] is not None else str(row["endpoint"]["url"])


def url_of_agent(transaction: Transaction, intent: EntryIntent) -> str | None:
    """Return the endpoint of a review agent that is not disabled."""
    row = transaction.one(arms_table, {"arm_id": intent.subject_id, "tenant_id": intent.tenant_id, "kind": "agent"})
    return None if row is None or row["status"] == "disabled" or not row["endpoint"] else str(row["endpoint"]["url"])


async def ask_for_key(
    call: ServiceCall, kind: str, find: Callable[[Transaction], Row], id_column: str
) -> ServiceResponse:
    """Let the user enter an endpoint's key once, on a private page whose address is returned only here.

    Args:
        find: Finds the subject, whose row has an ``endpoint`` and a ``display_name``.
    """
    request = parse_body(ConnectionIntentRequest, call.content)

    def effect(transaction: Transaction) -> ServiceResponse:
        row = find(transaction)
        origin = bindings.find_origin(row["endpoint"]["url"])
        intent, continue_url = private_entry.begin(
            transaction,
            call.principal,
            kind,
            row[id_column],
            origin=call.context.page_origin,
            display_name=row["display_name"],
            endpoint_origin=origin,
            stop=list(parse_stop(request.stop_choice, transaction.now)),
        )
        members = {
            "intent_id": intent.intent_id,
            "continue_url": None,
            "intake_origin": call.context.page_origin,
            "origin": origin,
            "expires_at": intent.expires_at,
            "stop_choice": request.stop_choice.model_dump(exclude_unset=True),
        }
        return make_continue_response(members, continue_url)

    return await call.write(effect)


async def test_staged_key(
    call: ServiceCall,
    find: Callable[[Transaction], Row],
    id_column: str,
    try_key: Callable[[str, Secret], Awaitable[str | None]],
    connected: Callable[[Transaction, Row], object],
) -> ServiceResponse:
    """Test a staged key, and put it into use if the test passes; otherwise the key in use stays.

    Args:
        find: Finds the subject, whose row has an ``endpoint``.
        try_key: Calls the endpoint with the key, and returns why it fails.
        connected: Records what else follows from a passed test, and returns the response; also called for a key that
            is in use already.

    Raises:
        RefusalError: ``invalid_state`` for a failed test, or if the key or the endpoint is another one by now.
    """
    request = parse_body(ConnectionTestRequest, call.content)

    def find_staged(transaction: Transaction) -> tuple[Row, StagedKey | None]:
        row = find(transaction)
        return row, bindings.find_staged(transaction, row[id_column], request.handle, request.captured_generation)

    row, staged = await call.read(find_staged)
    failure = None
    if staged is not None:
        secret = await call.context.vault.get(staged.handle)
        failure = "credential_unavailable" if secret is None else await try_key(row["endpoint"]["url"], secret)

    def conclude(transaction: Transaction) -> object:
        if failure is None and find(transaction)["endpoint"] != row["endpoint"]:
            raise RefusalError("invalid_state", "The endpoint was changed during the test. Test the key again.")
        if staged is not None:
            bindings.promote(
                transaction,
                row[id_column],
                handle=request.handle,
                captured_generation=request.captured_generation,
                operation_key=request.operation_key,
                failure=failure,
            )
        return None if failure else connected(transaction, row)

    try:
        if failure is None:
            return await call.write(conclude)
        await call.context.database.write(conclude)
    finally:
        await bindings.destroy_retired(call.context.database, call.context.vault, row[id_column])
    raise RefusalError("invalid_state", f"The new key failed its test ({failure}); the previous key stays in use.")


async def write_and_destroy(
    call: ServiceCall, subject_id: str, effect: Callable[[Transaction], object]
) -> ServiceResponse:
    """Change a check or an agent, and remove the keys that it loses by it."""
    response = await call.write(effect)
    await bindings.destroy_retired(call.context.database, call.context.vault, subject_id)
    return response


def key_page(what: str, find_url: Callable[[Transaction, EntryIntent], str | None]) -> EntryPage:
    """Declare the page of one kind of endpoint.

    Args:
        find_url: Finds the current endpoint of an intent's subject; ``None`` if the subject no longer accepts a key.
    """

    async def complete(call: ServiceCall, token: str, intent: EntryIntent, fields: Mapping[str, str]) -> dict[str, Any]:
        """Stage the key.

        Refuses with ``validation_failed`` for anything but an endpoint's key, ``invalid_state`` when the endpoint has
        moved to another origin or no longer accepts a key.
        """
        secret = read_secret(fields)
        refuse_own_key(secret)
        vault, database = call.context.vault, call.context.database
        async with vault.stored(secret) as handle:

            def stage(transaction: Transaction) -> StagedKey:
                used = private_entry.use(transaction, intent.kind, token)
                url = find_url(transaction, used)
                if url is None:
                    raise RefusalError("invalid_state", f"The {what} is not in use any more.")
                if bindings.find_origin(url) != used.details["endpoint_origin"]:
                    detail = "The endpoint has moved to another origin. Ask for a new address."
                    raise RefusalError("invalid_state", detail)
                return bindings.stage(transaction, used, handle)

            staged = await database.write(stage)
        await bindings.destroy_retired(database, vault, intent.subject_id)
        return {"handle": staged.handle, "captured_generation": staged.captured_generation}

    return EntryPage(
        title=f"Key of a{'n' * (what[0] in 'aeiou')} {what}",
        button="Keep this key",
        facts=lambda intent: [
            (what.capitalize(), intent.details["display_name"]),
            ("Sent to", intent.details["endpoint_origin"]),
            ("Used until", intent.details["stop"][0] or "you disconnect it"),
        ],
        sentences=lambda intent: [
            f"Enter the key that {intent.details['endpoint_origin']} expects. It is kept on the machine where this "
            "service runs and is sent to that origin only.",
            "It is tested before it is used. A key that is in use now stays in use until the test has passed.",
        ],
        fields=[PageInput("secret", "Endpoint key", kind="password")],
        complete=complete,
        done=lambda intent: [
            "The key is kept and waits for its test.",
            "Go back to the console, or to the command that printed this address: it tests the key, and uses it once "
            "the test has passed.",
        ],
    )


def refuse_own_key(secret: Secret) -> None:
    """Refuse a key of this API in place of an endpoint's own key. Refuses with ``validation_failed``."""
    if secret.reveal().startswith(OWN_KEYS):
        raise make_validation_error(
            ("secret", "This is an API key of the service. Enter the key that the endpoint itself expects.")
        )


ENTRIES: Final = {
    "verifier": key_page("output check", url_of_verifier),
    "agent": key_page("review agent", url_of_agent),
}
"""The kinds of entry that this page serves."""
