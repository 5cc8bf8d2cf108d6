"""Compliance export: receipts, usage and decisions of a period (manual: interface, "Evaluation summary and compliance
export").
"""

from __future__ import annotations

from runwatch.records.record import Record, Wire, many, mapping, moment, one, text
from runwatch.records.usage import Period, UsageTotals


class DecisionResource(Record):
    type = text("type")
    id = text("id")  # type: ignore[assignment]


class Decision(Record):
    decision_id = text("decision_id")
    kind = text("kind")
    action = text("action")
    resource = one(DecisionResource, "resource")
    acted_by = text("acted_by")
    at = moment("at")
    proposal = mapping("proposal")


class Attestation(Record):
    """Digest of the export; the service does not define which bytes it covers."""

    algorithm = text("algorithm")
    digest = text("digest")


class ComplianceExport(Record):
    """Data for an auditor; the receipts hold no content."""

    KIND = "compliance_export"
    WIRE = Wire("/v1/compliance-export", "", "")

    schema_version = text("schema_version")
    period = one(Period, "period")
    content_policy = mapping("content_policy")
    receipts_ndjson = text("receipts_ndjson")
    usage_totals = one(UsageTotals, "usage_totals")
    decision_log = many(Decision, "decision_log")
    attestation = one(Attestation, "attestation")
