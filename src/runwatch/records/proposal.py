"""Repair proposals: changes of a skill that the user approves or rejects (manual: interface, "Proposals")."""

from __future__ import annotations

from runwatch.records.record import Record, Wire, amount, anything, mapping, moment, text


class Proposal(Record):
    """A change of a skill's editable regions, with the evidence of the check; it holds no task output."""

    KIND = "proposal"
    WIRE = Wire("/v1/proposals", "proposals", "proposal_id", paged=True, filters=("status", "arm_id"))

    proposal_id = text()
    status = text()
    decision = text()
    decided_by = text()
    decided_at = moment()
    reason = text()
    execution_id = text()
    slice_id = text()
    arm_id = text()
    parent_artifact_id = text()
    parent_score = amount()
    candidate_score = amount()
    candidate_artifact_id = text()
    diff = anything()
    verifier_evidence = mapping()
    created_at = moment()
    expires_at = moment()
