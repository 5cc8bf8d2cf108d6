"""A run request while a person fills it in: what was typed, the body it makes, and what is still wrong with it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any, Final

from runwatch.base.json import Numeral
from runwatch.records.codes import CODES
from runwatch.view.facts import RunFacts

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

_REQUIRED: Final = frozenset({"mode", "objective", "data_classes", "max_cost_usd", "max_runtime_s"})
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
            values[field.id] = value.literal if isinstance(value, Numeral) else str(value)
    return values


@dataclass(frozen=True, slots=True)
class Again:
    """What is known of an earlier run, to start one like it.

    Attributes:
        run_id: The earlier run.
        values: What the form holds; where nothing is known, what it always begins with.
        unknown: Labels of the fields that nothing is known of.
        left_out: Members of the earlier request that the form cannot send again.
    """

    run_id: str
    values: Mapping[str, str]
    unknown: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()

    @property
    def note(self) -> str:
        """What is missing, in words; empty when the form holds the whole earlier request."""
        told = []
        if self.unknown:
            told.append(f"Not known of the earlier run: {', '.join(self.unknown)}.")
        if self.left_out:
            told.append(f"The earlier request also had {', '.join(self.left_out)}, which this form does not send.")
        return " ".join(told)


def again(facts: RunFacts) -> Again:
    """What to start a run like this one with: our own request where it was kept, else what the run tells of itself.

    A run tells its mode and its policy at most (:class:`~runwatch.records.run.Run`); a test run is the safe guess where
    even the mode is missing, because it costs nothing.
    """
    if facts.request is not None:
        request = facts.request.raw
        return Again(facts.id, values_of(request), left_out=tuple(_unsent(request)))
    found = values_of({**facts.raw, "mode": facts.mode.value})
    unknown = tuple(field.label for field in FIELDS if not found[field.id] and not _is_left_empty(field, facts))
    return Again(facts.id, {**start_values(), **{name: value for name, value in found.items() if value}}, unknown)


def _is_left_empty(field: DraftField, facts: RunFacts) -> bool:
    """Whether a run that tells nothing of a field tells by that, as far as it goes, that it was left empty."""
    is_told = field.path.startswith("policy.") and facts.run.policy is not None
    return (is_told and field.id not in _REQUIRED) or (field.live_only and facts.is_test)


def _unsent(request: Mapping[str, Any], parent: str = "") -> Iterator[str]:
    """Paths of the members of a request that no field of the form becomes."""
    paths = {field.path for field in FIELDS}
    for name, value in request.items():
        path = f"{parent}{name}"
        if path in paths:
            continue
        if isinstance(value, Mapping) and any(known.startswith(f"{path}.") for known in paths):
            yield from _unsent(value, f"{path}.")
        else:
            yield path


def body_of(values: Mapping[str, str]) -> dict[str, Any]:
    """The request that the typed values make; ``mode`` is always in it, because the service's default spends money.

    What is no number stays text, so that checking it names the field.
    """
    body: dict[str, Any] = {}
    for field in FIELDS:
        typed = values.get(field.id, "").strip()
        if not typed and field.id not in _REQUIRED:
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
