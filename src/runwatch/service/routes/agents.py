"""Review agents and their protected keys (manual: interface, "Review agents")."""

from __future__ import annotations

from typing import Any, Final

from runwatch.records.requests.agent import AgentRequest
from runwatch.records.requests.binding import ConnectionRevokeRequest, ConnectionTestRequest
from runwatch.service.access.roles import ARMS_MANAGE
from runwatch.service.address_policy import AddressPolicy
from runwatch.service.checks import bindings
from runwatch.service.checks.binding_state import StagedKey
from runwatch.service.errors import RefusalError
from runwatch.service.http.endpoints import AuthenticatedRequest, Endpoint, parse_body
from runwatch.service.http.responses import ServiceResponse, make_json_response
from runwatch.service.models import agents
from runwatch.service.models.agent_preflight import preflight
from runwatch.service.routes.key_page import ask_for_key
from runwatch.service.transaction import Row, Transaction

_SHOWN: Final = ("status", "handle", "origin", "generation", "stop_at", "days_remaining", "pending_key")


async def list_agents(call: AuthenticatedRequest) -> ServiceResponse:
    """Return all agents, newest first. The list has no pages."""

    def read(transaction: Transaction) -> ServiceResponse:
        rows = agents.list_all(transaction, call.principal.tenant_id)
        return make_json_response({"agents": [agents.agent_json(transaction, row) for row in rows]})

    return await call.read(read)


async def register(call: AuthenticatedRequest) -> ServiceResponse:
    """Register an agent of a connected repository; it is degraded if its address does not respond."""
    request = parse_body(AgentRequest, call.content)
    found = await preflight(call.context.outbound, request.endpoint.url, _reach(call))

    def effect(transaction: Transaction) -> ServiceResponse:
        form = agents.agent_json(transaction, agents.register(transaction, call.principal, request, found))
        return make_json_response(form | {"status_reason": form["status_reason"] or None})

    return await call.write(effect)


async def read_connection(call: AuthenticatedRequest) -> ServiceResponse:
    """Return the protected connection of an agent."""

    def read(transaction: Transaction) -> ServiceResponse:
        view = bindings.view(transaction, _find(transaction, call)["arm_id"])
        return make_json_response({name: view[name] for name in _SHOWN})

    return await call.read(read)


async def begin_connection(call: AuthenticatedRequest) -> ServiceResponse:
    """Let the user enter the agent's key once, on a private page whose address is returned only here."""
    return await ask_for_key(call, "agent", lambda transaction: _usable(transaction, call), "arm_id")


async def test_connection(call: AuthenticatedRequest) -> ServiceResponse:
    """Test the staged key, and put it into use if the test passes; otherwise the key in use stays."""
    request = parse_body(ConnectionTestRequest, call.content)

    def find(transaction: Transaction) -> tuple[Row, StagedKey | None]:
        row = _usable(transaction, call)
        return row, bindings.find_staged(transaction, row["arm_id"], request.handle, request.captured_generation)

    row, staged = await call.read(find)
    failure = None if staged is None else await _try(call, row["endpoint"]["url"], staged.handle)

    def settle(transaction: Transaction) -> ServiceResponse:
        if failure is None and _usable(transaction, call)["endpoint"] != row["endpoint"]:
            raise RefusalError("invalid_state", "The endpoint was changed during the test. Test the key again.")
        if staged is not None:
            bindings.promote(
                transaction,
                row["arm_id"],
                handle=request.handle,
                captured_generation=request.captured_generation,
                operation_key=request.operation_key,
                failure=failure,
            )
        return make_json_response({"status": "active", "handle": request.handle, "arm_id": row["arm_id"]})

    try:
        if failure is None:
            return await call.write(settle)
        await call.context.database.write(settle)
    finally:
        await _destroy(call)
    raise RefusalError("invalid_state", f"The new key failed its test ({failure}); the previous key stays in use.")


async def revoke_connection(call: AuthenticatedRequest) -> ServiceResponse:
    """Stop using the key."""
    request = parse_body(ConnectionRevokeRequest, call.content)

    def effect(transaction: Transaction) -> ServiceResponse:
        arm_id = _find(transaction, call)["arm_id"]
        bindings.revoke(transaction, arm_id, request.operation_key)
        return make_json_response({"status": "revoked", "arm_id": arm_id})

    answer = await call.write(effect)
    await _destroy(call)
    return answer


def _find(transaction: Transaction, call: AuthenticatedRequest) -> Row:
    return agents.find(transaction, call.principal.tenant_id, call.ids["arm_id"])


def _usable(transaction: Transaction, call: AuthenticatedRequest) -> Row:
    row = _find(transaction, call)
    if row["status"] == "disabled":
        raise RefusalError("invalid_state", "The agent is disabled, and stays so; register it anew.")
    return row


async def _try(call: AuthenticatedRequest, url: str, handle: str) -> str | None:
    key = await call.context.vault.get(handle)
    if key is None:
        return "credential_unavailable"
    return await agents.try_key(call.context.outbound, url, _reach(call), key)


def _reach(call: AuthenticatedRequest) -> AddressPolicy:
    return call.context.reach_policy.endpoints(call.principal.tenant_id)


async def _destroy(call: AuthenticatedRequest) -> None:
    await bindings.destroy_retired(call.context.database, call.context.vault, call.ids["arm_id"])


_AGENTS: Final = "/v1/review-composer/agents"
_CONNECTION: Final = f"{_AGENTS}/{{arm_id}}/connection"


def _writes(path: str, handle: Any, *, needs_key: bool = False) -> Endpoint:
    return Endpoint("POST", path, handle, takes_body=True, needs_key=needs_key, permission=ARMS_MANAGE)


ENDPOINTS: Final = (
    Endpoint("GET", _AGENTS, list_agents),
    _writes(_AGENTS, register, needs_key=True),
    Endpoint("GET", _CONNECTION, read_connection),
    _writes(f"{_CONNECTION}/intents", begin_connection),
    _writes(f"{_CONNECTION}/test", test_connection),
    _writes(f"{_CONNECTION}/revoke", revoke_connection),
)
