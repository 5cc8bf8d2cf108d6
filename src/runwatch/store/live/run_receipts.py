"""Receipts of the listed runs, read unasked: a list of runs names neither model nor cost.

One read of the list of receipts, from the oldest run without one, answers for all runs. A service without that list is
asked for each receipt, once. These reads have the lowest priority of the request budget.
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
from runwatch.store.live.list_writer import PASSING_FAILURES
from runwatch.store.live.scheduler import JobPriority, Scheduler
from runwatch.store.repositories.scope import Scope
from runwatch.store.state.changes import ListRead, RecordRead, read_failure_from_error
from runwatch.store.state.collection import CollectionDelta
from runwatch.store.state.store import Store

JOB: Final = "receipts of runs"

MAX_RUNS: Final = 500
"""Receipts are read for this many of the newest runs."""

MAX_SEARCHES: Final = 3
"""A receipt that was not found this often is read again only when the user asks."""

SEARCH_S: Final = 10.0
"""Seconds between two searches for the same receipts: a service may write them a little after the run has ended."""


class RunReceipts:
    """Reads the receipts of ended runs while a screen lists the runs."""

    def __init__(self, client: Client, scope: Scope, store: Store, scheduler: Scheduler, *, clock: Clock) -> None:
        self._client = client
        self._scope = scope
        self._store = store
        self._scheduler = scheduler
        self._clock = clock
        self._backoff = Backoff(clock)
        self._leave: Callable[[], None] | None = None
        self._searches: Counter[str] = Counter()
        self._has_list = True

    def start(self) -> None:
        """Read missing receipts now and whenever a run has ended."""
        if self._leave is None:
            self._leave = self._store.listen(self._note_delta)
        self._read_missing()

    def stop(self) -> None:
        if self._leave is not None:
            self._leave()
            self._leave = None
        self._scheduler.remove(JOB)

    def retry(self) -> None:
        """Look again for receipts that were not found."""
        self._searches.clear()
        self._has_list = True
        if self._leave is not None:
            self._read_missing()

    def _note_delta(self, delta: CollectionDelta) -> None:
        if delta.profile == self._scope.profile and delta.kind == Run.KIND and (delta.added or delta.changed):
            self._read_missing()

    def _read_missing(self) -> None:
        if JOB not in self._scheduler and self._missing():
            self._scheduler.add(JOB, JobPriority.TAIL, self._read)

    def _missing(self) -> list[Run]:
        """Return the ended runs without a receipt, the newest first."""
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
        if not missing:
            return None
        try:
            again = await (self._read_list(missing) if self._has_list else self._read_one(missing[0].id))
        except ApiError as error:
            trouble = read_failure_from_error(error, collection=self._has_list).trouble
            if trouble in PASSING_FAILURES:
                return self._backoff.next_s()
            if self._has_list:
                self._has_list = False
            else:
                self._searches[missing[0].id] = MAX_SEARCHES
            return 0.0
        self._backoff.reset()
        return again

    async def _read_list(self, missing: Sequence[Run]) -> float | None:
        """Read the list from the oldest of these runs on, and count what was not found."""
        starts = [run.created_at for run in missing if run.created_at is not None]
        # Without all starts, only the whole list has all receipts.
        since = format_iso(min(starts)) if len(starts) == len(missing) else None
        page = await self._client.list_receipts(since=since)
        collection = self._store.collection(self._scope.profile, Receipt.KIND)
        await self._store.apply_in_steps(
            ListRead(
                self._scope.profile,
                Receipt.KIND,
                self._clock.now(),
                self._clock.monotonic(),
                tuple(page.records),
                complete=False,
                end_is_proven=collection.end_is_proven,
                misfits=page.misfits,
            )
        )
        left = self._missing()
        self._searches.update(run.id for run in left)
        return SEARCH_S if self._missing() else None

    async def _read_one(self, run_id: str) -> float:
        receipt = await self._client.get_receipt(run_id)
        now, monotonic = self._clock.now(), self._clock.monotonic()
        self._store.apply(RecordRead(self._scope.profile, Receipt.KIND, now, monotonic, receipt))
        return 0.0
