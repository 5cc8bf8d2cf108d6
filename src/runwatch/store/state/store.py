"""In-memory store: records by profile, kind and id, and their freshness.

The UI loop is the only writer: :meth:`Store.apply` refuses to run on another thread. Readers on the same loop see the
store between two changes, never inside one.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final, TypeVar

from runwatch.base.memory import free_in_slices, pause_collection
from runwatch.store.state.collection import Collection, CollectionDelta, StoredRecord

if TYPE_CHECKING:
    from runwatch.records.record import Record
    from runwatch.store.state.changes import ListRead, ReadFailure, StoreChange

R = TypeVar("R", bound="Record")

MAX_SYNC_RECORDS: Final = 2_000
"""Maximum records applied in one go, which takes a few milliseconds."""

MAX_RESTARTS: Final = 3
"""How often a long list is started over after a concurrent change, before it is applied in one go."""


Listener = Callable[[CollectionDelta], None]


class Store:
    """The console's records. Listeners are called after every change, even one of freshness alone."""

    def __init__(self) -> None:
        self._collections: dict[tuple[str, str], Collection] = {}
        self._listeners: list[Listener] = []
        self._thread = threading.get_ident()

    def collection(self, profile: str, kind: str) -> Collection:
        """Return the collection of a kind, empty before the first read. The caller must not change it."""
        return self._collections.setdefault((profile, kind), Collection())

    def failures(self, profile: str) -> Iterator[ReadFailure]:
        """Yield the last failure of each list of a profile whose last read failed."""
        for (owner, _), collection in self._collections.items():
            if owner == profile and collection.failure is not None:
                yield collection.failure

    def get(self, profile: str, kind: str, record_id: str) -> StoredRecord | None:
        return self.collection(profile, kind).by_id.get(record_id)

    def find(self, profile: str, kind: type[R], record_id: str) -> R | None:
        """Return one record by its type, or ``None`` if it is not stored."""
        return self.collection(profile, kind.KIND).find(kind, record_id)

    def forget(self, profile: str, kind: str) -> None:
        """Drop a collection that no screen shows."""
        self._collections.pop((profile, kind), None)

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Call ``listener`` after every change; return a function that stops it."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def apply(self, change: StoreChange) -> CollectionDelta:
        """Apply a change and call the listeners.

        Raises:
            RuntimeError: The thread is not the one that made the store.
        """
        self._check_writer()
        # Imported here because changes come after the first paint, which their classes would delay.
        from runwatch.store.state.reducer import apply_change

        delta = apply_change(self.collection(change.profile, change.kind), change)
        self._notify(delta)
        return delta

    async def apply_in_steps(self, change: ListRead) -> CollectionDelta:
        """Apply a list that may be long, yielding to other work on the loop.

        The list appears all at once at the end. Changes to the collection before that are applied first.

        Raises:
            RuntimeError: The thread is not the one that made the store.
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
                self._notify(delta)
                await free_in_slices(leaving)
                return delta
        return self.apply(change)

    async def _taken(self, collection: Collection, change: ListRead) -> CollectionDelta | None:
        """Return the delta of a list applied in steps, or ``None`` if the collection changed meanwhile."""
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

    def _notify(self, delta: CollectionDelta) -> None:
        for listener in tuple(self._listeners):
            listener(delta)
