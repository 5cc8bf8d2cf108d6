"""A run request while a person fills it in: what was typed, the body it makes, and what is still wrong with it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any, Final

from runwatch.records.codes import CODES

_SEPARATORS: Final = re.compile(r"[\s,]+")


@dataclass(frozen=True, slots=True)
class DraftField:
    """One thing that can be filled in.

    Attributes:
        id: Its name in the form.
        path: The member of the body that it becomes.
        label: What stands before it.
        hint: What it takes, with its bounds.
        start: What stands there at first.
        live_only: Whether a test run cannot have it.
    """

    id: str
    path: str
    label: str
    hint: str
    start: str = ""
    live_only: bool = False


FIELDS: Final = (
    DraftField("mode", "mode", "mode", "echo (a test run, costs nothing) or live (calls a model)", "echo"),
    DraftField("objective", "task.objective", "objective", "what the run is to do, up to 4,000 characters"),
    DraftField(
        "data_classes", "policy.data_classes", "data classes", "public, sandbox, tenant_internal or others", "public"
    ),
    DraftField("max_cost_usd", "policy.budget.max_cost_usd", "max cost USD", "stops further provider calls", "0.10"),
    DraftField("max_runtime_s", "policy.budget.max_runtime_s", "max runtime s", "seconds until it expires", "60"),
    DraftField("cost_coefficient", "policy.cost_coefficient", "cost weight", "0 to 1; empty for the service's own"),
    DraftField("on_eval", "policy.on_eval", "on a verdict", "gate, fallback, repair_retry; empty only records it"),
    DraftField("verifier_id", "verifier_id", "output check", "id of a verifier; live runs only", live_only=True),
    DraftField("arm_id", "routing.required_arm_id", "saved model", "id of an arm that alone may run"),
)
"""Every field, in the order in which people fill them in."""

_NUMBERS: Final = frozenset({"max_cost_usd", "max_runtime_s", "cost_coefficient"})
_LISTS: Final = frozenset({"data_classes", "on_eval"})


def start_values() -> dict[str, str]:
    """What the form holds before anybody typed."""
    return {field.id: field.start for field in FIELDS}


def values_of(request: Mapping[str, Any]) -> dict[str, str]:
    """What the form holds for a request that was sent before; members that the form does not know are left out."""
    values = dict.fromkeys(start_values(), "")
    for field in FIELDS:
        value: Any = request
        for name in field.path.split("."):
            value = value.get(name) if isinstance(value, Mapping) else None
        if isinstance(value, list):
            values[field.id] = ", ".join(item for item in value if isinstance(item, str))
        elif value is not None and not isinstance(value, (dict, bool)):
            values[field.id] = str(value)
    return values


def body_of(values: Mapping[str, str]) -> dict[str, Any]:
    """The request that the typed values make; ``mode`` is always in it, because the service's default spends money.

    What is no number stays text, so that checking it names the field.
    """
    body: dict[str, Any] = {}
    for field in FIELDS:
        typed = values.get(field.id, "").strip()
        if not typed and field.id not in {"mode", "objective", "data_classes", "max_cost_usd", "max_runtime_s"}:
            continue
        value: Any = typed
        if field.id in _LISTS:
            value = [word for word in _SEPARATORS.split(typed) if word]
        elif field.id in _NUMBERS:
            value = _number(typed)
        _put(body, field.path, value)
    return body


def problems_of(body: Mapping[str, Any]) -> dict[str, str]:
    """What is wrong with a request, by field of the form; ``""`` names what belongs to none of them.

    The rules are those that the service checks too (:mod:`runwatch.records.requests`).
    """
    from pydantic import ValidationError

    from runwatch.records.requests import RunRequest, field_errors

    try:
        request = RunRequest.model_validate(body)
    except ValidationError as error:
        found: dict[str, str] = {}
        for failure in field_errors(error):
            found.setdefault(field_of(failure["field"]), failure["message"])
        return found
    if request.breaks_echo_rule:
        return {"verifier_id": CODES["echo_mode_mismatch"].title}
    return {}


def field_of(path: str) -> str:
    """The field of the form that a member of the body belongs to; ``""`` when it belongs to none."""
    path = re.sub(r"\[\d+\].*", "", path)
    return next((field.id for field in FIELDS if field.path == path), "")


def _number(typed: str) -> Any:
    if not typed:
        return None
    try:
        number = Decimal(typed)
    except InvalidOperation:
        return typed
    if not number.is_finite():
        return typed
    return int(number) if number == number.to_integral_value() and abs(number) < 10**15 else float(number)


def _put(body: dict[str, Any], path: str, value: Any) -> None:
    *parents, last = path.split(".")
    for name in parents:
        body = body.setdefault(name, {})
    body[last] = value
