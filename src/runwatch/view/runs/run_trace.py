"""What a run's events say has happened so far: its state, its slices, their attempts and checks, each with its times.

A trace takes events one by one, so the same code gives a live run as of now and, in a replay, a run as of any earlier
event. Times are those of the events. A time that no event has stays unknown; nothing is inferred from the order alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from runwatch.records.check import VerificationCheck
from runwatch.records.event import RunEvent
from runwatch.records.states import is_final

FALLBACK: Final = "fallback"
REPAIR: Final = "repair_retry"

RETRIES: Final = frozenset({FALLBACK, REPAIR})
"""Reasons of a ``progress`` event with which the next provider call begins."""

_PENDING: Final = "pending_evaluation"
"""State of a recorded check between the output and its verdict."""


@dataclass(slots=True)
class AttemptTrace:
    """One attempt at a slice: a provider call, and the check of its output.

    A repair drafts a text before it repeats the work, so an attempt may cover several calls.

    Attributes:
        first: Number of its first provider call in the slice, counted from 1.
        last: Number of its last provider call.
        reason: Why it was made: :data:`FALLBACK` or :data:`REPAIR`; empty for the first attempt.
        began_at: When it began; ``None`` if no event says it.
        answered_at: When its output was there and the check began; ``None`` if no event says it.
        checked_at: When its last check ended.
        ended_at: When the slice went on or ended without a check of this attempt.
        seen_at: The newest time of an event that belongs to it.
        is_over: Whether an event came that ends it, with or without a time.
        check: Its last check.
    """

    first: int
    last: int
    reason: str = ""
    arm: str | None = None
    began_at: datetime | None = None
    answered_at: datetime | None = None
    checked_at: datetime | None = None
    ended_at: datetime | None = None
    seen_at: datetime | None = None
    is_over: bool = False
    check: VerificationCheck | None = None

    @property
    def until(self) -> datetime | None:
        """When the attempt ended, its check included; ``None`` while it is not over or if no event says it."""
        return (self.checked_at if self.check is not None else self.ended_at) if self.is_over else None


@dataclass(slots=True)
class SliceTrace:
    """One slice: when its work began and reached a final state, by its events, and the last state that one names."""

    id: str
    state: str | None = None
    began_at: datetime | None = None
    ended_at: datetime | None = None
    seen_at: datetime | None = None
    attempts: list[AttemptTrace] = field(default_factory=list)

    @property
    def is_over(self) -> bool:
        """Whether an event names a final state."""
        return is_final(self.state)


class RunTrace:
    """The state of a run after some of its events.

    Attributes:
        since: When the run first reached each state; ``None`` if that event has no time.
        slices: The slices by id, in the order of their first event.
        last_at: The latest time; an event with an earlier one than its predecessor does not move it back.
        untimed: Number of events without a time that can be read.
    """

    def __init__(self, events: Iterable[RunEvent] = ()) -> None:
        self.state: str | None = None
        self.since: dict[str, datetime | None] = {}
        self.slices: dict[str, SliceTrace] = {}
        self.last: RunEvent | None = None
        self.first_at: datetime | None = None
        self.last_at: datetime | None = None
        self.untimed = 0
        self.count = 0
        for event in events:
            self.take(event)

    @property
    def is_over(self) -> bool:
        """Whether an event names a final state of the whole run."""
        return is_final(self.state)

    @property
    def queued_at(self) -> datetime | None:
        """When the run began to wait."""
        return self.since.get("queued") or self.since.get("accepted")

    def take(self, event: RunEvent) -> None:
        """Go on to the next event, in the service's order."""
        at = event.at
        self.last = event
        self.count += 1
        if at is None:
            self.untimed += 1
        else:
            self.first_at = at if self.first_at is None else min(self.first_at, at)
            self.last_at = at if self.last_at is None else max(self.last_at, at)
        if event.slice_id is not None:
            _add_event(self.slices.setdefault(event.slice_id, SliceTrace(event.slice_id)), event, at)
        elif event.type == "lifecycle" and event.state is not None:
            self.state = event.state
            self.since.setdefault(event.state, at)


def _add_event(part: SliceTrace, event: RunEvent, at: datetime | None) -> None:
    part.seen_at = at or part.seen_at
    arm = event.arm_id
    check, stated = event.verification_check, event.recorded_check
    if check is not None:
        _checked(part, check, at)
    if stated is not None and stated.state == _PENDING and part.attempts:
        part.attempts[-1].answered_at = at
        part.attempts[-1].seen_at = at
    if event.type != "lifecycle" or event.state is None:
        return
    if event.state == "running" and not part.attempts:
        part.began_at = at
        part.attempts.append(AttemptTrace(1, 1, arm=arm, began_at=at, seen_at=at))
    elif event.state == "running":
        part.attempts[-1].arm = part.attempts[-1].arm or arm
    elif event.state == "progress" and event.reason in RETRIES:
        _close(part, at)
        number = part.attempts[-1].last + 1 if part.attempts else 1
        part.attempts.append(AttemptTrace(number, number, event.reason or "", arm, at, seen_at=at))
    elif is_final(event.state):
        _close(part, at)
        part.ended_at = at
    part.state = event.state


def _checked(part: SliceTrace, check: VerificationCheck, at: datetime | None) -> None:
    last = part.attempts[-1] if part.attempts else None
    number = check.attempt
    if last is None or (last.check is not None and number is not None and number > last.last):
        # No event says when the attempt of this check began.
        first = number or 1
        last = AttemptTrace(first, first)
        part.attempts.append(last)
    last.last = max(last.last, number or 0)
    last.arm = check.arm_id or last.arm
    last.check, last.checked_at, last.is_over = check, at, True
    last.seen_at = at or last.seen_at


def _close(part: SliceTrace, at: datetime | None) -> None:
    if part.attempts and not part.attempts[-1].is_over:
        part.attempts[-1].ended_at, part.attempts[-1].is_over = at, True
