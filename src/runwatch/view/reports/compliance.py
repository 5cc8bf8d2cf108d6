"""The compliance export: its contents, its decision log, the check of its digest, and its file.

The export is the service's own statement; the file contains exactly what was sent (manual: interface, "Evaluation
summary and compliance export").
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from runwatch.base.json import dumps
from runwatch.records.api_key import ApiKey
from runwatch.records.arm import Arm
from runwatch.records.compliance import Attestation, ComplianceExport, Decision, DecisionResource
from runwatch.records.proposal import Proposal
from runwatch.records.run import Run
from runwatch.records.usage import Period, UsageTotals
from runwatch.records.verifier import Verifier
from runwatch.view.detail.sections import DetailLine, DetailSection, text_line
from runwatch.view.reports.usage import other_member_sections
from runwatch.view.text.format import RenderContext, estimated, grouped_number, short_id, spent_amount
from runwatch.view.text.glyphs import Role
from runwatch.view.text.member_format import time_cell
from runwatch.view.text.safe_text import fit, json_text, line
from runwatch.view.text.styled_text import StyledText, signed

KINDS: Final[Mapping[str, str]] = {
    "proposal": Proposal.KIND,
    "execution": Run.KIND,
    "api_key": ApiKey.KIND,
    "arm": Arm.KIND,
    "verifier": Verifier.KIND,
}
"""The record kind for each resource type of a decision."""

NOUNS: Final[Mapping[str, str]] = {
    "execution": "run",
    "api_key": "API key",
    "arm": "saved model",
    "verifier": "output check",
}
"""What a resource type is called on screen, where that differs."""

DIGEST_MATCHES: Final = "the attested digest is the SHA-256 of receipts_ndjson, checked by runwatch"
NO_DECISION_LOG: Final = "the answer has no decision log"
DIGEST_DIFFERS: Final = "the attested digest is not the SHA-256 of receipts_ndjson; the service may attest other bytes"


def digest_agrees(exported: ComplianceExport) -> bool | None:
    """Whether the attested digest matches the receipts; ``None`` if it cannot be checked.

    The specification does not say which bytes are attested, so a different digest does not prove an error.
    """
    attestation, receipts = exported.attestation, exported.receipts_ndjson
    if attestation is None or attestation.digest is None or attestation.algorithm != "sha256" or receipts is None:
        return None
    digest = hashlib.sha256(receipts.encode("utf-8", "surrogatepass")).hexdigest()
    return attestation.digest.lower().removeprefix("sha256:") == digest


def export_text(exported: ComplianceExport) -> str:
    """Return the export as a file: exactly what was sent, indented."""
    return dumps(dict(exported.raw), indent=2) + "\n"


def count_receipts(exported: ComplianceExport) -> int | None:
    """Return the number of receipts in the export; ``None`` if it has no receipts text."""
    text = exported.receipts_ndjson
    return None if text is None else sum(1 for row in text.split("\n") if row.strip())


def summary_sections(exported: ComplianceExport, context: RenderContext) -> list[DetailSection]:
    period, totals = exported.period or Period({}), exported.usage_totals or UsageTotals({})
    start, end = (day or context.glyphs.unknown for day in (period.start, period.end))
    log = exported.decision_log
    known = spent_amount(totals.usd, totals.unknown_calls, is_exact=True)
    spend = line(context.glyphs.unknown) if totals.usd is None else known
    spend = estimated(spend, is_estimated=bool(totals.estimated_calls))
    policy = exported.content_policy or {}
    return [
        DetailSection(
            line("Export"),
            (
                text_line("period", f"{start} to {end}, days in UTC"),
                DetailLine(line("receipts"), grouped_number(count_receipts(exported))),
                DetailLine(line("decisions"), line(NO_DECISION_LOG) if log is None else grouped_number(len(log))),
                *_kind_lines(log or (), context),
                DetailLine(line("runs"), grouped_number(totals.executions)),
                text_line("spend", spend),
                text_line("format", exported.schema_version),
                *(text_line(f"{name} are", json_text(said)) for name, said in policy.items()),
                *_digest(exported, context),
            ),
        ),
        *other_member_sections(exported),
    ]


def _kind_lines(log: Sequence[Decision], context: RenderContext) -> list[DetailLine]:
    """Return how many decisions there are of each kind; not as labels, which leave no room beside them where narrow."""
    kinds = sorted(Counter(decision.kind or context.glyphs.unknown for decision in log).items())
    cells = max((len(grouped_number(number)) for _, number in kinds), default=0)
    return [text_line("", f"{fit(grouped_number(number), cells, 'right')}  {kind}") for kind, number in kinds]


def decision_sections(exported: ComplianceExport, context: RenderContext) -> list[DetailSection]:
    """Return the decision log, newest first. Each line links to the resource of the decision."""
    listed = exported.decision_log
    if not listed:
        said = (
            f"{NO_DECISION_LOG[0].upper()}{NO_DECISION_LOG[1:]}." if listed is None else "No decisions in this period."
        )
        return [DetailSection(line(""), (text_line("", said, Role.QUIET),))]
    ordered = sorted(listed, key=lambda one: str(one.raw.get("at") or ""), reverse=True)
    return [DetailSection(line(""), tuple(_decision(decision, context) for decision in ordered))]


def _decision(one: Decision, context: RenderContext) -> DetailLine:
    resource = one.resource or DecisionResource({})
    kind, named = KINDS.get(resource.type or ""), resource.raw.get("id")
    record_id = named if isinstance(named, str) else None
    by = "by the service itself" if one.acted_by is None else f"by {short_id(one.acted_by, context.glyphs)}"
    type = resource.type or ""
    noun = NOUNS.get(type, type)
    what = f"{one.action or context.glyphs.unknown} {noun} {short_id(record_id, context.glyphs)}"
    target = (kind, record_id) if kind is not None and record_id else None
    when = line(json_text(one.raw.get("at"))) if one.at is None else time_cell(one.at, context)
    role = {"approved": Role.GOOD, "rejected": Role.OFF, "revoked": Role.WARN}.get(one.action or "", Role.PLAIN)
    return DetailLine(when, line(f"{what}  {by}", None), role, target=target)


def _digest(exported: ComplianceExport, context: RenderContext) -> tuple[DetailLine, DetailLine]:
    said = {
        True: signed(DIGEST_MATCHES, Role.GOOD, context.glyphs),
        False: signed(DIGEST_DIFFERS, Role.WARN, context.glyphs),
        None: StyledText(line("the export attests nothing that runwatch can check"), Role.QUIET),
    }[digest_agrees(exported)]
    digest = (exported.attestation or Attestation({})).digest
    return DetailLine(line("digest"), line(digest, None)), DetailLine(line(""), said.text, said.role)
