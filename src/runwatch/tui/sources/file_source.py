"""Records of an opened file; all of them are in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from runwatch.store.repositories.id_search import match_ids, normalize_id
from runwatch.store.state.freshness import PaneState
from runwatch.tui.sources.row_sources import FILE_PROFILE, FILE_STATE
from runwatch.tui.sources.store_source import StoreSource
from runwatch.view.problems.activity import ACTIVITY, ActivityEntry
from runwatch.view.resources.problems import PROBLEMS
from runwatch.view.resources.requests import REQUESTS
from runwatch.view.resources.runs import RUNS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from runwatch.base.clock import Clock
    from runwatch.store.state.store import Store
    from runwatch.view.spec.resource import ResourceSpec


class FileSource(StoreSource):
    """The records of one kind in a file."""

    def __init__(self, spec: ResourceSpec[Any], store: Store, clock: Clock, key_of: Callable[[str], str]) -> None:
        super().__init__(spec, store, FILE_PROFILE, clock, None)
        self._key_of = key_of
        self._sought = ""

    def seek(self, text: str) -> None:
        """Return only records whose id occurs in a text from now on; ``""`` ends it."""
        self._sought = text

    def items(self) -> Sequence[Any]:
        every = super().items()
        if not self._sought:
            return every
        return [every[position] for position in match_ids(self._sought, [normalize_id(each.id) for each in every])]

    def state(self) -> PaneState:
        return FILE_STATE

    def elsewhere_text(self) -> str:
        """Return the keys that lead to the other records of a bundle; empty for another file."""
        store = self._store
        if not store.collection(FILE_PROFILE, ActivityEntry.KIND).by_id:
            return ""
        others = [
            f"{self._key_of(f'app.{spec.name}')} for {spec.name}"
            for spec in (PROBLEMS, REQUESTS, RUNS, ACTIVITY)
            if spec is not self._spec and store.collection(FILE_PROFILE, spec.kind).by_id
        ]
        return f"; press {', '.join(others)}"

    def end_is_proven(self) -> bool:
        """Return true: a file is complete."""
        return True
