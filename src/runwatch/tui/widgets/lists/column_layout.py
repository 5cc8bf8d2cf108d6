"""Choose the columns that fit a window, and their widths."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final, NamedTuple

from runwatch.view.spec.resource import Column
from runwatch.view.text.format import BOTH_ENDS_CELLS

COLUMN_GAP: Final = 2
"""Cells between two columns."""

MORE_CELLS: Final = 1
"""Cells at the right end for the sign that columns are hidden."""

FIXED_COLUMNS: Final = 2
"""First columns, which stay when the others are scrolled sideways."""

_ENOUGH_CELLS: Final = 24
"""In this width a text counts as whole; a few rows may have a longer one."""

_EXTRA_CELLS: Final = 20
"""In this width a text of an extra column says enough."""

_FIRST_CELLS: Final = 28
"""A text that is to be whole first, such as a name or a reason, has this width before another column is shown."""

_REASON_CELLS: Final = 30
"""In this width a text that is to be whole first counts as whole, if it is no name."""

_SMALL_CELLS: Final = 75
"""In this width, that of a window of 80 columns, what a column says is worth more than the end of a name beside it."""

_NONE_HELD: Final[Mapping[str, int]] = {}


class ColumnNeed(NamedTuple):
    """Widths a column needs, in cells.

    Attributes:
        least: Minimum useful width.
        head: Width that shows the whole head with its sort mark; not below ``least``.
        whole: Width that shows every cell; not below ``head``.
        usual: Width it has where there is room, so that a longer cell moves nothing; at least ``least``.
        short: Width of the short forms of its ids or times, or of its sign, in any width in which these are not whole;
            0 for other texts.
    """

    least: int
    head: int
    whole: int
    usual: int = 0
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


class ColumnScroll(NamedTuple):
    """Columns after steps to the right.

    Attributes:
        steps: The steps that were made.
        after: The column that stays, after which columns are hidden because of them; ``None`` if none are.
        is_right: Whether another step brings a column into sight.
    """

    placed: tuple[PlacedColumn, ...]
    steps: int
    after: Column[Any] | None
    is_right: bool


def lay_out_columns(
    columns: Sequence[Column[Any]],
    needs: Sequence[ColumnNeed],
    room: int,
    *,
    wide: bool = False,
    keep: Collection[str] | None = None,
    held: Mapping[str, int] = _NONE_HELD,
    is_close: bool = False,
) -> tuple[PlacedColumn, ...]:
    """Lay out columns in ``room`` cells.

    Columns come in against their hide order, the extra ones last, while the rest is legible beside them: numbers and
    times whole, ids with both ends, texts up to a bound; beside an extra column, whole. In more than
    :data:`_SMALL_CELLS`, one also waits until what counts as whole without it stays so, so that a wider window cuts
    nothing that a narrower one has whole. Remaining room first completes heads, then texts up to the width in which
    most are whole, those that are to be whole first before others, then these to the width in which they count as
    whole, then models and ids, whole or not at all, then the rest of the texts, smallest need first, then other cells,
    smallest need first, then usual widths. Where a text is cut all the same, the columns are one cell
    apart. In a window that is too narrow for the others, the widest texts become narrower than their minimum, ids last,
    and at last all but the first two columns are hidden from the right, and with them every number or time that would
    be cut. If any column is hidden, there are :data:`MORE_CELLS` free at the right.

    Args:
        needs: The widths each column needs.
        wide: Whether every column gets its full width, the last ones outside the window; a text that follows the first
            two columns is cut to the room.
        keep: Ids of the columns to show whatever their widths.
        held: Widths by column id that stay as they are while the other columns have their minimum beside them.
        is_close: Whether the columns are one cell apart even where nothing is cut.
    """
    every, gap = list(range(len(columns))), COLUMN_GAP
    kept = every if keep is None else [index for index in every if columns[index].id in keep]
    if wide:
        widths = {index: _full(needs[index]) for index in kept}
        if kept != every or _total(widths.values()) > room:
            room -= MORE_CELLS
    else:
        choices, are_kept = kept, keep is not None
        kept, raised = _choose_columns(columns, needs, room, choices, are_kept=are_kept)
        if kept != every:
            room -= MORE_CELLS
            kept, raised = _choose_columns(columns, needs, room, choices, are_kept=are_kept)
        needs = raised
        needs, rigid = _hold(columns, needs, kept, room, held)
        widths, closer = (_find_widths(columns, needs, kept, room, gap, rigid) for gap in (COLUMN_GAP, 1))
        if (
            is_close
            or _total(widths.values()) > room
            or any(_asks_for_room(index, columns[index], needs[index], widths[index], closer[index]) for index in kept)
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


def scroll_columns(
    columns: Sequence[Column[Any]],
    needs: Sequence[ColumnNeed],
    room: int,
    unscrolled: tuple[PlacedColumn, ...],
    steps: int,
    *,
    wide: bool = False,
) -> ColumnScroll:
    """Lay out columns after as many steps to the right as there are, at most ``steps``.

    Each step brings the next hidden column into sight, whole where the fixed columns leave it the room, and hides only
    as many others as that takes: from the left, and where that is too little, from the right.

    Args:
        unscrolled: The layout before the first step.
    """
    inner, gap = (room - MORE_CELLS, COLUMN_GAP if wide else 1)
    position = {column: index for index, column in enumerate(columns)}
    shown = [position[placed.column] for placed in unscrolled]
    fixed = {index: one.width for index, one in zip(shown, unscrolled, strict=True) if is_fixed(index, one.column)}
    narrow = {index: min(width, needs[index].short or width) for index, width in fixed.items()}
    least = [
        _full(need) if wide else _least(index, column, need)
        for index, (column, need) in enumerate(zip(columns, needs, strict=True))
    ]
    brought: dict[int, int] = {}
    held: dict[int, int] = {}
    made = 0
    while (target := _next_hidden(columns, shown, made)) is not None and made < steps:
        whole = _full(needs[target]) if wide else needs[target].whole
        before = next((one for one in (fixed, narrow) if _total([*one.values(), whole], gap) <= inner), narrow)
        left = inner - _total([*before.values(), 0], gap)
        brought[target] = whole if is_whole(columns[target]) else max(1, min(whole, left))
        held = {**before, **brought}
        others = [index for index in shown if index not in before]
        shown = sorted([*shown, target])
        # Those behind the target come back with the next steps.
        leaving = [*(index for index in others if index < target), *(index for index in others[::-1] if index > target)]
        while leaving and _total([held.get(index, least[index]) for index in shown], gap) > inner:
            shown.remove(leaving.pop(0))
        if wide:
            # Room that the hidden ones leave goes to those that follow.
            for index in range(target + 1, len(columns)):
                grown = sorted({*shown, index})
                if _total([held.get(one, least[one]) for one in grown], gap) <= inner:
                    shown = grown
        made += 1
    if not made:
        return ColumnScroll(unscrolled, 0, None, target is not None)
    spare = inner - _total([held.get(index, _full(needs[index])) for index in shown])
    for index in fixed:
        # A name that stays takes room that nothing else needs.
        more = max(0, min(needs[index].whole - held[index], spare))
        held[index] += more
        spare -= more
    first = next((index for index in shown if index not in fixed), 0)
    is_left = bool(fixed) and any(index not in shown for index in range(first))
    placed = lay_out_columns(
        columns,
        needs,
        room,
        wide=wide,
        keep={columns[index].id for index in shown},
        held={columns[index].id: width for index, width in held.items()},
    )
    return ColumnScroll(placed, made, columns[max(fixed)] if is_left else None, target is not None)


def _next_hidden(columns: Sequence[Column[Any]], shown: Sequence[int], made: int) -> int | None:
    """Return the position of the column that the next step brings into sight."""
    scrolled = (index for index in shown if not is_fixed(index, columns[index]))
    first = next(scrolled, 0) if made else 0
    hidden = (index for index in range(first, len(columns)) if index not in shown)
    return next((index for index in hidden if not is_fixed(index, columns[index])), None)


def is_fixed(position: int, column: Column[Any]) -> bool:
    """Return whether a column stays in sight while the others are scrolled sideways."""
    return position < FIXED_COLUMNS and column.hide_order == 0


def is_whole(column: Column[Any]) -> bool:
    """Return whether a cut cell would be misread, as a time or a number would."""
    return column.never_cut or column.align == "right"


def _full(need: ColumnNeed) -> int:
    return max(need.whole, need.usual)


def _least(position: int, column: Column[Any], need: ColumnNeed) -> int:
    """Return the width below which a column is not cut willingly; a state keeps its width whatever rows come first."""
    if not is_whole(column):
        return need.least
    return max(need.head, need.usual) if is_fixed(position, column) else need.head


def _hold(
    columns: Sequence[Column[Any]],
    needs: Sequence[ColumnNeed],
    kept: Sequence[int],
    room: int,
    held: Mapping[str, int],
) -> tuple[Sequence[ColumnNeed], Collection[int]]:
    """Return the needs, and the positions of the columns that have just the width that they hold; none if the others
    would be narrower than their minimum.
    """
    rigid = [index for index in kept if columns[index].id in held]
    widths = {index: held[columns[index].id] for index in rigid}
    if (
        not rigid
        or _total([widths.get(index, _least(index, columns[index], needs[index])) for index in kept], 1) > room
    ):
        return needs, ()
    return [ColumnNeed(*[widths[index]] * 4) if index in widths else need for index, need in enumerate(needs)], rigid


def _total(widths: Collection[int], gap: int = COLUMN_GAP) -> int:
    return sum(widths) + gap * max(0, len(widths) - 1)


def _choose_columns(
    columns: Sequence[Column[Any]],
    needs: Sequence[ColumnNeed],
    room: int,
    choices: Sequence[int],
    *,
    are_kept: bool,
) -> tuple[list[int], Sequence[ColumnNeed]]:
    """Return the columns that fit, and the needs of all, with at least the widths that stay whole.

    Args:
        choices: The columns to choose from.
        are_kept: Whether all of them are shown, whether they fit or not.
    """
    coming = [index for index in choices if columns[index].hide_order > 0]
    coming.sort(key=lambda index: (columns[index].is_extra, -columns[index].hide_order, index))
    left = [index for index in choices if index not in coming]
    staying: dict[int, int] = {}
    for index in coming:
        asked, gap = _ask_beside(columns, needs, left, index)
        cells, stay = _find_whole(columns, needs, left, gap, asked, staying)
        if not columns[index].is_extra:
            cells = min(cells, _total([needs[one].whole for one in (*left, index)]))
        if cells > room and not are_kept:
            break
        left, staying = sorted([*left, index]), stay
    while not are_kept and len(left) > FIXED_COLUMNS:
        squeezed = [
            needs[index].head if is_whole(columns[index]) else _narrowest(needs[index], BOTH_ENDS_CELLS)
            for index in left
        ]
        if _total(squeezed, 1) <= room:
            break
        left.pop()
    raised = _raise(needs, staying)
    is_room = _total([_least(index, columns[index], raised[index]) for index in left], 1) <= room
    return left, raised if is_room else needs


def _ask_beside(
    columns: Sequence[Column[Any]], needs: Sequence[ColumnNeed], left: Sequence[int], coming: int
) -> tuple[dict[int, int], int]:
    """Return the least width of each column when one more comes in, and the cells between two of them."""
    if not columns[coming].is_extra:
        return {index: _legible(columns[index], needs[index]) for index in (*left, coming)}, 1
    asked: dict[int, int] = {}
    for index in (*left, coming):
        column, need = columns[index], needs[index]
        least = _least_of_extra(column, need) if column.is_extra else _enough(index, column, need)
        asked[index] = max(least, need.head)
    return asked, COLUMN_GAP


def _find_whole(
    columns: Sequence[Column[Any]],
    needs: Sequence[ColumnNeed],
    left: Sequence[int],
    gap: int,
    asked: Mapping[int, int],
    staying: Mapping[int, int],
) -> tuple[int, dict[int, int]]:
    """Return the room that columns ask for when one more comes in, and the widths of those that stay whole then.

    What is whole in that room without the new column asks for its width too. That takes more room, in which more may be
    whole.

    Args:
        left: The columns without the new one.
        asked: Least widths with the new one.
        staying: Widths of columns that stayed whole when others came in.
    """
    stay = dict(staying)
    asked = {index: max(width, stay.get(index, 0)) for index, width in asked.items()}
    cells = _total(asked.values(), gap)
    while cells > _SMALL_CELLS:
        alone = _find_widths(columns, _raise(needs, stay), left, cells, gap, ())
        for index in left:
            enough = min(needs[index].whole, _enough(index, columns[index], needs[index]))
            if not is_whole(columns[index]) and alone[index] >= enough:
                stay[index], asked[index] = enough, max(asked[index], enough)
        wanted = _total(asked.values(), gap)
        if wanted == cells:
            break
        cells = wanted
    return cells, stay


def _raise(needs: Sequence[ColumnNeed], widths: Mapping[int, int]) -> Sequence[ColumnNeed]:
    """Return the needs with these least widths."""
    raised = list(needs)
    for index, width in widths.items():
        need = needs[index]
        raised[index] = need._replace(least=max(need.least, width), head=max(need.head, width))
    return raised


def _enough(position: int, column: Column[Any], need: ColumnNeed) -> int:
    """Return the width in which a column counts as whole; a few rows may have a longer text."""
    if column.elides_middle or need.short:
        return need.whole
    if column.whole_first and not is_whole(column):
        return max(_legible(column, need), need.whole if _is_name(position, column) else min(need.whole, _REASON_CELLS))
    return _legible(column, need)


def _is_name(position: int, column: Column[Any]) -> bool:
    """Return whether a column has the names of its records."""
    return column.whole_first and position < FIXED_COLUMNS and not column.is_id


def _least_of_extra(column: Column[Any], need: ColumnNeed) -> int:
    """Return the width in which an extra column is worth its place; a text may be cut."""
    legible = _legible(column, need)
    return legible if is_whole(column) else min(legible, _EXTRA_CELLS)


def _legible(column: Column[Any], need: ColumnNeed) -> int:
    """Return the width below which another column leaves rather than this one is cut further."""
    if is_whole(column):
        return max(need.least, need.usual)
    text = _FIRST_CELLS if column.whole_first else _ENOUGH_CELLS
    bound = need.short or (BOTH_ENDS_CELLS if column.elides_middle else text)
    return max(need.least, min(max(need.whole, need.usual), bound))


def _narrowest(need: ColumnNeed, cells: int) -> int:
    """Return the width to which a text may be cut where there is little room; an id has its short form."""
    return need.short or min(need.least, cells)


def _find_widths(
    columns: Sequence[Column[Any]],
    needs: Sequence[ColumnNeed],
    kept: Sequence[int],
    room: int,
    gap: int,
    rigid: Collection[int],
) -> dict[int, int]:
    """Return the widths of the columns that are shown, with so many cells between them."""
    cells = room + (COLUMN_GAP - gap) * (len(kept) - 1)
    least = {index: _least(index, columns[index], needs[index]) for index in kept}
    texts = [index for index in kept if not is_whole(columns[index]) and index not in rigid]
    least = _squeeze(least, texts, needs, cells)
    return _share(columns, {index: needs[index]._replace(least=least[index]) for index in kept}, cells)


def _asks_for_room(position: int, column: Column[Any], need: ColumnNeed, width: int, closer: int) -> bool:
    """Return whether a column is cut and the closer width helps it: it is then whole, or a text of which most are.

    Of a name, which stays in sight, each cell helps.
    """
    enough = need.whole if column.whole_first and is_fixed(position, column) else _ENOUGH_CELLS
    is_cut = not need.short and min(need.whole, enough) > width
    return not column.is_extra and (is_cut or width < need.whole <= closer)


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
    texts = [index for index in needs if not columns[index].elides_middle and not needs[index].short]
    for index in (index for index in texts if columns[index].whole_first):
        widen(index, min(needs[index].whole, _ENOUGH_CELLS), is_partly=True)
    names = [index for index in needs if not columns[index].whole_first and not needs[index].short]
    names = [index for index in names if not columns[index].is_extra]
    names.sort(key=lambda index: needs[index].whole - widths[index])
    for index in (index for index in names if index in texts):
        widen(index, min(needs[index].whole, _ENOUGH_CELLS), is_partly=True)
    for index in sorted(texts, key=lambda index: needs[index].whole - widths[index]):
        if columns[index].whole_first and not is_whole(columns[index]):
            widen(index, min(needs[index].whole, _enough(index, columns[index], needs[index])), is_partly=True)
    for index in names:
        # Both ends of a model do until it is whole.
        widen(index, min(needs[index].whole, _ENOUGH_CELLS), is_partly=False)
    first = [index for index in needs if columns[index].whole_first or needs[index].short]
    # A short id still tells its record apart, so most texts are whole before ids; a long text is cut before an id.
    for index in sorted(first, key=lambda index: (needs[index].short == 0, needs[index].whole - widths[index])):
        widen(index, needs[index].whole, is_partly=index in texts)
    for index in sorted(needs, key=lambda index: needs[index].whole - widths[index]):
        widen(index, needs[index].whole, is_partly=not needs[index].short)
    for index, need in needs.items():
        widen(index, need.usual, is_partly=True)
    return widths
