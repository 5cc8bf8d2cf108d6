"""What the console knows now: records by profile, kind and id, and how fresh that knowledge is.

One writer, the UI loop: :meth:`Store.apply` refuses to run on another thread. Readers on the same loop see a store
between two changes, never inside one.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from runwatch.base.memory import free_in_slices, pause_collection
from runwatch.store.state.collection import Collection, CollectionDelta, StoredRecord

if TYPE_CHECKING:
    from runwatch.store.state.changes import ListRead, StoreChange

MAX_SYNC_RECORDS: Final = 2_000
"""Up to so many records are taken in one go, which takes a few milliseconds."""

MAX_RESTARTS: Final = 3
"""How often a long list is taken anew because something else has changed meanwhile, before it is taken in one go."""


Listener = Callable[[CollectionDelta], None]


class Store:
    """The console's knowledge. Listeners hear of every change, also of those that only touch freshness."""

    def __init__(self) -> None:
        self._collections: dict[tuple[str, str], Collection] = {}
        self._listeners: list[Listener] = []
        self._thread = threading.get_ident()

    def collection(self, profile: str, kind: str) -> Collection:
        """The collection of a kind, empty before anything is known; not to be changed by the reader."""
        return self._collections.setdefault((profile, kind), Collection())

    def get(self, profile: str, kind: str, record_id: str) -> StoredRecord | None:
        """One record, or ``None`` when it is not known."""
        return self.collection(profile, kind).by_id.get(record_id)

    def forget(self, profile: str, kind: str) -> None:
        """Drop a collection that nobody shows any more."""
        self._collections.pop((profile, kind), None)

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Call ``listener`` after every change, and return what ends that."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def apply(self, change: StoreChange) -> CollectionDelta:
        """Change the store and tell the listeners.

        Raises:
            RuntimeError: called from another thread than the one that made the store.
        """
        self._check_writer()
        # Changes come after the first paint, which their classes would hold up.
        from runwatch.store.state.reducer import apply_change

        delta = apply_change(self.collection(change.profile, change.kind), change)
        self._tell(delta)
        return delta

    async def apply_in_steps(self, change: ListRead) -> CollectionDelta:
        """As :meth:`apply`, for a list that may be long: everything else on the loop has its turn meanwhile.

        The list is there all at once in the end. What changes the collection before that is taken in first.

        Raises:
            RuntimeError: called from another thread than the one that made the store.
        """
        self._check_writer()
        for _ in range(MAX_RESTARTS):
            collection = self.collection(change.profile, change.kind)
            if len(collection.by_id) + len(change.records) <= MAX_SYNC_RECORDS:
                break
            leaving = list(collection.by_id.values())
            with pause_collection():
                delta = await self._taken(collection, change)
            if delta is not None:
                self._tell(delta)
                await free_in_slices(leaving)
                return delta
        return self.apply(change)

    async def _taken(self, collection: Collection, change: ListRead) -> CollectionDelta | None:
        """What came of taking a list step by step; ``None`` where the collection has changed meanwhile."""
        from runwatch.store.state.reducer import apply_list_in_steps

        before, revision = collection.by_id, collection.revision
        steps = apply_list_in_steps(collection, change)
        while True:
            try:
                next(steps)
            except StopIteration as done:
                delta: CollectionDelta = done.value
                return delta
            await asyncio.sleep(0)
            is_same = self._collections.get((change.profile, change.kind)) is collection
            if not is_same or collection.by_id is not before or collection.revision != revision:
                return None

    def _check_writer(self) -> None:
        if threading.get_ident() != self._thread:
            raise RuntimeError("the store has one writer, the loop that made it")

    def _tell(self, delta: CollectionDelta) -> None:
        for listener in tuple(self._listeners):
            listener(delta)
