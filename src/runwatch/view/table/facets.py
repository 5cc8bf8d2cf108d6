"""Facets of a list: how many rows have each value of a field, and the filter for one value."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from runwatch.view.query.parser import quote_value
from runwatch.view.table.rows import RecordRow
from runwatch.view.text.safe_text import json_text

MAX_LABEL_WORDS: Final = 3
"""How many things that cells say of one value its label says."""

MAX_READ_CELLS: Final = 20
"""Cells of a value that are read for its words, besides those of rows that are the first with all their values; more
would take longer and say the same.
"""


@dataclass(frozen=True, slots=True)
class FacetValue:
    """One value of a facet.

    Attributes:
        value: Value as text; ``None`` for rows without one.
        label: What the cells say of it, if that is little and they do not say it of another value; else empty.
    """

    field: str
    value: str | None
    count: int
    label: str = ""

    @property
    def term(self) -> str:
        return f"!has:{self.field}" if self.value is None else f"{self.field}={quote_value(self.value)}"

    @property
    def text(self) -> str:
        return self.label or ("none" if self.value is None else self.value)


@dataclass(frozen=True, slots=True)
class Facet:
    """A field and the values that rows have for it, most frequent first, with its title on screen."""

    field: str
    values: tuple[FacetValue, ...]
    title: str


class FacetCounts:
    """Counts rows by the values of some fields. A row with several values of a field, such as data classes, counts for
    each.
    """

    def __init__(self, fields: Sequence[str]) -> None:
        self._counted: dict[str, Counter[str | None]] = {field: Counter() for field in fields}
        self._words: dict[tuple[str, str | None], set[str]] = {}
        self._titles: dict[str, str] = {}
        self._combinations: set[tuple[tuple[str | None, ...], ...]] = set()

    def add(self, row: RecordRow[Any]) -> None:
        if not self._titles:
            self._titles = {field: row.facet_title(field) for field in self._counted}
        found = {field: row.value(field) for field in self._counted}
        values = {field: tuple(_values(value)) for field, value in found.items()}
        # What a cell says may depend on another field, as a status does on a verdict.
        is_first = (combination := tuple(values.values())) not in self._combinations
        self._combinations.add(combination)
        for field, counter in self._counted.items():
            counter.update(values[field])
            first = values[field][0]
            if not isinstance(found[field], (list, tuple)) and (is_first or counter[first] <= MAX_READ_CELLS):
                words = row.value_words(field)
                if words is not None and words != row.context.glyphs.nothing:
                    self._words.setdefault((field, first), set()).add(words)

    def facets(self) -> list[Facet]:
        """Return the fields that any row was counted for, in their order."""
        return [self._facet(field, counter) for field, counter in self._counted.items() if counter]

    def _facet(self, field: str, counter: Counter[str | None]) -> Facet:
        labels = {value: self._label(field, value) for value in counter}
        used = Counter(labels.values())
        return Facet(
            field,
            tuple(
                FacetValue(field, value, count, labels[value] if used[labels[value]] == 1 else "")
                for value, count in sorted(counter.items(), key=_order)
            ),
            self._titles[field],
        )

    def _label(self, field: str, value: str | None) -> str:
        words = sorted(self._words.get((field, value), set()), key=lambda word: (str(value) not in word, word))
        return " or ".join(words) if len(words) <= MAX_LABEL_WORDS else ""


def count_facets(rows: Iterable[RecordRow[Any]], fields: Sequence[str]) -> list[Facet]:
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
