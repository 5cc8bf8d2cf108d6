"""Saved models, agents and skills."""

from __future__ import annotations

from typing import Any, Final

from runwatch.records.arm import Arm
from runwatch.settings.view_state import ViewState
from runwatch.view.actions.arms import ACTIONS, MAKES
from runwatch.view.problems.status_reasons import detail_status_reason, status_reason_text
from runwatch.view.query.parser import build_field_filter
from runwatch.view.spec.members import column, fields, id_column, member_lines, status_column
from runwatch.view.spec.resource import (
    ComputedLine,
    LineTarget,
    MemberLine,
    RecordLink,
    ResourceSpec,
    SectionSpec,
    SortKey,
)
from runwatch.view.text.format import RenderContext
from runwatch.view.text.glyphs import Role
from runwatch.view.text.member_format import model_cell, model_name
from runwatch.view.text.safe_text import SafeText, line
from runwatch.view.text.status_format import joined_cell
from runwatch.view.text.styled_text import CellText, StyledText


def _its_runs(arm: Arm, _: object) -> LineTarget | None:
    kept = build_field_filter("arm", arm.id) if arm.id else ""
    return LineTarget(ViewState("runs", filter=kept), line("enter lists runs that used it")) if kept else None


def _reason(arm: Arm) -> str | None:
    """Return why it cannot be used in every way: the reason of its status, or that of its route."""
    return arm.status_reason or (arm.route_availability.reason if arm.route_availability else None)


def _reason_cell(arm: Arm, context: RenderContext) -> CellText:
    """Format the reason for a list, after the word for the route where it is the route's."""
    reason, route = _reason(arm), arm.route_availability
    if reason is None:
        return StyledText(line(context.glyphs.nothing), Role.QUIET)
    shown = status_reason_text(reason)
    return line(f"{route.status}: {shown}" if route and route.status and not arm.status_reason else shown)


def _name_cell(arm: Arm, context: RenderContext) -> SafeText:
    """Return the name, with the end of the id where another saved model has the same one."""
    return line(context.names.get(arm.id) or arm.display_name or context.glyphs.nothing)


def _hint(arm: Arm, _: object, __: RenderContext) -> CellText | None:
    if arm.status == "degraded":
        return StyledText(line("Runs are routed to it only when they require it, and may fail there."), Role.WARN)
    if arm.status == "disabled":
        return StyledText(line("No run is routed to it any more."), Role.OFF)
    return None


ARMS: Final[ResourceSpec[Any]] = ResourceSpec[Arm](
    record=Arm,
    name="arms",
    singular="saved model",
    name_of=lambda it: it.display_name,
    title="Saved models",
    list_summary="list saved models, agents and skills",
    show_summary="show a saved model, agent or skill",
    columns=(
        status_column("status", server_parameter="status", min_cells=10),
        column(
            "name|display_name", cell=_name_cell, min_cells=24, whole_first=True, keeps_last_part=True, is_pure=False
        ),
        column("kind", server_parameter="kind", choices=("model", "agent", "skill"), hide_order=6, min_cells=5),
        column(
            "reason|status_reason", _reason, cell=_reason_cell, hide_order=7, min_cells=12, whole_first=True,
            hide_if_empty=True,
        ),
        column(
            "model|model_id", lambda it: it.model_id or it.model_deployment_id, format=model_cell, hide_order=3,
            sort_key=lambda it: model_name(it.model_id or it.model_deployment_id), min_cells=14,
        ),
        column("classes|data_class_grants", title="data classes", format=joined_cell, hide_order=5, min_cells=12),
        column("cost|cost_class", hide_order=4, min_cells=8),
        column("tags|capability_tags", format=joined_cell, hide_order=2, min_cells=10, is_extra=True),
        id_column("arm|id|arm_id=id", hide_order=1, whole_first=False, is_extra=True),
    ),
    fields=fields(
        "provider connection|connection_name connection_id deployment|model_deployment_id"
        " route=route_availability.status"
    ),
    sections=(
        SectionSpec(
            "Saved",
            (
                MemberLine("arm_id", leads=_its_runs), *member_lines("display_name kind status:status"),
                MemberLine("status_reason", format=detail_status_reason),
                ComputedLine("means", _hint),
                *member_lines("capability_tags data_class_grants cost_class created_at:time updated_at:time"),
            ),
        ),
        SectionSpec("Model", member_lines(
            "provider model_id model_deployment_id model_lifecycle:status credential_ref connection_name connection_id"
        )),
        SectionSpec("Route", (
            *member_lines("status:status", under="route_availability"),
            MemberLine("route_availability.reason", "reason", detail_status_reason),
            *member_lines("since:time until:time", under="route_availability"),
        )),
        SectionSpec(
            "Agent",
            (
                *member_lines("url auth_ref", under="endpoint"),
                *member_lines("long_running cancellable max_runtime_s", under="lifecycle"),
            ),
        ),
        SectionSpec("Skill", member_lines("artifact_hash artifact")),
    ),
    sort=(SortKey("name"),),
    empty="Nothing is saved yet. `runwatch models list` shows what can be, `runwatch models save ID` saves a model.",
    empty_keys="Press {app.models} (Models), then {screen.new} on a model.",
    flags={
        "ready": lambda it: it.status == "ready",
        "problem": lambda it: it.status == "degraded" or it.route_availability is not None,
        "off": lambda it: it.status == "disabled",
    },
    facets=("kind", "status", "route", "cost", "classes", "provider"),
    actions=ACTIONS,
    create_actions=MAKES,
    links=(
        RecordLink("deployment", "deployment", lambda it: it.model_deployment_id),
        RecordLink("connection", "connection", lambda it: it.connection_id),
    ),
)  # fmt: skip
