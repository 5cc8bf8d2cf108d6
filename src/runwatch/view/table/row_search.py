"""Search of the rows of a list, nearest to the cursor first, in time slices."""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Generator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, Final

from runwatch.view.table.rows import RecordRow

if TYPE_CHECKING:
    from runwatch.view.query.expressions import Query, Rank

SEARCH_STEP_ROWS: Final = 50
"""Number of rows searched per time slice; takes a few milliseconds even if none of them has been searched before."""


class RowSearch:
    """Finds the rows that match a filter.

    Args:
        near: Index of the row from which to search in both directions.
        known: Rows that are certain to match, in the order of all rows; they count as found from the beginning. They
            are not used if the row at ``near`` is none of them.
    """

    def __init__(
        self, rows: Sequence[RecordRow[Any]], query: Query, near: int = 0, known: Sequence[RecordRow[Any]] = ()
    ) -> None:
        self._rows = rows
        self._query = query
        self._is_ranked = query.is_ranked
        self._near = near
        self._above: list[list[RecordRow[Any]]] = []
        self._below: list[RecordRow[Any]] = []
        self._searched = 0
        self._ranks: dict[int, Rank] = {}
        # The known rows that the search has not come to.
        self._known_above: deque[RecordRow[Any]] = deque()
        self._known_below: deque[RecordRow[Any]] = deque()
        # How well known rows match is not known.
        if known and not self._is_ranked:
            with contextlib.suppress(ValueError):
                index = known.index(rows[near])
                self._known_above.extend(known[:index])
                self._known_below.extend(known[index:])

    @property
    def count(self) -> int:
        return len(self._known_above) + self._searched + len(self._known_below)

    def found(self) -> list[RecordRow[Any]]:
        """Return the rows found so far, in the order of all rows."""
        searched = chain.from_iterable((*reversed(self._above), self._below))
        return [*self._known_above, *searched, *self._known_below]

    def ranked(self) -> list[RecordRow[Any]]:
        """Return the rows found so far, the best match first; rows that match equally well in the order of all rows."""
        ranks = self._ranks
        return sorted(self.found(), key=lambda row: ranks[id(row)], reverse=True)

    def _keep(self, rows: Sequence[RecordRow[Any]]) -> list[RecordRow[Any]]:
        found = self._query.keep(rows)
        if self._is_ranked:
            self._ranks.update((id(row), self._query.rank(row)) for row in found)
        return found

    def steps(self) -> Generator[None, None, list[RecordRow[Any]]]:
        """Search in steps of :data:`SEARCH_STEP_ROWS` rows and return the rows found."""
        rows, keep = self._rows, self._keep
        low = high = self._near
        known_above, known_below = self._known_above, self._known_below
        while low > 0 or high < len(rows):
            if high < len(rows):
                part = keep(rows[high : high + SEARCH_STEP_ROWS])
                high += SEARCH_STEP_ROWS
                self._below += part
                self._searched += len(part)
                for row in part:
                    if known_below and known_below[0] is row:
                        known_below.popleft()
                yield
            if low > 0:
                part = keep(rows[max(0, low - SEARCH_STEP_ROWS) : low])
                low -= SEARCH_STEP_ROWS
                self._above.append(part)
                self._searched += len(part)
                for row in reversed(part):
                    if known_above and known_above[-1] is row:
                        known_above.pop()
                yield
        return self.found()
