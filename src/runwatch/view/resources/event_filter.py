"""The filter of a list of events: the language of every list (console-anchors C3), and what of a line it marks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from runwatch.records.event import RunEvent
from runwatch.view.query.expressions import AllOf, AnyOf, ContainsText, FieldContains, MatchesPattern, Query, Term
from runwatch.view.query.parser import parse_filter
from runwatch.view.resources.events import EVENTS
from runwatch.view.runs.event_lines import KINDS
from runwatch.view.spec.resource import Column, ResourceSpec
from runwatch.view.table.rows import RecordRow, RowRenderer
from runwatch.view.text.format import RenderContext, short_id
from runwatch.view.text.safe_text import SafeText, line
from runwatch.view.text.styled_text import CellText

_EXECUTION: Final = "execution_id"


def _run(event: RunEvent, context: RenderContext) -> CellText:
    return short_id(event.execution_id, context.glyphs)


MULTI_RUN_EVENTS: Final[ResourceSpec[Any]] = replace(
    EVENTS,
    columns=(
        EVENTS.columns[0],
        Column[RunEvent](
            id="run", title="run", aliases=(_EXECUTION,), value=lambda it: it.execution_id, cell=_run, min_cells=9
        ),
        *EVENTS.columns[1:],
    ),
)
"""Events of several runs: each line names its run."""


class _EventRow(RecordRow[RunEvent]):
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
        while isinstance(term, AllOf) and len(term.terms) == 1:
            term = term.terms[0]
        return term.text if isinstance(term, ContainsText) else ""

    def keeps(self, context: RenderContext) -> Callable[[RunEvent], bool]:
        """Says of an event whether the filter keeps it.

        Args:
            context: What lines are drawn with; ages are counted to its moment.
        """
        drawing = RowRenderer(self.spec, context)
        return lambda event: self.query.matches(_EventRow(drawing, event, ""))

    def match_spans(self, shown: str) -> Iterator[tuple[int, int]]:
        """What of a line to mark: starts and ends, in order and apart from each other."""
        found = sorted(place for term in _positive(self.query.term) for place in _places(term, shown))
        last = 0
        for start, end in found:
            if start >= last:
                yield start, end
                last = end


def parse_event_filter(
    text: str, *, is_merged: bool = False, named: Mapping[str, str] | None = None
) -> EventFilter | None:
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
    spec = MULTI_RUN_EVENTS if is_merged else EVENTS
    return EventFilter(parse_filter(text, spec, named=named), spec)


def seen_values(spec: ResourceSpec[Any]) -> dict[str, tuple[SafeText, ...]]:
    """The fields that a filter of events can name, with the values that are known beforehand, for completion."""
    return {
        field.id: tuple(map(line, sorted(KINDS.values()))) if field.id == "kind" else () for field in spec.all_fields()
    }


def _positive(term: Term) -> Iterator[ContainsText | FieldContains | MatchesPattern]:
    """The parts of a filter whose text stands in what it keeps."""
    if isinstance(term, (ContainsText, FieldContains, MatchesPattern)):
        yield term
    elif isinstance(term, (AllOf, AnyOf)):
        for part in term.terms:
            yield from _positive(part)


def _places(term: ContainsText | FieldContains | MatchesPattern, shown: str) -> Iterator[tuple[int, int]]:
    if isinstance(term, MatchesPattern):
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
