"""Protocols of row sources."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Protocol, runtime_checkable

from runwatch.store.state.freshness import LoadState, PaneState

FILE_PROFILE = "file"
"""The profile under which the store keeps the records of a file."""

FILE_STATE: Final = PaneState(LoadState.ENDED, reading="from the file")
"""The state of everything in a file, which does not change."""


class RowSource(Protocol):
    def items(self) -> Sequence[Any]:
        """Return all records in order; the same object until one of them changes."""

    def state(self) -> PaneState: ...

    def end_is_proven(self) -> bool: ...

    async def read(self) -> None:
        """Read what is not pushed; called when the screen opens and after every request."""


@runtime_checkable
class SearchableSource(Protocol):
    """A source that finds records by an id in a text."""

    def seek(self, text: str) -> None:
        """From the next read on, return records whose id occurs in a text; ``""`` ends it."""


@runtime_checkable
class NotedSource(Protocol):
    """A source whose records have local notes."""

    async def read_notes(self) -> None:
        """Read local notes written in this or another console."""
