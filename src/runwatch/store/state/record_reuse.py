"""Reuse of stored record objects when a long list is read again, which makes comparisons quick."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from runwatch.records.record import Record
from runwatch.store.state.collection import StoredRecord


def make_record_interner(*known: Callable[[], Mapping[str, StoredRecord]]) -> Callable[[Record], Record]:
    """Return a function that replaces a received record by an equal stored object.

    The store then sees by identity that they are the same, and the memory of the second copy is freed.

    Args:
        known: Each returns the stored records of a list by id. Called again each time, because they change during a
            long read.
    """

    def again(record: Record) -> Record:
        record_id = record.id
        for now in known:
            before = now().get(record_id)
            if before is not None and before.record == record:
                return before.record
        return record

    return again
