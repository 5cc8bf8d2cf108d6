"""Plans and applications of templates, and the selected model."""

from __future__ import annotations

from typing import Any, Final

from runwatch.records.template import (
    Application,
    Blocker,
    CompletedEffect,
    Effect,
    NextAction,
    Plan,
    Selection,
    Template,
)
from runwatch.view.application import most_spent, proof_spend
from runwatch.view.drawn import line
from runwatch.view.format import Context
from runwatch.view.glyphs import Role
from runwatch.view.mutation import Action, Mutation
from runwatch.view.next_actions import APPLY_IT, AUTHORIZE, Next, lead_of, resume_action
from runwatch.view.resource import At, Column, Lead, Link, ResourceSpec, SectionSpec, Shown, Styled, Told
from runwatch.view.resources.common import as_moment, as_usd
from runwatch.view.resources.standing import as_standing
from runwatch.view.resources.templates import ALTERNATIVE, BLOCKER


def _can_apply(plan: Plan) -> bool:
    return not plan.is_blocked and plan.digest is not None and plan.issued_at is not None


def _once_more(plan: Plan) -> str:
    return "" if plan.maximum_spend_usd == 0 else "; a paid run is asked about once more"


def _plan_means(plan: Plan, _: object, __: Context) -> Shown | None:
    if not _can_apply(plan):
        return Styled(line("It cannot be applied now; what stands in its way is below."), Role.BAD)
    return Styled(line(f"Applying it spends at most {most_spent(plan)}{_once_more(plan)}."), Role.GOOD)


def _plan_lead(_: object, plan: Plan) -> Lead | None:
    if not _can_apply(plan):
        return lead_of(plan.next_action, plan.template_id or "")
    return Lead(Next(plan.next_action or NextAction({}), APPLY_IT, plan.template_id or ""), line(APPLY_IT.words))


def _plan_blocker_lead(plan: Any, blocker: Blocker) -> Lead | None:
    return lead_of(blocker.next_action, plan.template_id or "", blocker)


def _approval(plan: Plan) -> dict[str, Any]:
    """The plan that was looked at, by its digest."""
    return {"template_id": plan.template_id, "digest": plan.digest, "issued_at": plan.issued_at}


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
                Told("means", _plan_means, leads=_plan_lead), At("maximum_spend_usd", format=as_usd), At("digest"),
                At("issued_at"), At("expires_at", format=as_moment), At("template_id"), At("template_version"),
                At("access_lane"), At("eligible"), At("request_preset_id"), At("application_supported"),
                At("next_action.type", "next action"), At("next_action.detail", "what to do"),
            ),
        ),
        BLOCKER._replace(
            lines=(
                At("detail"), At("next_action.type", "next action", leads=_plan_blocker_lead),
                At("next_action.detail", "what to do"), At("code"),
            ),
        ),
        SectionSpec("Does", (At("id"), At("description")), each="effects", item=Effect, names="id"),
        SectionSpec("Request", (At("request_policy"),)),
        SectionSpec("Source", (At("byok_source"),)),
        SectionSpec(
            "Qualification",
            (
                At("qualification.state", "state", as_standing),
                At("qualification.next_action.type", "next action"),
                At("qualification.next_action.detail", "what to do"),
            ),
        ),
        SectionSpec(
            "Credit",
            (
                At("starter_credit.balance_usd", "balance_usd", as_usd),
                At("starter_credit.funded_state", "funded_state"),
                At("starter_credit.covers_maximum_spend", "covers_maximum_spend"),
            ),
        ),
        ALTERNATIVE,
    ),
    note="A plan changes nothing and calls no provider.",
    actions=(
        Action("apply", "Apply it", "templates apply", "postTenantTemplateApplications", enabled_when=_can_apply,
               off_because="Something stands in its way; each blocker says what clears it.",
               mutation=Mutation(
                   operation="postTenantTemplateApplications",
                   sentence=lambda it: f"Applies {it.template_id} as this plan says. It spends at most"
                   f" {most_spent(it)}{_once_more(it)}. The service refuses it when it would do something else by now.",
                   confirm="Apply it", keep="Do not apply it", members=_approval,
                   request="template.ApplicationRequest", reads=(Template,),
               )),
    ),
)  # fmt: skip
"""A plan; it has no list, and the screen of applications shows it."""


def _application_lead(_: object, application: Application) -> Lead | None:
    return lead_of(application.next_action, application.template_id or "")


def _resumes(application: Application) -> bool:
    return resume_action(application) not in {None, AUTHORIZE}


def _waits_for_proof(application: Application) -> bool:
    return resume_action(application) == AUTHORIZE


def _path(application: Application) -> dict[str, str]:
    return {"application_id": application.id}


def _resumption(application: Application) -> dict[str, Any]:
    """What an application is told; a live proof is named by its digest, so that no other one is paid for."""
    action = resume_action(application)
    proof = application.live_proof
    if action != AUTHORIZE or proof is None:
        return {"action": action}
    return {"action": action, "live_proof_digest": proof.digest}


_RESUME: Final = "postTenantTemplateApplicationsByApplicationIdResume"

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
                At("next_action.type", "next action", leads=_application_lead),
                At("next_action.detail", "what to do"), At("created_at", format=as_moment),
                At("updated_at", format=as_moment), At("request_preset_id"),
            ),
        ),
        SectionSpec(
            "Live proof to authorize",
            (
                At("live_proof.digest", "digest"), At("live_proof.issued_at", "issued_at"),
                At("live_proof.expires_at", "expires_at", as_moment),
            ),
        ),
        SectionSpec(
            "Done", (At("id"), At("at", format=as_moment)), each="completed_effects", item=CompletedEffect, names="id"
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
    actions=(
        Action("resume", "Have it go on", "templates resume", _RESUME, enabled_when=_resumes,
               off_because="It waits for nothing that a resume does.",
               mutation=Mutation(
                   operation=_RESUME, path=_path, members=_resumption, request="template.ResumeRequest",
                   sentence=lambda it: f"Tells the application: {resume_action(it)}. This spends nothing.",
                   confirm="Have it go on", reads=(Template,),
               )),
        Action("authorize", "Run the paid live proof", "templates resume", _RESUME, enabled_when=_waits_for_proof,
               off_because="No live proof waits to be authorized.",
               mutation=Mutation(
                   operation=_RESUME, path=_path, members=_resumption, request="template.ResumeRequest",
                   sentence=lambda it: f"Submits one live run that calls a model. It spends at most {proof_spend(it)}.",
                   confirm="Run the paid proof", keep="Spend nothing", reads=(Template,),
               )),
        Action("select", "Select its model", "templates select", "postTenantModelSelection",
               enabled_when=lambda it: it.state == "ready" and it.managed_arm_id is not None,
               off_because="Its model is not proved.",
               mutation=Mutation(
                   operation="postTenantModelSelection", members=_path, request="template.SelectionRequest",
                   sentence=lambda it: "Makes the model of this application the selected one of the organization.",
                   confirm="Select the model", keep="Select nothing",
               )),
    ),
    links=(
        Link("run", "run", lambda it: it.live_execution_id or it.echo_execution_id),
        Link("arm", "arm", lambda it: it.managed_arm_id),
        Link("connection", "connection", lambda it: it.source_connection_id),
    ),
)  # fmt: skip
"""An application; it has no list, and a screen of its own shows it while it goes on."""

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
