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
from runwatch.store.state.failure_kind import FailureKind

SWEEP_PAGE: Final = 100
SWEEP_PAGES: Final = 10
"""Maximum pages of a sweep, which goes on while the last run of a page is live."""

OLDER_S: Final = 15.0
"""How often a live run beyond the swept pages is read on its own."""

WATCHED_S: Final = 10.0
"""How often the watch list is read for a service without a list."""

_PASSING: Final = frozenset({FailureKind.OFFLINE, FailureKind.RATE_LIMITED})


class RunList:
    """Reads the list of runs, and single runs where there is no list.

    Args:
        sweep_s: Returns the seconds between two sweeps.

    Attributes:
        rest: The runs after the swept ones.
    """

    JOB: Final = "list run"

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
        # Runs that the service refused to return; read again only when the user asks.
        self._unknown: set[str] = set()
        self.rest: Final = ListContinuation(Run, client, writer, scheduler)

    def start(self, *, is_asked: bool = False) -> None:
        """Sweep from now on, even if that had stopped."""
        self._scheduler.add(self.JOB, JobPriority.SWEEP, self._sweep, is_asked=is_asked)

    def ask_again(self) -> None:
        """Read single runs again that the service refused."""
        self._unknown.clear()

    async def _sweep(self) -> float | None:
        """Read the newest runs, as long as the last run of a page is live: older ones not known here may be live too.

        A live run that is known and further down is read on its own.
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
        self._swept = set(runs)
        is_joined = self.rest.note_beginning(runs.values(), page)
        is_whole = page.next_cursor is None
        await self._writer.take(Run.KIND, runs.values(), page, is_whole=is_whole, is_joined=is_joined)
        if self._older_live():
            self._scheduler.add("older live runs", JobPriority.TAIL, self._read_older)
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
        older = self._older_live()
        if not older:
            return None
        return OLDER_S if not await self._read_run(older[0]) else max(1.0, OLDER_S / len(older))

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
            if read_failure_from_error(error, collection=False).kind in _PASSING:
                return False
            self._unknown.add(run_id)
            if isinstance(error, ApiProblem) and error.code == "not_found":
                self._writer.drop_record(Run.KIND, run_id)
        return True
