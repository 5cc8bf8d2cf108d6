"""Connections to sources: connect, test, take over models, rotate, disconnect (wire reference 2.6)."""

from __future__ import annotations

from functools import partial
from typing import Final

from runwatch.records.requests.source import ConnectionRequest, RotateRequest, SyncRequest
from runwatch.service.errors import Refusal, invalid
from runwatch.service.http.answer import Answer, answer_json
from runwatch.service.http.bodies import read_as
from runwatch.service.http.call import Call, Endpoint
from runwatch.service.models import catalog, connections, modelsync, sources
from runwatch.service.models.providers import ProviderError
from runwatch.service.tables.models import connections as connections_table
from runwatch.service.transaction import Row, Transaction

NO_ANSWER: Final = ("network", "timeout", "egress_rejected")
"""Failures of a call to which no complete answer came."""

REFUSALS: Final = ("authentication", "permission", "provider_insufficient_funds")
"""Failures that stay until somebody changes something at the source or the credential."""


async def list_connections(call: Call) -> Answer:
    """Every connection of the organization, newest first, disconnected ones included. The list has no pages."""
    rows = await call.read(
        lambda transaction: transaction.newest(connections_table, {"tenant_id": call.principal.tenant_id})
    )
    return answer_json({"connections": [connections.read_form(row) for row in rows]})


async def read_connection(call: Call) -> Answer:
    """One connection."""
    return await call.read(lambda transaction: answer_json(connections.read_form(_find(transaction, call))))


async def connect(call: Call) -> Answer:
    """Connect a source with the credential of a completed handoff."""
    request = read_as(ConnectionRequest, call.content)

    def effect(transaction: Transaction) -> Answer:
        row = connections.add(
            transaction,
            call.principal.tenant_id,
            display_name=request.display_name,
            source_id=request.source_id,
            auth_scheme=request.auth_scheme,
            handoff_id=request.handoff_intent_id,
            source_scope=request.source_scope,
        )
        return answer_json(connections.read_form(row))

    return await call.write(effect)


async def test(call: Call) -> Answer:
    """Ask the source for its models with the connection's own secret, or call those named, and note what came of it.

    A failed test is a result, also where the source gave no answer: ``test_failure`` and ``test_http_status`` say what
    the test met.
    """
    row = await call.read(lambda transaction: _find_open(transaction, call))
    try:
        found = await connections.test(call.context.vault, call.context.providers, row)
    except ProviderError as error:
        failed = partial(connections.record_failure, tested=row, error=error)
        return await call.write(lambda transaction: answer_json(connections.read_form(failed(transaction))))
    return await call.write(
        lambda transaction: answer_json(connections.read_form(connections.record_pass(transaction, row, found)))
    )


async def sync(call: Call) -> Answer:
    """Take over what the source lists and what the request names, and answer every model the connection ever had.

    Prices in the request are added to those of the connection, and replace those of the same models.
    A source that refuses the credential makes the connection's test a failed one: no run could use it. A credential
    that may not call a newly named model says nothing of the others, and leaves the test as it is.
    """
    request = read_as(SyncRequest, {} if call.content is None else call.content)
    row = await call.read(lambda transaction: _find_open(transaction, call))
    if not connections.is_usable(row):
        raise Refusal("invalid_state", "The connection has to pass a test first.")
    known = row["endpoint"].get("models", [])
    new = [name for name in request.models or () if name not in known]
    try:
        found = await connections.ask(
            call.context.vault, call.context.providers, row, to_test=[*known, *new] if new else ()
        )
    except ProviderError as error:
        if not _has_answered(error):
            raise Refusal(
                "upstream_unavailable", f"The source gave no usable answer: {error.kind}.", cause=error.kind
            ) from None
        if error.kind in REFUSALS and not (new and error.kind == "permission"):
            await call.context.database.write(partial(connections.record_failure, tested=row, error=error))
        if new and error.kind == "model_not_found":
            near = f" It serves {', '.join(error.suggestions)}." if error.suggestions else ""
            raise invalid(("models", f"The source does not serve {' or '.join(new)}.{near}")) from None
        status = "" if error.http_status is None else f" (HTTP {error.http_status})"
        raise Refusal("invalid_state", f"The source refused: {error.kind}{status}. Test the connection.") from None

    def effect(transaction: Transaction) -> Answer:
        served = modelsync.sync(transaction, row, found, sources.price_table(request.prices))
        return answer_json({"deployments": [catalog.deployment_form(deployment) for deployment in served]})

    return await call.write(effect)


async def rotate(call: Call) -> Answer:
    """Exchange the secret; the connection is not used until a test has passed."""
    request = read_as(RotateRequest, call.content)
    old: list[str | None] = []

    def effect(transaction: Transaction) -> Answer:
        row, handle = connections.rotate(
            transaction, call.principal.tenant_id, call.ids["connection_id"], request.handoff_intent_id
        )
        old.append(handle)
        return answer_json(connections.read_form(row))

    answer = await call.write(effect)
    await _forget(call, old)
    return answer


async def disconnect(call: Call) -> Answer:
    """Disconnect the source, disable what stands on it, and remove the secret from this machine."""
    old: list[str | None] = []

    def effect(transaction: Transaction) -> Answer:
        form, handle = connections.revoke(
            transaction, call.principal.tenant_id, call.ids["connection_id"], acted_by=call.principal.key_id
        )
        old.append(handle)
        return answer_json(form)

    answer = await call.write(effect)
    await _forget(call, old)
    return answer


def _has_answered(error: ProviderError) -> bool:
    return error.http_status is not None or error.kind not in NO_ANSWER


async def _forget(call: Call, handles: list[str | None]) -> None:
    for handle in handles:
        if handle is not None:
            await call.context.vault.remove(handle)


def _find(transaction: Transaction, call: Call) -> Row:
    return connections.find(transaction, call.principal.tenant_id, call.ids["connection_id"])


def _find_open(transaction: Transaction, call: Call) -> Row:
    return connections.find_open(transaction, call.principal.tenant_id, call.ids["connection_id"])


_CONNECTIONS: Final = "/v1/source-connections"
_CONNECTION: Final = f"{_CONNECTIONS}/{{connection_id}}"

ENDPOINTS: Final = (
    Endpoint("GET", _CONNECTIONS, list_connections),
    Endpoint("POST", _CONNECTIONS, connect, takes_body=True),
    Endpoint("GET", _CONNECTION, read_connection),
    Endpoint("POST", f"{_CONNECTION}/test", test),
    Endpoint("POST", f"{_CONNECTION}/deployments/sync", sync),
    Endpoint("POST", f"{_CONNECTION}/rotate", rotate, takes_body=True),
    Endpoint("DELETE", _CONNECTION, disconnect),
)
