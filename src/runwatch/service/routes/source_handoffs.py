"""The sources that can be connected, and credential handoffs with their private page (manual: interface, "Sources,
connections and credential handoffs").

The address of the page is returned only in the response that starts the handoff. A repeat of the request omits it,
because returning it again would require storing it. The address works once, for ten minutes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from runwatch.records.requests.source import HandoffRequest
from runwatch.service.access.private_entry import EntryIntent
from runwatch.service.errors import make_validation_error
from runwatch.service.http.bodies import parse_body
from runwatch.service.http.endpoints import Endpoint
from runwatch.service.http.html_pages import PageInput
from runwatch.service.http.responses import ServiceResponse, make_continue_response, make_json_response
from runwatch.service.http.service_call import ServiceCall
from runwatch.service.models import connections, handoffs, sources
from runwatch.service.routes.private_pages import EntryPage, read_secret
from runwatch.service.transaction import Row, Transaction, pick


async def list_profiles(call: ServiceCall) -> ServiceResponse:
    """Return every source, including unsupported ones; ``served`` tells them apart."""
    known = sources.profiles(call.context.configured_sources)
    shown = [profile.to_json() for profile in known.values()]
    return make_json_response({"schema_version": sources.SCHEMA_VERSION, "sources": shown})


_CREATED: Final = 201


async def begin_handoff(call: ServiceCall) -> ServiceResponse:
    """Start the setup of a credential; one without a secret is completed at once."""
    request = parse_body(HandoffRequest, call.content)
    profile = sources.find(sources.profiles(call.context.configured_sources), request.source_id, request.auth_scheme)
    endpoint = sources.endpoint_of(profile, request.auth_scheme, request.endpoint)
    if endpoint["base_url"].startswith("http:") and not call.context.reach_policy.is_owner(call.tenant_id):
        raise make_validation_error(
            (
                "endpoint.base_url",
                "Must begin with https: only the organization of this machine's owner reaches the machine's own "
                "network. Give the public https address of the model server.",
            )
        )

    def effect(transaction: Transaction) -> tuple[ServiceResponse, list[str]]:
        over = handoffs.expire(transaction, call.tenant_id)
        row, address = handoffs.begin(
            transaction, call.principal, profile, request.auth_scheme, endpoint, origin=call.context.page_origin
        )
        return replace(make_continue_response(_handoff_json(transaction, row), address), status=_CREATED), over

    response, over = await call.write_with(effect)
    await call.context.vault.remove_all(over)
    return response


async def read_handoff(call: ServiceCall) -> ServiceResponse:
    """Return one handoff, without the address of its page."""

    def find_handoff(transaction: Transaction) -> tuple[dict[str, Any], bool]:
        row = handoffs.find(transaction, call.tenant_id, call.ids["handoff_intent_id"])
        return _handoff_json(transaction, row), handoffs.is_overdue(transaction, row)

    shown, is_overdue = await call.read(find_handoff)
    if is_overdue:
        over = await call.context.database.write(lambda transaction: handoffs.expire(transaction, call.tenant_id))
        await call.context.vault.remove_all(over)
        shown, _ = await call.read(find_handoff)
    return make_json_response(shown)


def _handoff_json(transaction: Transaction, row: Row) -> dict[str, Any]:
    return handoffs.handoff_json(row, connections.find_same(transaction, row["tenant_id"], row))


async def _complete(call: ServiceCall, token: str, intent: EntryIntent, fields: Mapping[str, str]) -> dict[str, Any]:
    """Store the secret and complete the handoff."""
    async with call.context.vault.stored(read_secret(fields)) as handle:
        row = await call.context.database.write(lambda transaction: handoffs.complete(transaction, token, handle))
    return pick(row, "handoff_intent_id state")


ENTRIES: Final = {
    handoffs.KIND: EntryPage(
        title="Connect a model source",
        button="Keep this key",
        facts=lambda intent: [("Source", intent.details["source"]), ("Sent to", intent.details["base_url"])],
        sentences=lambda intent: [
            "Enter the API key that this source gave you. It is kept on the machine where this service runs and is "
            "sent to that address only.",
            "The console, or the command that printed this address, then tests the key and connects the source.",
        ],
        fields=[PageInput("secret", "API key", kind="password")],
        complete=_complete,
        done=lambda intent: [
            "The key is kept.",
            "Go back to the console, or to the command that printed this address, to finish the connection.",
        ],
    )
}

_HANDOFFS: Final = "/v1/source-credential-handoffs"

ENDPOINTS: Final = (
    Endpoint("GET", "/v1/model-source-profiles", list_profiles),
    Endpoint("POST", _HANDOFFS, begin_handoff, takes_body=True),
    Endpoint("GET", f"{_HANDOFFS}/{{handoff_intent_id}}", read_handoff),
)
