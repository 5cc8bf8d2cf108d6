"""Events on a screen: shown as they arrive, filtered in the database, highlighted where they match."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from runwatch.tui.core.rendering import StyledSpans, label_span
from runwatch.tui.core.workers import start_worker
from runwatch.tui.sources.events.event_line_source import EventLineSource
from runwatch.tui.sources.events.event_search import EventSearch, renumber
from runwatch.view.text.format import grouped_number
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import SafeText, line

if TYPE_CHECKING:
    from textual.timer import Timer

    from runwatch.records.event import RunEvent
    from runwatch.store.repositories.event_sequence import EventSequence
    from runwatch.tui.shell.console_screen import ConsoleScreen
    from runwatch.tui.widgets.bars.status_bar import KeyHint
    from runwatch.tui.widgets.lists.event_log import EventLog
    from runwatch.view.resources.event_filter import EventFilter

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

    Attributes:
        events: What is shown; ``None`` for nothing.
        refusal: Why the last filter cannot be read; empty if it can.
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
        self.events: EventSequence | None = None
        self._lines: EventLineSource | None = None
        self._is_merged = False
        self._has_news = False
        self._is_reading = False
        self._debounce: Timer | None = None
        self._search = EventSearch(screen, lambda: self.length, show=self._show_matches, failed=changed)
        self._kept_filter: EventFilter | None = None
        self._hides_others = True
        self.refusal = ""

    # Called by the screen.

    def show(self, events: EventSequence, *, is_merged: bool = False) -> None:
        """Show these events, unfiltered, and follow their end; of several runs, each line names its run."""
        self.clear()

        def fetch(page: int) -> None:
            async def load() -> None:
                start, length = await lines.load(page)
                if lines is self._lines:
                    self._log.refresh_lines_of(start, length)

            start_worker(self._screen, load(), "reading events", group="pages")

        lines = EventLineSource(events, self._screen.console.render_context, fetch, names_runs=is_merged)
        self.events, self._lines, self._is_merged = events, lines, is_merged
        self._log.show(lines, following=True)
        if self._debounce is not None:
            # The delay belongs to the previous events; the user is waiting for these.
            self._debounce.stop()
            self._finish_reading()
        self.grow()

    def clear(self) -> None:
        """Show no events, and remove filter and pause."""
        self.events = self._lines = self._kept_filter = None
        self._has_news = self._log.is_paused = False
        self._search.clear()
        self._log.highlighter = None
        self._log.empty_text = ()

    @property
    def is_showing(self) -> bool:
        """Whether an event sequence is shown, even an empty one."""
        return self._lines is not None

    @property
    def is_paused(self) -> bool:
        """Whether the user has paused these events."""
        return self._log.is_paused

    @property
    def length(self) -> int:
        return 0 if self._lines is None else self._lines.events_count

    def pause(self, *, is_paused: bool) -> None:
        """Leave the events as they are, or show those stored meanwhile."""
        self._log.is_paused = is_paused
        self.grow()

    def grow(self) -> None:
        """Read newly stored events, unless paused; changes during that read are read afterwards."""
        if not self.is_paused:
            self._start_reading()

    def _start_reading(self) -> None:
        self._has_news = True
        if not self._is_reading and self.events is not None:
            self._is_reading = True
            start_worker(self._screen, self._read_new(), "reading events", group="tail")

    @property
    def filter_text(self) -> str:
        """The filter that applies; empty for none."""
        return "" if self._search.filter is None else self._search.filter.text

    def filter_by(self, text: str, *, is_typing: bool = False) -> bool:
        """Show or highlight only events that match a filter, or all with an empty one; return whether it can be read.

        The same filter again, as at the end of the typing, keeps what was found. If it cannot be read, the filter from
        before the typing applies again: events of the text's valid beginning would look like the result.
        """
        from runwatch.view.query.expressions import QueryError
        from runwatch.view.resources.event_filter import parse_event_filter

        try:
            found = parse_event_filter(text, is_merged=self._is_merged, named=self._screen.console.settings.filters)
        except QueryError as error:
            self.refusal = error.short_words
            if self._search.filter is not self._kept_filter:
                self._apply(self._kept_filter)
            self._refused(line(f"not applied: {self.refusal}"))
            return False
        self.refusal = ""
        if found is not None and found == self._search.filter:
            found = self._search.filter
            self._show_matches()
        else:
            self._apply(found)
        if not is_typing:
            self._kept_filter = found
        return True

    def _apply(self, wanted: EventFilter | None) -> None:
        """Look for the events that match, those near the cursor first."""
        self._log.show_from_left()
        near = None if self._lines is None else self._lines.number(self._log.cursor)
        self._search.begin(self.events, wanted, self.length if near is None else min(near, self.length))
        self._show_matches()

    def toggle_context(self) -> SafeText:
        """Switch between hiding other events and only highlighting matches; return a notice."""
        self._hides_others = not self._hides_others
        self._show_matches()
        return line("other events are hidden" if self._hides_others else "matches are marked, other events are shown")

    def move_match(self, step: int) -> bool:
        """Move from the cursor to the next match, wrapping around; return whether there is one."""
        lines = self._lines
        match = None if lines is None else self._search.find_match(lines.number(self._log.cursor), step)
        if lines is None or match is None:
            return False
        target = lines.index(match)
        if target is not None:
            self._log.move_cursor(target)
        return True

    def event(self, index: int) -> RunEvent | None:
        """Return the event on a line, or ``None`` for a gap or while it is being fetched."""
        return None if self._lines is None else self._lines.event(index)

    # Texts of the frame.

    def mode_text(self, *, has_ended: bool = False) -> StyledSpans:
        """Return whether the log follows the end, which an ended run's log need not; nothing while it is paused."""
        if self.is_paused:
            return line("")
        if has_ended:
            return (label_span("ended"),)
        if self._log.following:
            return (label_span("follow", Role.LIVE),)
        why = self._screen.console.keys.shown("tail.follow") if self._log.is_stopped_by_key else "scrolling"
        return (label_span(f"PAUSED by {why}", Role.WARN),)

    @property
    def follow_hint(self) -> KeyHint:
        """The hint for the key that follows, or stops following."""
        is_following = self._log.following and not self.is_paused
        return ("tail.follow", "unfollow") if is_following else "tail.follow"

    def new_text(self, stored: int = 0, *, has_ended: bool = False) -> StyledSpans:
        """Return how many events arrived since following stopped, or of the ``stored`` ones since they are paused.

        Empty if there are none and no more will arrive (``has_ended``).
        """
        new = self._log.new_lines + (max(0, stored - self.length) if self.is_paused else 0)
        if has_ended and not new:
            return line("")
        return (label_span(f"+{grouped_number(new)} new", Role.WARN if new else Role.QUIET),)

    def known_text(self, *, is_read: bool = True, is_failing: bool = False) -> SafeText:
        """Return the number of events, and of matches, so that a filtered list is recognizable.

        Without events, say whether the service has none (``is_read``), or cannot be asked now (``is_failing``).
        """
        events, search = self.length, self._search
        loading = "not read" if is_failing else f"loading{self._screen.console.glyphs.ellipsis}"
        nothing = "no event yet" if is_read else loading
        if self._screen.console.has_file:
            nothing = "the file has no events of this run"
        known = f"{grouped_number(events)} event{'s' * (events != 1)}" if events else nothing
        if search.filter is None or not events:
            return line(known)
        so_far = f" so far{self._screen.console.glyphs.ellipsis}" if search.is_running else ""
        sought = line(search.filter.text, FILTER_CELLS)
        return line(f"{grouped_number(len(search.matches))} of {known} match {sought}{so_far}")

    def update_empty_text(self, text: SafeText) -> None:
        """Say in an empty log what the frame says."""
        self._log.empty_text = (text,)

    async def _read_new(self) -> None:
        gather_s = 0.0
        try:
            if (events := self.events) is not None:
                self._has_news = False
                inserted = await events.grow()
                lines = self._lines
                if lines is not None and inserted:
                    self._search.expect_insertion()
                    await lines.insert(inserted)
                if lines is not None and self._log.following:
                    await lines.catch_up(self._log.rows_in_sight)
                if lines is not None and lines is self._lines:
                    gather_s = self._draw_new(lines, inserted)
        finally:
            if gather_s:
                self._debounce = self._screen.set_timer(gather_s, self._finish_reading)
            else:
                self._finish_reading()

    def _draw_new(self, lines: EventLineSource, inserted: Sequence[int]) -> float:
        """Draw new events and return for how many seconds to gather the next; ``inserted`` are the numbers of
        those that precede older ones.
        """
        before, shown = lines.events_count, lines.count()
        here = lines.number(self._log.cursor)
        lines.update()
        moved = 0
        if inserted:
            self._search.insert(inserted)
            if self._search.filter is not None and self._hides_others:
                lines.only(self._search.matches.copy())
            there = None if here is None else lines.index(renumber(here, inserted))
            moved = 0 if there is None else there - self._log.cursor
        if (lines.events_count, lines.count()) != (before, shown):
            self._log.update_count(moved=moved)
            self._search.resume()
        self._changed()
        came = lines.events_count - before
        # More events than fit in the list cannot be read as they arrive.
        return 0.0 if not came else FLOOD_S if came > self._log.rows_in_sight else GATHER_S

    def _finish_reading(self) -> None:
        self._debounce = None
        self._is_reading = False
        if self._has_news:
            self._start_reading()

    def _show_matches(self) -> None:
        lines, wanted, matches = self._lines, self._search.filter, self._search.matches
        if lines is None:
            return
        self._search.shown_count = len(matches)
        here = lines.number(self._log.cursor)
        # A copy, so that the line of the cursor is known until the lines change.
        lines.only(matches.copy() if wanted is not None and self._hides_others else None)
        self._log.highlighter = wanted
        there = None if here is None else lines.index(here)
        self._log.update_count(moved=0 if there is None else there - self._log.cursor)
        # New events do not clear the error of an invalid filter.
        if wanted is not None and not self.refusal:
            self._counted(len(matches), self.length)
        self._changed()
