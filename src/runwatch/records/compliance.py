"""Compliance export: receipts, usage and decisions of a period (manual: interface, "Evaluation summary and compliance
export").
"""

from __future__ import annotations

from runwatch.records.record import Record, Wire, many, mapping, moment, one, text
from runwatch.records.usage import Period, UsageTotals


class DecisionResource(Record):
    type = text()
    id = text()  # type: ignore[assignment]


class Decision(Record):
    decision_id = text()
    kind = text()
    action = text()
    resource = one(DecisionResource)
    acted_by = text()
    at = moment()
    proposal = mapping()


class Attestation(Record):
    """Digest of the export; the service does not define which bytes it covers."""

    algorithm = text()
    digest = text()


class ComplianceExport(Record):
    """Data for an auditor; the receipts hold no content."""

    KIND = "compliance_export"
    WIRE = Wire("/v1/compliance-export", "", "")

    schema_version = text()
    period = one(Period)
    content_policy = mapping()
    receipts_ndjson = text()
    usage_totals = one(UsageTotals)
    decision_log = many(Decision)
    attestation = one(Attestation)
