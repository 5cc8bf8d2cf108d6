"""Tenant templates with their blockers and next actions, plans, applications and the selected model."""

from __future__ import annotations

from typing import Any, Final

from runwatch.records.template import (
    AlternativePlan,
    Application,
    Blocker,
    CompletedEffect,
    Effect,
    Plan,
    Selection,
    Template,
)
from runwatch.view.drawn import line
from runwatch.view.format import Context
from runwatch.view.glyphs import Role
from runwatch.view.resource import (
    Action,
    At,
    Column,
    Field,
    Link,
    ResourceSpec,
    SectionSpec,
    Shown,
    SortKey,
    Styled,
    Told,
)
from runwatch.view.resources.common import as_moment, as_usd
from runwatch.view.resources.models import catalog_sections
from runwatch.view.resources.standing import as_standing, standing


def _standing(template: Template) -> str | None:
    """Whether a template can be applied now; ``None`` where the service does not tell."""
    return None if template.eligible is None else "eligible" if template.eligible else "blocked"


def _blockers(template: Template) -> tuple[Blocker, ...]:
    return template.blockers or ()


def _codes(template: Template) -> str | None:
    return ", ".join(blocker.code for blocker in _blockers(template) if blocker.code) or None


def _next(template: Template) -> str | None:
    """The first thing that clears a blocker."""
    actions = (blocker.next_action for blocker in _blockers(template))
    return next((action.detail or action.type for action in actions if action is not None), None)


def _means(template: Template, _: object, __: Context) -> Shown | None:
    if template.eligible:
        return Styled(line("Everything it needs is there."), Role.GOOD)
    count = len(_blockers(template))
    if not count:
        return None
    return Styled(line("One thing stands in its way." if count == 1 else f"{count} things stand in its way."), Role.BAD)


_BLOCKER: Final = SectionSpec(
    "Blocker",
    (At("code"), At("detail"), At("next_action.type", "next action"), At("next_action.detail", "what to do")),
    each="blockers", item=Blocker, names="code",
)  # fmt: skip

_ALTERNATIVE: Final = SectionSpec(
    "Instead",
    (
        At("template_id"), At("template_version"), At("access_lane"), At("application_supported"),
        At("next_action.type", "next action"), At("next_action.detail", "what to do"),
    ),
    each="alternative_plans", item=AlternativePlan, names="template_id",
)  # fmt: skip

TEMPLATES: Final[ResourceSpec[Any]] = ResourceSpec[Template](
    record=Template,
    name="templates",
    singular="template",
    title="Templates · tenant templates",
    columns=(
        Column(id="status", title="status", value=_standing,
               cell=lambda it, context: standing(_standing(it), context), least=10),
        Column(id="template", title="template", aliases=("id", "template_id"), value=lambda it: it.id, least=12,
               most=32),
        Column(id="version", title="version", aliases=("template_version",), value=lambda it: it.template_version,
               leaves=1),
        Column(id="lane", title="lane", aliases=("access_lane",), value=lambda it: it.access_lane, leaves=2,
               least=13),
        Column(id="blockers", title="blockers", value=_codes, leaves=3, least=17),
        Column(id="next", title="next", value=_next, leaves=4, least=18, most=60),
    ),
    fields=(Field(id="eligible", value=lambda it: it.eligible),),
    sections=(
        SectionSpec(
            "Template",
            (
                At("template_id"), At("template_version"), At("access_lane"), At("eligible"), Told("means", _means),
            ),
        ),
        _BLOCKER,
        _ALTERNATIVE,
        *catalog_sections("catalog_row."),
    ),
    sort=(SortKey("template"),),
    empty="The service offers no templates.",
    flags={
        "eligible": lambda it: it.eligible is True,
        "problem": lambda it: it.eligible is False,
    },
    actions=(
        Action("plan", "Plan it", "templates plan", "postTenantTemplatePlans",
               off_because="A plan can always be made."),
        Action("apply", "Apply it", "templates apply", "postTenantTemplateApplications",
               enabled_when=lambda it: it.eligible is not False,
               off_because="Something stands in its way; each blocker says what clears it."),
    ),
)  # fmt: skip


PLAN: Final[ResourceSpec[Any]] = ResourceSpec[Plan](
    record=Plan,
    name="plans",
    singular="plan",
    title="Plan",
    columns=(Column(id="template", title="template", aliases=("id",), value=lambda it: it.template_id),),
    sections=(
        SectionSpec(
            "Plan",
            (
                At("template_id"), At("template_version"), At("access_lane"), At("eligible"),
                At("maximum_spend_usd", format=as_usd), At("request_preset_id"), At("digest"), At("issued_at"),
                At("expires_at", format=as_moment), At("application_supported"),
                At("next_action.type", "next action"), At("next_action.detail", "what to do"),
            ),
        ),
        SectionSpec(
            "Qualification",
            (
                At("qualification.state", "state", as_standing),
                At("qualification.next_action.type", "next action"),
                At("qualification.next_action.detail", "what to do"),
            ),
        ),
        _BLOCKER,
        SectionSpec("Does", (At("id"), At("description")), each="effects", item=Effect, names="id"),
        SectionSpec("Request", (At("request_policy"),)),
        SectionSpec("Source", (At("byok_source"),)),
        SectionSpec(
            "Credit",
            (
                At("starter_credit.balance_usd", "balance_usd", as_usd),
                At("starter_credit.funded_state", "funded_state"),
                At("starter_credit.covers_maximum_spend", "covers_maximum_spend"),
            ),
        ),
        _ALTERNATIVE,
    ),
    note="A plan changes nothing and calls no provider.",
)  # fmt: skip
"""A plan; it is printed and has no screen."""


APPLICATION: Final[ResourceSpec[Any]] = ResourceSpec[Application](
    record=Application,
    name="applications",
    singular="application",
    title="Application",
    columns=(Column(id="application", title="application", aliases=("id",), value=lambda it: it.id),),
    sections=(
        SectionSpec(
            "Application",
            (
                At("application_id"), At("template_id"), At("template_version"), At("state", format=as_standing),
                At("next_action.type", "next action"), At("next_action.detail", "what to do"),
                At("created_at", format=as_moment), At("updated_at", format=as_moment), At("request_preset_id"),
            ),
        ),
        SectionSpec(
            "Done", (At("id"), At("at", format=as_moment)), each="completed_effects", item=CompletedEffect, names="id"
        ),
        SectionSpec(
            "Live proof to authorize",
            (
                At("live_proof.digest", "digest"), At("live_proof.issued_at", "issued_at"),
                At("live_proof.expires_at", "expires_at", as_moment),
            ),
        ),
        SectionSpec(
            "What it made",
            (
                At("managed_arm_id"), At("echo_execution_id"), At("echo_receipt_id"), At("live_execution_id"),
                At("result.execution_id", "result"), At("receipt.receipt_id", "receipt"),
                At("selected_model_deployment_id"), At("source_connection_id"),
            ),
        ),
        SectionSpec("Diagnostics", (At("diagnostics"),)),
    ),
    links=(Link("run", "run", lambda it: it.live_execution_id or it.echo_execution_id),),
)  # fmt: skip
"""An application; it is printed and has no screen."""

SELECTION: Final[ResourceSpec[Any]] = ResourceSpec[Selection](
    record=Selection,
    name="selections",
    singular="selection",
    title="Selected model",
    columns=(Column(id="model", title="model", value=lambda it: it.model_deployment_id),),
    sections=(
        SectionSpec(
            "Selected model",
            (
                At("model_deployment_id"), At("managed_arm_id"), At("application_id"), At("template_id"),
                At("template_version"), At("request_preset_id"), At("request_policy"), At("proof_execution_id"),
                At("selected_at", format=as_moment), At("updated_at", format=as_moment),
            ),
        ),
    ),
)  # fmt: skip
"""The selected model; it is printed and has no screen."""
