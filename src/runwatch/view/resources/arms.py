"""Saved models, agents and skills."""

from __future__ import annotations

from typing import Any, Final

from runwatch.records.arm import Arm, RouteAvailability
from runwatch.settings.view_state import ViewState
from runwatch.view.actions.arms import ACTIONS, MAKES
from runwatch.view.query.parser import build_field_filter
from runwatch.view.spec.resource import (
    Column,
    ComputedLine,
    Field,
    LineTarget,
    MemberLine,
    RecordLink,
    ResourceSpec,
    SectionSpec,
    SortKey,
)
from runwatch.view.text.format import RenderContext
from runwatch.view.text.glyphs import Role
from runwatch.view.text.member_format import detail_time
from runwatch.view.text.safe_text import line
from runwatch.view.text.status_format import detail_status, joined_cell, status_cell
from runwatch.view.text.styled_text import CellText, StyledText


def _is_on(arm: Arm) -> bool:
    return arm.status != "disabled"


def _route(arm: Arm) -> RouteAvailability:
    return arm.route_availability or RouteAvailability({})


def _model(arm: Arm) -> str | None:
    return arm.model_id or arm.model_deployment_id


def _its_runs(arm: Arm, _: object) -> LineTarget | None:
    """Return a link to the runs known to have used it."""
    kept = build_field_filter("arm", arm.id) if arm.id else ""
    return LineTarget(ViewState("runs", filter=kept), line("runs that used it")) if kept else None


def _hint(arm: Arm, _: object, __: RenderContext) -> CellText | None:
    """Explain what a status other than ready means for runs."""
    if arm.status == "degraded":
        return StyledText(line("Runs are routed to it only when they require it, and may fail there."), Role.WARN)
    if arm.status == "disabled":
        return StyledText(line("No run is routed to it any more."), Role.OFF)
    return None


ARMS: Final[ResourceSpec[Any]] = ResourceSpec[Arm](
    record=Arm,
    name="arms",
    singular="arm",
    title="Saved models · arms",
    list_summary="list saved models, agents and skills",
    show_summary="show a saved model, agent or skill",
    columns=(
        Column(
            id="status", title="status", value=lambda it: it.status,
            cell=lambda it, context: status_cell(it.status, context), server_parameter="status", min_cells=10,
        ),
        Column(id="name", title="name", aliases=("display_name",), value=lambda it: it.display_name, min_cells=22),
        Column(
            id="kind", title="kind", value=lambda it: it.kind, server_parameter="kind",
            choices=("model", "agent", "skill"), hide_order=6, min_cells=5,
        ),
        Column(id="model", title="model", aliases=("model_id",), value=_model, hide_order=3, min_cells=14),
        Column(
            id="classes", title="data classes", aliases=("data_class_grants",), value=lambda it: it.data_class_grants,
            format=joined_cell, hide_order=5, min_cells=12,
        ),
        Column(
            id="cost", title="cost", aliases=("cost_class",), value=lambda it: it.cost_class, hide_order=4, min_cells=8
        ),
        Column(
            id="tags", title="tags", aliases=("capability_tags",), value=lambda it: it.capability_tags,
            format=joined_cell, hide_order=2, min_cells=10,
        ),
        Column(
            id="arm", title="arm", aliases=("id", "arm_id"), value=lambda it: it.id, hide_order=1, min_cells=9,
            elides_middle=True,
        ),
    ),
    fields=(
        Field(id="provider", value=lambda it: it.provider),
        Field(id="deployment", aliases=("model_deployment_id",), value=lambda it: it.model_deployment_id),
        Field(id="reason", aliases=("status_reason",), value=lambda it: it.status_reason),
        Field(id="route", value=lambda it: _route(it).status),
    ),
    sections=(
        SectionSpec(
            "Saved",
            (
                MemberLine("arm_id", leads=_its_runs), MemberLine("display_name"), MemberLine("kind"),
                MemberLine("status", format=detail_status), MemberLine("status_reason"), ComputedLine("means", _hint),
                MemberLine("capability_tags"), MemberLine("data_class_grants"), MemberLine("cost_class"),
                MemberLine("created_at", format=detail_time), MemberLine("updated_at", format=detail_time),
            ),
        ),
        SectionSpec(
            "Model",
            (
                MemberLine("provider"), MemberLine("model_id"), MemberLine("model_deployment_id"),
                MemberLine("model_lifecycle", format=detail_status), MemberLine("credential_ref"),
            ),
        ),
        SectionSpec(
            "Route",
            (
                MemberLine("route_availability.status", "status", detail_status),
                MemberLine("route_availability.reason", "reason"),
                MemberLine("route_availability.since", "since", detail_time),
                MemberLine("route_availability.until", "until", detail_time),
            ),
        ),
        SectionSpec(
            "Agent",
            (
                MemberLine("endpoint.url", "url"), MemberLine("endpoint.auth_ref", "auth_ref"),
                MemberLine("lifecycle.long_running", "long_running"),
                MemberLine("lifecycle.cancellable", "cancellable"),
                MemberLine("lifecycle.max_runtime_s", "max_runtime_s"),
            ),
        ),
        SectionSpec("Skill", (MemberLine("artifact_hash"), MemberLine("artifact"))),
    ),
    sort=(SortKey("name"),),
    empty="Nothing is saved yet. `models list` shows what can be, `models save ID` saves a model.",
    flags={
        "ready": lambda it: it.status == "ready",
        "problem": lambda it: it.status == "degraded" or it.route_availability is not None,
        "off": lambda it: it.status == "disabled",
    },
    facets=("kind", "status", "route", "cost", "classes", "provider"),
    actions=ACTIONS,
    create_actions=MAKES,
    links=(RecordLink("deployment", "deployment", lambda it: it.model_deployment_id),),
)  # fmt: skip
