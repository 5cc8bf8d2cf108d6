"""Output checks in the database: registration, changes, health, retirement (manual: interface, "Verifiers")."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any, Final

from runwatch.base.clock import format_iso
from runwatch.base.json import dumps
from runwatch.records.requests.verifier import VerifierPatch, VerifierRequest
from runwatch.service import decision_log
from runwatch.service.access.authentication import Principal
from runwatch.service.checks import bindings
from runwatch.service.checks.bindings import check_auth_ref, summary_json
from runwatch.service.checks.probe import ProbeReport
from runwatch.service.errors import RefusalError
from runwatch.service.ids import new_id
from runwatch.service.tables import verifiers_table
from runwatch.service.transaction import Row, Transaction, pick

KIND: Final = "endpoint"

_NOT_DECLARED: Final = {"status": "not_declared", "statement": "Not declared"}
_STATEMENT: Final = "Tenant declared deterministic correctness; not independently verified"


def definition_hash(
    version: str, endpoint: Mapping[str, Any], input_data_classes: list[str], scoring: Mapping[str, Any]
) -> str:
    """Return the hash by which receipts identify a check.

    It covers what affects verdicts: ``version``, ``kind``, ``endpoint`` (``url`` and ``auth_ref``),
    ``input_data_classes`` in any order, and ``scoring``. It excludes the declaration (manual: interface, "Verifiers")
    and the name (this service's choice).
    """
    defined = {
        "endpoint": {name: endpoint[name] for name in ("auth_ref", "url")},
        "input_data_classes": sorted(input_data_classes),
        "kind": KIND,
        "scoring": {name: scoring[name] for name in ("correctness", "quality")},
        "version": version,
    }
    return f"sha256:{hashlib.sha256(dumps(defined).encode('ascii')).hexdigest()}"


def declaration_json(declared_at: str | None) -> dict[str, Any]:
    """Build the JSON of the declaration, in one of its two closed shapes."""
    if declared_at is None:
        return dict(_NOT_DECLARED)
    return {"status": "declared", "method": "deterministic", "declared_at": declared_at, "statement": _STATEMENT}


def read_health(row: Row, connection_status: str) -> tuple[str, str | None]:
    """Return status and reason of a check: the result of the last probe, unless its key was stopped.

    A check with a stopped key is not called, so it is degraded whatever a probe without a key would find. The reasons
    ``connection_revoked`` and ``connection_expired`` are not in the specification.
    """
    if connection_status in {"revoked", "expired"}:
        return "degraded", f"connection_{connection_status}"
    return row["status"], row["status_reason"]


def verifier_json(transaction: Transaction, row: Row) -> dict[str, Any]:
    connection = summary_json(bindings.load(transaction, row["verifier_id"]), transaction.now)
    status, reason = read_health(row, connection["status"])
    return {
        **pick(row, "verifier_id display_name version"),
        "kind": KIND,
        **pick(row, "endpoint input_data_classes scoring hash revision"),
        "status": status,
        "status_reason": reason,
        "correctness_declaration": declaration_json(row["declared_at"]),
        "connection": connection,
        "created_at": row["created_at"],
        "updated_at": row["updated_at"],
    }


def find(transaction: Transaction, tenant_id: str, verifier_id: str, *, is_retired_too: bool = False) -> Row:
    """Return an output check of an organization. Refuses with ``not_found``."""
    row = transaction.one(verifiers_table, {"verifier_id": verifier_id, "tenant_id": tenant_id})
    if row is None or (row["retired_at"] is not None and not is_retired_too):
        raise RefusalError("not_found", "There is no output check with this id.")
    return row


def register(transaction: Transaction, principal: Principal, request: VerifierRequest, report: ProbeReport) -> Row:
    """Store a new output check with the result of its probe, and return its row.

    Refuses with ``validation_failed`` for an unknown ``auth_ref``.
    """
    check_auth_ref(transaction, principal.tenant_id, request.endpoint.url, request.endpoint.auth_ref)
    verifier_id = new_id("vrf", transaction.now)
    moment = format_iso(transaction.now)
    endpoint = {"url": request.endpoint.url, "auth_ref": request.endpoint.auth_ref}
    scoring = {"correctness": request.scoring.correctness, "quality": request.scoring.quality}
    transaction.add(
        verifiers_table,
        verifier_id=verifier_id,
        tenant_id=principal.tenant_id,
        display_name=request.display_name,
        version=request.version,
        endpoint=endpoint,
        input_data_classes=request.input_data_classes,
        scoring=scoring,
        declared_at=None if request.correctness_declaration is None else moment,
        hash=definition_hash(request.version, endpoint, request.input_data_classes, scoring),
        revision=1,
        status=report.status,
        status_reason=report.status_reason,
    )
    record_action(transaction, principal, "registered", verifier_id)
    return find(transaction, principal.tenant_id, verifier_id)


def change(
    transaction: Transaction, principal: Principal, verifier_id: str, patch: VerifierPatch, report: ProbeReport | None
) -> Row:
    """Change an output check and return its row. The revision grows if something changed.

    A key entered for another origin is revoked.

    Args:
        report: Probe of the new endpoint, if it changed.

    Raises:
        RefusalError: ``not_found``; ``validation_failed`` for an unknown new ``auth_ref``.
    """
    row = find(transaction, principal.tenant_id, verifier_id)
    new = list_changes(row, patch, format_iso(transaction.now))
    if not new:
        return row
    changed = {**row, **new}
    endpoint = changed["endpoint"]
    if endpoint["auth_ref"] != row["endpoint"]["auth_ref"]:
        check_auth_ref(transaction, principal.tenant_id, endpoint["url"], endpoint["auth_ref"], verifier_id)
    new["hash"] = definition_hash(changed["version"], endpoint, row["input_data_classes"], row["scoring"])
    if report is not None:
        new |= {"status": report.status, "status_reason": report.status_reason}
    transaction.change(
        verifiers_table,
        {"verifier_id": verifier_id},
        **new,
        revision=row["revision"] + 1,
        updated_at=format_iso(transaction.now),
    )
    bindings.follow_endpoint(transaction, verifier_id, endpoint["url"])
    record_action(transaction, principal, "updated", verifier_id)
    return find(transaction, principal.tenant_id, verifier_id)


def list_changes(row: Row, patch: VerifierPatch, moment: str) -> dict[str, Any]:
    wanted: dict[str, Any] = {}
    if patch.display_name:
        wanted["display_name"] = patch.display_name
    if patch.version:
        wanted["version"] = patch.version
    if patch.endpoint is not None:
        named = patch.endpoint.model_fields_set
        auth_ref = patch.endpoint.auth_ref if "auth_ref" in named else row["endpoint"]["auth_ref"]
        wanted["endpoint"] = {"url": patch.endpoint.url, "auth_ref": auth_ref}
    if "correctness_declaration" in patch.model_fields_set:
        withdrawn = patch.correctness_declaration is None
        wanted["declared_at"] = None if withdrawn else row["declared_at"] or moment
    return {name: value for name, value in wanted.items() if row[name] != value}


def record_health(transaction: Transaction, row: Row, report: ProbeReport) -> Row:
    """Store the result of a probe and return the row; the revision stays.

    A result for an endpoint that was replaced in the meantime is not stored. Refuses with ``not_found`` when the check
    was retired in the meantime.
    """
    found = find(transaction, row["tenant_id"], row["verifier_id"])
    if found["endpoint"] != row["endpoint"]:
        return found
    transaction.change(
        verifiers_table,
        {"verifier_id": row["verifier_id"]},
        status=report.status,
        status_reason=report.status_reason,
    )
    return find(transaction, row["tenant_id"], row["verifier_id"])


def retire(transaction: Transaction, principal: Principal, verifier_id: str) -> None:
    """Retire an output check and discard its keys; its row stays for receipts that name it. Repeating it does nothing.

    Refuses with ``not_found``.
    """
    row = find(transaction, principal.tenant_id, verifier_id, is_retired_too=True)
    if row["retired_at"] is not None:
        return
    moment = format_iso(transaction.now)
    transaction.change(verifiers_table, {"verifier_id": verifier_id}, retired_at=moment, updated_at=moment)
    bindings.release(transaction, verifier_id)
    record_action(transaction, principal, "retired", verifier_id)


def record_action(transaction: Transaction, principal: Principal, action: str, verifier_id: str) -> None:
    """Record in the decision log what a caller did to an output check."""
    decision_log.record_decision(
        transaction, principal.tenant_id, "registry_action", action, "verifier", verifier_id, principal.key_id
    )
