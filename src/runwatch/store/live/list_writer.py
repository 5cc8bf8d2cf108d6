"""Turns reads, good or failed, into changes of the store."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from runwatch.base.clock import Clock
from runwatch.base.errors import RunwatchError
from runwatch.records.problem import NOT_A_PROBLEM, NOT_OFFERED_STATUS
from runwatch.records.record import Page, Record
from runwatch.store.live.backoff import Backoff
from runwatch.store.live.connection_state import ConnectionState
from runwatch.store.repositories.scope import Scope
from runwatch.store.state.changes import (
    ListContinued,
    ListRead,
    ReadFailed,
    ReadFailure,
    ReadStarted,
    RecordGone,
    RecordRead,
    read_failure_from_error,
)
from runwatch.store.state.collection import Collection, StoredRecord
from runwatch.store.state.failure_kind import PASSING_FAILURES, FailureKind
from runwatch.store.state.store import Store

REPEATED_FAILURES: Final = PASSING_FAILURES | {FailureKind.ERROR}
"""Failures of a list after which reading goes on; the others are not fixed by a retry, and only the user asks again."""


class ListWriter:
    """Writes what is read for one profile to the store, and spaces out the reads after failures."""

    def __init__(self, scope: Scope, store: Store, clock: Clock, connection: ConnectionState) -> None:
        self._scope = scope
        self._connection = connection
        self._store = store
        self._clock = clock
        self._backoffs = defaultdict[str, Backoff](lambda: Backoff(clock))

    def collection(self, kind: str) -> Collection:
        return self._store.collection(self._scope.profile, kind)

    def start(self, kind: str, what: str) -> None:
        """Note that a list is being read; ``what`` is its method and path."""
        self._store.apply(ReadStarted(self._scope.profile, kind, self._clock.now(), self._clock.monotonic(), what))

    async def take(
        self,
        kind: str,
        records: Iterable[Record],
        page: Page[Any],
        *,
        is_whole: bool,
        is_joined: bool = False,
    ) -> None:
        """Write a list from its beginning.

        Args:
            page: The last page that was read.
            is_whole: Whether these are all records, so that missing ones are gone.
            is_joined: Whether the records stored before follow without a gap.
        """
        self._backoffs[kind].reset()
        await self._store.apply_in_steps(
            ListRead(
                self._scope.profile,
                kind,
                self._clock.now(),
                self._clock.monotonic(),
                tuple(records),
                complete=is_whole,
                is_joined=is_joined,
                end_is_proven=page.end_is_proven and page.next_cursor is None,
                misfits=page.misfits,
            )
        )

    def take_whole(self, kind: str, *records: Record) -> None:
        """Write a short list in one go: these are all records."""
        now, monotonic = self._clock.now(), self._clock.monotonic()
        self._store.apply(
            ListRead(self._scope.profile, kind, now, monotonic, records, complete=True, end_is_proven=True)
        )

    def continue_list(
        self, kind: str, records: Iterable[Record], *, job: str, after: str = "", end_is_proven: bool = False
    ) -> None:
        """Write a further page of a list.

        Args:
            job: Names the reads that have waits of their own after a failure.
            after: Id of the record that the page follows; empty if it follows the last one.
            end_is_proven: Whether the list has no gap and no further records now.
        """
        self._backoffs[job].reset()
        now, monotonic = self._clock.now(), self._clock.monotonic()
        self._store.apply(
            ListContinued(self._scope.profile, kind, now, monotonic, tuple(records), after, end_is_proven)
        )

    def take_record(self, record: Record) -> None:
        now, monotonic = self._clock.now(), self._clock.monotonic()
        self._store.apply(RecordRead(self._scope.profile, record.KIND, now, monotonic, record))

    def drop_record(self, kind: str, record_id: str) -> None:
        """Note that the service has no such record any more."""
        now, monotonic = self._clock.now(), self._clock.monotonic()
        self._store.apply(RecordGone(self._scope.profile, kind, now, monotonic, record_id))

    def failure(self, kind: str, error: RunwatchError) -> ReadFailure:
        """Convert the error of a read. A list that was read before is not missing, nor one of a foreign server."""
        was_read = self.collection(kind).read_at is not None
        failure = read_failure_from_error(error, collection=self._connection.has_api_responded and not was_read)
        problem = failure.problem
        if was_read and problem and problem.status in NOT_OFFERED_STATUS and problem.code != NOT_A_PROBLEM:
            return failure._replace(kind=FailureKind.ERROR, is_withdrawn=True)
        return failure

    def fail(self, kind: str, failure: ReadFailure, *, job: str = "") -> float | None:
        """Write a failure and return the seconds until the next read; ``None`` if only the user repeats it.

        Args:
            job: As in :meth:`continue_list`; empty for reads of the beginning.
        """
        self._store.apply(ReadFailed(self._scope.profile, kind, self._clock.now(), self._clock.monotonic(), failure))
        if failure.is_final or failure.kind not in REPEATED_FAILURES:
            return None
        return self._backoffs[job or kind].next_s()


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
