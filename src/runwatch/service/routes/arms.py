"""Registered options: list, read, register, change, disable (manual: interface, "Arms")."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import Any, Final

from runwatch.records.requests.arm import ARM_KINDS, AgentArmRequest, ArmRequest, arm_model
from runwatch.service.access.roles import ARMS_MANAGE
from runwatch.service.errors import make_validation_error
from runwatch.service.http.bodies import parse_body
from runwatch.service.http.endpoints import Endpoint, shows
from runwatch.service.http.lists.pagination import parse_page_parameters, read_filters
from runwatch.service.http.responses import ServiceResponse
from runwatch.service.http.service_call import ServiceCall
from runwatch.service.models import arm_json, arms
from runwatch.service.models.agents import preflight
from runwatch.service.routes.key_page import write_and_destroy
from runwatch.service.tables import arms_table
from runwatch.service.transaction import Row, Transaction

STATUSES: Final = ("ready", "degraded", "disabled")


def list_arms(transaction: Transaction, call: ServiceCall) -> dict[str, object]:
    """Return a page of options, newest first, optionally by kind and status."""
    paging = parse_page_parameters(call, "arms")
    where = dict(read_filters(call, kind=ARM_KINDS, status=STATUSES))
    if where.get("status") not in {"ready", "degraded"} or where.get("kind", "agent") != "agent":
        rows = transaction.newest(arms_table, where, before=paging.before, limit=paging.limit)
    else:
        # The key of an agent stops by itself, so that its stored status may be another one.
        status = where.pop("status")
        known = transaction.newest(arms_table, where, before=paging.before)
        has_it = (row for row in known if arm_json.find_status(transaction, row) == status)
        rows = list(islice(has_it, paging.limit))
    return paging.page("arms", rows, lambda shown: arm_json.arms_json(transaction, shown))


def read_arm(transaction: Transaction, call: ServiceCall) -> dict[str, Any]:
    return arm_json.arm_json(transaction, arms.find(transaction, call.tenant_id, call.ids["arm_id"]))


async def register(call: ServiceCall) -> ServiceResponse:
    """Register an option. An agent's address is called first; the agent is ``degraded`` if it does not respond."""
    request = parse_body(arm_model(call.content), call.content)
    found = await _preflight(call, request)

    def effect(transaction: Transaction) -> dict[str, Any]:
        row = arms.register(transaction, call.tenant_id, request, acted_by=call.principal.key_id, preflight=found)
        return arm_json.outcome_json(transaction, row, found)

    return await call.write(effect)


async def change(call: ServiceCall) -> ServiceResponse:
    """Change some members of an option; the result must be one that could be registered."""
    content = call.content
    if not isinstance(content, Mapping):
        raise make_validation_error(("body", "Must be an object."))
    arm_id, tenant_id = call.ids["arm_id"], call.tenant_id
    row = await call.read(lambda transaction: arms.changeable(transaction, tenant_id, arm_id))
    if content.get("kind", row["kind"]) != row["kind"]:
        raise make_validation_error(("kind", "Cannot be changed; register a new option."))
    found = await _preflight(call, _changed(row, content)) if "endpoint" in content else None

    def effect(transaction: Transaction) -> dict[str, Any]:
        request = _changed(arms.changeable(transaction, tenant_id, arm_id), content)
        changed = arms.revise(
            transaction,
            tenant_id,
            arm_id,
            request,
            frozenset(content),
            acted_by=call.principal.key_id,
            preflight=found,
        )
        return arm_json.arm_json(transaction, changed)

    return await write_and_destroy(call, arm_id, effect)


async def disable(call: ServiceCall) -> ServiceResponse:
    """Disable an option permanently and return it; runs already using it are not stopped."""
    arm_id, key_id = call.ids["arm_id"], call.principal.key_id

    def effect(transaction: Transaction) -> dict[str, Any]:
        row = arms.disable(transaction, call.tenant_id, arm_id, arms.DISABLED_BY_OWNER, acted_by=key_id)
        return arm_json.arm_json(transaction, row)

    return await write_and_destroy(call, arm_id, effect)


def _changed(row: Row, content: Mapping[str, Any]) -> ArmRequest:
    """Return the option after the change. Naming a provider's model drops the deployment, and vice versa."""
    whole = {**arm_json.arm_request_json(row), **content}
    if row["kind"] == "model":
        if content.get("model_deployment_id") is not None:
            for name in ("provider", "model_id"):
                if name not in content:
                    whole.pop(name, None)
        elif content.get("provider") is not None or content.get("model_id") is not None:
            whole.pop("model_deployment_id", None)
    return parse_body(arm_model(whole), whole)


async def _preflight(call: ServiceCall, request: ArmRequest) -> dict[str, Any] | None:
    if not isinstance(request, AgentArmRequest):
        return None
    reach = call.context.reach_policy.endpoints(call.tenant_id)
    return await preflight(call.context.outbound, request.endpoint.url, reach)


_ARM: Final = "/v1/arms/{arm_id}"

ENDPOINTS: Final = (
    Endpoint("GET", "/v1/arms", shows(list_arms)),
    Endpoint("POST", "/v1/arms", register, takes_body=True, permission=ARMS_MANAGE),
    Endpoint("GET", _ARM, shows(read_arm)),
    Endpoint("PATCH", _ARM, change, takes_body=True, permission=ARMS_MANAGE),
    Endpoint("DELETE", _ARM, disable, permission=ARMS_MANAGE),
)
