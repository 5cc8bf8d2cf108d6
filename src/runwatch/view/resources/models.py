"""The model catalog, definitions and deployments."""

from __future__ import annotations

from typing import Any, Final

from runwatch.records.model import ArmTemplate, CatalogConnection, CatalogEntry, Definition, Deployment, Offering
from runwatch.view.resource import At, Column, Field, Link, ResourceSpec, SectionSpec, SortKey
from runwatch.view.resources.common import as_moment, newest_first, when
from runwatch.view.resources.standing import as_standing, standing, words
from runwatch.view.writes.arms import MODEL_ACTIONS


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
    At("model_deployment_id"), At("status", format=as_standing), At("model_key"), At("connection_id"), At("source_id"),
    At("served_variant_id"), At("upstream_ref"), At("resolved_upstream_ref"), At("resolution_evidence_ref"),
    At("release_assurance"), At("assurance_evidence_ref"), At("protocol_profile"), At("location"), At("route"),
    At("fallback_policy"), At("pricing_basis"), At("last_tested_at", format=as_moment),
    At("created_at", format=as_moment), At("updated_at", format=as_moment),
)  # fmt: skip
"""A deployment, whole."""


def catalog_sections(prefix: str = "") -> tuple[SectionSpec, ...]:
    """The sections of a catalog entry, which other records hold as a member.

    Args:
        prefix: The path of the entry with a dot behind it; empty for the entry itself.
    """

    def part(title: str, path: str, *names: str) -> SectionSpec:
        moments = {"tested_at", "last_tested_at", "created_at", "updated_at", "certification.generated_at"}
        standings = {"status", "lifecycle", "certification.standing"}
        return SectionSpec(
            title,
            tuple(
                At(
                    f"{prefix}{path}.{name}",
                    name,
                    as_moment if name in moments else as_standing if name in standings else None,
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
        SectionSpec("Provenance", (At(f"{prefix}provenance", "provenance"),)),
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
        Column(id="model", title="model", aliases=("model_key",), value=lambda it: _model(it).model_key, least=23,
               most=44),
        Column(id="name", title="name", value=lambda it: _template(it).display_name, leaves=3, least=10),
        Column(id="source", title="source", aliases=("source_id",), value=_source_id, leaves=6, least=11),
        Column(id="lane", title="lane", aliases=("access_lane",), value=lambda it: _connection(it).access_lane,
               leaves=7, least=8),
        Column(id="classes", title="data classes", aliases=("data_classes",),
               value=lambda it: _offering(it).data_classes, format=words, leaves=5, least=12),
        Column(id="cost", title="cost", aliases=("cost_class",), value=lambda it: _template(it).cost_class, leaves=4,
               least=8),
        Column(id="standing", title="standing", value=lambda it: _deployment(it).status,
               cell=lambda it, context: standing(_deployment(it).status, context), leaves=8, least=8),
        Column(id="tested", title="tested", aliases=("tested_at",), value=lambda it: _offering(it).tested_at,
               format=when, is_whole=True, leaves=1, sort_key=lambda it: newest_first(_offering(it).tested_at)),
        Column(id="deployment", title="deployment", aliases=("id", "model_deployment_id"), value=lambda it: it.id,
               leaves=2, least=9, keeps_ends=True),
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
    empty="No models can be saved yet. `runwatch sources connect` connects a source, `runwatch sources sync ID` reads"
    " which models it serves.",
    note="What can be saved, not what may be spent.",
    flags={
        "byok": lambda it: _connection(it).access_lane == "byok",
        "public": lambda it: "public" in (_offering(it).data_classes or ()),
    },
    facets=("lane", "lifecycle", "licence", "standing", "classes", "source"),
    actions=MODEL_ACTIONS,
    links=(
        Link("deployment", "deployment", lambda it: it.id or None),
        Link("connection", "connection", lambda it: _connection(it).connection_id),
        Link("definition", "definition", lambda it: _model(it).model_key),
    ),
)  # fmt: skip

DEPLOYMENTS: Final[ResourceSpec[Any]] = ResourceSpec[Deployment](
    record=Deployment,
    name="deployments",
    singular="deployment",
    title="Model deployments",
    list_summary="list models as sources serve them",
    columns=(
        Column(id="status", title="status", value=lambda it: it.status,
               cell=lambda it, context: standing(it.status, context), least=10),
        Column(id="model", title="model", aliases=("model_key",), value=lambda it: it.model_key, least=28, most=44),
        Column(id="deployment", title="deployment", aliases=("id", "model_deployment_id"), value=lambda it: it.id,
               leaves=4, least=9, keeps_ends=True),
        Column(id="source", title="source", aliases=("source_id",), value=lambda it: it.source_id, leaves=5, least=8),
        Column(id="upstream", title="upstream", aliases=("upstream_ref",), value=lambda it: it.upstream_ref, leaves=3,
               least=10),
        Column(id="price", title="prices", aliases=("pricing_basis",), value=lambda it: it.pricing_basis, leaves=2,
               least=9),
        Column(id="tested", title="tested", aliases=("last_tested_at",), value=lambda it: it.last_tested_at,
               format=when, is_whole=True, leaves=1, sort_key=lambda it: newest_first(it.last_tested_at)),
    ),
    fields=(
        Field(id="connection", aliases=("connection_id",), value=lambda it: it.connection_id),
        Field(id="location", value=lambda it: it.location),
        Field(id="route", value=lambda it: it.route),
    ),
    sections=(SectionSpec("Deployment", DEPLOYMENT_LINES),),
    sort=(SortKey("model"),),
    empty="No deployments yet. `runwatch sources sync ID` reads which models a connection serves.",
    flags={"listed": lambda it: it.status == "listed"},
    links=(Link("connection", "connection", lambda it: it.connection_id),),
)  # fmt: skip

DEFINITIONS: Final[ResourceSpec[Any]] = ResourceSpec[Definition](
    record=Definition,
    name="definitions",
    singular="definition",
    title="Model definitions",
    list_summary="list models as their publishers describe them",
    columns=(
        Column(id="model", title="model", aliases=("id", "model_key"), value=lambda it: it.id, least=28, most=44),
        Column(id="publisher", title="publisher", aliases=("publisher_id",), value=lambda it: it.publisher_id,
               leaves=4, least=8),
        Column(id="family", title="family", value=lambda it: it.family, leaves=3, least=6),
        Column(id="release", title="release", value=lambda it: it.release, leaves=2),
        Column(id="lifecycle", title="lifecycle", value=lambda it: it.lifecycle,
               cell=lambda it, context: standing(it.lifecycle, context), leaves=5, least=8),
        Column(id="can", title="can", aliases=("capabilities",), value=lambda it: it.capabilities, format=words,
               leaves=1, least=10),
    ),
    sections=(
        SectionSpec(
            "Model",
            (
                At("model_key"), At("publisher_id"), At("family"), At("release"),
                At("lifecycle", format=as_standing), At("capabilities"),
            ),
        ),
        SectionSpec(
            "License",
            (
                At("release_license.identifier", "identifier"),
                At("release_license.commercial_use", "commercial_use", as_standing),
                At("release_license.evidence_ref", "evidence_ref"),
            ),
        ),
    ),
    sort=(SortKey("model"),),
    empty="The service describes no models.",
    note="What publishers say, not what can be used here.",
)  # fmt: skip
