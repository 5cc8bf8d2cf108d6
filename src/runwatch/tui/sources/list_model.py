"""Rows of a list: rendered from records, filtered and sorted.

A short list is updated at once. A long one is updated by a worker in time slices while the screen shows the previous
rows; changes during that are processed afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from runwatch.base.generators import run_to_end
from runwatch.base.memory import free_in_slices
from runwatch.tui.core.time_slices import run_row_steps
from runwatch.tui.core.workers import start_worker
from runwatch.view.spec.resource import ResourceSpec, SortKey
from runwatch.view.table.rows import (
    MAX_SYNC_ROWS,
    RecordRow,
    RowCache,
    RowRenderer,
    RowSteps,
    filter_and_sort,
    rebuild_rows,
)
from runwatch.view.text.format import RenderContext

if TYPE_CHECKING:
    from textual.dom import DOMNode

    from runwatch.view.query.expressions import Query

AGE_REFRESH_S: Final = 10.0
"""How often to filter a long list again when only the time has changed, because ages grow."""


class _Order(NamedTuple):
    """Inputs of the visible rows; while they are the same, no update is needed."""

    every: Sequence[RecordRow[Any]]
    query: Query | None
    sort: tuple[SortKey, ...]
    moment: float


class ListModel:
    """The rows of one list.

    Args:
        spec: The resource.
        screen: The screen that shows them; its workers end with it.
        on_ready: Called when a worker has updated the rows.

    Attributes:
        drawing: Renders the cells of all rows.
        every: Unfiltered rows. The list object is reused until a row changes.
        shown: Filtered and sorted rows. The list object is reused until a row changes.
    """

    def __init__(self, spec: ResourceSpec[Any], screen: DOMNode, on_ready: Callable[[], None]) -> None:
        self.drawing: RowRenderer[Any] = RowRenderer(spec, RenderContext(datetime.min.replace(tzinfo=UTC)))
        self.every: list[RecordRow[Any]] = []
        self.shown: list[RecordRow[Any]] = []
        self._spec = spec
        self._screen = screen
        self._on_ready = on_ready
        self._items: Sequence[Any] | None = None
        self._renewing: Sequence[Any] | None = None
        self._earlier: list[RecordRow[Any]] = []
        self._leaving: list[RecordRow[Any]] = []
        self._arranged: _Order | None = None
        self._arranging: _Order | None = None

    @property
    def is_under_way(self) -> bool:
        """Whether a worker is rendering, filtering or sorting while previous rows are shown."""
        return self._renewing is not None or self._arranging is not None

    def take_over(self, kept: RowCache) -> None:
        """Reuse the rows that another screen kept of this list."""
        self.drawing, self._earlier = kept.drawing, kept.rows

    def release(self, before: RowCache | None) -> RowCache | None:
        """Release the rows when the screen closes.

        Args:
            before: Rows kept by the previous screen, no longer shown.

        Returns:
            The rows to keep for the next screen with a long list.
        """
        self._renewing = self._arranging = self._arranged = None
        kept = before
        if len(self.every) > MAX_SYNC_ROWS:
            kept = RowCache(self._spec.name, self.drawing, self.every)
            self._leaving += [] if before is None else before.rows
        self.every, self.shown = [], []
        self.free()
        return kept

    def set_records(self, items: Sequence[Any]) -> None:
        """Render the rows of these records if the records changed."""
        if items is self._items:
            return
        if len(items) <= MAX_SYNC_ROWS:
            self._renewing = None
            self._take_rows(items, run_to_end(rebuild_rows(self.drawing, items, self.every)))
        elif self._renewing is None:
            self._renewing = items
            start_worker(self._screen, self._renew_in_steps(items), "making rows", group="rows", exclusive=True)

    def update_rows(self, query: Query | None, sort: tuple[SortKey, ...], now: float) -> None:
        """Filter and sort again if rows, filter, order or time changed.

        Args:
            query: The filter, if any.
            sort: The order.
            now: Monotonic seconds. Ages grow, but a long list is not filtered again every second.
        """
        is_short = len(self.every) <= MAX_SYNC_ROWS
        moment = 0.0 if query is None else now if is_short else now // AGE_REFRESH_S
        wanted = _Order(self.every, query, sort, moment)
        if _is_same(wanted, self._arranged):
            return
        if is_short:
            self.shown, self._arranged, self._arranging = run_to_end(self._steps(wanted)), wanted, None
        elif self._arranging is None or (wanted.query, wanted.sort) != (self._arranging.query, self._arranging.sort):
            self._arranging = wanted
            start_worker(self._screen, self._arrange_in_steps(wanted), "sorting", group="arrange", exclusive=True)

    def free(self) -> None:
        """Free the rows of a long list once they are no longer shown.

        The app's worker does it, because those of a closing screen end with it.
        """
        if self._leaving and not self.is_under_way:
            leaving, self._leaving = self._leaving, []
            start_worker(self._screen.app, free_in_slices(leaving), "freeing rows", group="freeing")

    # Internals.

    async def _renew_in_steps(self, items: Sequence[Any]) -> None:
        earlier = self.every or self._earlier
        try:
            rows = await run_row_steps(rebuild_rows(self.drawing, items, earlier), new=len(items) - len(earlier))
        except Exception:
            self._renewing = None
            raise
        self._earlier = []
        if self._renewing is items:
            self._renewing = None
            self._take_rows(items, rows)
            self._on_ready()

    def _take_rows(self, items: Sequence[Any], rows: list[RecordRow[Any]]) -> None:
        if len(self.every) > MAX_SYNC_ROWS:
            self._leaving += self.every
        self._items, self.every = items, rows

    async def _arrange_in_steps(self, wanted: _Order) -> None:
        try:
            rows = await run_row_steps(self._steps(wanted))
        except Exception:
            # Do not repeat this update; the next different one is tried.
            self._arranged, self._arranging = wanted, None
            raise
        if self._arranging is wanted:
            self.shown, self._arranged, self._arranging = rows, wanted, None
            self._on_ready()

    def _steps(self, wanted: _Order) -> RowSteps[Any]:
        return filter_and_sort(self._spec, wanted.every, wanted.sort, wanted.query.matches if wanted.query else None)


def _is_same(wanted: _Order, present: _Order | None) -> bool:
    return (
        present is not None
        and wanted.every is present.every
        and wanted.query is present.query
        and wanted.sort is present.sort
        and wanted.moment == present.moment
    )
