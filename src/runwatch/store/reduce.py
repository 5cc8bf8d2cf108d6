"""What each change does to a collection: the only code that changes one."""

from __future__ import annotations

from runwatch.records.record import Record
from runwatch.store.change import CacheRead, Change, ListRead, ReadFailed, ReadStarted, RecordGone, RecordRead
from runwatch.store.state import Collection, Delta, Known


def reduce(collection: Collection, change: Change) -> Delta:
    """Change a collection in place, and tell what that did to it."""
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
    changed = tuple(key for key, now in read.items() if key in before and _differ(before[key].record, now.record))
    kept = {} if change.complete else {key: known for key, known in before.items() if key not in read}
    removed = tuple(key for key in before if key not in read and key not in kept)
    collection.known = read | kept
    if added or changed or removed or list(before) != list(collection.known):
        collection.revision += 1
    collection.read_at, collection.started_at = change.monotonic, None
    collection.end_is_proven, collection.misfits = change.end_is_proven, change.misfits
    collection.failure = collection.failing_since = None
    return Delta(change.profile, change.kind, added, changed, removed)


def _differ(one: Record, other: Record) -> bool:
    return one is not other and one != other


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
