"""Tenant templates, plans and the model selection (manual: interface, "Tenant templates")."""

from __future__ import annotations

from typing import Any, Final

from runwatch.base.clock import format_iso
from runwatch.records.requests.template import PlanRequest, SelectionRequest
from runwatch.service.access.roles import ARMS_MANAGE, READ
from runwatch.service.errors import RefusalError, make_validation_error
from runwatch.service.http.bodies import parse_body
from runwatch.service.http.endpoints import Endpoint, shows, takes
from runwatch.service.http.responses import ServiceResponse
from runwatch.service.http.service_call import ServiceCall
from runwatch.service.setup import applications, plans
from runwatch.service.setup.templates import LANES, VERSION, OrganizationState, template_json
from runwatch.service.tables import applications_table, selections_table
from runwatch.service.transaction import Transaction, pick


def list_templates(transaction: Transaction, call: ServiceCall) -> dict[str, Any]:
    """Return every template with its current obstacles."""
    estate = OrganizationState.of(transaction, call.tenant_id)
    return {"templates": [template_json(template_id, estate) for template_id in LANES]}


async def plan(call: ServiceCall) -> ServiceResponse:
    """Return what applying a template would do. Nothing is written and no provider is called."""
    request = parse_body(PlanRequest, call.content)

    def read_plan(transaction: Transaction) -> dict[str, Any]:
        estate = OrganizationState.of(transaction, call.tenant_id)
        return plans.build_plan(request, estate, transaction.now)

    return await call.show(read_plan)


def read_selection(transaction: Transaction, call: ServiceCall) -> dict[str, Any]:
    """Return the model selected by the organization, or ``null``."""
    return {"selection": _selection(transaction, call.tenant_id)}


def select(transaction: Transaction, call: ServiceCall, request: SelectionRequest) -> dict[str, Any] | None:
    """Select the model of an application.

    Refuses with ``validation_failed`` for an unknown application, ``invalid_state`` for one whose exact model has not
    passed its live proof.
    """
    mine, application_id = {"tenant_id": call.tenant_id}, request.application_id
    row = transaction.one(applications_table, {**mine, "application_id": application_id})
    if row is None:
        raise make_validation_error(("application_id", "There is no such application."))
    if row["state"] != "ready" or row["live_execution_id"] is None:
        raise RefusalError("invalid_state", f"The application is {row['state']}; its model has passed no live proof.")
    now = format_iso(transaction.now)
    if transaction.one(selections_table, mine) is None:
        transaction.add(selections_table, **mine, application_id=application_id, selected_at=now, updated_at=now)
    else:
        transaction.change(selections_table, mine, application_id=application_id, updated_at=now)
    return _selection(transaction, call.tenant_id)


def _selection(transaction: Transaction, tenant_id: str) -> dict[str, Any] | None:
    row = transaction.one(selections_table, {"tenant_id": tenant_id})
    if row is None:
        return None
    application = applications.find(transaction, tenant_id, row["application_id"])
    template_id = application["template_id"]
    return {
        "application_id": application["application_id"],
        "template_id": template_id,
        "template_version": VERSION,
        **pick(application, "managed_arm_id model_deployment_id"),
        "request_preset_id": plans.PRESETS[template_id],
        "request_policy": plans.request_policy(template_id),
        "proof_execution_id": application["live_execution_id"],
        **pick(row, "selected_at updated_at"),
    }


_SELECTION: Final = "/v1/tenant-model-selection"

ENDPOINTS: Final = (
    Endpoint("GET", "/v1/tenant-templates", shows(list_templates)),
    Endpoint("POST", "/v1/tenant-template-plans", plan, permission=READ),
    Endpoint("GET", _SELECTION, shows(read_selection)),
    Endpoint(
        "POST",
        _SELECTION,
        takes(SelectionRequest, select),
        takes_body=True,
        needs_key=True,
        permission=ARMS_MANAGE,
    ),
)
