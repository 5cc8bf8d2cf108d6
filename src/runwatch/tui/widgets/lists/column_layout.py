"""Choose the columns that fit a window, and their widths."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final, NamedTuple

from runwatch.view.spec.resource import Column
from runwatch.view.text.format import BOTH_ENDS_CELLS

COLUMN_GAP: Final = 2
"""Cells between two columns."""

MORE_CELLS: Final = 2
"""Cells for the sign that columns follow."""

FIXED_COLUMNS: Final = 2
"""First columns, which stay when the others are scrolled sideways."""

_ENOUGH_CELLS: Final = 24
"""In this width a text counts as whole; a few rows may have a longer one."""

_EXTRA_CELLS: Final = 20
"""In this width a text of an extra column says enough."""

_FIRST_CELLS: Final = 28
"""The same for a text that is to be whole first, such as a name or a reason."""


class ColumnNeed(NamedTuple):
    """Widths a column needs, in cells.

    Attributes:
        least: Minimum useful width.
        head: Width that shows the whole head; not below ``least``.
        whole: Width that shows every cell; not below ``head``.
        usual: Width it has where there is room, so that a longer cell moves nothing; at least ``least``.
        marked: Width that shows the sort mark beside the head; 0 if the list is not sorted by the column.
        short: Width of the short forms of its ids, in any width in which these are not whole; 0 for other texts.
    """

    least: int
    head: int
    whole: int
    usual: int = 0
    marked: int = 0
    short: int = 0


class PlacedColumn(NamedTuple):
    """A column in the window.

    Attributes:
        start: Its first cell, counted from the first column's.
        width: Its width in cells.
        gap: Cells between it and the next.
    """

    column: Column[Any]
    start: int
    width: int
    gap: int = COLUMN_GAP


def lay_out_columns(
    columns: Sequence[Column[Any]],
    needs: Sequence[ColumnNeed],
    room: int,
    *,
    skipped: int = 0,
    wide: bool = False,
    keep: Collection[str] | None = None,
) -> tuple[PlacedColumn, ...]:
    """Lay out columns in ``room`` cells.

    Extra columns are hidden in their hide order until the others are whole beside them. Then columns are hidden in
    their hide order until the rest is legible: numbers and times whole, ids with both ends, texts up to a bound.
    Remaining room first completes heads, then texts up to that bound, those that are to be whole first before others,
    then the former, smallest need first, then ids, whole or not at all, then other cells, smallest need first, then the
    sort mark and usual widths. Where a text is cut all the same, the columns are one cell apart. In a window that is
    too narrow for the others, the widest texts become narrower than their minimum, ids last, and at last all but the
    first two columns are hidden from the right, and with them every number or time that would be cut.

    Args:
        needs: The widths each column needs.
        skipped: How many columns to leave out, from the left; the first two stay if they are never hidden. Then, and in
            a wide table that does not fit, there are :data:`MORE_CELLS` free at the right.
        wide: Whether every column gets its full width, the last ones outside the window; a text that follows the first
            two columns is cut to the room.
        keep: Ids of the columns to show whatever their widths.
    """
    kept, gap = list(range(len(columns))), COLUMN_GAP
    for index in skippable_columns(columns)[:skipped]:
        kept.remove(index)
    if skipped and not wide:
        room -= MORE_CELLS
    if wide:
        widths = {index: max(needs[index].whole, needs[index].usual, needs[index].marked) for index in kept}
        if _total(widths.values()) > room:
            room -= MORE_CELLS
    else:
        if keep is None:
            kept = _hide_columns(columns, needs, room, kept)
        else:
            kept = [index for index in kept if columns[index].id in keep]
        widths, closer = (_find_widths(columns, needs, kept, room, gap) for gap in (COLUMN_GAP, 1))
        if _total(widths.values()) > room or any(
            _asks_for_room(columns[index], needs[index], widths[index], closer[index]) for index in kept
        ):
            gap, widths = 1, closer
    placed: list[PlacedColumn] = []
    start = 0
    for index in kept:
        width = min(widths[index], room - start)
        if placed and width < needs[index].least and is_whole(columns[index]) and not wide:
            continue
        is_text = not is_whole(columns[index]) and not needs[index].short
        least_placed = FIXED_COLUMNS + is_text
        if width <= 0 or (wide and width < widths[index] and len(placed) >= least_placed):
            break
        placed.append(PlacedColumn(columns[index], start, width, gap))
        start += width + gap
    return tuple(placed)


def skippable_columns(columns: Sequence[Column[Any]]) -> list[int]:
    """Return the positions of the columns that may be left out to show others."""
    return [index for index, column in enumerate(columns) if index >= FIXED_COLUMNS or column.hide_order > 0]


def is_whole(column: Column[Any]) -> bool:
    """Return whether a cut cell would be misread, as a time or a number would."""
    return column.never_cut or column.align == "right"


def _total(widths: Collection[int], gap: int = COLUMN_GAP) -> int:
    return sum(widths) + gap * max(0, len(widths) - 1)


def _hide_columns(
    columns: Sequence[Column[Any]], needs: Sequence[ColumnNeed], room: int, kept: Sequence[int]
) -> list[int]:
    """Return the columns that fit."""
    left = list(kept)
    hidden: list[int] = []

    def hide_first(may_leave: Sequence[int]) -> None:
        hidden.append(min(may_leave, key=lambda index: (columns[index].hide_order, -index)))
        left.remove(hidden[-1])

    while extras := [index for index in left if columns[index].is_extra]:
        enough = [
            max(needs[index].head, _least_of_extra(columns[index], needs[index]))
            if index in extras
            else max(needs[index].head, _enough(columns[index], needs[index]))
            for index in left
        ]
        if _total(enough) <= room:
            break
        hide_first(extras)
    hidden.clear()
    while _total([_legible(columns[index], needs[index]) for index in left], 1) > room:
        leaving = [index for index in left if columns[index].hide_order > 0]
        if not leaving:
            break
        hide_first(leaving)
    while hidden and _total([needs[index].whole for index in (*left, hidden[-1])]) <= room:
        left = sorted([*left, hidden.pop()])
    while len(left) > FIXED_COLUMNS:
        squeezed = [
            needs[index].head if is_whole(columns[index]) else _narrowest(needs[index], BOTH_ENDS_CELLS)
            for index in left
        ]
        if _total(squeezed, 1) <= room:
            break
        left.pop()
    return left


def _enough(column: Column[Any], need: ColumnNeed) -> int:
    """Return the width in which a column counts as whole; a few rows may have a longer text."""
    return need.whole if column.elides_middle else _legible(column, need)


def _least_of_extra(column: Column[Any], need: ColumnNeed) -> int:
    """Return the width in which an extra column is worth its place; a text may be cut."""
    legible = _legible(column, need)
    return legible if is_whole(column) else min(legible, _EXTRA_CELLS)


def _legible(column: Column[Any], need: ColumnNeed) -> int:
    """Return the width below which another column leaves rather than this one is cut further."""
    if is_whole(column):
        return max(need.least, need.usual)
    bound = need.short or (BOTH_ENDS_CELLS if column.elides_middle else _bound(column))
    return max(need.least, min(max(need.whole, need.usual), bound))


def _narrowest(need: ColumnNeed, cells: int) -> int:
    """Return the width to which a text may be cut where there is little room; an id has its short form."""
    return need.short or min(need.least, cells)


def _bound(column: Column[Any]) -> int:
    return _FIRST_CELLS if column.whole_first else _ENOUGH_CELLS


def _find_widths(
    columns: Sequence[Column[Any]], needs: Sequence[ColumnNeed], kept: Sequence[int], room: int, gap: int
) -> dict[int, int]:
    """Return the widths of the columns that are shown, with so many cells between them."""
    cells = room + (COLUMN_GAP - gap) * (len(kept) - 1)
    least = {index: needs[index].head if is_whole(columns[index]) else needs[index].least for index in kept}
    least = _squeeze(least, [index for index in kept if not is_whole(columns[index])], needs, cells)
    return _share(columns, {index: needs[index]._replace(least=least[index]) for index in kept}, cells)


def _asks_for_room(column: Column[Any], need: ColumnNeed, width: int, closer: int) -> bool:
    """Return whether a column is cut and the closer width helps it: an id is whole or has its short form."""
    if need.short:
        return not column.is_extra and width < need.whole <= closer
    return not column.is_extra and min(need.whole, _bound(column)) > width


def _squeeze(least: Mapping[int, int], texts: Sequence[int], needs: Sequence[ColumnNeed], room: int) -> dict[int, int]:
    """Narrow the widest text columns until all columns fit, below the short form of an id only at last."""
    widths = dict(least)
    for _ in range(_total(widths.values()) - room):
        widest = max(
            texts, key=lambda index: (widths[index] > _narrowest(needs[index], BOTH_ENDS_CELLS), widths[index]),
            default=None,
        )  # fmt: skip
        if widest is None or widths[widest] <= 1:
            break
        widths[widest] -= 1
    return widths


def _share(columns: Sequence[Column[Any]], needs: Mapping[int, ColumnNeed], room: int) -> dict[int, int]:
    """Return the widths that use the room."""
    widths = {index: need.least for index, need in needs.items()}
    left = room - _total(widths.values())

    def widen(index: int, goal: int, *, is_partly: bool) -> None:
        nonlocal left
        missing = max(0, goal - widths[index])
        if missing <= left or is_partly:
            more = max(0, min(missing, left))
            widths[index] += more
            left -= more

    for index in sorted(needs, key=lambda index: needs[index].head - widths[index]):
        # Widening a head that would still be cut gains nothing.
        widen(index, needs[index].head, is_partly=False)
    # Both ends of a cut id still tell it apart; a text without its end may say nothing.
    texts = [index for index in needs if not columns[index].elides_middle]
    for index in (index for index in texts if columns[index].whole_first):
        widen(index, min(needs[index].whole, _FIRST_CELLS), is_partly=True)
    names = [index for index in needs if not columns[index].whole_first and not needs[index].short]
    names = [index for index in names if not columns[index].is_extra]
    for index in sorted(names, key=lambda index: needs[index].whole - widths[index]):
        # Both ends of a model do until it is whole.
        widen(index, min(needs[index].whole, _ENOUGH_CELLS), is_partly=not columns[index].elides_middle)
    first = [index for index in needs if columns[index].whole_first or needs[index].short]
    # A short id still tells its record apart, so texts go before ids.
    for index in sorted(first, key=lambda index: (needs[index].short > 0, needs[index].whole - widths[index])):
        widen(index, needs[index].whole, is_partly=index in texts)
    for index in sorted(needs, key=lambda index: needs[index].whole - widths[index]):
        widen(index, needs[index].whole, is_partly=not needs[index].short)
    for index, need in needs.items():
        widen(index, need.marked, is_partly=False)
    for index, need in needs.items():
        widen(index, need.usual, is_partly=True)
    return widths
