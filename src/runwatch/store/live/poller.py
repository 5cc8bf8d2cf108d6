"""Poller: jobs that keep the store current while a screen is open.

A screen says what it shows. The jobs here, and the tails of followed runs, read it within the request budget and turn
every response and failure into a :class:`~runwatch.store.state.changes.StoreChange`. They never give up: a further read
is scheduled half a second after the first failure, then less and less often (manual: decisions, "Request budget").
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from runwatch.api.calls import RequestAttempt
from runwatch.api.client import Client
from runwatch.api.errors import ApiError
from runwatch.api.operations import is_listable, list_operation
from runwatch.base.clock import Clock
from runwatch.records.account import Account
from runwatch.records.record import Page, Record
from runwatch.records.run import Run
from runwatch.store.live.backoff import Backoff
from runwatch.store.live.request_budget import UNKNOWN_REMOTE_RPM, RequestBudget, sweep_interval_s
from runwatch.store.live.run_tails import RunTails, TailUpdate
from runwatch.store.live.scheduler import JobPriority, Scheduler
from runwatch.store.repositories.event_store import EventStore
from runwatch.store.repositories.scope import Scope
from runwatch.store.repositories.watch_list import WatchList
from runwatch.store.state.changes import (
    ListRead,
    ReadFailed,
    ReadFailure,
    ReadStarted,
    RecordRead,
    read_failure_from_error,
)
from runwatch.store.state.collection import StoredRecord
from runwatch.store.state.failure_kind import ReadInterruption
from runwatch.store.state.store import Store

ACCOUNT_S: Final = 60.0
"""How often the published limits and the balance are read."""

SWEEP_PAGE: Final = 100
SWEEP_PAGES: Final = 10
"""Maximum pages of a sweep, which reads until it has met every run that was live."""

_NO_FILTER: Final[Mapping[str, str]] = {}

_STOPS: Final = frozenset({ReadInterruption.NOT_AUTHORISED, ReadInterruption.NOT_OFFERED})
"""Failures that a retry does not fix; reading stops until the user asks for it."""


@dataclass(frozen=True, slots=True)
class PollIntervals:
    """Shortest poll intervals, in seconds; the budget may lengthen them.

    Attributes:
        runs_s: The list of runs.
        lists_s: Any other list that a screen shows.
        tail_s: The events of a followed run, while it is busy.
    """

    runs_s: float = 2.0
    lists_s: float = 30.0
    tail_s: float = 1.0


_USUAL: Final = PollIntervals()


class Poller:
    """Keeps one profile's part of the store current.

    Args:
        client: Its observer has to call :meth:`note`.
        events: Stores the events of followed runs.
        watch: Runs submitted or added here, for a service without a list of runs.
        on_tail: As ``on_news`` of :class:`~runwatch.store.live.run_tails.RunTails`.
        others: Returns the requests of other consoles to the same service in the last minute.
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
        on_tail: Callable[[TailUpdate], None],
        refresh: PollIntervals = _USUAL,
        others: Callable[[], int] = lambda: 0,
    ) -> None:
        self.intervals: Final = refresh
        self._client = client
        self._scope = scope
        self._store = store
        self._watch = watch
        self._clock = clock
        limit = None if client.target.is_loopback else UNKNOWN_REMOTE_RPM
        self.budget: Final = RequestBudget(clock, limit, others)
        self.scheduler: Final = Scheduler(clock, self.budget, lambda: self.held_s)
        self.tails: Final = RunTails(
            client,
            scope,
            store,
            events,
            self.scheduler,
            clock=clock,
            least_s=refresh.tail_s,
            on_news=on_tail,
            # Read the list, which would show the run as live until its next poll.
            on_end=lambda: self.scheduler.run_soon("list run"),
        )
        self._backoffs = defaultdict[str, Backoff](lambda: Backoff(clock))
        # Runs of the watch list that the service refused to return; read again only when the user asks.
        self._unknown: set[str] = set()

    @property
    def held_s(self) -> float:
        """Seconds until a 429 lets reads through again; 0 without one."""
        return self._client.gate.seconds_left(self._client.target.origin)

    def note(self, attempt: RequestAttempt) -> None:
        """Count a request and learn from a 429; for the client's observer."""
        self.budget.note_attempt()
        problem = attempt.problem
        if attempt.status == 429 and (problem is None or problem.code != "quota_exceeded"):
            self.budget.note_limited()

    @property
    def sweep_s(self) -> float:
        """Seconds between two reads of the list of runs, as the settings and the limit allow."""
        return max(self.intervals.runs_s, sweep_interval_s(self.budget.limit_rpm))

    async def run(self) -> None:
        """Read until cancelled: the account, the sweep of runs, and all requested lists."""
        # Once a minute with the priority of a sweep; in the place of a tail it would delay that one.
        self.scheduler.add("account", JobPriority.SWEEP, self._account)
        self.scheduler.add("list run", JobPriority.SWEEP, self._sweep)
        await self.scheduler.run()

    def start_list(self, kind: type[Record]) -> None:
        """Start to poll the list of a kind that a screen shows; runs and the account are always polled."""
        if kind is not Run and is_listable(kind):
            self.scheduler.add(f"list {kind.KIND}", JobPriority.SCREEN, lambda: self._list(kind))

    def stop_list(self, kind: type[Record]) -> None:
        if kind is not Run:
            self.scheduler.remove(f"list {kind.KIND}")

    def start_filtered_list(self, kind: type[Record], name: str, query: Callable[[], Mapping[str, str]]) -> None:
        """Start to poll a list with server filters, separately from the unfiltered list.

        Args:
            name: The kind under which the store keeps the records, so that no other list is mixed with it.
            query: Returns the filters as query parameters, for each read, because time ranges move.
        """
        self.scheduler.add(f"list {name}", JobPriority.SCREEN, lambda: self._list(kind, name, query()))
        self.scheduler.run_soon(f"list {name}")

    def stop_filtered_list(self, name: str) -> None:
        self.scheduler.remove(f"list {name}")

    def refresh(self, kind: type[Record]) -> None:
        """Read a list again now, even if reading had stopped."""
        if kind is Run:
            self._unknown.clear()
            self.scheduler.add("list run", JobPriority.SWEEP, self._sweep)
        elif kind is not Account:
            self.start_list(kind)
        if kind is Account or "account" not in self.scheduler:
            self.scheduler.add("account", JobPriority.SWEEP, self._account)
        self.scheduler.run_soon(f"list {kind.KIND}")

    async def _account(self) -> float | None:
        profile = self._scope.profile
        self._start("account", "GET /v1/account")
        try:
            account = await self._client.get_account()
        except ApiError as error:
            # Once a minute costs little, and a key that may not read its account may read everything else.
            failure = read_failure_from_error(error, collection=True)
            self._fail("account", failure)
            return None if failure.trouble in _STOPS else ACCOUNT_S
        now, monotonic = self._clock.now(), self._clock.monotonic()
        self._store.apply(ListRead(profile, "account", now, monotonic, (account,), complete=True, end_is_proven=True))
        if account.quota is not None and account.quota.rate_limit_rpm:
            self.budget.publish(account.quota.rate_limit_rpm)
        return ACCOUNT_S

    async def _sweep(self) -> float | None:
        """Read the newest runs, until every run known to be live was met and the last run of a page is final."""
        self._start("run", "GET /v1/executions")
        missing = {record.id for record in self._records("run") if isinstance(record, Run) and not record.is_final}
        runs: dict[str, Run] = {}
        page: Page[Run] | None = None
        try:
            for _ in range(SWEEP_PAGES):
                page = await self._client.list_runs(limit=SWEEP_PAGE, cursor=page.next_cursor if page else None)
                runs |= {run.id: run for run in page.records}
                # If the oldest run of a page is live, older ones not known here may be live too.
                goes_on = bool(page.records) and not page.records[-1].is_final
                if page.next_cursor is None or (missing <= runs.keys() and not goes_on):
                    break
        except ApiError as error:
            failure = read_failure_from_error(error, collection=True)
            if failure.trouble is ReadInterruption.NOT_OFFERED:
                self._fail("run", failure)
                self.scheduler.add("watch list", JobPriority.SWEEP, self._read_watched)
                return None
            return self._fail("run", failure)
        assert page is not None
        await self._take("run", runs.values(), page, is_first=page.next_cursor is not None)
        return self.sweep_s

    async def _read_watched(self) -> float:
        """Read the runs of the watch list one by one, for a service without a list of runs."""
        known = self._store.collection(self._scope.profile, "run").by_id
        for watched in await self._watch.list(self._scope):
            record = known[watched.run_id].record if watched.run_id in known else None
            if watched.run_id in self._unknown or (isinstance(record, Run) and record.is_final):
                continue
            try:
                run = await self._client.get_run(watched.run_id)
            except ApiError as error:
                if read_failure_from_error(error, collection=False).trouble in {
                    ReadInterruption.OFFLINE,
                    ReadInterruption.RATE_LIMITED,
                }:
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
        # A list in one response is already complete; only a paged list gets a limit.
        limit = SWEEP_PAGE * SWEEP_PAGES if kind.WIRE is not None and kind.WIRE.paged else None
        try:
            page: Page[Record] | None = None
            again = make_record_interner(
                lambda: self._store.collection(self._scope.profile, name).by_id,
                lambda: self._store.collection(self._scope.profile, kind.KIND).by_id,
            )
            async for part in self._client.pages(operation, query=query, limit=limit, again=again):
                if page is not None:
                    part.records[:0], part.values[:0] = page.records, page.values
                page = part
        except ApiError as error:
            return self._fail(name, read_failure_from_error(error, collection=True))
        if page is not None:
            await self._take(name, page.records, page, is_first=False)
        return self.intervals.lists_s

    def _records(self, kind: str) -> list[Record]:
        return self._store.collection(self._scope.profile, kind).records

    def _start(self, kind: str, what: str) -> None:
        self._store.apply(ReadStarted(self._scope.profile, kind, self._clock.now(), self._clock.monotonic(), what))

    async def _take(
        self, kind: str, records: Iterable[Record], page: Page[Record] | Page[Run], *, is_first: bool
    ) -> None:
        self._backoffs[kind].reset()
        await self._store.apply_in_steps(
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

    def _fail(self, kind: str, failure: ReadFailure) -> float | None:
        self._store.apply(ReadFailed(self._scope.profile, kind, self._clock.now(), self._clock.monotonic(), failure))
        return None if failure.trouble in _STOPS else self._backoffs[kind].next_s()


def make_record_interner(*known: Callable[[], Mapping[str, StoredRecord]]) -> Callable[[Record], Record]:
    """Return a function that replaces a received record by an equal stored object.

    The store then sees by identity that they are the same, and the memory of the second copy is freed.

    Args:
        known: Each returns the stored records of a list by id. Called again each time, because they change during a
            long read.
    """

    def again(record: Record) -> Record:
        record_id = record.id
        for now in known:
            before = now().get(record_id)
            if before is not None and before.record == record:
                return before.record
        return record

    return again
