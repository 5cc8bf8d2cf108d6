"""Event tail of a run that stores what it reads, and following it to its end through failures of the service.

The tail reads pages into the event store and returns what the store has, in the store's order, each event once. So it
continues where an earlier one stopped, and includes events that another process stored meanwhile.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from datetime import timedelta
from functools import partial
from typing import Final, NamedTuple, Protocol

from runwatch.api.errors import (
    ApiError,
    ApiProblem,
    InvalidRequestError,
    NoResponseError,
    RateLimitedError,
    UnusableResponseError,
)
from runwatch.api.run_tail import EndStep, PauseStep, ReadStep, RunTail
from runwatch.base.clock import Clock
from runwatch.records.event import RunEvent
from runwatch.records.record import Page
from runwatch.records.run import Run
from runwatch.store.live.backoff import Backoff
from runwatch.store.repositories.event_store import EventStore
from runwatch.store.repositories.scope import Scope
from runwatch.store.state.changes import ReadFailure, read_failure_from_error
from runwatch.store.state.failure_kind import FailureKind

WINDOW: Final = 500
"""How many stored events are read at once."""

LONG_PAGE: Final = 5_000
"""Pages of more events are processed in a thread, so that the event loop is not blocked."""

_STATUS_NOT_OFFERED: Final = frozenset({403, 405, 501})
"""The service or the key does not offer reads of single runs; the events alone have to do."""

_REFUSALS: Final = frozenset({400, 404, 410, 422})


class RunReads(Protocol):
    """The part of the client that a tail needs."""

    async def get_run(self, execution_id: str) -> Run: ...

    async def list_events(self, execution_id: str, *, after: str | None = None) -> Page[RunEvent]: ...


class FollowedEvents(NamedTuple):
    """Result of one read.

    Attributes:
        new: The events not returned before, in the service's order.
        page: The page they came with; ``None`` after a status read.
        run: The run, after a status read that the service offers.
        has_ended: Whether the page holds the run's last event.
    """

    new: list[RunEvent]
    page: Page[RunEvent] | None = None
    run: Run | None = None
    has_ended: bool = False


async def follow_run(
    client: RunReads,
    scope: Scope,
    event_store: EventStore,
    run_id: str,
    *,
    clock: Clock,
    patience_s: float,
    on_failure: Callable[[ReadFailure, float], None],
) -> AsyncIterator[RunEvent]:
    """Yield the events of a run until its end: those stored first, then new ones.

    Failed reads are retried after half a second and then less and less often, as long as the last good response is at
    most ``patience_s`` old. A 429 is waited out without using up patience. Gaps, times without a response, are recorded
    in the store.

    Args:
        patience_s: How long to go without a good response, in seconds; may be infinity.
        on_failure: Called before each wait for a failing service, with the failure and the seconds of the wait.

    Raises:
        ApiError: The first read failed, the service refused, or patience ran out.
    """
    position = 0
    while stored := await event_store.window(scope, run_id, position, WINDOW):
        position += len(stored)
        for event in stored:
            yield event
    if await event_store.is_complete(scope, run_id):
        return
    tail = await StoredRunTail.open(client, scope, event_store, run_id, clock, position=position)
    backoff, hold_s = Backoff(clock), 0.0
    while True:
        try:
            step = await tail.step()
        except ApiError as error:
            if tail.answered_at is None or not may_pass(error):
                raise
            failure = read_failure_from_error(error, collection=False)
            if failure.kind is FailureKind.RATE_LIMITED:
                wait = failure.hold_s
                hold_s += wait
            else:
                left_s = tail.answered_at + patience_s + hold_s - clock.monotonic()
                if left_s <= 0:
                    raise
                wait = min(backoff.next_s(), left_s)
            on_failure(failure, wait)
            await clock.sleep(wait)
            continue
        backoff.reset()
        hold_s = 0.0
        match step:
            case EndStep():
                return
            case PauseStep(seconds):
                await clock.sleep(seconds)
            case FollowedEvents(new):
                for event in new:
                    yield event
                if any(event.ends_run for event in new):
                    return


def may_pass(error: ApiError) -> bool:
    """Return whether a failed read may succeed later, as after a page of a proxy, a 5XX or a 429."""
    match error:
        case ApiProblem(status=status):
            return status in {408, 429} or status >= 500
        case NoResponseError():
            return error.retryable
    return isinstance(error, RateLimitedError | UnusableResponseError)


def _refuses_position(error: ApiError, step: ReadStep) -> bool:
    """Return whether the event id may be the cause: unknown to the service, or impossible to send."""
    is_refusal = isinstance(error, ApiProblem) and error.status in _REFUSALS
    return step.after is not None and (is_refusal or isinstance(error, InvalidRequestError))


class StoredRunTail:
    """Event tail whose pages are stored before the tail processes them. It neither waits nor gives up.

    Args:
        cursor: The id of the last stored event.
        has_ended: Whether that event ended the run.

    Attributes:
        position: How many of the stored events were returned to the caller.
        answered_at: Monotonic time of the last good response; ``None`` before the first.
        take_pause: Returns the seconds to wait before the next read; 0 for none, and when called again.
    """

    def __init__(
        self,
        client: RunReads,
        scope: Scope,
        event_store: EventStore,
        run_id: str,
        clock: Clock,
        cursor: str | None,
        *,
        has_ended: bool = False,
    ) -> None:
        self.position = 0
        self.answered_at: float | None = None
        self._tail = RunTail(cursor, has_ended=has_ended)
        self.take_pause: Final = self._tail.take_pause
        self._client = client
        self._scope = scope
        self._event_store = event_store
        self._run_id = run_id
        self._clock = clock
        self._has_failed = False

    @classmethod
    async def open(
        cls,
        client: RunReads,
        scope: Scope,
        event_store: EventStore,
        run_id: str,
        clock: Clock,
        *,
        position: int | None = None,
        silent_since: float | None = None,
    ) -> StoredRunTail:
        """Return a tail that continues after the stored events; it ends at once if the last of them ended the run.

        Args:
            position: How many of the stored events the caller has; ``None`` for all.
            silent_since: Monotonic time of the last good response, where later reads failed.
        """
        cursor, last = await event_store.cursor(scope, run_id), await event_store.window(scope, run_id, -1, 1)
        has_ended = any(event.ends_run for event in last)
        tail = cls(client, scope, event_store, run_id, clock, cursor, has_ended=has_ended)
        tail.position = await event_store.count(scope, run_id) if position is None else position
        tail.answered_at = silent_since
        tail._has_failed = silent_since is not None
        return tail

    async def step(self) -> FollowedEvents | PauseStep | EndStep:
        """Do the tail's next step. After an exception the next call repeats it.

        Raises:
            ApiError: The read failed.
            DataError: The store is not usable, and the page is not stored.
        """
        while isinstance(step := self._tail.next_read(), ReadStep):
            try:
                return await (self._read_status() if step.kind == "status" else self._read_events(step.after))
            except ApiError as error:
                if not _refuses_position(error, step) or not self._tail.forget_position():
                    self._has_failed = True
                    raise
        if isinstance(step, EndStep):
            await self._event_store.mark_complete(self._scope, self._run_id)
        return step

    async def _answered(self) -> None:
        """Record a good response, and the gap before it."""
        if self._has_failed and self.answered_at is not None:
            now = self._clock.now()
            silence = timedelta(seconds=self._clock.monotonic() - self.answered_at)
            await self._event_store.note_gap(self._scope, self._run_id, now - silence, now)
        self._has_failed = False
        self.answered_at = self._clock.monotonic()

    async def _read_status(self) -> FollowedEvents:
        run: Run | None = None
        try:
            run = await self._client.get_run(self._run_id)
        except ApiProblem as error:
            if error.status not in _STATUS_NOT_OFFERED:
                raise
        self._tail.note_page([], None if run is None else run.status)
        await self._answered()
        return FollowedEvents([], run=run)

    async def _read_events(self, after: str | None) -> FollowedEvents:
        """Read a page, store it, and return the events that were not returned to the caller yet."""
        page = await self._client.list_events(self._run_id, after=after)
        await self._answered()
        new, count = await self._event_store.append(self._scope, self._run_id, page.records, after=after)
        if count > self.position + len(new):
            # Another process on this data directory stored some of them first; they are still new to this tail.
            new = []
            for start in range(self.position, count, WINDOW):
                new += await self._event_store.window(self._scope, self._run_id, start, min(WINDOW, count - start))
        self.position = count
        note = partial(self._tail.note_page, page.records, new=new)
        has_ended = note() if len(page.records) <= LONG_PAGE else await asyncio.to_thread(note)
        return FollowedEvents(new, page, has_ended=has_ended)
