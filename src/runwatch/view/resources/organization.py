"""Proposals, API keys, usage, verdicts and the compliance export."""

from __future__ import annotations

from typing import Any, Final

from runwatch.records.api_key import ApiKey
from runwatch.records.compliance import ComplianceExport, Decision
from runwatch.records.evaluation import DayEvaluation, EvalSummary
from runwatch.records.proposal import Proposal
from runwatch.records.usage import ArmUsage, DayUsage, KeyUsage, Usage, UsageTotals
from runwatch.view.actions.organization import KEY_ACTIONS, KEY_MAKES, PROPOSAL_ACTIONS
from runwatch.view.spec.resource import Column, Field, MemberLine, RecordLink, ResourceSpec, SectionSpec, SortKey
from runwatch.view.text.format import RenderContext
from runwatch.view.text.member_format import detail_time, detail_usd, id_cell, newest_first_key, time_cell
from runwatch.view.text.safe_text import block, json_text, line, plain_decimal
from runwatch.view.text.status_format import detail_status, status_cell
from runwatch.view.text.styled_text import CellText


def _is_pending(proposal: Proposal) -> bool:
    return proposal.status == "pending"


def _score(value: Any, _: RenderContext) -> CellText:
    return line(plain_decimal(value))


def _as_text(value: object, _: RenderContext) -> CellText:
    """Format text on as many lines as it has, anything else as sent."""
    return block(value if isinstance(value, str) else json_text(value))


PROPOSALS: Final[ResourceSpec[Any]] = ResourceSpec[Proposal](
    record=Proposal,
    name="proposals",
    singular="proposal",
    title="Repair proposals",
    list_summary="list proposed repairs of skills",
    show_summary="show a proposal with its change and evidence",
    columns=(
        Column(
            id="status", title="status", value=lambda it: it.status,
            cell=lambda it, context: status_cell(it.status, context), server_parameter="status", min_cells=10,
        ),
        Column(
            id="proposal", title="proposal", aliases=("id", "proposal_id"), value=lambda it: it.id, min_cells=9,
            elides_middle=True,
        ),
        Column(
            id="arm", title="arm", aliases=("arm_id",), value=lambda it: it.arm_id, format=id_cell,
            server_parameter="arm_id", hide_order=5, min_cells=9, elides_middle=True,
        ),
        Column(
            id="before", title="before", aliases=("parent_score",), value=lambda it: it.parent_score, format=_score,
            align="right", hide_order=4, min_cells=6,
        ),
        Column(
            id="after", title="after", aliases=("candidate_score",), value=lambda it: it.candidate_score, format=_score,
            align="right", hide_order=6, min_cells=5,
        ),
        Column(
            id="created", title="created", aliases=("created_at",), value=lambda it: it.created_at, format=time_cell,
            never_cut=True, hide_order=3, sort_key=lambda it: newest_first_key(it.created_at),
        ),
        Column(
            id="run", title="run", aliases=("execution_id",), value=lambda it: it.execution_id, format=id_cell,
            hide_order=2, min_cells=9, elides_middle=True,
        ),
        Column(
            id="by", title="decided by", aliases=("decided_by",), value=lambda it: it.decided_by, hide_order=1,
            min_cells=12,
        ),
    ),
    sections=(
        SectionSpec(
            "Proposal",
            (
                MemberLine("proposal_id"), MemberLine("status", format=detail_status), MemberLine("arm_id"),
                MemberLine("execution_id"), MemberLine("slice_id"), MemberLine("parent_score"),
                MemberLine("candidate_score"), MemberLine("parent_artifact_id"),
                MemberLine("created_at", format=detail_time), MemberLine("expires_at", format=detail_time),
            ),
        ),
        SectionSpec("Change", (MemberLine("diff", format=_as_text),)),
        SectionSpec("Evidence", (MemberLine("verifier_evidence"),)),
        SectionSpec(
            "Decision",
            (
                MemberLine("decision"), MemberLine("decided_by"), MemberLine("decided_at", format=detail_time),
                MemberLine("reason"),
            ),
        ),
    ),
    sort=(SortKey("created"),),
    empty="No proposals. A run with the reaction repair_retry makes one when a repaired skill passes its check.",
    flags={"pending": _is_pending, "final": lambda it: it.status in {"approved", "rejected", "expired"}},
    actions=PROPOSAL_ACTIONS,
    links=(RecordLink("run", "run", lambda it: it.execution_id), RecordLink("arm", "arm", lambda it: it.arm_id)),
)  # fmt: skip

KEYS: Final[ResourceSpec[Any]] = ResourceSpec[ApiKey](
    record=ApiKey,
    name="keys",
    singular="key",
    title="API keys",
    list_summary="list the organization's API keys, never in full",
    columns=(
        Column(
            id="status", title="status", value=lambda it: it.status,
            cell=lambda it, context: status_cell(it.status, context), min_cells=9,
        ),
        Column(id="name", title="name", aliases=("display_name",), value=lambda it: it.display_name, min_cells=10),
        Column(id="key", title="key", aliases=("id", "api_key_id"), value=lambda it: it.id, min_cells=9),
        Column(
            id="prefix", title="begins with", aliases=("key_prefix",), value=lambda it: it.key_prefix, hide_order=5,
            min_cells=11,
        ),
        Column(id="role", title="role", value=lambda it: it.role, hide_order=4, min_cells=6),
        Column(
            id="created", title="created", aliases=("created_at",), value=lambda it: it.created_at, format=time_cell,
            never_cut=True, hide_order=1, sort_key=lambda it: newest_first_key(it.created_at),
        ),
        Column(
            id="used", title="last used", aliases=("last_used_at",), value=lambda it: it.last_used_at, format=time_cell,
            never_cut=True, hide_order=3, hide_if_empty=True, sort_key=lambda it: newest_first_key(it.last_used_at),
        ),
        Column(
            id="expires", title="expires", aliases=("expires_at",), value=lambda it: it.expires_at, format=time_cell,
            never_cut=True, hide_order=2, hide_if_empty=True, sort_key=lambda it: newest_first_key(it.expires_at),
        ),
    ),
    fields=(
        Field(id="revoked", aliases=("revoked_at",), value=lambda it: it.revoked_at),
        Field(id="by", aliases=("revoked_by",), value=lambda it: it.revoked_by),
    ),
    sections=(
        SectionSpec(
            "API key",
            (
                MemberLine("api_key_id"), MemberLine("display_name"), MemberLine("key_prefix"), MemberLine("role"),
                MemberLine("status", format=detail_status), MemberLine("created_at", format=detail_time),
                MemberLine("last_used_at", format=detail_time), MemberLine("expires_at", format=detail_time),
                MemberLine("revoked_at", format=detail_time), MemberLine("revoked_by"),
            ),
        ),
        SectionSpec("Shown once", (MemberLine("key"),)),
    ),
    sort=(SortKey("created"),),
    empty="The service lists no API keys.",
    note="A key is shown once, when it is made.",
    flags={"active": lambda it: it.status == "active", "off": lambda it: it.status == "revoked"},
    actions=KEY_ACTIONS,
    create_actions=KEY_MAKES,
)  # fmt: skip

_TOTALS: Final = tuple(
    MemberLine(name, format=detail_usd if name.endswith("usd") else None) for name in UsageTotals.MEMBERS
)

USAGE: Final[ResourceSpec[Any]] = ResourceSpec[Usage](
    record=Usage,
    name="usage",
    singular="usage",
    title="Usage",
    columns=(Column(id="executions", title="runs", value=lambda it: (it.totals or UsageTotals({})).executions),),
    sections=(
        SectionSpec("Period", (MemberLine("period.from", "from"), MemberLine("period.to", "to"))),
        SectionSpec(
            "Totals",
            tuple(
                MemberLine(f"totals.{name}", name, detail_usd if name.endswith("usd") else None)
                for name in UsageTotals.MEMBERS
            ),
        ),
        SectionSpec(
            "Arm",
            (
                MemberLine("arm_id"), MemberLine("usd", format=detail_usd), MemberLine("selected_count"),
                MemberLine("fallback_count"), MemberLine("input_tokens"), MemberLine("output_tokens"),
            ),
            each="by_arm",
            item=ArmUsage,
            names="arm_id",
        ),
        SectionSpec(
            "Key", (MemberLine("api_key_id"), *_TOTALS, MemberLine("top_arms"), MemberLine("by_day")), each="by_key",
            item=KeyUsage, names="api_key_id",
        ),
        SectionSpec(
            "Day",
            (
                MemberLine("date"), MemberLine("executions"), MemberLine("usd", format=detail_usd),
                MemberLine("platform_usd", format=detail_usd), MemberLine("passthrough_usd", format=detail_usd),
            ),
            each="by_day",
            item=DayUsage,
            names="date",
        ),
    ),
)  # fmt: skip
"""Usage. It is only printed and has no screen."""

EVALS: Final[ResourceSpec[Any]] = ResourceSpec[EvalSummary](
    record=EvalSummary,
    name="evals",
    singular="summary",
    title="Verdicts of output checks",
    columns=(Column(id="days", title="days", value=lambda it: len(it.pass_rate_trend or ())),),
    sections=(
        SectionSpec("Window", (MemberLine("window.from", "from"), MemberLine("window.to", "to"))),
        SectionSpec(
            "Day", tuple(MemberLine(name) for name in DayEvaluation.MEMBERS), each="pass_rate_trend",
            item=DayEvaluation, names="day",
        ),
        SectionSpec(
            "Repair", tuple(MemberLine(name) for name in Proposal.MEMBERS), each="repair_history", item=Proposal,
            names="proposal_id",
        ),
    ),
    note="A technical failure is no verdict and counts in no pass rate.",
)  # fmt: skip
"""The summary of verdicts. It is only printed and has no screen."""

COMPLIANCE: Final[ResourceSpec[Any]] = ResourceSpec[ComplianceExport](
    record=ComplianceExport,
    name="exports",
    singular="export",
    title="Compliance export",
    columns=(Column(id="digest", title="digest", value=lambda it: it.attestation and it.attestation.digest),),
    sections=(
        SectionSpec(
            "Export",
            (
                MemberLine("schema_version"), MemberLine("period"), MemberLine("content_policy"),
                MemberLine("attestation.algorithm", "algorithm"), MemberLine("attestation.digest", "digest"),
            ),
        ),
        SectionSpec(
            "Totals",
            tuple(
                MemberLine(f"usage_totals.{name}", name, detail_usd if name.endswith("usd") else None)
                for name in UsageTotals.MEMBERS
            ),
        ),
        SectionSpec(
            "Decision",
            (
                MemberLine("decision_id"), MemberLine("kind"), MemberLine("action"),
                MemberLine("resource.type", "resource"), MemberLine("resource.id", "id"), MemberLine("acted_by"),
                MemberLine("at", format=detail_time),
            ),
            each="decision_log",
            item=Decision,
            names="decision_id",
        ),
        SectionSpec("Receipts", (MemberLine("receipts_ndjson", format=_as_text),)),
    ),
)  # fmt: skip
"""The compliance export. It is only printed and has no screen."""
