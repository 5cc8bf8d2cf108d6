"""Where a screen's rows come from: the store for what the service has, the journal for what happened here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from runwatch.base.clock import Clock
from runwatch.records.receipt import Receipt
from runwatch.records.run import Run
from runwatch.store.collection import Collection
from runwatch.store.freshness import LoadState, PaneState, pane_state
from runwatch.store.state import Store
from runwatch.view.entries import problem_of_line, request_of_line, with_problems
from runwatch.view.facts import OwnRequest, RunFacts
from runwatch.view.resource import ResourceSpec

if TYPE_CHECKING:
    from runwatch.store.desk import Desk
    from runwatch.store.journal import Journal, Place

LEAST_INTERVAL_S = 5.0
"""A list is not called stale sooner than after twice this, however often it is read."""

FILE = "file"
"""The profile under which the store has the records of a file."""

JOURNAL = 500
"""The newest journal lines that a screen shows."""


EVERYTHING = 20_000
"""More lines than the journal keeps."""


class Source(Protocol):
    """What a list screen asks of its rows' source."""

    def items(self) -> Sequence[Any]:
        """Every record or subject, in order; the same object as before as long as nothing of it has changed."""
        ...

    def state(self) -> PaneState:
        """What the frame says."""
        ...

    def end_is_proven(self) -> bool:
        """Whether the number of items is the whole number."""
        ...

    async def read(self) -> None:
        """Get what is not pushed by itself; called when the screen comes up and after every request."""
        ...


@runtime_checkable
class Seekable(Protocol):
    """A source that finds records by an id in a text."""

    def seek(self, text: str) -> None:
        """Give the records whose id stands in a text, from the next read on; ``""`` ends it."""
        ...


@runtime_checkable
class NotedSource(Protocol):
    """A source whose records stand beside what people write about them on this machine."""

    async def read_notes(self) -> None:
        """Read what people wrote, here or in another console."""
        ...


class StoreSource:
    """Records of one kind that the service lists.

    Args:
        spec: Their resource.
        store: What is known.
        profile: Whose records.
        clock: For ages.
        desk: The desk, or ``None`` before it is open.
    """

    def __init__(self, spec: ResourceSpec[Any], store: Store, profile: str, clock: Clock, desk: Desk | None) -> None:
        self._spec = spec
        self._store = store
        self._profile = profile
        self._clock = clock
        self._desk = desk
        self._requests: dict[str, OwnRequest] = {}
        self._notes: dict[tuple[str, str], str] = {}
        self._local_read = 0
        self._made_of: object = None
        self._items: Sequence[Any] = ()

    @property
    def _collection(self) -> Collection:
        return self._store.collection(self._profile, self._spec.kind)

    def items(self) -> Sequence[Any]:
        """The records; runs with what this console sent for them and their receipts where those are known."""
        present = self._revision()
        if present != self._made_of:
            self._items = self._make()
            self._made_of = present
        return self._items

    def _revision(self) -> object:
        """What goes up, or is another, with every change of what the items are made of."""
        if self._spec.record is not Run:
            return self._collection.revision
        receipts = self._store.collection(self._profile, Receipt.KIND)
        heard = 0 if self._desk is None else self._desk.live.tails.heard
        return self._collection.revision, receipts.revision, self._local_read, heard

    def _make(self) -> Sequence[Any]:
        records = self._collection.records
        if self._spec.record is not Run:
            return records
        receipts = self._store.collection(self._profile, Receipt.KIND).known
        live = self._desk.live if self._desk is not None else None
        return [
            RunFacts(
                record,
                self._requests.get(record.id),
                _receipt(receipts.get(record.id)),
                None if live is None else live.tails.last_event(record.id),
                self._notes.get((record.id, "label"), ""),
                self._notes.get((record.id, "note"), ""),
            )
            for record in records
            if isinstance(record, Run)
        ]

    def state(self) -> PaneState:
        """From the collection, the budget and the gate."""
        return pane_state(
            self._collection,
            now=self._clock.now(),
            monotonic=self._clock.monotonic(),
            interval_s=self._interval_s(),
            held_s=self._desk.live.held_s if self._desk else 0.0,
        )

    def _interval_s(self) -> float:
        if self._desk is None:
            return LEAST_INTERVAL_S
        live = self._desk.live
        return max(LEAST_INTERVAL_S, live.sweep_s) if self._spec.record is Run else live.pace.lists_s

    def end_is_proven(self) -> bool:
        """As the last list said."""
        return self._collection.end_is_proven

    async def read(self) -> None:
        """Read our own requests for runs and what people wrote about them; the service's records come by themselves."""
        if self._desk is not None and self._spec.record is Run:
            watched = await self._desk.watch_list.list(self._desk.scope)
            self._requests = {
                entry.run_id: OwnRequest(dict(entry.request)) for entry in watched if entry.request is not None
            }
            self._local_read += 1
            await self.read_notes()

    async def read_notes(self) -> None:
        """Read what people wrote about the records, here or in another console on this machine."""
        if self._desk is None:
            return
        notes: dict[tuple[str, str], str] = {
            (note.record_id, note.purpose): note.text
            for note in await self._desk.notes.of(self._desk.scope, self._spec.kind)
        }
        if notes != self._notes:
            self._notes = notes
            self._local_read += 1


def _receipt(known: Any) -> Receipt | None:
    return known.record if known is not None and isinstance(known.record, Receipt) else None


class JournalSource:
    """Problems met and requests sent from this machine, newest first.

    Args:
        spec: Which of them.
        clock: For ages.
        desk: The desk, or ``None`` before it is open.
        profiles: The profiles whose problems are listed; ``None`` for all that the journal knows.
    """

    def __init__(
        self,
        spec: ResourceSpec[Any],
        clock: Clock,
        desk: Desk | None,
        *,
        profiles: Callable[[], Sequence[str] | None] = lambda: None,
    ) -> None:
        self._profiles = profiles
        self._spec = spec
        self._clock = clock
        self._desk = desk
        self._read_at: float | None = None
        self._items: Sequence[Any] = ()
        self._sought = ""
        self._found: Sequence[Any] | None = None
        self._limit = JOURNAL
        self._end: Place | None = None

    def widen(self, *, everything: bool) -> bool:
        """List all that is kept from the next read on, or the newest lines again; answer whether that is a change."""
        limit = EVERYTHING if everything else JOURNAL
        is_other, self._limit = limit != self._limit, limit
        if is_other:
            # What was read up to now is no beginning of what is listed from now on.
            self._end = None
        return is_other

    def seek(self, text: str) -> None:
        """Give the problems whose id stands in a text, of all that are kept, from the next read on; ``""`` ends it."""
        self._sought = text
        if not text:
            self._found = None

    def items(self) -> Sequence[Any]:
        """The newest lines, or what was sought."""
        return self._items if self._found is None else self._found

    def state(self) -> PaneState:
        """Fresh as soon as it was read, because nothing but this machine changes it."""
        if self._read_at is None:
            return PaneState(LoadState.LOADING)
        load = LoadState.FRESH if self._items else LoadState.EMPTY
        return PaneState(load, age_s=self._clock.monotonic() - self._read_at)

    def end_is_proven(self) -> bool:
        """Whether all lines are there."""
        return self._found is not None or len(self._items) < self._limit

    async def read(self) -> None:
        """Read the journal again."""
        if self._desk is None:
            return
        journal = self._desk.journal
        await journal.flush()
        if self._spec.kind == "problem":
            from runwatch.store.lookback import problems_of

            if self._sought:
                self._found = [problem_of_line(line) for line in await journal.find(self._sought)]
            listed = await problems_of(journal, self._profiles(), self._limit)
            self._items = [problem_of_line(line) for line in listed]
        else:
            await self._read_requests(journal)
        self._read_at = self._clock.monotonic()

    async def _read_requests(self, journal: Journal) -> None:
        """Take in what was sent since: a request that stands in the journal never changes."""
        sent = await journal.sent(limit=self._limit, after=self._end)
        if sent.requests:
            new = with_problems(map(request_of_line, sent.requests), map(problem_of_line, sent.problems))
            self._items = [*new, *self._items][: self._limit]
        self._end = sent.end
