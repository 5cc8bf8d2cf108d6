"""Bodies that are sent, validated on both sides: before the client sends, and when the local service accepts.

Types are strict (a number in quotes is no number). Unknown members pass where the interface leaves the body open and
are refused where it closes it (wire reference 2.1, checklist 8).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal

from pydantic import AnyUrl, BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

OBJECTIVE_CHARACTERS: Final = 4000
"""The longest objective (wire reference 2.1)."""

KNOWN_DATA_CLASSES: Final = ("public", "sandbox", "tenant_internal")
"""Data classes that the public clients know; others pass, because the set is the service's own."""

ON_EVAL: Final = ("gate", "fallback", "repair_retry")


class OpenBody(BaseModel):
    """A body that may carry members nobody here knows; they are kept and sent on."""

    model_config = ConfigDict(extra="allow", strict=True, frozen=True, hide_input_in_errors=True, allow_inf_nan=False)


class ClosedBody(BaseModel):
    """A body in which an unknown member is an error."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, hide_input_in_errors=True, allow_inf_nan=False)


class InputsRef(OpenBody):
    """Where a task's inputs are."""

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
    """What the run is to do."""

    objective: Annotated[str, Field(min_length=1, max_length=OBJECTIVE_CHARACTERS)]
    inputs_ref: InputsRef | None = None


class BudgetRequest(OpenBody):
    """Caps in US dollars and seconds."""

    max_cost_usd: Annotated[float, Field(gt=0)]
    max_runtime_s: Annotated[float, Field(gt=0)]


class PolicyRequest(OpenBody):
    """What the run may touch and spend."""

    data_classes: Annotated[list[Annotated[str, Field(min_length=1)]], Field(min_length=1)]
    budget: BudgetRequest
    cost_coefficient: Annotated[float, Field(ge=0, le=1)] | None = None
    on_eval: list[Literal["gate", "fallback", "repair_retry"]] | None = None

    @field_validator("on_eval")
    @classmethod
    def _reactions_are_unique(cls, value: list[str] | None) -> list[str] | None:
        if value is not None and len(set(value)) != len(value):
            raise ValueError("each reaction may be named once")
        return value


class RoutingRequest(ClosedBody):
    """Pins one saved model; no other may run then."""

    required_arm_id: Annotated[str, Field(min_length=1)]


class RunRequest(OpenBody):
    """The body of ``POST /v1/executions``.

    ``mode`` is always sent by runwatch, because the service's default is ``live``, which spends money.
    """

    mode: Literal["live", "echo"] = "live"
    task: TaskRequest
    policy: PolicyRequest
    verifier_id: Annotated[str, Field(min_length=1)] | None = None
    routing: RoutingRequest | None = None
    compose: Literal["auto"] | None = None
    review_composer: dict[str, Any] | None = None

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
        """Whether a test run names an output check, which it cannot use (specification, rule 9)."""
        return self.mode == "echo" and self.verifier_id is not None


_WORDS: Final[Mapping[str, str]] = {
    "missing": "Required.",
    "extra_forbidden": "Unknown member; this object takes no others.",
    "string_type": "Must be a text.",
    "string_unicode": "Lone surrogates are not allowed.",
    "bool_type": "Must be true or false.",
    "float_type": "Must be a number.",
    "int_type": "Must be a whole number.",
    "int_from_float": "Must be a whole number.",
    "list_type": "Must be an array.",
    "dict_type": "Must be an object.",
    "model_type": "Must be an object.",
    "model_attributes_type": "Must be an object.",
    "finite_number": "Must be a finite number.",
    "url_parsing": "Must be an absolute URL.",
}


def field_errors(error: ValidationError) -> list[dict[str, str]]:
    """The failures of a body as ``errors[]`` of a Problem: one entry a field, in plain words, never the value."""
    fields: dict[str, str] = {}
    for failure in error.errors(include_url=False, include_input=False):
        path = ""
        for part in failure["loc"]:
            path += f"[{part}]" if isinstance(part, int) else f".{part}" if path else str(part)
        fields.setdefault(path or "body", _in_words(failure))
    return [{"field": field, "message": message} for field, message in fields.items()]


def _in_words(failure: Any) -> str:
    kind, context = failure["type"], failure.get("ctx", {})
    match kind:
        case "greater_than":
            return f"Must be greater than {context['gt']:g}."
        case "greater_than_equal":
            return f"Must be at least {context['ge']:g}."
        case "less_than_equal":
            return f"Must be at most {context['le']:g}."
        case "string_too_long":
            return f"Must be at most {context['max_length']} characters."
        case "string_too_short":
            return f"Must be at least {context['min_length']} character{'s' * (context['min_length'] != 1)}."
        case "too_short":
            return f"Needs at least {context['min_length']} entr{'y' if context['min_length'] == 1 else 'ies'}."
        case "literal_error":
            return f"Must be {context['expected']}."
        case "value_error":
            sentence = str(context["error"])
            return f"{sentence[:1].upper()}{sentence[1:]}."
    return _WORDS.get(kind) or f"{failure['msg']}."
