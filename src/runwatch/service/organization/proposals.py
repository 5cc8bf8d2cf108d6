"""Repair proposals: a candidate that scored better waits for the user's decision (manual: interface, "Proposals").

A proposal holds the change of the editable regions, the check's evidence, scores and ids, and no task output. The
specification names the state ``expired`` without a rule; here a proposal expires after 30 days without a decision.

Approving replaces the skill's artifact by the candidate, and every run that ranks its options later uses it. An
approval is refused if the artifact is no longer the one that the proposal was made from. Rejecting changes nothing.

Only roles that may decide see the change and the evidence; other readers see the rest. Reading and the compliance
export both use :func:`visible_json`.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any, Final

from runwatch.base.clock import format_iso
from runwatch.service import decision_log
from runwatch.service.access.authentication import Principal
from runwatch.service.access.finder import finder
from runwatch.service.access.roles import MANAGE, permits
from runwatch.service.errors import RefusalError
from runwatch.service.ids import new_id
from runwatch.service.models.arms import artifact_hash, judge_skill
from runwatch.service.tables import arms_table, proposal_artifacts_table, proposals_table
from runwatch.service.transaction import Row, Transaction, pick

OPEN_FOR: Final = timedelta(days=30)
"""How long a proposal waits for its decision."""

STATES: Final = ("pending", "approved", "rejected", "expired")
"""States of a proposal; all but ``pending`` are final."""

SHORT: Final = (
    "proposal_id status execution_id slice_id arm_id parent_artifact_id parent_score candidate_score decided_by "
    "decided_at reason created_at expires_at"
)
_CONTENT: Final = " diff verifier_evidence"
HISTORY: Final = (
    "proposal_id execution_id slice_id arm_id parent_artifact_id parent_score candidate_score status decided_at "
    "created_at"
)


def add(
    transaction: Transaction,
    tenant_id: str,
    *,
    execution_id: str,
    slice_id: str,
    arm_id: str,
    diff: str,
    verifier_evidence: dict[str, Any],
    candidate: str | None = None,
    parent_artifact_id: str | None = None,
    parent_score: float | None = None,
    candidate_score: float | None = None,
) -> str:
    """Store a new proposal and return its id.

    Args:
        verifier_evidence: The output check's statement on the candidate; no task output.
        candidate: The whole text that would replace the skill's; without it the proposal cannot be approved.
        parent_score: Score of that artifact, 0 to 1.
        candidate_score: Score of the candidate, 0 to 1.
    """
    proposal_id = new_id("prop", transaction.now)
    transaction.add(
        proposals_table,
        proposal_id=proposal_id,
        tenant_id=tenant_id,
        status="pending",
        execution_id=execution_id,
        slice_id=slice_id,
        arm_id=arm_id,
        parent_artifact_id=parent_artifact_id,
        parent_score=parent_score,
        candidate_score=candidate_score,
        diff=diff,
        verifier_evidence=verifier_evidence,
        expires_at=format_iso(transaction.now + OPEN_FOR),
    )
    if candidate is not None:
        transaction.add(
            proposal_artifacts_table,
            proposal_id=proposal_id,
            content=candidate,
            artifact_hash=artifact_hash(candidate),
        )
    return proposal_id


find: Final = finder(proposals_table, "proposal_id", "proposal")
"""Return the proposal with an id of an organization, or refuse with ``not_found``."""


def page(
    transaction: Transaction,
    tenant_id: str,
    *,
    status: str | None,
    arm_id: str | None,
    before: int | None,
    limit: int,
) -> Sequence[Row]:
    """Return a page of proposals of an organization, newest first."""
    where: dict[str, object] = {"tenant_id": tenant_id}
    if arm_id is not None:
        where["arm_id"] = arm_id
    if status is not None:
        where["status"] = "pending" if status == "expired" else status
    edge = ("expires_at", format_iso(transaction.now))
    return transaction.newest(
        proposals_table,
        where,
        since=edge if status == "pending" else None,
        until=edge if status == "expired" else None,
        before=before,
        limit=limit,
    )


def decide(
    transaction: Transaction, principal: Principal, proposal_id: str, decision: str, reason: str | None = None
) -> Row:
    """Approve or reject a proposal, record who did, and return the updated row.

    Raises:
        RefusalError: ``not_found``; ``invalid_state`` when it is not pending, or for an approval when the skill has
            changed since the proposal was made.
    """
    row = find(transaction, principal.tenant_id, proposal_id)
    status = status_of(row, format_iso(transaction.now))
    if status != "pending":
        raise RefusalError("invalid_state", f"The proposal is already {status}.")
    if decision == "approved":
        _apply(transaction, principal, row)
    transaction.change(
        proposals_table,
        {"proposal_id": proposal_id},
        status=decision,
        decided_by=principal.key_id,
        decided_at=format_iso(transaction.now),
        reason=reason,
    )
    decision_log.record_decision(
        transaction, principal.tenant_id, "proposal_decision", decision, "proposal", proposal_id, principal.key_id
    )
    return find(transaction, principal.tenant_id, proposal_id)


def _apply(transaction: Transaction, principal: Principal, row: Row) -> None:
    """Replace the skill's artifact by a proposal's candidate. Refuses with ``invalid_state``."""
    artifact = transaction.one(proposal_artifacts_table, {"proposal_id": row["proposal_id"]})
    if artifact is None:
        raise RefusalError(
            "invalid_state", "The candidate was not kept, so it cannot be put in place; reject the proposal."
        )
    arm = transaction.one(arms_table, {"arm_id": row["arm_id"], "tenant_id": row["tenant_id"], "kind": "skill"})
    if arm is None or arm["status"] == "disabled":
        raise RefusalError(
            "invalid_state", "The skill is disabled, so nothing can be put in place; reject the proposal."
        )
    if arm["artifact_hash"] != row["parent_artifact_id"]:
        raise RefusalError(
            "invalid_state", "The skill has changed since the proposal was made from it; reject the proposal."
        )
    before = arm["artifact"]
    after = {**before, "content": artifact["content"], "version": next_version(before["version"], row["proposal_id"])}
    # A repair of one region may have removed a region nested in it.
    status, status_reason = judge_skill(after)
    transaction.change(
        arms_table,
        {"arm_id": arm["arm_id"]},
        artifact=after,
        status=status,
        status_reason=status_reason,
        artifact_hash=artifact["artifact_hash"],
        updated_at=format_iso(transaction.now),
    )
    decision_log.record_decision(
        transaction, principal.tenant_id, "registry_action", "changed", "arm", arm["arm_id"], principal.key_id
    )


def next_version(version: str, proposal_id: str) -> str:
    """Return the version of a repaired skill: the next number, or the old name plus the proposal's id."""
    if version.isascii() and version.isdecimal() and len(version) < 10:
        return str(int(version) + 1)
    return f"{version.partition('+prop_')[0][:140]}+{proposal_id}"


def status_of(row: Row, now: str) -> str:
    status: str = row["status"]
    return "expired" if status == "pending" and row["expires_at"] < now else status


def visible_json(transaction: Transaction, row: Row, role: str) -> dict[str, Any]:
    """Build a proposal for a role, with change and evidence only if the role may decide.

    ``candidate_artifact_id``, the hash of the text that an approval installs, is not in the specification.
    """
    members = SHORT + _CONTENT if permits(role, MANAGE) else SHORT
    shown = proposal_json(row, members, format_iso(transaction.now))
    artifact = transaction.one(proposal_artifacts_table, {"proposal_id": row["proposal_id"]})
    return {**shown, "candidate_artifact_id": artifact and artifact["artifact_hash"]}


def within(transaction: Transaction, tenant_id: str, since: str, before: str) -> Sequence[Row]:
    """Return proposals of an organization created from ``since`` until before ``before``, newest first."""
    mine = {"tenant_id": tenant_id}
    return transaction.newest(proposals_table, mine, since=("created_at", since), until=("created_at", before))


def proposal_json(row: Row, members: str, now: str) -> dict[str, Any]:
    # Without a decision this is null, as for an expired proposal.
    decision = None if row["decided_at"] is None else row["status"]
    return {**pick(row, members), "status": status_of(row, now), "decision": decision}
