"""Stored events as lines of a list: a few pages in memory, the rest in the database."""

from __future__ import annotations

from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from runwatch.records.event import RunEvent
from runwatch.view.runs.event_lines import EventLine, render_event, render_gap
from runwatch.view.text.format import RenderContext, short_id

if TYPE_CHECKING:
    from runwatch.store.repositories.event_sequence import EventSequence
    from runwatch.store.repositories.event_store import EventGap
    from runwatch.view.text.safe_text import SafeText

PAGE_EVENTS: Final = 256
MAX_PAGES: Final = 16
"""Pages kept in memory."""


class EventLineSource:
    """Lines of an event sequence: all events with gaps between them, or those that match a filter.

    :meth:`window` returns at once what is in memory and passes the missing pages to ``fetch``, which calls
    :meth:`load`.

    Args:
        context: Returns the current render context; called for every window.
        fetch: Loads a page in a worker, by its number.
        names_runs: Whether each line names its run.
    """

    def __init__(
        self,
        events: EventSequence,
        context: Callable[[], RenderContext],
        fetch: Callable[[int], None],
        *,
        names_runs: bool = False,
    ) -> None:
        self._events = events
        self._context = context
        self._fetch = fetch
        self._names_runs = names_runs
        self._pages: OrderedDict[int, list[RunEvent]] = OrderedDict()
        self._wanted: set[int] = set()
        self._count = 0
        self._gaps: tuple[EventGap, ...] = ()
        self._gap_lines: list[int] = []
        self._found: Sequence[int] | None = None
        # Counts calls of insert(), so that a page that was being read meanwhile is read again.
        self._insertions = 0

    def update(self) -> None:
        # The last page may have more events now; its known events stay visible until it is fetched again.
        count = self._count = self._events.length
        self._gaps = tuple(sorted(self._events.gaps, key=lambda gap: gap.position))
        self._gap_lines = [min(gap.position, count) + number for number, gap in enumerate(self._gaps)]

    @property
    def events_count(self) -> int:
        """Number of events, without gaps or filter."""
        return self._count

    def only(self, found: Sequence[int] | None) -> None:
        """Show only the events with these numbers, in order; ``None`` shows all events and gaps."""
        self._found = found

    def count(self) -> int:
        return self._count + len(self._gaps) if self._found is None else len(self._found)

    def end(self) -> int:
        """Return the number of the next event."""
        return self._count

    def added_since(self, end: int) -> int:
        """Return how many events from that number on are shown; gaps do not count."""
        return self._count - end if self._found is None else len(self._found) - bisect_left(self._found, end)

    def number(self, index: int) -> int | None:
        """Return the number of the event on a line, or ``None`` for a gap."""
        if self._found is not None:
            return self._found[index] if index < len(self._found) else None
        gaps = bisect_left(self._gap_lines, index)
        if gaps < len(self._gap_lines) and self._gap_lines[gaps] == index:
            return None
        return index - gaps

    def index(self, number: int) -> int | None:
        """Return the line of an event, or ``None`` if the filter hides it."""
        if self._found is not None:
            index = bisect_left(self._found, number)
            return index if index < len(self._found) and self._found[index] == number else None
        return number + sum(gap.position <= number for gap in self._gaps)

    def event(self, index: int) -> RunEvent | None:
        """Return the event on a line if it is in memory; otherwise fetch it."""
        number = self.number(index)
        return None if number is None else self._event(number)

    def searched_texts(self, index: int) -> Sequence[SafeText]:
        """Return the JSON of the event on a line if it is in memory."""
        from runwatch.view.resources.event_filter import json_texts

        event = self.event(index)
        return () if event is None else json_texts(event)

    async def insert(self, inserted: Sequence[int]) -> None:
        """Read the pages in memory again from the first of these new events on, which precede older ones.

        The lines change with the next :meth:`update`.
        """
        self._insertions += 1
        for page in sorted(page for page in self._pages if page >= inserted[0] // PAGE_EVENTS):
            self._pages[page] = await self._events.window(page * PAGE_EVENTS, PAGE_EVENTS)

    def window(self, start: int, count: int) -> Sequence[EventLine | None]:
        """Return lines from ``start`` on; ``None`` for those being fetched."""
        context = self._context()
        return [self._line(index, context) for index in range(start, min(start + count, self.count()))]

    async def catch_up(self, count: int) -> None:
        """Fetch the missing ones of the ``count`` newest events, so that they can be drawn at once."""
        end = self._events.length
        page = max(0, end - count) // PAGE_EVENTS
        while page * PAGE_EVENTS < end:
            cached = self._pages.get(page, [])
            first = page * PAGE_EVENTS + len(cached)
            last = min(end, (page + 1) * PAGE_EVENTS)
            if first < last:
                self._cache(page, cached + await self._events.window(first, last - first))
            page += 1

    async def load(self, page: int) -> tuple[int, int]:
        """Load a page and return the start and number of lines that can be drawn now."""
        try:
            insertions = -1
            while insertions != self._insertions:
                insertions = self._insertions
                events = await self._events.window(page * PAGE_EVENTS, PAGE_EVENTS)
        finally:
            self._wanted.discard(page)
        self._cache(page, events)
        if self._found is not None:
            return 0, len(self._found)
        first = page * PAGE_EVENTS
        return first, PAGE_EVENTS + len(self._gaps)

    def _cache(self, page: int, events: list[RunEvent]) -> None:
        # Of two concurrent reads, the older one may return fewer events and finish later.
        if len(events) >= len(self._pages.get(page, ())):
            self._pages[page] = events
        self._pages.move_to_end(page)
        while len(self._pages) > MAX_PAGES:
            self._pages.popitem(last=False)

    def _line(self, index: int, context: RenderContext) -> EventLine | None:
        number = self.number(index)
        if number is None:
            gap = self._gaps[bisect_left(self._gap_lines, index)]
            return render_gap(gap.began_at, gap.ended_at, context)
        event = self._event(number)
        if event is None:
            return None
        drawn = render_event(event, context)
        return drawn._replace(run=short_id(event.execution_id, context.glyphs)) if self._names_runs else drawn

    def _event(self, number: int) -> RunEvent | None:
        page, offset = divmod(number, PAGE_EVENTS)
        cached = self._pages.get(page)
        if cached is not None:
            self._pages.move_to_end(page)
            if offset < len(cached):
                return cached[offset]
        if page not in self._wanted:
            self._wanted.add(page)
            self._fetch(page)
        return None
