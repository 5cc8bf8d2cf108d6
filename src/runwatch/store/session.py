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
from runwatch.api.write_outcome import is_settled_cancel
from runwatch.base.clock import Clock, until_whole_second
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

MAX_BODIES: Final = 100
"""How many bodies of writes a session remembers, to name them in a copied command."""

MAX_BODY_BYTES: Final = 20_000
"""The longest body that it remembers; a longer one does not belong into a command line."""


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


@dataclass(frozen=True, slots=True)
class SessionOptions:
    """What the settings and the console decide for a session.

    Attributes:
        retries: How many more times a request is sent.
        tail_moved: See :class:`~runwatch.store.live.run_tails.RunTails`.
        request_attempted: Called after each request attempt, with what the journal keeps of it.
    """

    clock: Clock
    read_only: bool
    retries: int
    intervals: PollIntervals
    retention: RetentionPolicy
    tail_moved: Callable[[TailUpdate], None]
    request_attempted: Callable[[RequestAttempt], None]


class ServiceSession:
    """One service, ready for work. Create it with :meth:`open`."""

    def __init__(self, client: Client, database: Database, scope: Scope, store: Store, options: SessionOptions) -> None:
        clock = options.clock
        self.client: Final = client
        self.target: Final = client.target
        self.scope: Final = scope
        self.store: Final = store
        self.clock: Final = clock
        self.journal: Final = Journal(database)
        self.event_store: Final = EventStore(database)
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
            self.event_store,
            self.watch_list,
            clock=clock,
            tail_moved=options.tail_moved,
            intervals=options.intervals,
            others=lambda: self._others,
            retries=options.retries,
        )
        self.sending: Final[list[SendingWrite]] = []
        self.batches: Final[list[WriteBatch]] = []
        self._bodies: dict[str, bytes] = {}
        self._others = 0
        self._counted_at: tuple[int, int] | None = None
        self._retention = options.retention
        self._pruned_at = clock.monotonic()
        self._database = database
        self._request_attempted = options.request_attempted
        self._kinds: dict[str, type[Record]] = {}
        self._dirty: set[str] = set()
        self._versions_at: dict[str, float] = {}
        self._jobs: list[asyncio.Task[None]] = []
        self._stop_listening = store.listen(self._handle_delta)

    @classmethod
    async def open(
        cls, target: Target, path: Path, store: Store, options: SessionOptions, *, database: Database | None = None
    ) -> Self:
        """Open the database and the client, and read the scope.

        Args:
            database: The open database, if it is open already; it is closed with the session, and if that fails.
        """
        # What the client reports before the session is there.
        attempts: list[RequestAttempt] = []
        accounts: list[Account] = []
        session: Self | None = None

        def observe(attempt: RequestAttempt) -> None:
            if session is None:
                attempts.append(attempt)
            else:
                session._note_attempt(attempt)

        if database is None:
            database = await asyncio.to_thread(Database.open, path)
        client = Client(
            target,
            clock=options.clock,
            read_only=options.read_only,
            retries=options.retries,
            observe=observe,
        )
        try:
            scope = await read_scope(client, database, accounts.append)
        except BaseException:
            await client.close()
            database.close()
            raise
        session = cls(client, database, scope, store, options)
        for attempt in attempts:
            session._note_attempt(attempt, is_opening=True)
        for account in accounts:
            session.live.take_opening_account(account)
        return session

    async def start(self, kinds: tuple[type[Record], ...], *, with_lists: bool = True) -> None:
        """Show the cached records of the last session with their age, and start reading.

        Args:
            with_lists: Whether to show them; false if the store has them already.
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
            await self._prune()
        except DataError:
            reading.cancel()
            raise
        self._jobs.append(asyncio.ensure_future(self._run_upkeep()))

    async def close(self) -> None:
        """End the jobs, store what is known, and close everything. May be called again."""
        for job in self._jobs:
            job.cancel()
        await asyncio.gather(*self._jobs, return_exceptions=True)
        self._jobs = []
        with contextlib.suppress(ValueError):
            self._stop_listening()
        # Lists that did not change were still confirmed, and the next session shows how long ago.
        self._dirty |= {kind for kind in self._kinds if self._collection(kind).read_at is not None}
        await self.journal.flush()
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
        """Send a write for the user at once, as :meth:`~runwatch.store.repositories.outbox.Outbox.deliver` does.

        The caller takes the user's turn for it (:meth:`runwatch.store.live.scheduler.Scheduler.user_turn`).
        """
        async with self._list_while_sending(request):
            return await self.outbox.deliver(self.client, self.scope, request)

    async def retry_write(self, write: UnconfirmedWrite) -> CallResult:
        """Retry an unconfirmed write at once, as :meth:`~runwatch.store.repositories.outbox.Outbox.retry` does."""
        async with self._list_while_sending(write.request):
            return await self.outbox.retry(self.client, self.scope, write)

    async def unconfirmed_writes(self) -> list[UnconfirmedWrite]:
        """Return the unconfirmed writes for the user to settle; cancels of ended runs are discarded here."""
        waiting = await self.outbox.unconfirmed(self.scope)
        settled = [write for write in waiting if is_settled_cancel(write.request.operation, self._find_run(write))]
        for write in settled:
            # Another process may already be retrying it, and will settle it.
            with contextlib.suppress(UsageError):
                await self.outbox.discard(write)
        return [write for write in waiting if write not in settled]

    def find_body(self, key: str) -> bytes | None:
        """Return the body that this session sent with a key; ``None`` without one, and for long or old ones."""
        return self._bodies.get(key)

    def _find_run(self, write: UnconfirmedWrite) -> Run | None:
        return self.store.find(self.scope.profile, Run, write.request.path.get("execution_id", ""))

    @contextlib.asynccontextmanager
    async def _list_while_sending(self, request: WriteRequest) -> AsyncIterator[None]:
        """List a write until its answer comes.

        After an error the journal is written, because the user looks for the problem next, maybe in another terminal.
        """
        sending = SendingWrite(request, self.clock.now())
        self.sending.append(sending)
        if request.body is not None and len(request.body) <= MAX_BODY_BYTES:
            self._bodies[request.key] = request.body
            while len(self._bodies) > MAX_BODIES:
                del self._bodies[next(iter(self._bodies))]
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

    def _handle_delta(self, delta: CollectionDelta) -> None:
        if delta.added or delta.changed or delta.removed:
            self._dirty.add(delta.kind)
        if delta.kind == Run.KIND and delta.profile == self.scope.profile:
            self.live.tails.read_ended(delta.changed)

    async def _run_upkeep(self) -> None:
        while True:
            await self.clock.sleep(until_whole_second(self.clock, FLUSH_S))
            try:
                await self._count_others()
                await self._flush()
                if self.clock.monotonic() - self._pruned_at >= PRUNE_INTERVAL_S:
                    await self._prune()
            except DataError:
                # A full disk is no reason to stop; unsaved data is saved as soon as there is room.
                _log.exception("what is known could not be kept")

    async def _count_others(self) -> None:
        """Write the journal, and count the requests of other consoles on this data directory, which share the limit.

        The journal has those of the last minute, also of a console that has just ended. If there were none, and no
        process has written since, there are none now. Where the limit may be reached, others learn of each read soon.
        """
        now = self.clock.now()
        known = self._database.last_write is not None and self._database.last_write == self._counted_at
        is_written = not self.journal.is_due(now, waits=self.live.budget.has_room)
        if known and not self._others and is_written:
            return
        # Slightly less than a minute, because this console's own count leaves out what is exactly that old.
        own = self.live.budget.own_per_minute
        since = now - timedelta(seconds=WINDOW_S - 0.001)
        # Both counts are of this minute, however long the disk takes to tell the other one.
        everybody = await self.journal.count_between(self.target.origin, since, now)
        self._others = max(0, everybody - own)
        self._counted_at = self._database.last_write

    async def _flush(self) -> None:
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

    async def _prune(self) -> None:
        """Delete data that is too old or too much; a console may be open for weeks."""
        self._pruned_at = self.clock.monotonic()
        await prune_events(self._database, self._retention, self.clock.now())
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
