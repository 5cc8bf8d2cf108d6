"""Tenant templates, plans and the model selection (specification, Tenant template; wire reference 2.7)."""

from __future__ import annotations

from typing import Any, Final

from runwatch.base.clock import iso
from runwatch.records.requests.template import PlanRequest, SelectionRequest
from runwatch.service.access.roles import ARMS_MANAGE, READ
from runwatch.service.errors import Refusal, invalid
from runwatch.service.http.answer import Answer, answer_json
from runwatch.service.http.bodies import read_as
from runwatch.service.http.call import Call, Endpoint
from runwatch.service.setup import applications, plans
from runwatch.service.setup.templates import LANES, VERSION, Estate, template_form
from runwatch.service.tables.templates import applications as applications_table
from runwatch.service.tables.templates import selections
from runwatch.service.transaction import Row, Transaction


async def list_templates(call: Call) -> Answer:
    """Every template, with what stands in its way at this moment."""

    def read(transaction: Transaction) -> Answer:
        estate = Estate.of(transaction, call.principal.tenant_id)
        return answer_json({"templates": [template_form(template_id, estate) for template_id in LANES]})

    return await call.read(read)


async def plan(call: Call) -> Answer:
    """What applying a template would do. Nothing is written and no provider is called."""
    request = read_as(PlanRequest, call.content)

    def read(transaction: Transaction) -> Answer:
        estate = Estate.of(transaction, call.principal.tenant_id)
        return answer_json(plans.plan_of(request, estate, transaction.now))

    return await call.read(read)


async def read_selection(call: Call) -> Answer:
    """The model that the organization has selected, ``null`` when there is none."""
    return await call.read(
        lambda transaction: answer_json({"selection": _selection(transaction, call.principal.tenant_id)})
    )


async def select(call: Call) -> Answer:
    """Select the model of an application.

    Raises:
        Refusal: ``validation_failed`` for an unknown application, ``invalid_state`` for one whose exact model has not
            passed its live proof.
    """
    request = read_as(SelectionRequest, call.content)
    tenant_id = call.principal.tenant_id

    def effect(transaction: Transaction) -> Answer:
        where = {"application_id": request.application_id, "tenant_id": tenant_id}
        row = transaction.one(applications_table, where)
        if row is None:
            raise invalid(("application_id", "There is no such application."))
        if row["state"] != "ready" or row["live_execution_id"] is None:
            raise Refusal("invalid_state", f"The application is {row['state']}; its model has passed no live proof.")
        now = iso(transaction.now)
        if transaction.one(selections, {"tenant_id": tenant_id}) is None:
            transaction.add(
                selections,
                tenant_id=tenant_id,
                application_id=request.application_id,
                selected_at=now,
                updated_at=now,
            )
        else:
            transaction.change(
                selections, {"tenant_id": tenant_id}, application_id=request.application_id, updated_at=now
            )
        return answer_json(_selection(transaction, tenant_id))

    return await call.write(effect)


def _selection(transaction: Transaction, tenant_id: str) -> dict[str, Any] | None:
    row: Row | None = transaction.one(selections, {"tenant_id": tenant_id})
    if row is None:
        return None
    application = applications.find(transaction, tenant_id, row["application_id"])
    return {
        "application_id": application["application_id"],
        "template_id": application["template_id"],
        "template_version": VERSION,
        "managed_arm_id": application["managed_arm_id"],
        "model_deployment_id": application["model_deployment_id"],
        "request_preset_id": plans.PRESETS[application["template_id"]],
        "request_policy": plans.request_policy(application["template_id"]),
        "proof_execution_id": application["live_execution_id"],
        "selected_at": row["selected_at"],
        "updated_at": row["updated_at"],
    }


_SELECTION: Final = "/v1/tenant-model-selection"

ENDPOINTS: Final = (
    Endpoint("GET", "/v1/tenant-templates", list_templates),
    Endpoint("POST", "/v1/tenant-template-plans", plan, permission=READ),
    Endpoint("GET", _SELECTION, read_selection),
    Endpoint("POST", _SELECTION, select, takes_body=True, needs_key=True, permission=ARMS_MANAGE),
)
