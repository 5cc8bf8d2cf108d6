"""Following the events of a run, as a pure step function (DESIGN, Tail; wire reference 3.2).

``RunTail`` says what to read next and is told what came; it neither waits nor reads.
:class:`runwatch.api.run_follower.RunFollower` reads what it asks for.

Nothing is lost and nothing doubled while pages overlap, repeat, come as the whole list again or in parts of it. Which
events are new is known in one of two places. For a library user without a store the tail keeps the ids of its run
itself (some 100 bytes an event). A caller with a store inserts each page there first, and ``is_new`` says which events
the store has called new; the tail keeps nothing then. Either way it is given whole pages, because also what is not new
says where the service stands.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from runwatch.records.event import RunEvent
from runwatch.records.states import is_final

FIRST_PAUSE_S: Final = 1.0
"""The pause after a page without anything new; none is made after a page with something new (wire reference 3.2)."""

PAUSE_GROWTH: Final = 1.5
"""Each quiet read makes the next pause longer by this factor."""

LONGEST_PAUSE_S: Final = 5.0
"""Where pauses stop growing (DESIGN, Requests within the limit)."""

QUIET_READS: Final = 5
"""After so many reads in a row without anything new the run's status is read: its final event may never come."""

LAST_READS: Final = 2
"""So many empty reads after the run is known to be final end the tail (DESIGN, Tail)."""


@dataclass(frozen=True, slots=True)
class ReadStep:
    """Read now, then tell :meth:`RunTail.note_page`.

    Attributes:
        after: The event id after which events are asked for; ``None`` for all, and for the status.
        kind: The run's events, or the run itself for its status.
    """

    after: str | None = None
    kind: Literal["events", "status"] = "events"


@dataclass(frozen=True, slots=True)
class PauseStep:
    """Let ``seconds`` go by."""

    seconds: float


@dataclass(frozen=True, slots=True)
class EndStep:
    """Nothing more will come."""


class RunTail:
    """Follows one run.

    The cursor is the id of the last event applied. The tail ends at the run-level lifecycle event with a final state,
    or when the run is final and two later reads are empty. A page of repeats proves less than an empty one: it takes
    five of them. Unknown states mean that the run is live.

    Args:
        after: The id of the last event that the caller has; ``None`` to begin at the first.
        is_new: Says whether an event has not been applied yet. It is asked once for each event of a page, in order.
            ``None`` has the tail remember by itself.
    """

    def __init__(self, after: str | None = None, *, is_new: Callable[[RunEvent], bool] | None = None) -> None:
        self._cursor = after
        self._position = after
        self._start = after if is_new is None else None
        self._is_new = is_new if is_new is not None else self._remember
        self._seen = set() if after is None else {after}
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
        self._is_done = False

    @property
    def cursor(self) -> str | None:
        """The id of the last event applied, from which a later tail goes on."""
        return self._cursor

    def next_read(self) -> ReadStep | PauseStep | EndStep:
        """What to do now. A read that failed is asked for again; a pause is named once."""
        if self._is_done:
            return EndStep()
        if self._status_is_due:
            self._asked = "status"
            return ReadStep(kind="status")
        if self._pause:
            pause, self._pause = PauseStep(self._pause), 0.0
            return pause
        self._asked = "events"
        return ReadStep(self._position)

    def note_page(self, events: Sequence[RunEvent], run_status: str | None = None) -> list[RunEvent]:
        """Take what the last read gave.

        Args:
            events: The page in the service's order; empty for a status read.
            run_status: The run's status after a status read, or whenever the caller knows it, for example from a
                list; ``None`` when it is unknown.

        Returns:
            The events that are new, in the service's order.
        """
        if self._asked == "status":
            self._status_is_due = False
            self._note(run_status)
            return []
        new = self._new_among(events)
        # Also a final event that is known already ends the tail: nothing follows it.
        self._is_done = any(event.ends_run for event in events)
        if new:
            self._apply()
        elif not self._walk(events):
            self._be_quiet(is_empty=not events)
        self._note(run_status)
        return new

    def forget_position(self) -> bool:
        """Begin again at the first event, because the service refused the one asked after; False when it was none.

        Most services answer the whole list for an unknown event; one that answers an error instead is met with this.
        What was applied stays known, so that nothing comes twice.
        """
        known, self._position = self._position, None
        return known is not None

    def _remember(self, event: RunEvent) -> bool:
        # An event without an id is told apart by its whole text.
        identity = event.id or event.wire_text
        if identity in self._seen:
            return False
        self._seen.add(identity)
        return True

    def _new_among(self, events: Sequence[RunEvent]) -> list[RunEvent]:
        if self._start is not None:
            events = self._from_start(events)
        new = [event for event in events if self._is_new(event)]
        last = _last_id(new)
        if last is not None:
            self._cursor = self._position = last
        return new

    def _from_start(self, events: Sequence[RunEvent]) -> Sequence[RunEvent]:
        """Leave out what stands before the event that the caller began after: the caller has it, this tail not."""
        at = next((place for place, event in enumerate(events) if event.id == self._start), None)
        if at is None:
            return events
        for event in events[:at]:
            self._remember(event)
        return events[at + 1 :]

    def _apply(self) -> None:
        self._has_applied = True
        self._pause = 0.0
        self._next_pause = FIRST_PAUSE_S
        self._quiet = self._empty_since_final = self._quiet_since_final = 0
        self._walked.clear()

    def _walk(self, events: Sequence[RunEvent]) -> bool:
        """Go on behind a page of known events in which the cursor does not stand.

        Such a page is the beginning of the whole list, from a service that does not know the cursor any more. If it
        answers in parts, what is new stands behind. Between two pauses each place is read once, so that a service which
        answers at random is not asked without pause.
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
        """Nothing new came: pause, and now and then ask whether the run has ended."""
        if self._is_final:
            self._quiet_since_final += 1
            self._empty_since_final += is_empty
            if self._empty_since_final >= LAST_READS or self._quiet_since_final >= QUIET_READS:
                self._is_done = True
        self._walked.clear()
        self._quiet += 1
        self._pause = self._next_pause
        self._next_pause = min(self._next_pause * PAUSE_GROWTH, LONGEST_PAUSE_S)
        # A tail that has applied nothing may have begun after the last event of a final run: ask at once, then seldom.
        is_first = self._quiet == 1 and not self._has_applied
        self._status_is_due = not self._is_final and (is_first or self._quiet % QUIET_READS == 0)

    def _note(self, status: str | None) -> None:
        if is_final(status) and not self._is_final:
            self._is_final = True
            self._status_is_due = False
            self._pause = 0.0
            self._next_pause = FIRST_PAUSE_S


def _last_id(events: Sequence[RunEvent]) -> str | None:
    """The id of the last event that has one."""
    return next((event.id for event in reversed(events) if event.id), None)
