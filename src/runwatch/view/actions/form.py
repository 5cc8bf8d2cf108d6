"""A form while the user fills it in: what was typed, the body it makes, and what is still wrong with it.

Pure: the console draws it, and the rules are those that the service checks too (:mod:`runwatch.records.requests`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import Any, Final

from runwatch.base.json import ExactNumber, loads
from runwatch.records.references import find_secret_references
from runwatch.view.spec.action import FormField, Mutation
from runwatch.view.text.values import read_seconds

_SEPARATORS: Final = re.compile(r"[\s,]+")
_NUMBER: Final = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?")
_DAY_S: Final = 86_400
_SWITCH: Final = {"yes": True, "no": False}

FORM_LEVEL: Final = ""
"""Names, among the problems of a form, what belongs to none of its fields."""


def _no_more(_: Any) -> Mapping[str, str]:
    return {}


@dataclass(frozen=True, kw_only=True, eq=False)
class Form:
    """What a form asks, and what it makes of the answers.

    Attributes:
        asks: What it asks, in the order in which people fill it in.
        request: What checks the body: ``module.Class`` below :mod:`runwatch.records.requests`; empty checks nothing.
        members: Members of the body that nobody types.
        start: What stands in the fields at first, by the id of the ask.
        changes_only: Whether only those members are sent that differ from ``start``.
        shapes: Gives the body its last form.
        also: Further rules over a body that passes all others: what is wrong, by the id of the ask.
    """

    asks: tuple[FormField, ...]
    request: str = ""
    members: Mapping[str, Any] = field(default_factory=dict)
    start: Mapping[str, str] = field(default_factory=dict)
    changes_only: bool = False
    shapes: Callable[[dict[str, Any]], dict[str, Any]] | None = None
    also: Callable[[Any], Mapping[str, str]] = _no_more

    def body(self, values: Mapping[str, str]) -> dict[str, Any]:
        """The body that the typed values make.

        A number keeps its digits. What is no number, no JSON and neither yes nor no stays text, so that checking it
        names the field.
        """
        body: dict[str, Any] = dict(self.members)
        changed = {_top(ask) for ask in self.asks if self._typed(ask, values) != self._typed(ask, self.start)}
        for ask in self.asks:
            typed = self._typed(ask, values)
            is_left_out = not typed and not ask.is_required
            if not ask.path or is_left_out or (self.changes_only and _top(ask) not in changed):
                continue
            put(body, ask.path, parse_field(ask, typed))
        return body if self.shapes is None else self.shapes(body)

    def problems(self, values: Mapping[str, str]) -> dict[str, str]:
        """What is wrong with what was typed, by the id of the ask; :data:`FORM_LEVEL` for what belongs to none."""
        found: dict[str, str] = {}
        for ask in self.asks:
            typed = self._typed(ask, values)
            said = _own_rule(ask, typed)
            if said:
                found[ask.id] = said
        return {**self.validate_body(self.body(values)), **found}

    def validate_body(self, body: Mapping[str, Any]) -> dict[str, str]:
        """What the rules say of a body, by the id of the ask; :data:`FORM_LEVEL` for what belongs to none."""
        if self.changes_only and not body:
            return {FORM_LEVEL: "Nothing is changed yet."}
        return {**self._rule_problems(body), **self.by_field(find_secret_references(body))}

    def _rule_problems(self, body: Mapping[str, Any]) -> dict[str, str]:
        """What the rules of the request say of a body."""
        if not self.request:
            return {}
        from importlib import import_module

        from pydantic import ValidationError

        from runwatch.records.requests import field_errors

        module, _, name = self.request.rpartition(".")
        model = getattr(import_module(f"runwatch.records.requests.{module}"), name)
        try:
            checked = model.model_validate(body)
        except ValidationError as error:
            return self.by_field(field_errors(error))
        return dict(self.also(checked))

    def by_field(self, errors: object) -> dict[str, str]:
        """Entries of a Problem's ``errors[]`` by the id of the ask that each belongs to.

        What belongs to none of them is told under :data:`FORM_LEVEL` with the member's name; what is no entry is left
        out.
        """
        found: dict[str, str] = {}
        for entry in errors if isinstance(errors, (list, tuple)) else ():
            path, message = (entry.get("field"), entry.get("message")) if isinstance(entry, Mapping) else (None, None)
            if not isinstance(path, str) or not isinstance(message, str):
                continue
            id = self.field_of(path)
            said = message if id or path in {"", "body"} else f"{path}: {message}"
            found.setdefault(id, said)
        return found

    def field_of(self, path: str) -> str:
        """The ask that a member of the body belongs to: its own, one around it, or the first within; else none."""
        path = re.sub(r"\[\d+\].*", "", path)
        asks = [ask for ask in self.asks if ask.path]
        for fits in (
            lambda ask: ask.path == path,
            lambda ask: path.startswith(f"{ask.path}."),
            lambda ask: bool(path) and ask.path.startswith(f"{path}."),
        ):
            found = next((ask.id for ask in asks if fits(ask)), None)
            if found is not None:
                return found
        return FORM_LEVEL

    def values_of(self, body: Mapping[str, Any]) -> dict[str, str]:
        """What the fields hold for a body; members that no field becomes are left out."""
        values = dict.fromkeys((ask.id for ask in self.asks), "")
        for ask in self.asks:
            value: Any = body
            for name in ask.path.split("."):
                value = value.get(name) if isinstance(value, Mapping) else None
            values[ask.id] = _span_text(value) if ask.kind == "span" else field_text(value)
        return values

    def _typed(self, ask: FormField, values: Mapping[str, str]) -> str:
        """What counts as typed: nothing where there are only blanks."""
        return _counted(ask, values.get(ask.id, ""))


def build_form(mutation: Mutation[Any], subject: Any) -> Form:
    """The form of a mutation for one record, or for none."""
    return Form(
        asks=mutation.fields,
        request=mutation.request,
        members={} if mutation.members is None else mutation.members(subject),
        start={ask.id: ask.start(subject) for ask in mutation.fields},
        changes_only=mutation.changes_only,
        shapes=mutation.transform,
    )


def has_body(mutation: Mutation[Any]) -> bool:
    """Whether the mutation sends a body at all."""
    return bool(mutation.fields) or mutation.members is not None


def parse_field(ask: FormField, typed: str) -> Any:
    """The JSON value that a typed text becomes; text that does not fit the kind stays text."""
    match ask.kind:
        case "number":
            return parse_number(typed)
        case "list":
            return [word for word in _SEPARATORS.split(typed) if word]
        case "switch":
            return _SWITCH.get(typed.lower(), typed)
        case "span":
            seconds = read_seconds(typed, ask.max_s)
            return typed if seconds is None else seconds
        case "json":
            try:
                return loads(typed)
            except ValueError:
                return typed
    return typed


def parse_number(typed: str) -> Any:
    """A number with the digits that were typed; ``None`` for nothing, and the text itself where it is no number."""
    if not typed:
        return None
    try:
        number = Decimal(typed)
    except InvalidOperation:
        return typed
    if not number.is_finite():
        return typed
    if abs(number) < 10**15 and number == number.to_integral_value():
        return int(number)
    literal = typed if _NUMBER.fullmatch(typed) else str(number)
    return float(literal) if repr(float(literal)) == literal else ExactNumber(literal)


def field_text(value: object) -> str:
    """What a form shows for a member of a body; empty for what cannot be typed."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (list, tuple)):
        return ", ".join(item for item in value if isinstance(item, str))
    if value is None or isinstance(value, Mapping):
        return ""
    return value.literal if isinstance(value, ExactNumber) else str(value)


def _span_text(seconds: object) -> str:
    """What a field for a span shows for a member in seconds."""
    shown = field_text(seconds)
    return f"{shown}s" if shown and not isinstance(seconds, str) else shown


def next_choice(choices: tuple[str, ...], typed: str, step: int) -> str:
    """The choice after or before what stands there, round the end; the first or the last where none of them does."""
    if typed in choices:
        return choices[(choices.index(typed) + step) % len(choices)]
    return choices[0 if step > 0 else -1]


def _own_rule(ask: FormField, typed: str) -> str:
    """What is wrong with one field, where no rule of the body can see it."""
    if not typed:
        return "Required." if ask.is_required and ask.kind != "list" else ""
    if ask.kind == "choice" and typed not in ask.choices:
        return f"Must be {', '.join(ask.choices[:-1])} or {ask.choices[-1]}."
    if ask.kind == "switch" and typed.lower() not in _SWITCH:
        return "Must be yes or no."
    if ask.kind == "number" and isinstance(parse_number(typed), str):
        return "Must be a number."
    if ask.kind == "span" and isinstance(parse_field(ask, typed), str):
        return f"Must be a number with its unit, such as 30d or 12h, from 1s to {ask.max_s // _DAY_S}d."
    if ask.kind == "json" and parse_field(ask, typed) == typed:
        return "Must be JSON."
    return ""


def _counted(ask: FormField, typed: str) -> str:
    return typed if ask.kind == "lines" and typed.strip() else typed.strip()


def _top(ask: FormField) -> str:
    return ask.path.partition(".")[0]


def put(body: dict[str, Any], path: str, value: Any) -> None:
    """Set the member of a body at a path; objects around it are made or copied, because they may belong to a record."""
    *parents, last = path.split(".")
    for name in parents:
        body[name] = dict(body.get(name) or {})
        body = body[name]
    body[last] = value
