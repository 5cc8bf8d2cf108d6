"""The records of one kind in one profile, how fresh they are, and what a change did to them."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from runwatch.records.record import Record

if TYPE_CHECKING:
    from runwatch.store.state.changes import ReadFailure


@dataclass(slots=True)
class StoredRecord:
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
        by_id: By id, in the order the service gave.
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

    by_id: dict[str, StoredRecord] = field(default_factory=dict)
    revision: int = 0
    read_at: float | None = None
    cached_at: datetime | None = None
    started_at: float | None = None
    reading: str = ""
    end_is_proven: bool = False
    misfits: int = 0
    failure: ReadFailure | None = None
    failing_since: datetime | None = None

    @property
    def records(self) -> list[Record]:
        """The records, in order."""
        return [known.record for known in self.by_id.values()]


class CollectionDelta(NamedTuple):
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
