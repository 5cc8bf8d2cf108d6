"""Tenant templates, plans and the model selection (manual: interface, "Tenant templates")."""

from __future__ import annotations

from typing import Any, Final

from runwatch.base.clock import format_iso
from runwatch.records.requests.template import PlanRequest, SelectionRequest
from runwatch.service.access.roles import ARMS_MANAGE, READ
from runwatch.service.errors import RefusalError, make_validation_error
from runwatch.service.http.endpoints import AuthenticatedRequest, Endpoint, parse_body
from runwatch.service.http.responses import ServiceResponse, make_json_response
from runwatch.service.setup import applications, plans
from runwatch.service.setup.templates import LANES, VERSION, OrganizationState, template_json
from runwatch.service.tables.templates import applications as applications_table
from runwatch.service.tables.templates import selections
from runwatch.service.transaction import Row, Transaction


async def list_templates(call: AuthenticatedRequest) -> ServiceResponse:
    """Return every template with its current obstacles."""

    def read(transaction: Transaction) -> ServiceResponse:
        estate = OrganizationState.of(transaction, call.principal.tenant_id)
        return make_json_response({"templates": [template_json(template_id, estate) for template_id in LANES]})

    return await call.read(read)


async def plan(call: AuthenticatedRequest) -> ServiceResponse:
    """Return what applying a template would do. Nothing is written and no provider is called."""
    request = parse_body(PlanRequest, call.content)

    def read(transaction: Transaction) -> ServiceResponse:
        estate = OrganizationState.of(transaction, call.principal.tenant_id)
        return make_json_response(plans.build_plan(request, estate, transaction.now))

    return await call.read(read)


async def read_selection(call: AuthenticatedRequest) -> ServiceResponse:
    """Return the model selected by the organization, or ``null``."""
    return await call.read(
        lambda transaction: make_json_response({"selection": _selection(transaction, call.principal.tenant_id)})
    )


async def select(call: AuthenticatedRequest) -> ServiceResponse:
    """Select the model of an application.

    Raises:
        RefusalError: ``validation_failed`` for an unknown application, ``invalid_state`` for one whose exact model has
            not passed its live proof.
    """
    request = parse_body(SelectionRequest, call.content)
    tenant_id = call.principal.tenant_id

    def effect(transaction: Transaction) -> ServiceResponse:
        where = {"application_id": request.application_id, "tenant_id": tenant_id}
        row = transaction.one(applications_table, where)
        if row is None:
            raise make_validation_error(("application_id", "There is no such application."))
        if row["state"] != "ready" or row["live_execution_id"] is None:
            raise RefusalError(
                "invalid_state", f"The application is {row['state']}; its model has passed no live proof."
            )
        now = format_iso(transaction.now)
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
        return make_json_response(_selection(transaction, tenant_id))

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
