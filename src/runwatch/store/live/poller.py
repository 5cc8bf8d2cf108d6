"""Poller: jobs that keep the store current while a screen is open.

A screen says what it shows. The jobs here, and the tails of followed runs, read it within the request budget and turn
every response and failure into a :class:`~runwatch.store.state.changes.StoreChange`. They never give up: a further read
is scheduled half a second after the first failure, then less and less often (manual: decisions, "Request budget").
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from runwatch.api.calls import RequestAttempt
from runwatch.api.client import Client
from runwatch.api.errors import UNSENT_ERRORS, ApiError
from runwatch.api.operations import is_listable, list_operation
from runwatch.api.retry_policy import RETRIES
from runwatch.base.clock import Clock, until_whole_second, wait_first
from runwatch.records.account import Account
from runwatch.records.receipt import Receipt
from runwatch.records.record import Page, Record
from runwatch.records.run import Run
from runwatch.store.live.connection_state import PROBE_S, ConnectionState
from runwatch.store.live.list_continuation import ListContinuation
from runwatch.store.live.list_writer import REPEATED_FAILURES, ListWriter, make_record_interner
from runwatch.store.live.request_budget import UNKNOWN_REMOTE_RPM, RequestBudget, is_low, sweep_interval_s
from runwatch.store.live.run_list import SWEEP_PAGE, SWEEP_PAGES, RunList
from runwatch.store.live.run_receipts import RunReceipts
from runwatch.store.live.run_tails import RunTails, TailUpdate
from runwatch.store.live.scheduler import HANGS_AFTER_S, JobPriority, Scheduler
from runwatch.store.repositories.event_store import EventStore
from runwatch.store.repositories.scope import Scope
from runwatch.store.repositories.watch_list import WatchList
from runwatch.store.state.collection import Collection
from runwatch.store.state.failure_kind import FailureKind
from runwatch.store.state.freshness import STALE_INTERVALS, PaneState, pane_state
from runwatch.store.state.store import Store

ACCOUNT_S: Final = 60.0
"""How often the published limits and the balance are read."""

_NO_FILTER: Final[Mapping[str, str]] = {}

SHOWN_WAIT_S: Final = 5.0
"""A shorter wait for the request limit, in seconds, is not shown, unless the limit makes every read wait so long."""

AUTOMATIC_ROWS: Final = 1_000
"""A list is read on without being asked up to about this many records."""


class PollIntervals(NamedTuple):
    """Shortest poll intervals, in seconds; the budget may lengthen them.

    Attributes:
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
        event_store: Stores the events of followed runs.
        watch: Runs submitted or added here, for a service without a list of runs.
        tail_moved: See :class:`~runwatch.store.live.run_tails.RunTails`.
        others: Returns the requests of other consoles to the same service in the last minute.
        retries: How many more times the client sends a request.

    Attributes:
        writer: Turns what this poller and those of reports read into changes of the store.
    """

    def __init__(
        self,
        client: Client,
        scope: Scope,
        store: Store,
        event_store: EventStore,
        watch: WatchList,
        *,
        clock: Clock,
        tail_moved: Callable[[TailUpdate], None],
        intervals: PollIntervals = _USUAL,
        others: Callable[[], int] = lambda: 0,
        retries: int = RETRIES,
    ) -> None:
        self.intervals: Final = intervals
        self._client = client
        self._scope = scope
        self._store = store
        self._clock = clock
        limit = None if client.target.is_loopback else UNKNOWN_REMOTE_RPM
        self.budget: Final = RequestBudget(clock, limit, others, is_published=False)
        self.scheduler: Final = Scheduler(clock, self.budget, lambda: self.hold_s, client.gate.open)
        self.connection: Final = ConnectionState(
            retries,
            self._probe_soon,
            self.scheduler.run_all_soon,
            lambda: self.tails.read_failed_soon(),
            may_retry=self.budget.may_retry,
        )
        client.limit_retries(lambda: self.budget.may_retry(is_lost=self.connection.lost_since is not None))
        self.writer: Final = ListWriter(scope, store, clock, self.connection)
        self.tails: Final = RunTails(
            client,
            scope,
            self.writer,
            event_store,
            self.scheduler,
            clock=clock,
            least_s=intervals.tail_s,
            tail_moved=tail_moved,
            # Read the list, which would show the run as live until its next poll.
            on_end=lambda: self.scheduler.run_soon(RunList.JOB),
        )
        self.runs: Final = RunList(client, scope, watch, self.writer, self.scheduler, lambda: self.sweep_s)
        self.receipts: Final = RunReceipts(client, scope, watch, store, self.writer, self.scheduler, clock)
        self._heard_at = clock.monotonic()
        self._side: set[type[Record]] = set()
        self._continuations = {Run.KIND: self.runs.continuation, Receipt.KIND: self._make_continuation(Receipt)}

    @property
    def hold_s(self) -> float:
        """Seconds until a 429 lets reads through again; 0 without one."""
        return self._client.gate.seconds_left()

    def note(self, attempt: RequestAttempt, *, is_opening: bool = False) -> None:
        """Count a request, and learn from a 429 or from silence; for the client's observer.

        Args:
            is_opening: Whether it opened the session, before which nothing is shown as live.
        """
        self.budget.note_attempt(was_sent=attempt.error not in UNSENT_ERRORS)
        self._heard_at = self._clock.monotonic()
        if attempt.status is not None or attempt.received_bytes:
            self.scheduler.note_answer()
        if not is_opening:
            self.connection.note(attempt)
        problem = attempt.problem
        if attempt.status == 429 and (problem is None or problem.code != "quota_exceeded"):
            self.budget.note_limited()

    @property
    def silent_s(self) -> float:
        """Seconds for which the list of runs has waited for an answer; 0 while that is no longer than usual."""
        waiting_s = self.scheduler.waiting_s(RunList.JOB)
        return waiting_s if waiting_s > HANGS_AFTER_S else 0.0

    @property
    def sweep_s(self) -> float:
        """Seconds between two reads of the list of runs, as the settings and the limit allow."""
        return max(self.intervals.runs_s, sweep_interval_s(self.budget.limit_rpm))

    async def run(self) -> None:
        """Read until cancelled: the account, the sweep of runs, and all requested lists."""
        self.runs.start()
        # Once a minute with the priority of a sweep; in the place of a tail it would delay that one. The first read
        # comes after the list in sight, and is spared if the account is known from the opening.
        is_known = self.writer.collection(Account.KIND).read_at is not None
        self.scheduler.add(Account.KIND, JobPriority.SWEEP, self._account, in_s=ACCOUNT_S if is_known else 0.0)
        watch = asyncio.ensure_future(self._watch_connection())
        try:
            await self.scheduler.run()
        finally:
            watch.cancel()

    def start_list(self, kind: type[Record], *, is_side: bool = False) -> None:
        """Start to poll the list of a kind that a screen shows.

        Runs and the account are always polled; for a list of runs, the receipts of ended runs are read too. The user
        waits for a list that is not known yet or out of date.

        Args:
            is_side: Whether the screen only adds what the list says to its own, so that the user does not wait for it.
        """
        if kind is Run:
            self.receipts.start()
        elif is_listable(kind):
            (self._side.add if is_side else self._side.discard)(kind)
            read_at = self.writer.collection(kind.KIND).read_at
            is_old = read_at is None or self._clock.monotonic() - read_at > STALE_INTERVALS * self.intervals.lists_s
            self._start_list(kind, is_asked=is_old and not is_side)

    def _start_list(self, kind: type[Record], *, is_asked: bool) -> None:
        # A list that only adds to a screen comes after the list of runs.
        priority = JobPriority.TAIL if kind in self._side else JobPriority.SCREEN
        self.scheduler.add(f"list {kind.KIND}", priority, lambda: self._list(kind), is_asked=is_asked)

    def stop_list(self, kind: type[Record]) -> None:
        if (continuation := self.continuation(kind.KIND)) is not None:
            continuation.stop()
        if kind is Run:
            self.receipts.stop()
        else:
            self.scheduler.remove(f"list {kind.KIND}")
        if kind is Receipt:
            self.receipts.stop_watched()

    def continuation(self, name: str) -> ListContinuation | None:
        """Return what reads on in a list whose beginning alone is polled; ``None`` for a list that is read whole.

        Args:
            name: The kind under which the store keeps the records.
        """
        return self._continuations.get(name)

    def _make_continuation(self, kind: type[Record], name: str = "") -> ListContinuation:
        return ListContinuation(kind, self._client, self.writer, self.scheduler, name=name)

    def start_filtered_list(self, kind: type[Record], name: str, query: Callable[[], Mapping[str, str]]) -> None:
        """Start to poll a list with server filters, separately from the unfiltered list.

        Args:
            name: The kind under which the store keeps the records, so that no other list is mixed with it.
            query: Returns the filters as query parameters, for each read, because time ranges move.
        """
        if name not in self._continuations:
            self._continuations[name] = self._make_continuation(kind, name)
        self.scheduler.add(f"list {name}", JobPriority.SCREEN, lambda: self._list(kind, name, query()), is_asked=True)
        self.scheduler.run_soon(f"list {name}", is_asked=True)

    def stop_filtered_list(self, name: str) -> None:
        if (continuation := self._continuations.pop(name, None)) is not None:
            continuation.stop()
        self.scheduler.remove(f"list {name}")

    def refresh(self, kind: type[Record]) -> None:
        """Read a list again soon, even if reading had stopped, because something has changed it."""
        self._read_again(kind, is_asked=False)

    def ask(self, kind: type[Record]) -> None:
        """Read a list again now for the user, even if reading had stopped or a 429 holds reads back."""
        if is_listable(kind):
            self._client.gate.open(list_operation(kind).id)
        self._read_again(kind, is_asked=True)
        self.scheduler.ask_anyway()

    def _read_again(self, kind: type[Record], *, is_asked: bool) -> None:
        self.runs.ask_again()
        if kind in {Run, Receipt}:
            self.receipts.retry()
        if kind is Run:
            self.runs.start(is_asked=is_asked)
        elif kind is not Account and is_listable(kind):
            self._start_list(kind, is_asked=is_asked)
        if kind is Account or Account.KIND not in self.scheduler:
            self.scheduler.add(Account.KIND, JobPriority.SWEEP, self._account, is_asked=is_asked and kind is Account)
        self.scheduler.run_soon(Account.KIND if kind is Account else f"list {kind.KIND}", is_asked=is_asked)

    def limit_wait_s(self, job: str) -> float:
        """Return the seconds until the read of a job goes that the request limit delays; 0 if it delays none.

        Where the limit allows a read every few seconds, its short waits are not worth a word.
        """
        wait = self.scheduler.budget_wait_s(job)
        is_slowed = job == RunList.JOB and is_low(self.budget.limit_rpm)
        if is_slowed and (due_in_s := self.scheduler.due_in_s(job)) > 0:
            # The limit delays the sweep by a longer interval, and may delay it further at its end.
            wait = max(due_in_s, self.budget.background_wait_s(is_sweep=True))
        return wait if max(wait, self.budget.interval_s) >= SHOWN_WAIT_S else 0.0

    def tail_wait_s(self, run_id: str) -> float:
        """Return the seconds until the next read of a run's events that the request limit delays; 0 for no delay."""
        return self.limit_wait_s(f"tail {run_id}")

    def state(self, collection: Collection, interval_s: float, *, job: str = "") -> PaneState:
        """Return the state of a pane over a collection.

        Args:
            interval_s: The poll interval of the collection, in seconds.
            job: The job that reads it, to tell when that waits for the budget.
        """
        return pane_state(
            collection,
            now=self._clock.now(),
            monotonic=self._clock.monotonic(),
            interval_s=interval_s,
            hold_s=self.hold_s,
            budget_s=self.limit_wait_s(job),
            lost_since=self.connection.lost_since,
            came=self.connection.came,
            failures=self._store.failures(self._scope.profile),
        )

    async def _watch_connection(self) -> None:
        """While no request may be sent, look whether the service still accepts connections, which counts for no limit.

        Without this, a service that stops then would be shown as live for up to a minute.
        """
        while True:
            await self._clock.sleep(until_whole_second(self._clock, PROBE_S))
            if self.scheduler.has_hung(RunList.JOB):
                self.scheduler.add("answer", JobPriority.SWEEP, self._look_for_answer)
            if self.scheduler.is_resting or self._clock.monotonic() - self._heard_at < PROBE_S:
                continue
            if self.hold_s == 0 and self.budget.background_wait_s(is_sweep=True) == 0:
                continue
            is_open = await self._client.can_connect()
            if is_open is None:
                continue
            self.connection.note_connect(self._clock.now(), is_open=is_open)
            if is_open and self.connection.lost_since is not None:
                # Only a response says more; a service that is lost counts no requests.
                self.scheduler.run_soon("connection", is_asked=True)

    async def _look_for_answer(self) -> float | None:
        """Send reads that hang again if another request ends soon: only their connections may be dead."""
        if await wait_first(self._client.get_account(), self._clock.sleep(PROBE_S)) == 0:
            self.scheduler.resend_hung()
            return None
        return 0.0 if self.scheduler.has_hung(RunList.JOB) else None

    def _probe_soon(self, in_s: float) -> None:
        """Look for the service until it responds, more often than lists whose reads have failed."""
        self.scheduler.add("connection", JobPriority.SWEEP, self._probe, in_s=in_s, is_asked=not in_s)

    async def _probe(self) -> float | None:
        try:
            await self._client.get_account()
        except ApiError:
            # Any response has ended the search; the failure is in the journal.
            return None if self.connection.lost_since is None else PROBE_S
        return None

    async def _account(self) -> float | None:
        self.writer.start(Account.KIND, "GET /v1/account")
        try:
            account = await self._client.get_account()
        except ApiError as error:
            # Once a minute costs little, and a key that may not read its account may read everything else.
            failure = self.writer.failure(Account.KIND, error)
            self.writer.fail(Account.KIND, failure)
            return ACCOUNT_S if failure.kind in REPEATED_FAILURES else None
        self._take_account(account)
        return ACCOUNT_S

    def take_opening_account(self, account: Account) -> None:
        """Take the account that was read to open the session, if its limit is so low that a second read would hurt."""
        if account.quota is not None and is_low(account.quota.rate_limit_rpm):
            self._take_account(account)

    def _take_account(self, account: Account) -> None:
        self.writer.take_whole(Account.KIND, account)
        if account.quota is not None and account.quota.rate_limit_rpm:
            self.budget.publish(account.quota.rate_limit_rpm)

    async def _list(
        self, kind: type[Record], name: str | None = None, query: Mapping[str, str] = _NO_FILTER
    ) -> float | None:
        operation, name = list_operation(kind), name or kind.KIND
        self.writer.start(name, f"GET {operation.path}")
        # A list in one response is already complete; only a paged list gets a limit.
        limit = SWEEP_PAGE * SWEEP_PAGES if kind.WIRE is not None and kind.WIRE.paged else None
        continuation = self._continuations.get(name)
        try:
            page: Page[Record] | None = None
            intern = make_record_interner(
                lambda: self.writer.collection(name).by_id,
                lambda: self.writer.collection(kind.KIND).by_id,
            )
            async for part in self._client.pages(operation, query=query, limit=limit, intern=intern):
                if page is not None:
                    part.records[:0], part.values[:0] = page.records, page.values
                page = part
                if continuation is not None:
                    break
        except ApiError as error:
            failure = self.writer.failure(name, error)
            if kind is Receipt and (failure.is_final or failure.kind is FailureKind.NOT_OFFERED):
                self.receipts.start_watched()
            return self.writer.fail(name, failure)
        if page is not None:
            is_joined = continuation is not None and continuation.note_beginning(page.records, page, query)
            is_whole = continuation is None or page.next_cursor is None
            await self.writer.take(name, page.records, page, is_whole=is_whole, is_joined=is_joined)
            if continuation is not None and len(self.writer.collection(name).by_id) < AUTOMATIC_ROWS:
                continuation.go_on(SWEEP_PAGES - 1, is_asked=False)
        return self.intervals.lists_s
