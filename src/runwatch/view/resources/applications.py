"""Plans and applications of templates, and the selected model."""

from __future__ import annotations

from typing import Any, Final

from runwatch.records.template import Application, CompletedEffect, Effect, NextAction, Plan, Selection, Template
from runwatch.view.resources.templates import ALTERNATIVE, blocker_section, next_action_lines
from runwatch.view.spec.action import Mutation, ResourceAction
from runwatch.view.spec.members import column, member_lines
from runwatch.view.spec.resource import ComputedLine, LineTarget, MemberLine, RecordLink, ResourceSpec, SectionSpec
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
from runwatch.view.text.safe_text import json_text, line
from runwatch.view.text.status_format import detail_status
from runwatch.view.text.styled_text import CellText, StyledText


def _can_apply(plan: Plan) -> bool:
    return not plan.is_blocked and plan.digest is not None and plan.issued_at is not None


def _once_more(plan: Plan) -> str:
    return "" if plan.maximum_spend_usd == 0 else "; a paid run is asked about once more"


def _plan_means(plan: Plan, _: object, __: RenderContext) -> CellText | None:
    if not _can_apply(plan):
        return StyledText(line("It cannot be applied now; the reasons are below."), Role.BAD)
    return StyledText(line(f"Applying it spends at most {max_spend_text(plan)}{_once_more(plan)}."), Role.GOOD)


def _eligible(plan: Plan, _: object, __: RenderContext) -> CellText | None:
    return None if plan.raw.get("eligible") is None else line(json_text(plan.raw["eligible"]), None)


def _next_lead(_: object, plan: Plan) -> LineTarget | None:
    return None if _can_apply(plan) else find_action_target(plan.next_action, plan.template_id or "")


def _plan_lead(_: object, plan: Plan) -> LineTarget | None:
    if not _can_apply(plan):
        return None
    return LineTarget(
        NextActionTarget(plan.next_action or NextAction({}), APPLY_STEP, plan.template_id or ""), line(APPLY_STEP.words)
    )


PLAN: Final[ResourceSpec[Any]] = ResourceSpec[Plan](
    record=Plan,
    name="plans",
    singular="plan",
    title="Plan",
    columns=(column("template|id=template_id"),),
    sections=(
        SectionSpec(
            "Plan",
            (
                ComputedLine("means", _plan_means, leads=_plan_lead),
                *member_lines(
                    "maximum_spend_usd:usd digest issued_at expires_at:time template_id template_version access_lane"
                ),
                # Only some services say it of a plan too; a line for "unknown" would contradict the template.
                ComputedLine("eligible", _eligible, lambda _: "eligible"),
                *member_lines("request_preset_id application_supported"),
                *next_action_lines(_next_lead),
            ),
        ),
        blocker_section(
            lambda plan, blocker: find_action_target(blocker.next_action, plan.template_id or "", blocker)
        ),
        SectionSpec("Does", member_lines("id description"), each="effects", item=Effect, names="id"),
        SectionSpec("Request", member_lines("request_policy")),
        SectionSpec("Source", member_lines("byok_source")),
        SectionSpec(
            "Qualification",
            (
                MemberLine("qualification.state", "state", detail_status),
                *next_action_lines(under="qualification.next_action"),
            ),
        ),
        SectionSpec("Credit", member_lines(
            "balance_usd:usd funded_state covers_maximum_spend", under="starter_credit"
        )),
        ALTERNATIVE,
    ),
    note="A plan changes nothing and calls no provider.",
    actions=(
        ResourceAction(
            "apply",
            "Apply it",
            "templates apply",
            enabled_when=_can_apply,
            off_because="It has blockers; each says how to clear it.",
            mutation=Mutation(
                operation="postTenantTemplateApplications",
                sentence=lambda it: (
                    f"Applies {it.template_id} as this plan says. It spends at most"
                    f" {max_spend_text(it)}{_once_more(it)}."
                    " The service refuses it when it would do something else by now."
                ),
                cancel_label="Do not apply it",
                members=lambda it: {"template_id": it.template_id, "digest": it.digest, "issued_at": it.issued_at},
                request="template.ApplicationRequest",
                invalidates=(Template,),
                # Its state says how far it is, so nothing is said to be done.
                completed="Application of the template started",
            ),
        ),
    ),
)  # fmt: skip
"""A plan. It has no list; the applications screen shows it."""


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
    columns=(column("application|id"),),
    sections=(
        SectionSpec(
            "Application",
            (
                *member_lines("application_id template_id template_version state:status"),
                *next_action_lines(lambda _, it: find_action_target(it.next_action, it.template_id or "")),
                *member_lines("created_at:time updated_at:time request_preset_id"),
            ),
        ),
        SectionSpec("Live proof to authorize", member_lines("digest issued_at expires_at:time", under="live_proof")),
        SectionSpec("Done", member_lines("id at:time"), each="completed_effects", item=CompletedEffect, names="id"),
        SectionSpec(
            "What it made",
            (
                *member_lines("managed_arm_id echo_execution_id echo_receipt_id live_execution_id"),
                MemberLine("result.execution_id", "result"), MemberLine("receipt.receipt_id", "receipt"),
                *member_lines("selected_model_deployment_id source_connection_id"),
            ),
        ),
        SectionSpec("Diagnostics", member_lines("diagnostics")),
    ),
    actions=(
        ResourceAction(
            "resume",
            "Have it go on",
            "templates resume",
            enabled_when=lambda it: resume_action(it) not in {None, AUTHORIZE},
            off_because="It waits for nothing that a resume does.",
            mutation=Mutation(
                operation=_RESUME, members=_resumption, request="template.ResumeRequest",
                sentence=lambda it: f"Tells the application: {resume_action(it)}. This spends nothing.",
                invalidates=(Template,),
            ),
        ),
        ResourceAction(
            "authorize",
            "Run the paid live proof",
            "templates resume",
            enabled_when=lambda it: resume_action(it) == AUTHORIZE,
            off_because="No live proof waits to be authorized.",
            mutation=Mutation(
                operation=_RESUME,
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
            enabled_when=lambda it: it.state == "ready" and it.managed_arm_id is not None,
            off_because="Its model is not proved.",
            mutation=Mutation(
                operation="postTenantModelSelection", request="template.SelectionRequest",
                members=lambda it: {"application_id": it.id},
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
    columns=(column("model=model_deployment_id"),),
    sections=(
        SectionSpec("Selected model", member_lines(
            "model_deployment_id managed_arm_id application_id template_id template_version request_preset_id "
            "request_policy proof_execution_id selected_at:time updated_at:time"
        )),
    ),
)  # fmt: skip
"""The selected model. It is only printed and has no screen."""
