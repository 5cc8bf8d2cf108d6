"""Search of the rows of a list, nearest to the cursor first, in time slices."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, Final

from runwatch.view.table.rows import RecordRow

if TYPE_CHECKING:
    from runwatch.view.query.expressions import Query

SEARCHED: Final = 50
"""Number of rows searched per time slice; takes a few milliseconds even if none of them has been searched before."""


class RowSearch:
    """Finds the rows that match a filter.

    Args:
        near: Index of the row from which to search in both directions.
    """

    def __init__(self, rows: Sequence[RecordRow[Any]], query: Query, near: int = 0) -> None:
        self._rows = rows
        self._query = query
        self._near = near
        self._above: list[list[RecordRow[Any]]] = []
        self._below: list[RecordRow[Any]] = []
        self.count = 0
        """Number of rows found so far."""

    def found(self) -> list[RecordRow[Any]]:
        """Return the rows found so far, in the order of all rows."""
        return [*chain.from_iterable(reversed(self._above)), *self._below]

    def steps(self) -> Generator[None, None, list[RecordRow[Any]]]:
        """Search in steps of :data:`SEARCHED` rows and return the rows found."""
        rows, keep = self._rows, self._query.keep
        low = high = self._near
        while low > 0 or high < len(rows):
            if high < len(rows):
                part = keep(rows[high : high + SEARCHED])
                high += SEARCHED
                self._below += part
                self.count += len(part)
                yield
            if low > 0:
                part = keep(rows[max(0, low - SEARCHED) : low])
                low -= SEARCHED
                self._above.append(part)
                self.count += len(part)
                yield
        return self.found()
