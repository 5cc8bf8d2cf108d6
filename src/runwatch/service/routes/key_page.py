"""The private page for the key of an output check's or a review agent's endpoint.

The key goes into the vault and is staged there until its test; the page returns its handle and never the key (manual:
interface, "Verifiers"; manual: interface, "Review agents").
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from runwatch.base.secrets.secret import Secret
from runwatch.records.requests.binding import ConnectionIntentRequest
from runwatch.service.access import private_entry
from runwatch.service.access.private_entry import EntryIntent
from runwatch.service.checks import bindings
from runwatch.service.checks.binding_state import StagedKey
from runwatch.service.errors import RefusalError, make_validation_error
from runwatch.service.http.endpoints import AuthenticatedRequest, parse_body
from runwatch.service.http.html_pages import PageInput
from runwatch.service.http.responses import ServiceResponse, make_one_time_response
from runwatch.service.routes.private_pages import read_secret
from runwatch.service.tables.checks import verifiers
from runwatch.service.tables.models import arms
from runwatch.service.transaction import Row, Transaction

OWN_KEYS: Final = "solverapi_"
"""Prefix of this API's keys; such a key is never an endpoint's key (manual: interface, "Authentication and keys")."""

FindUrl = Callable[[Transaction, EntryIntent], str | None]
"""Finds the current endpoint of an intent's subject; ``None`` if the subject no longer accepts a key."""


def url_of_verifier(transaction: Transaction, intent: EntryIntent) -> str | None:
    """Return the endpoint of an output check that is not retired."""
    row = transaction.one(verifiers, {"verifier_id": intent.subject_id, "tenant_id": intent.tenant_id})
    return None if row is None or row["retired_at"] is not None else str(row["endpoint"]["url"])


def url_of_agent(transaction: Transaction, intent: EntryIntent) -> str | None:
    """Return the endpoint of a review agent that is not disabled."""
    row = transaction.one(arms, {"arm_id": intent.subject_id, "tenant_id": intent.tenant_id, "kind": "agent"})
    return None if row is None or row["status"] == "disabled" or not row["endpoint"] else str(row["endpoint"]["url"])


async def ask_for_key(
    call: AuthenticatedRequest, kind: str, find: Callable[[Transaction], Row], id_column: str
) -> ServiceResponse:
    """Let the user enter an endpoint's key once, on a private page whose address is returned only here.

    Args:
        call: The request; its body is a :class:`ConnectionIntentRequest`.
        kind: ``verifier`` or ``agent``.
        find: Finds the subject, whose row has an ``endpoint`` and a ``display_name``.
        id_column: The column of its id.
    """
    request = parse_body(ConnectionIntentRequest, call.content)

    def effect(transaction: Transaction) -> ServiceResponse:
        row = find(transaction)
        intent = bindings.begin_intent(
            transaction,
            call.principal,
            kind,
            row[id_column],
            display_name=row["display_name"],
            url=row["endpoint"]["url"],
            stop_choice=request.stop_choice,
            service_origin=call.context.origin,
        )
        return make_one_time_response(intent, intent | {"continue_url": None})

    return await call.write(effect)


class KeyPage:
    """The page of one kind of endpoint.

    Args:
        what: The user's word for the kind.
        find_url: Finds the endpoint.
    """

    button = "Keep this key"

    def __init__(self, what: str, find_url: FindUrl) -> None:
        self.title = f"Key of an {what}" if what[0] in "aeiou" else f"Key of a {what}"
        self._what = what
        self._find_url = find_url

    def facts(self, intent: EntryIntent) -> list[tuple[str, str]]:
        """Return whose key it is, where it is sent, and for how long."""
        stop_at = intent.details["stop"][0]
        return [
            (self._what.capitalize(), intent.details["display_name"]),
            ("Sent to", intent.details["endpoint_origin"]),
            ("Used until", stop_at or "you disconnect it"),
        ]

    def sentences(self, intent: EntryIntent) -> list[str]:
        """Return what happens with the key."""
        return [
            f"Enter the key that {intent.details['endpoint_origin']} expects. It is kept on the machine where this "
            "service runs and is sent to that origin only.",
            "It is tested before it is used. A key that is in use now stays in use until the test has passed.",
        ]

    def fields(self, intent: EntryIntent) -> list[PageInput]:
        """Return the single input."""
        return [PageInput("secret", "Endpoint key", kind="password")]

    async def complete(
        self, call: AuthenticatedRequest, token: str, intent: EntryIntent, fields: Mapping[str, str]
    ) -> dict[str, Any]:
        """Stage the key.

        Raises:
            RefusalError: ``validation_failed`` for anything but an endpoint's key, ``invalid_state`` when the endpoint
                has moved to another origin or no longer accepts a key.
        """
        secret = read_secret(fields)
        assert secret is not None
        refuse_own_key(secret)
        vault, database = call.context.vault, call.context.database
        handle = await vault.put(secret)

        def keep(transaction: Transaction) -> StagedKey:
            used = private_entry.use(transaction, intent.kind, token)
            url = self._find_url(transaction, used)
            if url is None:
                raise RefusalError("invalid_state", f"The {self._what} is not in use any more.")
            if bindings.find_origin(url) != used.details["endpoint_origin"]:
                raise RefusalError("invalid_state", "The endpoint has moved to another origin. Ask for a new address.")
            return bindings.stage(transaction, used, handle)

        try:
            staged = await database.write(keep)
        except Exception:
            # Not on cancellation: the row that names the secret may be on disk nevertheless.
            await vault.remove(handle)
            raise
        await bindings.destroy_retired(database, vault, intent.subject_id)
        return {"handle": staged.handle, "captured_generation": staged.captured_generation}

    def done(self, intent: EntryIntent) -> list[str]:
        """Return what happens next."""
        return [
            "The key is kept and waits for its test.",
            "Go back to the console, or to the command that printed this address: it tests the key, and uses it once "
            "the test has passed.",
        ]


def refuse_own_key(secret: Secret) -> None:
    """Refuse a key of this API in place of an endpoint's own key.

    Raises:
        RefusalError: ``validation_failed``.
    """
    if secret.reveal().startswith(OWN_KEYS):
        raise make_validation_error(
            ("secret", "This is an API key of the service. Enter the key that the endpoint itself expects.")
        )


ENTRIES: Final = {
    "verifier": KeyPage("output check", url_of_verifier),
    "agent": KeyPage("review agent", url_of_agent),
}
"""The kinds of entry that this page serves."""
