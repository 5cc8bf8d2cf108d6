"""Rows of a list: rendered from records, sorted and filtered.

A short list is updated at once. A long one is updated by workers in time slices while the screen shows the previous
rows; changes during that are processed afterwards. All rows are sorted, so that a filter only leaves some out, and what
it has found is in order at any time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from operator import indexOf
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from runwatch.base.generators import run_to_end
from runwatch.base.memory import free_in_slices
from runwatch.tui.core.time_slices import run_in_slices, run_row_steps
from runwatch.tui.core.workers import start_worker
from runwatch.view.spec.resource import ResourceSpec, SortKey
from runwatch.view.table.row_search import RowSearch
from runwatch.view.table.rows import (
    MAX_SYNC_ROWS,
    RecordRow,
    RowCache,
    RowRenderer,
    RowSteps,
    rebuild_rows,
    sort_rows,
)
from runwatch.view.text.format import RenderContext

if TYPE_CHECKING:
    from textual.dom import DOMNode
    from textual.timer import Timer
    from textual.worker import Worker

    from runwatch.view.query.expressions import Query

FILTER_AGAIN_S: Final = 10.0
"""How often to filter a long list again when only the time has changed, because ages grow."""

MAX_SYNC_SEARCH_ROWS: Final = 300
"""Up to this many rows are searched without yielding, even if what they say has to be made first."""

SCREENFUL_ROWS: Final = 50
"""This many rows that are found are shown while the search goes on."""

SHOW_FIRST_S: Final = 0.05
"""After how long they are shown; a search that takes less time only draws its result."""

SHOW_AGAIN_S: Final = 0.25
"""How often more of them are shown, and how long at most the rows of another filter stay."""

RESTS_FROM_S: Final = 0.25
"""Rows of changed records that took this long to make are made again only after a rest."""

REST_FACTOR: Final = 4.0
"""How long that rest is, as a multiple of the time they took: a list that is read page by page would else spend most of
its time on rows that the next page replaces.
"""

MAX_REST_S: Final = 5.0
"""Longest rest, also on a machine that is busy with something else."""

Rows = list[RecordRow[Any]]


class _Order(NamedTuple):
    """Inputs of the sorted rows; while they are the same, no sort is needed."""

    all_rows: Sequence[RecordRow[Any]]
    sort: tuple[SortKey, ...]

    def is_same(self, other: _Order | None) -> bool:
        return other is not None and self.all_rows is other.all_rows and self.sort == other.sort


class _Search(NamedTuple):
    """Inputs of the visible rows, and the rows once they are known; while the inputs are the same, no search is needed.

    Attributes:
        moment: The time of a filter whose matches change with it.
        found: In the order of all rows.
        ranked: The same, the best match first; ``None`` if they stay in the order of all rows.
    """

    ordered: Rows
    query: Query | None
    moment: float
    found: Rows
    ranked: Rows | None = None

    def is_same(self, other: _Search | None) -> bool:
        return other is not None and self.is_about(other) and self.moment == other.moment

    def is_about(self, other: _Search) -> bool:
        return self.ordered is other.ordered and self.query is other.query


class ListModel:
    """The rows of one list.

    Args:
        screen: The screen that shows them; its workers end with it.
        on_ready: Called when a worker has updated the rows.

    Attributes:
        all_rows: Unfiltered rows. The list object is reused until a row changes.
        shown_rows: Filtered and sorted rows; during a search those found so far. The list object is reused until a row
            changes.
    """

    def __init__(self, spec: ResourceSpec[Any], screen: DOMNode, on_ready: Callable[[], None]) -> None:
        self.drawing: RowRenderer[Any] = RowRenderer(spec, RenderContext(datetime.min.replace(tzinfo=UTC)))
        self.all_rows: Rows = []
        self.shown_rows: Rows = []
        self._spec = spec
        self._screen = screen
        self._on_ready = on_ready
        self._items: Sequence[Any] | None = None
        self._renewing: Sequence[Any] | None = None
        self._rests_until = 0.0
        self._rest: Timer | None = None
        self._earlier: Rows = []
        self._leaving: Rows = []
        self._ordered: Rows = []
        self._order: _Order | None = None
        self._usual: Rows = []
        self._usual_order: _Order | None = None
        self._ordering: _Order | None = None
        self._sort: tuple[SortKey, ...] = ()
        self._shown_sort: tuple[SortKey, ...] | None = None
        self._shown_search: _Search | None = None
        self._searched: _Search | None = None
        self._searching: _Search | None = None
        self._searcher: Worker[None] | None = None

    @property
    def records(self) -> Sequence[Any] | None:
        """The records whose rows are shown; ``None`` before the first."""
        return self._items

    @property
    def is_under_way(self) -> bool:
        """Whether a worker is rendering, sorting or searching while other rows are shown."""
        return self._renewing is not None or self._ordering is not None or self._searching is not None

    @property
    def work(self) -> Literal["sorting", "searching", ""]:
        """What a worker does to show another order or filter; empty if the rows shown have those asked for."""
        if not self.is_under_way or self._shown_search is None:
            return ""
        if self._shown_sort not in {None, self._sort}:
            return "sorting"
        wanted = self._searching
        if wanted is not None and (self._shown_search.query is not wanted.query or self._is_partial):
            return "searching"
        return ""

    @property
    def _is_partial(self) -> bool:
        return self._shown_search is not self._searched

    def take_over(self, kept: RowCache) -> None:
        """Reuse the rows that another screen kept of this list."""
        self.drawing, self._earlier = kept.drawing, kept.rows

    def release(self, before: RowCache | None) -> RowCache | None:
        """Release the rows when the screen closes, and return those to keep for the next screen with a long list.

        ``before`` are rows that the previous screen kept, which are not shown any more.
        """
        self._renewing = self._order = self._usual_order = self._ordering = None
        self._searched = self._searching = self._shown_search = None
        kept = before
        if len(self.all_rows) > MAX_SYNC_ROWS:
            kept = RowCache(self._spec.name, self.drawing, self.all_rows)
            self._leaving += [] if before is None else before.rows
        self.all_rows, self.shown_rows, self._ordered, self._usual = [], [], [], []
        self.free()
        return kept

    def is_made_of(self, items: Sequence[Any]) -> bool:
        """Whether the rows are those of these records, and no worker updates them."""
        return items is self._items and not self.is_under_way

    def set_records(self, items: Sequence[Any]) -> None:
        """Render the rows of these records if the records changed, those of a long list after a rest."""
        if items is self._items:
            # Newer ones that are under way have come too late for a list that was paused.
            self._renewing = None
            return
        if len(items) <= MAX_SYNC_ROWS:
            self._renewing = None
            self._take_rows(items, run_to_end(rebuild_rows(self.drawing, items, self.all_rows)))
        elif self._renewing is None:
            if (wait := self._rests_until - time.monotonic()) > 0:
                self._rest = self._rest or self._screen.set_timer(wait, self._end_rest)
                return
            self._renewing = items
            start_worker(self._screen, self._renew_in_steps(items), "making rows", group="rows", exclusive=True)

    def update_rows(
        self, query: Query | None, sort: tuple[SortKey, ...], now: float, near: RecordRow[Any] | None = None
    ) -> None:
        """Sort and filter again if rows, order, filter or time changed.

        Args:
            query: The filter, if any.
            sort: The order.
            now: Monotonic seconds. Ages grow, but a long list is not filtered again every second.
            near: The row at the cursor: rows near it are found first.
        """
        self._sort = sort
        self._update_order(_Order(self.all_rows, sort))
        moment = 0.0
        if query is not None and query.is_timed:
            moment = now if len(self._ordered) <= MAX_SYNC_SEARCH_ROWS else now // FILTER_AGAIN_S
        self._update_search(_Search(self._ordered, query, moment, []), near)

    def free(self) -> None:
        """Free the rows of a long list once they are no longer shown.

        The app's worker does it, because those of a closing screen end with it.
        """
        if self._leaving and not self.is_under_way:
            leaving, self._leaving = self._leaving, []
            start_worker(self._screen.app, free_in_slices(leaving), "freeing rows", group="freeing")

    def _end_rest(self) -> None:
        self._rest, self._rests_until = None, 0.0
        self._on_ready()

    async def _renew_in_steps(self, items: Sequence[Any]) -> None:
        begun = time.monotonic()
        earlier = self.all_rows or self._earlier
        try:
            rows = await run_row_steps(rebuild_rows(self.drawing, items, earlier), new=len(items) - len(earlier))
        except Exception:
            self._renewing = None
            raise
        self._earlier = []
        if self._renewing is items:
            self._renewing = None
            now = time.monotonic()
            if now - begun >= RESTS_FROM_S:
                self._rests_until = now + min(REST_FACTOR * (now - begun), MAX_REST_S)
            self._take_rows(items, rows)
            self._on_ready()

    def _take_rows(self, items: Sequence[Any], rows: list[RecordRow[Any]]) -> None:
        if len(self.all_rows) > MAX_SYNC_ROWS:
            self._leaving += self.all_rows
        self._items, self.all_rows = items, rows

    def _update_order(self, wanted: _Order) -> None:
        if wanted.is_same(self._order):
            self._ordering = None
        elif len(wanted.all_rows) <= MAX_SYNC_ROWS:
            self._ordered, self._order = run_to_end(self._order_rows(wanted)), wanted
            self._ordering = None
        elif self._ordering is None or wanted.sort != self._ordering.sort:
            self._ordering = wanted
            start_worker(self._screen, self._order_in_steps(wanted), "sorting", group="sorting", exclusive=True)

    async def _order_in_steps(self, wanted: _Order) -> None:
        try:
            rows = await run_row_steps(self._order_rows(wanted))
        except Exception:
            # Do not repeat this sort; the next different one is tried.
            self._order, self._ordering = wanted, None
            raise
        if self._ordering is wanted:
            self._ordered, self._order, self._ordering = rows, wanted, None
            self._on_ready()
            # A first search then has nothing left to do but to search.
            start_worker(
                self._screen,
                run_in_slices(rows, RecordRow.shared_text),
                "reading rows",
                group="reading",
                exclusive=True,
            )

    def _order_rows(self, wanted: _Order) -> RowSteps[Any]:
        """Sort rows; those of the same value stay in the usual order, which is found once for the same rows."""
        usual = _Order(wanted.all_rows, self._spec.sort)
        if not usual.is_same(self._usual_order):
            self._usual = yield from sort_rows(self._spec, wanted.all_rows, usual.sort)
            self._usual_order = usual
        if wanted.sort == usual.sort:
            return self._usual
        return (yield from sort_rows(self._spec, self._usual, wanted.sort))

    def _update_search(self, wanted: _Search, near: RecordRow[Any] | None) -> None:
        present, query = self._searched, wanted.query
        if wanted.is_same(present):
            self._stop_search()
            if present is not None:
                self._show(present)
            return
        if query is None:
            self._found(wanted, wanted.ordered)
            return
        rows = wanted.ordered
        if present is not None and present.ordered is rows and present.moment in {0.0, wanted.moment}:
            rows = present.found if present.query is not None and query.narrows(present.query) else rows
        if len(rows) <= MAX_SYNC_SEARCH_ROWS:
            search = RowSearch(rows, query)
            self._found(wanted, run_to_end(search.steps()), self._ranked(search, query))
        elif self._searching is None or not wanted.is_about(self._searching):
            self._searching = wanted
            known = self._known_matches(wanted)
            try:
                start = 0 if near is None else indexOf(rows, near)
            except ValueError:
                start = 0
            self._searcher = start_worker(
                self._screen,
                self._search_in_steps(wanted, RowSearch(rows, query, start, known)),
                "filtering",
                group="filtering",
                exclusive=True,
            )

    def _ranked(self, search: RowSearch, query: Query | None) -> Rows | None:
        """Return the rows found so far, the best match first, unless the user has chosen a column to sort by."""
        is_ranked = query is not None and query.is_ranked and self._sort == self._spec.sort
        return search.ranked() if is_ranked else None

    @property
    def is_ranked(self) -> bool:
        """Whether the best match is shown first."""
        return self._shown_search is not None and self._shown_search.ranked is not None

    def _found(self, wanted: _Search, rows: Rows, ranked: Rows | None = None) -> None:
        self._stop_search()
        self._searched = wanted._replace(found=rows, ranked=ranked)
        self._show(self._searched)

    def _show(self, search: _Search) -> None:
        self.shown_rows, self._shown_search = search.found if search.ranked is None else search.ranked, search
        self._shown_sort = None if self._order is None else self._order.sort

    def _known_matches(self, wanted: _Search) -> Rows:
        """Return the rows shown if each is certain to match: a word that gets shorter still finds them."""
        shown, query = self._shown_search, wanted.query
        if shown is None or shown.query is None or query is None or shown.ordered is not wanted.ordered:
            return []
        return shown.found if shown.moment in {0.0, wanted.moment} and shown.query.narrows(query) else []

    def _stop_search(self) -> None:
        if self._searching is not None:
            self._searching = None
            if self._searcher is not None:
                self._searcher.cancel()

    async def _search_in_steps(self, wanted: _Search, search: RowSearch) -> None:
        # A filter that is already shown, on rows that changed, is shown again once it is complete.
        is_new = self._searched is None or wanted.query is not self._searched.query
        begun, shown = time.monotonic(), search.count
        show_at, replace_at = begun + SHOW_FIRST_S, None if shown else begun + SHOW_AGAIN_S

        def show_some() -> None:
            nonlocal show_at, replace_at, shown
            now = time.monotonic()
            is_due = now >= show_at and search.count >= shown + SCREENFUL_ROWS
            if is_new and (is_due or (replace_at is not None and now >= replace_at)):
                show_at, replace_at, shown = now + SHOW_AGAIN_S, None, search.count
                self._show(wanted._replace(found=search.found(), ranked=self._ranked(search, wanted.query)))
                self._on_ready()

        try:
            rows = await run_row_steps(search.steps(), paused=show_some)
        except Exception:
            # Do not repeat this search; the next different one is tried.
            self._searched, self._searching = wanted, None
            raise
        if self._searching is wanted:
            self._searching = None
            self._found(wanted, rows, self._ranked(search, wanted.query))
            self._on_ready()
