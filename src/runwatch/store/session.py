"""Everything the console uses for one service, opened and closed together.

Holds the client, store, poller and local database of a service. Screens read from it and send writes through it; it
does not depend on any screen.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final, Self

from runwatch.api.calls import CallResult, RequestAttempt
from runwatch.api.client import Client
from runwatch.api.operations import CANCEL
from runwatch.base.clock import Clock
from runwatch.base.errors import DataError, RunwatchError, UsageError
from runwatch.base.network.service_target import Target
from runwatch.records.account import Account
from runwatch.records.record import Record
from runwatch.records.run import Run
from runwatch.store.db.database import Database
from runwatch.store.live.poller import Poller, PollIntervals
from runwatch.store.live.request_budget import WINDOW_S
from runwatch.store.live.run_tails import TailUpdate
from runwatch.store.repositories.event_retention import PRUNE_INTERVAL_S, RetentionPolicy, prune_events
from runwatch.store.repositories.event_store import EventStore
from runwatch.store.repositories.journal import Journal
from runwatch.store.repositories.notes import LocalNotes
from runwatch.store.repositories.outbox import Outbox, SendingWrite, UnconfirmedWrite, WriteRequest
from runwatch.store.repositories.pins import Pins
from runwatch.store.repositories.record_cache import RecordCache
from runwatch.store.repositories.record_versions import VERSIONED_KINDS, RecordVersions
from runwatch.store.repositories.scope import Scope, read_scope
from runwatch.store.repositories.watch_list import WatchList
from runwatch.store.state.changes import CacheRead
from runwatch.store.state.collection import Collection, CollectionDelta
from runwatch.store.state.store import Store

_log = logging.getLogger(__name__)

FLUSH_S: Final = 1.0
"""How often the journal is written and the store's lists are cached."""


@dataclass(eq=False)
class WriteBatch:
    """Writes that the user has confirmed together; they are sent one after the other.

    Attributes:
        settled: How many of them have an outcome, known or not.
    """

    requests: Sequence[WriteRequest]
    settled: int = 0

    @property
    def left(self) -> Sequence[WriteRequest]:
        """Those without an outcome; the first one is on its way, or waits for its turn."""
        return self.requests[self.settled :]


class ServiceSession:
    """One service, ready for work. Create it with :meth:`open`."""

    def __init__(
        self,
        client: Client,
        database: Database,
        scope: Scope,
        store: Store,
        *,
        clock: Clock,
        retries: int,
        intervals: PollIntervals,
        keeping: RetentionPolicy,
        tail_moved: Callable[[TailUpdate], None],
        request_attempted: Callable[[RequestAttempt], None],
    ) -> None:
        self.client: Final = client
        self.target: Final = client.target
        self.scope: Final = scope
        self.store: Final = store
        self.clock: Final = clock
        self.journal: Final = Journal(database)
        self.events: Final = EventStore(database)
        self.outbox: Final = Outbox(database, clock=clock)
        self.watch_list: Final = WatchList(database, clock=clock)
        self.cache: Final = RecordCache(database)
        self.notes: Final = LocalNotes(database, clock=clock)
        self.pins: Final = Pins(self.notes)
        self.versions: Final = RecordVersions(database)
        self.live: Final = Poller(
            client,
            scope,
            store,
            self.events,
            self.watch_list,
            clock=clock,
            tail_moved=tail_moved,
            intervals=intervals,
            others=lambda: self._others,
            retries=retries,
        )
        self.sending: Final[list[SendingWrite]] = []
        self.batches: Final[list[WriteBatch]] = []
        self._others = 0
        self._keeping = keeping
        self._room_at = clock.monotonic()
        self._database = database
        self._request_attempted = request_attempted
        self._kinds: dict[str, type[Record]] = {}
        self._dirty: set[str] = set()
        self._versions_at: dict[str, float] = {}
        self._jobs: list[asyncio.Task[None]] = []
        self._leave = store.listen(self._note_delta)

    @classmethod
    async def open(
        cls,
        target: Target,
        path: Path,
        store: Store,
        *,
        database: Database | None = None,
        clock: Clock,
        read_only: bool,
        retries: int,
        intervals: PollIntervals,
        keeping: RetentionPolicy,
        tail_moved: Callable[[TailUpdate], None],
        request_attempted: Callable[[RequestAttempt], None],
    ) -> Self:
        """Open the database and the client, and read the scope.

        Args:
            tail_moved: See :class:`~runwatch.store.live.run_tails.RunTails`.
            request_attempted: Called after each request attempt, with what the journal keeps of it.
            database: The open database, if it is open already; it is closed with the session, and if that fails.

        Raises:
            DataError: The database is not usable.
        """
        session: list[Self] = []
        early: list[RequestAttempt] = []
        accounts: list[Account] = []
        if database is None:
            database = await asyncio.to_thread(Database.open, path)
        client = Client(
            target,
            clock=clock,
            read_only=read_only,
            retries=retries,
            observe=lambda attempt: session[0]._note_attempt(attempt) if session else early.append(attempt),
        )
        try:
            scope = await read_scope(client, database, accounts.append)
        except BaseException:
            await client.close()
            database.close()
            raise
        made = cls(
            client,
            database,
            scope,
            store,
            clock=clock,
            retries=retries,
            intervals=intervals,
            keeping=keeping,
            tail_moved=tail_moved,
            request_attempted=request_attempted,
        )
        session.append(made)
        for attempt in early:
            session[0]._note_attempt(attempt, is_opening=True)
        for account in accounts:
            made.live.take_opening_account(account)
        return session[0]

    async def start(self, kinds: tuple[type[Record], ...], *, with_lists: bool = True) -> None:
        """Show the cached records of the last session with their age, and start reading.

        Args:
            with_lists: Whether to show them; false if the store has them already.

        Raises:
            DataError: The database is not usable.
        """
        self._kinds = {kind.KIND: kind for kind in kinds}
        for kind in kinds if with_lists else ():
            records, seen_at = await self.cache.load(self.scope, kind)
            if records:
                now, monotonic = self.clock.now(), self.clock.monotonic()
                self.store.apply(CacheRead(self.scope.profile, kind.KIND, now, monotonic, tuple(records), seen_at))
        await self._count_others()
        reading = asyncio.ensure_future(self.live.run())
        self._jobs = [reading]
        try:
            await self._make_room()
        except DataError:
            reading.cancel()
            raise
        self._jobs.append(asyncio.ensure_future(self._keep()))

    async def close(self) -> None:
        """End the jobs, store what is known, and close everything. May be called again."""
        for job in self._jobs:
            job.cancel()
        await asyncio.gather(*self._jobs, return_exceptions=True)
        self._jobs = []
        with contextlib.suppress(ValueError):
            self._leave()
        # Lists that did not change were still confirmed, and the next session shows how long ago.
        self._dirty |= {kind for kind in self._kinds if self._collection(kind).read_at is not None}
        await self._flush()
        await self.client.close()
        await self.journal.close()
        await asyncio.to_thread(self._database.close)

    @contextlib.contextmanager
    def batch(self, requests: Sequence[WriteRequest]) -> Iterator[WriteBatch]:
        """List confirmed writes until the block ends, which sends them and counts the settled ones."""
        batch = WriteBatch(requests)
        self.batches.append(batch)
        try:
            yield batch
        finally:
            self.batches.remove(batch)

    @property
    def unsent(self) -> int:
        """How many confirmed writes wait for their turn to be sent."""
        on_their_way = {sending.request.key for sending in self.sending}
        return sum(request.key not in on_their_way for batch in self.batches for request in batch.left)

    def cancels(self) -> Mapping[str, bool]:
        """Return the runs whose cancel is confirmed and has no outcome, and whether the others wait for it."""
        return {
            request.path.get("execution_id", ""): position == 0
            for batch in self.batches
            for position, request in enumerate(batch.left)
            if request.operation == CANCEL
        }

    async def send_write(self, request: WriteRequest) -> CallResult:
        """Send a write for the user at once, and keep it until its outcome is known.

        The caller waits for the user's turn first (:meth:`runwatch.store.live.scheduler.Scheduler.wait_for_user_turn`).

        Raises:
            ApiError: It failed; see :meth:`~runwatch.store.repositories.outbox.Outbox.deliver`.
        """
        async with self._waiting(request):
            return await self.outbox.deliver(self.client, self.scope, request)

    async def retry_write(self, write: UnconfirmedWrite) -> CallResult:
        """Retry an unconfirmed write at once, as :meth:`send_write` sends one.

        Raises:
            RunwatchError: It failed; see :meth:`~runwatch.store.repositories.outbox.Outbox.retry`.
        """
        async with self._waiting(write.request):
            return await self.outbox.retry(self.client, self.scope, write)

    async def unconfirmed_writes(self) -> list[UnconfirmedWrite]:
        """Return the unconfirmed writes for the user to settle; cancels of ended runs are discarded here.

        Raises:
            DataError: The database is not usable.
        """
        waiting = await self.outbox.unconfirmed(self.scope)
        over = [write for write in waiting if write.request.operation == CANCEL and self._has_ended(write)]
        for write in over:
            # Another process may already be retrying it, and will settle it.
            with contextlib.suppress(UsageError):
                await self.outbox.discard(write)
        return [write for write in waiting if write not in over]

    def _has_ended(self, cancel: UnconfirmedWrite) -> bool:
        run = self.store.find(self.scope.profile, Run, cancel.request.path.get("execution_id", ""))
        return run is not None and run.is_final

    @contextlib.asynccontextmanager
    async def _waiting(self, request: WriteRequest) -> AsyncIterator[None]:
        """List a write until its answer comes.

        After an error the journal is written, because the user looks for the problem next, maybe in another terminal.
        """
        sending = SendingWrite(request, self.clock.now())
        self.sending.append(sending)
        try:
            yield
        except RunwatchError:
            await self.journal.flush()
            raise
        finally:
            self.sending.remove(sending)

    def _note_attempt(self, attempt: RequestAttempt, *, is_opening: bool = False) -> None:
        self.live.note(attempt, is_opening=is_opening)
        self.journal.note(attempt)
        self._request_attempted(attempt)

    def _note_delta(self, delta: CollectionDelta) -> None:
        if delta.added or delta.changed or delta.removed:
            self._dirty.add(delta.kind)

    async def _keep(self) -> None:
        while True:
            await self.clock.sleep(FLUSH_S)
            try:
                await self._flush()
                await self._count_others()
                if self.clock.monotonic() - self._room_at >= PRUNE_INTERVAL_S:
                    await self._make_room()
            except DataError:
                # A full disk is no reason to stop; unsaved data is saved as soon as there is room.
                _log.exception("what is known could not be kept")

    async def _count_others(self) -> None:
        """Count the requests of other consoles on this data directory, which share the service's limit.

        The journal has those of the last minute, also of a console that has just ended.
        """
        # Slightly less than a minute, because this console's own count leaves out what is exactly that old.
        now = self.clock.now()
        own = self.live.budget.own_per_minute
        since = now - timedelta(seconds=WINDOW_S - 0.001)
        # Both counts are of this minute, however long the disk takes to tell the other one.
        everybody = await self.journal.count_between(self.target.origin, since, now)
        self._others = max(0, everybody - own)

    async def _flush(self) -> None:
        await self.journal.flush()
        self._dirty &= self._kinds.keys()
        for kind in [*self._dirty]:
            self._dirty.discard(kind)
            collection = self._collection(kind)
            try:
                await self.cache.save(self.scope, kind, collection.records, self._seen_at(collection))
            except BaseException:
                self._dirty.add(kind)
                raise
        for versioned in VERSIONED_KINDS:
            await self._keep_versions(versioned)

    async def _make_room(self) -> None:
        """Delete data that is too old or too much; a console may be open for weeks."""
        self._room_at = self.clock.monotonic()
        await prune_events(self._database, self._keeping, self.clock.now())
        await self.versions.prune(self.clock.now())

    async def _keep_versions(self, kind: type[Record]) -> None:
        """Store versions from the last list read, once. Records outside that list were not seen."""
        collection = self._collection(kind.KIND)
        read_at = collection.read_at
        if read_at is None or self._versions_at.get(kind.KIND) == read_at:
            return
        seen = [known.record for known in collection.by_id.values() if known.monotonic == read_at]
        await self.versions.note(self.scope, seen, self._seen_at(collection))
        self._versions_at[kind.KIND] = read_at

    def _collection(self, kind: str) -> Collection:
        return self.store.collection(self.scope.profile, kind)

    def _seen_at(self, collection: Collection) -> datetime:
        """Return when the service last confirmed the collection."""
        now = self.clock.now()
        if collection.read_at is not None:
            return now - timedelta(seconds=max(0.0, self.clock.monotonic() - collection.read_at))
        return collection.cached_at or now
