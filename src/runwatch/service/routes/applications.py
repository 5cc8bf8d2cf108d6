"""Applications of tenant templates: durable, resumable, idempotent (manual: interface, "Tenant templates")."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from runwatch.base.json import loads
from runwatch.records.requests.template import TEMPLATES, ApplicationRequest, ResumeRequest
from runwatch.service.access.roles import ARMS_MANAGE
from runwatch.service.errors import RefusalError, make_validation_error
from runwatch.service.execution.state_machine import RunState
from runwatch.service.http.bodies import parse_body
from runwatch.service.http.endpoints import Endpoint
from runwatch.service.http.lists.pagination import read_choice
from runwatch.service.http.responses import ServiceResponse, make_json_response, make_one_time_response
from runwatch.service.http.service_call import ServiceCall
from runwatch.service.setup import application_steps, applications
from runwatch.service.setup.application_json import application_json
from runwatch.service.setup.templates import POOLED
from runwatch.service.transaction import Row, Transaction

_FAILURES: Final = {
    "retry_consent": "consent_expired",
    "retry_connection_test": "connection_test_failed",
    "retry_deployment_sync": "deployment_not_listed",
}
"""For each action that retries, the failure that the application must have."""


async def apply(call: ServiceCall) -> ServiceResponse:
    """Apply a reviewed plan. The same application key leads to the same application."""
    request = parse_body(ApplicationRequest, call.content)
    assert call.idempotent is not None
    key = request.application_key or call.idempotent.key

    def effect(transaction: Transaction) -> tuple[ServiceResponse, list[RunState]]:
        row = applications.begin(transaction, call.principal, request, key)
        moved = applications.advance(transaction, row, call.context, call.principal)
        return _response(transaction, call, row["application_id"], moved.continue_url), moved.accepted

    return await _write(call, effect)


async def look_up(call: ServiceCall) -> ServiceResponse:
    """Return the application of a template under an application key, or ``null``."""
    template_id = read_choice(call.query, "template_id", TEMPLATES)
    key = call.query.get("idempotency_key", "")
    missing = [(name, "Required.") for name in ("template_id", "idempotency_key") if not call.query.get(name)]
    if missing or template_id is None:
        raise make_validation_error(*missing)
    tenant_id = call.tenant_id
    row = await call.read(lambda transaction: applications.find_by_key(transaction, tenant_id, template_id, key))
    if row is None:
        return make_json_response({"application": None})
    response = await _up_to_date(call, row["application_id"])
    return make_json_response({"application": loads(response.body)})


async def read_application(call: ServiceCall) -> ServiceResponse:
    """Return one application, brought up to date."""
    await call.read(lambda transaction: _find(transaction, call))
    return await _up_to_date(call, call.ids["application_id"])


async def resume(call: ServiceCall) -> ServiceResponse:
    """Continue an application.

    Refuses with ``invalid_state`` for an action it is not waiting for, ``validation_failed`` for a digest other than
    that of the live proof.
    """
    request = parse_body(ResumeRequest, call.content)

    def effect(transaction: Transaction) -> tuple[ServiceResponse, list[RunState]]:
        row = _find(transaction, call)
        accepted: list[RunState] = []
        match request.action:
            case "poll_consent":
                if row["state"] != "consent_pending":
                    raise RefusalError("invalid_state", f"The application is {row['state']}; it waits for no consent.")
            case "authorize_live_proof":
                accepted.append(applications.authorize(transaction, row, request.live_proof_digest))
            case "refresh_byok_readiness" | "refresh_pool_readiness":
                if (row["template_id"] == POOLED) != (request.action == "refresh_pool_readiness"):
                    raise RefusalError("invalid_state", "The application is one of another lane.")
                applications.refresh(transaction, row)
            case action:
                if row["state"] != "action_required" or row["failure_code"] != _FAILURES[action]:
                    raise RefusalError(
                        "invalid_state", f"The application is {row['state']}; there is nothing to try again."
                    )
                applications.change(transaction, row, state="applying", failure_code=None)
        moved = applications.advance(transaction, _find(transaction, call), call.context, call.principal)
        return _response(transaction, call, row["application_id"], moved.continue_url), [*accepted, *moved.accepted]

    return await _write(call, effect)


async def _write(
    call: ServiceCall, effect: Callable[[Transaction], tuple[ServiceResponse, list[RunState]]]
) -> ServiceResponse:
    """Apply an effect, and drive the runs that it submitted."""
    response, accepted = await call.write_with(effect)
    for run in accepted:
        call.context.engine.drive(run)
    return response


async def _up_to_date(call: ServiceCall, application_id: str) -> ServiceResponse:
    continue_url = await application_steps.advance_application(call.context, call.principal, application_id)
    return await call.read(lambda transaction: _response(transaction, call, application_id, continue_url))


def _response(
    transaction: Transaction, call: ServiceCall, application_id: str, continue_url: str | None
) -> ServiceResponse:
    row = applications.find(transaction, call.tenant_id, application_id)
    return make_one_time_response(application_json(transaction, row, continue_url), application_json(transaction, row))


def _find(transaction: Transaction, call: ServiceCall) -> Row:
    return applications.find(transaction, call.tenant_id, call.ids["application_id"])


_APPLICATIONS: Final = "/v1/tenant-template-applications"
_APPLICATION: Final = f"{_APPLICATIONS}/{{application_id}}"

ENDPOINTS: Final = (
    Endpoint("POST", _APPLICATIONS, apply, takes_body=True, needs_key=True, permission=ARMS_MANAGE),
    Endpoint("GET", _APPLICATIONS, look_up),
    Endpoint("GET", _APPLICATION, read_application),
    Endpoint("POST", f"{_APPLICATION}/resume", resume, takes_body=True, needs_key=True, permission=ARMS_MANAGE),
)
