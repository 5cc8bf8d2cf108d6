"""The filter of a list of events: the language of every list (console-anchors C3), and what of a line it marks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from runwatch.records.event import RunEvent
from runwatch.view.drawn import Drawn, line
from runwatch.view.format import Context, short_id
from runwatch.view.query import Either, Every, Holds, Query, Regex, Term, Word
from runwatch.view.query_text import parse
from runwatch.view.resource import Column, ResourceSpec, Shown
from runwatch.view.resources.events import EVENTS
from runwatch.view.table import Drawing, Row
from runwatch.view.timeline import KINDS

_EXECUTION: Final = "execution_id"


def _run(event: RunEvent, context: Context) -> Shown:
    return short_id(event.execution_id, context.glyphs)


MERGED: Final[ResourceSpec[Any]] = replace(
    EVENTS,
    columns=(
        EVENTS.columns[0],
        Column[RunEvent](
            id="run", title="run", aliases=(_EXECUTION,), value=lambda it: it.execution_id, cell=_run, least=9
        ),
        *EVENTS.columns[1:],
    ),
)
"""Events of several runs: each line names its run."""


class _EventRow(Row[RunEvent]):
    """An event as filters see it.

    Its line shows only a part of it, so that words look into its own JSON too.
    """

    __slots__ = ()

    def text(self) -> str:
        """The cells, and the event as it came, one text a line."""
        wire = self.subject.wire_text
        # What the service wrote with escapes is looked for as people type it.
        readable = (line(dict(self.subject.raw), None),) if "\\u" in wire else ()
        return "\n".join((super().text(), line(wire, None), *readable))


@dataclass(frozen=True, slots=True)
class EventFilter:
    """A filter of events that was read.

    Attributes:
        query: What it asks for.
        spec: What it knows of events.
    """

    query: Query
    spec: ResourceSpec[Any]

    @property
    def text(self) -> str:
        """The filter as it was typed."""
        return self.query.text

    @property
    def word(self) -> str:
        """The one text that is looked for, where the filter asks for nothing else; otherwise empty."""
        term = self.query.term
        while isinstance(term, Every) and len(term.terms) == 1:
            term = term.terms[0]
        return term.text if isinstance(term, Word) else ""

    def keeps(self, context: Context) -> Callable[[RunEvent], bool]:
        """Says of an event whether the filter keeps it.

        Args:
            context: What lines are drawn with; ages are counted to its moment.
        """
        drawing = Drawing(self.spec, context)
        return lambda event: self.query.matches(_EventRow(drawing, event, ""))

    def places(self, shown: str) -> Iterator[tuple[int, int]]:
        """What of a line to mark: starts and ends, in order and apart from each other."""
        found = sorted(place for term in _positive(self.query.term) for place in _places(term, shown))
        last = 0
        for start, end in found:
            if start >= last:
                yield start, end
                last = end


def read_filter(text: str, *, is_merged: bool = False, named: Mapping[str, str] | None = None) -> EventFilter | None:
    """Read what was typed; ``None`` when that is nothing.

    Args:
        text: The filter.
        is_merged: Whether lines of several runs are mixed.
        named: The filters kept under names.

    Raises:
        QueryError: it breaks the grammar, or asks for what events do not have.
    """
    if not text.strip():
        return None
    spec = MERGED if is_merged else EVENTS
    return EventFilter(parse(text, spec, named=named), spec)


def seen_values(spec: ResourceSpec[Any]) -> dict[str, tuple[Drawn, ...]]:
    """The fields that a filter of events can name, with the values that are known beforehand, for completion."""
    return {
        field.id: tuple(map(line, sorted(KINDS.values()))) if field.id == "kind" else () for field in spec.all_fields()
    }


def _positive(term: Term) -> Iterator[Word | Holds | Regex]:
    """The parts of a filter whose text stands in what it keeps."""
    if isinstance(term, (Word, Holds, Regex)):
        yield term
    elif isinstance(term, (Every, Either)):
        for part in term.terms:
            yield from _positive(part)


def _places(term: Word | Holds | Regex, shown: str) -> Iterator[tuple[int, int]]:
    if isinstance(term, Regex):
        yield from term.pattern.places_in(shown)
        return
    folded, wanted = shown.casefold(), term.text.casefold()
    if not wanted or len(folded) != len(shown):
        # Folding has moved the places; the line is found all the same, only nothing in it is marked.
        return
    start = folded.find(wanted)
    while start >= 0:
        yield start, start + len(wanted)
        start = folded.find(wanted, start + len(wanted))
