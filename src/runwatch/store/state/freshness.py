"""State of a pane: exactly one of thirteen (manual: decisions, "Interface conventions")."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Final, NamedTuple

from runwatch.store.state.collection import Collection
from runwatch.store.state.failure_kind import FailureKind

if TYPE_CHECKING:
    from runwatch.store.state.changes import ReadFailure

STALE_INTERVALS: Final = 2.0
"""Data older than this many refresh intervals is stale."""


class LoadState(StrEnum):
    """What a pane shows; each :class:`~runwatch.store.state.failure_kind.FailureKind` is one of them."""

    LOADING = "loading"
    EMPTY = "empty"
    FRESH = "fresh"
    REFRESHING = "refreshing"
    STALE = "stale"
    OFFLINE = "offline"
    NO_ANSWER = "no usable answer"
    RATE_LIMITED = "rate limited"
    NOT_AUTHORISED = "not authorised"
    NOT_OFFERED = "not offered"
    ERROR = "error"
    PARTIAL = "partial"
    ENDED = "ended"


class PaneState(NamedTuple):
    """State for a pane's border.

    Attributes:
        age_s: Seconds since the service last confirmed the shown data; ``None`` if it never did.
        waiting_s: Seconds since the read in progress began, or ``None``.
        reading: Method and path of that read.
        hold_s: Seconds until a 429 lets reads through again; 0 without one.
        budget_s: Seconds until the request budget lets the next read through; 0 if it does not wait for that.
        since: When the service was lost, or the consecutive failures of this list began.
        came: What the service sends in place of an answer; empty if nothing comes, or not known.
        is_lost: Whether the service is lost for every list, and not only this one fails.
        is_refreshing: Whether a read is in progress behind the shown data.
    """

    load: LoadState
    age_s: float | None = None
    waiting_s: float | None = None
    reading: str = ""
    hold_s: float = 0.0
    budget_s: float = 0.0
    since: datetime | None = None
    failure: ReadFailure | None = None
    is_refreshing: bool = False
    came: str = ""
    is_lost: bool = False


_LOSSES: Final = {
    LoadState.OFFLINE: frozenset({FailureKind.OFFLINE}),
    LoadState.NO_ANSWER: frozenset({FailureKind.NO_ANSWER, FailureKind.ERROR}),
}
"""Failures that belong to the loss of the service."""


def local_state(read_at: float | None, monotonic: float, *, is_empty: bool) -> PaneState:
    """Return the state of data that only this machine changes, which is fresh once read.

    Args:
        read_at: Monotonic time of the last read; ``None`` before the first.
    """
    if read_at is None:
        return PaneState(LoadState.LOADING)
    return PaneState(LoadState.EMPTY if is_empty else LoadState.FRESH, age_s=monotonic - read_at)


def pane_state(
    collection: Collection,
    *,
    now: datetime,
    monotonic: float,
    interval_s: float,
    hold_s: float = 0.0,
    budget_s: float = 0.0,
    lost_since: datetime | None = None,
    came: str = "",
    failures: Iterable[ReadFailure] = (),
) -> PaneState:
    """Return the state of a pane over this collection.

    Args:
        now: Wall time, for the age of cached data.
        monotonic: The monotonic clock, for every other age.
        hold_s: How long a 429 still holds all reads back.
        budget_s: How long the next read still waits for the request budget.
        lost_since: When the service stopped to respond; ``None`` while it responds.
        came: What a lost service sends in place of answers; empty if nothing comes.
        failures: Those of all lists of the service, which explain its loss to a list that was not read since.
    """
    age = _age(collection, now, monotonic)
    waiting = None if collection.started_at is None else max(0.0, monotonic - collection.started_at)
    failure = collection.failure
    if lost_since is None:
        load = _load(collection, age, interval_s, hold_s)
    else:
        load = LoadState.NO_ANSWER if came else LoadState.OFFLINE
        # What the service said before it was lost does not explain the loss.
        failure = failure if failure is not None and failure.kind in _LOSSES[load] else _find_loss(failures, load)
    return PaneState(
        load,
        age_s=age,
        waiting_s=waiting,
        reading=collection.reading if waiting is not None else "",
        hold_s=hold_s,
        budget_s=budget_s,
        since=lost_since or collection.failing_since,
        failure=failure,
        is_refreshing=waiting is not None and load is not LoadState.LOADING,
        came=came,
        is_lost=lost_since is not None,
    )


def _find_loss(failures: Iterable[ReadFailure], load: LoadState) -> ReadFailure | None:
    """Return a failure of the loss. One with a Problem of the service itself would be about one list."""
    return next(
        (
            it for it in failures
            if it.kind in _LOSSES[load] and (it.problem is None or it.kind is FailureKind.NO_ANSWER)
        ),
        None,
    )  # fmt: skip


def _age(collection: Collection, now: datetime, monotonic: float) -> float | None:
    if collection.read_at is not None:
        return max(0.0, monotonic - collection.read_at)
    if collection.cached_at is not None:
        return max(0.0, (now - collection.cached_at).total_seconds())
    return None


def _load(collection: Collection, age: float | None, interval_s: float, hold_s: float) -> LoadState:
    if hold_s > 0:
        return LoadState.RATE_LIMITED
    if collection.failure is not None and collection.failure.kind is not FailureKind.RATE_LIMITED:
        return LoadState(collection.failure.kind.value)
    if age is None:
        return LoadState.LOADING
    if age > STALE_INTERVALS * interval_s:
        return LoadState.STALE
    if not collection.by_id:
        return LoadState.EMPTY
    if collection.started_at is not None:
        return LoadState.REFRESHING
    if collection.misfits:
        return LoadState.PARTIAL
    return LoadState.FRESH
