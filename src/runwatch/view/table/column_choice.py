"""Columns of a list as named in the settings: ``columns.<resource> = ["status", "id", …]``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from runwatch.base.closest_word import closest_word
from runwatch.view.spec.resource import Column, ResourceSpec
from runwatch.view.text import json_paths
from runwatch.view.text.format import RenderContext
from runwatch.view.text.member_format import mark_member
from runwatch.view.text.safe_text import line
from runwatch.view.text.styled_text import CellText


@dataclass(frozen=True, slots=True)
class ColumnChoice:
    """The columns of a list.

    Attributes:
        columns: Visible columns in order; the resource's own if the settings name no valid one.
        unknown: Names that are no column, field or declared member, each with its nearest match or an empty text.
    """

    columns: tuple[Column[Any], ...]
    unknown: Mapping[str, str]


def choose_columns(spec: ResourceSpec[Any], settings: Mapping[str, Sequence[str]]) -> ColumnChoice:
    """Return the columns that the settings name for a list: columns, fields without a column, and members."""
    found: dict[str, Column[Any]] = {}
    unknown: dict[str, str] = {}
    for name in settings.get(spec.name, ()):
        column = _column(spec, name)
        if column is None:
            unknown[name] = closest_word(name, list_columns(spec)) or ""
        else:
            found.setdefault(column.id, column)
    return ColumnChoice(tuple(found.values()) or spec.columns, unknown)


def list_columns(spec: ResourceSpec[Any]) -> tuple[str, ...]:
    """Return every name allowed in the setting, the resource's own columns first."""
    return tuple(dict.fromkeys((*(field.id for field in spec.all_fields()), *_members(spec))))


def unknown_columns_text(spec: ResourceSpec[Any], chosen: ColumnChoice) -> str:
    """Describe the unknown column names of a list in one line; empty if there are none."""
    parts = [
        f"'{line(name, 60)}'" + (f" (did you mean {near}?)" if near else "") for name, near in chosen.unknown.items()
    ]
    return f"columns.{spec.name} names no column of {spec.name}: {', '.join(parts)}" if parts else ""


def _column(spec: ResourceSpec[Any], name: str) -> Column[Any] | None:
    field = spec.field(name)
    if isinstance(field, Column):
        return field
    if field is not None:
        return Column(id=field.id, title=field.id, value=field.value, aliases=field.aliases, sort_key=field.sort_key)
    return member_column(name) if name in _members(spec) else None


def _members(spec: ResourceSpec[Any]) -> Sequence[str]:
    return json_paths.csv_columns(spec.record, ())


def member_column(name: str) -> Column[Any]:
    """Return a column for a member of the record, by its dotted path."""
    path = json_paths.parse_path(name)

    def value(subject: Any) -> object:
        found = json_paths.get_at(subject.raw, path)
        return None if found is json_paths.MISSING else found

    def cell(subject: Any, context: RenderContext) -> CellText:
        found = value(subject)
        shown = line(context.glyphs.nothing if found is None else found)
        return mark_member(shown, json_paths.get_at(subject.raw, path[:-1]), path[-1])

    return Column(id=name, title=name, value=value, cell=cell)
