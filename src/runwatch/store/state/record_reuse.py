"""Long lists that come again: what has not changed is taken as the object that is known, so that comparing is quick."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from runwatch.records.record import Record
from runwatch.store.state.collection import StoredRecord


def make_record_interner(*known: Callable[[], Mapping[str, StoredRecord]]) -> Callable[[Record], Record]:
    """What exchanges a record that came for the object that is known, where the two are equal.

    The store then sees at once that they are the same, and what was decoded a second time is given back.

    Args:
        known: What is known now, by id, in each list that may have it: it changes while a long list comes.
    """

    def again(record: Record) -> Record:
        record_id = record.id
        for now in known:
            before = now().get(record_id)
            if before is not None and before.record == record:
                return before.record
        return record

    return again
