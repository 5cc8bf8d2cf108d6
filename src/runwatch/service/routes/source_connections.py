"""Connections to sources: connect, test, sync models, rotate, disconnect (manual: interface, "Sources, connections and
credential handoffs").
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final

from runwatch.records.requests.source import ConnectionRequest, RotateRequest, SyncRequest
from runwatch.records.source import describe_test_failure
from runwatch.service.errors import RefusalError, make_validation_error
from runwatch.service.http.endpoints import AuthenticatedRequest, Endpoint, parse_body
from runwatch.service.http.responses import ServiceResponse, make_json_response
from runwatch.service.models import catalog, connections, model_sync, sources
from runwatch.service.models.providers import ProviderError
from runwatch.service.tables.models import connections as connections_table
from runwatch.service.transaction import Row, Transaction

NO_ANSWER: Final = ("network", "timeout", "egress_rejected")
"""Failures of a call without a complete response."""

REFUSALS: Final = ("authentication", "permission", "provider_insufficient_funds")
"""Failures that last until the source or the credential is changed."""


async def list_connections(call: AuthenticatedRequest) -> ServiceResponse:
    """Return every connection of the organization, newest first, including disconnected ones. The list has no pages."""
    rows = await call.read(
        lambda transaction: transaction.newest(connections_table, {"tenant_id": call.principal.tenant_id})
    )
    return make_json_response({"connections": [connections.connection_json(row) for row in rows]})


async def read_connection(call: AuthenticatedRequest) -> ServiceResponse:
    """Return one connection."""
    return await call.read(
        lambda transaction: make_json_response(connections.connection_json(_find(transaction, call)))
    )


async def connect(call: AuthenticatedRequest) -> ServiceResponse:
    """Connect a source with the credential of a completed handoff."""
    request = parse_body(ConnectionRequest, call.content)

    def effect(transaction: Transaction) -> ServiceResponse:
        row = connections.add(
            transaction,
            call.principal.tenant_id,
            display_name=request.display_name,
            source_id=request.source_id,
            auth_scheme=request.auth_scheme,
            handoff_id=request.handoff_intent_id,
            source_scope=request.source_scope,
        )
        return make_json_response(connections.connection_json(row))

    return await call.write(effect)


async def test(call: AuthenticatedRequest) -> ServiceResponse:
    """List the source's models with the connection's own secret, or call those named, and record the result.

    A failed test is a result, also without a response: ``test_failure`` and ``test_http_status`` describe it.
    """
    row = await call.read(lambda transaction: _find_open(transaction, call))
    try:
        found = await connections.test(call.context.vault, call.context.providers, row)
    except ProviderError as error:
        failed = partial(connections.record_failure, tested=row, error=error)
        return await call.write(
            lambda transaction: make_json_response(connections.connection_json(failed(transaction)))
        )
    return await call.write(
        lambda transaction: make_json_response(
            connections.connection_json(connections.record_pass(transaction, row, found))
        )
    )


async def sync(call: AuthenticatedRequest) -> ServiceResponse:
    """Apply the source's list and the models named in the request; return every model the connection ever had.

    Prices in the request are added to those of the connection, and replace those of the same models. A newly named
    model is called once. If that fails for any reason, the request is refused with the cause and nothing changes,
    because the failure says nothing about the other models. Without new names, a source that refuses the credential
    fails the connection's test, because no run could use it.
    """
    request = parse_body(SyncRequest, {} if call.content is None else call.content)
    row = await call.read(lambda transaction: _find_open(transaction, call))
    if not connections.is_usable(row):
        raise RefusalError("invalid_state", "The connection has to pass a test first.")
    known = row["endpoint"].get("models", [])
    new = [name for name in request.models or () if name not in known]
    try:
        found = await connections.ask(call.context.vault, call.context.providers, row, to_test=new)
    except ProviderError as error:
        if new:
            raise make_validation_error(("models", _failed_test(new, error)), cause=error.kind) from None
        if not _has_answered(error):
            raise RefusalError(
                "upstream_unavailable", f"The source gave no usable answer: {error.kind}.", cause=error.kind
            ) from None
        if error.kind in REFUSALS:
            await call.context.database.write(partial(connections.record_failure, tested=row, error=error))
        status = "" if error.http_status is None else f" (HTTP {error.http_status})"
        raise RefusalError("invalid_state", f"The source refused: {error.kind}{status}. Test the connection.") from None

    def effect(transaction: Transaction) -> ServiceResponse:
        served = model_sync.sync(transaction, row, found, sources.price_table(request.prices))
        return make_json_response({"deployments": [catalog.deployment_json(deployment) for deployment in served]})

    return await call.write(effect)


async def rotate(call: AuthenticatedRequest) -> ServiceResponse:
    """Replace the secret; the connection is not used until a test has passed."""
    request = parse_body(RotateRequest, call.content)
    old: list[str | None] = []

    def effect(transaction: Transaction) -> ServiceResponse:
        row, handle = connections.rotate(
            transaction, call.principal.tenant_id, call.ids["connection_id"], request.handoff_intent_id
        )
        old.append(handle)
        return make_json_response(connections.connection_json(row))

    answer = await call.write(effect)
    await _forget(call, old)
    return answer


async def disconnect(call: AuthenticatedRequest) -> ServiceResponse:
    """Disconnect the source, disable what uses it, and remove the secret from this machine."""
    old: list[str | None] = []

    def effect(transaction: Transaction) -> ServiceResponse:
        form, handle = connections.revoke(
            transaction, call.principal.tenant_id, call.ids["connection_id"], acted_by=call.principal.key_id
        )
        old.append(handle)
        return make_json_response(form)

    answer = await call.write(effect)
    await _forget(call, old)
    return answer


def _failed_test(names: Sequence[str], error: ProviderError) -> str:
    """Describe in one sentence, with the source's own words, why the test of newly named models failed."""
    words = describe_test_failure(error.kind, error.http_status, error.message, was_sent=error.was_sent)
    near = f" It serves {', '.join(error.suggestions)}." if error.suggestions else ""
    return f"The test of {' and '.join(names)} failed: {words}. Nothing was changed.{near}"


def _has_answered(error: ProviderError) -> bool:
    return error.http_status is not None or error.kind not in NO_ANSWER


async def _forget(call: AuthenticatedRequest, handles: list[str | None]) -> None:
    for handle in handles:
        if handle is not None:
            await call.context.vault.remove(handle)


def _find(transaction: Transaction, call: AuthenticatedRequest) -> Row:
    return connections.find(transaction, call.principal.tenant_id, call.ids["connection_id"])


def _find_open(transaction: Transaction, call: AuthenticatedRequest) -> Row:
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
