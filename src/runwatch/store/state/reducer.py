"""Reducer: the only code that changes a collection."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Generator, Mapping, Sequence
from itertools import chain, islice
from operator import ne
from typing import Final

from runwatch.base.generators import run_to_end
from runwatch.records.record import Record
from runwatch.store.state.changes import (
    CacheRead,
    ListContinued,
    ListRead,
    ReadFailed,
    ReadStarted,
    RecordGone,
    RecordRead,
    StoreChange,
)
from runwatch.store.state.collection import Collection, CollectionDelta, StoredRecord

STEP: Final = 500
"""Maximum records that one step of :func:`apply_list_in_steps` handles: a millisecond, two where they have to be
compared.
"""


def apply_change(collection: Collection, change: StoreChange) -> CollectionDelta:
    """Apply a change to a collection in place, and return its delta."""
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
            return run_to_end(apply_list_in_steps(collection, change))
        case ListContinued():
            return _from_continuation(collection, change)
        case RecordRead():
            return _from_record(collection, change)
        case RecordGone():
            gone = collection.by_id.pop(change.id, None)
            collection.revision += gone is not None
            return CollectionDelta(change.profile, change.kind, removed=(change.id,) if gone else ())
    return CollectionDelta(change.profile, change.kind)


def _from_cache(collection: Collection, change: CacheRead) -> CollectionDelta:
    seen_at = change.seen_at or change.at
    added = []
    for record in change.records:
        if record.id not in collection.by_id:
            collection.by_id[record.id] = StoredRecord(record, seen_at, change.monotonic)
            added.append(record.id)
    collection.cached_at = change.seen_at
    collection.revision += 1
    return CollectionDelta(change.profile, change.kind, added=tuple(added))


def apply_list_in_steps(collection: Collection, change: ListRead) -> Generator[None, None, CollectionDelta]:
    """Apply a list in steps of :data:`STEP` records.

    The collection changes all at once, after the last pause. If anything else changes it between two steps, the caller
    has to start over.
    """
    before = collection.by_id
    known: dict[str, StoredRecord] = {}
    for start in range(0, len(change.records), STEP):
        for record in change.records[start : start + STEP]:
            known[record.id] = _seen(before.get(record.id), record, change)
        yield
    added: list[str] = []
    changed: list[str] = []
    read = iter(known.items())
    while part := tuple(islice(read, STEP)):
        for key, now in part:
            was = before.get(key)
            if was is None:
                added.append(key)
            elif was is not now:
                changed.append(key)
        yield
    missing: list[str] = []
    earlier = iter(before)
    while keys := tuple(islice(earlier, STEP)):
        missing += [key for key in keys if key not in known]
        yield
    if not change.complete:
        known |= {key: before[key] for key in missing}
        missing = []
    collection.by_id = known
    if added or changed or missing or any(map(ne, before, known)):
        collection.revision += 1
    collection.read_at, collection.started_at = change.monotonic, None
    collection.end_is_proven = change.end_is_proven or (change.is_joined and collection.end_is_proven)
    collection.misfits = change.misfits
    collection.failure = collection.failing_since = None
    return CollectionDelta(change.profile, change.kind, tuple(added), tuple(changed), tuple(missing))


def _seen(before: StoredRecord | None, record: Record, change: StoreChange) -> StoredRecord:
    """Return what is stored of a record now: the same object if only the time differs, which its readers see."""
    if before is None or (before.record is not record and before.record != record):
        return StoredRecord(record, change.at, change.monotonic)
    # Seen again, which stays true even if this change is dropped. An unchanged list allocates nothing.
    before.seen_at, before.monotonic = change.at, change.monotonic
    return before


def _from_continuation(collection: Collection, change: ListContinued) -> CollectionDelta:
    added, changed = [], []
    known, place = collection.by_id, change.after
    followers = defaultdict[str, list[str]](list)
    for record in change.records:
        before = known.get(record.id)
        known[record.id] = now = _seen(before, record, change)
        if before is not None:
            place = record.id
            changed += [record.id] if now is not before else []
        else:
            added.append(record.id)
            if place in known:
                followers[place].append(record.id)
    if followers:
        collection.by_id = _in_order(known, followers)
    collection.revision += bool(added or changed)
    collection.end_is_proven = collection.end_is_proven or change.end_is_proven
    collection.failure = collection.failing_since = None
    return CollectionDelta(change.profile, change.kind, tuple(added), tuple(changed))


def _in_order(known: Mapping[str, StoredRecord], followers: Mapping[str, Sequence[str]]) -> dict[str, StoredRecord]:
    """Return the records with each of these followers moved behind its predecessor."""
    moved = set(chain.from_iterable(followers.values()))
    stay = (record_id for record_id in known if record_id not in moved)
    return {key: known[key] for record_id in stay for key in (record_id, *followers.get(record_id, ()))}


def _from_record(collection: Collection, change: RecordRead) -> CollectionDelta:
    key = change.record.id
    before = collection.by_id.get(key)
    known = _seen(before, change.record, change)
    if before is None:
        # Lists begin with the newest record.
        collection.by_id = {key: known} | collection.by_id
        collection.revision += 1
        return CollectionDelta(change.profile, change.kind, added=(key,))
    collection.by_id[key] = known
    changed = (key,) if known is not before else ()
    collection.revision += len(changed)
    return CollectionDelta(change.profile, change.kind, changed=changed)
