"""Which columns a window has room for, and how much each of them gets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from runwatch.tui.widgets.record_table import TableColumn

GAP: Final = 2
"""Cells between two columns."""


class Placed(NamedTuple):
    """A column in the window.

    Attributes:
        column: The column.
        start: Its first cell, counted from the first column's.
        width: Its cells.
    """

    column: TableColumn
    start: int
    width: int


def place_columns(
    columns: Sequence[TableColumn],
    natural: Sequence[int],
    least: Sequence[int],
    room: int,
    *,
    skipped: int = 0,
    wide: bool = False,
) -> tuple[Placed, ...]:
    """Lay columns out in ``room`` cells.

    Columns leave in the order they were given for it until the rest fits at its least width; what room is left over
    then goes to those that need least to be whole. Columns that never leave stay even in a window that is too narrow.

    Args:
        columns: The columns in order.
        natural: The cells each of them needs to be whole, with its head.
        least: The fewest cells in which each of them is of use.
        room: The cells there are.
        skipped: How many of the columns that may leave are left out, from the left.
        wide: Whether every column gets what it needs, the last ones outside the window.
    """
    kept = list(range(len(columns)))
    for index in [index for index in kept if columns[index].leaves > 0][:skipped]:
        kept.remove(index)
    if wide:
        widths = {index: natural[index] for index in kept}
    else:
        while _total(kept, [least[index] for index in kept]) > room:
            leaving = [index for index in kept if columns[index].leaves > 0]
            if not leaving:
                break
            kept.remove(min(leaving, key=lambda index: (columns[index].leaves, -index)))
        widths = _share(least, natural, kept, room)
    placed: list[Placed] = []
    start = 0
    for index in kept:
        width = min(widths[index], room - start)
        if width <= 0:
            break
        placed.append(Placed(columns[index], start, width))
        start += width + GAP
    return tuple(placed)


def _total(kept: Sequence[int], widths: Sequence[int]) -> int:
    return sum(widths) + GAP * max(0, len(kept) - 1)


def _share(least: Sequence[int], natural: Sequence[int], kept: Sequence[int], room: int) -> dict[int, int]:
    widths = {index: least[index] for index in kept}
    left = room - _total(kept, list(widths.values()))
    for index in sorted(kept, key=lambda index: natural[index] - widths[index]):
        more = max(0, min(natural[index] - widths[index], left))
        widths[index] += more
        left -= more
    return widths
