"""Saving, changing and disabling models, agents and skills (wire reference 2.3)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from runwatch.records.arm import Arm
from runwatch.records.credential import Credential
from runwatch.records.model import CatalogEntry, Deployment
from runwatch.records.source import SourceConnection
from runwatch.view.form import text_of
from runwatch.view.mutation import Action, Ask, Mutation, Offer

_COST_CLASSES: Final = ("economy", "standard", "premium")

_NAME: Final = Ask(
    path="display_name", label="name", hint="what people call it, up to 200 characters", is_required=True
)
_TAGS: Final = Ask(
    path="capability_tags",
    label="can do",
    kind="list",
    is_required=True,
    hint="words with commas between, such as code",
)
_GRANTS: Final = Ask(
    path="data_class_grants", label="data classes", kind="list", is_required=True,
    hint="what it may be given: public, sandbox, tenant_internal or others",
)  # fmt: skip
_COST: Final = Ask(
    path="cost_class", label="cost class", kind="choice", choices=_COST_CLASSES, hint="economy, standard or premium"
)
_WHAT_EVERY_KIND_HAS: Final = (_NAME, _TAGS, _GRANTS, _COST)


def _kind(word: str) -> Any:
    return lambda _: {"kind": word}


def _template(entry: CatalogEntry) -> Mapping[str, Any]:
    return {} if entry.arm_registration_template is None else entry.arm_registration_template.raw


def _from_template(ask: Ask) -> Ask:
    return Ask(
        path=ask.path, label=ask.label, hint=ask.hint, kind=ask.kind, choices=ask.choices,
        is_required=ask.is_required, start=lambda entry: text_of(_template(entry).get(ask.path)),
    )  # fmt: skip


def _as_it_is(ask: Ask) -> Ask:
    return Ask(
        path=ask.path, label=ask.label, hint=ask.hint, kind=ask.kind, choices=ask.choices,
        is_required=ask.is_required, start=lambda arm: text_of(arm.raw.get(ask.path)),
    )  # fmt: skip


def _probe(answer: Any) -> list[tuple[str, str]]:
    """What a first look at an agent's endpoint found (wire reference 2.3)."""
    probe = answer.get("preflight") if isinstance(answer, Mapping) else None
    if not isinstance(probe, Mapping):
        return []
    named = ((name, probe.get(name)) for name in ("reachable", "reason_code", "detail"))
    return [(name, text_of(value)) for name, value in named if value is not None]


SAVE: Final = Action[CatalogEntry](
    "save", "Save the model", "models save",
    enabled_when=lambda it: it.arm_registration_template is not None,
    off_because="The entry says not how it is to be saved.",
    mutation=Mutation(
        operation="postArms",
        sentence=lambda it: f"Saves {_template(it).get('display_name') or it.id}, so that runs can be routed to it."
        " It calls no model and costs nothing.",
        confirm="Save it",
        keep="Do not save it",
        asks=tuple(_from_template(ask) for ask in _WHAT_EVERY_KIND_HAS),
        members=_template,
        request="arm.ModelArmRequest",
        reads=(Arm,),
    ),
)  # fmt: skip

CREATE_MODEL: Final = Action[None](
    "model", "Save a model", "arms create",
    mutation=Mutation(
        operation="postArms",
        sentence=lambda _: "Saves a model, so that runs can be routed to it. It calls no model and costs nothing.",
        confirm="Save it",
        keep="Do not save it",
        members=_kind("model"),
        asks=(
            *_WHAT_EVERY_KIND_HAS,
            Ask(path="model_deployment_id", label="deployment", hint="id of a deployment of the catalog; or else:",
                offer=Offer(kind=Deployment)),
            Ask(path="provider", label="provider", hint="the provider's name, where no deployment is named"),
            Ask(path="model_id", label="model", hint="the model's name at that provider"),
            Ask(path="credential_ref", label="connection", hint="the connection to use, where several serve the model",
                offer=Offer(kind=SourceConnection)),
        ),
        request="arm.ModelArmRequest",
    ),
)  # fmt: skip

CREATE_AGENT: Final = Action[None](
    "agent", "Save an agent", "arms create",
    mutation=Mutation(
        operation="postArms",
        sentence=lambda _: "Saves an agent and looks once whether its address can be reached. No job is given to it.",
        confirm="Save it",
        keep="Do not save it",
        members=_kind("agent"),
        asks=(
            *_WHAT_EVERY_KIND_HAS,
            Ask(path="endpoint.url", label="address", hint="an absolute http or https URL", is_required=True),
            Ask(path="endpoint.auth_ref", label="credential", hint="empty, or a credential reference; never a key",
                offer=Offer(kind=Credential)),
            Ask(path="lifecycle.max_runtime_s", label="max runtime s", kind="number",
                hint="the longest that a job may take, in whole seconds"),
        ),
        request="arm.AgentArmRequest",
        told=_probe,
    ),
)  # fmt: skip

CREATE_SKILL: Final = Action[None](
    "skill", "Save a skill", "arms create",
    mutation=Mutation(
        operation="postArms",
        sentence=lambda _: "Saves a text that is used with a model. It calls no model and costs nothing.",
        confirm="Save it",
        keep="Do not save it",
        members=lambda _: {"kind": "skill", "artifact": {"editable_regions": []}},
        asks=(
            *_WHAT_EVERY_KIND_HAS,
            Ask(path="artifact.content", label="text", kind="lines", is_required=True,
                hint="what is given to the model; sent exactly as it stands here"),
            Ask(path="artifact.version", label="version", hint="such as 1", start=lambda _: "1", is_required=True),
            Ask(path="artifact.editable_regions", label="may change", kind="list",
                hint="names of the parts that a repair may change"),
        ),
        request="arm.SkillArmRequest",
    ),
)  # fmt: skip

EDIT: Final = Action[Arm](
    "edit", "Change it", "arms edit", enabled_when=lambda it: it.status != "disabled",
    off_because="It is disabled, and nothing enables it again.",
    mutation=Mutation(
        operation="patchArmsByArmId",
        sentence=lambda it: f"Changes {it.display_name or it.id}. What is left as it stands is not sent.",
        confirm="Change it",
        path=lambda it: {"arm_id": it.id},
        asks=tuple(_as_it_is(ask) for ask in _WHAT_EVERY_KIND_HAS),
        changes_only=True,
        request="arm.ArmPatch",
    ),
)  # fmt: skip

DISABLE: Final = Action[Arm](
    "disable", "Disable it", "arms disable", is_destructive=True,
    enabled_when=lambda it: it.status != "disabled", off_because="It is disabled already.",
    mutation=Mutation(
        operation="deleteArmsByArmId",
        sentence=lambda it: f"Disables {it.display_name or it.id} for good: no run is routed to it any more. Runs that"
        " use it already are not stopped.",
        confirm="Disable it",
        keep="Keep it",
        path=lambda it: {"arm_id": it.id},
    ),
)  # fmt: skip

MAKES: Final = (CREATE_MODEL, CREATE_AGENT, CREATE_SKILL)
