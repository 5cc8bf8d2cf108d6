"""How the fields of a record are laid out in rows: values beside their labels or below them, trees with guides."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from runwatch.base.text import cell_width
from runwatch.tui.core.rendering import StyledSpan, label_span
from runwatch.tui.core.themes import ACCENT
from runwatch.tui.widgets.lists.text_wrap import wrap_text
from runwatch.view.detail.fold_state import FoldHeader, FoldKey, VisibleLine, visible_lines
from runwatch.view.text.glyphs import Glyphs, Role
from runwatch.view.text.safe_text import SafeText, fit, line, truncate

if TYPE_CHECKING:
    from runwatch.view.detail.sections import DetailLine, DetailSection

LABEL_CELLS: Final = 26
"""The widest label; longer ones are cut."""

MIN_VALUE_CELLS: Final = 20
"""What a value needs beside its label; in a narrower window it starts below it."""

_GUIDE_CELLS: Final = 2
"""The cells of a level of a tree."""


@dataclass(frozen=True, slots=True)
class DetailLink:
    """A way from the record to another one.

    Attributes:
        label: What the other one is to this one.
        text: Its name or id.
        target: What the screen gets when the user follows it.
    """

    label: SafeText
    text: SafeText
    target: object


@dataclass(frozen=True, slots=True)
class DetailRow:
    """One row of the view: what is drawn on it, and what stands behind it.

    Attributes:
        pieces: What is drawn.
        value: The whole value that it is a part of.
        target: What the screen gets when the user follows it.
        part: The innermost part that it belongs to, which can be folded; empty for none.
        head: The part that it is the head of.
    """

    pieces: tuple[StyledSpan, ...]
    value: SafeText | None = None
    target: object = None
    part: FoldKey = ()
    head: FoldHeader | None = None


@dataclass(frozen=True, slots=True)
class DetailLayout:
    """What rows are made for.

    Attributes:
        room: The cells that a row has.
        glyphs: The set of glyphs.
        crumb: What stands behind a value that leads somewhere.
        is_folded: Whether the part of a key, with so many lines, is folded.
    """

    room: int
    glyphs: Glyphs
    crumb: str
    is_folded: Callable[[FoldKey, int], bool]

    def rows(
        self, sections: Sequence[DetailSection], links: Sequence[DetailLink], head: Sequence[StyledSpan]
    ) -> list[DetailRow]:
        """The rows of a record."""
        rows: list[DetailRow] = [DetailRow(tuple(head)), _EMPTY] if head else []
        for group in _groups(sections):
            rows += self._group(group)
        labels = label_cells([link.label for link in links], self.room)
        for link in links:
            rows += self._field(_Field(link.label, link.text, ACCENT, self.crumb, link.target, labels))
        while rows and rows[-1] is _EMPTY:
            rows.pop()
        return rows

    def _group(self, group: Sequence[DetailSection]) -> Iterator[DetailRow]:
        """A heading with everything below it, or with nothing while it is folded."""
        title = group[0].title
        part: FoldKey = (title,) if title else ()
        if title:
            count = sum(len(section.lines) for section in group)
            head = FoldHeader(part, count, self.is_folded(part, count))
            yield self._head_row(head, (title, ACCENT))
            if head.is_folded:
                yield _EMPTY
                return
        plain = [entry.label for section in group if not section.is_tree for entry in section.lines]
        labels = label_cells(plain, self.room)
        for section in group:
            if section.is_tree:
                for place in visible_lines(title, section.lines, self.is_folded):
                    yield from self._placed(place)
            else:
                for entry in section.lines:
                    yield from self._field(self._field_of(entry, labels), part)
            yield _EMPTY

    def _placed(self, place: VisibleLine) -> Iterable[DetailRow]:
        """A line of a tree, behind the guides that lead to it."""
        glyphs, entry = self.glyphs, place.line
        guides = _guides(place.follows, self.room, glyphs.tree, glyphs.ellipsis)
        if place.head is not None:
            return [self._head_row(place.head, (guides.first, Role.QUIET), (entry.label, entry.role), note=entry.note)]
        labels = min(place.labels, LABEL_CELLS)
        if self.room - guides.cells - labels - 3 < MIN_VALUE_CELLS:
            labels = 0
        return self._field(self._field_of(entry, labels), place.part, guides)

    def _head_row(self, head: FoldHeader, *pieces: StyledSpan, note: str = "") -> DetailRow:
        """The row of a part, with how many lines it hides; that is never cut off."""
        behind = "   ".join(("", *filter(None, (note, head.words))))
        *before, (text, role) = pieces
        room = self.room - sum(cell_width(piece) for piece, _ in before) - cell_width(behind)
        shown = (*before, (truncate(text, max(1, room), self.glyphs.ellipsis), role))
        return DetailRow((*shown, (line(behind), Role.QUIET)) if behind else shown, part=head.key, head=head)

    def _field_of(self, entry: DetailLine, labels: int) -> _Field:
        note = entry.note or entry.does or (self.crumb if entry.target is not None else "")
        return _Field(entry.label, entry.text, entry.role, note, entry.target, labels)

    def _field(self, it: _Field, part: FoldKey = (), guides: _Guides | None = None) -> list[DetailRow]:
        """A label and its value: side by side, or the value below where the window is narrow."""
        rows: list[DetailRow] = []
        label, mark = it.label, self.glyphs.ellipsis
        room = self.room if guides is None else max(1, self.room - guides.cells)

        def add(*pieces: StyledSpan) -> None:
            before = () if guides is None else ((guides.below if rows else guides.first, Role.QUIET),)
            rows.append(DetailRow((*before, *pieces), it.text, it.target, part))

        if it.labels:
            label = fit(truncate(label, it.labels, mark), it.labels)
            indent = it.labels + 3
        elif label:
            add((truncate(label, room, mark), Role.QUIET))
            indent = 2
        else:
            indent = 0
        values = wrap_text(it.text, max(1, room - indent))
        for number, value in enumerate(values):
            first = line(f"{label}   ") if it.labels and not number else line(" " * indent)
            add((first, Role.QUIET), (value, it.role))
        if it.note and rows:
            beside = (line(f"   {it.note}"), Role.QUIET)
            if sum(cell_width(piece) for piece, _ in (*rows[-1].pieces, beside)) <= self.room:
                rows[-1] = DetailRow((*rows[-1].pieces, beside), it.text, it.target, part)
            else:
                add((line(" " * indent), Role.QUIET), label_span(it.note))
        return rows


class _Guides(NamedTuple):
    """What stands before the first row of a line of a tree, and before its others; both take as many cells."""

    first: SafeText
    below: SafeText
    cells: int


@lru_cache(256)
def _guides(follows: tuple[bool, ...], room: int, signs: tuple[str, str, str], ellipsis: str) -> _Guides:
    """The guides of a line, at most half of the room.

    Of a line that stands too deep for that the outermost levels are left out.

    Args:
        follows: For each level from the outside to that of the line, whether another line follows there.
        room: The cells that a row has.
        signs: The glyphs of trees.
        ellipsis: What stands for levels left out.
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
    """A label with its value, in so many cells of labels; 0 where the value stands below."""

    label: SafeText
    text: SafeText
    role: str
    note: str
    target: object
    labels: int


def find_cursor_row(held: object, rows: Sequence[DetailRow], cursor: int) -> int:
    """Where the cursor stands in new rows: on what it led to before, wherever that has moved, else where it was."""
    if held is None or (rows and rows[cursor].target == held):
        return cursor
    return next((index for index, row in enumerate(rows) if row.target == held), cursor)


def label_cells(labels: Sequence[SafeText], room: int) -> int:
    """The cells of the labels of a group; 0 where values stand below their labels because the window is narrow."""
    cells = min(max(map(cell_width, labels), default=0), LABEL_CELLS)
    return cells if room - cells - 3 >= MIN_VALUE_CELLS else 0


def _groups(sections: Sequence[DetailSection]) -> Iterator[list[DetailSection]]:
    """Sections whose values stand below each other: one with a title, and those without that follow it."""
    group: list[DetailSection] = []
    for section in sections:
        if section.title and group:
            yield group
            group = []
        group.append(section)
    if group:
        yield group


_EMPTY: Final = DetailRow(())
