"""The filter of an event list, in the language of all lists, and the matches to highlight (manual: decisions,
"Interface conventions").
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Final

from runwatch.base.text import fold_text
from runwatch.records.event import RunEvent
from runwatch.view.query.expressions import (
    AllOf,
    AnyOf,
    ContainsText,
    FieldContains,
    FuzzyText,
    MatchesPattern,
    Query,
    Term,
)
from runwatch.view.query.fuzzy import shortest_match
from runwatch.view.query.parser import parse_filter
from runwatch.view.resources.events import EVENTS
from runwatch.view.runs.event_lines import KINDS
from runwatch.view.spec.resource import Column, ResourceSpec
from runwatch.view.table.rows import RecordRow, RowRenderer
from runwatch.view.text.format import RenderContext, short_id
from runwatch.view.text.safe_text import SafeText, json_text, line

MULTI_RUN_EVENTS: Final[ResourceSpec[Any]] = replace(
    EVENTS,
    columns=(
        EVENTS.columns[0],
        Column[RunEvent](
            id="run",
            title="run",
            aliases=("execution_id",),
            value=lambda it: it.execution_id,
            min_cells=9,
            cell=lambda it, context: short_id(it.execution_id, context.glyphs),
        ),
        *EVENTS.columns[1:],
    ),
)

_HAS_TEXT: Final = (ContainsText, FieldContains, FuzzyText, MatchesPattern)
"""Terms whose text occurs in what they match."""

MAX_LINES: Final = 4_096
"""Different lines whose text is kept, about a megabyte."""

_UNSHOWN: Final = re.compile(
    r'":"(?:(?<=[{,]"event_id":")|(?<=[{,]"at":")|(?<=[{,]"check_id":")|(?<=[{,]"recorded_at":"))([\w.:+-]{1,64})"',
    re.ASCII,
)
"""The values of members that differ in every event and that lines do not show."""

_TIME_MEMBERS: Final = frozenset({"at", "recorded_at"})
_TIMES: Final = re.compile(r'((?<=[{,])"(?:at|recorded_at)":")[^"\\]*"')
"""The members of an event with its times."""

_OF_TIMES: Final = frozenset(b"0123456789-:.tz+")
"""What the text of a time consists of, without case."""


class _EventRow(RecordRow[RunEvent]):
    """An event as a row for filters.

    Its line shows only part of it, so text search also covers its JSON, without the times.
    """

    __slots__ = ()

    _lines: ClassVar[dict[tuple[str, str], bytes]] = {}
    """The texts of lines, by the run's column and the event's JSON without what lines do not show."""

    def text(self) -> str:
        """Return the cells and the event as sent, one text per line."""
        wire = _TIMES.sub(r'\1"', self.subject.wire_text)
        # Users type characters that the service sent as escapes.
        texts = reversed(json_texts(self.subject)) if "\\" in wire else (line(wire, None),)
        return "\n".join((*self._cell_texts(), *texts))

    def contains(self, folded: bytes) -> bool:
        """Whether :meth:`text` contains a text, ignoring case. Lines that look the same are made once."""
        wire = self.item.wire_text
        if "\\" in wire or b"\n" in folded:
            return folded in fold_text(self.text())
        if _OF_TIMES.issuperset(folded):
            wire = _TIMES.sub(r'\1"', wire)
        is_plain = wire.isascii() and wire.isprintable()
        return folded in (wire.lower().encode() if is_plain else fold_text(line(wire, None))) or folded in self._line(
            wire
        )

    def _line(self, wire: str) -> bytes:
        key = self._drawing.spec.columns[1].id, _UNSHOWN.sub("", wire)
        text = self._lines.get(key)
        if text is None:
            text = fold_text("\n".join(self._cell_texts()))
            # A line of an unknown form does show them, so it is this event's alone.
            if not any(fold_text(value) in text for value in _UNSHOWN.findall(wire)):
                if len(self._lines) >= MAX_LINES:
                    self._lines.clear()
                self._lines[key] = text
        return text


def json_texts(event: RunEvent) -> tuple[SafeText, ...]:
    """Return the JSON that text search covers, without the times: readable, the id alone, and as sent."""
    members = {name: value for name, value in event.raw.items() if name not in _TIME_MEMBERS}
    readable, sent = (_TIMES.sub(r'\1"', text) for text in (json_text(members), event.wire_text))
    return line(readable, None), line(event.id, None), line(sent, None)


@dataclass(frozen=True, slots=True)
class EventFilter:
    query: Query
    spec: ResourceSpec[Any]

    @property
    def text(self) -> str:
        return self.query.text

    @property
    def word(self) -> str:
        """The text to search for if the filter is nothing else; otherwise empty."""
        term = self.query.term
        while isinstance(term, AllOf) and len(term.terms) == 1:
            term = term.terms[0]
        return term.text if isinstance(term, ContainsText) else ""

    @property
    def stored_word(self) -> str:
        """The same for the database, which searches the times too; empty for a text that may be part of a time."""
        return "" if _OF_TIMES.issuperset(fold_text(self.word)) else self.word

    def keeps(self, context: RenderContext) -> Callable[[RunEvent], bool]:
        """Return a function that says whether the filter matches an event."""
        drawing = RowRenderer(self.spec, context)
        if self.word:
            folded = fold_text(self.word)
            return lambda event: _EventRow(drawing, event, "").contains(folded)
        return lambda event: self.query.matches(_EventRow(drawing, event, ""))

    def match_spans(self, shown: str) -> Iterator[tuple[int, int]]:
        """Yield start and end of each match to highlight in a line, in order and without overlaps."""
        found = sorted(place for term in _positive(self.query.term) for place in _places(term, shown))
        last = 0
        for start, end in found:
            if start >= last:
                yield start, end
                last = end

    def match_elsewhere(self, drawn: Sequence[str], whole: str) -> tuple[int, int] | None:
        """Return the first match in a text of what is to be highlighted and in none of the drawn ones."""
        return _unseen(self.query.term, drawn, whole)[1]


def parse_event_filter(
    text: str, *, is_merged: bool = False, named: Mapping[str, str] | None = None
) -> EventFilter | None:
    """Parse a filter for the events of one run, or of several; ``None`` if it is empty.

    Raises:
        QueryError: The filter has a syntax error, or names something that events do not have.
    """
    if not text.strip():
        return None
    spec = MULTI_RUN_EVENTS if is_merged else EVENTS
    return EventFilter(parse_filter(text, spec, named=named), spec)


def seen_values(spec: ResourceSpec[Any]) -> dict[str, tuple[SafeText, ...]]:
    """Return the fields for event filters with their fixed values, for completion."""
    return {
        field.id: tuple(map(line, sorted(KINDS.values()))) if field.id == "kind" else () for field in spec.all_fields()
    }


def _positive(term: Term) -> Iterator[ContainsText | FieldContains | FuzzyText | MatchesPattern]:
    """Yield the terms of a filter whose text occurs in what it matches."""
    if isinstance(term, _HAS_TEXT):
        yield term
    elif isinstance(term, (AllOf, AnyOf)):
        for part in term.terms:
            yield from _positive(part)


def _unseen(term: Term, drawn: Sequence[str], whole: str) -> tuple[bool, tuple[int, int] | None]:
    """Return whether a match of a term is drawn, and else the first one in the whole text."""
    if isinstance(term, (AllOf, AnyOf)):
        parts = [_unseen(part, drawn, whole) for part in term.terms]
        is_drawn = (all if isinstance(term, AllOf) else any)(seen for seen, _ in parts)
        found = next((place for _, place in parts if place is not None), None)
        return is_drawn, None if is_drawn else found
    if not isinstance(term, _HAS_TEXT):
        return False, None
    if any(True for text in drawn for _ in _places(term, text)):
        return True, None
    return False, next(iter(_places(term, whole)), None)


def _places(term: ContainsText | FieldContains | FuzzyText | MatchesPattern, shown: str) -> Iterator[tuple[int, int]]:
    if isinstance(term, MatchesPattern):
        yield from term.pattern.places_in(shown)
        return
    if isinstance(term, FuzzyText):
        yield from shortest_match(term.word, shown)
        return
    folded, wanted = shown.casefold(), term.text.casefold()
    if not wanted or len(folded) != len(shown):
        # Case folding changed the length; the line matches, but nothing in it is highlighted.
        return
    start = folded.find(wanted)
    while start >= 0:
        yield start, start + len(wanted)
        start = folded.find(wanted, start + len(wanted))
