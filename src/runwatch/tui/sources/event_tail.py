"""Events on a screen: shown as they arrive, filtered in the database, highlighted where they match."""

from __future__ import annotations

import time
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from runwatch.base.errors import RunwatchError
from runwatch.tui.core.rendering import StyledSpans, label_span
from runwatch.tui.core.workers import start_worker
from runwatch.tui.sources.event_line_source import EventLineSource
from runwatch.view.text.format import grouped_number
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import SafeText, line

if TYPE_CHECKING:
    from textual.timer import Timer

    from runwatch.records.event import RunEvent
    from runwatch.store.repositories.event_sequence import EventPredicate, EventSequence
    from runwatch.tui.shell.console_screen import ConsoleScreen
    from runwatch.tui.widgets.lists.event_log import EventLog
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

FILTER_CELLS: Final = 24
"""Width of the filter text in the frame."""


GATHER_S: Final = 0.1
FLOOD_S: Final = 0.25
"""Seconds to gather events between two draws: normally, and when more arrived than the list shows at once."""


class EventTail:
    """Connects an event sequence to an event log.

    Args:
        changed: Called when the text in the frame has changed.
        refused: Called with the reason when a filter cannot be read and is not applied.
        counted: Called with the number of matches and of all events.
    """

    def __init__(
        self,
        screen: ConsoleScreen,
        log: EventLog,
        *,
        changed: Callable[[], None],
        refused: Callable[[SafeText], None],
        counted: Callable[[int, int], None],
    ) -> None:
        self._screen = screen
        self._log = log
        self._changed = changed
        self._refused = refused
        self._counted = counted
        self._events: EventSequence | None = None
        self._lines: EventLineSource | None = None
        self._is_merged = False
        self._has_news = False
        self._is_growing = False
        self._is_held = False
        self._rest: Timer | None = None
        self._filter: EventFilter | None = None
        self._kept_filter: EventFilter | None = None
        self._hides_others = True
        # Matches in order, and the range of event numbers searched so far, around the place where it began.
        self._found: list[int] = []
        self._looked_near = self._looked_from = self._looked_to = 0
        self._shown, self._show_at = 0, 0.0
        self._is_looking = False
        self._is_refused = False
        # Counts the times that older events got other numbers.
        self._insertions = 0

    # Called by the screen.

    def show(self, events: EventSequence, *, is_merged: bool = False) -> None:
        """Show these events, unfiltered, and follow their end.

        Args:
            is_merged: Whether they belong to several runs, so that each line names its run.
        """
        self.clear()

        def fetch(page: int) -> None:
            async def load() -> None:
                start, length = await lines.load(page)
                if lines is self._lines:
                    self._log.refresh_lines_of(start, length)

            start_worker(self._screen, load(), "reading events", group="pages")

        lines = EventLineSource(events, self._screen.console.render_context, fetch, names_runs=is_merged)
        self._events, self._lines, self._is_merged = events, lines, is_merged
        self._log.show(lines, following=True)
        if self._rest is not None:
            # The delay belongs to the previous events; the user is waiting for these.
            self._rest.stop()
            self._go_on()
        self.grow()

    def clear(self) -> None:
        """Show no events, and remove filter and hold."""
        self._events = self._lines = self._filter = self._kept_filter = None
        self._has_news = self._is_looking = self._is_held = False
        self._found = []
        self._log.highlighter = None

    @property
    def is_showing(self) -> bool:
        """Whether an event sequence is shown, even an empty one."""
        return self._lines is not None

    @property
    def events(self) -> EventSequence | None:
        return self._events

    @property
    def length(self) -> int:
        return 0 if self._lines is None else self._lines.events_count

    @property
    def is_held(self) -> bool:
        """Whether the user has paused these events."""
        return self._is_held

    def hold(self, *, is_held: bool) -> None:
        """Leave the events as they are, or show those stored meanwhile."""
        self._is_held = is_held
        self.grow()

    def grow(self) -> None:
        """Read newly stored events, unless held; changes during that read are read afterwards."""
        if not self._is_held:
            self._grow_on()

    def _grow_on(self) -> None:
        self._has_news = True
        if not self._is_growing and self._events is not None:
            self._is_growing = True
            start_worker(self._screen, self._grow(), "reading events", group="tail")

    @property
    def filter_text(self) -> str:
        """The filter that applies; empty for none."""
        return "" if self._filter is None else self._filter.text

    def filter_by(self, text: str, *, is_typing: bool = False) -> bool:
        """Show or highlight only events that match a filter; return whether it can be read.

        The same filter again, as at the end of the typing, keeps what was found. If it cannot be read, the filter from
        before the typing applies again: events of the text's valid beginning would look like the result.

        Args:
            text: The filter; an empty one shows everything.
        """
        from runwatch.view.query.expressions import QueryError
        from runwatch.view.resources.event_filter import parse_event_filter

        try:
            found = parse_event_filter(text, is_merged=self._is_merged, named=self._screen.console.settings.filters)
        except QueryError as error:
            self._is_refused = True
            if self._filter is not self._kept_filter:
                self._apply(self._kept_filter)
            self._refused(line(f"not applied: {error.short_words}"))
            return False
        self._is_refused = False
        if found is not None and found == self._filter:
            found = self._filter
            self._show_found()
        else:
            self._apply(found)
        if not is_typing:
            self._kept_filter = found
        return True

    def _apply(self, wanted: EventFilter | None) -> None:
        """Look for the events that match, those near the cursor first."""
        self._filter, self._found = wanted, []
        near = None if self._lines is None else self._lines.number(self._log.cursor)
        self._looked_near = self.length if near is None else min(near, self.length)
        self._looked_from = self._looked_to = self._looked_near
        self._is_looking = False
        self._look()
        self._show_found()

    def toggle_context(self) -> SafeText:
        """Switch between hiding other events and only highlighting matches; return a notice."""
        self._hides_others = not self._hides_others
        self._show_found()
        return line("other events are hidden" if self._hides_others else "matches are marked, other events are shown")

    def move_match(self, index: int, step: int) -> bool:
        """Move to the next match, wrapping around; return whether there is one."""
        lines = self._lines
        if lines is None or not self._found:
            return False
        here = lines.number(index)
        place = bisect_left(self._found, -1 if here is None else here)
        is_on_match = place < len(self._found) and self._found[place] == here
        move = step if is_on_match or step < 0 else 0
        target = lines.index(self._found[(place + move) % len(self._found)])
        if target is not None:
            self._log.move_cursor(target)
        return True

    def event(self, index: int) -> RunEvent | None:
        """Return the event on a line, or ``None`` for a gap or while it is being fetched."""
        return None if self._lines is None else self._lines.event(index)

    # Texts of the frame.

    def mode_words(self, *, has_ended: bool = False) -> StyledSpans:
        """Return whether the log follows the end, which an ended run's log need not; nothing while it is held."""
        if self._is_held:
            return line("")
        if has_ended:
            return (label_span("ended"),)
        follow, paused = label_span("follow", Role.LIVE), label_span("PAUSED by scrolling", Role.WARN)
        return (follow if self._log.following else paused,)

    def new_words(self, stored: int = 0) -> StyledSpans:
        """Return how many events arrived since following stopped, or since the events are held.

        Args:
            stored: Number of events that are stored.
        """
        new = self._log.new_lines + (max(0, stored - self.length) if self._is_held else 0)
        return (label_span(f"+{grouped_number(new)} new", Role.WARN if new else Role.QUIET),)

    def known_words(self, *, is_read: bool = True, is_failing: bool = False) -> SafeText:
        """Return the number of events, and of matches, so that a filtered list is recognizable.

        An empty log says the same.

        Args:
            is_read: Whether the service has said what events there are.
            is_failing: Whether it cannot be asked now.
        """
        events = self.length
        loading = "not read" if is_failing else f"loading{self._screen.console.glyphs.ellipsis}"
        nothing = "no event yet" if is_read else loading
        known = f"{grouped_number(events)} event{'s' * (events != 1)}" if events else nothing
        words = line(known)
        if self._filter is not None and events:
            so_far = f" so far{self._screen.console.glyphs.ellipsis}" if self._is_looking else ""
            sought = line(self._filter.text, FILTER_CELLS)
            words = line(f"{grouped_number(len(self._found))} of {known} match {sought}{so_far}")
        self._log.note = (words,)
        return words

    # Internals.

    async def _grow(self) -> None:
        rest_s = 0.0
        try:
            if (events := self._events) is not None:
                self._has_news = False
                inserted = await events.grow()
                lines = self._lines
                if lines is not None and inserted:
                    self._insertions += 1
                    await lines.insert(inserted)
                if lines is not None and self._log.following:
                    await lines.catch_up(self._log.rows_in_sight)
                if lines is not None and lines is self._lines:
                    rest_s = self._draw_new(lines, inserted)
        finally:
            if rest_s:
                self._rest = self._screen.set_timer(rest_s, self._go_on)
            else:
                self._go_on()

    def _draw_new(self, lines: EventLineSource, inserted: Sequence[int]) -> float:
        """Draw new events and return for how many seconds to gather the next ones.

        Args:
            inserted: The numbers of those that precede older ones.
        """
        before, shown = lines.events_count, lines.count()
        here = lines.number(self._log.cursor)
        lines.update()
        moved = 0
        if inserted:
            self._renumber(lines, inserted)
            there = None if here is None else lines.index(_moved(here, inserted))
            moved = 0 if there is None else there - self._log.cursor
        if (lines.events_count, lines.count()) != (before, shown):
            self._log.update_count(moved=moved)
            self._look()
        self._changed()
        came = lines.events_count - before
        # More events than fit in the list cannot be read as they arrive.
        return 0.0 if not came else FLOOD_S if came > self._log.rows_in_sight else GATHER_S

    def _renumber(self, lines: EventLineSource, inserted: Sequence[int]) -> None:
        """Take the new numbers of the matches, and search again from the first inserted event on."""
        self._found = [_moved(number, inserted) for number in self._found]
        if self._filter is not None and self._hides_others:
            lines.only(self._found.copy())
        first = inserted[0]
        self._looked_from, self._looked_to = min(self._looked_from, first), min(self._looked_to, first)

    def _go_on(self) -> None:
        self._rest = None
        self._is_growing = False
        if self._has_news:
            self._grow_on()

    def _look(self) -> None:
        """Filter the events not searched yet."""
        if self._filter is not None and not self._is_looking:
            self._is_looking = True
            start_worker(self._screen, self._look_through(), "filtering events", group="search", exclusive=True)

    async def _look_through(self) -> None:
        """Search, and end it also if the events cannot be read."""
        events, wanted = self._events, self._filter
        if events is None or wanted is None:
            return
        try:
            await self._look_at_all(events, wanted)
        except RunwatchError:
            if wanted is self._filter:
                self._is_looking = False
                self._changed()
            raise

    async def _look_at_all(self, events: EventSequence, wanted: EventFilter) -> None:
        """Filter all events not searched yet, nearest to the cursor first."""
        keep = wanted.keeps(self._screen.console.render_context())
        if self._looked_from == self._looked_to and (
            not await self._scan(events, wanted, keep)
            or not (self.length <= SQL_PREFILTER_EVENTS or not wanted.stored_word or await self._search(events, wanted))
        ):
            return
        while self._looked_from > 0 or self._looked_to < self.length:
            if not await self._scan(events, wanted, keep):
                return
        self._is_looking = False
        self._show_found()

    async def _scan(self, events: EventSequence, wanted: EventFilter, keep: EventPredicate) -> bool:
        """Filter the next part of the events; return whether the filter is still wanted."""
        size = FIRST_BATCH_EVENTS if self._looked_from == self._looked_to else FILTER_BATCH_EVENTS
        part = _next_part(self._looked_near, self._looked_from, self._looked_to, self.length, size)
        if part is None:
            return True
        start, stop = part
        insertions = self._insertions
        kept = await events.scan(start, stop, keep)
        if insertions != self._insertions:
            # Its numbers are outdated.
            return wanted is self._filter
        if not self._take_found(wanted, start, stop, kept):
            return False
        self._looked_from, self._looked_to = min(start, self._looked_from), max(stop, self._looked_to)
        return True

    async def _search(self, events: EventSequence, wanted: EventFilter) -> bool:
        """Let the database search the other events for a word; return whether the filter is still wanted."""
        here, there = self._looked_from, self._looked_to
        while (part := _next_part(self._looked_near, here, there, self.length, SQL_BATCH_EVENTS)) is not None:
            start, stop = part
            here, there = min(start, here), max(stop, there)
            if not self._take_found(wanted, start, stop, await events.holding(wanted.stored_word, start, stop)):
                return False
        return True

    def _take_found(self, wanted: EventFilter, start: int, stop: int, part: list[int]) -> bool:
        """Take the matches of a part of all events; return whether the filter is still wanted."""
        if wanted is not self._filter:
            return False
        now = time.monotonic()
        self._found[bisect_left(self._found, start) : bisect_left(self._found, stop)] = part
        # The database's matches are found again, so a different count means there are more. Drawing takes longer than
        # a part of the search, so only the first ones are shown at once.
        if len(self._found) != self._shown and (not self._shown or now >= self._show_at):
            self._show_at = now + SHOW_AGAIN_S
            self._show_found()
        return True

    def _show_found(self) -> None:
        lines, wanted = self._lines, self._filter
        if lines is None:
            return
        self._shown = len(self._found)
        here = lines.number(self._log.cursor)
        # A copy, so that the line of the cursor is known until the lines change.
        lines.only(self._found.copy() if wanted is not None and self._hides_others else None)
        self._log.highlighter = None if wanted is None else wanted.match_spans
        there = None if here is None else lines.index(here)
        self._log.update_count(moved=0 if there is None else there - self._log.cursor)
        # New events do not clear the error of an invalid filter.
        if wanted is not None and not self._is_refused:
            self._counted(len(self._found), self.length)
        self._changed()


def _moved(number: int, inserted: Sequence[int]) -> int:
    """Return the new number of an older event, from the numbers of the inserted ones, in order.

    The n-th insertion, counted from 0, moves what was at its number less n, or after.
    """
    return number + bisect_right(range(len(inserted)), number, key=lambda nth: inserted[nth] - nth)


def _next_part(near: int, here: int, there: int, length: int, size: int) -> tuple[int, int] | None:
    """Return the next part to search around ``[here, there)``, on the side that is nearer to a place; ``None`` if
    everything has been searched.
    """
    if there < length and (here == 0 or there - near <= near - here):
        return there, min(there + size, length)
    return (max(0, here - size), here) if here > 0 else None
