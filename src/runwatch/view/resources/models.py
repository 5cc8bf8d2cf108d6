"""The model catalog, definitions and deployments."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from runwatch.records.arm import Arm
from runwatch.records.model import CatalogConnection, CatalogEntry, Definition, Deployment
from runwatch.records.source import SourceConnection
from runwatch.view.actions.arms import MODEL_ACTIONS
from runwatch.view.actions.fields import quote_name
from runwatch.view.actions.sources import SYNC_NEW, TEST_NEW, first_step
from runwatch.view.detail.sections import DetailLine, DetailSection, text_line
from runwatch.view.spec.members import column, fields, id_column, member_lines, status_column, time_column
from runwatch.view.spec.resource import ComputedLine, MemberLine, RecordLink, ResourceSpec, SectionSpec, SortKey
from runwatch.view.text.format import RenderContext, short_id
from runwatch.view.text.safe_text import SafeText, line
from runwatch.view.text.shell_commands import add_service
from runwatch.view.text.status_format import joined_cell, status_cell
from runwatch.view.text.styled_text import CellText, with_role

MAX_NAMED_CONNECTIONS: Final = 3


def _model(entry: CatalogEntry) -> Definition:
    return entry.model or Definition({})


def _connection(entry: CatalogEntry) -> CatalogConnection:
    return entry.connection or CatalogConnection({})


def _pool_note(entry: CatalogEntry, _: object, __: RenderContext) -> CellText | None:
    is_own = _connection(entry).access_lane in {None, "byok"}
    return None if is_own else line("Catalog only: your balance decides what can run.")


DEPLOYMENT_LINES: Final = member_lines(
    "model_deployment_id status:status model_key connection_id source_id served_variant_id upstream_ref "
    "resolved_upstream_ref resolution_evidence_ref release_assurance assurance_evidence_ref protocol_profile location "
    "route fallback_policy pricing_basis last_tested_at:time created_at:time updated_at:time"
)


def catalog_sections(prefix: str = "") -> tuple[SectionSpec, ...]:
    """Return the sections of a catalog entry; of one inside another record, with its path and a dot as the prefix."""

    parts = (
        ("Model", "model", "model_key publisher_id family release lifecycle:status capabilities release_license"),
        ("Who pays", "connection", "access_lane commercial_owner connection_id display_name"),
        ("Source", "source", "source_id source_kind"),
        ("Offering", "offering", "data_classes protocol_profile auth_scheme location route pricing_basis"
         " fallback_policy tested_at:time resolved_upstream_ref resolution_evidence_ref served_variant"),
        ("Certification", "offering.certification", "certification_id standing evidence_schema_version generated_at"
         " subject"),
        ("Deployment", "deployment", "model_deployment_id status:status upstream_ref release_assurance"
         " last_tested_at:time created_at:time updated_at:time"),
        ("Saved as", "arm_registration_template", "display_name kind model_deployment_id capability_tags"
         " data_class_grants cost_class"),
    )  # fmt: skip
    sections = [SectionSpec(title, member_lines(words, under=f"{prefix}{path}")) for title, path, words in parts]
    if not prefix:
        sections[1] = sections[1]._replace(lines=(*sections[1].lines, ComputedLine("means", _pool_note)))
    return (
        *sections,
        SectionSpec("Provenance", (MemberLine(f"{prefix}provenance", "provenance"),)),
    )


MODELS: Final[ResourceSpec[Any]] = ResourceSpec[CatalogEntry](
    record=CatalogEntry,
    name="models",
    singular="model",
    name_of=lambda it: _model(it).model_key,
    title="Models",
    list_summary="list the models that can be saved",
    show_summary="show a model of the catalog",
    id_help="the model's deployment id, or its key",
    columns=(
        # Names of one server may differ in a few letters anywhere, so other columns leave before one is cut.
        column(
            "model|model_key=model.model_key", min_cells=23, max_cells=64, never_cut=True, elides_middle=True
        ),
        column("name=arm_registration_template.display_name", hide_order=6, min_cells=18, whole_first=True),
        column("connection|connection_name=connection.display_name", hide_order=8, min_cells=10, hide_if_empty=True),
        column(
            "source|source_id=source.source_id", hide_order=7, min_cells=11, elides_middle=True, keeps_difference=True
        ),
        column("lane|access_lane=connection.access_lane", hide_order=5, min_cells=13),
        column(
            "classes|data_classes=offering.data_classes", title="data classes", format=joined_cell, hide_order=3,
            min_cells=12,
        ),
        column("cost|cost_class=arm_registration_template.cost_class", hide_order=4, min_cells=8),
        status_column("standing=deployment.status", hide_order=9, min_cells=8),
        time_column("tested|tested_at=offering.tested_at", hide_order=1, is_extra=True),
        id_column("deployment|id|model_deployment_id=id", hide_order=2, whole_first=False, is_extra=True),
    ),
    fields=fields(
        "payer|commercial_owner=connection.commercial_owner publisher=model.publisher_id family=model.family "
        "lifecycle=model.lifecycle licence|license=model.release_license.identifier "
        "capability|capabilities=model.capabilities location=offering.location "
        "connection_id=connection.connection_id"
    ),
    sections=catalog_sections(),
    sort=(SortKey("model"),),
    empty="No models can be saved yet. `runwatch sources connect` connects a source, `runwatch sources sync ID` reads"
    " which models it serves.",
    empty_keys="Press {screen.new} to connect a source; its models are listed here.",
    flags={
        "byok": lambda it: _connection(it).access_lane == "byok",
        "public": lambda it: it.offering is not None and "public" in (it.offering.data_classes or ()),
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
        status_column("status", min_cells=10),
        column("model|model_key", min_cells=28, max_cells=44),
        id_column("deployment|id|model_deployment_id=id", hide_order=4),
        column("source|source_id", hide_order=5, min_cells=8),
        column("upstream|upstream_ref", hide_order=3, min_cells=10),
        column("price|pricing_basis", title="prices", hide_order=2, min_cells=9),
        time_column("tested|last_tested_at", hide_order=1),
    ),
    fields=fields("connection|connection_id location route"),
    sections=(SectionSpec("Deployment", DEPLOYMENT_LINES),),
    sort=(SortKey("model"),),
    empty="No deployments yet. `runwatch sources sync ID` reads which models a connection serves.",
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
        column("model|id|model_key=id", min_cells=28, max_cells=44),
        column("publisher|publisher_id", hide_order=4, min_cells=8),
        column("family", hide_order=3, min_cells=6),
        column("release", hide_order=2, never_cut=True),
        status_column("lifecycle", hide_order=5, min_cells=8, never_cut=True),
        column("can|capabilities", format=joined_cell, hide_order=1, min_cells=10, max_cells=60),
    ),
    sections=(
        SectionSpec("Model", member_lines("model_key publisher_id family release lifecycle:status capabilities")),
        SectionSpec("License", member_lines("identifier commercial_use:status evidence_ref", under="release_license")),
    ),
    sort=(SortKey("model"),),
    empty="The service describes no models.",
    note="What publishers say, not what can be used here.",
)  # fmt: skip


def saved_model_sections(
    deployment_id: str, arms: Iterable[Arm], context: RenderContext, *, is_known: bool, save: object = None
) -> list[DetailSection]:
    """Return the saved models of a deployment; empty as long as their list was not read.

    ``save`` is the target of the link that saves the model; ``None`` for none.
    """
    if not is_known or not deployment_id:
        return []
    found = [arm for arm in arms if arm.model_deployment_id == deployment_id]
    if not found:
        none = text_line("saved models", "none of this deployment", target=save, does="enter saves it" if save else "")
        return [DetailSection(line("Used by"), (none,))]
    lines = []
    for arm in found:
        status, role = with_role(status_cell(arm.status, context))
        name = line(arm.display_name) if arm.display_name else short_id(arm.id, context.glyphs)
        lines.append(DetailLine(status, name, role, target=(Arm.KIND, arm.id)))
    return [DetailSection(line("Used by"), tuple(lines))]


def unread_models_lines(
    connections: Sequence[SourceConnection], context: RenderContext, key: str
) -> tuple[SafeText, ...]:
    """Return the text of an empty catalog: the connections of which it lists no model, and what each needs next, with
    the key that does it; empty where nothing can be changed.
    """
    found = [_unread_text(each) for each in connections[:MAX_NAMED_CONNECTIONS]]
    left = len(connections) - len(found)
    more = [f"{left} more are connected without a model that is listed here."] if left else []
    first, is_one = connections[0], len(connections) == 1
    step = first_step(first)
    does = {SYNC_NEW: "reads its models", TEST_NEW: "tests it, then reads its models"}[step]
    if not is_one:
        does = "reads the models of one of them, after a test where it needs one"
    offer = [f"{key} {does}. On the command line:"] if key else []
    command = f"`runwatch {step.command} {first.id if is_one else 'ID'}`"
    return tuple(line(add_service(each, context.service), None) for each in (*found, *more, *offer, command))


def _unread_text(connection: SourceConnection) -> str:
    lacks = "no model of it is listed here" if connection.is_usable else "no test of it has passed"
    return f"{quote_name(connection)} ({line(connection.id)}) is connected, but {lacks}."
