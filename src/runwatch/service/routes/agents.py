"""Review agents and their protected keys (manual: interface, "Review agents")."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

from runwatch.base.secrets.secret import Secret
from runwatch.records.requests.agent import AgentRequest
from runwatch.records.requests.binding import ConnectionRevokeRequest
from runwatch.service.access.roles import ARMS_MANAGE
from runwatch.service.address_policy import AddressPolicy
from runwatch.service.checks import bindings
from runwatch.service.errors import RefusalError
from runwatch.service.http.bodies import parse_body
from runwatch.service.http.endpoints import Endpoint, shows
from runwatch.service.http.responses import ServiceResponse
from runwatch.service.http.service_call import ServiceCall
from runwatch.service.models import agents
from runwatch.service.models.agents import preflight
from runwatch.service.routes.key_page import ask_for_key, test_staged_key, write_and_destroy
from runwatch.service.transaction import Row, Transaction, pick


def list_agents(transaction: Transaction, call: ServiceCall) -> dict[str, Any]:
    """Return all agents, newest first. The list has no pages."""
    rows = agents.list_all(transaction, call.tenant_id)
    return {"agents": [agents.agent_json(transaction, row) for row in rows]}


async def register(call: ServiceCall) -> ServiceResponse:
    """Register an agent of a connected repository; it is degraded if its address does not respond."""
    request = parse_body(AgentRequest, call.content)
    found = await preflight(call.context.outbound, request.endpoint.url, _reach(call))

    def effect(transaction: Transaction) -> dict[str, Any]:
        shown = agents.agent_json(transaction, agents.register(transaction, call.principal, request, found))
        return shown | {"status_reason": shown["status_reason"] or None}

    return await call.write(effect)


def read_connection(transaction: Transaction, call: ServiceCall) -> dict[str, Any]:
    view = bindings.view(transaction, _find(transaction, call)["arm_id"])
    return pick(view, "status handle origin generation stop_at days_remaining pending_key")


async def begin_connection(call: ServiceCall) -> ServiceResponse:
    """Let the user enter the agent's key once, on a private page whose address is returned only here."""
    return await ask_for_key(call, "agent", lambda transaction: _usable(transaction, call), "arm_id")


async def test_connection(call: ServiceCall) -> ServiceResponse:
    """Test the staged key, and put it into use if the test passes; otherwise the key in use stays."""

    async def try_key(url: str, key: Secret) -> str | None:
        return await agents.try_key(call.context.outbound, url, _reach(call), key)

    def connected(transaction: Transaction, row: Row) -> dict[str, Any]:
        handle = bindings.load(transaction, row["arm_id"]).handle
        return {"status": "active", "handle": handle, "arm_id": row["arm_id"]}

    return await test_staged_key(call, lambda transaction: _usable(transaction, call), "arm_id", try_key, connected)


async def revoke_connection(call: ServiceCall) -> ServiceResponse:
    request = parse_body(ConnectionRevokeRequest, call.content)

    def effect(transaction: Transaction) -> dict[str, Any]:
        arm_id = _find(transaction, call)["arm_id"]
        bindings.revoke(transaction, arm_id, request.operation_key)
        return {"status": "revoked", "arm_id": arm_id}

    return await write_and_destroy(call, call.ids["arm_id"], effect)


def _find(transaction: Transaction, call: ServiceCall) -> Row:
    return agents.find(transaction, call.tenant_id, call.ids["arm_id"])


def _usable(transaction: Transaction, call: ServiceCall) -> Row:
    row = _find(transaction, call)
    if row["status"] == "disabled":
        raise RefusalError("invalid_state", "The agent is disabled, and stays so; register it anew.")
    return row


def _reach(call: ServiceCall) -> AddressPolicy:
    return call.context.reach_policy.endpoints(call.tenant_id)


_AGENTS: Final = "/v1/review-composer/agents"
_CONNECTION: Final = f"{_AGENTS}/{{arm_id}}/connection"
_posts: Final = partial(Endpoint, "POST", takes_body=True, permission=ARMS_MANAGE)

ENDPOINTS: Final = (
    Endpoint("GET", _AGENTS, shows(list_agents)),
    _posts(_AGENTS, register, needs_key=True),
    Endpoint("GET", _CONNECTION, shows(read_connection)),
    _posts(f"{_CONNECTION}/intents", begin_connection),
    _posts(f"{_CONNECTION}/test", test_connection),
    _posts(f"{_CONNECTION}/revoke", revoke_connection),
)
