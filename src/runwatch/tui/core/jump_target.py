"""What a jump label leads to."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple, Protocol, runtime_checkable


class JumpTarget(NamedTuple):
    """A place in sight that a jump label leads to.

    Attributes:
        x: The cell of the window where its label begins; the label covers up to two cells.
        y: The row of the window.
        go: Goes there. Called later, so it finds its place again by an id or a number that stays.
        is_row: Whether it is one of many lines; the others get the shortest labels.
    """

    x: int
    y: int
    go: Callable[[], object]
    is_row: bool = False


@runtime_checkable
class JumpPlace(Protocol):
    """A widget that knows what in it a label may lead to."""

    def jump_targets(self) -> Iterable[JumpTarget]:
        """Yield the places in sight."""
        ...
