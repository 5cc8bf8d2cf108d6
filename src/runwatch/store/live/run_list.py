"""The list of runs: its newest part with every live run, on every screen, and what the watch list adds to it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from runwatch.api.client import Client
from runwatch.api.errors import ApiError, ApiProblem
from runwatch.records.record import Page
from runwatch.records.run import Run
from runwatch.store.live.list_continuation import ListContinuation
from runwatch.store.live.list_writer import ListWriter
from runwatch.store.live.scheduler import JobPriority, Scheduler
from runwatch.store.repositories.scope import Scope
from runwatch.store.repositories.watch_list import WatchList
from runwatch.store.state.changes import ReadFailure, read_failure_from_error
from runwatch.store.state.failure_kind import PASSING_FAILURES, FailureKind

SWEEP_PAGE: Final = 100
SWEEP_PAGES: Final = 10
"""Maximum pages of a sweep, which goes on while the last run of a page is live."""

OLDER_S: Final = 5.0
"""How often the live runs beyond the swept pages are read."""

WATCHED_S: Final = 10.0
"""How often the watch list is read for a service without a list."""

_GONE: Final = frozenset({404, 410})
"""Status codes of a run that the service does not have."""


class RunList:
    """Reads the list of runs, and single runs where there is no list.

    Args:
        sweep_s: Returns the seconds between two sweeps.

    Attributes:
        continuation: The runs after the swept ones.
    """

    JOB: Final = "list run"
    _OLDER_JOB: Final = "older live runs"

    def __init__(
        self,
        client: Client,
        scope: Scope,
        watch: WatchList,
        writer: ListWriter,
        scheduler: Scheduler,
        sweep_s: Callable[[], float],
    ) -> None:
        self._client = client
        self._scope = scope
        self._watch = watch
        self._writer = writer
        self._scheduler = scheduler
        self._sweep_s = sweep_s
        self._swept: set[str] = set()
        self._after_swept: str | None = None
        # The live runs of this round beyond the swept ones that are not read yet, and the next page to find them on.
        self._sought: set[str] = set()
        self._older_cursor: str | None = None
        self._older_pages = 0
        # Runs that the service refused to return; read again only when the user asks.
        self._unknown: set[str] = set()
        self.continuation: Final = ListContinuation(Run, client, writer, scheduler)

    def start(self, *, is_asked: bool = False) -> None:
        """Sweep from now on, even if that had stopped."""
        self._scheduler.add(self.JOB, JobPriority.SWEEP, self._sweep, is_asked=is_asked)

    def ask_again(self) -> None:
        """Read single runs again that the service refused."""
        self._unknown.clear()

    async def _sweep(self) -> float | None:
        """Read the newest runs, as long as the last run of a page is live: older ones not known here may be live too.

        Known live runs further down are read by :meth:`_read_older`.
        """
        self._writer.start(Run.KIND, "GET /v1/executions")
        runs: dict[str, Run] = {}
        page: Page[Run] | None = None
        try:
            for _ in range(SWEEP_PAGES):
                query = {"limit": SWEEP_PAGE, "cursor": page.next_cursor if page else None}
                page = await self._client.page("getExecutions", query=query)
                runs |= {run.id: run for run in page.records}
                if page.next_cursor is None or not page.records or page.records[-1].is_final:
                    break
        except ApiError as error:
            return self._fail_sweep(self._writer.failure(Run.KIND, error))
        assert page is not None
        self._swept, self._after_swept = set(runs), page.next_cursor
        is_joined = self.continuation.note_beginning(runs.values(), page)
        is_whole = page.next_cursor is None
        await self._writer.take(Run.KIND, runs.values(), page, is_whole=is_whole, is_joined=is_joined)
        # The pages of a gap say the same of the runs on them.
        if not self.continuation.closes_gap and self._older_live() and self._OLDER_JOB not in self._scheduler:
            self._scheduler.add(self._OLDER_JOB, JobPriority.TAIL, self._read_older)
        return self._sweep_s()

    def _fail_sweep(self, failure: ReadFailure) -> float | None:
        again = self._writer.fail(Run.KIND, failure)
        if failure.kind is FailureKind.NOT_OFFERED:
            self._scheduler.add("watch list", JobPriority.SWEEP, self._read_watched)
        return again

    def _older_live(self) -> list[str]:
        """Return the live runs beyond the swept ones, the one that was read longest ago first."""
        known = self._writer.collection(Run.KIND).by_id
        older = [
            (stored.monotonic, run_id)
            for run_id, stored in known.items()
            if isinstance(stored.record, Run) and not stored.record.is_final and run_id not in self._swept
        ]
        return [run_id for _, run_id in sorted(older) if run_id not in self._unknown]

    async def _read_older(self) -> float | None:
        """Read one page of older runs, or one run; return the seconds until the next of these reads."""
        older = self._older_live()
        if not older:
            return None
        self._sought.intersection_update(older)
        if not self._sought:
            self._sought = set(older)
            self._older_cursor, self._older_pages = self._after_swept, self._pages_worth_reading(self._sought)
        if self._older_cursor is not None and self._older_pages > 0:
            is_read = await self._read_older_page(self._older_cursor)
            wait = 0.0
        else:
            run_id = next(run_id for run_id in older if run_id in self._sought)
            is_read = await self._read_run(run_id)
            self._sought.discard(run_id)
            wait = max(1.0, OLDER_S / len(older))
        if not is_read:
            self._sought.clear()
        return wait if self._sought else OLDER_S

    def _pages_worth_reading(self, run_ids: set[str]) -> int:
        """Return how many pages after the swept ones save most requests, if each of the other runs takes one.

        Below a gap the place of a run is not known.
        """
        pages = saved = seen = 0
        for place, run_id in enumerate(self._writer.collection(Run.KIND).by_id):
            if run_id in run_ids:
                seen += 1
                down_to = (place - len(self._swept)) // SWEEP_PAGE + 1
                if seen - down_to > saved:
                    pages, saved = down_to, seen - down_to
            if run_id == self.continuation.gap_after:
                break
        return pages

    async def _read_older_page(self, cursor: str) -> bool:
        """Read one page for what it says of runs known here; return whether others can be read now."""
        try:
            page = await self._client.page("getExecutions", query={"limit": SWEEP_PAGE, "cursor": cursor})
        except ApiError as error:
            # The sweep meets the same service, and shows the failure. A cursor may be refused where runs are not.
            self._older_pages = 0
            return read_failure_from_error(error, collection=False).kind not in PASSING_FAILURES
        known = self._writer.collection(Run.KIND).by_id
        self._writer.continue_list(Run.KIND, [run for run in page.records if run.id in known], job=self._OLDER_JOB)
        self._sought.difference_update(run.id for run in page.records)
        self._older_cursor, self._older_pages = page.next_cursor, self._older_pages - 1
        return True

    async def _read_watched(self) -> float:
        """Read the live runs of the watch list one by one, for a service without a list of runs."""
        for watched in await self._watch.list(self._scope):
            run = self._writer.collection(Run.KIND).find(Run, watched.run_id)
            is_over = run is not None and run.is_final
            if not is_over and watched.run_id not in self._unknown and not await self._read_run(watched.run_id):
                break
        return WATCHED_S

    async def _read_run(self, run_id: str) -> bool:
        """Read one run; return whether others can be read now. One that the service does not have leaves the list."""
        try:
            self._writer.take_record(await self._client.get_run(run_id))
        except ApiError as error:
            if read_failure_from_error(error, collection=False).kind in PASSING_FAILURES:
                return False
            self._unknown.add(run_id)
            if isinstance(error, ApiProblem) and error.status in _GONE and not error.is_synthetic:
                self._writer.drop_record(Run.KIND, run_id)
        return True
