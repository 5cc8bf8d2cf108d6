"""Choose the columns that fit a window, and their widths."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from operator import attrgetter
from typing import Final, Literal, NamedTuple, Protocol

COLUMN_GAP: Final = 2
"""Cells between two columns."""


class TableColumn(Protocol):
    """A table column, such as :class:`runwatch.view.spec.resource.Column`."""

    @property
    def id(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def align(self) -> Literal["left", "right"]: ...
    @property
    def hide_order(self) -> int: ...
    @property
    def min_cells(self) -> int: ...
    @property
    def max_cells(self) -> int: ...
    @property
    def elides_middle(self) -> bool: ...
    @property
    def keeps_last_words(self) -> bool: ...
    @property
    def never_cut(self) -> bool: ...
    @property
    def hide_if_empty(self) -> bool: ...


class ColumnNeed(NamedTuple):
    """Widths a column needs, in cells.

    Attributes:
        least: Minimum useful width.
        head: Width that shows the whole head; not below ``least``.
        whole: Width that shows every cell and the sort mark; not below ``head``.
    """

    least: int
    head: int
    whole: int


class PlacedColumn(NamedTuple):
    """A column in the window.

    Attributes:
        start: Its first cell, counted from the first column's.
        width: Its width in cells.
    """

    column: TableColumn
    start: int
    width: int


def lay_out_columns(
    columns: Sequence[TableColumn],
    needs: Sequence[ColumnNeed],
    room: int,
    *,
    skipped: int = 0,
    wide: bool = False,
) -> tuple[PlacedColumn, ...]:
    """Lay out columns in ``room`` cells.

    Columns are hidden in their hide order until the rest fits at minimum width. Remaining room first completes heads,
    then cells, smallest need first. Columns that are never hidden stay even in a window that is too narrow.

    Args:
        needs: The widths each column needs.
        skipped: How many hideable columns to leave out, from the left.
        wide: Whether every column gets its full width, the last ones outside the window.
    """
    kept = list(range(len(columns)))
    for index in [index for index in kept if columns[index].hide_order > 0][:skipped]:
        kept.remove(index)
    if wide:
        widths = {index: needs[index].whole for index in kept}
    else:
        while _total([needs[index].least for index in kept]) > room:
            leaving = [index for index in kept if columns[index].hide_order > 0]
            if not leaving:
                break
            kept.remove(min(leaving, key=lambda index: (columns[index].hide_order, -index)))
        widths = _share({index: needs[index] for index in kept}, room)
    placed: list[PlacedColumn] = []
    start = 0
    for index in kept:
        width = min(widths[index], room - start)
        if width <= 0:
            break
        placed.append(PlacedColumn(columns[index], start, width))
        start += width + COLUMN_GAP
    return tuple(placed)


_HEAD, _WHOLE = attrgetter("head"), attrgetter("whole")


def _total(widths: Collection[int]) -> int:
    return sum(widths) + COLUMN_GAP * max(0, len(widths) - 1)


def _share(needs: Mapping[int, ColumnNeed], room: int) -> dict[int, int]:
    widths = {index: need.least for index, need in needs.items()}
    left = room - _total(widths.values())
    for goal in (_HEAD, _WHOLE):
        missing = {index: goal(need) - widths[index] for index, need in needs.items()}
        for index in sorted(missing, key=missing.__getitem__):
            more = max(0, min(missing[index], left))
            # Widening a head that would still be cut gains nothing.
            if goal is _HEAD and more < missing[index]:
                break
            widths[index] += more
            left -= more
    return widths
