"""Tenant templates: whether each can be applied, its blockers and next actions, and the catalog row it stands on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from runwatch.records.template import (
    AlternativePlan,
    Blocker,
    NextAction,
    Template,
)
from runwatch.view import consistency, eligibility
from runwatch.view.decisions import in_a_sentence, in_a_word
from runwatch.view.drawn import line
from runwatch.view.eligibility import TemplateFacts, certification_standing, next_in_words, standing_of
from runwatch.view.format import Context
from runwatch.view.mutation import Action
from runwatch.view.next_actions import lead_of, step_of
from runwatch.view.resource import At, Column, Field, Lead, ResourceSpec, SectionSpec, Shown, SortKey, Told
from runwatch.view.resources.models import catalog_sections
from runwatch.view.resources.standing import standing, words


def _verdict(facts: TemplateFacts, _: object, __: Context) -> Shown | None:
    return eligibility.verdict(facts.template)


def _next(facts: TemplateFacts, _: object) -> Lead | None:
    """An eligible template waits for its plan to be looked at."""
    if not facts.template.eligible:
        return None
    return lead_of(NextAction({"type": "approve_plan"}), facts.id)


def _before(facts: TemplateFacts, _: object) -> Lead | None:
    return None if facts.before is None else Lead(facts.before, line("enter compares"))


def _decision(facts: TemplateFacts, _: object, context: Context) -> Shown | None:
    return None if facts.decision is None else in_a_sentence(facts.decision, facts.template, context)


def _decision_cell(facts: TemplateFacts, context: Context) -> Shown:
    decision = facts.decision
    if decision is None:
        return line(context.glyphs.nothing)
    return in_a_word(decision, facts.template, context)


def _blocker_lead(facts: Any, blocker: Blocker) -> Lead | None:
    action = blocker.next_action
    step = step_of(action)
    if step is not None and step.kind == "plan":
        # The plan of another template is what clears it, because this one is blocked.
        other = next((plan.template_id for plan in facts.template.alternative_plans or () if plan.template_id), None)
        return lead_of(action, other or facts.id, blocker)
    return lead_of(action, facts.id, blocker)


def _alternative_lead(_: object, plan: AlternativePlan) -> Lead | None:
    return lead_of(plan.next_action, plan.template_id or "")


BLOCKER: Final = SectionSpec(
    "Blocker",
    (
        At("detail"), At("next_action.type", "next action", leads=_blocker_lead),
        At("next_action.detail", "what to do"), At("code"),
    ),
    each="blockers", item=Blocker, names="code", is_numbered=True,
)  # fmt: skip

ALTERNATIVE: Final = SectionSpec(
    "Instead",
    (
        At("next_action.type", "next action", leads=_alternative_lead), At("next_action.detail", "what to do"),
        At("application_supported"), At("access_lane"), At("template_version"), At("template_id"),
    ),
    each="alternative_plans", item=AlternativePlan, names="template_id",
)  # fmt: skip


def _checked(check: Callable[[Template, Context], Shown | None]) -> Callable[[Any, Any, Context], Shown | None]:
    return lambda facts, _, context: check(facts.template, context)


_CONSISTENCY: Final = SectionSpec(
    "Fits together? Worked out here",
    tuple(
        Told(label, _checked(check))
        for label, check in (
            ("eligibility", consistency.verdict), ("upstream", consistency.upstream),
            ("served variant", consistency.variant), ("model", consistency.model),
            ("last test", consistency.last_test),
        )
    ),
)  # fmt: skip

TEMPLATES: Final[ResourceSpec[Any]] = ResourceSpec[TemplateFacts](
    record=Template,
    name="templates",
    singular="template",
    title="Templates · tenant templates",
    list_summary="list templates and what blocks them",
    columns=(
        Column(id="status", title="status", value=lambda it: standing_of(it.template),
               cell=lambda it, context: standing(standing_of(it.template), context), least=10),
        Column(id="template", title="template", aliases=("id", "template_id"), value=lambda it: it.id, least=17,
               most=32),
        Column(id="version", title="version", aliases=("template_version",),
               value=lambda it: it.template.template_version, leaves=1),
        Column(id="lane", title="lane", aliases=("access_lane",), value=lambda it: it.template.access_lane, leaves=6,
               least=13),
        Column(id="blockers", title="blockers", value=lambda it: len(it.blockers), align="right", leaves=7, least=8),
        Column(id="blocker", title="blocker", aliases=("code",), value=lambda it: it.codes or None, format=words,
               leaves=5, least=17),
        Column(id="decision", title="decision", value=lambda it: it.decision.verdict if it.decision else None,
               cell=_decision_cell, leaves=8, least=11),
        Column(id="plans", title="plans", value=lambda it: len(it.template.alternative_plans or ()), align="right",
               leaves=2),
        Column(id="standing", title="certified", value=lambda it: certification_standing(it.template),
               cell=lambda it, context: standing(certification_standing(it.template), context), leaves=3, least=9),
        Column(id="next", title="next", value=next_in_words, leaves=4, least=18, most=60),
    ),
    fields=(
        Field(id="eligible", value=lambda it: it.template.eligible),
        Field(id="reason", value=lambda it: it.decision.reason if it.decision else None),
    ),
    sections=(
        SectionSpec(
            "Eligibility",
            (
                Told("verdict", _verdict, leads=_next), Told("changed since", eligibility.change_told, leads=_before),
                Told("decision", _decision),
            ),
        ),
        BLOCKER,
        ALTERNATIVE,
        _CONSISTENCY,
        SectionSpec("Template", (At("template_id"), At("template_version"), At("access_lane"), At("eligible"))),
        SectionSpec(
            "Catalog row",
            tuple(entry for section in catalog_sections("catalog_row.") for entry in section.lines),
            tree="catalog_row",
        ),
    ),
    sort=(SortKey("eligible"), SortKey("template")),
    empty="The service offers no templates.",
    flags={
        "eligible": lambda it: it.template.eligible is True,
        "blocked": lambda it: it.template.eligible is False,
        "problem": lambda it: it.template.eligible is False,
        "decided": lambda it: it.decision is not None,
        "changed": lambda it: it.decision is not None and not it.decision.holds_for(it.template),
    },
    actions=(
        Action("plan", "Plan it", "templates plan", "postTenantTemplatePlans",
               off_because="A plan can always be made."),
        Action("apply", "Look at its plan and apply it", "templates apply", "postTenantTemplateApplications",
               enabled_when=lambda it: it.template.eligible is not False,
               off_because="Something stands in its way; each blocker says what clears it."),
    ),
    subject=TemplateFacts,
)  # fmt: skip
