"""The filter's expressions: terms that a row matches or does not match (manual: decisions, "Interface conventions").

Words and ``:`` ignore case; ``=`` does not, because ids may differ in case only. ``!=`` is the exact opposite of ``=``,
so it also matches rows without a value; ``>`` and ``<`` never match those. :mod:`runwatch.view.query.parser` parses the
text of a filter.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Final, Protocol, TypeVar

from runwatch.base.errors import UsageError
from runwatch.base.text import fold_text
from runwatch.view.query.fuzzy import fuzzy_score, has_in_order
from runwatch.view.query.safe_regex import SafeRegex
from runwatch.view.text.safe_text import json_text
from runwatch.view.text.values import FilterValue, compare_values, parse_value


class QueryError(UsageError):
    """A filter that cannot be parsed.

    Args:
        hint: What to do next, if there is no ``nearest``.

    Attributes:
        reason: What cannot be read.
        position: Offset of the error in the filter's text.
        nearest: What to write instead, such as ``status:failed``; empty if unknown.
        known: The words that would be right there, the nearest first.
    """

    def __init__(
        self, reason: str, position: int, hint: str | None = None, *, nearest: str = "", known: Sequence[str] = ()
    ) -> None:
        words = f"; known: {', '.join(known)}" if known else ""
        hint = f"Did you mean {nearest!r}?" if nearest else hint
        super().__init__("The filter cannot be read", detail=f"at character {position + 1}: {reason}{words}", hint=hint)
        self.position = position
        self.reason = reason
        self.nearest = nearest
        self.known = tuple(known)

    @property
    def short_words(self) -> str:
        """What cannot be read, then what to write instead, for a narrow line that is cut at its end."""
        nearest = (f"try {self.nearest}",) if self.nearest else ()
        known = (f"known: {', '.join(self.known)}",) if self.known else ()
        return "; ".join((self.reason, *nearest, *known, f"at character {self.position + 1}"))


class FilterableRow(Protocol):
    """What a filter reads from a row."""

    @property
    def now(self) -> datetime:
        """The time that ages are relative to."""

    def value(self, name: str) -> object:
        """Return the exact value of a field; ``None`` if absent."""

    def shown(self, name: str) -> tuple[str, ...]: ...

    def text(self) -> str:
        """Return the texts of the row, one per line."""

    def contains(self, folded: bytes) -> bool:
        """Whether that contains a text from :func:`runwatch.base.text.fold_text`, ignoring case."""

    def flag(self, name: str) -> bool: ...


R = TypeVar("R", bound=FilterableRow)


class Term(Protocol):
    def matches(self, row: FilterableRow) -> bool: ...


@dataclass(frozen=True, slots=True)
class ContainsText:
    """``word`` and ``"two words"``: contained in a text of the row, as :meth:`FilterableRow.contains` finds it."""

    text: str
    folded: bytes = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Fold the text once for all rows."""
        object.__setattr__(self, "folded", fold_text(self.text))

    def matches(self, row: FilterableRow) -> bool:
        return row.contains(self.folded)


Rank = tuple[int, int]
"""Order of rows by a fuzzy filter, the highest first: points, then fewer characters in the text that has them."""

NO_RANK: Final = (0, 0)


@dataclass(frozen=True, slots=True)
class FuzzyText:
    """``~word``: the characters of the word, in lower case, are in a text of the row, in this order."""

    word: str

    def matches(self, row: FilterableRow) -> bool:
        return self.rank(row) != NO_RANK

    def rank(self, row: FilterableRow) -> Rank:
        """Return how well the best text of the row matches; :data:`NO_RANK` if none does."""
        texts = row.text().split("\n")
        scores = ((fuzzy_score(self.word, text), text) for text in texts)
        return max(((score + 1, -len(text)) for score, text in scores if score is not None), default=NO_RANK)


@dataclass(frozen=True, slots=True)
class MatchesPattern:
    """``/re/``: a pattern found in one text of the row."""

    pattern: SafeRegex

    def matches(self, row: FilterableRow) -> bool:
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
        value = row.value(self.field)
        return value is not None and not (isinstance(value, (str, list, tuple, dict)) and not value)


@dataclass(frozen=True, slots=True)
class HasFlag:
    """``is:live``: a flag of the resource."""

    flag: str

    def matches(self, row: FilterableRow) -> bool:
        return row.flag(self.flag)


@dataclass(frozen=True, slots=True)
class Not:
    """``!term``."""

    term: Term

    def matches(self, row: FilterableRow) -> bool:
        return not self.term.matches(row)


@dataclass(frozen=True, slots=True)
class AllOf:
    """``a b``: all of them; an empty one matches everything."""

    terms: tuple[Term, ...]

    def matches(self, row: FilterableRow) -> bool:
        return all(term.matches(row) for term in self.terms)


@dataclass(frozen=True, slots=True)
class AnyOf:
    """``a | b``: at least one of them."""

    terms: tuple[Term, ...]

    def matches(self, row: FilterableRow) -> bool:
        return any(term.matches(row) for term in self.terms)


@dataclass(frozen=True, slots=True)
class Query:
    """A parsed filter, with the service's query parameters by field for :func:`server_parameters`."""

    text: str
    term: Term
    servers: Mapping[str, str]

    def matches(self, row: FilterableRow) -> bool:
        return self.term.matches(row)

    def keep(self, rows: Iterable[R]) -> list[R]:
        """Return the rows that match, in the same order; the same as :meth:`matches` for each, but faster."""
        terms = _all_of(self.term)
        kept = list(rows)
        for term in terms:
            if isinstance(term, ContainsText):
                folded = term.folded
                kept = [row for row in kept if row.contains(folded)]
        others = [term for term in terms if not isinstance(term, ContainsText)]
        return [row for row in kept if all(term.matches(row) for term in others)] if others else kept

    @property
    def is_ranked(self) -> bool:
        """Whether some rows match better than others."""
        return _is_ranked(self.term)

    def rank(self, row: FilterableRow) -> Rank:
        """Return how well a row matches that does match."""
        return _rank(self.term, row)

    @property
    def is_timed(self) -> bool:
        """Whether the matches may change as time passes, because the filter reads a field that may be an age."""
        return _is_timed(self.term)

    def narrows(self, before: Query) -> bool:
        """Whether every row that matches, at any one time, is certain to match an earlier filter too.

        Typing on mostly does that, so only the rows found so far have to be searched.
        """
        return all(any(_implies(mine, theirs) for mine in _all_of(self.term)) for theirs in _all_of(before.term))


def _all_of(term: Term) -> tuple[Term, ...]:
    return term.terms if isinstance(term, AllOf) else (term,)


def _is_ranked(term: Term) -> bool:
    if isinstance(term, (AllOf, AnyOf)):
        return any(map(_is_ranked, term.terms))
    return isinstance(term, FuzzyText)


def _rank(term: Term, row: FilterableRow) -> Rank:
    """Return the rank by a term: of several that hold together the sum, of alternatives the best."""
    if isinstance(term, FuzzyText):
        return term.rank(row)
    if isinstance(term, AllOf):
        ranks = [_rank(part, row) for part in term.terms]
        return sum(points for points, _ in ranks), sum(length for _, length in ranks)
    if isinstance(term, AnyOf):
        return max((_rank(part, row) for part in term.terms if part.matches(row)), default=NO_RANK)
    return NO_RANK


def _is_timed(term: Term) -> bool:
    if isinstance(term, Not):
        return _is_timed(term.term)
    if isinstance(term, (AllOf, AnyOf)):
        return any(map(_is_timed, term.terms))
    return not isinstance(term, (ContainsText, FuzzyText, MatchesPattern, HasField, HasFlag))


def _implies(one: Term, other: Term) -> bool:
    if isinstance(one, ContainsText) and isinstance(other, ContainsText):
        return other.folded in one.folded
    if isinstance(one, FuzzyText) and isinstance(other, FuzzyText):
        return has_in_order(other.word, one.word)
    if isinstance(one, FieldContains) and isinstance(other, FieldContains):
        return one.field == other.field and other.text.casefold() in one.text.casefold()
    return one == other


def _equal(value: object, text: str, now: datetime) -> bool:
    if json_text(value) == text:
        return True
    if isinstance(value, (int, float, Decimal, datetime)) and not isinstance(value, bool):
        bound = parse_value(text)
        same_kind = isinstance(bound, datetime) if isinstance(value, datetime) else bound is not None
        return bound is not None and same_kind and compare_values(value, bound, now) == 0
    return False
