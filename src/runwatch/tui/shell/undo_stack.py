"""Undo of local changes: labels, notes, decisions, marks and filters. Nothing sent to a service is undone."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final, NamedTuple

from textual.widget import Widget

MAX_CHANGES: Final = 30
"""Changes kept; the oldest are dropped first."""


class LocalChange(NamedTuple):
    """A change that the user made on this machine.

    Attributes:
        name: What was changed, after "undone: ".
        undo: Changes it back; returns why that was not possible, or an empty text. It may raise
            :class:`~runwatch.base.errors.RunwatchError`.
        owner: The widget that holds what was changed; the change is over with it. ``None`` for what is kept on disk.
    """

    name: str
    undo: Callable[[], Awaitable[str]]
    owner: Widget | None = None


class UndoStack:
    def __init__(self) -> None:
        self._changes: list[LocalChange] = []

    def push(self, change: LocalChange) -> None:
        self._changes.append(change)
        del self._changes[:-MAX_CHANGES]

    def pop(self) -> LocalChange | None:
        """Take the last change that can still be undone."""
        self._changes = [each for each in self._changes if each.owner is None or each.owner.is_attached]
        return self._changes.pop() if self._changes else None

    def clear(self) -> None:
        """Forget all, for another profile."""
        self._changes.clear()
