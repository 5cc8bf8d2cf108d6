"""Records of one kind in one profile, their freshness, and the effect of a change."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from runwatch.records.record import Record

if TYPE_CHECKING:
    from runwatch.store.state.changes import ReadFailure

R = TypeVar("R", bound=Record)


@dataclass(slots=True, repr=False)
class StoredRecord:
    """One record and when it was last seen.

    Attributes:
        record: The record as the service last sent it.
        seen_at: Wall time of that response; of the earlier session's for a record from disk.
        monotonic: Monotonic time when it came into this process.
    """

    record: Record
    seen_at: datetime
    monotonic: float


@dataclass(slots=True, repr=False)
class Collection:
    """All records of one kind in one profile.

    Attributes:
        by_id: By id, in the service's order.
        revision: Grows with every change of the records or their order; derived data is valid until then.
        read_at: Monotonic time of the last good list read; ``None`` before the first.
        cached_at: When the service confirmed the records read from disk.
        started_at: Monotonic start of the read in progress, or ``None``.
        reading: Method and path of that read.
        end_is_proven: Whether the count is the total.
        misfits: Items of the last list that were not records.
        failure: Why the last read failed; ``None`` after a good one.
        failing_since: Wall time of the first of consecutive failures.
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
        return [known.record for known in self.by_id.values()]

    @property
    def looks(self) -> tuple[object, ...]:
        """All that a screen shows of it, except ages and that known records are being read again."""
        is_read = self.read_at is not None and self.failure is None
        return self.revision, self.failure, self.end_is_proven, self.misfits, is_read or self.started_at, self.cached_at

    def find(self, kind: type[R], record_id: str) -> R | None:
        """Return one record of this collection's kind, or ``None`` if it is not stored."""
        known = self.by_id.get(record_id)
        return known.record if known is not None and isinstance(known.record, kind) else None


class CollectionDelta(NamedTuple):
    """Effect of one change on a collection.

    Attributes:
        changed: Ids whose record differs from before.
    """

    profile: str
    kind: str
    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
