"""The state of a form: the body that the typed text makes, and its validation problems.

Independent of the UI. Bodies are validated by :mod:`runwatch.records.requests`, as in the service.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Mapping
from decimal import Decimal, InvalidOperation
from typing import Any, Final

from runwatch.base.closest_word import closest_word
from runwatch.base.json import ExactNumber, loads
from runwatch.records.misplaced_secrets import find_secrets_in_body
from runwatch.view.spec.action import Mutation
from runwatch.view.spec.action_parts import FormField
from runwatch.view.text import json_paths
from runwatch.view.text.json_tree import walk_json
from runwatch.view.text.safe_text import SafeText, block, json_text, line
from runwatch.view.text.values import read_seconds

_SEPARATORS: Final = re.compile(r"[\s,]+")
_NUMBER: Final = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?")
_DAY_S: Final = 86_400
_SWITCH: Final = {"yes": True, "no": False}

FORM_LEVEL: Final = ""
"""Key for problems that belong to no field."""


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class Form:
    """The fields of a form and how their text becomes a body.

    Attributes:
        request: Validates the body: ``module.Class`` below :mod:`runwatch.records.requests`; empty for no validation.
        members: Members of the body that are not typed.
        start: Initial text by field id.
        changes_only: Whether to send only members that differ from ``start``.
        shapes: Restructures the body at the end.
        also: Additional rules for an otherwise valid body; returns messages by field id.
    """

    fields: tuple[FormField, ...]
    request: str = ""
    members: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    start: Mapping[str, str] = dataclasses.field(default_factory=dict)
    changes_only: bool = False
    shapes: Callable[[dict[str, Any]], dict[str, Any]] | None = None
    also: Callable[[Any], Mapping[str, str]] = lambda _: {}

    def body(self, values: Mapping[str, str]) -> dict[str, Any]:
        """Return the body that the typed text makes.

        Numbers keep their digits. Text that is not a valid number, JSON or switch stays text, so validation names the
        field.
        """
        body: dict[str, Any] = dict(self.members)
        changed = {_top(field) for field in self.fields if _typed(field, values) != _typed(field, self.start)}
        for field in self.fields:
            typed = _typed(field, values)
            is_left_out = not typed and not field.is_required
            if not field.path or is_left_out or (self.changes_only and _top(field) not in changed):
                continue
            put(body, field.path, parse_field(field, typed))
        return body if self.shapes is None else self.shapes(body)

    def problems(self, values: Mapping[str, str]) -> dict[str, str]:
        """Return messages for what was typed, by field id; :data:`FORM_LEVEL` for those that belong to no field."""
        found: dict[str, str] = {}
        for field in self.fields:
            typed = _typed(field, values)
            said = _own_rule(field, typed)
            if said:
                found[field.id] = said
        return {**self.validate_body(self.body(values)), **found}

    def validate_body(self, body: Mapping[str, Any]) -> dict[str, str]:
        """Return validation messages for a body, by field id; :data:`FORM_LEVEL` for those that belong to no field."""
        if self.changes_only and not body:
            return {FORM_LEVEL: "Nothing has changed yet."}
        return {**self._rule_problems(body), **self.by_field(find_secrets_in_body(body))}

    def describe_unknown_members(self, body: Mapping[str, Any]) -> list[str]:
        """Describe the members of a body that the interface does not define; empty if the body is invalid.

        A service accepts them in an open object and may ignore them.
        """
        if not self.request:
            return []
        from pydantic import ValidationError

        from runwatch.records.requests.body import unknown_members

        try:
            found = list(unknown_members(self._model().model_validate(body)))
        except ValidationError:
            return []
        warnings = []
        for path, known in found:
            guess = closest_word(path.rpartition(".")[2], known)
            near = f"; did you mean '{guess}'?" if guess else ""
            warnings.append(f"the interface does not define {line(path)}; it may have no effect{near}")
        return warnings

    def _model(self) -> Any:
        from importlib import import_module

        module, _, name = self.request.rpartition(".")
        return getattr(import_module(f"runwatch.records.requests.{module}"), name)

    def _rule_problems(self, body: Mapping[str, Any]) -> dict[str, str]:
        if not self.request:
            return {}
        from pydantic import ValidationError

        from runwatch.records.requests.body import field_errors

        try:
            checked = self._model().model_validate(body)
        except ValidationError as error:
            return self.by_field(field_errors(error))
        return dict(self.also(checked))

    def by_field(self, errors: object) -> dict[str, str]:
        """Return entries of a problem's ``errors[]`` by field id.

        Entries that belong to no field are listed under :data:`FORM_LEVEL` with the member's name; malformed entries
        are omitted.
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
        """Return the field for a member of the body: its own, an enclosing one, or the first within it; else
        :data:`FORM_LEVEL`.
        """
        path = re.sub(r"\[\d+\].*", "", path)
        fields = [field for field in self.fields if field.path]
        for fits in (
            lambda field: field.path == path,
            lambda field: path.startswith(f"{field.path}."),
            lambda field: bool(path) and field.path.startswith(f"{path}."),
        ):
            found = next((field.id for field in fields if fits(field)), None)
            if found is not None:
                return found
        return FORM_LEVEL

    def values_of(self, body: Mapping[str, Any]) -> dict[str, str]:
        """Return the text of the fields for a body. Members without a field are omitted."""
        values = {}
        for field in self.fields:
            value = get_member(body, field.path)
            values[field.id] = _span_text(value) if field.kind == "span" else field_text(value)
        return values


def build_form(mutation: Mutation[Any], subject: Any) -> Form:
    return Form(
        fields=mutation.fields,
        request=mutation.request,
        members={} if mutation.members is None else mutation.members(subject),
        start={field.id: field.start(subject) for field in mutation.fields},
        changes_only=mutation.changes_only,
        shapes=mutation.transform,
    )


def has_body(mutation: Mutation[Any]) -> bool:
    return bool(mutation.fields) or mutation.members is not None


def parse_field(field: FormField, typed: str) -> Any:
    """Return the JSON value for typed text; text that does not fit the kind stays text."""
    match field.kind:
        case "number":
            return parse_number(typed)
        case "list":
            return [word for word in _SEPARATORS.split(typed) if word]
        case "switch":
            return _SWITCH.get(typed.lower(), typed)
        case "span":
            seconds = read_seconds(typed, field.max_s)
            return typed if seconds is None else seconds
        case "json":
            try:
                return loads(typed)
            except ValueError:
                return typed
    return typed


def parse_number(typed: str) -> Any:
    """Return a number with the digits as typed; ``None`` for no text, and the text itself if it is not a number."""
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
    """Return the text that a form shows for a member of a body; empty for values that cannot be typed."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (list, tuple)):
        return ", ".join(item for item in value if isinstance(item, str))
    if value is None or isinstance(value, Mapping):
        return ""
    return value.literal if isinstance(value, ExactNumber) else str(value)


def _span_text(seconds: object) -> str:
    shown = field_text(seconds)
    return f"{shown}s" if shown and not isinstance(seconds, str) else shown


def next_choice(choices: tuple[str, ...], typed: str, step: int) -> str:
    """Return the next or previous choice, cyclically; the first or the last if the text is not a choice."""
    if typed in choices:
        return choices[(choices.index(typed) + step) % len(choices)]
    return choices[0 if step > 0 else -1]


def _own_rule(field: FormField, typed: str) -> str:
    """Return the problem of one field that no rule of the body can detect."""
    if not typed:
        return "Required." if field.is_required and field.kind != "list" else ""
    if field.kind == "choice" and typed not in field.choices:
        return f"Must be {', '.join(field.choices[:-1])} or {field.choices[-1]}."
    if field.kind == "switch" and typed.lower() not in _SWITCH:
        return "Must be yes or no."
    if field.kind == "number" and isinstance(parse_number(typed), str):
        return "Must be a number."
    if field.kind == "span" and isinstance(parse_field(field, typed), str):
        return f"Must be a number with its unit, such as 30d or 12h, from 1s to {field.max_s // _DAY_S}d."
    if field.kind == "json" and parse_field(field, typed) == typed:
        return "Must be JSON."
    return ""


def _typed(field: FormField, values: Mapping[str, str]) -> str:
    typed = values.get(field.id, "")
    return typed if field.kind == "lines" and typed.strip() else typed.strip()


def _top(field: FormField) -> str:
    return field.path.partition(".")[0]


def get_member(body: Mapping[str, Any], path: str) -> Any:
    """Return the member of a body at a path; ``None`` if there is none."""
    value: Any = body
    for name in path.split("."):
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def put(body: dict[str, Any], path: str, value: Any) -> None:
    """Set the member of a body at a path. Objects on the way are created or copied, because they may belong to a
    record.
    """
    *parents, last = path.split(".")
    for name in parents:
        body[name] = dict(body.get(name) or {})
        body = body[name]
    body[last] = value


def render_request_body(body: Any) -> SafeText:
    r"""Render a body as indented JSON, followed by every multi-line text, line by line.

    JSON writes the end of a line as ``\n``, which is exact but hard to read in a long text.
    """
    parts = [json_text(body, 2)]
    for node in walk_json(body):
        if isinstance(node.value, str) and "\n" in node.value:
            count = node.value.count("\n") + 1
            parts.append(
                f"{json_paths.format_path(node.path)}, {count} lines, {len(node.value)} characters:\n\n{node.value}"
            )
    return block("\n\n".join(parts))
