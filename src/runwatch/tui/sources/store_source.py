"""Rows of a list from the store, which the pollers fill."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from runwatch.base.clock import Clock
from runwatch.records.receipt import Receipt
from runwatch.records.run import Run
from runwatch.store.state.collection import Collection
from runwatch.store.state.freshness import PaneState, pane_state
from runwatch.store.state.store import Store
from runwatch.view.runs.run_facts import RunFacts, SubmittedRequest
from runwatch.view.spec.resource import ResourceSpec

if TYPE_CHECKING:
    from runwatch.store.session import ServiceSession
    from runwatch.tui.shell.console import Console


LEAST_INTERVAL_S = 5.0
"""A list becomes stale after twice this at the earliest, however often it is read."""


def runs_state(console: Console) -> PaneState:
    """Return the state of the list of runs, which shows what is live."""
    from runwatch.view.resources.runs import RUNS

    return StoreSource(RUNS, console.store, console.profile_name, console.clock, console.session).state()


class StoreSource:
    """Records of one kind that the service lists."""

    def __init__(
        self, spec: ResourceSpec[Any], store: Store, profile: str, clock: Clock, session: ServiceSession | None
    ) -> None:
        self._spec = spec
        self._store = store
        self._profile = profile
        self._clock = clock
        self._session = session
        self._requests: dict[str, SubmittedRequest] = {}
        self._notes: dict[tuple[str, str], str] = {}
        self._local_read = 0
        self._made_of: object = None
        self._items: Sequence[Any] = ()

    @property
    def _collection(self) -> Collection:
        return self._store.collection(self._profile, self._spec.kind)

    def items(self) -> Sequence[Any]:
        """Return the records; runs with their submitted request and receipt where known."""
        present = self._revision()
        if present != self._made_of:
            self._items = self._make()
            self._made_of = present
        return self._items

    def _revision(self) -> object:
        """Return a value that differs after every change to the items."""
        if self._spec.record is not Run:
            return self._collection.revision
        receipts = self._store.collection(self._profile, Receipt.KIND)
        event_pages = 0 if self._session is None else self._session.live.tails.page_count
        return (
            self._collection.revision,
            receipts.revision,
            self._local_read,
            event_pages,
            tuple(self._cancels().items()),
        )

    def _cancels(self) -> Mapping[str, bool]:
        return {} if self._session is None else self._session.cancels()

    def _make(self) -> Sequence[Any]:
        if self._spec.record is not Run:
            return self._collection.records
        receipts = self._store.collection(self._profile, Receipt.KIND)
        live = self._session.live if self._session is not None else None
        cancels = self._cancels()
        return [
            RunFacts(
                record,
                self._requests.get(record.id),
                receipts.find(Receipt, record.id),
                None if live is None else live.tails.last_event(record.id),
                self._notes.get((record.id, "label"), ""),
                self._notes.get((record.id, "note"), ""),
                stored=stored,
                is_cancelling=cancels.get(record.id),
            )
            for stored in self._collection.by_id.values()
            if isinstance(record := stored.record, Run)
        ]

    def state(self) -> PaneState:
        """Compute the state from the collection, the poll interval and the rate-limit hold."""
        job = f"list {self._spec.kind}"
        return collection_state(self._clock, self._session, self._collection, self._interval_s(), job=job)

    def _interval_s(self) -> float:
        if self._session is None:
            return LEAST_INTERVAL_S
        live = self._session.live
        return max(LEAST_INTERVAL_S, live.sweep_s) if self._spec.record is Run else live.intervals.lists_s

    def end_is_proven(self) -> bool:
        """Return what the last list said."""
        return self._collection.end_is_proven

    async def read(self) -> None:
        """Read submitted requests and local notes of runs; pollers read the service's records."""
        if self._session is not None and self._spec.record is Run:
            watched = await self._session.watch_list.list(self._session.scope)
            requests = {
                entry.run_id: SubmittedRequest(dict(entry.request)) for entry in watched if entry.request is not None
            }
            if requests != self._requests:
                self._requests = requests
                self._local_read += 1
            await self.read_notes()

    async def read_notes(self) -> None:
        """Read local notes about the records, from this or another console on this machine."""
        if self._session is None:
            return
        notes: dict[tuple[str, str], str] = {
            (note.record_id, note.purpose): note.text
            for note in await self._session.notes.list_for(self._session.scope, self._spec.kind)
        }
        if notes != self._notes:
            self._notes = notes
            self._local_read += 1


def collection_state(
    clock: Clock, session: ServiceSession | None, collection: Collection, interval_s: float, *, job: str
) -> PaneState:
    """Return the state of a collection that a job of a session reads every ``interval_s`` seconds."""
    if session is not None:
        return session.live.state(collection, interval_s, job=job)
    return pane_state(collection, now=clock.now(), monotonic=clock.monotonic(), interval_s=interval_s)
