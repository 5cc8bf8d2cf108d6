"""Repair proposals: changes of a skill that the user approves or rejects (manual: interface, "Proposals")."""

from __future__ import annotations

from runwatch.records.record import Record, Wire, amount, anything, mapping, moment, text


class Proposal(Record):
    """A change of a skill's editable regions, with the evidence of the check; it holds no task output."""

    KIND = "proposal"
    WIRE = Wire("/v1/proposals", "proposals", "proposal_id", paged=True, filters=("status", "arm_id"))

    proposal_id = text("proposal_id")
    status = text("status")
    decision = text("decision")
    decided_by = text("decided_by")
    decided_at = moment("decided_at")
    reason = text("reason")
    execution_id = text("execution_id")
    slice_id = text("slice_id")
    arm_id = text("arm_id")
    parent_artifact_id = text("parent_artifact_id")
    parent_score = amount("parent_score")
    candidate_score = amount("candidate_score")
    candidate_artifact_id = text("candidate_artifact_id")
    diff = anything("diff")
    verifier_evidence = mapping("verifier_evidence")
    created_at = moment("created_at")
    expires_at = moment("expires_at")
