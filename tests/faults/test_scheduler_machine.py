"""The scheduler, its budget and the gate of a 429 together, with everything happening in any order.

In any order of events, nothing is sent while a 429 holds, only a few reads are in progress, background reads stay
within the published limit in every minute, and no read is forgotten.
"""

from __future__ import annotations

import asyncio
import contextlib

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from runwatch.api.rate_limit_gate import RateLimitGate
from runwatch.store.live.request_budget import RequestBudget, sweep_interval_s
from runwatch.store.live.scheduler import MAX_CONCURRENT_READS, JobPriority, Scheduler
from tests.support.clock import FakeClock
from tests.support.fault_mix import LONG
from tests.support.sampling import examples

ORIGIN = "https://api.example.com"
LIMIT_RPM = 60
MIN_LATENCY_S = 0.002
"""No response comes in the moment of its request: a read that begins in that moment would count as sent after it."""

FORGOTTEN_S = 240.0
"""Within so long every read has its turn again, even on the few requests a minute that many 429 leave."""

SWEEP = "sweep"
LANES = [lane for lane in JobPriority if lane is not JobPriority.SWEEP]
"""What comes and goes; the sweep is always there, at its own pace."""

NAMES = st.sampled_from([f"job-{number}" for number in range(12)])


class SchedulerMachine(RuleBasedStateMachine):
    """A service that answers late and sometimes with 429, and a console whose reads and users come and go."""

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.clock = FakeClock(manual=True)
        self.gate = RateLimitGate(self.clock)
        self.budget = RequestBudget(self.clock, LIMIT_RPM)
        self.scheduler = Scheduler(self.clock, self.budget, self.hold_s)
        self.latency_s = MIN_LATENCY_S
        self.every_s = 1.0
        self.limits: list[float] = []
        self.started: dict[str, float] = {}
        self.background: list[float] = []
        self.under_way = 0
        self.wrong: list[str] = []
        self.people: set[asyncio.Task[None]] = set()
        self.task = self.runner.run(self._begin())

    async def _begin(self) -> asyncio.Task[None]:
        self.started[SWEEP] = self.clock.monotonic()
        self.scheduler.add(SWEEP, JobPriority.SWEEP, self._sweep)
        return asyncio.create_task(self.scheduler.run())

    def hold_s(self) -> float:
        return self.gate.seconds_left()

    def _send(self, what: str) -> None:
        if self.hold_s() > 0:
            self.wrong.append(f"{what} was sent {self.hold_s():g} s before the end of a 429")

    async def _answer(self) -> None:
        await self.clock.sleep(self.latency_s)
        self.budget.note_attempt()
        if self.limits:
            self.gate.close(None, self.limits.pop())
            self.budget.note_limited()

    async def _read(self, name: str) -> float:
        self._send(name)
        self.started[name] = self.clock.monotonic()
        self.background.append(self.clock.monotonic())
        self.under_way += 1
        try:
            await self._answer()
        finally:
            self.under_way -= 1
        return self.every_s

    async def _sweep(self) -> float:
        await self._read(SWEEP)
        return sweep_interval_s(self.budget.limit_rpm)

    async def _person(self) -> None:
        async with self.scheduler.user_turn():
            self._send("a person's request")
            await self._answer()

    async def _settle(self) -> None:
        for _ in range(16):
            await asyncio.sleep(0)

    async def _pass(self, seconds: float) -> None:
        await self._settle()
        end = self.clock.monotonic() + seconds
        while (left := end - self.clock.monotonic()) > 1e-6:
            wake = self.clock.next_wake_s
            self.clock.advance(left if wake is None else min(max(wake, 1e-3), left))
            await self._settle()

    @rule(name=NAMES, lane=st.sampled_from(LANES), in_s=st.sampled_from([0.0, 0.5, 30.0]))
    def add(self, name: str, lane: JobPriority, in_s: float) -> None:
        async def add() -> None:
            self.started.setdefault(name, self.clock.monotonic())
            self.scheduler.add(name, lane, lambda: self._read(name), in_s=in_s)
            await self._settle()

        self.runner.run(add())

    @rule(name=NAMES)
    def remove(self, name: str) -> None:
        async def remove() -> None:
            self.scheduler.remove(name)
            self.started.pop(name, None)
            await self._settle()

        self.runner.run(remove())

    @rule(name=NAMES)
    def hurry(self, name: str) -> None:
        async def hurry() -> None:
            self.scheduler.run_soon(name)
            await self._settle()

        self.runner.run(hurry())

    @rule()
    def a_person_acts(self) -> None:
        async def act() -> None:
            person = asyncio.create_task(self._person())
            self.people.add(person)
            person.add_done_callback(self.people.discard)
            await self._settle()

        self.runner.run(act())

    @rule(seconds=st.sampled_from([1.0, 20.0, 60.0]))
    def be_limited(self, seconds: float) -> None:
        """The next answer is a 429; answers of what is under way already still come."""
        self.limits.append(seconds)

    @rule(latency_s=st.sampled_from([MIN_LATENCY_S, 0.2, 3.0]), every_s=st.sampled_from([0.0, 1.0, 5.0]))
    def change(self, latency_s: float, every_s: float) -> None:
        """The service becomes slower or quicker, and reads are wanted more or less often."""
        self.latency_s, self.every_s = latency_s, every_s

    @rule(seconds=st.sampled_from([0.1, 1.0, 15.0, 61.0]))
    def time_goes_by(self, seconds: float) -> None:
        self.runner.run(self._pass(seconds))

    @rule()
    def nothing_is_forgotten(self) -> None:
        self.limits.clear()
        now = self.clock.monotonic()
        self.runner.run(self._pass(FORGOTTEN_S))
        forgotten = [name for name, started in self.started.items() if started < now]
        assert not forgotten
        assert not self.people, "a person still waits"

    @invariant()
    def nothing_is_sent_inside_a_429(self) -> None:
        assert self.wrong == []

    @invariant()
    def few_reads_are_under_way(self) -> None:
        assert self.under_way <= MAX_CONCURRENT_READS

    @invariant()
    def background_reads_keep_the_limit(self) -> None:
        for first, later in zip(self.background, self.background[LIMIT_RPM:], strict=False):
            assert later - first >= 60.0

    def teardown(self) -> None:
        async def end() -> None:
            tasks = [self.task, *self.people]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

        with contextlib.closing(self.runner):
            self.runner.run(end())


TestSchedulerMachine = SchedulerMachine.TestCase
TestSchedulerMachine.settings = settings(
    max_examples=200 if LONG else examples(20), stateful_step_count=30, deadline=None
)
