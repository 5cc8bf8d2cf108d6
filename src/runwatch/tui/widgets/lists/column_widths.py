"""Widths of the columns of a table, from the rows that were measured so far, and where the columns are."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from typing import Any, Final, Protocol

from runwatch.base.text import cell_width
from runwatch.tui.widgets.lists.column_layout import (
    COLUMN_GAP,
    ColumnNeed,
    ColumnScroll,
    PlacedColumn,
    is_whole,
    lay_out_columns,
    scroll_columns,
)
from runwatch.view.spec.resource import Column
from runwatch.view.text.format import short_id, without_seconds
from runwatch.view.text.glyphs import Glyphs
from runwatch.view.text.safe_text import SafeText, best_cut, elide_middle, elide_start, line, truncate
from runwatch.view.text.styled_text import StyledText

MEASURED_ROWS: Final = 100
"""First rows, which decide the columns, and in a wide table their widths."""

USUAL_CELLS: Final = 28
"""Most cells that a text below the first window counts for, where there is no room for all columns whole."""

AGE_CELLS: Final = len("59m ago")
"""Least cells of a column of times, so that an age that gets its second digit moves no other column."""

MAX_COMPARED_TEXTS: Final = 200
"""Maximum number of texts of a column that are compared to find out where to cut them."""


Cut = Callable[[SafeText, int, str], SafeText]
"""Cuts a text to a number of cells, with a mark where it was cut."""

HeadOf = Callable[[Column[Any]], SafeText]
"""Returns the head of a column, with the mark of the order if it has one."""


class MeasuredRow(Protocol):
    def cell(self, column: Any) -> StyledText: ...


class ColumnWidths:
    """Measures the cells of a table and lays out its columns.

    Args:
        measured_rows: How many of the first rows decide how wide the columns are.

    Attributes:
        is_wide: Whether every column gets its full width.
        scroll: The columns where they are, after the user's steps to the right.
        cuts: By column, how to cut its texts so that they still differ; without those that keep no differences.
    """

    def __init__(self, columns: Sequence[Column[Any]], measured_rows: int = MEASURED_ROWS) -> None:
        self._columns: Final = tuple(columns)
        self._measured_rows: Final = measured_rows
        self._used: set[str] = set()
        self._cuts_for: object = None
        self.is_wide = False
        self.scroll = ColumnScroll((), 0, None, is_right=False)
        self.cuts: dict[str, Cut] = {}
        self.forget()

    def forget(self) -> None:
        """Forget all widths, because other rows come first or every cell of a column is rendered differently."""
        self._natural = [0] * len(self._columns)
        self._usual = [0] * len(self._columns)
        self._shorts = [0] * len(self._columns)
        self._texts: dict[str, set[SafeText]] = {
            column.id: set() for column in self._columns if column.keeps_difference
        }
        self._kept: tuple[object, Mapping[str, bool]] = (None, {})
        self._is_close = False
        self.measure_again()

    def measure_again(self) -> None:
        """Measure the first rows again next time, because the content of the same rows changed; release them."""
        self._sampled: tuple[MeasuredRow, ...] = ()

    @property
    def is_measured(self) -> bool:
        """Whether the first rows are measured."""
        return bool(self._sampled)

    def toggle_wide(self) -> None:
        self.is_wide = not self.is_wide
        self.scroll = self.scroll._replace(steps=0)

    def step(self, step: int) -> None:
        """Bring the next hidden column into sight with the next layout, or undo that."""
        self.scroll = self.scroll._replace(steps=max(0, self.scroll.steps + step))

    def wanted_cells(self, head_of: HeadOf) -> int:
        """Return the width in which every column is whole."""
        needs = self._used_needs(self._natural, head_of).values()
        return sum(max(need.whole, need.usual) + COLUMN_GAP for need in needs) - COLUMN_GAP

    def measure(
        self,
        rows: Sequence[MeasuredRow],
        sight: Set[int],
        rows_in_sight: int,
        glyphs: Glyphs,
        *,
        assumed: Mapping[str, str],
        only_shown: bool,
    ) -> None:
        """Widen the columns for the first rows; columns never become narrower.

        Only the first rows decide which columns have anything to show, and how wide texts are, so that nothing comes,
        goes or moves while the user scrolls. Visible rows widen the columns of numbers and times, which must be whole,
        and in a wide table all. Rows that were measured before are not measured again, because most are shown every
        second.

        Args:
            sight: The numbers of the rows that are in sight, or soon are.
            assumed: By column, the text that says nothing here.
            only_shown: Whether to leave out columns that are hidden.
        """
        known = {id(row) for row in self._sampled}
        self._sampled = tuple(rows[: self._measured_rows])
        indices = {index for index, row in enumerate(self._sampled) if id(row) not in known}
        shown = {placed.column.id for placed in self.scroll.placed}
        for position, column in enumerate(self._columns):
            if only_shown and column.id not in shown:
                continue
            nothing = {"", glyphs.nothing, assumed.get(column.id)}
            cells = {index: rows[index].cell(column).text for index in indices.union(sight)}
            if any(index < self._measured_rows and text not in nothing for index, text in cells.items()):
                self._used.add(column.id)
            if column.is_id:
                if not self.is_wide:
                    # A label takes of the room that an id has, so that it moves no column.
                    cells = {index: line(text.rpartition(" ")[2]) for index, text in cells.items()}
                short = max((cell_width(short_id(text, glyphs)) for text in cells.values()), default=0)
                self._shorts[position] = max(self._shorts[position], min(short, column.max_cells))
            elif column.puts_newest_first:
                short = max((cell_width(without_seconds(text)) for text in cells.values()), default=0)
                self._shorts[position] = max(self._shorts[position], short)
            texts = self._texts.get(column.id)
            if texts is not None and len(texts) < MAX_COMPARED_TEXTS:
                texts.update(cells.values())
            grows = self.is_wide or is_whole(column)
            widths = {
                index: min(cell_width(text), column.max_cells)
                for index, text in cells.items()
                if grows or index < self._measured_rows
            }
            self._natural[position] = max(self._natural[position], *widths.values(), 0)
            # A text that is not in the first window may be cut, so that others are whole.
            is_bound = not grows and not column.is_id
            usual = (
                min(width, USUAL_CELLS) if is_bound and index >= rows_in_sight else width
                for index, width in widths.items()
            )
            self._usual[position] = max(self._usual[position], *usual, 0)

    def lay_out(self, room: int, known: int, head_of: HeadOf, mark: str) -> None:
        """Lay out the columns so that the first rows are whole, or where that hides or cuts one, most of them.

        Args:
            room: Cells for all columns.
            known: How many rows there are; the same number for all that fill the window.
            mark: What a text that is cut ends with.
        """
        used = self._used_needs(self._natural, head_of)
        is_roomy = sum(need.whole + COLUMN_GAP for need in used.values()) - COLUMN_GAP <= room
        if not is_roomy and not self.is_wide:
            # What is left goes to texts that are not in the first window.
            whole = {column.id: 0 if column.is_id or need.short else need.whole for column, need in used.items()}
            used = {
                column: need._replace(usual=max(need.usual, whole[column.id]))
                for column, need in self._used_needs(self._usual, head_of).items()
            }
        reasons = (room, self.is_wide, known, tuple(column.id for column in used))
        columns, needs = tuple(used), tuple(used.values())
        # A wider cell, which the user may have scrolled to or brought up by another order, hides no column, cuts no id
        # and moves none apart.
        kept = self._kept[1] if self._kept[0] == reasons else None
        held = (
            {}
            if kept is None
            else {column.id: need.whole for column, need in used.items() if need.short and kept.get(column.id)}
        )
        keep = None if self.is_wide else kept
        is_close = keep is not None and self._is_close
        unscrolled = lay_out_columns(columns, needs, room, wide=self.is_wide, keep=keep, held=held, is_close=is_close)
        self._is_close = any(one.gap < COLUMN_GAP for one in unscrolled)
        self.scroll = scroll_columns(columns, needs, room, unscrolled, self.scroll.steps, wide=self.is_wide)
        self._choose_cuts(mark)
        if known:
            needs_of = ((one, used[one.column]) for one in unscrolled)
            self._kept = (
                reasons,
                {one.column.id: bool(need.short) and one.width >= need.whole for one, need in needs_of},
            )

    def _choose_cuts(self, mark: str) -> None:
        """Choose where to cut the texts of each column that keeps differences, as soon as that may change."""
        different = [placed for placed in self.scroll.placed if placed.column.keeps_difference]
        reasons = [(placed.column.id, placed.width, len(self._texts[placed.column.id])) for placed in different]
        if reasons != self._cuts_for:
            self._cuts_for = reasons
            self.cuts = {placed.column.id: self._best_cut(placed, mark) for placed in different}

    def _best_cut(self, placed: PlacedColumn, mark: str) -> Cut:
        """Return the way to cut a column's texts after which most of them still differ."""
        return best_cut(self._texts[placed.column.id], placed.width, mark, truncate, elide_middle, elide_start)

    def _used_needs(self, widths: Sequence[int], head_of: HeadOf) -> dict[Column[Any], ColumnNeed]:
        """Return what each column with anything to show needs, from the widths of its cells."""
        known = zip(self._columns, widths, self._shorts, strict=True)
        return {
            column: _need(column, natural, short, head_of(column))
            for column, natural, short in known
            if self._is_used(column)
        }

    def _is_used(self, column: Column[Any]) -> bool:
        """Whether a column has anything to show, or may have once there are rows."""
        return column.id in self._used if self._used else not column.hide_if_empty


def _need(column: Column[Any], natural: int, short: int, head_text: SafeText) -> ColumnNeed:
    """Return what a column needs for its head, and for cells of which the widest and its short form are so wide."""
    title, head = (min(cell_width(text), column.max_cells) for text in (column.title, head_text))
    if column.keeps_sign:
        return ColumnNeed(1, 1, max(natural, head), 1, short=1)
    if column.puts_newest_first:
        if natural:
            natural, short = max(natural, AGE_CELLS), max(short, AGE_CELLS)
        # Times of other days have no seconds where another text needs the room.
        short = max(short, column.min_cells)
        if short < natural:
            return ColumnNeed(short, max(short, head), max(natural, head), short, short)
        short = 0
    # What is not known yet may need as much as the column has room for; what is known needs no more than it has.
    usual = max(natural, column.min_cells) if is_whole(column) else column.min_cells
    least = min(usual, max(natural, title)) if natural else usual
    if short:
        least = short
    head = max(least, head)
    return ColumnNeed(least, head, max(natural, head), usual, short)
