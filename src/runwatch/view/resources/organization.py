"""Proposals, API keys, usage, verdicts and the compliance export."""

from __future__ import annotations

from typing import Any, Final

from runwatch.records.apikey import ApiKey
from runwatch.records.compliance import ComplianceExport, Decision
from runwatch.records.evaluation import DayEvaluation, EvalSummary
from runwatch.records.proposal import Proposal
from runwatch.records.usage import ArmUsage, DayUsage, KeyUsage, Usage, UsageTotals
from runwatch.view.drawn import block, decimal_text, json_text, line
from runwatch.view.format import Context
from runwatch.view.resource import At, Column, Field, Link, ResourceSpec, SectionSpec, Shown, SortKey
from runwatch.view.resources.common import as_moment, as_usd, elided, newest_first, when
from runwatch.view.resources.standing import as_standing, standing
from runwatch.view.writes.organization import KEY_ACTIONS, KEY_MAKES, PROPOSAL_ACTIONS


def _is_pending(proposal: Proposal) -> bool:
    return proposal.status == "pending"


def _score(value: Any, _: Context) -> Shown:
    return line(decimal_text(value))


def _as_text(value: object, _: Context) -> Shown:
    """A text on as many lines as it has; anything else as it came."""
    return block(value if isinstance(value, str) else json_text(value))


PROPOSALS: Final[ResourceSpec[Any]] = ResourceSpec[Proposal](
    record=Proposal,
    name="proposals",
    singular="proposal",
    title="Repair proposals",
    list_summary="list proposed repairs of skills",
    show_summary="show a proposal with its change and evidence",
    columns=(
        Column(id="status", title="status", value=lambda it: it.status,
               cell=lambda it, context: standing(it.status, context), server="status", least=10),
        Column(id="proposal", title="proposal", aliases=("id", "proposal_id"), value=lambda it: it.id, least=9,
               keeps_ends=True),
        Column(id="arm", title="arm", aliases=("arm_id",), value=lambda it: it.arm_id, format=elided, server="arm_id",
               leaves=5, least=9, keeps_ends=True),
        Column(id="before", title="before", aliases=("parent_score",), value=lambda it: it.parent_score,
               format=_score, align="right", leaves=4, least=6),
        Column(id="after", title="after", aliases=("candidate_score",), value=lambda it: it.candidate_score,
               format=_score, align="right", leaves=6, least=5),
        Column(id="created", title="created", aliases=("created_at",), value=lambda it: it.created_at,
               format=when, is_whole=True, leaves=3, sort_key=lambda it: newest_first(it.created_at)),
        Column(id="run", title="run", aliases=("execution_id",), value=lambda it: it.execution_id, format=elided,
               leaves=2, least=9, keeps_ends=True),
        Column(id="by", title="decided by", aliases=("decided_by",), value=lambda it: it.decided_by, leaves=1,
               least=12),
    ),
    sections=(
        SectionSpec(
            "Proposal",
            (
                At("proposal_id"), At("status", format=as_standing), At("arm_id"), At("execution_id"), At("slice_id"),
                At("parent_score"), At("candidate_score"), At("parent_artifact_id"),
                At("created_at", format=as_moment), At("expires_at", format=as_moment),
            ),
        ),
        SectionSpec("Change", (At("diff", format=_as_text),)),
        SectionSpec("Evidence", (At("verifier_evidence"),)),
        SectionSpec(
            "Decision", (At("decision"), At("decided_by"), At("decided_at", format=as_moment), At("reason"))
        ),
    ),
    sort=(SortKey("created"),),
    empty="No proposals. A run with the reaction repair_retry makes one when a repaired skill passes its check.",
    flags={
        "pending": _is_pending,
        "final": lambda it: it.status in {"approved", "rejected", "expired"},
    },
    actions=PROPOSAL_ACTIONS,
    links=(Link("run", "run", lambda it: it.execution_id), Link("arm", "arm", lambda it: it.arm_id)),
)  # fmt: skip

KEYS: Final[ResourceSpec[Any]] = ResourceSpec[ApiKey](
    record=ApiKey,
    name="keys",
    singular="key",
    title="API keys",
    list_summary="list the organization's API keys, never in full",
    columns=(
        Column(id="status", title="status", value=lambda it: it.status,
               cell=lambda it, context: standing(it.status, context), least=9),
        Column(id="name", title="name", aliases=("display_name",), value=lambda it: it.display_name, least=10),
        Column(id="key", title="key", aliases=("id", "api_key_id"), value=lambda it: it.id, least=9),
        Column(id="prefix", title="begins with", aliases=("key_prefix",), value=lambda it: it.key_prefix, leaves=5,
               least=11),
        Column(id="role", title="role", value=lambda it: it.role, leaves=4, least=6),
        Column(id="created", title="created", aliases=("created_at",), value=lambda it: it.created_at,
               format=when, is_whole=True, leaves=1, sort_key=lambda it: newest_first(it.created_at)),
        Column(id="used", title="last used", aliases=("last_used_at",), value=lambda it: it.last_used_at,
               format=when, is_whole=True, leaves=3, only_used=True, sort_key=lambda it: newest_first(it.last_used_at)),
        Column(id="expires", title="expires", aliases=("expires_at",), value=lambda it: it.expires_at,
               format=when, is_whole=True, leaves=2, only_used=True, sort_key=lambda it: newest_first(it.expires_at)),
    ),
    fields=(
        Field(id="revoked", aliases=("revoked_at",), value=lambda it: it.revoked_at),
        Field(id="by", aliases=("revoked_by",), value=lambda it: it.revoked_by),
    ),
    sections=(
        SectionSpec(
            "API key",
            (
                At("api_key_id"), At("display_name"), At("key_prefix"), At("role"), At("status", format=as_standing),
                At("created_at", format=as_moment), At("last_used_at", format=as_moment),
                At("expires_at", format=as_moment), At("revoked_at", format=as_moment), At("revoked_by"),
            ),
        ),
        SectionSpec("Shown once", (At("key"),)),
    ),
    sort=(SortKey("created"),),
    empty="The service lists no API keys.",
    note="A key is shown once, when it is made.",
    flags={"active": lambda it: it.status == "active", "off": lambda it: it.status == "revoked"},
    actions=KEY_ACTIONS,
    makes=KEY_MAKES,
)  # fmt: skip

_TOTALS: Final = tuple(
    At(name, format=as_usd if name.endswith("usd") else None) for name in UsageTotals.MEMBERS
)  # fmt: skip

USAGE: Final[ResourceSpec[Any]] = ResourceSpec[Usage](
    record=Usage,
    name="usage",
    singular="usage",
    title="Usage",
    columns=(Column(id="executions", title="runs", value=lambda it: (it.totals or UsageTotals({})).executions),),
    sections=(
        SectionSpec("Period", (At("period.from", "from"), At("period.to", "to"))),
        SectionSpec(
            "Totals",
            tuple(
                At(f"totals.{name}", name, as_usd if name.endswith("usd") else None) for name in UsageTotals.MEMBERS
            ),
        ),
        SectionSpec(
            "Arm",
            (
                At("arm_id"), At("usd", format=as_usd), At("selected_count"), At("fallback_count"),
                At("input_tokens"), At("output_tokens"),
            ),
            each="by_arm", item=ArmUsage, names="arm_id",
        ),
        SectionSpec(
            "Key", (At("api_key_id"), *_TOTALS, At("top_arms"), At("by_day")),
            each="by_key", item=KeyUsage, names="api_key_id",
        ),
        SectionSpec(
            "Day",
            (
                At("date"), At("executions"), At("usd", format=as_usd), At("platform_usd", format=as_usd),
                At("passthrough_usd", format=as_usd),
            ),
            each="by_day", item=DayUsage, names="date",
        ),
    ),
)  # fmt: skip
"""Usage; it is printed and has no screen."""

EVALS: Final[ResourceSpec[Any]] = ResourceSpec[EvalSummary](
    record=EvalSummary,
    name="evals",
    singular="summary",
    title="Verdicts of output checks",
    columns=(Column(id="days", title="days", value=lambda it: len(it.pass_rate_trend or ())),),
    sections=(
        SectionSpec("Window", (At("window.from", "from"), At("window.to", "to"))),
        SectionSpec(
            "Day", tuple(At(name) for name in DayEvaluation.MEMBERS),
            each="pass_rate_trend", item=DayEvaluation, names="day",
        ),
        SectionSpec(
            "Repair", tuple(At(name) for name in Proposal.MEMBERS),
            each="repair_history", item=Proposal, names="proposal_id",
        ),
    ),
    note="A technical failure is no verdict and counts in no pass rate.",
)  # fmt: skip
"""The summary of verdicts; it is printed and has no screen."""

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
                At("schema_version"), At("period"), At("content_policy"),
                At("attestation.algorithm", "algorithm"), At("attestation.digest", "digest"),
            ),
        ),
        SectionSpec(
            "Totals",
            tuple(
                At(f"usage_totals.{name}", name, as_usd if name.endswith("usd") else None)
                for name in UsageTotals.MEMBERS
            ),
        ),
        SectionSpec(
            "Decision",
            (
                At("decision_id"), At("kind"), At("action"), At("resource.type", "resource"), At("resource.id", "id"),
                At("acted_by"), At("at", format=as_moment),
            ),
            each="decision_log", item=Decision, names="decision_id",
        ),
        SectionSpec("Receipts", (At("receipts_ndjson", format=_as_text),)),
    ),
)  # fmt: skip
"""The compliance export; it is printed and has no screen."""
