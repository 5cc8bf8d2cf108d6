"""The nearest known value for one in a filter that matches nothing."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator

from runwatch.base.closest_word import closest_word
from runwatch.view.query.expressions import AllOf, ContainsText, FieldContains, FieldEquals, Term
from runwatch.view.query.parser import quote_value


def suggest_value(term: Term, values_of: Callable[[str], Iterable[str]], flags: Collection[str] = ()) -> str:
    """Return the condition that was probably meant, such as ``status=failed`` or ``is:live``, or an empty text."""
    for asked in _conditions(term):
        if asked.text.casefold() in flags:
            return f"is:{asked.text.casefold()}"
        if isinstance(asked, ContainsText):
            continue
        known = {value.casefold(): value for value in values_of(asked.field)}
        wanted = asked.text.casefold()
        if not any(wanted == value or (isinstance(asked, FieldContains) and wanted in value) for value in known):
            near = closest_word(wanted, known)
            if near is not None:
                return f"{asked.field}={quote_value(known[near])}"
    return ""


def _conditions(term: Term) -> Iterator[FieldEquals | FieldContains | ContainsText]:
    if isinstance(term, FieldEquals | FieldContains | ContainsText):
        yield term
    elif isinstance(term, AllOf):
        for part in term.terms:
            yield from _conditions(part)
