"""Changes: every way to modify the store, as a value.

Nothing else changes the store, so a session can be logged and replayed from its changes alone.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from runwatch.base.errors import RunwatchError
from runwatch.records.problem import NOT_OFFERED_STATUS, Problem
from runwatch.records.record import Record
from runwatch.store.state.failure_kind import FailureKind


class ReadFailure(NamedTuple):
    """A failed read, in the terms of a pane.

    Attributes:
        kind: What kind of failure it is, which decides the state of the pane.
        title: What happened, in one short sentence; not safe text.
        hint: What to do next; not safe text.
        problem: The Problem behind it, where the service sent one.
        hold_s: Seconds until a 429 lets requests through; 0 without one.
        detail: More about it; not safe text.
        is_final: Whether the same read would only fail in the same way, so that only the user repeats it.
        needs_start: Whether the service answers again only once the user has started it.
        is_withdrawn: Whether the service does not offer any more a list that was read before.
    """

    kind: FailureKind
    title: str
    hint: str | None = None
    problem: Problem | None = None
    hold_s: float = 0.0
    detail: str | None = None
    is_final: bool = False
    needs_start: bool = False
    is_withdrawn: bool = False


def read_failure_from_error(error: RunwatchError, *, collection: bool) -> ReadFailure:
    """Convert a client error to a read failure.

    A whole collection that responds with 404, 405 or 501 is not offered by this service, and 403 means that this key
    may not read it; the other screens continue (manual: decisions, "Lists"). For a single record, 404 is an ordinary
    error. A response that is too large is one of a service that responds. An error page and a body that breaks off are
    no usable answers, but something is there that sends them.
    """
    # Imported here, because the client is no part of what the console shows of the last session.
    from runwatch.api.errors import (
        CUT_ERROR,
        TOO_LARGE_ERROR,
        ApiProblem,
        NoResponseError,
        RateLimitedError,
        ServiceStoppedError,
    )

    is_final = isinstance(error, NoResponseError) and error.kind == TOO_LARGE_ERROR
    match error:
        case RateLimitedError():
            kind, held = FailureKind.RATE_LIMITED, error.seconds
        case ApiProblem() if error.status == 429:
            kind, held = FailureKind.RATE_LIMITED, error.wait_s or 0.0
        case ApiProblem() if error.status in {401, 403}:
            kind, held = FailureKind.NOT_AUTHORISED, 0.0
        case ApiProblem() if collection and error.status in NOT_OFFERED_STATUS:
            kind, held = FailureKind.NOT_OFFERED, 0.0
        case ApiProblem() if error.status >= 500:
            kind, held = FailureKind.NO_ANSWER if error.is_synthetic else FailureKind.OFFLINE, 0.0
        case NoResponseError() if error.kind == CUT_ERROR:
            kind, held = FailureKind.NO_ANSWER, 0.0
        case NoResponseError() if not is_final:
            kind, held = FailureKind.OFFLINE, 0.0
        case _:
            kind, held = FailureKind.ERROR, 0.0
    problem = error.problem if isinstance(error, ApiProblem) else None
    needs_start = isinstance(error, ServiceStoppedError)
    return ReadFailure(kind, error.title, error.hint, problem, held, error.detail, is_final, needs_start)


@dataclass(frozen=True, slots=True)
class StoreChange:
    """Common part of all changes.

    Attributes:
        kind: The kind of record, by :attr:`~runwatch.records.record.Record.KIND`.
        at: When it happened, in UTC.
        monotonic: The same instant on the monotonic clock, for ages.
    """

    profile: str
    kind: str
    at: datetime
    monotonic: float


@dataclass(frozen=True, slots=True)
class ReadStarted(StoreChange):
    what: str = ""


@dataclass(frozen=True, slots=True)
class ListRead(StoreChange):
    """The service returned a list.

    Attributes:
        records: In the service's order.
        complete: Whether the list is the whole collection, so that missing records are gone.
        is_joined: Whether the records stored before follow those of the list without a gap.
        end_is_proven: Whether the number of records is the total; else it is "at least".
        misfits: Items that were not records.
    """

    records: tuple[Record, ...] = ()
    complete: bool = False
    is_joined: bool = False
    end_is_proven: bool = False
    misfits: int = 0


@dataclass(frozen=True, slots=True)
class ListContinued(StoreChange):
    """The service returned a further part of a list.

    Attributes:
        records: In the service's order. A new one follows the one before it.
        after: Id of the stored record that the first one follows; empty if it follows the last one.
        end_is_proven: Whether the number of records is the total now.
    """

    records: tuple[Record, ...] = ()
    after: str = ""
    end_is_proven: bool = False


@dataclass(frozen=True, slots=True)
class CacheRead(StoreChange):
    """Records of an earlier session were read from disk; records already in the store are newer and stay.

    Attributes:
        seen_at: When the service last confirmed them.
    """

    records: tuple[Record, ...] = ()
    seen_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class RecordRead(StoreChange):
    """The service returned one record, in a read or an action."""

    record: Record = field(default_factory=lambda: Record({}))


@dataclass(frozen=True, slots=True)
class RecordGone(StoreChange):
    """A record no longer exists."""

    id: str = ""


@dataclass(frozen=True, slots=True)
class ReadFailed(StoreChange):
    """A read of the collection failed; stored records stay and age."""

    failure: ReadFailure = field(default_factory=lambda: ReadFailure(FailureKind.ERROR, ""))
