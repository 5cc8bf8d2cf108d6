"""Registered options: what the organization's runs may use (manual: interface, "Arms").

The status of a model option follows its connection and deployment: :func:`update_binding` updates the stored status in
the transaction that changes either. ``disabled`` is final. Registering, changing and disabling are recorded in the
decision log.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, Final

from runwatch.base.clock import format_iso
from runwatch.records.requests.arm import AgentArmRequest, ArmRequest, ModelArmRequest, SkillArmRequest
from runwatch.service import decision_log
from runwatch.service.access.finder import finder
from runwatch.service.checks import bindings
from runwatch.service.checks.bindings import check_auth_ref
from runwatch.service.errors import RefusalError, make_validation_error
from runwatch.service.ids import new_id
from runwatch.service.models.availability import READY, find_status, is_named_by, is_usable
from runwatch.service.models.catalog import cost_class, provider_name
from runwatch.service.models.skill_regions import describe_missing_regions
from runwatch.service.tables import arms_table, connections_table, deployments_table
from runwatch.service.transaction import Row, Transaction

DISABLED_BY_OWNER: Final = "Disabled by the organization."
DISCONNECTED: Final = "Disconnected from its source."
NO_ROUTE: Final = (
    "No tested connection serves this provider and model. `runwatch sources list` shows the connections with their"
    " tests."
)
OTHER_CONNECTION: Final = (
    "Wrong credential reference: it names no connection that serves this model. `runwatch models deployments` shows"
    " which do."
)
NO_DEPLOYMENT: Final = "There is no such deployment. `runwatch models deployments` lists them."

_CLAIMS: Final = {"capability_tags": "capabilities", "data_class_grants": "data classes"}


find: Final = finder(arms_table, "arm_id", "registered option")
"""Return the registered option with an id of an organization, or refuse with ``not_found``."""


def register(
    transaction: Transaction,
    tenant_id: str,
    request: ArmRequest,
    *,
    acted_by: str | None,
    preflight: Mapping[str, Any] | None = None,
    repository: str | None = None,
) -> Row:
    """Store a new option.

    Args:
        acted_by: Id of the key that registers it; ``None`` for the service itself.
        preflight: For an agent, the result of :func:`runwatch.service.models.agents.preflight`.

    Raises:
        RefusalError: ``validation_failed`` when the deployment is not ready, the option claims more than it is
            certified for, or an agent's ``auth_ref`` does not exist.
    """
    arm_id = new_id("arm", transaction.now)
    columns = _columns(transaction, tenant_id, request, preflight, checked=frozenset(_CLAIMS))
    transaction.add(
        arms_table,
        arm_id=arm_id,
        tenant_id=tenant_id,
        kind=request.kind,
        **columns,
        repository=repository,
    )
    decision_log.record_decision(transaction, tenant_id, "registry_action", "registered", "arm", arm_id, acted_by)
    return find(transaction, tenant_id, arm_id)


def revise(
    transaction: Transaction,
    tenant_id: str,
    arm_id: str,
    request: ArmRequest,
    changed: frozenset[str],
    *,
    acted_by: str | None,
    preflight: Mapping[str, Any] | None = None,
) -> Row:
    """Change an option. An agent that moves to another origin loses the key entered for the old one.

    Args:
        changed: Members named by the change; only these are checked against the certified model.
        preflight: Result for an agent's new address; ``None`` keeps the agent's status.

    Raises:
        RefusalError: ``not_found``; ``invalid_state`` for a disabled option; ``validation_failed`` as for a new one.
    """
    row = changeable(transaction, tenant_id, arm_id)
    columns = _columns(transaction, tenant_id, request, preflight, checked=changed, before=row)
    transaction.change(arms_table, {"arm_id": arm_id}, **columns, updated_at=format_iso(transaction.now))
    if isinstance(request, AgentArmRequest):
        bindings.follow_endpoint(transaction, arm_id, request.endpoint.url)
    decision_log.record_decision(transaction, tenant_id, "registry_action", "changed", "arm", arm_id, acted_by)
    return find(transaction, tenant_id, arm_id)


def changeable(transaction: Transaction, tenant_id: str, arm_id: str) -> Row:
    """Return an option that can still be changed.

    Refuses with ``not_found``; ``invalid_state`` for a disabled option.
    """
    row = find(transaction, tenant_id, arm_id)
    if row["status"] == "disabled":
        raise RefusalError("invalid_state", "The option is disabled, and stays so; register a new one.")
    return row


def disable(transaction: Transaction, tenant_id: str, arm_id: str, reason: str, *, acted_by: str | None) -> Row:
    """Disable an option permanently; do nothing if it is already disabled. Refuses with ``not_found``."""
    row = find(transaction, tenant_id, arm_id)
    if row["status"] == "disabled":
        return row
    transaction.change(
        arms_table, {"arm_id": arm_id}, status="disabled", status_reason=reason, updated_at=format_iso(transaction.now)
    )
    if row["kind"] == "agent":
        bindings.release(transaction, arm_id)
    decision_log.record_decision(transaction, tenant_id, "registry_action", "disabled", "arm", arm_id, acted_by)
    return find(transaction, tenant_id, arm_id)


def list_bound(transaction: Transaction, served: Sequence[Row]) -> Sequence[Row]:
    """Return the options bound to the given deployments, except disabled ones."""
    ids = tuple(row["model_deployment_id"] for row in served)
    return transaction.list_all(arms_table, {"model_deployment_id": ids, "status": ("ready", "degraded")})


def follow_binding(transaction: Transaction, connection: Row, binding_ref: str) -> None:
    """Point the options that name a connection by its ``auth_binding_ref`` to the new one."""
    where = {"tenant_id": connection["tenant_id"], "credential_ref": connection["auth_binding_ref"]}
    transaction.change(arms_table, where, credential_ref=binding_ref)


def update_binding(transaction: Transaction, connection: Row) -> None:
    """Update the status of every option behind a connection."""
    served = transaction.list_all(deployments_table, {"connection_id": connection["connection_id"]})
    by_id = {row["model_deployment_id"]: row for row in served}
    for arm in list_bound(transaction, served):
        status, reason = find_status(arm["data_class_grants"], by_id[arm["model_deployment_id"]], connection)
        if not is_named_by(arm["credential_ref"], connection):
            status, reason = "degraded", OTHER_CONNECTION
        if (status, reason) != (arm["status"], arm["status_reason"]):
            transaction.change(
                arms_table,
                {"arm_id": arm["arm_id"]},
                status=status,
                status_reason=reason,
                updated_at=format_iso(transaction.now),
            )


def _columns(
    transaction: Transaction,
    tenant_id: str,
    request: ArmRequest,
    preflight: Mapping[str, Any] | None,
    *,
    checked: frozenset[str],
    before: Row | None = None,
) -> dict[str, Any]:
    columns: dict[str, Any] = {
        "display_name": request.display_name,
        "capability_tags": request.capability_tags,
        "data_class_grants": request.data_class_grants,
        "cost_class": request.cost_class or "standard",
        "status": "ready",
        "status_reason": None,
    }
    match request:
        case ModelArmRequest():
            columns |= _model_columns(transaction, tenant_id, request, columns, checked, before)
        case AgentArmRequest():
            lifecycle = request.lifecycle
            url, auth_ref = request.endpoint.url, request.endpoint.auth_ref
            if before is None or auth_ref != before["endpoint"]["auth_ref"]:
                check_auth_ref(transaction, tenant_id, url, auth_ref, None if before is None else before["arm_id"])
            columns["endpoint"] = {"url": url, "auth_ref": auth_ref}
            columns["lifecycle"] = None if lifecycle is None else lifecycle.model_dump(exclude_none=True)
            if preflight is not None:
                columns["status"], columns["status_reason"] = _agent_standing(preflight)
            elif before is not None:
                columns["status"], columns["status_reason"] = before["status"], before["status_reason"]
        case SkillArmRequest():
            artifact = request.artifact
            columns["artifact"] = artifact.model_dump(include={"content", "version", "editable_regions"})
            columns["artifact_hash"] = artifact_hash(artifact.content)
            columns["status"], columns["status_reason"] = judge_skill(columns["artifact"])
    return columns


def artifact_hash(content: str) -> str:
    """Hash a skill's text: ``sha256:`` and the digest of its UTF-8 bytes."""
    return f"sha256:{hashlib.sha256(content.encode('utf-8')).hexdigest()}"


def judge_skill(artifact: Mapping[str, Any]) -> tuple[str, str | None]:
    """Return status and reason of a skill: degraded if its text does not mark a declared region."""
    missing = describe_missing_regions(artifact["content"], artifact["editable_regions"])
    return READY if missing is None else ("degraded", missing)


def _agent_standing(preflight: Mapping[str, Any]) -> tuple[str, str | None]:
    if preflight["reachable"]:
        return "ready", None
    return "degraded", preflight["reason_code"]


def _model_columns(
    transaction: Transaction,
    tenant_id: str,
    request: ModelArmRequest,
    columns: Mapping[str, Any],
    checked: frozenset[str],
    before: Row | None,
) -> dict[str, Any]:
    named_connection = _credential(transaction, tenant_id, request.credential_ref)
    found = _named(transaction, tenant_id, request) if request.model_deployment_id else None
    if found is not None and not is_named_by(request.credential_ref, found[1]):
        raise make_validation_error(
            ("credential_ref", "Names another connection than the one that serves the deployment.")
        )
    if found is None and request.model_deployment_id is None:
        found = _serving(transaction, tenant_id, request, named_connection)
    own: dict[str, Any] = {"credential_ref": request.credential_ref}
    if found is None:
        named = {"model_deployment_id": None, "provider": request.provider, "model_id": request.model_id}
        return {**own, **named, "status": "degraded", "status_reason": NO_ROUTE}
    deployment, connection = found
    deployment_id = deployment["model_deployment_id"]
    is_new = before is None or before["model_deployment_id"] != deployment_id
    if is_new and not (is_usable(connection) and deployment["status"] == "listed"):
        raise make_validation_error(
            ("model_deployment_id", "Not ready: the catalog does not list this deployment now.")
        )
    _check_claims(deployment, columns, frozenset(_CLAIMS) if is_new else checked)
    own["status"], own["status_reason"] = find_status(request.data_class_grants, deployment, connection)
    return {
        **own,
        "model_deployment_id": deployment_id,
        "provider": deployment["source_id"],
        "model_id": deployment["upstream_ref"],
        "cost_class": request.cost_class or cost_class(connection, deployment),
    }


def _check_claims(deployment: Row, columns: Mapping[str, Any], checked: frozenset[str]) -> None:
    certified = {
        "capability_tags": deployment["definition"]["capabilities"],
        "data_class_grants": deployment["data_classes"],
    }
    errors = [
        (name, f"May only name {what} that the deployment is certified for.")
        for name, what in _CLAIMS.items()
        if name in checked and not set(columns[name]) <= set(certified[name])
    ]
    if errors:
        raise make_validation_error(*errors)


def _named(transaction: Transaction, tenant_id: str, request: ModelArmRequest) -> tuple[Row, Row]:
    row = transaction.one(
        deployments_table, {"model_deployment_id": request.model_deployment_id or "", "tenant_id": tenant_id}
    )
    if row is None:
        raise make_validation_error(("model_deployment_id", NO_DEPLOYMENT))
    connection = _connection_of(transaction, row)
    for name, own in (("provider", _provider_names(row, connection)), ("model_id", {row["upstream_ref"]})):
        if getattr(request, name) not in {None, *own}:
            raise make_validation_error((name, "The deployment is of another one; leave this member out."))
    return row, connection


def _provider_names(deployment: Row, connection: Row) -> set[str]:
    """Return the names of a deployment's provider: its source, and the name in options and receipts."""
    return {deployment["source_id"], provider_name(connection)}


def _credential(transaction: Transaction, tenant_id: str, credential_ref: str | None) -> Row | None:
    """Return the connection named by a credential reference, or ``None`` without a reference.

    Refuses with ``validation_failed`` when no connection of the organization matches. The reference decides whose key
    and prices a run uses, so an unknown one is never ignored.
    """
    if credential_ref is None:
        return None
    for name in ("connection_id", "auth_binding_ref"):
        row = transaction.one(connections_table, {name: credential_ref, "tenant_id": tenant_id})
        if row is not None and row["revoked_at"] is None:
            return row
    raise make_validation_error(
        ("credential_ref", "Must be the connection_id or the auth_binding_ref of a source connection that is open.")
    )


def _serving(
    transaction: Transaction, tenant_id: str, request: ModelArmRequest, connection: Row | None
) -> tuple[Row, Row] | None:
    """Return the newest listed deployment of a usable connection for a provider name and a model name.

    If a connection is given, only that one is searched.
    """
    where = {"tenant_id": tenant_id, "upstream_ref": request.model_id}
    if connection is not None:
        where["connection_id"] = connection["connection_id"]
    for row in transaction.newest(deployments_table, {**where, "status": "listed"}):
        connection = _connection_of(transaction, row)
        if is_usable(connection) and request.provider in _provider_names(row, connection):
            return row, connection
    return None


def _connection_of(transaction: Transaction, deployment: Row) -> Row:
    return transaction.get(connections_table, {"connection_id": deployment["connection_id"]})
