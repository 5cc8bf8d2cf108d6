"""The part of a list beyond what is polled: read page by page when the user gets there, or looks for something.

Only the beginning of a long list is polled. What was read after it stays in the store, and counts as the same list as
long as the polled part meets what was polled before, so that nothing can be missing in between. After more new records
than the polled part holds, there is a gap between both, which is read by itself.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from runwatch.api.client import PAGE_SIZE, Client
from runwatch.api.errors import ApiError
from runwatch.api.operations import list_operation
from runwatch.records.record import Page, Record, RecordPacker
from runwatch.store.live.list_writer import ListWriter
from runwatch.store.live.scheduler import JobPriority, Scheduler
from runwatch.store.state.changes import read_failure_from_error
from runwatch.store.state.failure_kind import PASSING_FAILURES

JOINED_BY: Final = 1_000
"""This many records at the beginning of a list tell whether it joins what was polled before."""

GAP_PAGES: Final = 20
"""This many pages of a gap are read without being asked, and as many more each time the user gets there."""

_NO_FILTER: Final[Mapping[str, str]] = {}


@dataclass(slots=True)
class _ResumePoint:
    """Where a list goes on: after its last record read, or in a gap between two parts of it.

    Attributes:
        cursor: The service's cursor of the next page.
        query: The filter that belongs to the cursor: times in it move on, and a service may refuse the cursor with
            another.
        after: Id of the last record above a gap; empty at the end of what was read.
        below: Ids below a gap, which end it; empty at the end of what was read.
        end_is_proven: Whether the number of records is the total once the gap is closed.
        pages: How many more pages of the gap are read without being asked.
        is_above_cache: Whether the records below the gap are from disk, so that the list goes on right after the gap.
    """

    cursor: str
    query: Mapping[str, str]
    after: str = ""
    below: frozenset[str] = frozenset()
    end_is_proven: bool = False
    pages: int = 0
    is_above_cache: bool = False


class ListContinuation:
    """Reads one list on from where its polled part ends.

    Args:
        name: The kind under which the store keeps a list that the service filters; empty for the whole list.

    Attributes:
        total: Number of records of the list, where the service says it.
    """

    def __init__(
        self, kind: type[Record], client: Client, writer: ListWriter, scheduler: Scheduler, *, name: str = ""
    ) -> None:
        self._kind = kind
        self._name = name or kind.KIND
        self._client = client
        self._writer = writer
        self._scheduler = scheduler
        self._packer = RecordPacker(kind)
        self._newest: frozenset[str] = frozenset()
        # From the oldest to the newest: the end of what was read, then the gaps.
        self._resume_points: list[_ResumePoint] = []
        self._pages = 0
        self._has_begun = False
        self.total: int | None = None

    @property
    def has_more(self) -> bool:
        """Whether the service has records after those read so far."""
        return bool(self._resume_points)

    @property
    def is_reading(self) -> bool:
        """Whether further pages are being read or wait for their turn."""
        return self._wanted > 0

    @property
    def has_gap(self) -> bool:
        """Whether records are missing between some that are held."""
        return self.gap_after != ""

    @property
    def closes_gap(self) -> bool:
        """Whether a gap is read without being asked."""
        return self.has_gap and self._resume_points[-1].pages > 0

    @property
    def gap_after(self) -> str:
        """Id of the last record above the newest gap; empty without one."""
        return self._resume_points[-1].after if self._resume_points else ""

    def note_beginning(self, records: Iterable[Record], page: Page[Any], query: Mapping[str, str] = _NO_FILTER) -> bool:
        """Note the polled part of the list, and return whether it joins what was polled before.

        Args:
            page: The last page of that part.
            query: The filter that was sent.
        """
        ids = [record.id for record in islice(records, JOINED_BY)]
        is_joined = not self._newest.isdisjoint(ids)
        if page.next_cursor is None:
            self._resume_points = []
        elif not is_joined:
            self._open_gap(_ResumePoint(page.next_cursor, query), ids)
        self._newest, self._has_begun = frozenset(ids), True
        self._note_total(page)
        if not self._resume_points:
            self._pages = 0
        elif self._wanted and self._job not in self._scheduler:
            self._scheduler.add(self._job, JobPriority.SCREEN if self._pages else JobPriority.TAIL, self._read_page)
        return is_joined

    def _open_gap(self, point: _ResumePoint, ids: Sequence[str]) -> None:
        """Go on after a beginning that does not meet what was polled before, if anything was."""
        collection = self._writer.collection(self._name)
        if self._name != self._kind.KIND:
            # Any record may leave a filtered list, so that a beginning of others is no gap.
            below = frozenset[str]()
        elif self._has_begun:
            below = self._newest
        else:
            below = frozenset(islice(collection.by_id, JOINED_BY)) if collection.cached_at else frozenset()
        if not self._has_begun or not below:
            self._resume_points = []
        if ids and below and below.isdisjoint(ids):
            point.after, point.below, point.pages = ids[-1], below, GAP_PAGES
            point.end_is_proven, point.is_above_cache = collection.end_is_proven, not self._has_begun
        self._resume_points.append(point)

    def go_on(self, pages: int = 1, *, is_asked: bool = True) -> None:
        """Read further pages, once the beginning is known; after the first one within the budget.

        Args:
            is_asked: Whether the user waits for the next page.
        """
        if self.has_more or not self._has_begun:
            self._pages = max(self._pages, pages)
        if self.has_more:
            self._scheduler.add(self._job, JobPriority.SCREEN, self._read_page, is_asked=is_asked)

    def reach(self, record_id: str, *, is_last: bool) -> None:
        """Read on where the user gets to: more of a gap beside a record, or the next page after the last one."""
        if self.has_gap and (record_id == self.gap_after or record_id in self._resume_points[-1].below):
            self.go_on(GAP_PAGES)
        elif is_last:
            self.go_on()

    def go_to_end(self) -> None:
        """Read all further pages for the user, after the first one within the budget."""
        self.go_on(sys.maxsize)

    def stop(self) -> None:
        """Stop reading on; what was read stays."""
        self._pages = 0
        self._scheduler.remove(self._job)

    @property
    def _wanted(self) -> int:
        """How many more pages are to be read: for the user, or of the newest gap."""
        return max(self._pages, self._resume_points[-1].pages) if self._resume_points else 0

    async def _read_page(self) -> float | None:
        if not self._wanted:
            return None
        point = self._resume_points[-1]
        try:
            page = await self._page(point)
        except ApiError as error:
            failure = read_failure_from_error(error, collection=False)
            again = self._writer.fail(self._name, failure, job=self._job)
            if failure.kind in PASSING_FAILURES:
                return again
            self._pages = point.pages = 0
            return None
        if not self._resume_points or self._resume_points[-1] is not point:
            # Meanwhile the beginning has moved away from what was read before, and the list goes on from there.
            return 0.0
        is_closed = not point.below.isdisjoint(record.id for record in page.records)
        end_is_proven = page.end_is_proven if page.next_cursor is None else is_closed and point.end_is_proven
        after = point.after
        if page.next_cursor is None:
            self._resume_points = []
        elif is_closed:
            self._resume_points[-1:] = [_ResumePoint(page.next_cursor, point.query)] if point.is_above_cache else []
        else:
            point.cursor = page.next_cursor
            if point.after and page.records:
                point.after = page.records[-1].id
        if point.pages:
            point.pages -= 1
        else:
            self._pages = self._pages - 1 if self._resume_points else 0
        self._note_total(page)
        self._writer.continue_list(self._name, page.records, job=self._job, after=after, end_is_proven=end_is_proven)
        return 0.0 if self._wanted else None

    def _note_total(self, page: Page[Any]) -> None:
        total = page.extra.get("total")
        self.total = total if isinstance(total, int) and not isinstance(total, bool) else None

    async def _page(self, point: _ResumePoint) -> Page[Record]:
        """Read one page; a cursor that comes back ends the list."""
        asked = {**point.query, "cursor": point.cursor}
        if self._kind.WIRE is not None and self._kind.WIRE.paged:
            asked["limit"] = str(PAGE_SIZE)
        page = await self._client.page(list_operation(self._kind), query=asked)
        if page.next_cursor == point.cursor:
            page.next_cursor = None
        # A list that is read on may become as long as the service has records, and all of them stay.
        self._packer.pack(page.records)
        return page

    @property
    def _job(self) -> str:
        return f"rest of list {self._name}"
