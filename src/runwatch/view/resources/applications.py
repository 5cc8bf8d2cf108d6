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
from runwatch.view.resources.templates import ALTERNATIVE, BLOCKER
from runwatch.view.spec.action import Mutation, ResourceAction
from runwatch.view.spec.resource import (
    Column,
    ComputedLine,
    LineTarget,
    MemberLine,
    RecordLink,
    ResourceSpec,
    SectionSpec,
)
from runwatch.view.templates.applications import max_spend_text, proof_spend_text
from runwatch.view.templates.next_actions import (
    APPLY_STEP,
    AUTHORIZE,
    NextActionTarget,
    find_action_target,
    resume_action,
)
from runwatch.view.text.format import RenderContext
from runwatch.view.text.glyphs import Role
from runwatch.view.text.member_format import detail_time, detail_usd
from runwatch.view.text.safe_text import line
from runwatch.view.text.status_format import detail_status
from runwatch.view.text.styled_text import CellText, StyledText


def _can_apply(plan: Plan) -> bool:
    return not plan.is_blocked and plan.digest is not None and plan.issued_at is not None


def _once_more(plan: Plan) -> str:
    return "" if plan.maximum_spend_usd == 0 else "; a paid run is asked about once more"


def _plan_means(plan: Plan, _: object, __: RenderContext) -> CellText | None:
    if not _can_apply(plan):
        return StyledText(line("It cannot be applied now; what stands in its way is below."), Role.BAD)
    return StyledText(line(f"Applying it spends at most {max_spend_text(plan)}{_once_more(plan)}."), Role.GOOD)


def _plan_lead(_: object, plan: Plan) -> LineTarget | None:
    if not _can_apply(plan):
        return find_action_target(plan.next_action, plan.template_id or "")
    return LineTarget(
        NextActionTarget(plan.next_action or NextAction({}), APPLY_STEP, plan.template_id or ""), line(APPLY_STEP.words)
    )


def _plan_blocker_lead(plan: Any, blocker: Blocker) -> LineTarget | None:
    return find_action_target(blocker.next_action, plan.template_id or "", blocker)


def _approval(plan: Plan) -> dict[str, Any]:
    """Return the reviewed plan, identified by its digest."""
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
                ComputedLine("means", _plan_means, leads=_plan_lead),
                MemberLine("maximum_spend_usd", format=detail_usd), MemberLine("digest"), MemberLine("issued_at"),
                MemberLine("expires_at", format=detail_time), MemberLine("template_id"), MemberLine("template_version"),
                MemberLine("access_lane"), MemberLine("eligible"), MemberLine("request_preset_id"),
                MemberLine("application_supported"), MemberLine("next_action.type", "next action"),
                MemberLine("next_action.detail", "what to do"),
            ),
        ),
        BLOCKER._replace(
            lines=(
                MemberLine("detail"), MemberLine("next_action.type", "next action", leads=_plan_blocker_lead),
                MemberLine("next_action.detail", "what to do"), MemberLine("code"),
            )
        ),
        SectionSpec("Does", (MemberLine("id"), MemberLine("description")), each="effects", item=Effect, names="id"),
        SectionSpec("Request", (MemberLine("request_policy"),)),
        SectionSpec("Source", (MemberLine("byok_source"),)),
        SectionSpec(
            "Qualification",
            (
                MemberLine("qualification.state", "state", detail_status),
                MemberLine("qualification.next_action.type", "next action"),
                MemberLine("qualification.next_action.detail", "what to do"),
            ),
        ),
        SectionSpec(
            "Credit",
            (
                MemberLine("starter_credit.balance_usd", "balance_usd", detail_usd),
                MemberLine("starter_credit.funded_state", "funded_state"),
                MemberLine("starter_credit.covers_maximum_spend", "covers_maximum_spend"),
            ),
        ),
        ALTERNATIVE,
    ),
    note="A plan changes nothing and calls no provider.",
    actions=(
        ResourceAction(
            "apply",
            "Apply it",
            "templates apply",
            "postTenantTemplateApplications",
            enabled_when=_can_apply,
            off_because="Something stands in its way; each blocker says what clears it.",
            mutation=Mutation(
                operation="postTenantTemplateApplications",
                sentence=lambda it: (
                    f"Applies {it.template_id} as this plan says. It spends at most"
                    f" {max_spend_text(it)}{_once_more(it)}."
                    " The service refuses it when it would do something else by now."
                ),
                confirm_label="Apply it",
                cancel_label="Do not apply it",
                members=_approval,
                request="template.ApplicationRequest",
                invalidates=(Template,),
            ),
        ),
    ),
)  # fmt: skip
"""A plan. It has no list; the applications screen shows it."""


def _application_lead(_: object, application: Application) -> LineTarget | None:
    return find_action_target(application.next_action, application.template_id or "")


def _resumes(application: Application) -> bool:
    return resume_action(application) not in {None, AUTHORIZE}


def _waits_for_proof(application: Application) -> bool:
    return resume_action(application) == AUTHORIZE


def _path(application: Application) -> dict[str, str]:
    return {"application_id": application.id}


def _resumption(application: Application) -> dict[str, Any]:
    """Return the body of a resume. A live proof is identified by its digest, so no other one is paid for."""
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
                MemberLine("application_id"), MemberLine("template_id"), MemberLine("template_version"),
                MemberLine("state", format=detail_status),
                MemberLine("next_action.type", "next action", leads=_application_lead),
                MemberLine("next_action.detail", "what to do"), MemberLine("created_at", format=detail_time),
                MemberLine("updated_at", format=detail_time), MemberLine("request_preset_id"),
            ),
        ),
        SectionSpec(
            "Live proof to authorize",
            (
                MemberLine("live_proof.digest", "digest"), MemberLine("live_proof.issued_at", "issued_at"),
                MemberLine("live_proof.expires_at", "expires_at", detail_time),
            ),
        ),
        SectionSpec(
            "Done", (MemberLine("id"), MemberLine("at", format=detail_time)), each="completed_effects",
            item=CompletedEffect, names="id",
        ),
        SectionSpec(
            "What it made",
            (
                MemberLine("managed_arm_id"), MemberLine("echo_execution_id"), MemberLine("echo_receipt_id"),
                MemberLine("live_execution_id"), MemberLine("result.execution_id", "result"),
                MemberLine("receipt.receipt_id", "receipt"), MemberLine("selected_model_deployment_id"),
                MemberLine("source_connection_id"),
            ),
        ),
        SectionSpec("Diagnostics", (MemberLine("diagnostics"),)),
    ),
    actions=(
        ResourceAction(
            "resume",
            "Have it go on",
            "templates resume",
            _RESUME,
            enabled_when=_resumes,
            off_because="It waits for nothing that a resume does.",
            mutation=Mutation(
                operation=_RESUME, path=_path, members=_resumption, request="template.ResumeRequest",
                sentence=lambda it: f"Tells the application: {resume_action(it)}. This spends nothing.",
                confirm_label="Have it go on", invalidates=(Template,),
            ),
        ),
        ResourceAction(
            "authorize",
            "Run the paid live proof",
            "templates resume",
            _RESUME,
            enabled_when=_waits_for_proof,
            off_because="No live proof waits to be authorized.",
            mutation=Mutation(
                operation=_RESUME,
                path=_path,
                members=_resumption,
                request="template.ResumeRequest",
                sentence=lambda it: (
                    f"Submits one live run that calls a model. It spends at most {proof_spend_text(it)}."
                ),
                confirm_label="Run the paid proof",
                cancel_label="Spend nothing",
                invalidates=(Template,),
            ),
        ),
        ResourceAction(
            "select",
            "Select its model",
            "templates select",
            "postTenantModelSelection",
            enabled_when=lambda it: it.state == "ready" and it.managed_arm_id is not None,
            off_because="Its model is not proved.",
            mutation=Mutation(
                operation="postTenantModelSelection", members=_path, request="template.SelectionRequest",
                sentence=lambda it: "Makes the model of this application the selected one of the organization.",
                confirm_label="Select the model", cancel_label="Select nothing",
            ),
        ),
    ),
    links=(
        RecordLink("run", "run", lambda it: it.live_execution_id or it.echo_execution_id),
        RecordLink("arm", "arm", lambda it: it.managed_arm_id),
        RecordLink("connection", "connection", lambda it: it.source_connection_id),
    ),
)  # fmt: skip
"""An application. It has no list; a screen of its own shows it while it is in progress."""

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
                MemberLine("model_deployment_id"), MemberLine("managed_arm_id"), MemberLine("application_id"),
                MemberLine("template_id"), MemberLine("template_version"), MemberLine("request_preset_id"),
                MemberLine("request_policy"), MemberLine("proof_execution_id"),
                MemberLine("selected_at", format=detail_time), MemberLine("updated_at", format=detail_time),
            ),
        ),
    ),
)  # fmt: skip
"""The selected model. It is only printed and has no screen."""
