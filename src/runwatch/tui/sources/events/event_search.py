"""Search for the events that match a filter: in steps, those near the cursor first."""

from __future__ import annotations

import time
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from runwatch.base.errors import RunwatchError
from runwatch.tui.core.workers import start_worker

if TYPE_CHECKING:
    from runwatch.store.repositories.event_sequence import EventPredicate, EventSequence
    from runwatch.tui.shell.console_screen import ConsoleScreen
    from runwatch.view.resources.event_filter import EventFilter

FILTER_BATCH_EVENTS: Final = 5_000
"""Events filtered in one step, so that new events can be drawn in between."""

FIRST_BATCH_EVENTS: Final = 500
"""Events near the cursor that are filtered before all others."""

SQL_PREFILTER_EVENTS: Final = 2_000
"""From this many events on, the database searches for a single word first, which finds most matches at once."""

SHOW_AGAIN_S: Final = 0.25
"""How often more matches are shown while a search goes on."""

SQL_BATCH_EVENTS: Final = 25_000
"""Events that the database searches in one step, so that other work can go in between."""


class EventSearch:
    """Searches a sequence of events that grows meanwhile.

    Args:
        count_events: Returns how many events there are to search.
        show: Called when there are more matches to show, and at the end.
        failed: Called when the events cannot be read.

    Attributes:
        matches: The numbers of the matches, in order.
        shown_count: How many matches were shown last.
    """

    def __init__(
        self,
        screen: ConsoleScreen,
        count_events: Callable[[], int],
        *,
        show: Callable[[], None],
        failed: Callable[[], None],
    ) -> None:
        self._screen = screen
        self._count_events = count_events
        self._show = show
        self._failed = failed
        self._events: EventSequence | None = None
        self.filter: EventFilter | None = None
        self.matches: list[int] = []
        self.is_running = False
        self.shown_count, self._show_at = 0, 0.0
        # The range of event numbers searched so far, around the one where it began.
        self._near = self._start = self._stop = 0
        # Counts the times that older events got other numbers.
        self._insertions = 0

    def begin(self, events: EventSequence | None, wanted: EventFilter | None, near: int) -> None:
        """Search for other matches, from a number in both directions."""
        self._events, self.filter, self.matches = events, wanted, []
        self._near = self._start = self._stop = near
        self.is_running = False
        self.resume()

    def clear(self) -> None:
        self._events = self.filter = None
        self.is_running = False
        self.matches = []

    def resume(self) -> None:
        """Search the events that were not searched yet."""
        if self.filter is not None and not self.is_running:
            self.is_running = True
            start_worker(self._screen, self._run(), "filtering events", group="search", exclusive=True)

    def find_match(self, here: int | None, step: int) -> int | None:
        """Return the match after or before an event, wrapping around; ``None`` if there is no match."""
        if not self.matches:
            return None
        index = bisect_left(self.matches, -1 if here is None else here)
        is_on_match = index < len(self.matches) and self.matches[index] == here
        move = step if is_on_match or step < 0 else 0
        return self.matches[(index + move) % len(self.matches)]

    def expect_insertion(self) -> None:
        """Drop what is being searched now, whose numbers are about to change."""
        self._insertions += 1

    def insert(self, inserted: Sequence[int]) -> None:
        """Give the matches their new numbers, and search again from the first inserted event on."""
        self.matches = [renumber(number, inserted) for number in self.matches]
        self._start, self._stop = min(self._start, inserted[0]), min(self._stop, inserted[0])

    async def _run(self) -> None:
        """Search, and end it also if the events cannot be read."""
        events, wanted = self._events, self.filter
        if events is None or wanted is None:
            return
        try:
            await self._search_all(events, wanted)
        except RunwatchError:
            if wanted is self.filter:
                self.is_running = False
                self._failed()
            raise

    async def _search_all(self, events: EventSequence, wanted: EventFilter) -> None:
        """Filter all events not searched yet, nearest to the cursor first."""
        keep = wanted.keeps(self._screen.console.render_context())
        if self._start == self._stop and (
            not await self._filter_part(events, wanted, keep)
            or not (
                self._count_events() <= SQL_PREFILTER_EVENTS
                or not wanted.stored_word
                or await self._find_word(events, wanted)
            )
        ):
            return
        while self._start > 0 or self._stop < self._count_events():
            if not await self._filter_part(events, wanted, keep):
                return
        self.is_running = False
        self._show()

    async def _filter_part(self, events: EventSequence, wanted: EventFilter, keep: EventPredicate) -> bool:
        """Filter the next part of the events; return whether the filter is still wanted."""
        size = FIRST_BATCH_EVENTS if self._start == self._stop else FILTER_BATCH_EVENTS
        part = _next_part(self._near, self._start, self._stop, self._count_events(), size)
        if part is None:
            return True
        start, stop = part
        insertions = self._insertions
        kept = await events.scan(start, stop, keep)
        if insertions != self._insertions:
            # Its numbers are outdated.
            return wanted is self.filter
        if not self._add_matches(wanted, start, stop, kept):
            return False
        self._start, self._stop = min(start, self._start), max(stop, self._stop)
        return True

    async def _find_word(self, events: EventSequence, wanted: EventFilter) -> bool:
        """Let the database search the other events for a word; return whether the filter is still wanted."""
        here, there = self._start, self._stop
        while (part := _next_part(self._near, here, there, self._count_events(), SQL_BATCH_EVENTS)) is not None:
            start, stop = part
            here, there = min(start, here), max(stop, there)
            if not self._add_matches(wanted, start, stop, await events.holding(wanted.stored_word, start, stop)):
                return False
        return True

    def _add_matches(self, wanted: EventFilter, start: int, stop: int, part: list[int]) -> bool:
        """Add the matches of a part of all events; return whether the filter is still wanted."""
        if wanted is not self.filter:
            return False
        now = time.monotonic()
        self.matches[bisect_left(self.matches, start) : bisect_left(self.matches, stop)] = part
        # The database's matches are found again, so a different count means there are more. Drawing takes longer than
        # a part of the search, so only the first ones are shown at once.
        if len(self.matches) != self.shown_count and (not self.shown_count or now >= self._show_at):
            self._show_at = now + SHOW_AGAIN_S
            self._show()
        return True


def renumber(number: int, inserted: Sequence[int]) -> int:
    """Return the new number of an older event, from the numbers of the inserted ones, in order.

    The n-th insertion, counted from 0, moves what was at its number less n, or after.
    """
    return number + bisect_right(range(len(inserted)), number, key=lambda nth: inserted[nth] - nth)


def _next_part(near: int, here: int, there: int, length: int, size: int) -> tuple[int, int] | None:
    """Return the next part to search around ``[here, there)``, on the side that is nearer to ``near``; ``None`` if
    everything has been searched.
    """
    if there < length and (here == 0 or there - near <= near - here):
        return there, min(there + size, length)
    return (max(0, here - size), here) if here > 0 else None
