"""One list merged from several profiles."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from runwatch.store.state.freshness import LoadState, PaneState
from runwatch.tui.sources.row_sources import NotedSource, RowSource
from runwatch.view.detail.pane_state import FAILED_STATES
from runwatch.view.table.profile_column import RecordProfiles


class MergedSource:
    """The records of several sources, one after another.

    Args:
        parts: Returns the source of each shown profile.
        owners: Notes the profile of each record.
        is_unreached: Whether a profile has no service to read from.
    """

    def __init__(
        self, parts: Callable[[], Mapping[str, RowSource]], owners: RecordProfiles, is_unreached: Callable[[], bool]
    ) -> None:
        self._parts = parts
        self._is_unreached = is_unreached
        self._owners = owners
        self._made_of: list[tuple[str, Sequence[Any]]] = []
        self._items: Sequence[Any] = ()

    def items(self) -> Sequence[Any]:
        """Return all records; the same object until one of the parts changes."""
        found = [(name, part.items()) for name, part in self._parts().items()]
        is_same = len(found) == len(self._made_of) and all(
            part[0] == other[0] and part[1] is other[1] for part, other in zip(found, self._made_of, strict=True)
        )
        if not is_same:
            # A row keeps an equal subject, and its profile is known by the subject's identity.
            earlier = {(self._owners.of(item), item.id): item for item in self._items}
            self._owners.clear()
            merged: list[Any] = []
            for name, items in found:
                for item in items:
                    known = earlier.get((name, item.id))
                    merged.append(known if known == item else item)
                    self._owners.add(merged[-1], name)
            self._made_of, self._items = found, merged
        return self._items

    def state(self) -> PaneState:
        """Return an error if any part has one; otherwise the state of the part read longest ago."""
        states = [part.state() for part in self._parts().values()]
        troubled = next((state for state in states if state.load in FAILED_STATES), None)
        if troubled is not None:
            # Rows of the other parts are current and must not be drawn as stale.
            return PaneState(LoadState.ERROR, age_s=troubled.age_s, failure=troubled.failure)
        known = [state for state in states if state.age_s is not None]
        if self._is_unreached():
            return PaneState(LoadState.ERROR, age_s=max((state.age_s or 0.0 for state in known), default=None))
        return max(known, key=lambda state: state.age_s or 0.0, default=PaneState(LoadState.LOADING))

    def end_is_proven(self) -> bool:
        return all(part.end_is_proven() for part in self._parts().values())

    async def read_notes(self) -> None:
        """Read the local notes about the records of each part."""
        for part in list(self._parts().values()):
            if isinstance(part, NotedSource):
                await part.read_notes()

    async def read(self) -> None:
        for part in list(self._parts().values()):
            await part.read()
