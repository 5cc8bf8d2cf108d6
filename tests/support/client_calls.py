"""Calls that the program makes in another way: it submits through the outbox, and follows runs in the store."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from runwatch.api.client import Client
from runwatch.api.run_tail import RunTail
from runwatch.records.event import RunEvent
from runwatch.records.run import Run
from runwatch.store.db.database import Database
from runwatch.store.live.stored_run_tail import follow_run
from runwatch.store.repositories.event_store import EventStore
from runwatch.store.repositories.scope import Scope


async def submit_run(client: Client, body: bytes, *, key: str) -> Run:
    value = (await client.request("postExecutions", body=body, key=key)).value
    assert isinstance(value, dict)
    return Run(value)


async def cancel_run(client: Client, run_id: str, *, key: str) -> Run:
    path = {"execution_id": run_id}
    value = (await client.request("postExecutionsByExecutionIdCancel", path=path, key=key)).value
    assert isinstance(value, dict)
    return Run(value)


class MemoryTail(RunTail):
    """A tail that remembers the events of its run, as a store does.

    Args:
        after: The id of the last event that the caller has.
    """

    def __init__(self, after: str | None = None) -> None:
        super().__init__(after)
        self._start = after
        self._seen = {after}

    def take(self, events: Sequence[RunEvent], run_status: str | None = None) -> list[RunEvent]:
        """Note a page, and return its new events."""
        new = self.new_among(events)
        self.note_page(events, run_status, new=new)
        return new

    def new_among(self, events: Sequence[RunEvent]) -> list[RunEvent]:
        """Remember events; those up to the caller's start are not new."""
        at = next((place + 1 for place, event in enumerate(events) if event.id and event.id == self._start), 0)
        self._seen |= {event.id or event.wire_text for event in events[:at]}
        return [event for event in events[at:] if self._is_new(event.id or event.wire_text)]

    def _is_new(self, identity: str) -> bool:
        is_new = identity not in self._seen
        self._seen.add(identity)
        return is_new


async def follow(client: Client, run_id: str) -> AsyncIterator[RunEvent]:
    """Yield the events of a run as they happen, each once, until the run has ended or a read fails."""
    with TemporaryDirectory() as directory:
        database = Database.open(Path(directory) / "console" / "console.db")
        try:
            events = follow_run(
                client,
                Scope("work", "t_1", "p_1"),
                EventStore(database),
                run_id,
                clock=client._clock,
                patience_s=0,
                on_failure=lambda *_: None,
            )
            async for event in events:
                yield event
        finally:
            database.close()
