"""Receipts of single runs: of listed ones, because a list of runs names neither model nor cost, and of watched ones.

One read of the list of receipts, from the oldest run without one, answers for all listed runs. A service without that
list is asked for each receipt, once, and so is every service for the runs on the watch list while the receipts are on
screen. Unasked reads have the lowest priority of the request budget.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import islice
from typing import Final

from runwatch.api.client import Client
from runwatch.api.errors import ApiError
from runwatch.base.clock import Clock, format_iso
from runwatch.records.receipt import Receipt
from runwatch.records.run import Run
from runwatch.store.live.backoff import Backoff
from runwatch.store.live.list_writer import REPEATED_FAILURES, ListWriter, make_record_interner
from runwatch.store.live.scheduler import JobPriority, Scheduler
from runwatch.store.repositories.scope import Scope
from runwatch.store.repositories.watch_list import WatchList
from runwatch.store.state.changes import read_failure_from_error
from runwatch.store.state.collection import CollectionDelta
from runwatch.store.state.failure_kind import PASSING_FAILURES
from runwatch.store.state.store import Store

JOB: Final = "receipts of runs"

MAX_RUNS: Final = 500
"""Receipts are read for this many of the newest runs."""

MAX_SEARCHES: Final = 3
"""A receipt that was not found this often is read again only when the user asks."""

SEARCH_S: Final = 10.0
"""Seconds between two searches for the same receipts: a service may write them a little after the run has ended."""

WATCHED_S: Final = 10.0
"""How often the watch list is read for runs whose receipt is missing."""


class RunReceipts:
    """Reads the receipts of ended runs while a screen lists the runs, and of watched runs while it lists receipts."""

    def __init__(
        self,
        client: Client,
        scope: Scope,
        watch: WatchList,
        store: Store,
        writer: ListWriter,
        scheduler: Scheduler,
        clock: Clock,
    ) -> None:
        self._client = client
        self._scope = scope
        self._watch = watch
        self._store = store
        self._scheduler = scheduler
        self._writer = writer
        self._backoff = Backoff(clock)
        self._leave: Callable[[], None] | None = None
        self._searches: Counter[str] = Counter()
        self._has_list = True
        self._reads_watched = False

    def start(self) -> None:
        """Read missing receipts of listed runs now and whenever a run has ended."""
        if self._leave is None:
            self._leave = self._store.listen(self._handle_delta)
        self._read_missing()

    def stop(self) -> None:
        if self._leave is not None:
            self._leave()
            self._leave = None
        if not self._reads_watched:
            self._scheduler.remove(JOB)

    def start_watched(self) -> None:
        """Read missing receipts of the runs on the watch list, now and whenever one is added."""
        self._reads_watched = True
        self._scheduler.add(JOB, JobPriority.SCREEN, self._read)

    def stop_watched(self) -> None:
        self._reads_watched = False
        if self._leave is None:
            self._scheduler.remove(JOB)

    def retry(self) -> None:
        """Look again for receipts that were not found."""
        self._searches.clear()
        self._has_list = True
        if self._leave is not None:
            self._read_missing()
        self._scheduler.run_soon(JOB)

    def _handle_delta(self, delta: CollectionDelta) -> None:
        if delta.profile == self._scope.profile and delta.kind == Run.KIND and (delta.added or delta.changed):
            self._read_missing()

    def _read_missing(self) -> None:
        if JOB not in self._scheduler and self._missing():
            self._scheduler.add(JOB, JobPriority.TAIL, self._read)

    def _missing(self) -> list[Run]:
        """Return the listed runs that have ended without a receipt, the newest first."""
        if self._leave is None:
            return []
        profile = self._scope.profile
        known = self._store.collection(profile, Receipt.KIND).by_id
        runs = islice(self._store.collection(profile, Run.KIND).by_id.values(), MAX_RUNS)
        return [
            run
            for run in (stored.record for stored in runs)
            if isinstance(run, Run) and run.is_final and run.id not in known and self._searches[run.id] < MAX_SEARCHES
        ]

    async def _read(self) -> float | None:
        missing = self._missing()
        is_list = bool(missing) and self._has_list
        single = missing[0].id if missing else await self._next_watched()
        if not single:
            return self._idle_s
        try:
            again = await (self._read_list(missing) if is_list else self._read_one(single))
        except ApiError as error:
            failure = read_failure_from_error(error, collection=is_list)
            if not failure.is_final and failure.kind in (REPEATED_FAILURES if is_list else PASSING_FAILURES):
                return self._backoff.next_s()
            if is_list:
                self._has_list = False
            else:
                self._searches[single] = MAX_SEARCHES
            return 0.0
        self._backoff.reset()
        return again

    @property
    def _idle_s(self) -> float | None:
        """Seconds until the next read if no receipt is missing."""
        return WATCHED_S if self._reads_watched else None

    async def _next_watched(self) -> str:
        """Return a run of the watch list whose receipt is missing, or an empty text.

        A run that is not known may have ended long ago; a live one has no receipt yet.
        """
        if not self._reads_watched:
            return ""
        receipts = self._store.collection(self._scope.profile, Receipt.KIND).by_id
        for watched in await self._watch.list(self._scope):
            run = self._store.find(self._scope.profile, Run, watched.run_id)
            is_live = run is not None and not run.is_final
            if not is_live and watched.run_id not in receipts and self._searches[watched.run_id] < MAX_SEARCHES:
                return watched.run_id
        return ""

    async def _read_list(self, missing: Sequence[Run]) -> float | None:
        """Read the list from the oldest of these runs on, and count what was not found."""
        starts = [run.created_at for run in missing if run.created_at is not None]
        # Without all starts, only the whole list has all receipts.
        since = format_iso(min(starts)) if len(starts) == len(missing) else None
        intern = make_record_interner(lambda: self._writer.collection(Receipt.KIND).by_id)
        page = await self._client.page("getReceipts", query={"since": since}, intern=intern)
        # It says nothing of the end of the whole list.
        page.end_is_proven = False
        await self._writer.take(Receipt.KIND, page.records, page, is_whole=False, is_joined=True)
        self._searches.update(run.id for run in self._missing())
        return SEARCH_S if self._missing() else self._idle_s

    async def _read_one(self, run_id: str) -> float:
        self._writer.take_record(await self._client.get_receipt(run_id))
        return 0.0
