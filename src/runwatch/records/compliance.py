"""The compliance export: receipts, usage and decisions of a period (wire reference 2.12)."""

from __future__ import annotations

from runwatch.records.record import Record, Wire, many, mapping, moment, one, text
from runwatch.records.usage import Period, UsageTotals


class DecisionResource(Record):
    """What a decision was about."""

    type = text("type")
    id = text("id")  # type: ignore[assignment]


class Decision(Record):
    """One decision that somebody took."""

    decision_id = text("decision_id")
    kind = text("kind")
    action = text("action")
    resource = one(DecisionResource, "resource")
    acted_by = text("acted_by")
    at = moment("at")
    proposal = mapping("proposal")


class Attestation(Record):
    """A digest of the export; which bytes it covers is the service's own affair (wire reference 2.12)."""

    algorithm = text("algorithm")
    digest = text("digest")


class ComplianceExport(Record):
    """Everything an auditor asks for; receipts are content-free."""

    KIND = "compliance_export"
    WIRE = Wire("/v1/compliance-export", "", "")

    schema_version = text("schema_version")
    period = one(Period, "period")
    content_policy = mapping("content_policy")
    receipts_ndjson = text("receipts_ndjson")
    usage_totals = one(UsageTotals, "usage_totals")
    decision_log = many(Decision, "decision_log")
    attestation = one(Attestation, "attestation")
