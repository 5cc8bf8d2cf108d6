"""The body of a submit (manual: interface, "Runs")."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from pydantic import AnyUrl, Field, field_validator, model_validator

from runwatch.records.requests.body import ClosedBody, OpenBody, unique
from runwatch.records.requests.composer import ReviewComposerRequest

OBJECTIVE_CHARACTERS: Final = 4000
KNOWN_DATA_CLASSES: Final = ("public", "sandbox", "tenant_internal")
"""Data classes that the public clients know; others pass, because the service defines the set."""

Reaction = Literal["gate", "fallback", "repair_retry"]

DATA_CLASS_CHARACTERS: Final = 200
"""Maximum length of a data class, as in the grants of an arm. Not in the specification."""

DataClass = Annotated[str, Field(min_length=1, max_length=DATA_CLASS_CHARACTERS)]
DataClasses = Annotated[list[DataClass], Field(min_length=1)]
"""Names of data classes, at least one."""


class InputsRef(OpenBody):
    """Location of a task's inputs."""

    kind: Literal["url_list", "url", "inline_json"]
    url: str | None = None
    json_: Annotated[dict[str, Any] | None, Field(alias="json")] = None

    @field_validator("url")
    @classmethod
    def _url_is_absolute(cls, value: str | None) -> str | None:
        if value is not None:
            AnyUrl(value)
        return value


class TaskRequest(OpenBody):
    objective: Annotated[str, Field(min_length=1, max_length=OBJECTIVE_CHARACTERS)]
    inputs_ref: InputsRef | None = None


class BudgetRequest(OpenBody):
    """Limits in US dollars and seconds."""

    max_cost_usd: Annotated[float, Field(gt=0)]
    max_runtime_s: Annotated[float, Field(gt=0)]


class PolicyRequest(OpenBody):
    """What the run may use and spend."""

    data_classes: DataClasses
    budget: BudgetRequest
    cost_coefficient: Annotated[float, Field(ge=0, le=1)] | None = None
    on_eval: Annotated[list[Reaction], unique("each reaction may be named once")] | None = None


class RoutingRequest(ClosedBody):
    """Pins one saved model; no other may run."""

    required_arm_id: Annotated[str, Field(min_length=1)]


class RunRequest(OpenBody):
    """The body of ``POST /v1/executions``.

    runwatch always sends ``mode``, because the service's default is ``live``, which spends money.
    """

    mode: Literal["live", "echo"] = "live"
    task: TaskRequest
    policy: PolicyRequest
    verifier_id: Annotated[str, Field(min_length=1)] | None = None
    routing: RoutingRequest | None = None
    compose: Literal["auto"] | None = None
    review_composer: ReviewComposerRequest | None = None

    @model_validator(mode="after")
    def _composer_stands_alone(self) -> RunRequest:
        if self.review_composer is not None:
            if self.mode != "live" or "mode" not in self.model_fields_set:
                raise ValueError("review_composer needs mode live, spelled out")
            if self.verifier_id is not None or self.routing is not None:
                raise ValueError("review_composer goes with neither verifier_id nor routing")
        return self

    @property
    def breaks_echo_rule(self) -> bool:
        """Whether a test run names an output check, which is an error (manual: interface, "What the service does")."""
        return self.mode == "echo" and self.verifier_id is not None
