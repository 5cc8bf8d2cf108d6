"""Event tail of a run, as a pure step function (manual: decisions, "Event tail"; manual: interface, "Events").

``RunTail`` says what to read next and receives the result; it neither waits nor reads. The caller reads, and waits
where it says so (:mod:`runwatch.store.live.stored_run_tail`).

No event is lost or doubled when pages overlap, repeat, or return the whole list or parts of it again: the caller stores
each page first and passes on what was new. The tail gets whole pages, because repeated events also show the service's
position.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from runwatch.records.event import RunEvent
from runwatch.records.states import is_final

FIRST_PAUSE_S: Final = 1.0
"""Pause after a page without new events; a page with new events is followed by none (manual: interface, "Events")."""

PAUSE_GROWTH: Final = 1.5
"""Factor by which each quiet read lengthens the next pause."""

LONGEST_PAUSE_S: Final = 5.0
"""Longest pause (manual: decisions, "Request budget")."""

QUIET_READS: Final = 5
"""Consecutive reads without new events before the run's status is read, because its final event may never come."""

LAST_READS: Final = 2
"""Empty reads after the run is known to be final that end the tail (manual: decisions, "Event tail")."""


class ReadStep(NamedTuple):
    """Read now, then call :meth:`RunTail.note_page`.

    Attributes:
        after: The event id to read after; ``None`` for all events, and for the status.
        kind: The run's events, or the run itself for its status.
    """

    after: str | None = None
    kind: Literal["events", "status"] = "events"


class PauseStep(NamedTuple):
    seconds: float


@dataclass(frozen=True, slots=True)
class EndStep:
    """The tail has ended."""


class RunTail:
    """Follows one run.

    The cursor is the id of the last event applied. The tail ends at the run-level lifecycle event with a final state,
    or when the run is final and two later reads are empty. A page of repeats proves less than an empty one, so it takes
    five of them. A run in an unknown state counts as live.

    Args:
        after: The id of the last event that the caller has; ``None`` to begin at the first.
        has_ended: Whether the caller has the event that ends the run, so that nothing is left to read.
    """

    def __init__(self, after: str | None = None, *, has_ended: bool = False) -> None:
        self._cursor = self._position = after
        self._walked: set[str] = set()
        self._asked: Literal["events", "status"] = "events"
        self._pause = 0.0
        self._next_pause = FIRST_PAUSE_S
        self._quiet = 0
        self._has_applied = False
        self._status_is_due = False
        self._is_final = False
        self._empty_since_final = 0
        self._quiet_since_final = 0
        self._is_done = has_ended

    @property
    def cursor(self) -> str | None:
        """Id of the last event applied, where a later tail can continue."""
        return self._cursor

    def next_read(self) -> ReadStep | PauseStep | EndStep:
        """Take the next step: a read is returned until :meth:`note_page` ends it, a pause only once."""
        if self._is_done:
            return EndStep()
        if self._status_is_due:
            self._asked = "status"
            return ReadStep(kind="status")
        if pause_s := self.take_pause():
            return PauseStep(pause_s)
        self._asked = "events"
        return ReadStep(self._position)

    def take_pause(self) -> float:
        """Return the seconds to wait before the next read; 0 for none, and when called again."""
        if self._is_done or self._status_is_due:
            return 0.0
        pause_s, self._pause = self._pause, 0.0
        return pause_s

    def note_page(
        self, events: Sequence[RunEvent], run_status: str | None = None, *, new: Sequence[RunEvent] = ()
    ) -> bool:
        """Process the result of the last read.

        Args:
            events: The page in the service's order; empty for a status read.
            run_status: The run's status after a status read, or whenever the caller knows it, for example from a list;
                ``None`` when it is unknown.
            new: The events that are new to the caller's store, in the service's order.

        Returns:
            Whether the page holds the run's last event.
        """
        if self._asked == "status":
            self._status_is_due = False
            self._note(run_status)
            return False
        if last := _last_id(new):
            self._cursor = self._position = last
        # A final event that is already known also ends the tail: nothing follows it.
        self._is_done = has_ended = any(event.ends_run for event in events)
        if new:
            self._apply()
        elif not self._walk(events):
            self._be_quiet(is_empty=not events)
        self._note(run_status)
        return has_ended

    def forget_position(self) -> bool:
        """Start over at the first event after the service refused the position; return False if there was none.

        Most services return the whole list for an unknown event; this handles those that return an error. Applied
        events stay known, so nothing is doubled.
        """
        known, self._position = self._position, None
        return known is not None

    def _apply(self) -> None:
        self._has_applied = True
        self._pause = 0.0
        self._next_pause = FIRST_PAUSE_S
        self._quiet = self._empty_since_final = self._quiet_since_final = 0
        self._walked.clear()

    def _walk(self, events: Sequence[RunEvent]) -> bool:
        """Continue after a page of known events that does not hold the cursor.

        Such a page is the start of the whole list, from a service that no longer knows the cursor. If the service
        returns the list in parts, new events come later. Each position is read once between two pauses, so that a
        service with random responses is not flooded.
        """
        if any(event.id == self._cursor for event in events):
            self._position = self._cursor
            return False
        last = _last_id(events)
        if last is None or last in self._walked:
            return False
        self._walked.add(last)
        self._position = last
        return True

    def _be_quiet(self, *, is_empty: bool) -> None:
        """Handle a read without new events: pause, and now and then check whether the run has ended."""
        if self._is_final:
            self._quiet_since_final += 1
            self._empty_since_final += is_empty
            if self._empty_since_final >= LAST_READS or self._quiet_since_final >= QUIET_READS:
                self._is_done = True
        self._walked.clear()
        self._quiet += 1
        self._pause = self._next_pause
        self._next_pause = min(self._next_pause * PAUSE_GROWTH, LONGEST_PAUSE_S)
        # A tail without applied events may start after the last event of a final run: check at once, then seldom.
        is_first = self._quiet == 1 and not self._has_applied
        self._status_is_due = not self._is_final and (is_first or self._quiet % QUIET_READS == 0)

    def _note(self, status: str | None) -> None:
        if is_final(status) and not self._is_final:
            self._is_final = True
            self._status_is_due = False
            self._pause = 0.0
            self._next_pause = FIRST_PAUSE_S


def _last_id(events: Sequence[RunEvent]) -> str | None:
    return next((event.id for event in reversed(events) if event.id), None)
