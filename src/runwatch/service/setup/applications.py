"""Applications of templates: rows, and the steps that need only the database (manual: interface, "Tenant templates").

Reading an application moves it: every read and every resume takes the steps that are due. Each step is one transaction,
so an application continues after a restart and submits no run twice.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final

from runwatch.base.clock import format_iso
from runwatch.records.requests.arm import ModelArmRequest
from runwatch.records.requests.run import RunRequest
from runwatch.records.requests.template import ApplicationRequest, ByokOffering
from runwatch.service.access.authentication import Principal
from runwatch.service.access.finder import finder
from runwatch.service.errors import RefusalError, make_validation_error
from runwatch.service.execution import runs, submission
from runwatch.service.execution.state_machine import RunState
from runwatch.service.ids import new_id
from runwatch.service.models import arms, catalog, connections, handoffs, sources
from runwatch.service.models.availability import is_usable
from runwatch.service.service_context import ServiceContext
from runwatch.service.setup import plans
from runwatch.service.setup.templates import OrganizationState
from runwatch.service.tables import applications_table, arms_table
from runwatch.service.transaction import Row, Transaction, pick

ENDED: Final = frozenset({"ready", "failed_safe"})
"""Final states of an application."""

PROOF_VALID_FOR: Final = timedelta(minutes=15)
"""How long a live proof can be authorized."""

OBJECTIVE: Final = "Reply with the single word: ready."


@dataclass(slots=True)
class Advance:
    """Result of moving an application.

    Attributes:
        accepted: Submitted runs, for the engine to drive once the transaction is on disk.
        continue_url: The page of a started handoff; returned once.
        test: A connection due for a test, which requires calling its source.
        sync: A connection due for a model list, which requires calling its source.
    """

    accepted: list[RunState] = field(default_factory=list)
    continue_url: str | None = None
    test: Row | None = None
    sync: Row | None = None


find: Final = finder(applications_table, "application_id", "application")
"""Return the application with an id of an organization, or refuse with ``not_found``."""


def find_by_key(transaction: Transaction, tenant_id: str, template_id: str, application_key: str) -> Row | None:
    where = {"tenant_id": tenant_id, "template_id": template_id, "application_key": application_key}
    return transaction.one(applications_table, where)


def begin(transaction: Transaction, principal: Principal, request: ApplicationRequest, application_key: str) -> Row:
    """Store a new application, or return the one stored under the same key.

    Refuses with ``validation_failed`` when the plan has expired or would now do something else,
    ``idempotency_conflict`` when the key belongs to a different application.
    """
    known = find_by_key(transaction, principal.tenant_id, request.template, application_key)
    offering = None if request.byok_offering is None else request.byok_offering.model_dump()
    if known is not None:
        if known["byok_offering"] != offering:
            raise RefusalError(
                "idempotency_conflict", "This application key belongs to an application of another model."
            )
        return known
    estate = OrganizationState.of(transaction, principal.tenant_id)
    plan = plans.check_approved(request, request.digest, request.issued_at, estate, transaction.now)
    application_id = new_id("app", transaction.now)
    transaction.add(
        applications_table,
        application_id=application_id,
        tenant_id=principal.tenant_id,
        principal_id=principal.key_id,
        application_key=application_key,
        template_id=request.template,
        model_deployment_id=plan["model_deployment_id"],
        byok_offering=offering,
        state="applying",
        completed_effects=[],
    )
    return find(transaction, principal.tenant_id, application_id)


def advance(transaction: Transaction, row: Row, context: ServiceContext, principal: Principal) -> Advance:
    """Take every due step that needs only the database; a handoff that it begins is the ``principal``'s."""
    moved = Advance()
    while True:
        before = row["state"]
        _step(transaction, row, context, principal, moved)
        row = find(transaction, row["tenant_id"], row["application_id"])
        if row["state"] == before:
            return moved


def _step(transaction: Transaction, row: Row, context: ServiceContext, principal: Principal, moved: Advance) -> None:
    match row["state"]:
        case "applying" if row["template_id"] == "starter":
            _prove_by_echo(transaction, row, moved)
        case "applying":
            _find_model(transaction, row, context, principal, moved)
        case "consent_pending":
            _look_at_consent(transaction, row)
        case "arm_ready":
            _prove_by_echo(transaction, row, moved)
        case "echo_proved" if row["template_id"] == "starter":
            change(transaction, row, state="ready")
        case "echo_proved" if row["live_proof"] is None:
            change(transaction, row, live_proof=_proof(row, transaction.now))
        case "live_queued" | "live_running":
            _look_at_live_run(transaction, row)


def _find_model(
    transaction: Transaction, row: Row, context: ServiceContext, principal: Principal, moved: Advance
) -> None:
    """Save the model as an arm; start connecting its source if that is not connected."""
    estate = OrganizationState.of(transaction, row["tenant_id"])
    offering = None if row["byok_offering"] is None else ByokOffering(**row["byok_offering"])
    chosen = _ready_deployment(row, offering, estate)
    if chosen is not None:
        arm_id = _save(transaction, row, chosen, estate.connection_of(chosen))
        change(
            transaction,
            row,
            state="arm_ready",
            failure_code=None,
            managed_arm_id=arm_id,
            model_deployment_id=chosen["model_deployment_id"],
            source_connection_id=chosen["connection_id"],
            completed_effects=_with_effect(row, "save_model", transaction.now),
        )
        return
    if offering is None:
        change(transaction, row, state="action_required", failure_code="deployment_not_ready")
        return
    mine = [
        connection
        for connection in estate.connections
        if (connection["source_id"], connection["auth_scheme"]) == (offering.source_id, offering.auth_scheme)
    ]
    if not mine:
        profile = sources.find(sources.profiles(context.configured_sources), offering.source_id, offering.auth_scheme)
        endpoint = sources.endpoint_of(profile, offering.auth_scheme, None)
        handoff, moved.continue_url = handoffs.begin(
            transaction, principal, profile, offering.auth_scheme, endpoint, origin=context.page_origin
        )
        consent = {
            "handoff_intent_id": handoff["handoff_intent_id"],
            "expires_at": handoff["expires_at"],
            "attempt": 1 + (0 if row["consent"] is None else row["consent"]["attempt"]),
        }
        change(transaction, row, state="consent_pending", consent=consent, failure_code=None)
    elif not is_usable(mine[0]):
        moved.test = mine[0]
    else:
        moved.sync = mine[0]


def _ready_deployment(row: Row, offering: ByokOffering | None, estate: OrganizationState) -> Row | None:
    for deployment in estate.ready(row["template_id"]):
        if offering is not None and plans.is_offered(deployment, estate.connection_of(deployment), offering):
            return deployment
        if offering is None and deployment["model_deployment_id"] == row["model_deployment_id"]:
            return deployment
    return None


def _save(transaction: Transaction, row: Row, deployment: Row, connection: Row) -> str:
    """Return the id of an arm of this deployment granted open data: a ready one, or a new one."""
    bound = {"tenant_id": row["tenant_id"], "model_deployment_id": deployment["model_deployment_id"]}
    for arm in transaction.newest(arms_table, {**bound, "status": "ready"}):
        if "public" in arm["data_class_grants"]:
            return str(arm["arm_id"])
    request = ModelArmRequest.model_validate(catalog.arm_template(connection, deployment))
    return str(arms.register(transaction, row["tenant_id"], request, acted_by=row["principal_id"])["arm_id"])


def _look_at_consent(transaction: Transaction, row: Row) -> None:
    """Connect the source once its credential was entered; ask again when that has expired."""
    handoff = handoffs.find(transaction, row["tenant_id"], row["consent"]["handoff_intent_id"])
    if handoff["state"] == "completed" and not handoffs.is_overdue(transaction, handoff):
        connection = connections.add(transaction, row["tenant_id"], handoff["handoff_intent_id"], handoff["source_id"])
        change(transaction, row, state="applying", source_connection_id=connection["connection_id"])
    elif handoff["state"] != "pending" or handoffs.is_overdue(transaction, handoff):
        change(transaction, row, state="action_required", failure_code="consent_expired")


def _prove_by_echo(transaction: Transaction, row: Row, moved: Advance) -> None:
    if row["echo_execution_id"] is None:
        run = _submit(transaction, row, plans.request_policy("starter"))
        moved.accepted.append(run)
        change(transaction, row, echo_execution_id=run.execution_id)
        return
    run = runs.find(transaction, row["tenant_id"], row["echo_execution_id"])
    if run.status == "completed":
        done = _with_effect(row, "submit_echo", transaction.now)
        change(transaction, row, state="echo_proved", completed_effects=done)
    elif run.is_final:
        change(transaction, row, state="failed_safe", failure_code=run.reason or run.status)


def _look_at_live_run(transaction: Transaction, row: Row) -> None:
    run = runs.find(transaction, row["tenant_id"], row["live_execution_id"])
    if run.status == "completed":
        done = _with_effect(row, "live_result_ready", transaction.now)
        change(transaction, row, state="ready", completed_effects=done)
    elif run.is_final:
        change(transaction, row, state="action_required", failure_code=run.reason or run.status)
    elif run.status in {"running", "progress"} and row["state"] == "live_queued":
        change(transaction, row, state="live_running")


def authorize(transaction: Transaction, row: Row, digest: str | None) -> RunState:
    """Submit the authorized live proof, and return its run.

    Refuses with ``invalid_state`` when no proof is waiting, ``validation_failed`` when the digest differs or has
    expired.
    """
    proof = row["live_proof"]
    if row["state"] != "echo_proved" or proof is None:
        raise RefusalError("invalid_state", f"The application is {row['state']}; no live proof waits.")
    if digest is None:
        raise make_validation_error(("live_proof_digest", "Required to authorize the live proof."))
    if digest != proof["digest"] or proof["expires_at"] <= format_iso(transaction.now):
        raise make_validation_error(
            ("live_proof_digest", "This is not the proof that waits now. Refresh, and look at it again.")
        )
    run = _submit(transaction, row, plans.request_policy(row["template_id"]))
    done = _with_effect(row, "submit_bounded_live_proof", transaction.now)
    change(transaction, row, state="live_queued", live_execution_id=run.execution_id, completed_effects=done)
    return run


def refresh(transaction: Transaction, row: Row) -> None:
    """Check a waiting application against the organization's current state; a proof is issued anew."""
    if row["state"] in ENDED:
        raise RefusalError("invalid_state", f"The application is {row['state']}.")
    if row["state"] == "echo_proved":
        change(transaction, row, live_proof=_proof(row, transaction.now))
    elif row["state"] == "action_required" and row["live_execution_id"] is not None:
        proof = _proof(row, transaction.now)
        change(transaction, row, state="echo_proved", failure_code=None, live_execution_id=None, live_proof=proof)
    elif row["state"] == "action_required":
        change(transaction, row, state="applying", failure_code=None)


def change(transaction: Transaction, row: Row, **values: object) -> None:
    where = {"application_id": row["application_id"]}
    transaction.change(applications_table, where, **values, updated_at=format_iso(transaction.now))


def _submit(transaction: Transaction, row: Row, policy: dict[str, Any]) -> RunState:
    content: dict[str, Any] = {
        "mode": policy["mode"],
        "task": {"objective": OBJECTIVE},
        "policy": {"data_classes": policy["data_classes"], "budget": policy["budget"]},
    }
    if row["managed_arm_id"] is not None:
        content["routing"] = {"required_arm_id": row["managed_arm_id"]}
    request = RunRequest.model_validate(content)
    return submission.submit(transaction, row["tenant_id"], row["principal_id"], request, content)


def _proof(row: Row, now: datetime) -> dict[str, str]:
    proof = {
        "application_id": row["application_id"],
        "managed_arm_id": row["managed_arm_id"],
        "issued_at": format_iso(now),
        "expires_at": format_iso(now + PROOF_VALID_FOR),
        "policy": plans.request_policy(row["template_id"]),
    }
    return {"digest": plans.compute_plan_digest(proof), **pick(proof, "issued_at expires_at")}


def _with_effect(row: Row, effect_id: str, now: datetime) -> list[dict[str, str]]:
    done = [effect for effect in row["completed_effects"] if effect["id"] != effect_id]
    return [*done, {"id": effect_id, "at": format_iso(now)}]
