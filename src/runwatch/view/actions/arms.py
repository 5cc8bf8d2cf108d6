"""Actions that save, change and disable models, agents and skills (manual: interface, "Arms")."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from runwatch.records.arm import Arm
from runwatch.records.credential import Credential
from runwatch.records.model import CatalogEntry, Deployment
from runwatch.records.source import SourceConnection
from runwatch.view.actions.fields import ADDRESS, AUTH_REF, DATA_CLASSES, DEFAULT_DATA_CLASS, NAME, quote_name
from runwatch.view.actions.form import field_text
from runwatch.view.spec.action import Mutation, ResourceAction
from runwatch.view.spec.action_parts import FieldOption, FormField, Suggestions

_COST_CLASSES: Final = ("economy", "standard", "premium")

_KINDS: Final = ("model", "agent", "skill")

_KIND: Final = FormField(
    path="kind", label="kind", kind="choice", choices=_KINDS, hint="model, agent or skill", is_required=True,
    option=FieldOption(name="--kind", metavar="KIND", help="what it is"),
)  # fmt: skip
_TAGS: Final = FormField(
    path="capability_tags", label="can do", kind="list", is_required=True,
    hint="comma-separated words, such as code",
    option=FieldOption(name="--capability-tag", metavar="TAG", help="what it can do; may be repeated"),
)  # fmt: skip
_COST: Final = FormField(
    path="cost_class", label="cost class", kind="choice", choices=_COST_CLASSES, hint="economy, standard or premium",
    option=FieldOption(name="--cost-class", metavar="CLASS", help="how expensive it is"),
)  # fmt: skip
_WHAT_EVERY_KIND_HAS: Final = (NAME, _TAGS, DATA_CLASSES, _COST)
_OF_A_MODEL: Final = (
    FormField(path="model_deployment_id", label="deployment", hint="from Model deployments, or empty",
        offer=Suggestions(kind=Deployment),
        option=FieldOption(name="--deployment-id", metavar="ID", help="the model deployment to run")),
    FormField(path="provider", label="provider", hint="the provider's name, where no deployment is named",
        option=FieldOption(name="--provider", metavar="NAME", help="the provider of a model without a deployment")),
    FormField(path="model_id", label="model", hint="the model's name at that provider",
        option=FieldOption(name="--model-id", metavar="ID", help="the provider's name of the model")),
    FormField(path="credential_ref", label="connection", hint="the connection to use, where several serve the model",
        offer=Suggestions(kind=SourceConnection),
        option=FieldOption(name="--credential-ref", metavar="REF",
                           help="the connection to use: its id or auth_binding_ref")),
)  # fmt: skip
_OF_AN_AGENT: Final = (
    replace(ADDRESS,
        option=FieldOption(name="--url", metavar="URL", is_required=False,
                           help="an agent: the https address of its endpoint")),
    replace(AUTH_REF, offer=Suggestions(kind=Credential)),
    FormField(path="lifecycle.max_runtime_s", label="max runtime s", kind="number",
        hint="the longest that a job may take, in whole seconds",
        option=FieldOption(name="--max-runtime-s", metavar="SECONDS", is_whole=True,
                           help="an agent: how many seconds it may work on one run")),
)  # fmt: skip
_OF_A_SKILL: Final = (
    FormField(path="artifact.content", label="text", kind="lines", is_required=True,
        hint="the text given to the model, exactly as written here",
        option=FieldOption(name="--artifact", metavar="FILE", is_required=False,
                           help="a skill: the file with its text, - for standard input")),
    FormField(path="artifact.version", label="version", hint="such as 1", start=lambda _: "1", is_required=True,
        option=FieldOption(name="--artifact-version", metavar="VERSION", uses_start=True,
                           help="the skill's version (default: 1)")),
    FormField(path="artifact.editable_regions", label="may change", kind="list",
        hint="names of the parts that a repair may change: each from a line [[region:NAME]] to [[/region:NAME]]",
        option=FieldOption(name="--editable-region", metavar="NAME", uses_start=True,
                           help="a part that a repair may change, from a line [[region:NAME]] to a line"
                           " [[/region:NAME]]; may be repeated")),
)  # fmt: skip


def _kind(word: str) -> Any:
    return lambda _: {"kind": word}


def _template(entry: CatalogEntry) -> Mapping[str, Any]:
    return {} if entry.arm_registration_template is None else entry.arm_registration_template.raw


def _from_template(field: FormField) -> FormField:
    return replace(field, start=lambda entry: field_text(_template(entry).get(field.path)))


def _first_grant(entry: CatalogEntry) -> str:
    """Return the data class to grant, as ``models save`` does: the default one where the entry allows it."""
    allowed = _template(entry).get(DATA_CLASSES.path)
    return DEFAULT_DATA_CLASS if isinstance(allowed, list) and DEFAULT_DATA_CLASS in allowed else field_text(allowed)


def _as_it_is(field: FormField) -> FormField:
    return replace(field, start=lambda arm: field_text(arm.raw.get(field.path)))


def _probe(response: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return what the preflight of an agent's endpoint found (manual: interface, "Arms")."""
    probe = response.get("preflight")
    if not isinstance(probe, Mapping):
        return []
    named = ((name, probe.get(name)) for name in ("reachable", "reason_code", "detail"))
    return [(name, field_text(value)) for name, value in named if value is not None]


SAVE: Final = ResourceAction[CatalogEntry](
    "new", "Save the model", "models save",
    enabled_when=lambda it: it.arm_registration_template is not None,
    off_because="The catalog entry does not say how to save it.",
    mutation=Mutation(
        operation="postArms",
        sentence=lambda it: f"Saves {_template(it).get('display_name') or it.id}, so that runs can be routed to it."
        " It calls no model and costs nothing.",
        confirm_label="Save it",
        cancel_label="Do not save it",
        fields=tuple(
            replace(field, start=_first_grant, hint="what it may be given, no more than the catalog allows")
            if field is DATA_CLASSES
            else _from_template(field)
            for field in _WHAT_EVERY_KIND_HAS
        ),
        members=_template,
        request="arm.ModelArmRequest",
        invalidates=(Arm,),
        completed="Model saved",
        next_step="{app.runs} {screen.new} starts a run, which may use it",
    ),
)  # fmt: skip

CREATE_MODEL: Final = ResourceAction[None](
    "model", "Save a model", "arms create",
    summary="save a model, an agent or a skill",
    notes="A model of the catalog is saved more easily with 'runwatch models save'.",
    mutation=Mutation(
        operation="postArms",
        sentence=lambda _: "Saves a model, so that runs can be routed to it. It calls no model and costs nothing.",
        confirm_label="Save it",
        cancel_label="Do not save it",
        members=_kind("model"),
        command_fields=(_KIND,),
        fields=(*_WHAT_EVERY_KIND_HAS, *_OF_A_MODEL),
        request="arm.ModelArmRequest",
    ),
)  # fmt: skip

CREATE_AGENT: Final = ResourceAction[None](
    "agent", "Save an agent", "arms create",
    mutation=Mutation(
        operation="postArms",
        sentence=lambda _: "Saves an agent and checks once that its address responds. It gets no job.",
        confirm_label="Save it",
        cancel_label="Do not save it",
        members=_kind("agent"),
        command_fields=(_KIND,),
        fields=(*_WHAT_EVERY_KIND_HAS, *_OF_AN_AGENT),
        request="arm.AgentArmRequest",
        summarize=_probe,
    ),
)  # fmt: skip

CREATE_SKILL: Final = ResourceAction[None](
    "skill", "Save a skill", "arms create",
    mutation=Mutation(
        operation="postArms",
        sentence=lambda _: "Saves a text that is used with a model. It calls no model and costs nothing.",
        confirm_label="Save it",
        cancel_label="Do not save it",
        members=lambda _: {"kind": "skill", "artifact": {"editable_regions": []}},
        command_fields=(_KIND,),
        fields=(*_WHAT_EVERY_KIND_HAS, *_OF_A_SKILL),
        request="arm.SkillArmRequest",
    ),
)  # fmt: skip

EDIT: Final = ResourceAction[Arm](
    "edit", "Change it", "arms edit",
    summary="change a saved model, agent or skill",
    enabled_when=lambda it: it.status != "disabled",
    off_because="It is disabled and cannot be enabled again.",
    mutation=Mutation(
        operation="patchArmsByArmId",
        sentence=lambda it: f"Changes {quote_name(it)}. Unchanged fields are not sent.",
        fields=tuple(_as_it_is(field) for field in _WHAT_EVERY_KIND_HAS),
        command_fields=(*_OF_A_MODEL, *_OF_AN_AGENT, *_OF_A_SKILL),
        changes_only=True,
        request="arm.ArmPatch",
    ),
)  # fmt: skip

DISABLE: Final = ResourceAction[Arm](
    "disable", "Disable it", "arms disable", is_destructive=True,
    summary="disable saved models, agents or skills for good",
    enabled_when=lambda it: it.status != "disabled", off_because="It is disabled already.",
    mutation=Mutation(
        operation="deleteArmsByArmId",
        sentence=lambda it: f"Disables {quote_name(it)} for good: no run is routed to it any more. Runs that"
        " use it already are not stopped.",
        cancel_label="Keep it",
        done="disabled",
    ),
)  # fmt: skip

MAKES: Final = (CREATE_MODEL, CREATE_AGENT, CREATE_SKILL)

ACTIONS: Final = (EDIT, DISABLE)
MODEL_ACTIONS: Final = (SAVE,)
