"""A session on a service with a limit, in simulated minutes, for the tests of live data."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

from runwatch.api.calls import RequestAttempt
from runwatch.base.clock import Clock, format_iso
from runwatch.base.network.service_target import Target
from runwatch.base.secrets.secret import Secret
from runwatch.records.record import Record
from runwatch.store.live.poller import PollIntervals
from runwatch.store.live.run_tails import TailUpdate
from runwatch.store.repositories.event_retention import RetentionPolicy
from runwatch.store.session import ServiceSession, SessionOptions
from runwatch.store.state.store import Store
from tests.support.builders import event, problem
from tests.support.clock import FakeClock
from tests.support.real_work import RealWork, real_work
from tests.support.scripted import Heard, Said, ScriptedService

QUIET_TURNS: Final = 5
"""Turns of the loop with nothing to do before the session counts as quiet."""

REST_S: Final = 0.0005
"""How long a test rests while it waits for a thread."""

PATIENCE_S: Final = 60.0
"""How long reads may take on a busy machine before they count as endless."""


class LimitedService(ScriptedService):
    """A service that counts requests in a sliding minute of the clock, and answers 429 beyond its limit.

    Args:
        limit: Requests a minute; ``None`` for no limit.
        clock: Its time; one that a test turns where none is given.
    """

    def __init__(self, limit: int | None = None, *, clock: FakeClock | None = None, **given: Any) -> None:
        super().__init__(**given)
        self.clock: Final = clock or FakeClock(manual=True)
        self._limit = limit
        self.times: list[float] = []
        self.refused = 0
        self.holds_for_s: int | None = None

    def _answer(self, heard: Heard) -> Said:
        now = self.clock.monotonic()
        recent = sum(at > now - 60 for at in self.times)
        self.times.append(now)
        if self.holds_for_s is not None or (self._limit is not None and recent >= self._limit):
            self.refused += 1
            wait, self.holds_for_s = self.holds_for_s or 20, None
            return Said(429, problem("rate_limited", retry_after_s=wait))
        return super()._answer(heard)


@dataclass
class Ticking:
    """Events of one run that come by themselves as time goes by.

    Attributes:
        run_id: The run.
        every_s: Seconds between two events.
        clock: Whose time; that of the service that has them.
        first: The number of the first event that is still there.
    """

    run_id: str
    every_s: float = 1.0
    clock: FakeClock = field(default_factory=lambda: FakeClock(manual=True))
    started: float = field(init=False)

    def __post_init__(self) -> None:
        self.started = self.clock.monotonic()

    @property
    def count(self) -> int:
        """How many events there are now."""
        return 1 + int((self.clock.monotonic() - self.started) / self.every_s)

    def made_at(self, number: int) -> float:
        """When an event came, on the clock that only grows."""
        return self.started + number * self.every_s

    def events(self, run_id: str, after: str | None) -> Sequence[Mapping[str, Any]] | None:
        if run_id != self.run_id:
            return []
        first = 0 if after is None else int(after.removeprefix("ev_")) + 1
        at = format_iso(self.clock.now())
        return [dict(event(number, "progress", execution_id=run_id, at=at).raw) for number in range(first, self.count)]


@dataclass
class Watching:
    """A session at work.

    Attributes:
        session: The session.
        clock: Its time.
        service: What it reads.
        exchanges: Every request, in order.
        updates: Every update of a tail, in order.
        work: What threads and requests are doing.
    """

    session: ServiceSession
    clock: FakeClock
    service: LimitedService
    exchanges: list[RequestAttempt]
    updates: list[TailUpdate]
    work: RealWork

    async def settle(self) -> None:
        """Let everybody do what is due, until nothing but time moves it on."""
        deadline, quiet = time.monotonic() + PATIENCE_S, 0
        loop = asyncio.get_running_loop()
        # What a read sets off starts a few turns of the loop after it.
        while quiet < QUIET_TURNS:
            assert time.monotonic() < deadline, "the reads do not end"
            tasks = [job.task for job in self.session.live.scheduler._jobs.values() if job.task is not None]
            is_busy = bool(loop._ready)  # type: ignore[attr-defined]
            is_quiet = not is_busy and self.work.is_idle and all(map(self.clock.has_asleep, tasks))
            quiet = quiet + 1 if is_quiet else 0
            # Turns without anything to do would take the processor from the threads that are waited for.
            await asyncio.sleep(0 if is_busy or is_quiet else REST_S)

    async def let_pass(self, seconds: float, look: Callable[[], None] = lambda: None) -> None:
        """Let time go by from one deadline to the next, and look after each."""
        end = self.clock.monotonic() + seconds
        await self.settle()
        while (left := end - self.clock.monotonic()) > 1e-6:
            wake = self.clock.next_wake_s
            self.clock.advance(left if wake is None else min(max(wake, 1e-3), left))
            await self.settle()
            look()


def session_options(
    clock: Clock,
    tail_moved: Callable[[TailUpdate], None] = lambda _: None,
    request_attempted: Callable[[RequestAttempt], None] = lambda _: None,
) -> SessionOptions:
    return SessionOptions(
        clock=clock, read_only=False, retries=2, intervals=PollIntervals(),
        retention=RetentionPolicy(timedelta(days=30)), tail_moved=tail_moved, request_attempted=request_attempted,
    )  # fmt: skip


@asynccontextmanager
async def watching(
    service: LimitedService, home: Path, kinds: tuple[type[Record], ...] = ()
) -> AsyncIterator[Watching]:
    """A session on a service that is served while the block runs."""
    exchanges: list[RequestAttempt] = []
    updates: list[TailUpdate] = []
    clock = service.clock
    async with service, real_work() as work:
        target = Target(profile="work", origin=service.base_url, key=Secret("rk_test"), key_source="test")
        session = await ServiceSession.open(
            target, home / "console.db", Store(), session_options(clock, updates.append, exchanges.append)
        )
        try:
            await session.start(kinds)
            watch = Watching(session, clock, service, exchanges, updates, work)
            await watch.settle()
            yield watch
        finally:
            await session.close()
