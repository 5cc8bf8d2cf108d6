"""Proposals, API keys, usage, verdicts and the compliance export."""

from __future__ import annotations

from typing import Any, Final

from runwatch.records.api_key import ApiKey
from runwatch.records.arm import Arm
from runwatch.records.compliance import ComplianceExport, Decision
from runwatch.records.evaluation import DayEvaluation, EvalSummary
from runwatch.records.proposal import Proposal
from runwatch.records.record import Record
from runwatch.records.usage import ArmUsage, DayUsage, KeyUsage, Usage, UsageTotals
from runwatch.view.actions.organization import KEY_ACTIONS, KEY_MAKES, PROPOSAL_ACTIONS
from runwatch.view.detail.sections import DetailLine, DetailSection, build_sections
from runwatch.view.spec.members import column, fields, id_column, member_lines, status_column, time_column
from runwatch.view.spec.resource import (
    ComputedLine,
    DetailTab,
    MemberLine,
    RecordLink,
    ResourceSpec,
    SectionSpec,
    SortKey,
)
from runwatch.view.text.format import RenderContext
from runwatch.view.text.glyphs import Role
from runwatch.view.text.member_format import arm_cell, id_cell
from runwatch.view.text.safe_text import SafeText, block, json_text, line, plain_decimal
from runwatch.view.text.styled_text import CellText


def _score(value: Any, _: RenderContext) -> CellText:
    return line(plain_decimal(value))


def _as_text(value: object, _: RenderContext) -> SafeText:
    """Format text on as many lines as it has, anything else as sent."""
    return block(value if isinstance(value, str) else json_text(value))


def _optional_lines(names: str) -> tuple[ComputedLine, ...]:
    """Declare a line for each count or name that only some services send; it is left out where there is none."""

    def declare(name: str) -> ComputedLine:
        def draw(_: Any, item: Record, __: RenderContext) -> CellText | None:
            value = item.raw.get(name)
            return line(value) if isinstance(value, (int, str)) and not isinstance(value, bool) else None

        return ComputedLine(name, draw, lambda _: name)

    return tuple(map(declare, names.split()))


def _change_sections(proposal: Proposal, context: RenderContext) -> list[DetailSection]:
    """Return what a decision needs and a list of proposals leaves out: the change, and what the check said of it."""
    if proposal.diff is None and proposal.verifier_evidence is None:
        said = line("The service shows the change only to those who may decide.")
        return [DetailSection(line(""), (DetailLine(line(""), said, Role.QUIET),))]
    roles = {"+": Role.GOOD, "-": Role.BAD}
    change = tuple(
        DetailLine(line(""), line(text, None), roles.get(text[:1], Role.QUIET))
        for text in ([] if proposal.diff is None else _as_text(proposal.diff, context).splitlines())
    )
    evidence = [section for section in build_sections(PROPOSALS, proposal, context) if section.title == "Evidence"]
    return [*([DetailSection(line("Change"), change)] if change else []), *evidence]


PROPOSALS: Final[ResourceSpec[Any]] = ResourceSpec[Proposal](
    record=Proposal,
    name="proposals",
    singular="proposal",
    title="Repair proposals",
    list_summary="list proposed repairs of skills",
    show_summary="show a proposal with its change and evidence",
    columns=(
        status_column("status", server_parameter="status", min_cells=10),
        id_column("proposal|id|proposal_id=id"),
        column(
            "arm|arm_id", title="saved model", format=arm_cell, server_parameter="arm_id", hide_order=5, min_cells=11,
            elides_middle=True, is_pure=False,
        ),
        column("before|parent_score", format=_score, align="right", hide_order=4, min_cells=6),
        column("after|candidate_score", format=_score, align="right", hide_order=6, min_cells=5),
        time_column("created|created_at", hide_order=3),
        id_column("run|execution_id", format=id_cell, hide_order=2),
        column("by|decided_by", title="decided by", hide_order=1, min_cells=12),
    ),
    sections=(
        SectionSpec("Proposal", member_lines(
            "proposal_id status:status arm_id execution_id slice_id parent_score candidate_score parent_artifact_id "
            "created_at:time expires_at:time"
        )),
        SectionSpec("Change", (MemberLine("diff", format=_as_text),)),
        SectionSpec("Evidence", member_lines("verifier_evidence")),
        SectionSpec("Decision", member_lines("decision decided_by decided_at:time reason")),
    ),
    sort=(SortKey("created"),),
    empty="No proposals. A run with the reaction repair_retry makes one when a repaired skill passes its check.",
    flags={
        "pending": lambda it: it.status == "pending",
        "final": lambda it: it.status in {"approved", "rejected", "expired"},
    },
    named_kinds=(Arm,),
    actions=PROPOSAL_ACTIONS,
    links=(
        RecordLink("run", "run", lambda it: it.execution_id),
        RecordLink("saved model", "arm", lambda it: it.arm_id),
    ),
    tabs=(DetailTab("change", "Change", "getProposalsByProposalId", Proposal, _change_sections),),
)  # fmt: skip

KEYS: Final[ResourceSpec[Any]] = ResourceSpec[ApiKey](
    record=ApiKey,
    name="keys",
    singular="API key",
    name_of=lambda it: it.display_name,
    title="API keys",
    list_summary="list the organization's API keys, never in full",
    columns=(
        status_column("status", min_cells=9),
        column("name|display_name", min_cells=16, whole_first=True),
        id_column("key|id|api_key_id=id"),
        id_column("prefix|key_prefix", title="begins with", hide_order=2, whole_first=False),
        column("role", hide_order=4, min_cells=6),
        time_column("created|created_at", hide_order=1),
        time_column("used|last_used_at", title="last used", hide_order=3, hide_if_empty=True),
        time_column("expires|expires_at", hide_order=5, hide_if_empty=True),
    ),
    fields=fields("revoked|revoked_at by|revoked_by"),
    sections=(
        SectionSpec("API key", member_lines(
            "api_key_id display_name key_prefix role status:status created_at:time last_used_at:time expires_at:time "
            "revoked_at:time revoked_by"
        )),
        SectionSpec("Shown once", member_lines("key")),
    ),
    sort=(SortKey("created"),),
    empty="The service lists no API keys.",
    note="A key is shown once, when it is made.",
    flags={"active": lambda it: it.status == "active", "off": lambda it: it.status == "revoked"},
    actions=KEY_ACTIONS,
    create_actions=KEY_MAKES,
)  # fmt: skip

_TOTALS: Final = " ".join(f"{name}:usd" if name.endswith("usd") else name for name in UsageTotals.MEMBERS)
"""The members of the totals of a usage report, for :func:`member_lines`."""

USAGE: Final[ResourceSpec[Any]] = ResourceSpec[Usage](
    record=Usage,
    name="usage",
    singular="usage",
    title="Usage",
    columns=(column("executions=totals.executions", title="runs", value_type="number"),),
    sections=(
        SectionSpec("Period", member_lines("from to", under="period")),
        SectionSpec("Totals", member_lines(_TOTALS, under="totals")),
        SectionSpec(
            "Saved model",
            (
                *member_lines("arm_id"), *_optional_lines("display_name connection_name"),
                *member_lines("usd:usd selected_count fallback_count input_tokens output_tokens"),
                *_optional_lines("unknown_calls unknown_token_calls estimated_calls"),
            ),
            each="by_arm", item=ArmUsage, names="arm_id",
        ),
        SectionSpec(
            "Key",
            (
                *member_lines("api_key_id"), *_optional_lines("display_name"),
                *member_lines(f"{_TOTALS} top_arms by_day"),
            ),
            each="by_key", item=KeyUsage, names="api_key_id",
        ),
        SectionSpec(
            "Day",
            (
                *member_lines("date executions usd:usd platform_usd:usd passthrough_usd:usd"),
                *_optional_lines("unknown_calls estimated_calls"),
            ),
            each="by_day", item=DayUsage, names="date",
        ),
    ),
)  # fmt: skip
"""Usage. It is only printed and has no screen."""

EVALS: Final[ResourceSpec[Any]] = ResourceSpec[EvalSummary](
    record=EvalSummary,
    name="evals",
    singular="summary",
    title="Verdicts of output checks",
    columns=(column("days", lambda it: len(it.pass_rate_trend or ()), value_type="number"),),
    sections=(
        SectionSpec("Window", member_lines("from to", under="window")),
        SectionSpec(
            "Day", member_lines(" ".join(DayEvaluation.MEMBERS)), each="pass_rate_trend", item=DayEvaluation,
            names="day",
        ),
        SectionSpec(
            "Repair", member_lines(" ".join(Proposal.MEMBERS)), each="repair_history", item=Proposal,
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
    columns=(column("digest=attestation.digest"),),
    sections=(
        SectionSpec(
            "Export",
            (
                *member_lines("schema_version period content_policy"),
                *member_lines("algorithm digest", under="attestation"),
            ),
        ),
        SectionSpec("Totals", member_lines(_TOTALS, under="usage_totals")),
        SectionSpec(
            "Decision",
            (
                *member_lines("decision_id kind action"), MemberLine("resource.type", "resource"),
                MemberLine("resource.id", "id"), *member_lines("acted_by at:time"),
            ),
            each="decision_log", item=Decision, names="decision_id",
        ),
        SectionSpec("Receipts", (MemberLine("receipts_ndjson", format=_as_text),)),
    ),
)  # fmt: skip
"""The compliance export. It is only printed and has no screen."""
