"""What a jump label leads to."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple, Protocol, runtime_checkable


class JumpTarget(NamedTuple):
    """A place in sight that a jump label leads to.

    Attributes:
        x: The cell of the window where its label of up to two cells begins, or before which it ends.
        y: The row of the window.
        go: Goes there. Called later, so it finds its place again by an id or a number that stays.
        is_before: Whether the label ends before the cell, over the space there.
        is_row: Whether it is one of many lines; the others get the shortest labels.
    """

    x: int
    y: int
    go: Callable[[], object]
    is_before: bool = False
    is_row: bool = False


@runtime_checkable
class JumpPlace(Protocol):
    """A widget that knows what in it a label may lead to."""

    def jump_targets(self) -> Iterable[JumpTarget]:
        """Yield the places in sight."""
