"""What the console knows now: records by profile, kind and id, and how fresh that knowledge is.

One writer, the UI loop: :meth:`Store.apply` refuses to run on another thread. Readers on the same loop see a store
between two changes, never inside one.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

from runwatch.records.record import Record
from runwatch.store.change import CacheRead, Change, Failure, ListRead, ReadFailed, ReadStarted, RecordGone, RecordRead


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


@dataclass(frozen=True, slots=True)
class Delta:
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

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Call ``listener`` after every change, and return what ends that."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def apply(self, change: Change) -> Delta:
        """Change the store and tell the listeners.

        Raises:
            RuntimeError: called from another thread than the one that made the store.
        """
        if threading.get_ident() != self._thread:
            raise RuntimeError("the store has one writer, the loop that made it")
        delta = _apply(self.collection(change.profile, change.kind), change)
        for listener in tuple(self._listeners):
            listener(delta)
        return delta


def _apply(collection: Collection, change: Change) -> Delta:
    match change:
        case ReadStarted():
            collection.started_at, collection.reading = change.monotonic, change.what
        case ReadFailed():
            if collection.failure is None:
                collection.failing_since = change.at
            collection.started_at, collection.failure = None, change.failure
        case CacheRead():
            return _from_cache(collection, change)
        case ListRead():
            return _from_list(collection, change)
        case RecordRead():
            return _from_record(collection, change)
        case RecordGone():
            gone = collection.known.pop(change.id, None)
            collection.revision += gone is not None
            return Delta(change.profile, change.kind, removed=(change.id,) if gone else ())
    return Delta(change.profile, change.kind)


def _from_cache(collection: Collection, change: CacheRead) -> Delta:
    seen_at = change.seen_at or change.at
    added = []
    for record in change.records:
        if record.id not in collection.known:
            collection.known[record.id] = Known(record, seen_at, change.monotonic, from_cache=True)
            added.append(record.id)
    collection.cached_at = change.seen_at
    collection.revision += 1
    return Delta(change.profile, change.kind, added=tuple(added))


def _from_list(collection: Collection, change: ListRead) -> Delta:
    before = collection.known
    read = {record.id: Known(record, change.at, change.monotonic) for record in change.records}
    added = tuple(key for key in read if key not in before)
    changed = tuple(key for key in read if key in before and before[key].record != read[key].record)
    kept = {} if change.complete else {key: known for key, known in before.items() if key not in read}
    removed = tuple(key for key in before if key not in read and key not in kept)
    collection.known = read | kept
    if added or changed or removed or list(before) != list(collection.known):
        collection.revision += 1
    collection.read_at, collection.started_at = change.monotonic, None
    collection.end_is_proven, collection.misfits = change.end_is_proven, change.misfits
    collection.failure = collection.failing_since = None
    return Delta(change.profile, change.kind, added, changed, removed)


def _from_record(collection: Collection, change: RecordRead) -> Delta:
    key = change.record.id
    before = collection.known.get(key)
    known = Known(change.record, change.at, change.monotonic)
    if before is None:
        # The newest is what a list begins with.
        collection.known = {key: known} | collection.known
        collection.revision += 1
        return Delta(change.profile, change.kind, added=(key,))
    collection.known[key] = known
    changed = (key,) if before.record != change.record else ()
    collection.revision += len(changed)
    return Delta(change.profile, change.kind, changed=changed)
