"""Poller of reports that the service computes, such as the usage of a period.

A report is read like a list: within the budget and repeatedly while a screen shows it. It is the only record of its own
collection, so its pane has every state of a list, and no query shows the response of another.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from runwatch.api.client import Client
from runwatch.api.errors import ApiError
from runwatch.api.operations import OPERATIONS
from runwatch.base.clock import Clock
from runwatch.records.record import Record
from runwatch.store.live.backoff import Backoff
from runwatch.store.live.list_writer import ListWriter
from runwatch.store.live.scheduler import JobPriority, Scheduler
from runwatch.store.state.changes import ReadFailure, read_failure_from_error
from runwatch.store.state.failure_kind import PASSING_FAILURES, FailureKind

REPORT_S: Final = 60.0
"""How often a shown report is read; the sums cost the service work."""


@dataclass(frozen=True, slots=True)
class ReportQuery:
    """One report and its parameters.

    Attributes:
        query: Query parameters, as pairs.
        path: Path parameters, as pairs.
        is_read_once: Whether it is read again only when the user asks for it.
    """

    operation: str
    record: type[Record]
    query: tuple[tuple[str, str], ...] = ()
    path: tuple[tuple[str, str], ...] = ()
    is_read_once: bool = False

    @property
    def kind(self) -> str:
        """Kind under which the store keeps the response."""
        return " ".join((self.record.KIND, *(value for _, value in (*self.path, *self.query))))


def name_response_collection(record: type[Record], record_id: str) -> str:
    """Return the kind under which the store keeps the response of an action that no list contains, such as a test."""
    return f"{record.KIND} {record_id}"


def name_report_job(kind: str, reader: str = "") -> str:
    """Return the name of the job that reads a report.

    Args:
        kind: The kind under which the store keeps it.
        reader: As for :class:`ReportPoller`.
    """
    return " ".join(part for part in ("report", reader, kind) if part)


class ReportPoller:
    """Polls the reports that a screen shows.

    Args:
        reader: Distinguishes the jobs of this poller from those of another of the same profile, which may end first.
    """

    def __init__(
        self, client: Client, writer: ListWriter, scheduler: Scheduler, clock: Clock, *, reader: str = ""
    ) -> None:
        self._client = client
        self._writer = writer
        self._scheduler = scheduler
        self._clock = clock
        self._reader = reader
        self._backoff = Backoff(clock)
        self._shown: set[ReportQuery] = set()

    def show(self, *reports: ReportQuery) -> None:
        """Poll exactly these reports from now on."""
        for gone in self._shown.difference(reports):
            self._scheduler.remove(self._job(gone))
        for new in [report for report in reports if report not in self._shown]:
            self._add(new)
        self._shown = set(reports)

    def refresh(self) -> None:
        """Read the shown reports again now for the user, even if reading had stopped or a 429 holds reads back."""
        self._scheduler.ask_anyway()
        for report in self._shown:
            if self._job(report) not in self._scheduler:
                self._add(report)
            self._scheduler.run_soon(self._job(report), is_asked=True)

    def _add(self, report: ReportQuery) -> None:
        """Read a report now for the user if it is not known, else when it is old enough to be read again."""
        read_at = self._writer.collection(report.kind).read_at
        age_s = REPORT_S if read_at is None else self._clock.monotonic() - read_at
        self._scheduler.add(
            self._job(report),
            JobPriority.SCREEN,
            lambda: self._read(report),
            in_s=0.0 if report.is_read_once else max(0.0, REPORT_S - age_s),
            is_asked=read_at is None,
        )

    async def _read(self, report: ReportQuery) -> float | None:
        operation = OPERATIONS[report.operation]
        self._writer.start(report.kind, f"{operation.method} {operation.path}")
        try:
            result = await self._client.request(operation, path=dict(report.path), query=dict(report.query))
        except ApiError as error:
            # A 404 with an id means that the record does not exist; without an id, that the report is not offered.
            return self._failed(report, read_failure_from_error(error, collection=not report.path))
        if not isinstance(result.value, dict):
            failure = ReadFailure(FailureKind.ERROR, "The answer is no report", "Check the base URL.")
            return self._failed(report, failure)
        self._backoff.reset()
        self._writer.take_whole(report.kind, report.record(result.value))
        return None if report.is_read_once else REPORT_S

    def _failed(self, report: ReportQuery, failure: ReadFailure) -> float | None:
        self._writer.fail(report.kind, failure)
        # Other failures would only be repeated by the same request.
        return self._backoff.next_s() if failure.kind in PASSING_FAILURES else None

    def _job(self, report: ReportQuery) -> str:
        return name_report_job(report.kind, self._reader)
