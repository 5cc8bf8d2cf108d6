"""Many runs submitted and followed at once, over a service that may go away at any moment."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from runwatch.api.client import Client
from runwatch.api.errors import ApiError
from runwatch.base.json import encode_body
from runwatch.records.event import RunEvent
from runwatch.records.run import Run
from runwatch.store.db.database import Database
from runwatch.store.live.stored_run_tail import follow_run
from runwatch.store.repositories.event_store import EventStore
from runwatch.store.repositories.outbox import Outbox, WriteRequest
from runwatch.store.repositories.scope import Scope
from tests.support.clock import FakeClock


class UpClock(FakeClock):
    """A clock whose sleeps end at once while the service is up, and with its return while it is down."""

    def __init__(self) -> None:
        super().__init__()
        self.up = asyncio.Event()
        self.up.set()

    async def sleep(self, seconds: float) -> None:
        """Wait for the service, then let the time go by at once."""
        await self.up.wait()
        await super().sleep(seconds)


@dataclass
class Followed:
    """One run and what its follower was given.

    Attributes:
        key: The idempotency key it was submitted with.
        body: What was submitted.
        run_id: Its id, once acknowledged.
        events: What the follower was given, in order.
    """

    key: str
    body: dict[str, Any]
    run_id: str = ""
    events: list[RunEvent] = field(default_factory=list)

    @property
    def event_ids(self) -> list[str]:
        return [event.id for event in self.events]


class Fleet:
    """Submits runs through the outbox and follows each from its acknowledgement to its end.

    Attributes:
        runs: The runs so far.
        clock: What everybody waits by.
    """

    def __init__(self, client: Client, scope: Scope, database: Database, clock: UpClock) -> None:
        self.runs: list[Followed] = []
        self.clock = clock
        self._client = client
        self._scope = scope
        self._outbox = Outbox(database)
        self._events = EventStore(database)
        self._seen = 0
        self._marks: list[tuple[int, asyncio.Event]] = []

    async def sail(self, crew: str, body_of: Callable[[str], dict[str, Any]], until: asyncio.Event) -> None:
        """Submit one run after another and follow each to its end, until it is enough.

        Args:
            crew: What the keys begin with.
            body_of: What is submitted under a key.
            until: Set when no further run is to be submitted.
        """
        number = 0
        while not until.is_set():
            number += 1
            run = Followed(key := f"{crew}-{number}", body_of(key))
            self.runs.append(run)
            await self._sail_one(run)

    def mark(self, events: int) -> asyncio.Event:
        """An event that is set when the followers have received this many more events, of all runs together."""
        event = asyncio.Event()
        self._marks.append((self._seen + events, event))
        return event

    async def _sail_one(self, run: Followed) -> None:
        run.run_id = (await self._submit(run)).id
        while True:
            try:
                await self._follow(run)
            except ApiError as error:
                # A follower gives up when its first read gets no response; its user then starts it again.
                if run.events or not error.retryable:
                    raise
                await self.clock.up.wait()
            else:
                return

    async def _follow(self, run: Followed) -> None:
        async for event in follow_run(
            self._client,
            self._scope,
            self._events,
            run.run_id,
            clock=self.clock,
            patience_s=float("inf"),
            on_failure=lambda *_: None,
        ):
            run.events.append(event)
            self._seen += 1
            for threshold, mark in self._marks:
                if self._seen >= threshold:
                    mark.set()

    async def _submit(self, run: Followed) -> Run:
        """Submit until the outcome is known, with the same key and bytes."""
        request = WriteRequest("postExecutions", {}, encode_body(run.body), run.key)
        while True:
            await self.clock.up.wait()
            try:
                answer = await self._outbox.deliver(self._client, self._scope, request)
            except ApiError as error:
                if error.outcome_known and not error.retryable:
                    raise
                continue
            assert isinstance(answer.value, dict)
            return Run(answer.value)
