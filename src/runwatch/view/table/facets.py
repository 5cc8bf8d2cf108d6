"""Facets of a list: how many rows have each value of a field, and the filter for one value."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from runwatch.view.query.parser import quote_value
from runwatch.view.table.rows import RecordRow
from runwatch.view.text.safe_text import json_text


@dataclass(frozen=True, slots=True)
class FacetValue:
    """One value of a facet.

    Attributes:
        value: Value as text; ``None`` for rows without one.
    """

    field: str
    value: str | None
    count: int

    @property
    def term(self) -> str:
        """The filter term for these rows."""
        return f"!has:{self.field}" if self.value is None else f"{self.field}={quote_value(self.value)}"

    @property
    def text(self) -> str:
        """Display text of the value."""
        return "none" if self.value is None else self.value


@dataclass(frozen=True, slots=True)
class Facet:
    """A field and the values that rows have for it, most frequent first."""

    field: str
    values: tuple[FacetValue, ...]


class FacetCounts:
    """Counts rows by the values of some fields. A row with several values of a field, such as data classes, counts for
    each.
    """

    def __init__(self, fields: Sequence[str]) -> None:
        self._counted: dict[str, Counter[str | None]] = {field: Counter() for field in fields}

    def add(self, row: RecordRow[Any]) -> None:
        for field, counter in self._counted.items():
            counter.update(_values(row.value(field)))

    def facets(self) -> list[Facet]:
        """Return the fields that any row was counted for, in their order."""
        return [
            Facet(field, tuple(FacetValue(field, value, count) for value, count in sorted(counter.items(), key=_order)))
            for field, counter in self._counted.items()
            if counter
        ]


def count_facets(rows: Iterable[RecordRow[Any]], fields: Sequence[str]) -> list[Facet]:
    """Count all rows by the values of some fields."""
    counts = FacetCounts(fields)
    for row in rows:
        counts.add(row)
    return counts.facets()


def toggle_facet(text: str, value: FacetValue) -> str:
    """Set a facet value in a filter, replacing another value of the same field; remove it if it is already set."""
    term = rf"(?:{re.escape(value.field)}=(?:\"(?:[^\"\\]|\\.)*\"|[^\s|]+)|!has:{re.escape(value.field)})"
    found = re.search(rf"(?:^|(?<=\s)){term}(?=\s|$)", text)
    if found is None:
        return f"{text} {value.term}".strip()
    rest = f"{text[: found.start()]}{'' if found[0] == value.term else value.term}{text[found.end() :]}"
    return " ".join(rest.split()) if '"' not in rest else rest.strip()


def is_facet_active(text: str, value: FacetValue) -> bool:
    """Whether a filter contains the term of a facet value."""
    return f" {value.term} " in f" {text} "


def _values(value: object) -> Sequence[str | None]:
    if isinstance(value, (list, tuple)):
        return [json_text(item) for item in value] or [None]
    return [None if value is None else json_text(value)]


def _order(counted: tuple[str | None, int]) -> tuple[int, bool, str]:
    value, count = counted
    return -count, value is None, value or ""
