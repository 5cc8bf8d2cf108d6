"""Where a screen's rows come from: the store for what the service has, the journal for what happened here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from runwatch.store.state.freshness import PaneState

if TYPE_CHECKING:
    pass


FILE_PROFILE = "file"
"""The profile under which the store has the records of a file."""


class RowSource(Protocol):
    """What a list screen asks of its rows' source."""

    def items(self) -> Sequence[Any]:
        """Every record or subject, in order; the same object as before as long as nothing of it has changed."""
        ...

    def state(self) -> PaneState:
        """What the frame says."""
        ...

    def end_is_proven(self) -> bool:
        """Whether the number of items is the whole number."""
        ...

    async def read(self) -> None:
        """Get what is not pushed by itself; called when the screen comes up and after every request."""
        ...


@runtime_checkable
class SearchableSource(Protocol):
    """A source that finds records by an id in a text."""

    def seek(self, text: str) -> None:
        """Give the records whose id stands in a text, from the next read on; ``""`` ends it."""
        ...


@runtime_checkable
class NotedSource(Protocol):
    """A source whose records stand beside what people write about them on this machine."""

    async def read_notes(self) -> None:
        """Read what people wrote, here or in another console."""
        ...
