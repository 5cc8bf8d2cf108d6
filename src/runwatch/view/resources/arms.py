"""Saved models, agents and skills."""

from __future__ import annotations

from typing import Any, Final

from runwatch.records.arm import Arm, RouteAvailability
from runwatch.settings.session import View
from runwatch.view.drawn import line
from runwatch.view.format import Context
from runwatch.view.glyphs import Role
from runwatch.view.query_text import quoted
from runwatch.view.resource import (
    At,
    Column,
    Field,
    Lead,
    Link,
    ResourceSpec,
    SectionSpec,
    Shown,
    SortKey,
    Styled,
    Told,
)
from runwatch.view.resources.common import as_moment
from runwatch.view.resources.standing import as_standing, standing, words
from runwatch.view.writes.arms import ACTIONS, MAKES


def _is_on(arm: Arm) -> bool:
    return arm.status != "disabled"


def _route(arm: Arm) -> RouteAvailability:
    return arm.route_availability or RouteAvailability({})


def _model(arm: Arm) -> str | None:
    return arm.model_id or arm.model_deployment_id


def _its_runs(arm: Arm, _: object) -> Lead | None:
    """The runs that used it, as far as something tells which option a run has used."""
    return Lead(View("runs", filter=f"arm={quoted(arm.id)}"), line("runs that used it")) if arm.id else None


def _hint(arm: Arm, _: object, __: Context) -> Shown | None:
    """What a status that is not plain means for runs."""
    if arm.status == "degraded":
        return Styled(line("Runs are routed to it only when they require it, and may fail there."), Role.WARN)
    if arm.status == "disabled":
        return Styled(line("No run is routed to it any more."), Role.OFF)
    return None


ARMS: Final[ResourceSpec[Any]] = ResourceSpec[Arm](
    record=Arm,
    name="arms",
    singular="arm",
    title="Saved models · arms",
    list_summary="list saved models, agents and skills",
    show_summary="show a saved model, agent or skill",
    columns=(
        Column(id="status", title="status", value=lambda it: it.status,
               cell=lambda it, context: standing(it.status, context), server="status", least=10),
        Column(id="name", title="name", aliases=("display_name",), value=lambda it: it.display_name, least=22),
        Column(id="kind", title="kind", value=lambda it: it.kind, server="kind",
               choices=("model", "agent", "skill"), leaves=6, least=5),
        Column(id="model", title="model", aliases=("model_id",), value=_model, leaves=3, least=14),
        Column(id="classes", title="data classes", aliases=("data_class_grants",),
               value=lambda it: it.data_class_grants, format=words, leaves=5, least=12),
        Column(id="cost", title="cost", aliases=("cost_class",), value=lambda it: it.cost_class, leaves=4,
               least=8),
        Column(id="tags", title="tags", aliases=("capability_tags",), value=lambda it: it.capability_tags,
               format=words, leaves=2, least=10),
        Column(id="arm", title="arm", aliases=("id", "arm_id"), value=lambda it: it.id, leaves=1, least=9,
               keeps_ends=True),
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
                At("arm_id", leads=_its_runs), At("display_name"), At("kind"), At("status", format=as_standing),
                At("status_reason"), Told("means", _hint), At("capability_tags"), At("data_class_grants"),
                At("cost_class"), At("created_at", format=as_moment), At("updated_at", format=as_moment),
            ),
        ),
        SectionSpec(
            "Model",
            (
                At("provider"), At("model_id"), At("model_deployment_id"),
                At("model_lifecycle", format=as_standing), At("credential_ref"),
            ),
        ),
        SectionSpec(
            "Route",
            (
                At("route_availability.status", "status", as_standing),
                At("route_availability.reason", "reason"),
                At("route_availability.since", "since", as_moment),
                At("route_availability.until", "until", as_moment),
            ),
        ),
        SectionSpec(
            "Agent",
            (
                At("endpoint.url", "url"), At("endpoint.auth_ref", "auth_ref"),
                At("lifecycle.long_running", "long_running"), At("lifecycle.cancellable", "cancellable"),
                At("lifecycle.max_runtime_s", "max_runtime_s"),
            ),
        ),
        SectionSpec("Skill", (At("artifact_hash"), At("artifact"))),
    ),
    sort=(SortKey("name"),),
    empty="Nothing is saved yet. `runwatch models list` shows what can be, `runwatch models save ID` saves a model.",
    flags={
        "ready": lambda it: it.status == "ready",
        "problem": lambda it: it.status == "degraded" or it.route_availability is not None,
        "off": lambda it: it.status == "disabled",
    },
    facets=("kind", "status", "route", "cost", "classes", "provider"),
    actions=ACTIONS,
    makes=MAKES,
    links=(Link("deployment", "deployment", lambda it: it.model_deployment_id),),
)  # fmt: skip
