"""What can happen to the console's knowledge: every way the store changes, as a value.

Nothing else changes the store, so that a session can be journalled and replayed from its changes alone.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from runwatch.api.errors import ApiProblem, NoResponseError, RateLimitedError
from runwatch.base.errors import RunwatchError
from runwatch.records.problem import Problem
from runwatch.records.record import Record
from runwatch.store.state.failure_kind import ReadInterruption

_NOT_OFFERED = frozenset({404, 405, 501})


@dataclass(frozen=True, slots=True)
class ReadFailure:
    """A read that failed, in the terms of a pane.

    Attributes:
        trouble: Which state the pane is in because of it.
        title: What happened, in one short sentence; not cleaned.
        hint: What to do next; not cleaned.
        problem: The Problem behind it, where the service sent one.
        held_s: Seconds until a 429 lets anything through; 0 without one.
        detail: More about it; not cleaned.
    """

    trouble: ReadInterruption
    title: str
    hint: str | None = None
    problem: Problem | None = None
    held_s: float = 0.0
    detail: str | None = None


def read_failure_from_error(error: RunwatchError, *, collection: bool) -> ReadFailure:
    """How an error of the client stands in a pane.

    A whole collection that answers 404, 405 or 501 is not offered by this service, and 403 says that this key may not
    read it; the other screens go on (DESIGN, Lists). For a single record, 404 is an ordinary error.
    """
    match error:
        case RateLimitedError():
            trouble, held = ReadInterruption.RATE_LIMITED, error.seconds
        case ApiProblem() if error.status == 429:
            trouble, held = ReadInterruption.RATE_LIMITED, error.wait_s or 0.0
        case ApiProblem() if error.status in {401, 403}:
            trouble, held = ReadInterruption.NOT_AUTHORISED, 0.0
        case ApiProblem() if collection and error.status in _NOT_OFFERED:
            trouble, held = ReadInterruption.NOT_OFFERED, 0.0
        case ApiProblem() if error.status >= 500:
            trouble, held = ReadInterruption.OFFLINE, 0.0
        case NoResponseError():
            trouble, held = ReadInterruption.OFFLINE, 0.0
        case _:
            trouble, held = ReadInterruption.ERROR, 0.0
    problem = error.problem if isinstance(error, ApiProblem) else None
    return ReadFailure(trouble, error.title, error.hint, problem, held, error.detail)


@dataclass(frozen=True, slots=True)
class StoreChange:
    """The part that all changes share.

    Attributes:
        profile: Whose view of a service changes.
        kind: Which kind of record, by :attr:`~runwatch.records.record.Record.KIND`.
        at: When it happened, in UTC.
        monotonic: The same moment on the clock that only grows; ages are counted from it.
    """

    profile: str
    kind: str
    at: datetime
    monotonic: float


@dataclass(frozen=True, slots=True)
class ReadStarted(StoreChange):
    """A read of the collection is under way.

    Attributes:
        what: Method and path, for the screen.
    """

    what: str = ""


@dataclass(frozen=True, slots=True)
class ListRead(StoreChange):
    """The service answered a list.

    Attributes:
        records: In the service's order.
        complete: Whether the answer holds the whole collection, so that what is missing has gone.
        end_is_proven: Whether the number of records is the whole number; else it is "at least".
        misfits: Items that were no records.
    """

    records: tuple[Record, ...] = ()
    complete: bool = False
    end_is_proven: bool = False
    misfits: int = 0


@dataclass(frozen=True, slots=True)
class CacheRead(StoreChange):
    """Records of an earlier session came from the disk; anything known already is newer and stays.

    Attributes:
        records: What was kept.
        seen_at: When the service last said so.
    """

    records: tuple[Record, ...] = ()
    seen_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class RecordRead(StoreChange):
    """The service answered one record, or an action gave one back."""

    record: Record = field(default_factory=lambda: Record({}))


@dataclass(frozen=True, slots=True)
class RecordGone(StoreChange):
    """A record is known not to exist any more."""

    id: str = ""


@dataclass(frozen=True, slots=True)
class ReadFailed(StoreChange):
    """A read of the collection gave nothing; what is known stays, and its age goes on growing."""

    failure: ReadFailure = field(default_factory=lambda: ReadFailure(ReadInterruption.ERROR, ""))
