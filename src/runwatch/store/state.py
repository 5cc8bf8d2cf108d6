"""What the console knows now: records by profile, kind and id, and how fresh that knowledge is.

One writer, the UI loop: :meth:`Store.apply` refuses to run on another thread. Readers on the same loop see a store
between two changes, never inside one.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Final, NamedTuple

from runwatch.base.memory import let_go, no_walks
from runwatch.records.record import Record

if TYPE_CHECKING:
    from runwatch.store.change import Change, Failure, ListRead

AT_ONCE: Final = 2_000
"""Up to so many records are taken in one go, which takes a few milliseconds."""

TRIES: Final = 3
"""How often a long list is taken anew because something else has changed meanwhile, before it is taken in one go."""


@dataclass(slots=True)
class Known:
    """One record and when it was last seen.

    Attributes:
        record: The record as the service sent it last.
        seen_at: Wall time of that answer; for a record from the disk, of the earlier session's.
        monotonic: When it came into this process.
        from_cache: Whether no answer of this session confirmed it yet.
    """

    record: Record
    seen_at: datetime
    monotonic: float
    from_cache: bool = False


@dataclass(slots=True)
class Collection:
    """All records of one kind in one profile.

    Attributes:
        known: By id, in the order the service gave.
        revision: Goes up with every change of the records or their order: what was made of them holds until then.
        read_at: Monotonic time of the last good list read; ``None`` before the first.
        cached_at: When the service said what came from the disk.
        started_at: Monotonic start of a read under way; ``None`` when there is none.
        reading: Method and path of that read.
        end_is_proven: Whether the count is the whole number.
        misfits: Items of the last list that were no records.
        failure: Why the last read failed; ``None`` after a good one.
        failing_since: Wall time of the first of the failures in a row.
    """

    known: dict[str, Known] = field(default_factory=dict)
    revision: int = 0
    read_at: float | None = None
    cached_at: datetime | None = None
    started_at: float | None = None
    reading: str = ""
    end_is_proven: bool = False
    misfits: int = 0
    failure: Failure | None = None
    failing_since: datetime | None = None

    @property
    def records(self) -> list[Record]:
        """The records, in order."""
        return [known.record for known in self.known.values()]


class Delta(NamedTuple):
    """What one change did to a collection.

    Attributes:
        profile: Whose collection.
        kind: Which kind.
        added: Ids that are new.
        changed: Ids whose record differs from before.
        removed: Ids that have gone.
    """

    profile: str
    kind: str
    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()


Listener = Callable[[Delta], None]


class Store:
    """The console's knowledge. Listeners hear of every change, also of those that only touch freshness."""

    def __init__(self) -> None:
        self._collections: dict[tuple[str, str], Collection] = {}
        self._listeners: list[Listener] = []
        self._thread = threading.get_ident()

    def collection(self, profile: str, kind: str) -> Collection:
        """The collection of a kind, empty before anything is known; not to be changed by the reader."""
        return self._collections.setdefault((profile, kind), Collection())

    def get(self, profile: str, kind: str, record_id: str) -> Known | None:
        """One record, or ``None`` when it is not known."""
        return self.collection(profile, kind).known.get(record_id)

    def forget(self, profile: str, kind: str) -> None:
        """Drop a collection that nobody shows any more."""
        self._collections.pop((profile, kind), None)

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Call ``listener`` after every change, and return what ends that."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def apply(self, change: Change) -> Delta:
        """Change the store and tell the listeners.

        Raises:
            RuntimeError: called from another thread than the one that made the store.
        """
        self._check_writer()
        # Changes come after the first paint, which their classes would hold up.
        from runwatch.store.reduce import reduce

        delta = reduce(self.collection(change.profile, change.kind), change)
        self._tell(delta)
        return delta

    async def take(self, change: ListRead) -> Delta:
        """As :meth:`apply`, for a list that may be long: everything else on the loop has its turn meanwhile.

        The list is there all at once in the end. What changes the collection before that is taken in first.

        Raises:
            RuntimeError: called from another thread than the one that made the store.
        """
        self._check_writer()
        for _ in range(TRIES):
            collection = self.collection(change.profile, change.kind)
            if len(collection.known) + len(change.records) <= AT_ONCE:
                break
            leaving = list(collection.known.values())
            with no_walks():
                delta = await self._taken(collection, change)
            if delta is not None:
                self._tell(delta)
                await let_go(leaving)
                return delta
        return self.apply(change)

    async def _taken(self, collection: Collection, change: ListRead) -> Delta | None:
        """What came of taking a list step by step; ``None`` where the collection has changed meanwhile."""
        from runwatch.store.reduce import take_list

        before, revision = collection.known, collection.revision
        steps = take_list(collection, change)
        while True:
            try:
                next(steps)
            except StopIteration as done:
                delta: Delta = done.value
                return delta
            await asyncio.sleep(0)
            is_same = self._collections.get((change.profile, change.kind)) is collection
            if not is_same or collection.known is not before or collection.revision != revision:
                return None

    def _check_writer(self) -> None:
        if threading.get_ident() != self._thread:
            raise RuntimeError("the store has one writer, the loop that made it")

    def _tell(self, delta: Delta) -> None:
        for listener in tuple(self._listeners):
            listener(delta)
