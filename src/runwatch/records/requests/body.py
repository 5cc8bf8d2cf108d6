"""Base classes of all bodies, labels that users choose, and the messages for validation errors."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Any, Final, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

LABEL_CHARACTERS: Final = 200
"""Maximum length of a label. Not in the specification."""


class OpenBody(BaseModel):
    """A body that may carry unknown members; they are kept and sent."""

    model_config = ConfigDict(extra="allow", strict=True, frozen=True, hide_input_in_errors=True, allow_inf_nan=False)


class ClosedBody(BaseModel):
    """A body in which an unknown member is an error."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, hide_input_in_errors=True, allow_inf_nan=False)


def _is_not_blank(value: str) -> str:
    if not value.strip():
        raise ValueError("must not be blank")
    return value


Label = Annotated[str, Field(min_length=1, max_length=LABEL_CHARACTERS), AfterValidator(_is_not_blank)]

T = TypeVar("T")


def unique(message: str, key: Callable[[T], object] = lambda item: item) -> AfterValidator:
    """Refuse a list that names something twice.

    Args:
        key: What may be named once of an item; the whole item by default.
    """

    def check(value: list[T]) -> list[T]:
        if len({key(item) for item in value}) != len(value):
            raise ValueError(message)
        return value

    return AfterValidator(check)


_WORDS: Final[Mapping[str, str]] = {
    "missing": "Required.",
    "extra_forbidden": "Unknown member; this object takes no others.",
    "string_type": "Must be a text.",
    "string_unicode": "Lone surrogates are not allowed.",
    "bool_type": "Must be true or false.",
    "float_type": "Must be a number.",
    "int_type": "Must be a whole number.",
    "int_from_float": "Must be a whole number.",
    "none_required": "Does not go with the rest; leave it out.",
    "list_type": "Must be an array.",
    "dict_type": "Must be an object.",
    "model_type": "Must be an object.",
    "model_attributes_type": "Must be an object.",
    "finite_number": "Must be a finite number.",
    "url_parsing": "Must be an absolute URL.",
}


def field_errors(error: ValidationError) -> list[dict[str, str]]:
    """Return the failures of a body as ``errors[]`` of a Problem: one entry a field, never with the value."""
    fields: dict[str, str] = {}
    for failure in error.errors(include_url=False, include_input=False):
        path = ""
        for part in failure["loc"]:
            path += f"[{part}]" if isinstance(part, int) else f".{part}" if path else str(part)
        fields.setdefault(path or "body", _failure_text(failure))
    return [{"field": field, "message": message} for field, message in fields.items()]


def _failure_text(failure: Any) -> str:
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
        case "too_long":
            return f"Takes at most {context['max_length']} entries."
        case "literal_error":
            return f"Must be {context['expected']}."
        case "value_error":
            sentence = str(context["error"])
            return f"{sentence[:1].upper()}{sentence[1:]}."
    return _WORDS.get(kind) or f"{failure['msg']}."


def unknown_members(request: OpenBody, path: str = "") -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the unknown members of a request as paths, each with the known names at its level.

    They are not an error, because every open object accepts them.
    """
    fields = type(request).model_fields
    known = tuple(field.alias or name for name, field in fields.items())
    for name in request.model_extra or {}:
        yield f"{path}{name}", known
    for name in fields:
        value = getattr(request, name)
        if isinstance(value, OpenBody):
            yield from unknown_members(value, f"{path}{name}.")
