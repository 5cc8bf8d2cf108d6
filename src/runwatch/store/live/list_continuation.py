"""The part of a list beyond what is polled: read page by page when the user gets there.

Only the beginning of a long list is polled. What was read after it stays in the store, and counts as the same list as
long as the polled part meets what was polled before, so that nothing can be missing in between.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from runwatch.api.client import PAGE_SIZE, Client
from runwatch.api.errors import ApiError
from runwatch.api.operations import list_operation
from runwatch.records.record import Page, Record
from runwatch.store.live.list_writer import ListWriter
from runwatch.store.live.scheduler import JobPriority, Scheduler
from runwatch.store.state.changes import read_failure_from_error


class ListContinuation:
    """Reads one list on from where its polled part ends.

    Args:
        kind: The kind of record.
    """

    def __init__(self, kind: type[Record], client: Client, writer: ListWriter, scheduler: Scheduler) -> None:
        self._kind = kind
        self._client = client
        self._writer = writer
        self._scheduler = scheduler
        self._newest: frozenset[str] = frozenset()
        self._cursor: str | None = None
        self._pages = 0

    @property
    def has_more(self) -> bool:
        """Whether the service has records after those read so far."""
        return self._cursor is not None

    def note_beginning(self, records: Collection[Record], page: Page[Any]) -> bool:
        """Note the polled part of the list, and return whether it joins what was polled before.

        Args:
            page: The last page of that part.
        """
        ids = frozenset(record.id for record in records)
        is_joined = bool(self._newest) and not self._newest.isdisjoint(ids)
        if not is_joined or page.next_cursor is None:
            self._cursor = page.next_cursor
        self._newest = ids
        return is_joined

    def go_on(self, pages: int = 1, *, is_asked: bool = True) -> None:
        """Read further pages; after the first one within the budget.

        Args:
            is_asked: Whether the user waits for the next page.
        """
        if not self.has_more:
            return
        self._pages = max(self._pages, pages)
        self._scheduler.add(self._job, JobPriority.SCREEN, self._read_page, is_asked=is_asked)

    def stop(self) -> None:
        """Stop reading on; what was read stays."""
        self._pages = 0
        self._scheduler.remove(self._job)

    async def _read_page(self) -> float | None:
        if self._cursor is None or not self._pages:
            return None
        try:
            page = await self._page(self._cursor)
        except ApiError as error:
            return self._writer.fail(self._kind.KIND, read_failure_from_error(error, collection=True))
        self._cursor = page.next_cursor
        self._pages = 0 if self._cursor is None else self._pages - 1
        self._writer.continue_list(
            self._kind.KIND, page.records, end_is_proven=page.end_is_proven and page.next_cursor is None
        )
        return 0.0 if self._pages else None

    async def _page(self, cursor: str) -> Page[Record]:
        """Read one page; a cursor that comes back ends the list."""
        asked = {"cursor": cursor}
        if self._kind.WIRE is not None and self._kind.WIRE.paged:
            asked["limit"] = str(PAGE_SIZE)
        page = await self._client.page(list_operation(self._kind), query=asked)
        if page.next_cursor == cursor:
            page.next_cursor = None
        return page

    @property
    def _job(self) -> str:
        return f"rest of list {self._kind.KIND}"
