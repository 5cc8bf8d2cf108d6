"""Bodies of registered options: models, agents and skills (manual: interface, "Arms")."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal
from urllib.parse import urlsplit

from pydantic import Field, ValidationInfo, field_validator

from runwatch.records.requests.body import OpenBody, unique

ARM_KINDS: Final = ("model", "agent", "skill")
ENTRIES: Final = 100
"""Maximum tags, grants or editable regions of one option. Not in the specification."""

ARTIFACT_CHARACTERS: Final = 500_000
"""Maximum content of a skill, well within the limit on request bodies. Not in the specification."""

Word = Annotated[str, Field(min_length=1, max_length=200)]
Words = Annotated[list[Word], Field(max_length=ENTRIES)]
UniqueWords = Annotated[Words, unique("each entry may be named once")]


class ArmRequest(OpenBody):
    """Common part of every kind of option.

    Members of another kind are refused, because a dropped one would look registered.
    """

    kind: Literal["model", "agent", "skill"]
    display_name: Word
    capability_tags: UniqueWords
    data_class_grants: UniqueWords
    cost_class: Literal["economy", "standard", "premium"] | None = None


class ModelArmRequest(ArmRequest):
    """A model: a deployment of the catalog, or a provider's name and its name for the model."""

    kind: Literal["model"]
    model_deployment_id: Word | None = None
    provider: Annotated[Word | None, Field(validate_default=True)] = None
    model_id: Annotated[Word | None, Field(validate_default=True)] = None
    credential_ref: Word | None = None
    endpoint: None = None
    lifecycle: None = None
    artifact: None = None

    @field_validator("provider", "model_id")
    @classmethod
    def _one_way_to_name_the_model(cls, value: str | None, info: ValidationInfo) -> str | None:
        bound = info.data.get("model_deployment_id", "")
        if bound is None and value is None:
            raise ValueError("required for a model without a deployment")
        return value


class EndpointReference(OpenBody):
    """Address of an agent; ``auth_ref`` names a credential and never holds one, and is empty if none is needed."""

    url: Annotated[str, Field(max_length=2048)]
    auth_ref: Annotated[str, Field(max_length=200)] = ""

    @field_validator("url")
    @classmethod
    def _url_is_absolute(cls, value: str) -> str:
        try:
            parts = urlsplit(value)
            host, _ = parts.hostname, parts.port
        except ValueError:
            host = None
        if not host or parts.scheme not in {"http", "https"} or not value.isascii() or not value.isprintable():
            raise ValueError("must be an absolute http or https URL")
        if "@" in parts.netloc or " " in value or "#" in value:
            raise ValueError("must carry neither user info nor a fragment")
        return value


class AgentLifecycle(OpenBody):
    long_running: bool | None = None
    cancellable: bool | None = None
    max_runtime_s: Annotated[int, Field(ge=1, le=10**9)] | None = None


class AgentArmRequest(ArmRequest):
    """An agent with its own address."""

    kind: Literal["agent"]
    endpoint: EndpointReference
    lifecycle: AgentLifecycle | None = None
    model_deployment_id: None = None
    provider: None = None
    model_id: None = None
    artifact: None = None


class Artifact(OpenBody):
    """The text of a skill, its version, and the parts of it that a repair may change."""

    content: Annotated[str, Field(min_length=1, max_length=ARTIFACT_CHARACTERS)]
    version: Word
    editable_regions: Words


class SkillArmRequest(ArmRequest):
    """A skill: a text that is used with a model."""

    kind: Literal["skill"]
    artifact: Artifact
    model_deployment_id: None = None
    provider: None = None
    model_id: None = None
    endpoint: None = None
    lifecycle: None = None


class ArmPatch(OpenBody):
    """Members of ``PATCH /v1/arms/{arm_id}`` common to every kind of option; missing ones stay unchanged.

    The service validates the changed option as a whole; this model serves the sender of the body.
    """

    display_name: Word = ""
    capability_tags: Words = Field(default_factory=list)
    data_class_grants: Words = Field(default_factory=list)
    cost_class: Literal["economy", "standard", "premium"] | None = None


_BY_KIND: Final[Mapping[object, type[ArmRequest]]] = {
    "model": ModelArmRequest,
    "agent": AgentArmRequest,
    "skill": SkillArmRequest,
}


def arm_model(content: Any) -> type[ArmRequest]:
    """Return the model for a body of ``POST /v1/arms`` by its kind; for an unknown kind, one whose error names the
    kinds.
    """
    kind = content.get("kind") if isinstance(content, Mapping) else None
    return _BY_KIND.get(kind, ArmRequest) if isinstance(kind, str) else ArmRequest
