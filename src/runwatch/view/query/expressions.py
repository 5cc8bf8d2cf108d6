"""The filter's expressions: terms that a row matches or does not match (manual: decisions, "Interface conventions").

Words and ``:`` ignore case; ``=`` does not, because ids may differ in case only. ``!=`` is the exact opposite of ``=``,
so it also matches rows without a value; ``>`` and ``<`` never match those. :mod:`runwatch.view.query.parser` parses the
text of a filter.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Final, Protocol

from runwatch.base.errors import UsageError
from runwatch.view.query.safe_regex import SafeRegex
from runwatch.view.text.safe_text import json_text
from runwatch.view.text.values import FilterValue, compare_values, parse_value


class QueryError(UsageError):
    """A filter that cannot be parsed.

    Attributes:
        position: Offset of the error in the filter's text.
    """

    def __init__(self, reason: str, position: int, hint: str | None = None) -> None:
        super().__init__("The filter cannot be read", detail=f"at character {position + 1}: {reason}", hint=hint)
        self.position = position
        self.reason = reason


class FilterableRow(Protocol):
    """What a filter reads from a row."""

    @property
    def now(self) -> datetime:
        """The time that ages are relative to."""
        ...

    def value(self, name: str) -> object:
        """Return the exact value of a field; ``None`` if absent."""
        ...

    def shown(self, name: str) -> tuple[str, ...]:
        """Return the texts of a field."""
        ...

    def text(self) -> str:
        """Return the visible text of the whole row, one piece per line."""
        ...

    def flag(self, name: str) -> bool:
        """Whether a flag applies."""
        ...


class Term(Protocol):
    """A part of a filter."""

    def matches(self, row: FilterableRow) -> bool:
        """Whether the row matches the term."""
        ...


@dataclass(frozen=True, slots=True)
class ContainsText:
    """``word`` and ``"two words"``: contained in the visible text."""

    text: str

    def matches(self, row: FilterableRow) -> bool:
        """Whether any text of the row contains the text, ignoring case."""
        return self.text.casefold() in row.text().casefold()


@dataclass(frozen=True, slots=True)
class MatchesPattern:
    """``/re/``: a pattern found in one text of the row."""

    pattern: SafeRegex

    def matches(self, row: FilterableRow) -> bool:
        """Whether any text of the row contains a match."""
        return any(map(self.pattern.found_in, row.text().split("\n")))


@dataclass(frozen=True, slots=True)
class FieldContains:
    """``field:x``: the field's text contains x."""

    field: str
    text: str

    def matches(self, row: FilterableRow) -> bool:
        """Whether the field's value or its cell contains the text, ignoring case."""
        wanted = self.text.casefold()
        return any(wanted in text.casefold() for text in row.shown(self.field))


@dataclass(frozen=True, slots=True)
class FieldEquals:
    """``field=x``: the field, or one item of a list, is exactly x."""

    field: str
    text: str

    def matches(self, row: FilterableRow) -> bool:
        """Whether the value's own text is equal, or it is the same number or time."""
        value = row.value(self.field)
        if value is None:
            return False
        items = value if isinstance(value, (list, tuple)) else (value,)
        return any(_equal(item, self.text, row.now) for item in items)


_SIGNS: Final[Mapping[str, tuple[int, ...]]] = {">": (1,), ">=": (0, 1), "<": (-1,), "<=": (-1, 0)}


@dataclass(frozen=True, slots=True)
class FieldCompares:
    """``field>0.5``, ``age<10m``, ``created>=2026-11-20``."""

    field: str
    operator: str
    bound: FilterValue

    def matches(self, row: FilterableRow) -> bool:
        """Whether the value, or one item of a list, is on that side of the bound."""
        value = row.value(self.field)
        items = value if isinstance(value, (list, tuple)) else (value,)
        return any(compare_values(item, self.bound, row.now) in _SIGNS[self.operator] for item in items)


@dataclass(frozen=True, slots=True)
class HasField:
    """``has:field``: the field has a non-empty value."""

    field: str

    def matches(self, row: FilterableRow) -> bool:
        """Whether the field has a value that is neither ``null`` nor empty."""
        value = row.value(self.field)
        return value is not None and not (isinstance(value, (str, list, tuple, dict)) and not value)


@dataclass(frozen=True, slots=True)
class HasFlag:
    """``is:live``: a flag of the resource."""

    flag: str

    def matches(self, row: FilterableRow) -> bool:
        """Whether the flag applies."""
        return row.flag(self.flag)


@dataclass(frozen=True, slots=True)
class Not:
    """``!term``."""

    term: Term

    def matches(self, row: FilterableRow) -> bool:
        """Whether the term does not match."""
        return not self.term.matches(row)


@dataclass(frozen=True, slots=True)
class AllOf:
    """``a b``: all of them; an empty one matches everything."""

    terms: tuple[Term, ...]

    def matches(self, row: FilterableRow) -> bool:
        """Whether all terms match."""
        return all(term.matches(row) for term in self.terms)


@dataclass(frozen=True, slots=True)
class AnyOf:
    """``a | b``: at least one of them."""

    terms: tuple[Term, ...]

    def matches(self, row: FilterableRow) -> bool:
        """Whether any term matches."""
        return any(term.matches(row) for term in self.terms)


@dataclass(frozen=True, slots=True)
class Query:
    """A parsed filter.

    Attributes:
        text: The filter as typed.
        servers: The service's query parameters by field, for :func:`server_parameters`.
    """

    text: str
    term: Term
    servers: Mapping[str, str]

    def matches(self, row: FilterableRow) -> bool:
        """Whether the row matches the filter."""
        return self.term.matches(row)


def _equal(value: object, text: str, now: datetime) -> bool:
    if json_text(value) == text:
        return True
    if isinstance(value, (int, float, Decimal, datetime)) and not isinstance(value, bool):
        bound = parse_value(text)
        same_kind = isinstance(bound, datetime) if isinstance(value, datetime) else bound is not None
        return bound is not None and same_kind and compare_values(value, bound, now) == 0
    return False
