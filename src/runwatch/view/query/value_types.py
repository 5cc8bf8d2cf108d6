"""What ``>`` and ``<`` compare a field with, so that a filter with a value of another type is refused."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any, Final, Literal

from runwatch.records.record import Member, Record
from runwatch.view.spec.resource import Column, Field, ResourceSpec, ValueType
from runwatch.view.text import json_paths
from runwatch.view.text.values import Duration, FilterValue

_EXAMPLES: Final[Mapping[ValueType, str]] = {
    "number": "a number such as 0.01",
    "seconds": "a duration such as 90s or 10m",
    "time": "an age such as 10m, or a date such as 2026-11-20",
    "unknown": "a number, an age such as 10m, or a date such as 2026-11-20",
}
_BOUNDS: Final[Mapping[ValueType, tuple[type, ...]]] = {
    "number": (Decimal,),
    # A number is seconds.
    "seconds": (Decimal, Duration),
    "time": (Duration, datetime),
    "text": (),
    "unknown": (Decimal, Duration, datetime),
}
_BY_SCHEMA: Final[Mapping[object, Literal["number", "text"]]] = {
    "number": "number",
    "integer": "number",
    "string": "text",
    "boolean": "text",
}


def comparison_refusal(spec: ResourceSpec[Any], name: str, operator: str, bound: FilterValue | None) -> str | None:
    """Return why a field cannot be compared with a bound, with what it takes; ``None`` if it can. A bound of ``None``
    is no number, duration or time.
    """
    field = spec.field(name)
    kind = _member_type(spec.record, name) if field is None else _field_type(spec.record, field)
    if bound is not None and isinstance(bound, _BOUNDS[kind]):
        return None
    if kind == "text":
        return f"{name} has no order: > and < compare numbers, ages and dates"
    return f"{name}{operator} needs {_EXAMPLES[kind]}"


def _field_type(record: type[Record], field: Field[Any]) -> ValueType:
    if field.value_type is not None:
        return field.value_type
    if isinstance(field, Column) and field.puts_newest_first:
        return "time"
    members = (record.MEMBERS[name] for name in (field.id, *field.aliases) if name in record.MEMBERS)
    is_number = isinstance(field, Column) and field.align == "right"
    return next((_schema_type(member) for member in members), "number" if is_number else "unknown")


def _member_type(record: type[Record], name: str) -> ValueType:
    kind: type[Record] | None = record
    member: Member[Any] | None = None
    for part in json_paths.parse_path(name):
        if isinstance(part, str) and not part.isdecimal():
            member = None if kind is None else kind.MEMBERS.get(part)
            kind = None if member is None else member.kind
    return "unknown" if member is None else _schema_type(member)


def _schema_type(member: Member[Any]) -> ValueType:
    if member.name.endswith("_s"):
        return "seconds"
    if member.schema.get("format") == "date-time":
        return "time"
    return _BY_SCHEMA.get(member.schema.get("type"), "unknown")
