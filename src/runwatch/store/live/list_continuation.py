"""The part of a list beyond what is polled: read page by page when the user gets there, or looks for something.

Only the beginning of a long list is polled. What was read after it stays in the store, and counts as the same list as
long as the polled part meets what was polled before, so that nothing can be missing in between.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any, Final

from runwatch.api.client import PAGE_SIZE, Client
from runwatch.api.errors import ApiError
from runwatch.api.operations import list_operation
from runwatch.records.record import Page, Record
from runwatch.store.live.list_writer import ListWriter
from runwatch.store.live.scheduler import JobPriority, Scheduler
from runwatch.store.state.failure_kind import FailureKind

JOINED_BY: Final = 1_000
"""So many records at the beginning of a list tell whether it joins what was polled before."""

_NO_FILTER: Final[Mapping[str, str]] = {}

_PASSING: Final = frozenset({FailureKind.OFFLINE, FailureKind.RATE_LIMITED})
"""Failures after which the same page is read again; a cursor that the service refuses is not asked for twice."""


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
        self._newest: frozenset[str] = frozenset()
        self._cursor: str | None = None
        # The filter that belongs to the cursor: times in it move on, and a service may refuse the cursor with another.
        self._query = _NO_FILTER
        self._pages = 0
        self._has_begun = False
        self.total: int | None = None

    @property
    def has_more(self) -> bool:
        """Whether the service has records after those read so far."""
        return self._cursor is not None

    @property
    def is_reading(self) -> bool:
        """Whether further pages are being read or wait for their turn."""
        return self._pages > 0 and self.has_more

    def note_beginning(self, records: Iterable[Record], page: Page[Any], query: Mapping[str, str] = _NO_FILTER) -> bool:
        """Note the polled part of the list, and return whether it joins what was polled before.

        Args:
            page: The last page of that part.
            query: The filter that was sent.
        """
        ids = frozenset(record.id for record in islice(records, JOINED_BY))
        is_joined = bool(self._newest) and not self._newest.isdisjoint(ids)
        if not is_joined or page.next_cursor is None:
            self._cursor, self._query = page.next_cursor, query
        self._newest, self._has_begun = ids, True
        self._note_total(page)
        if self._cursor is None:
            self._pages = 0
        elif self._pages and self._job not in self._scheduler:
            self._scheduler.add(self._job, JobPriority.SCREEN, self._read_page)
        return is_joined

    def go_on(self, pages: int = 1, *, is_asked: bool = True) -> None:
        """Read further pages, once the beginning is known; after the first one within the budget.

        Args:
            is_asked: Whether the user waits for the next page.
        """
        if self.has_more or not self._has_begun:
            self._pages = max(self._pages, pages)
        if self.has_more:
            self._scheduler.add(self._job, JobPriority.SCREEN, self._read_page, is_asked=is_asked)

    def go_to_end(self) -> None:
        """Read all further pages for the user, after the first one within the budget."""
        self.go_on(sys.maxsize)

    def stop(self) -> None:
        """Stop reading on; what was read stays."""
        self._pages = 0
        self._scheduler.remove(self._job)

    async def _read_page(self) -> float | None:
        cursor = self._cursor
        if cursor is None or not self._pages:
            return None
        try:
            page = await self._page(cursor)
        except ApiError as error:
            failure = self._writer.failure(self._name, error)
            again = self._writer.fail(self._name, failure, job=self._job)
            if failure.kind in _PASSING:
                return again
            self._pages = 0
            return None
        if self._cursor != cursor:
            # Meanwhile the beginning has moved away from what was read before, and the list goes on from there.
            return 0.0
        self._cursor = page.next_cursor
        self._pages = 0 if self._cursor is None else self._pages - 1
        self._note_total(page)
        end_is_proven = page.end_is_proven and page.next_cursor is None
        self._writer.continue_list(self._name, page.records, job=self._job, end_is_proven=end_is_proven)
        return 0.0 if self._pages else None

    def _note_total(self, page: Page[Any]) -> None:
        total = page.extra.get("total")
        self.total = total if isinstance(total, int) and not isinstance(total, bool) else None

    async def _page(self, cursor: str) -> Page[Record]:
        """Read one page; a cursor that comes back ends the list."""
        asked = {**self._query, "cursor": cursor}
        if self._kind.WIRE is not None and self._kind.WIRE.paged:
            asked["limit"] = str(PAGE_SIZE)
        page = await self._client.page(list_operation(self._kind), query=asked)
        if page.next_cursor == cursor:
            page.next_cursor = None
        return page

    @property
    def _job(self) -> str:
        return f"rest of list {self._name}"
