"""Event tails of followed runs, read until the run has ended.

A tail stores events before it reports them, and never gives up while the service may recover: each further read is
scheduled, less and less often after failures.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from runwatch.api.client import Client
from runwatch.api.errors import ApiError
from runwatch.api.run_tail import EndStep, PauseStep
from runwatch.base.clock import Clock
from runwatch.base.errors import DataError
from runwatch.base.memory import free_in_slices
from runwatch.records.event import RunEvent
from runwatch.records.run import Run
from runwatch.store.live.backoff import Backoff
from runwatch.store.live.list_writer import ListWriter
from runwatch.store.live.scheduler import JobPriority, Scheduler
from runwatch.store.live.stored_run_tail import LONG_PAGE, FollowedEvents, StoredRunTail, may_pass
from runwatch.store.repositories.event_store import EventStore
from runwatch.store.repositories.scope import Scope
from runwatch.store.state.changes import ReadFailure, read_failure_from_error
from runwatch.store.state.failure_kind import FailureKind

HISTORY_PAGE_EVENTS: Final = 100
"""A page of at least this many events counts as history, with more to come."""


@dataclass(frozen=True, slots=True)
class TailUpdate:
    """New state of a followed run's events.

    Attributes:
        pause_s: Seconds until the next read; ``None`` after the last one.
        answered_at: Monotonic time of the last good response; ``None`` before the first.
        has_more: Whether the last page was full, so that more of the past is still to come.
        failed_at: When the last read failed; ``None`` if it did not.
        unkept: Why events could not be stored, and so are not shown: usually a full disk.
    """

    run_id: str
    count: int = 0
    is_complete: bool = False
    pause_s: float | None = None
    answered_at: float | None = None
    has_more: bool = False
    failure: ReadFailure | None = None
    failed_at: datetime | None = None
    unkept: str | None = None


class RunTails:
    """Follows runs.

    Args:
        least_s: Minimum seconds between two reads of one tail, while its run is busy.
        tail_moved: Called with the new state of a run's tail, at least once for each step, also if no event came.
        on_end: Called when the last event of a run has come.

    Attributes:
        page_count: How many pages with events were read; while it is unchanged, so is every last event.
    """

    def __init__(
        self,
        client: Client,
        scope: Scope,
        writer: ListWriter,
        event_store: EventStore,
        scheduler: Scheduler,
        *,
        clock: Clock,
        least_s: float,
        tail_moved: Callable[[TailUpdate], None],
        on_end: Callable[[], None],
    ) -> None:
        self._client = client
        self._scope = scope
        self._writer = writer
        self._event_store = event_store
        self._scheduler = scheduler
        self._clock = clock
        self._least_s = least_s
        self._tail_moved = tail_moved
        self._on_end = on_end
        self._backoffs = defaultdict[str, Backoff](lambda: Backoff(clock))
        # By run: its followers, and whether the run is in the focus of each.
        self._followers: dict[str, dict[Hashable, bool]] = {}
        self._tails: dict[str, StoredRunTail] = {}
        self._updates: dict[str, TailUpdate] = {}
        self._last: dict[str, RunEvent] = {}
        self.page_count = 0

    def follow(self, run_id: str, by: Hashable, *, in_focus: bool = True, is_asked: bool = False) -> None:
        """Read the events of a run until its end, or change whether it is in focus.

        Args:
            by: Who follows, usually a screen; the run is read until each of its followers has left it.
            is_asked: Whether the user waits for the next read, as after a submit.
        """
        self._followers.setdefault(run_id, {})[by] = in_focus
        self._scheduler.add(f"tail {run_id}", self._priority(run_id), lambda: self._read(run_id), is_asked=is_asked)

    def unfollow(self, run_id: str, by: Hashable) -> None:
        """Stop reading the events of a run, unless another follows it too; stored events remain."""
        followers = self._followers.get(run_id, {})
        if followers.pop(by, None) is None:
            return
        if followers:
            self._scheduler.set_priority(f"tail {run_id}", self._priority(run_id))
            return
        del self._followers[run_id]
        self._scheduler.remove(f"tail {run_id}")
        self._tails.pop(run_id, None)

    def follows(self, run_id: str, by: Hashable | None = None) -> bool:
        """Return whether a run is followed, by this follower or by anyone, even if its last event has come."""
        followers = self._followers.get(run_id, {})
        return by in followers if by is not None else bool(followers)

    def _is_in_focus(self, run_id: str) -> bool:
        return any(self._followers.get(run_id, {}).values())

    def _priority(self, run_id: str) -> JobPriority:
        return JobPriority.FOCUS if self._is_in_focus(run_id) else JobPriority.TAIL

    def hurry(self, run_id: str, *, is_asked: bool = True) -> None:
        """Read the events of a followed run now.

        Args:
            is_asked: Whether the user waits for just this run; of many, each waits for its turn.
        """
        self._scheduler.run_soon(f"tail {run_id}", is_asked=is_asked)

    def last_update(self, run_id: str) -> TailUpdate:
        """Return the state of a run's events as last reported; an empty one before the first read."""
        return self._updates.get(run_id, TailUpdate(run_id))

    def last_event(self, run_id: str) -> RunEvent | None:
        """Return the newest event of a run that was read in this session."""
        return self._last.get(run_id)

    async def _read(self, run_id: str) -> float | None:
        """Do the next step of a run's tail; if events cannot be stored, the same step is repeated."""
        try:
            again = await self._step(run_id)
        except DataError as error:
            wait = self._backoffs[run_id].next_s()
            self._update(run_id, unkept=error.title, pause_s=wait)
            return wait
        if self.last_update(run_id).unkept is not None:
            self._update(run_id, unkept=None)
        return again

    async def _step(self, run_id: str) -> float | None:
        """Do the next step of a run's tail; the scheduler waits out its pauses."""
        tail = self._tails.get(run_id) or await self._open(run_id)
        try:
            step = await tail.step()
        except ApiError as error:
            failure = read_failure_from_error(error, collection=False)
            if failure.kind is FailureKind.RATE_LIMITED:
                # The hold is the wait; a longer one would show an old refusal while the service answers.
                wait: float | None = failure.hold_s or self._backoffs[run_id].next_s()
                self._ask_first(run_id)
            else:
                wait = self._backoffs[run_id].next_s() if may_pass(error) else None
            self._update(run_id, failure=failure, failed_at=self._clock.now(), pause_s=wait)
            return wait
        if isinstance(step, PauseStep):
            # Left by a status read whose response came, but whose gap could not be stored.
            self._update(run_id, pause_s=step.seconds)
            return step.seconds
        if isinstance(step, EndStep):
            self._tails.pop(run_id, None)
            self._update(
                run_id,
                count=tail.position,
                is_complete=True,
                has_more=False,
                failure=None,
                failed_at=None,
                pause_s=None,
            )
            return None
        size = 0 if step.page is None else len(step.page.records)
        has_more = self.last_update(run_id).has_more if step.page is None else size >= HISTORY_PAGE_EVENTS
        await self._take(run_id, step, tail.position)
        pause = tail.take_pause()
        # Busy runs take turns; only history is read without a pause.
        if pause or not (self._is_in_focus(run_id) or size >= HISTORY_PAGE_EVENTS):
            pause = max(pause, self._least_s)
        self._update(
            run_id, pause_s=pause, has_more=has_more, failure=None, failed_at=None, answered_at=tail.answered_at
        )
        return pause

    def read_ended(self, run_ids: Iterable[str]) -> None:
        """Read the last events now of those of these runs that are followed, if another read says that they ended."""
        for run_id in run_ids:
            if run_id in self._followers and not self.last_update(run_id).is_complete:
                run = self._writer.collection(Run.KIND).find(Run, run_id)
                if run is not None and run.is_final:
                    self._scheduler.run_soon(f"tail {run_id}")

    def read_failed_soon(self) -> None:
        """Read the tails whose last read failed now, because the service answers again."""
        for run_id in self._followers:
            if self.last_update(run_id).failure is not None and f"tail {run_id}" in self._scheduler:
                self._backoffs[run_id].reset()
                self._scheduler.run_soon(f"tail {run_id}")
                self._ask_first(run_id)

    def _ask_first(self, run_id: str) -> None:
        """Let the next read of a run in focus, whose failure is on the screen, not wait for its turn."""
        if self._is_in_focus(run_id) and self._scheduler.has_requests_left:
            self._scheduler.ask_first(f"tail {run_id}")

    async def _open(self, run_id: str) -> StoredRunTail:
        update = self.last_update(run_id)
        silent_since = None if update.failure is None else update.answered_at
        tail = await StoredRunTail.open(
            self._client, self._scope, self._event_store, run_id, self._clock, silent_since=silent_since
        )
        self._tails[run_id] = tail
        return tail

    async def _take(self, run_id: str, came: FollowedEvents, count: int) -> None:
        """Report the result of a read; ``count`` events of the run are stored now."""
        self._backoffs[run_id].reset()
        if came.run is not None:
            self._writer.take_record(came.run)
        if came.page is None:
            return
        records = came.page.records
        if records:
            self._last[run_id] = records[-1]
            self.page_count += 1
        if self.last_update(run_id).count != count:
            self._update(run_id, count=count)
        if came.has_ended:
            self._on_end()
        if len(records) > LONG_PAGE:
            came.new.clear()
            came.page.values.clear()
            await free_in_slices(records)

    def _update(self, run_id: str, **changes: object) -> None:
        self._updates[run_id] = replace(self.last_update(run_id), **changes)  # type: ignore[arg-type]
        self._tail_moved(self._updates[run_id])
