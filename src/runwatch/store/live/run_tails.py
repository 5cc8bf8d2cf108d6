"""The tails of followed runs: their events, read on until the run has ended.

A tail keeps what it read before it tells of it, and never gives up while the service may answer again: each further
read is a new scheduled one, ever more seldom after failures.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from runwatch.api.client import Client
from runwatch.api.errors import ApiError
from runwatch.api.run_follower import LONG_PAGE, FollowedEvents
from runwatch.api.run_tail import EndStep, PauseStep
from runwatch.base.clock import Clock
from runwatch.base.errors import DataError
from runwatch.base.memory import free_in_slices
from runwatch.records.event import RunEvent
from runwatch.store.live.backoff import Backoff
from runwatch.store.live.run_follower import StoredRunTail
from runwatch.store.live.scheduler import JobPriority, Scheduler
from runwatch.store.repositories.event_store import EventStore
from runwatch.store.repositories.scope import Scope
from runwatch.store.state.changes import ReadFailure, RecordRead, read_failure_from_error
from runwatch.store.state.failure_kind import ReadInterruption
from runwatch.store.state.store import Store

HISTORY_PAGE_EVENTS: Final = 100
"""From so many events on a page is taken for one of a long past, with more behind it."""


@dataclass(frozen=True, slots=True)
class TailUpdate:
    """Something about a followed run's events changed.

    Attributes:
        run_id: The run.
        count: Events kept now.
        is_complete: Whether no event will follow.
        pause_s: Seconds until the next read; ``None`` after the last one.
        answered_at: Monotonic time of the last good answer; ``None`` before the first.
        failure: Why the last read failed.
        unkept: Why what the service answered could not be kept, and is therefore not shown either: a full disk mostly.
    """

    run_id: str
    count: int = 0
    is_complete: bool = False
    pause_s: float | None = None
    answered_at: float | None = None
    failure: ReadFailure | None = None
    unkept: str | None = None


class RunTails:
    """Follows runs.

    Args:
        client: Reads the service.
        scope: Whose runs they are.
        store: Is told the status of a run that a tail has read.
        events: Keeps the events.
        scheduler: When a tail is read.
        clock: Time and chance.
        least_s: Seconds between two reads of one tail at least, while its run is busy.
        on_news: Told of every read.
        on_end: Told that the last event of a run has come.
    """

    def __init__(
        self,
        client: Client,
        scope: Scope,
        store: Store,
        events: EventStore,
        scheduler: Scheduler,
        *,
        clock: Clock,
        least_s: float,
        on_news: Callable[[TailUpdate], None],
        on_end: Callable[[], None],
    ) -> None:
        self._client = client
        self._scope = scope
        self._store = store
        self._events = events
        self._scheduler = scheduler
        self._clock = clock
        self._least_s = least_s
        self._on_news = on_news
        self._on_end = on_end
        self._backoffs = defaultdict[str, Backoff](lambda: Backoff(clock))
        self._follows: set[str] = set()
        self._focused: set[str] = set()
        self._tails: dict[str, StoredRunTail] = {}
        self._news: dict[str, TailUpdate] = {}
        self._last: dict[str, RunEvent] = {}
        self._heard = 0

    def follow(self, run_id: str, *, in_focus: bool = True) -> None:
        """Read the events of a run until its end, or move it in or out of the focus."""
        self._follows.add(run_id)
        (self._focused.add if in_focus else self._focused.discard)(run_id)
        self._scheduler.add(
            f"tail {run_id}", JobPriority.FOCUS if in_focus else JobPriority.TAIL, lambda: self._read(run_id)
        )

    def unfollow(self, run_id: str) -> None:
        """Stop reading the events of a run; what is kept stays kept."""
        self._scheduler.remove(f"tail {run_id}")
        self._follows.discard(run_id)
        self._focused.discard(run_id)
        self._tails.pop(run_id, None)

    def follows(self, run_id: str) -> bool:
        """Whether a run is being followed, also one whose last event has come."""
        return run_id in self._follows

    def hurry(self, run_id: str) -> None:
        """Read the events of a followed run now."""
        self._scheduler.run_soon(f"tail {run_id}")

    def news(self, run_id: str) -> TailUpdate:
        """What is known of a followed run's tail."""
        return self._news.get(run_id, TailUpdate(run_id))

    def last_event(self, run_id: str) -> RunEvent | None:
        """The newest event that was read of a run in this session."""
        return self._last.get(run_id)

    @property
    def heard(self) -> int:
        """How often there was a newer event of any run: as long as it stays the same, every last event does."""
        return self._heard

    async def _read(self, run_id: str) -> float | None:
        """Do the next step of a run's tail; while nothing can be kept, the same step again and again."""
        try:
            again = await self._step(run_id)
        except DataError as error:
            wait = self._backoffs[run_id].next_s()
            self._tell(run_id, unkept=error.title, pause_s=wait)
            return wait
        if self.news(run_id).unkept is not None:
            self._tell(run_id, unkept=None)
        return again

    async def _step(self, run_id: str) -> float | None:
        """Do the next step of a run's tail; a pause is what the scheduler waits."""
        tail = self._tails.get(run_id) or await self._open(run_id)
        try:
            step = await tail.step()
        except ApiError as error:
            failure = read_failure_from_error(error, collection=False)
            wait = self._backoffs[run_id].next_s()
            is_lost = failure.trouble not in {ReadInterruption.OFFLINE, ReadInterruption.RATE_LIMITED}
            self._tell(run_id, failure=failure, pause_s=None if is_lost else wait)
            return None if is_lost else wait
        if isinstance(step, PauseStep):
            self._tell(run_id, pause_s=step.seconds)
            return step.seconds
        if isinstance(step, EndStep):
            self._tails.pop(run_id, None)
            self._tell(run_id, is_complete=True, pause_s=None)
            return None
        size = 0 if step.page is None else len(step.page.records)
        await self._take(run_id, step, tail.position)
        # What comes next is the tail's own step: read on at once, or the pause it names.
        following = tail.tail.next_read()
        if isinstance(following, PauseStep):
            pause = max(following.seconds, self._least_s)
        else:
            # Of many busy runs at once each is read in turn; only a long past is read on without a rest.
            pause = 0.0 if run_id in self._focused or size >= HISTORY_PAGE_EVENTS else self._least_s
        self._tell(run_id, pause_s=pause, failure=None, answered_at=tail.answered_at)
        return pause

    async def _open(self, run_id: str) -> StoredRunTail:
        news = self.news(run_id)
        silent_since = None if news.failure is None else news.answered_at
        tail = await StoredRunTail.open(
            self._client, self._scope, self._events, run_id, self._clock, silent_since=silent_since
        )
        self._tails[run_id] = tail
        return tail

    async def _take(self, run_id: str, came: FollowedEvents, count: int) -> None:
        """Say what a read gave, of whose run so many events are kept now."""
        self._backoffs[run_id].reset()
        if came.run is not None:
            self._store.apply(
                RecordRead(self._scope.profile, "run", self._clock.now(), self._clock.monotonic(), came.run)
            )
        if came.page is None:
            return
        records = came.page.records
        if records:
            self._last[run_id] = records[-1]
            self._heard += 1
        if self.news(run_id).count != count:
            self._tell(run_id, count=count)
        if came.has_ended:
            self._on_end()
        if len(records) > LONG_PAGE:
            came.new.clear()
            came.page.values.clear()
            await free_in_slices(records)

    def _tell(self, run_id: str, **changes: object) -> None:
        self._news[run_id] = replace(self.news(run_id), **changes)  # type: ignore[arg-type]
        self._on_news(self._news[run_id])
