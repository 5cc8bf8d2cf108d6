"""Tenant templates: eligibility, blockers, next actions, and the catalog row."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from runwatch.records.template import AlternativePlan, Blocker, NextAction, Template
from runwatch.view.resources.models import catalog_sections
from runwatch.view.spec.action import ResourceAction
from runwatch.view.spec.members import column, field, member_lines, status_column
from runwatch.view.spec.resource import ComputedLine, LineTarget, MemberLine, ResourceSpec, SectionSpec, SortKey
from runwatch.view.templates import catalog_consistency, eligibility
from runwatch.view.templates.applications import waiting_text
from runwatch.view.templates.decisions import decision_cell, decision_line
from runwatch.view.templates.eligibility import TemplateFacts, certification_label, eligibility_label, next_action_text
from runwatch.view.templates.next_actions import find_action_target, find_step
from runwatch.view.text.format import RenderContext, short_id
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import line
from runwatch.view.text.status_format import advice_cell, joined_cell, status_cell
from runwatch.view.text.styled_text import CellText, StyledText

LeadsTo = Callable[[Any, Any], LineTarget | None]
"""The link target of a line, from the subject and the section's item."""


def _next(facts: TemplateFacts, _: object) -> LineTarget | None:
    if not facts.template.eligible:
        return None
    return find_action_target(NextAction({"type": "approve_plan"}), facts.id)


def _before(facts: TemplateFacts, _: object) -> LineTarget | None:
    return None if facts.before is None else LineTarget(facts.before, line("enter compares"))


def _waiting(facts: TemplateFacts, _: object, context: RenderContext) -> CellText | None:
    """Say that the application started here waits for the user's go, which may run out."""
    if not facts.application.spend:
        return None
    waits = waiting_text(facts.application, context)
    return StyledText(line(f"{short_id(facts.application.id, context.glyphs)}  {waits}"), Role.WARN)


def _application(facts: TemplateFacts, _: object) -> LineTarget:
    return LineTarget(facts.application, line("enter opens it"))


def _decision(facts: TemplateFacts, _: object, context: RenderContext) -> CellText | None:
    return None if facts.decision is None else decision_line(facts.decision, facts.template, context)


def _decision_cell(facts: TemplateFacts, context: RenderContext) -> CellText:
    decision = facts.decision
    if decision is None:
        return line(context.glyphs.nothing)
    return decision_cell(decision, facts.template, context)


def _blocker_lead(facts: Any, blocker: Blocker) -> LineTarget | None:
    action = blocker.next_action
    step = find_step(action)
    if step is not None and step.kind == "plan":
        # This template is blocked, so the plan of another one clears the blocker.
        other = next((plan.template_id for plan in facts.template.alternative_plans or () if plan.template_id), None)
        return find_action_target(action, other or facts.id, blocker)
    return find_action_target(action, facts.id, blocker)


def next_action_lines(leads: LeadsTo | None = None, under: str = "next_action") -> tuple[MemberLine, ...]:
    """Declare the lines of a next action; the first one may lead to where it is done."""
    first = MemberLine(f"{under}.type", "next action")
    return first if leads is None else first._replace(leads=leads), MemberLine(f"{under}.detail", "what to do")


def blocker_section(leads: LeadsTo) -> SectionSpec:
    """Declare the section of each blocker, whose next action leads somewhere."""
    lines = (MemberLine("detail"), *next_action_lines(leads), MemberLine("code"))
    return SectionSpec("Blocker", lines, each="blockers", item=Blocker, names="code", is_numbered=True)


ALTERNATIVE: Final = SectionSpec(
    "Alternative",
    (
        *next_action_lines(lambda _, plan: find_action_target(plan.next_action, plan.template_id or "")),
        *member_lines("application_supported access_lane template_version template_id"),
    ),
    each="alternative_plans", item=AlternativePlan, names="template_id",
)  # fmt: skip


def _checked(
    check: Callable[[Template, RenderContext], CellText | None],
) -> Callable[[Any, Any, RenderContext], CellText | None]:
    return lambda facts, _, context: check(facts.template, context)


_CONSISTENCY: Final = SectionSpec(
    "Consistency · computed by runwatch",
    tuple(
        ComputedLine(label, _checked(check))
        for label, check in (
            ("eligibility", catalog_consistency.check_eligibility), ("upstream", catalog_consistency.check_upstream),
            ("served variant", catalog_consistency.check_variant), ("model", catalog_consistency.check_model),
            ("last test", catalog_consistency.check_last_test),
        )
    ),
)  # fmt: skip

TEMPLATES: Final[ResourceSpec[Any]] = ResourceSpec[TemplateFacts](
    record=Template,
    name="templates",
    singular="template",
    title="Templates",
    list_summary="list templates and what blocks them",
    columns=(
        status_column("status", lambda it: eligibility_label(it.template), min_cells=10),
        column("template|id|template_id=id", min_cells=17, max_cells=32),
        column("version|template_version=template.template_version", hide_order=1, is_extra=True),
        column("lane|access_lane=template.access_lane", hide_order=5, min_cells=13),
        column("blockers", lambda it: len(it.blockers), align="right", hide_order=6, min_cells=8),
        column(
            "blocker|code", lambda it: it.codes or None, title="blocked by", format=joined_cell, hide_order=7,
            min_cells=17, whole_first=True,
        ),
        column(
            "decision", lambda it: it.decision.verdict if it.decision else None, cell=_decision_cell, hide_order=8,
            min_cells=12,
        ),
        column(
            "plans", lambda it: len(it.template.alternative_plans or ()), align="right", hide_order=2, is_extra=True,
        ),
        column(
            "standing", lambda it: certification_label(it.template), title="certified", format=status_cell,
            hide_order=3, min_cells=9, hide_if_empty=True, whole_first=True,
        ),
        column(
            "next", next_action_text, format=advice_cell, hide_order=4, min_cells=18, max_cells=60, whole_first=True
        ),
    ),
    fields=(
        field("eligible=template.eligible"),
        field("reason", lambda it: it.decision.reason if it.decision else None),
    ),
    sections=(
        SectionSpec(
            "Eligibility",
            (
                ComputedLine("application", _waiting, leads=_application),
                ComputedLine("verdict", lambda it, _, __: eligibility.eligibility_text(it.template), leads=_next),
                ComputedLine("changed since", eligibility.change_line, leads=_before),
                ComputedLine("decision", _decision),
            ),
        ),
        blocker_section(_blocker_lead),
        ALTERNATIVE,
        _CONSISTENCY,
        SectionSpec("Template", member_lines("template_id template_version access_lane eligible")),
        SectionSpec(
            "Catalog row", tuple(entry for section in catalog_sections("catalog_row.") for entry in section.lines),
            tree="catalog_row",
        ),
    ),
    sort=(SortKey("eligible", words="not eligible first"), SortKey("template")),
    empty="The service offers no templates.",
    flags={
        "eligible": lambda it: it.template.eligible is True, "blocked": lambda it: it.template.eligible is False,
        "problem": lambda it: it.template.eligible is False, "decided": lambda it: it.decision is not None,
        "changed": lambda it: it.decision is not None and not it.decision.holds_for(it.template),
    },
    actions=(
        ResourceAction(
            "plan", "Plan it", "templates plan", "postTenantTemplatePlans", off_because="A plan can always be made."
        ),
        ResourceAction(
            "apply", "Look at its plan and apply it", "templates apply", "postTenantTemplateApplications",
            enabled_when=lambda it: it.template.eligible is not False,
            off_because="It has blockers; each says how to clear it.",
        ),
    ),
    subject=TemplateFacts,
)  # fmt: skip
