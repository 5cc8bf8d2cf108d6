"""Output checks and their protected keys (manual: interface, "Verifiers")."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

from runwatch.base.secrets.secret import Secret
from runwatch.records.requests.binding import ConnectionRevokeRequest
from runwatch.records.requests.verifier import VerifierPatch, VerifierRequest
from runwatch.service.access.roles import ARMS_MANAGE
from runwatch.service.checks import bindings, verifiers
from runwatch.service.checks.probe import ProbeReport, probe
from runwatch.service.http.bodies import parse_body
from runwatch.service.http.endpoints import Endpoint, shows
from runwatch.service.http.lists.pagination import parse_page_parameters
from runwatch.service.http.responses import ServiceResponse
from runwatch.service.http.service_call import ServiceCall
from runwatch.service.routes.key_page import ask_for_key, test_staged_key, write_and_destroy
from runwatch.service.tables import verifiers_table
from runwatch.service.transaction import Row, Transaction, pick


def list_verifiers(transaction: Transaction, call: ServiceCall) -> dict[str, object]:
    """Return a page of the output checks that are not retired, newest first."""
    paging = parse_page_parameters(call, "verifiers")
    where = {"tenant_id": call.tenant_id, "retired_at": None}
    rows = transaction.newest(verifiers_table, where, before=paging.before, limit=paging.limit)
    return paging.page("verifiers", rows, lambda shown: [verifiers.verifier_json(transaction, row) for row in shown])


async def register(call: ServiceCall) -> ServiceResponse:
    """Register an output check. A failing probe still registers it, as degraded.

    The specification shows both the record and the outcome as the response; this service returns both in one object.
    """
    request = parse_body(VerifierRequest, call.content)
    report = await _probe(call, request.endpoint.url, None)

    def store(transaction: Transaction) -> dict[str, Any]:
        row = verifiers.register(transaction, call.principal, request, report)
        return verifiers.verifier_json(transaction, row) | {"preflight": report.to_json()}

    return await call.write(store)


def read_verifier(transaction: Transaction, call: ServiceCall) -> dict[str, Any]:
    """Return one output check that is not retired."""
    return verifiers.verifier_json(transaction, _find(transaction, call))


async def change(call: ServiceCall) -> ServiceResponse:
    """Change an output check. A new endpoint is probed, with the key in use if it has the same origin."""
    patch = parse_body(VerifierPatch, call.content)
    row = await call.read(lambda transaction: _find(transaction, call))
    report = None
    if patch.endpoint is not None and patch.endpoint.url != row["endpoint"]["url"]:
        url = patch.endpoint.url
        is_same_origin = bindings.find_origin(url) == bindings.find_origin(row["endpoint"]["url"])
        report = await _probe(call, url, await _key_in_use(call) if is_same_origin else None)

    def effect(transaction: Transaction) -> dict[str, Any]:
        changed = verifiers.change(transaction, call.principal, row["verifier_id"], patch, report)
        return verifiers.verifier_json(transaction, changed)

    return await write_and_destroy(call, row["verifier_id"], effect)


async def retire(call: ServiceCall) -> ServiceResponse:
    """Retire an output check; repeating it changes nothing."""

    def effect(transaction: Transaction) -> ServiceResponse:
        verifiers.retire(transaction, call.principal, call.ids["verifier_id"])
        return ServiceResponse(204)

    return await write_and_destroy(call, call.ids["verifier_id"], effect)


async def test(call: ServiceCall) -> ServiceResponse:
    """Probe an output check with the key in use, and store the result; the revision stays."""
    row = await call.read(lambda transaction: _find(transaction, call))
    report = await _probe(call, row["endpoint"]["url"], await _key_in_use(call))

    def effect(transaction: Transaction) -> dict[str, Any]:
        shown = verifiers.verifier_json(transaction, verifiers.record_health(transaction, row, report))
        return pick(shown, "verifier_id status status_reason correctness_declaration") | {"probe": report.to_json()}

    return await call.write(effect)


async def read_connection(call: ServiceCall) -> ServiceResponse:
    """Return the protected connection, with ``last_operation`` if ``operation_key`` is given."""
    operation_key = call.query.get("operation_key") or None
    await call.read(lambda transaction: _find(transaction, call))
    # The first read after a key's stop date destroys the key.
    await bindings.destroy_retired(call.context.database, call.context.vault, call.ids["verifier_id"])
    return await call.show(lambda transaction: bindings.view(transaction, call.ids["verifier_id"], operation_key))


async def begin_connection(call: ServiceCall) -> ServiceResponse:
    """Let the user enter the endpoint's key once, on a private page whose address is returned only here."""
    return await ask_for_key(call, "verifier", lambda transaction: _find(transaction, call), "verifier_id")


async def test_connection(call: ServiceCall) -> ServiceResponse:
    """Test the staged key, and put it into use if the test passes; otherwise the key in use stays.

    A failed test is recorded in the connection's ``last_test`` and answered with ``invalid_state``.
    """
    reports = []

    async def try_key(url: str, key: Secret) -> str | None:
        reports.append(await _probe(call, url, key))
        return reports[0].failure

    def connected(transaction: Transaction, row: Row) -> dict[str, Any]:
        for report in reports:
            verifiers.record_health(transaction, row, report)
            verifiers.record_action(transaction, call.principal, "key_connected", row["verifier_id"])
        binding = bindings.load(transaction, row["verifier_id"])
        return {"generation": binding.generation, "handle": binding.handle}

    return await test_staged_key(call, lambda transaction: _find(transaction, call), "verifier_id", try_key, connected)


async def revoke_connection(call: ServiceCall) -> ServiceResponse:
    request = parse_body(ConnectionRevokeRequest, call.content)

    def effect(transaction: Transaction) -> dict[str, Any]:
        row = _find(transaction, call)
        before = bindings.load(transaction, row["verifier_id"])
        after = bindings.revoke(transaction, row["verifier_id"], request.operation_key)
        if after.status != before.status:
            verifiers.record_action(transaction, call.principal, "key_revoked", row["verifier_id"])
        return {"generation": after.generation}

    return await write_and_destroy(call, call.ids["verifier_id"], effect)


def _find(transaction: Transaction, call: ServiceCall) -> Row:
    return verifiers.find(transaction, call.tenant_id, call.ids["verifier_id"])


async def _probe(call: ServiceCall, url: str, key: Secret | None) -> ProbeReport:
    reach = call.context.reach_policy.check(call.tenant_id, url)
    return await probe(call.context.outbound, reach, call.context.clock, url, key)


async def _key_in_use(call: ServiceCall) -> Secret | None:
    handle = await call.read(
        lambda transaction: bindings.find_secret_handle(transaction, call.ids["verifier_id"], transaction.now)
    )
    return None if handle is None else await call.context.vault.get(handle)


_VERIFIERS: Final = "/v1/verifiers"
_VERIFIER: Final = "/v1/verifiers/{verifier_id}"
_CONNECTION: Final = f"{_VERIFIER}/connection"
_writes: Final = partial(Endpoint, permission=ARMS_MANAGE)

ENDPOINTS: Final = (
    Endpoint("GET", _VERIFIERS, shows(list_verifiers)),
    _writes("POST", _VERIFIERS, register, takes_body=True),
    Endpoint("GET", _VERIFIER, shows(read_verifier)),
    _writes("PATCH", _VERIFIER, change, takes_body=True),
    _writes("DELETE", _VERIFIER, retire),
    _writes("POST", f"{_VERIFIER}/test", test),
    Endpoint("GET", _CONNECTION, read_connection),
    _writes("POST", f"{_VERIFIER}/connection-intents", begin_connection, takes_body=True),
    _writes("POST", f"{_CONNECTION}/test", test_connection, takes_body=True),
    _writes("POST", f"{_CONNECTION}/revoke", revoke_connection),
)
