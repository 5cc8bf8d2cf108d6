"""Folding of sections, and of nested parts in trees. At first only very long parts are folded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from runwatch.base.text import cell_width
from runwatch.view.text.safe_text import SafeText

if TYPE_CHECKING:
    from runwatch.view.detail.sections import DetailLine

FoldKey = tuple[SafeText, ...]
"""Identifies a part: the heading of its section, then the names in the tree from the outside in."""

FOLD_THRESHOLD_LINES: Final = 500
"""A part of a tree with more lines than this is folded at first."""


class FoldState:
    """What the user has folded and unfolded, by the subject of the details. Lasts as long as the console runs."""

    def __init__(self) -> None:
        self._chosen: dict[tuple[str, FoldKey], bool] = {}

    def is_folded(self, about: str, key: FoldKey, count: int) -> bool:
        """Whether a part of the details of a subject is folded; a section is not by itself, however many lines it
        has.
        """
        return self._chosen.get((about, key), len(key) > 1 and count > FOLD_THRESHOLD_LINES)

    def fold(self, about: str, key: FoldKey, *, folded: bool) -> None:
        self._chosen[about, key] = folded


@dataclass(frozen=True, slots=True)
class FoldHeader:
    key: FoldKey
    count: int
    is_folded: bool

    @property
    def text(self) -> str:
        """How many lines are hidden; empty for none."""
        return f"{self.count} line{'s' * (self.count != 1)} hidden" if self.is_folded else ""


class VisibleLine(NamedTuple):
    """A visible line and its position in the tree.

    Attributes:
        part: The innermost part that contains it; its own part if it is a head.
        head: Its header if it has lines below it, else ``None``.
        follows: For each level from the outside to its own, whether another line follows on that level.
        labels: Width of the widest label among its sibling values, in cells.
    """

    line: DetailLine
    part: FoldKey
    head: FoldHeader | None
    follows: tuple[bool, ...]
    labels: int


def visible_lines(
    title: SafeText, lines: Sequence[DetailLine], is_folded: Callable[[FoldKey, int], bool]
) -> list[VisibleLine]:
    """Return the visible lines of a tree below a heading.

    A line belongs to the nearest line before it that has a lower level. ``is_folded`` gets the key of a part and its
    number of lines.
    """
    counts, follows, labels = _measured(lines)
    found: list[VisibleLine] = []
    key: list[SafeText] = [title]
    open_levels: list[bool] = []
    index = 0
    while index < len(lines):
        entry, level, count = lines[index], lines[index].level, counts[index]
        del key[level + 1 :]
        del open_levels[level:]
        open_levels.append(follows[index])
        head = None
        if count:
            key.append(entry.label)
            own = tuple(key)
            head = FoldHeader(own, count, is_folded(own, count))
        found.append(VisibleLine(entry, tuple(key), head, tuple(open_levels), labels[index]))
        index += 1 + (count if head is not None and head.is_folded else 0)
    return found


def _measured(lines: Sequence[DetailLine]) -> tuple[list[int], list[bool], list[int]]:
    """Return for each line: its number of descendants, whether a sibling follows, and the width of its siblings'
    labels.
    """
    size = len(lines)
    counts = [0] * size
    # Lines whose end is not found yet, from the outside in.
    pending: list[int] = []
    for index in range(size + 1):
        while pending and (index == size or lines[index].level <= lines[pending[-1]].level):
            first = pending.pop()
            counts[first] = index - first - 1
        pending.append(index)
    behind = [index + 1 + count for index, count in enumerate(counts)]
    follows = [end < size and lines[end].level == lines[index].level for index, end in enumerate(behind)]
    labels = [0 if count else cell_width(entry.label) for entry, count in zip(lines, counts, strict=True)]
    for index in reversed(range(size)):
        if follows[index]:
            labels[index] = max(labels[index], labels[behind[index]])
    for index in range(size):
        if follows[index]:
            labels[behind[index]] = labels[index]
    return counts, follows, labels
