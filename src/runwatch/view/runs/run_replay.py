"""A replay of a run: the run as it was after any of its events, and the position between its first and last event.

The state comes from the fold of the live view (:class:`~runwatch.view.runs.run_trace.RunTrace`), so that a run drawn as
of its last event is the run as it is now, as far as events say it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, Final

from runwatch.base.errors import UsageError
from runwatch.records.event import RunEvent
from runwatch.records.run import Run
from runwatch.records.spend import sum_amounts
from runwatch.view.problems.time_query import build_time_query
from runwatch.view.runs.run_facts import RunFacts, receipt_slices
from runwatch.view.runs.run_trace import RunTrace
from runwatch.view.text.format import RenderContext
from runwatch.view.text.values import Duration, parse_value

MAX_REPLAYED_EVENTS: Final = 20_000
"""Maximum number of events in a replay, counted from the first."""

READABLE: Final = 0
"""The speed that shows one event after another, each long enough to be read, whatever time lay between them."""

SPEEDS: Final = (1, 2, 10, 60, READABLE)
"""How many seconds of the run go by in one second."""

SEEK_HINT: Final = "14:05:10, +30s, -1m or 50%"
"""What the user may type to move to a time."""

_DAY: Final = timedelta(days=1)

_LATER: Final = frozenset(
    {"status", "slices", "completed_at", "reason", "cancelled_by", "decision_packet", "spend_usd", "known_spend_usd",
     "unknown_calls", "estimated_calls", "current", "provider_errors"}
)  # fmt: skip
"""Members of a run that change while it goes on."""


class RunReplay:
    """The position in the events of a run, in the service's order.

    Attributes:
        now: The time it is, up to which a run that goes on is known; ``None`` for other runs.
        at: The time shown; between the times of two events while time goes by. ``None`` if no event has a time.
        trace: What the events up to the position say.
        whole_trace: What all events say, as far as :meth:`extend_whole_trace` has come.
    """

    def __init__(self, events: Sequence[RunEvent]) -> None:
        self.events: list[RunEvent] = []
        self._due: list[datetime] = []
        self.now: datetime | None = None
        self.at: datetime | None = None
        self.trace = RunTrace()
        self.whole_trace = RunTrace()
        self.extend(events)
        self.move_to_event(1)

    def extend(self, events: Sequence[RunEvent]) -> None:
        """Add the events of a run that goes on; the position stays."""
        self.events.extend(events)
        self._due = _due_times(self.events)
        if self.at is None and self._due:
            self.at = self._due[0]

    def extend_whole_trace(self, max_events: int) -> None:
        """Add up to so many events to :attr:`whole_trace`: all at once would take too long."""
        for event in self.events[self.whole_trace.count : self.whole_trace.count + max_events]:
            self.whole_trace.take(event)

    @property
    def first_at(self) -> datetime | None:
        return self._due[0] if self._due else None

    @property
    def last_at(self) -> datetime | None:
        """The end of the known time: that of the last event, or now for a run that goes on."""
        if not self._due:
            return None
        return self._due[-1] if self.now is None else max(self._due[-1], self.now)

    @property
    def count(self) -> int:
        """Number of events up to the position."""
        return self.trace.count

    @property
    def is_at_end(self) -> bool:
        """Whether every event is shown."""
        return self.count >= len(self.events)

    @property
    def part(self) -> Decimal:
        """The part of the known time that has gone by, from 0 to 1."""
        if self.at is None or self.first_at is None or self.last_at is None or self.last_at <= self.first_at:
            return Decimal(self.count) / max(1, len(self.events))
        return Decimal(min(1.0, (self.at - self.first_at) / (self.last_at - self.first_at)))

    @property
    def next_in_s(self) -> float | None:
        """Seconds of the run until the next event; ``None`` at the end."""
        if self.is_at_end or self.at is None:
            return None
        return max(0.0, (self._due[self.count] - self.at).total_seconds())

    def move_to_event(self, count: int) -> None:
        """Show this many events, from the first, and the time of the last of them."""
        count = max(0, min(count, len(self.events)))
        if count < self.trace.count:
            self.trace = RunTrace()
        for event in self.events[self.trace.count : count]:
            self.trace.take(event)
        if self._due:
            self.at = self._due[max(0, count - 1)]

    def move_to(self, at: datetime) -> None:
        """Show the run as of a time; one outside the known time is its first or last."""
        if self.last_at is None:
            return
        at = max(self._due[0], min(at, self.last_at))
        self.move_to_event(bisect_right(self._due, at))
        self.at = at

    def advance(self, seconds: float) -> None:
        """Let time of the run go by."""
        if self.at is not None:
            # Events at the time shown may still be ahead, after a step by event.
            count = self.count
            self.move_to(self.at + timedelta(seconds=seconds))
            if self.count < count:
                self.move_to_event(count)

    def seek(self, text: str, context: RenderContext) -> None:
        """Move to what the user typed.

        Raises:
            UsageError: It is no time, or no event has one.
        """
        if self.at is None or self.first_at is None or self.last_at is None:
            raise UsageError("No event of this run has a time")
        text = text.strip()
        if text.endswith("%") and isinstance(part := parse_value(text[:-1]), Decimal) and 0 <= part <= 100:
            self.move_to(self.first_at + (self.last_at - self.first_at) * float(part / 100))
            return
        if text[:1] in {"+", "-"}:
            span = parse_value(text[1:])
            if not isinstance(span, Duration) or span.seconds > 10**9:
                raise UsageError(f"'{text}' is not a duration", hint=SEEK_HINT)
            self.move_to(self.at + timedelta(seconds=float(span.seconds)) * (1 if text[0] == "+" else -1))
            return
        if not text or ":" not in text:
            raise UsageError(f"'{text}' is not a time", hint=SEEK_HINT)
        zone = "UTC" if context.time == "utc" else "local"
        try:
            found = build_time_query(text, self.last_at, zone=zone).moments[0]
        except UsageError as error:
            raise UsageError(f"'{text}' is not a time", hint=SEEK_HINT) from error
        # A time of day is that of the last day; one after the end of the run would be that of the day before.
        is_later = found < self.first_at and found + _DAY - self.last_at < self.first_at - found
        self.move_to(found + _DAY if is_later else found)


def _due_times(events: Sequence[RunEvent]) -> list[datetime]:
    """Return when each event is shown, never before its predecessor; an empty list if no event has a time."""
    due: list[datetime] = []
    latest = next((at for event in events if (at := event.at) is not None), None)
    if latest is not None:
        for event in events:
            latest = max(latest, event.at or latest)
            due.append(latest)
    return due


def run_as_of(facts: RunFacts, trace: RunTrace) -> RunFacts:
    """Return a run as its events up to a moment say it was; what only its end says is left out before that."""
    if trace.is_over:
        return facts._replace(last_event=trace.last)
    raw: dict[str, Any] = {name: value for name, value in facts.raw.items() if name not in _LATER}
    raw["status"] = trace.state
    work = {part.slice_id: part.capability for part in facts.run.slices or ()}
    raw["slices"] = [
        {"slice_id": part.id, "capability": work.get(part.id), "status": part.state} for part in trace.slices.values()
    ]
    return facts._replace(run=Run(raw), receipt=None, last_event=trace.last, call_errors=None)


def spent_by_then(facts: RunFacts, trace: RunTrace) -> Decimal | None:
    """Return the cost of the provider calls that had ended by then, in US dollars and without fees.

    The receipt has the cost of each call, the events when it ended. ``None`` without such a receipt, and if a call of
    then has no known cost.
    """
    parts = {part.slice_id: part for part in receipt_slices(facts.receipt)}
    if not parts or all(part.attempts is None for part in parts.values()):
        return None
    amounts: list[Decimal] = []
    for part in trace.slices.values():
        ended = [attempt.last for attempt in part.attempts if attempt.is_over or attempt.answered_at is not None]
        receipt = parts.get(part.id)
        for call in (receipt.attempts if receipt is not None else None) or ():
            if call.attempt is None or call.attempt <= max(ended, default=0):
                if call.usd is None:
                    return None
                amounts.append(call.usd)
    return sum_amounts(amounts)
