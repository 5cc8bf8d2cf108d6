"""Lay out the fields of a record in rows: values beside or below their labels, trees with guides."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from runwatch.base.text import cell_width
from runwatch.tui.core.rendering import StyledSpan, label_span
from runwatch.tui.core.themes import ACCENT
from runwatch.tui.widgets.lists.text_wrap import wrap_text
from runwatch.view.detail.fold_state import FoldHeader, FoldKey, VisibleLine, visible_lines
from runwatch.view.text.glyphs import Glyphs, Role
from runwatch.view.text.safe_text import SafeText, elide_middle, fit, line, truncate

if TYPE_CHECKING:
    from runwatch.view.detail.column_plot import ColumnPlot, ColumnsInSight, PlotPlace
    from runwatch.view.detail.sections import DetailLine, DetailSection

LABEL_CELLS: Final = 26
"""Maximum width of labels in a narrow pane; the value of a longer one is below it, unless all values have room."""

MAX_LABEL_CELLS: Final = 36
"""The same in a wide pane."""

MIN_VALUE_CELLS: Final = 20
"""Minimum cells for a value beside its label; in a narrower window it starts below."""

LINK_CELLS: Final = 4
"""Cells of the sign of a link, and of the space before it."""

_BELOW_CELLS: Final = 2
"""Cells before a value that is below its label for lack of room."""

_GUIDE_CELLS: Final = 2
"""Cells of a tree level."""


@dataclass(frozen=True, slots=True)
class DetailLink:
    """A link from the record to another one.

    Attributes:
        label: How the other record relates to this one.
        text: Its name or id.
        target: Passed to the screen when the user opens the link.
    """

    label: SafeText
    text: SafeText
    target: object


@dataclass(frozen=True, slots=True)
class PlotInSight:
    """A plot as it is laid out.

    Attributes:
        key: Key of the section that it is in.
        place: What is chosen in it.
        columns: Where its columns are.
    """

    key: FoldKey
    plot: ColumnPlot
    place: PlotPlace
    columns: ColumnsInSight


@dataclass(frozen=True, slots=True)
class DetailRow:
    """One row of the view.

    Attributes:
        pieces: The text drawn.
        value: The complete value the row is part of.
        target: Passed to the screen when the user opens the row's link.
        part: Key of the innermost foldable part that contains the row; empty for none.
        head: The part whose heading this row is.
        plot: The plot that the row is part of.
        entry: What the row was made of, such as a field: equal in another width; ``None`` for an empty row.
    """

    pieces: tuple[StyledSpan, ...]
    value: SafeText | None = None
    target: object = None
    part: FoldKey = ()
    head: FoldHeader | None = None
    plot: PlotInSight | None = None
    entry: object = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class DetailLayout:
    """Parameters of a layout.

    Attributes:
        room: The cells of a row.
        crumb: The sign after a value with a link.
        is_folded: Takes a part's key and number of lines and returns whether it is folded.
        place_in: Takes the key of a section and returns what is chosen in its plot.
    """

    room: int
    glyphs: Glyphs
    crumb: str
    is_folded: Callable[[FoldKey, int], bool]
    place_in: Callable[[FoldKey], PlotPlace]

    def rows(
        self, sections: Sequence[DetailSection], links: Sequence[DetailLink], head: Sequence[StyledSpan]
    ) -> list[DetailRow]:
        rows = [DetailRow(((piece, role),)) for text, role in head for piece in wrap_text(text, self.room)]
        rows += [_EMPTY] * bool(rows)
        beside = 0
        for group in _groups(sections):
            beside = self._labels_of(group)
            rows += self._group(group, beside)
        # The names of links stand under those of the last fields, their values too.
        labels = max(beside, label_cells([link.label for link in links], self.room))
        for link in links:
            rows += self._field(_Field(link.label, link.text, ACCENT, self.crumb, link.target, labels, link))
        while rows and rows[-1] is _EMPTY:
            rows.pop()
        return rows

    def _labels_of(self, group: Sequence[DetailSection]) -> int:
        """Return the width of a group's labels in cells; 0 if values are below them."""
        plain = [entry for section in group if not section.is_tree for entry in section.lines]
        values = [self._value_cells(entry) for entry in plain]
        labels = [entry.label for entry in plain]
        beside, longest = (
            label_cells(labels, self.room, max(values, default=0)),
            max(map(cell_width, labels), default=0),
        )
        # Longer labels get a column too where that breaks no value.
        room, wide_room = self.room - (beside + 3 if beside else 2), self.room - longest - 3
        has_room = longest <= self.room // 2 or max(values, default=0) <= wide_room
        if beside < longest and has_room and not any(wide_room < cells <= room for cells in values):
            return longest
        return beside

    def _value_cells(self, entry: DetailLine) -> int:
        """Return the cells of the widest line of a value, with the sign of its link."""
        lead = LINK_CELLS * (entry.target is not None)
        return lead + max(map(cell_width, entry.text.splitlines()), default=0)

    def _group(self, group: Sequence[DetailSection], labels: int) -> Iterator[DetailRow]:
        """Yield a heading and, unless it is folded, the rows below it."""
        title = group[0].title
        part: FoldKey = (title,) if title else ()
        if title:
            count = sum(len(section.lines) + (section.plot is not None) for section in group)
            head = FoldHeader(part, count, self.is_folded(part, count))
            yield self._head_row(head, (title, ACCENT))
            if head.is_folded:
                yield _EMPTY
                return
        for section in group:
            if section.is_tree:
                for visible in visible_lines(title, section.lines, self.is_folded):
                    yield from self._tree_line(visible)
            else:
                for entry in section.lines:
                    yield from self._field(self._field_of(entry, labels), part)
            if section.plot is not None:
                yield from self._plot(section.plot, part)
            yield _EMPTY

    def _plot(self, plot: ColumnPlot, part: FoldKey) -> Iterator[DetailRow]:
        """Yield the rows of a plot, each of which leads where the chosen day leads."""
        place = self.place_in(part)
        seen = PlotInSight(part, plot, place, plot.in_sight(place, self.room))
        day = plot.days[plot.chosen(place)]
        value = line(f"{day.name}  {day.words}", None)
        entry = ("plot", part)
        for piece in plot.draw(place, self.room, self.glyphs):
            yield DetailRow((piece,), value, day.target, part, plot=seen, entry=entry)

    def _tree_line(self, visible: VisibleLine) -> Iterable[DetailRow]:
        """Return the rows of a tree line, after its guides."""
        glyphs, entry = self.glyphs, visible.line
        guides = _guides(visible.follows, self.room, glyphs.tree, glyphs.ellipsis)
        if visible.head is not None:
            return [
                self._head_row(visible.head, (guides.first, Role.QUIET), (entry.label, entry.role), note=entry.note)
            ]
        labels = min(visible.labels, LABEL_CELLS)
        if self.room - guides.cells - labels - 3 < MIN_VALUE_CELLS:
            labels = 0
        return self._field(self._field_of(entry, labels), visible.part, guides)

    def _head_row(self, head: FoldHeader, *pieces: StyledSpan, note: str = "") -> DetailRow:
        """Return a part's heading with the number of hidden lines, which is never cut."""
        behind = "   ".join(("", *filter(None, (note, head.text))))
        *before, (text, role) = pieces
        room = self.room - sum(cell_width(piece) for piece, _ in before) - cell_width(behind)
        shown = (*before, (truncate(text, max(1, room), self.glyphs.ellipsis), role))
        pieces = (*shown, (line(behind), Role.QUIET)) if behind else shown
        return DetailRow(pieces, part=head.key, head=head, entry=head.key)

    def _field_of(self, entry: DetailLine, labels: int) -> _Field:
        is_link = entry.target is not None
        role = ACCENT if is_link and entry.role is Role.PLAIN else entry.role
        note = entry.note or entry.does or (self.crumb if is_link else "")
        return _Field(entry.label, entry.text, role, note, entry.target, labels, entry, entry.hanging)

    def _field(self, it: _Field, part: FoldKey = (), guides: _Guides | None = None) -> list[DetailRow]:
        """Return a label and its value, which begins in the column of values: beside a short label, below a long one.

        In a narrow window all values are below their labels, and so is one with an id that is too long for its column.
        """
        rows: list[DetailRow] = []
        label, mark = it.label, self.glyphs.ellipsis
        room = self.room if guides is None else max(1, self.room - guides.cells)

        def add(*pieces: StyledSpan) -> None:
            before = () if guides is None else ((guides.below if rows else guides.first, Role.QUIET),)
            rows.append(DetailRow((*before, *pieces), it.text, it.target, part, entry=it.entry))

        indent = it.labels + 3 if it.labels else _BELOW_CELLS if label else 0
        words = [] if "\n" in it.text else it.text.split()
        cells = _unbroken_cells(words, room - _BELOW_CELLS) + LINK_CELLS * (it.note == self.crumb and len(words) == 1)
        is_word = room - indent < cells <= room - _BELOW_CELLS
        if cell_width(label) > it.labels or (is_word and label):
            # Paths differ at their ends.
            add((elide_middle(label, room, mark), Role.QUIET))
            label = line("")
        if is_word:
            # A word that is cut in two, such as an id, is neither read nor copied well.
            indent = _BELOW_CELLS
        width = max(1, room - indent)
        values = wrap_text(it.text, width)
        whole = cells if cells <= width else 0
        is_narrow = width - LINK_CELLS < max(whole, LINK_CELLS + 1)
        if it.note == self.crumb and not is_narrow and cell_width(values[-1]) > width - LINK_CELLS:
            # Keep the sign of a link beside the last word, not on a line of its own.
            values = wrap_text(it.text, width - LINK_CELLS)
        column = cell_width(it.text[: it.hanging])
        if column and len(values) > 1 and width - column >= max(whole, MIN_VALUE_CELLS):
            first, *others = wrap_text(line(it.text[it.hanging :], None), width - column)
            values = (line(it.text[: it.hanging] + first, None), *(line(" " * column + row, None) for row in others))
        for number, value in enumerate(values):
            add((fit(line("") if number else label, indent), Role.QUIET), (value, it.role))
        if it.note and rows:
            beside = (line(f"   {it.note}"), Role.QUIET)
            if sum(cell_width(piece) for piece, _ in (*rows[-1].pieces, beside)) <= self.room:
                rows[-1] = replace(rows[-1], pieces=(*rows[-1].pieces, beside))
            else:
                add((line(" " * indent), Role.QUIET), label_span(it.note))
        return rows


def _unbroken_cells(words: Sequence[str], room: int) -> int:
    """Return the width of the longest word that fits in the room, or part of a longer path; others are cut anyway."""
    widths = (
        cell_width(part)
        for word in words
        for part in ((word,) if cell_width(word) <= room else (f"{part}/" for part in word.split("/")))
    )
    return max((cells for cells in widths if cells <= room), default=0)


class _Guides(NamedTuple):
    """Text before the first row of a tree line and before its other rows; both have the same width."""

    first: SafeText
    below: SafeText
    cells: int


@lru_cache(256)
def _guides(follows: tuple[bool, ...], room: int, signs: tuple[str, str, str], ellipsis: str) -> _Guides:
    """Return the guides of a line, at most half the room. Deeper lines omit the outermost levels.

    Args:
        follows: For each level from the outermost to the line's own, whether another line follows at that level.
        signs: The glyphs of trees.
        ellipsis: Replaces omitted levels.
    """
    branch, last, past = signs
    kept = follows[-max(1, room // 2 // _GUIDE_CELLS) :]
    before = "".join(f"{past if more else ' '} " for more in kept[:-1])
    mark = ellipsis if len(kept) < len(follows) else ""
    own, under = (branch, past) if kept[-1] else (last, " ")
    first, below = (f"{mark}{f'{before}{sign} '[len(mark) :]}" for sign in (own, under))
    return _Guides(line(first), line(below), _GUIDE_CELLS * len(kept))


@dataclass(frozen=True, slots=True)
class _Field:
    """A label and its value. ``labels`` is the width of labels in cells; 0 if the value is below.

    The first characters of the value, as many as ``hanging``, have a column of their own if its rows have room for it.
    """

    label: SafeText
    text: SafeText
    role: str
    note: str
    target: object
    labels: int
    entry: object
    hanging: int = 0


def find_entry_row(before: Sequence[DetailRow], rows: Sequence[DetailRow], cursor: int) -> int | None:
    """Return the row that shows the same part of the cursor's entry, or of the one above an empty row.

    Args:
        before: The rows in which the cursor is.
        rows: The rows of another layout.

    Returns:
        The nearest one, of several equal entries; ``None`` if the entry is gone.
    """
    while cursor > 0 and before[cursor].entry is None:
        cursor -= 1
    entry = before[cursor].entry if before else None
    start = find_entry_start(before, cursor)
    is_it = [entry is not None and (row.entry is entry or row.entry == entry) for row in rows]
    starts = [index for index, found in enumerate(is_it) if found and not (index and is_it[index - 1])]
    if not starts:
        return None
    first = min(starts, key=lambda index: abs(index - start))
    end = next((index for index in range(first, len(rows)) if not is_it[index]), len(rows))
    return min(first + cursor - start, end - 1)


def find_entry_start(rows: Sequence[DetailRow], index: int) -> int:
    """Return the first row of the entry that a row is part of."""
    while 0 < index < len(rows) and rows[index].entry is not None and rows[index - 1].entry is rows[index].entry:
        index -= 1
    return index


def find_cursor_row(target: object, rows: Sequence[DetailRow], cursor: int) -> int:
    """Return the row with the previous target, or the same index if there is none."""
    if target is None or (rows and rows[cursor].target == target):
        return cursor
    return next((index for index, row in enumerate(rows) if row.target == target), cursor)


def label_cells(labels: Sequence[SafeText], room: int, value: int = MIN_VALUE_CELLS) -> int:
    """Return the width of a group's labels in cells; 0 if all values go below their labels in a narrow window.

    The values of labels that are longer go below theirs. Narrow values need less room.
    """
    most = min(max(LABEL_CELLS, room * 2 // 5), MAX_LABEL_CELLS, room - 3 - min(MIN_VALUE_CELLS, value))
    return max((width for width in map(cell_width, labels) if width <= most), default=0)


def _groups(sections: Sequence[DetailSection]) -> Iterator[list[DetailSection]]:
    """Yield groups that share label widths: a titled section and the untitled ones after it."""
    group: list[DetailSection] = []
    for section in sections:
        if section.title and group:
            yield group
            group = []
        group.append(section)
    if group:
        yield group


_EMPTY: Final = DetailRow(())
