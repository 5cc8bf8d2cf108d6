"""Plans: what applying a template would do and could cost, with a digest to approve (manual: interface, "Tenant
templates").

A plan is built from the organization's current state on every request, without side effects, and is not stored. Its
digest covers everything it says, so an application is refused if its effect has changed in between.
"""

from __future__ import annotations

import hashlib
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, Final

from runwatch.base.clock import format_iso
from runwatch.base.json import ExactNumber, dumps
from runwatch.records.requests.template import ByokOffering, PlanRequest
from runwatch.service.errors import make_validation_error
from runwatch.service.models.catalog import catalog_entry
from runwatch.service.organization.wallet import PLATFORM_FEE_USD
from runwatch.service.setup.templates import (
    BYOK,
    LANES,
    LIVE_BUDGET_USD,
    OPEN_CLASS,
    STARTER,
    VERSION,
    OrganizationState,
    find_blocker,
    is_open_model,
)
from runwatch.service.transaction import Row, pick

VALID_FOR: Final = timedelta(minutes=15)
"""How long a plan can be approved."""

PRESETS: Final = {
    "starter": "starter-public-sandbox-v1",
    "pooled-open-model": "pooled-open-model-public-v1",
    "byok-open-model": "byok-open-model-public-v1",
}
"""``request_preset_id`` of each template; the last one is not in the specification."""

LIVE_RUNTIME_S: Final = 600
"""Longest live proof in seconds: a user's own model server may take minutes to load a model."""

ECHO_BUDGET_USD: Final = Decimal("0.01")
ECHO_RUNTIME_S: Final = 60


def request_policy(template_id: str) -> dict[str, Any]:
    is_echo = template_id == STARTER
    usd, runtime_s = (ECHO_BUDGET_USD, ECHO_RUNTIME_S) if is_echo else (LIVE_BUDGET_USD, LIVE_RUNTIME_S)
    return {
        "mode": "echo" if is_echo else "live",
        "data_classes": [OPEN_CLASS, "sandbox"] if is_echo else [OPEN_CLASS],
        "budget": {"max_cost_usd": ExactNumber(str(usd)), "max_runtime_s": runtime_s},
        "fallback_policy": "none",
        "verifier": "platform.echo" if is_echo else "platform.output_presence",
    }


def choose(request: PlanRequest, estate: OrganizationState) -> Row | None:
    """Return the deployment of a plan; ``None`` if there is none yet, or the template needs none.

    Refuses with ``validation_failed`` when the named deployment is not ready for this lane.
    """
    if request.template != BYOK and request.byok_offering is not None:
        raise make_validation_error(
            ("byok_offering", f"The template {request.template} takes no model of a customer's own.")
        )
    if request.template == STARTER:
        if request.model_deployment_id is not None:
            raise make_validation_error(("model_deployment_id", f"The template {request.template} takes no model."))
        return None
    ready = estate.ready(request.template)
    if request.model_deployment_id is not None:
        for row in ready:
            if row["model_deployment_id"] == request.model_deployment_id:
                return row
        raise make_validation_error(("model_deployment_id", "Not ready for this lane."))
    if request.byok_offering is None:
        return next(iter(ready), None)
    return next((row for row in ready if is_offered(row, estate.connection_of(row), request.byok_offering)), None)


def is_offered(deployment: Row, connection: Row, offering: ByokOffering) -> bool:
    return (
        is_open_model(deployment)
        and deployment["source_id"] == offering.source_id
        and deployment["served_variant_id"] == offering.served_variant_id
        and connection["auth_scheme"] == offering.auth_scheme
    )


def build_plan(request: PlanRequest, estate: OrganizationState, issued_at: datetime) -> dict[str, Any]:
    """Build the plan. Refuses as :func:`choose` does."""
    template_id = request.template
    chosen = choose(request, estate)
    blocker = find_blocker(template_id, estate)
    # The application itself connects an offering that is not connected yet.
    is_supported = blocker is None or request.byok_offering is not None
    next_action = {"type": "approve_plan", "detail": "Look at what it would do, then apply it with its digest."}
    if blocker is not None and not is_supported:
        next_action = blocker["next_action"]
    live = template_id != STARTER
    plan: dict[str, Any] = {
        "template_id": template_id,
        "template_version": VERSION,
        "access_lane": LANES[template_id],
        "application_supported": is_supported,
        "next_action": next_action,
        "request_preset_id": PRESETS[template_id],
        "issued_at": format_iso(issued_at),
        "expires_at": format_iso(issued_at + VALID_FOR),
        "qualification": {"state": "approved", "next_action": next_action},
        "byok_source": _source(chosen, estate.connection_of(chosen)) if chosen and template_id == BYOK else None,
        "byok_offerings": [
            pick(_source(row, estate.connection_of(row)), "source_id auth_scheme model_key served_variant_id")
            for row in (estate.ready(BYOK) if template_id == BYOK else ())
        ],
        "model_deployment_id": None if chosen is None else chosen["model_deployment_id"],
        "request_policy": request_policy(template_id),
        "starter_credit": {"balance_usd": 0, "funded_state": "sandbox", "covers_maximum_spend": not live},
        "maximum_spend_usd": ExactNumber(str(LIVE_BUDGET_USD + PLATFORM_FEE_USD if live else PLATFORM_FEE_USD)),
        "effects": _effects(template_id),
        "file_manifest": [],
    }
    return {**plan, "digest": compute_plan_digest(plan)}


def compute_plan_digest(plan: dict[str, Any]) -> str:
    return f"sha256:{hashlib.sha256(dumps(plan).encode('ascii')).hexdigest()}"


def check_approved(
    request: PlanRequest, digest: str, issued_at: str, estate: OrganizationState, now: datetime
) -> dict[str, Any]:
    """Rebuild the plan that a digest approves.

    Refuses with ``validation_failed``: on ``issued_at`` when the plan has expired or never existed, on ``digest`` when
    its effect has changed, and as :func:`choose` does.
    """
    try:
        moment = datetime.fromisoformat(issued_at)
        is_current = format_iso(moment) == issued_at and moment <= now < moment + VALID_FOR
    except (ValueError, TypeError, OverflowError):
        is_current = False
    if not is_current:
        raise make_validation_error(("issued_at", "The plan has expired. Make a new one."))
    plan = build_plan(request, estate, moment)
    if plan["digest"] != digest:
        raise make_validation_error(("digest", "What the plan would do has changed. Make a new one."))
    if not plan["application_supported"]:
        raise make_validation_error(("template_id", f"Not eligible: {plan['next_action']['detail']}"))
    return plan


def _source(deployment: Row, connection: Row) -> dict[str, Any]:
    return {
        "source_id": deployment["source_id"],
        "auth_scheme": connection["auth_scheme"],
        "model_key": deployment["model_key"],
        "served_variant_id": deployment["served_variant_id"],
        "certification_id": catalog_entry(connection, deployment)["offering"]["certification"]["certification_id"],
    }


def _effects(template_id: str) -> list[dict[str, str]]:
    echo = {"id": "submit_echo", "description": "Submits one test run, which calls no model and costs nothing."}
    if template_id == "starter":
        return [echo]
    return [
        {
            "id": "save_model",
            "description": "Saves the model as an arm of the organization, or uses one that is saved.",
        },
        echo,
        {
            "id": "submit_bounded_live_proof",
            "description": f"After you authorize it, submits one live run of at most {LIVE_BUDGET_USD} US dollars.",
        },
    ]
