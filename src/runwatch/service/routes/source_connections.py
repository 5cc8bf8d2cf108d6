"""Connections to sources: connect, test, sync models, rotate, disconnect (manual: interface, "Sources, connections and
credential handoffs").
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

from runwatch.base.shell_words import runwatch_command
from runwatch.records.requests.source import ConnectionRequest, RotateRequest, SyncRequest
from runwatch.service.errors import RefusalError, make_validation_error
from runwatch.service.http.bodies import parse_body
from runwatch.service.http.endpoints import Endpoint, lists, shows
from runwatch.service.http.responses import ServiceResponse
from runwatch.service.http.service_call import ServiceCall
from runwatch.service.models import catalog, connections, model_sync, sources
from runwatch.service.models.availability import FAILED, is_usable
from runwatch.service.models.connections import ConnectionChange
from runwatch.service.models.providers.types import ProviderError, ServedModels
from runwatch.service.tables import connections_table
from runwatch.service.transaction import Row, Transaction

NO_ANSWER: Final = ("network", "timeout", "egress_rejected", "response_incomplete")
"""Failures of a call without a complete response."""

REFUSALS: Final = ("authentication", "permission", "provider_insufficient_funds")
"""Failures that last until the source or the credential is changed."""

_CLOSED_KEY: Final = (
    "The service cannot open the connection's key with the master key at hand, and sent nothing. Start it with the"
    " master key that sealed it, or give the connection its key again."
)


def read_connection(transaction: Transaction, call: ServiceCall) -> dict[str, Any]:
    return connections.connection_json(connections.find(transaction, call.tenant_id, call.ids["connection_id"]))


async def connect(call: ServiceCall) -> ServiceResponse:
    """Connect a source with the credential of a completed handoff.

    A working connection that gets another key or more models by it is tested with them first. If the test fails, the
    request is refused with the cause, and the connection stays as it was.
    """
    request = parse_body(ConnectionRequest, call.content)
    asked = (
        call.tenant_id,
        request.handoff_intent_id,
        request.display_name,
        request.model_dump(include={"source_id", "auth_scheme", "source_scope"}),
    )
    change = await call.read(lambda transaction: connections.plan_change(transaction, *asked))
    found = None if change is None else await _test_change(call, change)

    def effect(transaction: Transaction) -> tuple[dict[str, Any], str | None]:
        if change is not None:
            connections.unchanged(transaction, change.before)
        row, handle = connections.connect(transaction, *asked)
        if found is not None:
            row = connections.record_pass(transaction, row, found)
            model_sync.sync(transaction, row, found)
        return connections.connection_json(row), handle

    return await _write(call, effect)


async def _test_change(call: ServiceCall, change: ConnectionChange) -> ServedModels:
    known = change.before["endpoint"].get("models", [])
    try:
        found = await connections.ask(call.context.vault, call.context.providers, change.after, to_test=change.to_test)
        for name, failure in found.failed.items():
            if name not in known:
                raise failure
    except ProviderError as error:
        words = connections.describe_failure(change.after, error)
        which = f" of {' and '.join(error.models)}" if error.models else ""
        message = f"The test{which} failed: {words}. {change.before['connection_id']} stays as it was."
        raise make_validation_error(("handoff_intent_id", message), cause=error.kind) from None
    return found


async def test(call: ServiceCall) -> ServiceResponse:
    """List the source's models with the connection's own secret, or call those named, and record the result.

    A failed test is a result, also without a response: ``test_failure`` and ``test_http_status`` describe it.
    """
    row = await call.read(lambda transaction: _find_open(transaction, call))
    try:
        found = await connections.test(call.context.vault, call.context.providers, row)
    except ProviderError as error:
        record = partial(connections.record_failure, tested=row, error=error)
    else:
        record = partial(connections.record_pass, tested=row, found=found)
    return await call.write(lambda transaction: connections.connection_json(record(transaction)))


async def sync(call: ServiceCall) -> ServiceResponse:
    """Apply the source's list and the models named in the request; return every model the connection ever had.

    Not in the specification: ``left_out``, the listed models that do not respond with text, ``unlisted``, the models
    that were named and the list does not have, and ``list_failure``, why the list could not be read.

    Prices in the request are added to those of the connection, and replace those of the same models. A newly named
    model, or one that failed its last test, is called once. If that fails for any reason, the request is refused with
    the cause and nothing changes, because the failure says nothing about the other models. If they answer, a connection
    that had failed its test has passed it. Models to remove are taken off without a call. Without new names, a source
    that refuses the credential fails the connection's test, because no run could use it.
    """
    request = parse_body(SyncRequest, call.content)
    if request.remove:
        return await call.write(lambda transaction: _remove(transaction, call, request))
    row = await call.read(lambda transaction: _find_open(transaction, call))
    known = [name for name in row["endpoint"].get("models", []) if name not in row["endpoint"].get(FAILED, {})]
    new = [name for name in request.models or () if name not in known]
    if not is_usable(row) and not new:
        raise RefusalError("invalid_state", f"The connection has to pass a test first. {_how_to_test(row)}")
    try:
        found = await connections.ask(call.context.vault, call.context.providers, row, to_test=new)
        if found.failed:
            raise next(iter(found.failed.values()))
    except ProviderError as error:
        if error.kind == "credential_unavailable":
            raise RefusalError("invalid_state", _CLOSED_KEY, cause=error.kind) from None
        if new:
            raise make_validation_error(("models", _failed_test(row, error)), cause=error.kind) from None
        if error.http_status is None and error.kind in NO_ANSWER:
            raise RefusalError("upstream_unavailable", _failed_list(row, known, error), cause=error.kind) from None
        if error.kind in REFUSALS:
            await call.context.database.write(partial(connections.record_failure, tested=row, error=error))
        status = "" if error.http_status is None else f" (HTTP {error.http_status})"
        raise RefusalError("invalid_state", f"The source refused: {error.kind}{status}. {_how_to_test(row)}") from None

    def effect(transaction: Transaction) -> dict[str, Any]:
        tested = row if is_usable(row) else connections.record_pass(transaction, row, found)
        served = model_sync.sync(transaction, tested, found, sources.price_table(request.prices))
        failure = found.list_failure
        return {
            "deployments": [catalog.deployment_json(deployment) for deployment in served],
            "left_out": list(found.left_out),
            "unlisted": list(found.unlisted),
            "list_failure": None if failure is None else connections.describe_list_failure(row, failure),
        }

    return await call.write(effect)


def _remove(transaction: Transaction, call: ServiceCall, request: SyncRequest) -> dict[str, Any]:
    if request.models or request.prices:
        raise make_validation_error(("remove", "Must be alone: a request either adds or removes."))
    served = model_sync.remove(transaction, _find_open(transaction, call), request.remove or ())
    return {"deployments": [catalog.deployment_json(deployment) for deployment in served]}


async def rotate(call: ServiceCall) -> ServiceResponse:
    """Replace the secret; the connection is not used until a test has passed."""
    request = parse_body(RotateRequest, call.content)

    def effect(transaction: Transaction) -> tuple[dict[str, Any], str | None]:
        row, handle = connections.rotate(
            transaction, call.tenant_id, call.ids["connection_id"], request.handoff_intent_id
        )
        return connections.connection_json(row), handle

    return await _write(call, effect)


async def disconnect(call: ServiceCall) -> ServiceResponse:
    """Disconnect the source, disable what uses it, and remove the secret from this machine."""
    connection_id, key_id = call.ids["connection_id"], call.principal.key_id
    return await _write(
        call, lambda transaction: connections.revoke(transaction, call.tenant_id, connection_id, acted_by=key_id)
    )


async def _write(
    call: ServiceCall, effect: Callable[[Transaction], tuple[dict[str, Any], str | None]]
) -> ServiceResponse:
    """Change a connection, and remove the secret that it no longer uses."""
    response, old = await call.write_with(effect)
    await call.context.vault.remove_all([old])
    return response


def _how_to_test(connection: Row) -> str:
    return f"To test it: {runwatch_command('sources test', connection['connection_id'])}"


def _failed_test(connection: Row, error: ProviderError) -> str:
    """Describe in one sentence, with the source's own words, which newly named models failed the test, and why."""
    words = connections.describe_failure(connection, error)
    return f"The test of {' and '.join(error.models)} failed: {words}. Nothing was changed."


def _failed_list(connection: Row, named: Sequence[str], error: ProviderError) -> str:
    """Describe why the list of models could not be read, and what works without it."""
    words = connections.describe_failure(connection, error)
    others = f" The models named for the connection ({', '.join(named)}) work without that list." if named else ""
    return f"The source did not give its list of models: {words}. Nothing was changed.{others}"


def _find_open(transaction: Transaction, call: ServiceCall) -> Row:
    return connections.find_open(transaction, call.tenant_id, call.ids["connection_id"])


_CONNECTIONS: Final = "/v1/source-connections"
_CONNECTION: Final = f"{_CONNECTIONS}/{{connection_id}}"

ENDPOINTS: Final = (
    Endpoint("GET", _CONNECTIONS, lists("connections", connections_table, connections.connection_json)),
    Endpoint("POST", _CONNECTIONS, connect, takes_body=True),
    Endpoint("GET", _CONNECTION, shows(read_connection)),
    Endpoint("POST", f"{_CONNECTION}/test", test),
    Endpoint("POST", f"{_CONNECTION}/deployments/sync", sync),
    Endpoint("POST", f"{_CONNECTION}/rotate", rotate, takes_body=True),
    Endpoint("DELETE", _CONNECTION, disconnect),
)
