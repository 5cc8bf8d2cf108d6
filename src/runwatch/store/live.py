"""Live data: the jobs that keep the store true while somebody looks.

A screen says what it shows and which run it follows; the jobs here read it within the budget, turn every answer and
every failure into a :class:`~runwatch.store.change.Change`, and never give up: each further read is a new scheduled
one, half a second after the first failure and then ever more seldom (console-anchors C4).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final

from runwatch.api.calls import Exchange
from runwatch.api.client import Client
from runwatch.api.errors import ApiError
from runwatch.api.operations import OPERATIONS, Operation
from runwatch.api.tail import Done, Pause, Read, RunTail
from runwatch.base.clock import Clock
from runwatch.base.errors import DataError
from runwatch.base.memory import let_go
from runwatch.records.account import Account
from runwatch.records.event import RunEvent
from runwatch.records.record import Page, Record
from runwatch.records.run import Run
from runwatch.store.budget import UNKNOWN_REMOTE_RPM, Budget, sweep_interval_s
from runwatch.store.change import Failure, ListRead, ReadFailed, ReadStarted, RecordRead, failure_of
from runwatch.store.events import EventStore
from runwatch.store.follow import event_name, refuses_position
from runwatch.store.identity import Scope
from runwatch.store.interning import known_again
from runwatch.store.scheduler import Lane, Scheduler
from runwatch.store.state import Store
from runwatch.store.trouble import Trouble
from runwatch.store.watchlist import WatchList

ACCOUNT_S: Final = 60.0
"""How often the published limits and the balance are read."""

SWEEP_PAGE: Final = 100
SWEEP_PAGES: Final = 10
"""A sweep reads on until it has met every run that was live, through this many pages at most."""

OF_A_PAST: Final = 100
"""From so many events on a page is taken for one of a long past, with more behind it."""

FIRST_WAIT_S: Final = 0.5
LONGEST_WAIT_S: Final = 30.0
JITTER: Final = 0.2

LONG_PAGE: Final = 5_000
"""Pages of more events than this are gone through beside the loop, which has its turn every few milliseconds."""

_NO_FILTER: Final[Mapping[str, str]] = {}

_STOPS: Final = frozenset({Trouble.NOT_AUTHORISED, Trouble.NOT_OFFERED})
"""Troubles that asking again does not mend; reading stops until a person asks for it."""


@dataclass(frozen=True, slots=True)
class TailNews:
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
    failure: Failure | None = None
    unkept: str | None = None


@dataclass(slots=True)
class _Followed:
    """A run that is being followed.

    Attributes:
        tail: Says what to read next.
        fresh: Names of the events of the last page that are new.
        count: Events kept when the tail last moved.
        size: Events on the last page.
    """

    tail: RunTail
    fresh: set[str | int]
    count: int
    size: int = 0

    def came(self, page: Sequence[RunEvent], new: Sequence[RunEvent]) -> bool:
        """Let the tail take a page of which these events are new; answer whether it ends the run."""
        self.fresh.clear()
        self.fresh.update(map(event_name, new))
        self.tail.came(page)
        return any(event.ends_run for event in page)


@dataclass(frozen=True, slots=True)
class Refresh:
    """How often things are read at most, in seconds; the budget may make it less often.

    Attributes:
        runs_s: The list of runs.
        lists_s: Any other list that a screen shows.
        tail_s: The events of a followed run, while it is busy.
    """

    runs_s: float = 2.0
    lists_s: float = 30.0
    tail_s: float = 1.0


class Backoff:
    """Waits that double from half a second to thirty, moved by chance so that consoles do not ask in step."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._wait_s = FIRST_WAIT_S

    def good(self) -> None:
        """Begin again."""
        self._wait_s = FIRST_WAIT_S

    def next_s(self) -> float:
        """The next wait, in seconds."""
        wait = self._wait_s * (1 + JITTER * (2 * self._clock.chance() - 1))
        self._wait_s = min(LONGEST_WAIT_S, self._wait_s * 2)
        return wait


_USUAL: Final = Refresh()


class Live:
    """Keeps one profile's part of the store true.

    Args:
        client: Reads the service; its observer has to call :meth:`note`.
        scope: Whose data it is.
        store: What is changed.
        events: Keeps the events of followed runs.
        watch: Runs submitted or added here, for a service without a list of runs.
        clock: Time, sleep and chance.
        on_tail: Told of every read of a followed run.
        refresh: How often things are read.
        others: Requests of other consoles to the same service in the last minute.
    """

    def __init__(
        self,
        client: Client,
        scope: Scope,
        store: Store,
        events: EventStore,
        watch: WatchList,
        *,
        clock: Clock,
        on_tail: Callable[[TailNews], None],
        refresh: Refresh = _USUAL,
        others: Callable[[], int] = lambda: 0,
    ) -> None:
        self.pace: Final = refresh
        self._client = client
        self._scope = scope
        self._store = store
        self._events = events
        self._watch = watch
        self._clock = clock
        self._on_tail = on_tail
        limit = None if client.target.is_loopback else UNKNOWN_REMOTE_RPM
        self.budget: Final = Budget(clock, limit, others)
        self.scheduler: Final = Scheduler(clock, self.budget, lambda: self.held_s)
        self._backoffs: dict[str, Backoff] = {}
        self._follows: set[str] = set()
        self._focused: set[str] = set()
        self._tails: dict[str, _Followed] = {}
        self._news: dict[str, TailNews] = {}
        self._last: dict[str, RunEvent] = {}
        self._heard = 0
        # Runs of the watch list that the service refused to show; asked for again only when a person wants it.
        self._unknown: set[str] = set()

    @property
    def held_s(self) -> float:
        """Seconds until a 429 lets reads through again; 0 without one."""
        return self._client.gate.seconds_left(self._client.target.origin)

    def note(self, exchange: Exchange) -> None:
        """Count a request and learn from a 429; for the client's observer."""
        self.budget.note_exchange()
        problem = exchange.problem
        if exchange.status == 429 and (problem is None or problem.code != "quota_exceeded"):
            self.budget.note_limited()

    @property
    def sweep_s(self) -> float:
        """Seconds between two reads of the list of runs, as the settings and the limit allow."""
        return max(self.pace.runs_s, sweep_interval_s(self.budget.limit_rpm))

    async def run(self) -> None:
        """Read until cancelled: the account, the sweep of runs, and whatever was asked for."""
        # Once a minute it goes beside the sweeps, because in the place of a tail it would make that one late.
        self.scheduler.add("account", Lane.SWEEP, self._account)
        self.scheduler.add("list run", Lane.SWEEP, self._sweep)
        await self.scheduler.run()

    def show(self, kind: type[Record]) -> None:
        """Read the list of a kind from now on, because a screen shows it; runs and the account are always read."""
        if kind is not Run and has_list(kind):
            self.scheduler.add(f"list {kind.KIND}", Lane.SCREEN, lambda: self._list(kind))

    def hide(self, kind: type[Record]) -> None:
        """Stop reading the list of a kind that no screen shows."""
        if kind is not Run:
            self.scheduler.remove(f"list {kind.KIND}")

    def narrow(self, kind: type[Record], name: str, query: Callable[[], Mapping[str, str]]) -> None:
        """Read a list as the service filters it from now on, beside the whole one, which is left as it is.

        Args:
            kind: The kind of record.
            name: The kind under which the store keeps what comes, so that no other list is mixed with it.
            query: The filters as query parameters, asked anew for every read because spans of time move on.
        """
        self.scheduler.add(f"list {name}", Lane.SCREEN, lambda: self._list(kind, name, query()))
        self.scheduler.hurry(f"list {name}")

    def widen(self, name: str) -> None:
        """Stop reading a filtered list."""
        self.scheduler.remove(f"list {name}")

    def refresh(self, kind: type[Record]) -> None:
        """Read a list again now, also one that was given up."""
        if kind is Run:
            self._unknown.clear()
            self.scheduler.add("list run", Lane.SWEEP, self._sweep)
        elif kind is not Account:
            self.show(kind)
        if kind is Account or "account" not in self.scheduler:
            self.scheduler.add("account", Lane.SWEEP, self._account)
        self.scheduler.hurry(f"list {kind.KIND}")

    def follow(self, run_id: str, *, in_focus: bool = True) -> None:
        """Read the events of a run until its end, or move it in or out of the focus."""
        self._follows.add(run_id)
        (self._focused.add if in_focus else self._focused.discard)(run_id)
        self.scheduler.add(f"tail {run_id}", Lane.FOCUS if in_focus else Lane.TAIL, lambda: self._tail(run_id))

    def unfollow(self, run_id: str) -> None:
        """Stop reading the events of a run; what is kept stays kept."""
        self.scheduler.remove(f"tail {run_id}")
        self._follows.discard(run_id)
        self._focused.discard(run_id)
        self._tails.pop(run_id, None)

    def follows(self, run_id: str) -> bool:
        """Whether a run is being followed, also one whose last event has come."""
        return run_id in self._follows

    def hurry(self, run_id: str) -> None:
        """Read the events of a followed run now."""
        self.scheduler.hurry(f"tail {run_id}")

    def news(self, run_id: str) -> TailNews:
        """What is known of a followed run's tail."""
        return self._news.get(run_id, TailNews(run_id))

    def last_event(self, run_id: str) -> RunEvent | None:
        """The newest event that was read of a run in this session."""
        return self._last.get(run_id)

    @property
    def heard(self) -> int:
        """How often there was a newer event of any run: as long as it stays the same, every last event does."""
        return self._heard

    async def _account(self) -> float | None:
        profile = self._scope.profile
        self._start("account", "GET /v1/account")
        try:
            account = await self._client.get_account()
        except ApiError as error:
            # Once a minute is no burden, and a key that may not read its account may read everything else.
            failure = failure_of(error, collection=True)
            self._fail("account", failure)
            return None if failure.trouble in _STOPS else ACCOUNT_S
        now, monotonic = self._clock.now(), self._clock.monotonic()
        self._store.apply(ListRead(profile, "account", now, monotonic, (account,), complete=True, end_is_proven=True))
        if account.quota is not None and account.quota.rate_limit_rpm:
            self.budget.publish(account.quota.rate_limit_rpm)
        return ACCOUNT_S

    async def _sweep(self) -> float | None:
        """Read the newest runs, and on until every run known to be live was met and a page does not end with one."""
        self._start("run", "GET /v1/executions")
        missing = {record.id for record in self._records("run") if isinstance(record, Run) and not record.is_final}
        runs: dict[str, Run] = {}
        page: Page[Run] | None = None
        try:
            for _ in range(SWEEP_PAGES):
                page = await self._client.list_runs(limit=SWEEP_PAGE, cursor=page.next_cursor if page else None)
                runs |= {run.id: run for run in page.records}
                # Where the oldest run of a page is live, older ones may be live too that nobody here knows of yet.
                goes_on = bool(page.records) and not page.records[-1].is_final
                if page.next_cursor is None or (missing <= runs.keys() and not goes_on):
                    break
        except ApiError as error:
            failure = failure_of(error, collection=True)
            if failure.trouble is Trouble.NOT_OFFERED:
                self._fail("run", failure)
                self.scheduler.add("watch list", Lane.SWEEP, self._read_watched)
                return None
            return self._fail("run", failure)
        assert page is not None
        await self._take("run", runs.values(), page, is_first=page.next_cursor is not None)
        return self.sweep_s

    async def _read_watched(self) -> float:
        """Read the runs of the watch list one by one, where the service has no list of them."""
        known = self._store.collection(self._scope.profile, "run").known
        for watched in await self._watch.list(self._scope):
            record = known[watched.run_id].record if watched.run_id in known else None
            if watched.run_id in self._unknown or (isinstance(record, Run) and record.is_final):
                continue
            try:
                run = await self._client.get_run(watched.run_id)
            except ApiError as error:
                if failure_of(error, collection=False).trouble in {Trouble.OFFLINE, Trouble.RATE_LIMITED}:
                    break
                self._unknown.add(watched.run_id)
                continue
            self._store.apply(RecordRead(self._scope.profile, "run", self._clock.now(), self._clock.monotonic(), run))
        return 10.0

    async def _list(
        self, kind: type[Record], name: str | None = None, query: Mapping[str, str] = _NO_FILTER
    ) -> float | None:
        operation, name = list_operation(kind), name or kind.KIND
        self._start(name, f"GET {operation.path}")
        # What comes in one piece is all there already; only page after page has an end set here.
        limit = SWEEP_PAGE * SWEEP_PAGES if kind.WIRE is not None and kind.WIRE.paged else None
        try:
            page: Page[Record] | None = None
            again = known_again(
                lambda: self._store.collection(self._scope.profile, name).known,
                lambda: self._store.collection(self._scope.profile, kind.KIND).known,
            )
            async for part in self._client.pages(operation, query=query, limit=limit, again=again):
                if page is not None:
                    part.records[:0], part.values[:0] = page.records, page.values
                page = part
        except ApiError as error:
            return self._fail(name, failure_of(error, collection=True))
        if page is not None:
            await self._take(name, page.records, page, is_first=False)
        return self.pace.lists_s

    async def _tail(self, run_id: str) -> float | None:
        """Do the next step of a run's tail; while nothing can be kept, the same step again and again."""
        try:
            again = await self._step_tail(run_id)
        except DataError as error:
            wait = self._backoff(f"tail {run_id}").next_s()
            self._tell(run_id, unkept=error.title, pause_s=wait)
            return wait
        if self.news(run_id).unkept is not None:
            self._tell(run_id, unkept=None)
        return again

    async def _step_tail(self, run_id: str) -> float | None:
        """Do the next step of a run's tail; a pause is what the scheduler waits."""
        followed = await self._followed(run_id)
        tail = followed.tail
        step = tail.next_read()
        if isinstance(step, Pause):
            self._tell(run_id, pause_s=step.seconds)
            return step.seconds
        if isinstance(step, Done):
            await self._events.mark_complete(self._scope, run_id)
            self._tails.pop(run_id, None)
            self._tell(run_id, is_complete=True, pause_s=None)
            return None
        try:
            await self._read_tail(run_id, followed, step)
        except ApiError as error:
            if refuses_position(error, step) and tail.forget_position():
                return 0.0
            failure = failure_of(error, collection=False)
            wait = self._backoff(f"tail {run_id}").next_s()
            is_lost = failure.trouble not in {Trouble.OFFLINE, Trouble.RATE_LIMITED}
            self._tell(run_id, failure=failure, pause_s=None if is_lost else wait)
            return None if is_lost else wait
        # What comes next is the tail's own step: read on at once, or the pause it names.
        following = tail.next_read()
        if isinstance(following, Pause):
            pause = max(following.seconds, self.pace.tail_s)
        else:
            # Of many busy runs at once each is read in turn; only a long past is read on without a rest.
            pause = 0.0 if run_id in self._focused or followed.size >= OF_A_PAST else self.pace.tail_s
        self._tell(run_id, pause_s=pause, failure=None, answered_at=self._clock.monotonic())
        return pause

    async def _followed(self, run_id: str) -> _Followed:
        if run_id not in self._tails:
            cursor = await self._events.cursor(self._scope, run_id)
            fresh: set[str | int] = set()
            tail = RunTail(cursor, is_new=lambda event: event_name(event) in fresh)
            self._tails[run_id] = _Followed(tail, fresh, await self._events.count(self._scope, run_id))
        return self._tails[run_id]

    async def _read_tail(self, run_id: str, followed: _Followed, step: Read) -> None:
        if step.kind == "status":
            run = await self._client.get_run(run_id)
            self._store.apply(RecordRead(self._scope.profile, "run", self._clock.now(), self._clock.monotonic(), run))
            followed.tail.came([], run.status)
            return
        page = await self._client.list_events(run_id, after=step.after)
        followed.size = len(page.records)
        news = self.news(run_id)
        if news.failure is not None and news.answered_at is not None:
            now = self._clock.now()
            silence = timedelta(seconds=self._clock.monotonic() - news.answered_at)
            await self._events.note_gap(self._scope, run_id, now - silence, now)
        new = await self._events.append(self._scope, run_id, page.records, after=step.after)
        count = await self._events.count(self._scope, run_id)
        if count > followed.count + len(new):
            # Another console on this data directory stored some of them first; to this tail they are new all the same.
            new += await self._events.window(self._scope, run_id, followed.count, count - followed.count)
        if len(page.records) <= LONG_PAGE:
            has_ended = followed.came(page.records, new)
        else:
            has_ended = await asyncio.to_thread(followed.came, page.records, new)
        if page.records:
            self._last[run_id] = page.records[-1]
            self._heard += 1
        self._backoff(f"tail {run_id}").good()
        if count != followed.count or news.count != count:
            followed.count = count
            self._tell(run_id, count=count)
        if has_ended:
            # The list shows the run as live until it is read again; a person sees both at once.
            self.scheduler.hurry("list run")
        if len(page.records) > LONG_PAGE:
            new.clear()
            page.values.clear()
            await let_go(page.records)

    def _records(self, kind: str) -> list[Record]:
        return self._store.collection(self._scope.profile, kind).records

    def _start(self, kind: str, what: str) -> None:
        self._store.apply(ReadStarted(self._scope.profile, kind, self._clock.now(), self._clock.monotonic(), what))

    async def _take(
        self, kind: str, records: Iterable[Record], page: Page[Record] | Page[Run], *, is_first: bool
    ) -> None:
        self._backoff(f"list {kind}").good()
        await self._store.take(
            ListRead(
                self._scope.profile,
                kind,
                self._clock.now(),
                self._clock.monotonic(),
                tuple(records),
                complete=not is_first,
                end_is_proven=page.end_is_proven and page.next_cursor is None,
                misfits=page.misfits,
            )
        )

    def _fail(self, kind: str, failure: Failure) -> float | None:
        self._store.apply(ReadFailed(self._scope.profile, kind, self._clock.now(), self._clock.monotonic(), failure))
        return None if failure.trouble in _STOPS else self._backoff(f"list {kind}").next_s()

    def _backoff(self, key: str) -> Backoff:
        return self._backoffs.setdefault(key, Backoff(self._clock))

    def _tell(self, run_id: str, **changes: object) -> None:
        self._news[run_id] = replace(self.news(run_id), **changes)  # type: ignore[arg-type]
        self._on_tail(self._news[run_id])


def has_list(kind: type[Record]) -> bool:
    """Whether the service lists this kind of record by itself, not only as a part of another record."""
    return kind.WIRE is not None and bool(kind.WIRE.items) and "{" not in kind.WIRE.path


def list_operation(kind: type[Record]) -> Operation:
    """The operation that lists a kind of record: the one of the specification, else what the record says of its list.

    Raises:
        LookupError: the service has no such list.
    """
    for operation in OPERATIONS.values():
        if operation.lists and operation.record is kind and "{" not in operation.path:
            return operation
    if kind.WIRE is None or not has_list(kind):
        raise LookupError(f"no operation lists {kind.KIND}")
    return Operation(f"list {kind.KIND}", "GET", kind.WIRE.path, f"List {kind.WIRE.items}", record=kind, lists=True)
