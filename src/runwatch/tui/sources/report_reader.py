"""Reports that the service computes, read for one screen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from runwatch.records.record import Record
from runwatch.store.state.freshness import PaneState
from runwatch.tui.sources.row_sources import FILE_STATE
from runwatch.tui.sources.store_source import collection_state

if TYPE_CHECKING:
    from runwatch.store.live.report_poller import ReportPoller, ReportQuery
    from runwatch.store.session import ServiceSession
    from runwatch.store.state.collection import Collection
    from runwatch.tui.shell.console_screen import ConsoleScreen


class ReportReader:
    """The reports of the current profile that a screen shows; they are polled as long as it shows them."""

    def __init__(self, screen: ConsoleScreen) -> None:
        self._screen = screen
        self._poller: ReportPoller | None = None

    def show(self, *reports: ReportQuery) -> None:
        """Poll exactly these reports from now on, once connected."""
        session = self._screen.console.session
        if self._poller is None and session is not None:
            self._poller = make_report_poller(session)
        if self._poller is not None:
            self._poller.show(*reports)

    def refresh(self) -> None:
        if self._poller is not None:
            self._poller.refresh()

    def record(self, kind: str) -> Record | None:
        """Return the only record of a collection, once read."""
        return only_record(self._collection(kind))

    def state(self, kind: str, interval_s: float) -> PaneState:
        """Return the state of a collection that is read every ``interval_s`` seconds, unless a file is open."""
        console = self._screen.console
        if console.has_file:
            return FILE_STATE
        # Imported here, as the poller is.
        from runwatch.store.live.report_poller import name_report_job

        job = name_report_job(kind)
        return collection_state(console.clock, console.session, self._collection(kind), interval_s, job=job)

    def _collection(self, kind: str) -> Collection:
        console = self._screen.console
        return console.store.collection(console.profile_name, kind)


def make_report_poller(session: ServiceSession, **more: Any) -> ReportPoller:
    from runwatch.store.live.report_poller import ReportPoller

    return ReportPoller(session.client, session.live.writer, session.live.scheduler, session.clock, **more)


def only_record(collection: Collection) -> Record | None:
    return collection.records[0] if collection.records else None
