"""The model catalog, definitions and deployments."""

from __future__ import annotations

from typing import Any, Final

from runwatch.records.model import ArmTemplate, CatalogConnection, CatalogEntry, Definition, Deployment, Offering
from runwatch.view.actions.arms import MODEL_ACTIONS
from runwatch.view.spec.resource import Column, Field, MemberLine, RecordLink, ResourceSpec, SectionSpec, SortKey
from runwatch.view.text.member_format import detail_time, newest_first_key, time_cell
from runwatch.view.text.status_format import detail_status, joined_cell, status_cell


def _model(entry: CatalogEntry) -> Definition:
    return entry.model or Definition({})


def _offering(entry: CatalogEntry) -> Offering:
    return entry.offering or Offering({})


def _connection(entry: CatalogEntry) -> CatalogConnection:
    return entry.connection or CatalogConnection({})


def _template(entry: CatalogEntry) -> ArmTemplate:
    return entry.arm_registration_template or ArmTemplate({})


def _deployment(entry: CatalogEntry) -> Deployment:
    return entry.deployment or Deployment({})


def _licence(entry: CatalogEntry) -> str | None:
    licence = _model(entry).release_license
    return None if licence is None else licence.identifier


def _source_id(entry: CatalogEntry) -> str | None:
    return None if entry.source is None else entry.source.source_id


DEPLOYMENT_LINES: Final = (
    MemberLine("model_deployment_id"), MemberLine("status", format=detail_status), MemberLine("model_key"),
    MemberLine("connection_id"), MemberLine("source_id"), MemberLine("served_variant_id"), MemberLine("upstream_ref"),
    MemberLine("resolved_upstream_ref"), MemberLine("resolution_evidence_ref"), MemberLine("release_assurance"),
    MemberLine("assurance_evidence_ref"), MemberLine("protocol_profile"), MemberLine("location"), MemberLine("route"),
    MemberLine("fallback_policy"), MemberLine("pricing_basis"), MemberLine("last_tested_at", format=detail_time),
    MemberLine("created_at", format=detail_time), MemberLine("updated_at", format=detail_time),
)  # fmt: skip
"""All lines of a deployment."""


def catalog_sections(prefix: str = "") -> tuple[SectionSpec, ...]:
    """Return the sections of a catalog entry, also for records that contain one.

    Args:
        prefix: Path of the entry with a trailing dot; empty for the entry itself.
    """

    def part(title: str, path: str, *names: str) -> SectionSpec:
        moments = {"tested_at", "last_tested_at", "created_at", "updated_at", "certification.generated_at"}
        standings = {"status", "lifecycle", "certification.standing"}
        return SectionSpec(
            title,
            tuple(
                MemberLine(
                    f"{prefix}{path}.{name}",
                    name,
                    detail_time if name in moments else detail_status if name in standings else None,
                )
                for name in names
            ),
        )

    return (
        part("Model", "model", "model_key", "publisher_id", "family", "release", "lifecycle", "capabilities",
             "release_license"),
        part("Who pays", "connection", "access_lane", "commercial_owner", "connection_id"),
        part("Source", "source", "source_id", "source_kind"),
        part("Offering", "offering", "data_classes", "protocol_profile", "auth_scheme", "location", "route",
             "pricing_basis", "fallback_policy", "tested_at", "resolved_upstream_ref", "resolution_evidence_ref",
             "served_variant"),
        part("Certification", "offering.certification", "certification_id", "standing", "evidence_schema_version",
             "generated_at", "subject"),
        part("Deployment", "deployment", "model_deployment_id", "status", "upstream_ref", "release_assurance",
             "last_tested_at", "created_at", "updated_at"),
        part("Saved as", "arm_registration_template", "display_name", "kind", "model_deployment_id", "capability_tags",
             "data_class_grants", "cost_class"),
        SectionSpec("Provenance", (MemberLine(f"{prefix}provenance", "provenance"),)),
    )  # fmt: skip


MODELS: Final[ResourceSpec[Any]] = ResourceSpec[CatalogEntry](
    record=CatalogEntry,
    name="models",
    singular="model",
    title="Models · model catalog",
    list_summary="list the models that can be saved",
    show_summary="show a model of the catalog",
    id_help="the model's deployment id, or its key",
    columns=(
        Column(
            id="model", title="model", aliases=("model_key",), value=lambda it: _model(it).model_key, min_cells=23,
            max_cells=44,
        ),
        Column(id="name", title="name", value=lambda it: _template(it).display_name, hide_order=3, min_cells=10),
        Column(id="source", title="source", aliases=("source_id",), value=_source_id, hide_order=6, min_cells=11),
        Column(
            id="lane", title="lane", aliases=("access_lane",), value=lambda it: _connection(it).access_lane,
            hide_order=7, min_cells=8,
        ),
        Column(
            id="classes", title="data classes", aliases=("data_classes",), value=lambda it: _offering(it).data_classes,
            format=joined_cell, hide_order=5, min_cells=12,
        ),
        Column(
            id="cost", title="cost", aliases=("cost_class",), value=lambda it: _template(it).cost_class, hide_order=4,
            min_cells=8,
        ),
        Column(
            id="standing", title="standing", value=lambda it: _deployment(it).status,
            cell=lambda it, context: status_cell(_deployment(it).status, context), hide_order=8, min_cells=8,
        ),
        Column(
            id="tested", title="tested", aliases=("tested_at",), value=lambda it: _offering(it).tested_at,
            format=time_cell, never_cut=True, hide_order=1,
            sort_key=lambda it: newest_first_key(_offering(it).tested_at),
        ),
        Column(
            id="deployment", title="deployment", aliases=("id", "model_deployment_id"), value=lambda it: it.id,
            hide_order=2, min_cells=9, elides_middle=True,
        ),
    ),
    fields=(
        Field(id="payer", aliases=("commercial_owner",), value=lambda it: _connection(it).commercial_owner),
        Field(id="publisher", value=lambda it: _model(it).publisher_id),
        Field(id="family", value=lambda it: _model(it).family),
        Field(id="lifecycle", value=lambda it: _model(it).lifecycle),
        Field(id="licence", aliases=("license",), value=_licence),
        Field(id="capability", aliases=("capabilities",), value=lambda it: _model(it).capabilities),
        Field(id="location", value=lambda it: _offering(it).location),
    ),
    sections=catalog_sections(),
    sort=(SortKey("model"),),
    empty="No models can be saved yet. `sources connect` connects a source, `sources sync ID` reads"
    " which models it serves.",
    note="What can be saved, not what may be spent.",
    flags={
        "byok": lambda it: _connection(it).access_lane == "byok",
        "public": lambda it: "public" in (_offering(it).data_classes or ()),
    },
    facets=("lane", "lifecycle", "licence", "standing", "classes", "source"),
    actions=MODEL_ACTIONS,
    links=(
        RecordLink("deployment", "deployment", lambda it: it.id or None),
        RecordLink("connection", "connection", lambda it: _connection(it).connection_id),
        RecordLink("definition", "definition", lambda it: _model(it).model_key),
    ),
)  # fmt: skip

DEPLOYMENTS: Final[ResourceSpec[Any]] = ResourceSpec[Deployment](
    record=Deployment,
    name="deployments",
    singular="deployment",
    title="Model deployments",
    list_summary="list models as sources serve them",
    columns=(
        Column(
            id="status", title="status", value=lambda it: it.status,
            cell=lambda it, context: status_cell(it.status, context), min_cells=10,
        ),
        Column(
            id="model", title="model", aliases=("model_key",), value=lambda it: it.model_key, min_cells=28, max_cells=44
        ),
        Column(
            id="deployment", title="deployment", aliases=("id", "model_deployment_id"), value=lambda it: it.id,
            hide_order=4, min_cells=9, elides_middle=True,
        ),
        Column(
            id="source", title="source", aliases=("source_id",), value=lambda it: it.source_id, hide_order=5,
            min_cells=8,
        ),
        Column(
            id="upstream", title="upstream", aliases=("upstream_ref",), value=lambda it: it.upstream_ref, hide_order=3,
            min_cells=10,
        ),
        Column(
            id="price", title="prices", aliases=("pricing_basis",), value=lambda it: it.pricing_basis, hide_order=2,
            min_cells=9,
        ),
        Column(
            id="tested", title="tested", aliases=("last_tested_at",), value=lambda it: it.last_tested_at,
            format=time_cell, never_cut=True, hide_order=1, sort_key=lambda it: newest_first_key(it.last_tested_at),
        ),
    ),
    fields=(
        Field(id="connection", aliases=("connection_id",), value=lambda it: it.connection_id),
        Field(id="location", value=lambda it: it.location), Field(id="route", value=lambda it: it.route),
    ),
    sections=(SectionSpec("Deployment", DEPLOYMENT_LINES),),
    sort=(SortKey("model"),),
    empty="No deployments yet. `sources sync ID` reads which models a connection serves.",
    flags={"listed": lambda it: it.status == "listed"},
    links=(RecordLink("connection", "connection", lambda it: it.connection_id),),
)  # fmt: skip

DEFINITIONS: Final[ResourceSpec[Any]] = ResourceSpec[Definition](
    record=Definition,
    name="definitions",
    singular="definition",
    title="Model definitions",
    list_summary="list models as their publishers describe them",
    columns=(
        Column(
            id="model", title="model", aliases=("id", "model_key"), value=lambda it: it.id, min_cells=28, max_cells=44
        ),
        Column(
            id="publisher", title="publisher", aliases=("publisher_id",), value=lambda it: it.publisher_id,
            hide_order=4, min_cells=8,
        ),
        Column(id="family", title="family", value=lambda it: it.family, hide_order=3, min_cells=6),
        Column(id="release", title="release", value=lambda it: it.release, hide_order=2),
        Column(
            id="lifecycle", title="lifecycle", value=lambda it: it.lifecycle,
            cell=lambda it, context: status_cell(it.lifecycle, context), hide_order=5, min_cells=8,
        ),
        Column(
            id="can", title="can", aliases=("capabilities",), value=lambda it: it.capabilities, format=joined_cell,
            hide_order=1, min_cells=10,
        ),
    ),
    sections=(
        SectionSpec(
            "Model",
            (
                MemberLine("model_key"), MemberLine("publisher_id"), MemberLine("family"), MemberLine("release"),
                MemberLine("lifecycle", format=detail_status), MemberLine("capabilities"),
            ),
        ),
        SectionSpec(
            "License",
            (
                MemberLine("release_license.identifier", "identifier"),
                MemberLine("release_license.commercial_use", "commercial_use", detail_status),
                MemberLine("release_license.evidence_ref", "evidence_ref"),
            ),
        ),
    ),
    sort=(SortKey("model"),),
    empty="The service describes no models.",
    note="What publishers say, not what can be used here.",
)  # fmt: skip
