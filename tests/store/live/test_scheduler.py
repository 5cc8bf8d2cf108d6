"""The scheduler within its budget, in simulated minutes."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Final

import pytest

from runwatch.store.live.request_budget import LEARNED_QUIET_S, MIN_RPM, RequestBudget, sweep_interval_s
from runwatch.store.live.scheduler import HANGS_AFTER_S, MAX_CONCURRENT_READS, JobPriority, Scheduler
from tests.support.clock import FakeClock

SWEEP_AT_LEAST_S = 15.0
"""The status of every run is read at least this often, on every screen."""

WRITES_FIRST: Final = ["write", "write ends", "another", "another ends", "read", "read ends"]


class Service:
    """A service that counts requests in a sliding minute and answers 429 beyond its limit."""

    def __init__(self, clock: FakeClock, limit: int) -> None:
        self.clock = clock
        self.limit = limit
        self.times: list[float] = []
        self.by_job: dict[str, list[float]] = {}
        self.refused = 0

    def request(self, job: str) -> bool:
        now = self.clock.monotonic()
        self.times = [time for time in self.times if time > now - 60]
        if len(self.times) >= self.limit:
            self.refused += 1
            return False
        self.times.append(now)
        self.by_job.setdefault(job, []).append(now)
        return True


async def settle() -> None:
    """Let every task run until all of them wait."""
    for _ in range(30):
        await asyncio.sleep(0)


@contextlib.asynccontextmanager
async def running(scheduler: Scheduler) -> AsyncIterator[None]:
    task = asyncio.ensure_future(scheduler.run())
    await settle()
    try:
        yield
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


async def let_pass(clock: FakeClock, seconds: float) -> None:
    end = clock.monotonic() + seconds
    while (wake := clock.next_wake_s) is not None and clock.monotonic() + wake <= end:
        clock.advance(wake)
        await settle()
    clock.advance(max(0.0, end - clock.monotonic()))
    await settle()


@dataclass
class Strict:
    """A scheduler with an asked read and requests of the user, before a service that refuses what is not alone."""

    clock: FakeClock = field(default_factory=lambda: FakeClock(manual=True))
    order: list[str] = field(default_factory=list)
    waits: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.until = self.clock.monotonic() + 5
        self.scheduler = Scheduler(
            self.clock,
            RequestBudget(self.clock, None),
            lambda: max(0.0, self.until - self.clock.monotonic()),
            self._open,
        )
        self.scheduler.add("asked", JobPriority.SCREEN, self._read, is_asked=True)

    def _hold_s(self) -> float:
        return max(0.0, self.until - self.clock.monotonic())

    def _open(self) -> None:
        self.until = self.clock.monotonic()

    async def _send(self, name: str) -> None:
        self.order.append(name)
        await self.clock.sleep(1)
        self.order.append(f"{name} ends")

    async def _read(self) -> float:
        await self._send("read")
        return 100.0

    async def write(self, name: str) -> None:
        async with self.scheduler.user_turn(self.waits.append):
            await self._send(name)

    async def let_pass(self, seconds: float) -> None:
        await settle()
        await let_pass(self.clock, seconds)


def gaps(times: list[float]) -> list[float]:
    return [later - earlier for earlier, later in itertools.pairwise(times)]


async def test_reads_that_wait_long_are_due_together_however_long_they_take() -> None:
    clock = FakeClock(manual=True)
    scheduler = Scheduler(clock, RequestBudget(clock, None), lambda: 0.0)
    times: dict[str, list[float]] = {"slow": [], "quick": [], "often": []}

    def job(name: str, takes_s: float, again_s: float) -> None:
        async def run() -> float:
            times[name].append(clock.monotonic())
            await clock.sleep(takes_s)
            return again_s

        scheduler.add(name, JobPriority.SCREEN, run)

    clock.advance(0.5)
    job("slow", 0.25, 2.0)
    job("quick", 0.0, 4.0)
    job("often", 0.25, 1.0)
    async with running(scheduler):
        await let_pass(clock, 10)
    assert [at - 100 for at in times["slow"]] == [0.5, 2, 4, 6, 8, 10]
    assert [at - 100 for at in times["quick"]] == [0.5, 4, 8]
    assert set(gaps(times["often"])) == {1.25}


async def test_forty_live_runs_and_one_tail_stay_within_sixty_requests_a_minute() -> None:
    clock = FakeClock(manual=True)
    service = Service(clock, 60)
    budget = RequestBudget(clock, 60)
    scheduler = Scheduler(clock, budget, lambda: 0.0)

    async def sweep() -> float:
        service.request("sweep")
        budget.note_attempt()
        return sweep_interval_s(60)

    async def tail() -> float:
        service.request("tail")
        budget.note_attempt()
        return 1.0

    scheduler.add("sweep", JobPriority.SWEEP, sweep)
    scheduler.add("tail", JobPriority.FOCUS, tail)
    async with running(scheduler):
        await let_pass(clock, 1200)

    assert service.refused == 0
    steady = [time for time in service.by_job["tail"] if time > 220]
    assert max(gaps(steady)) < 2.0
    assert max(gaps(service.by_job["sweep"])) <= SWEEP_AT_LEAST_S


async def test_every_tail_is_read_however_many_there_are() -> None:
    clock = FakeClock(manual=True)
    service = Service(clock, 60)
    budget = RequestBudget(clock, 60)
    scheduler = Scheduler(clock, budget, lambda: 0.0)
    for number in range(30):

        async def tail(name: str = f"tail {number}") -> float:
            service.request(name)
            budget.note_attempt()
            return 1.0

        scheduler.add(f"tail {number}", JobPriority.FOCUS if number == 0 else JobPriority.TAIL, tail)
    async with running(scheduler):
        await let_pass(clock, 600)
    assert service.refused == 0
    assert len(service.by_job) == 30


async def test_a_quarter_of_the_limit_stays_free_for_people() -> None:
    clock = FakeClock(manual=True)
    service = Service(clock, 60)
    budget = RequestBudget(clock, 60)
    scheduler = Scheduler(clock, budget, lambda: 0.0)

    async def greedy() -> float:
        service.request("greedy")
        budget.note_attempt()
        return 0.0

    scheduler.add("greedy", JobPriority.TAIL, greedy)
    least_left = 60
    async with running(scheduler):
        for _ in range(300):
            await let_pass(clock, 1)
            least_left = min(least_left, budget.left or 0)
    assert least_left >= 15
    assert len(service.by_job["greedy"]) > 160


async def test_nothing_is_sent_while_held_and_one_read_goes_first_alone() -> None:
    clock = FakeClock(manual=True)
    until = clock.monotonic() + 20
    started: list[tuple[str, float]] = []
    probe = asyncio.Event()
    scheduler = Scheduler(clock, RequestBudget(clock, None), lambda: max(0.0, until - clock.monotonic()))

    def job(name: str, *, waits: bool = False) -> None:
        async def run() -> float:
            started.append((name, clock.monotonic()))
            if waits:
                await probe.wait()
            return 100.0

        scheduler.add(name, JobPriority.SCREEN if waits else JobPriority.TAIL, run)

    job("other")
    job("first", waits=True)
    async with running(scheduler):
        assert started == []
        clock.advance(19.9)
        await settle()
        assert started == []
        clock.advance(0.1)
        await settle()
        assert [name for name, _ in started] == ["first"]
        probe.set()
        await settle()
        assert [name for name, _ in started] == ["first", "other"]


async def test_a_sweep_has_its_turn_however_often_the_first_read_after_a_hold_is_refused() -> None:
    clock = FakeClock(manual=True)
    until = clock.monotonic()
    started: list[str] = []
    scheduler = Scheduler(clock, RequestBudget(clock, 2), lambda: max(0.0, until - clock.monotonic()))

    def job(name: str, priority: JobPriority) -> None:
        async def run() -> float:
            nonlocal until
            started.append(name)
            until = clock.monotonic() + 20
            return 20.0

        scheduler.add(name, priority, run)

    job("tail", JobPriority.FOCUS)
    job("receipts", JobPriority.SCREEN)
    job("runs", JobPriority.SWEEP)
    async with running(scheduler):
        await let_pass(clock, 200)
        turns = [number for number, name in enumerate(started) if name == "runs"]
        assert turns
        assert max(later - earlier for earlier, later in itertools.pairwise([0, *turns, len(started)])) <= 3


@pytest.mark.parametrize("limit", [6, 20, 60])
async def test_reads_go_on_when_writes_that_took_all_requests_are_a_minute_old(limit: int) -> None:
    clock = FakeClock(manual=True)
    budget, service = RequestBudget(clock, limit), Service(clock, limit)
    scheduler = Scheduler(clock, budget, lambda: 0.0)

    def job(name: str, priority: JobPriority, every_s: float) -> None:
        async def run() -> float:
            service.request(name)
            return every_s

        scheduler.add(name, priority, run)

    job("runs", JobPriority.SWEEP, sweep_interval_s(limit))
    job("tail", JobPriority.TAIL, 1.0)
    async with running(scheduler):
        await let_pass(clock, 30)
        for _ in range(budget.left or 0):
            budget.note_users_read()
            service.request("write")
        assert budget.left == 0
        wrote_at = clock.monotonic()
        await let_pass(clock, 200)
        assert service.refused == 0
        for name in ("runs", "tail"):
            after = [at for at in service.by_job[name] if at > wrote_at]
            assert after[0] - wrote_at <= 61, name
            assert max(gaps(after)) <= 61, name


async def test_the_requests_of_the_user_go_one_by_one_before_the_first_read_when_a_hold_ends() -> None:
    strict = Strict()
    async with running(strict.scheduler):
        waiting = asyncio.gather(strict.write("write"), strict.write("another"))
        await strict.let_pass(4.5)
        assert strict.order == []
        assert strict.waits == [5.0, 5.0]
        await strict.let_pass(5)
        assert strict.order == WRITES_FIRST
        await waiting


async def test_a_write_sent_anyway_goes_before_a_read_that_the_user_waits_for() -> None:
    strict = Strict()
    async with running(strict.scheduler):
        waiting = asyncio.gather(strict.write("write"), strict.write("another"))
        await strict.let_pass(1)
        strict.scheduler.send_anyway()
        await strict.let_pass(3.9)
        assert strict.order == WRITES_FIRST
        await waiting


async def test_a_read_asked_for_anyway_goes_before_the_writes_that_wait() -> None:
    strict = Strict()
    async with running(strict.scheduler):
        waiting = asyncio.gather(strict.write("write"))
        await strict.let_pass(1)
        strict.scheduler.ask_anyway()
        await strict.let_pass(3)
        assert strict.order == ["read", "read ends", "write", "write ends"]
        await waiting


async def test_a_request_given_up_while_it_waits_or_goes_holds_nothing_back() -> None:
    strict = Strict()
    async with running(strict.scheduler):
        first, second = (asyncio.ensure_future(strict.write(name)) for name in ("write", "another"))
        await strict.let_pass(1)
        second.cancel()
        await strict.let_pass(4.5)
        first.cancel()
        await strict.let_pass(2)
        assert strict.order == ["write", "read", "read ends"]


@pytest.mark.parametrize("is_asked", [True, False])
async def test_a_read_that_hangs_is_sent_again_for_the_user_or_once_when_the_service_responds_to_others(
    *, is_asked: bool
) -> None:
    clock = FakeClock(manual=True)
    sent: list[float] = []
    scheduler = Scheduler(clock, RequestBudget(clock, None), lambda: 0.0)

    async def hang() -> float:
        sent.append(clock.monotonic() - begun)
        await clock.sleep(20)
        return 100.0

    async def pass_and_send_again(seconds: float) -> None:
        await let_pass(clock, seconds)
        if is_asked:
            scheduler.run_soon("runs", is_asked=True)
        else:
            scheduler.resend_hung()
        await settle()

    begun = clock.monotonic()
    scheduler.add("runs", JobPriority.SWEEP, hang)
    async with running(scheduler):
        await pass_and_send_again(HANGS_AFTER_S - 1)
        assert sent == [0.0]
        await pass_and_send_again(2)
        assert sent == [0.0, HANGS_AFTER_S + 1]
        assert scheduler.waiting_s("runs") == HANGS_AFTER_S + 1
        await pass_and_send_again(HANGS_AFTER_S + 1)
        assert len(sent) == (3 if is_asked else 2)
        await let_pass(clock, 20)
        assert scheduler.waiting_s("runs") == 0


async def test_a_slow_read_that_is_answered_is_not_given_up_for_itself_nor_when_it_is_slow_again() -> None:
    clock = FakeClock(manual=True)
    sent: list[str] = []
    scheduler = Scheduler(clock, RequestBudget(clock, None), lambda: 0.0)

    async def answer_late() -> float:
        sent.append("slow")
        await clock.sleep(HANGS_AFTER_S + 1)
        scheduler.note_answer()
        scheduler.run_all_soon()
        sent.append("answered")
        return 1.0

    scheduler.add("slow", JobPriority.SWEEP, answer_late)
    async with running(scheduler):
        await let_pass(clock, HANGS_AFTER_S + 1.5)
        assert sent == ["slow", "answered"]
        await let_pass(clock, HANGS_AFTER_S + 1)
        assert scheduler.waiting_s("slow") > HANGS_AFTER_S
        scheduler.resend_hung()
        await settle()
        assert sent == ["slow", "answered", "slow"]


@pytest.mark.parametrize("is_held", [False, True])
async def test_reads_that_hang_take_no_other_read_its_place(*, is_held: bool) -> None:
    clock = FakeClock(manual=True)
    until = clock.monotonic() + is_held
    started: list[str] = []
    scheduler = Scheduler(clock, RequestBudget(clock, None), lambda: max(0.0, until - clock.monotonic()))

    def job(name: str) -> None:
        async def hang() -> float:
            started.append(name)
            await clock.sleep(100)
            return 100.0

        scheduler.add(name, JobPriority.TAIL, hang)

    names = [str(number) for number in range(MAX_CONCURRENT_READS + 1)]
    at_once = 1 if is_held else MAX_CONCURRENT_READS
    for name in names:
        job(name)
    async with running(scheduler):
        await let_pass(clock, HANGS_AFTER_S - 1)
        assert started == names[:at_once]
        await let_pass(clock, 3)
        assert started == names


async def test_a_job_that_raises_is_tried_again_and_hurts_no_other(caplog: pytest.LogCaptureFixture) -> None:
    clock = FakeClock(manual=True)
    runs: list[str] = []
    scheduler = Scheduler(clock, RequestBudget(clock, None), lambda: 0.0)

    async def broken() -> float:
        runs.append("broken")
        raise ValueError("a defect")

    async def sound() -> float | None:
        runs.append("sound")
        return None

    scheduler.add("broken", JobPriority.FOCUS, broken)
    scheduler.add("sound", JobPriority.TAIL, sound)
    async with running(scheduler):
        assert runs == ["broken", "sound"]
        assert "sound" not in scheduler
        await let_pass(clock, 20)
    assert runs == ["broken", "sound", "broken"]
    assert "background read failed: broken" in caplog.text


async def test_a_removed_job_is_cancelled_in_flight() -> None:
    clock = FakeClock(manual=True)
    cancelled = asyncio.Event()
    scheduler = Scheduler(clock, RequestBudget(clock, None), lambda: 0.0)

    async def endless() -> float:
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            cancelled.set()
        return 0.0

    scheduler.add("endless", JobPriority.FOCUS, endless)
    async with running(scheduler):
        scheduler.remove("endless")
        await settle()
        assert cancelled.is_set()


@pytest.mark.parametrize("turns", range(12))
async def test_it_ends_when_it_is_cancelled_however_far_it_is_with_being_woken(turns: int) -> None:
    clock = FakeClock(manual=True)
    scheduler = Scheduler(clock, RequestBudget(clock, 60), lambda: 0.0)

    async def read() -> float:
        return 1.0

    scheduler.add("later", JobPriority.TAIL, read, in_s=60.0)
    task = asyncio.ensure_future(scheduler.run())
    await settle()
    scheduler.add("another", JobPriority.TAIL, read, in_s=60.0)
    for _ in range(turns):
        await asyncio.sleep(0)
    task.cancel()
    await settle()
    assert task.cancelled()


def test_a_429_halves_the_assumed_limit_and_quiet_minutes_give_it_back() -> None:
    clock = FakeClock()
    budget = RequestBudget(clock, 60)
    budget.note_limited()
    assert budget.limit_rpm == 30
    clock.advance(59)
    assert budget.limit_rpm == 30
    clock.advance(1)
    assert budget.limit_rpm == 36
    clock.advance(600)
    assert budget.limit_rpm == 60
    for _ in range(20):
        budget.note_limited()
    assert budget.limit_rpm == MIN_RPM
    budget.publish(5)
    budget.note_limited()
    assert budget.limit_rpm == 5, "more than is granted"


async def test_a_limit_that_no_account_states_is_learned_from_the_first_429() -> None:
    clock = FakeClock(manual=True)
    service = Service(clock, 5)
    budget = RequestBudget(clock, None, is_published=False)
    held_until = 0.0

    async def read() -> float:
        nonlocal held_until
        budget.note_attempt()
        if not service.request("read"):
            held_until = service.times[0] + 60
            budget.note_limited()
        return 2.0

    scheduler = Scheduler(clock, budget, lambda: max(0.0, held_until - clock.monotonic()))
    scheduler.add("read", JobPriority.FOCUS, read)
    async with running(scheduler):
        await let_pass(clock, 100)
        assert (budget.limit_rpm, budget.is_learned, service.refused) == (5, True, 1)
        await let_pass(clock, 3500)
    # Growth is tried ever more seldom.
    assert service.refused <= 6


@pytest.mark.parametrize(("limit", "most"), [(None, 6_000), (60, 60)])
def test_a_learned_limit_grows_in_quiet_times_up_to_a_bound(limit: int | None, most: int) -> None:
    clock = FakeClock(manual=True)
    budget = RequestBudget(clock, limit, is_published=False)
    budget.note_limited()
    assert budget.limit_rpm == MIN_RPM, "nothing was granted, so nothing is known"
    clock.advance(LEARNED_QUIET_S)
    assert budget.limit_rpm == 9
    clock.advance(86_400)
    assert budget.limit_rpm == most
    budget.publish(20)
    assert (budget.limit_rpm, budget.is_learned) == (20, False)


def test_what_went_without_its_turn_in_a_storm_of_429_is_made_up_for_within_a_minute() -> None:
    clock = FakeClock(manual=True)
    budget = RequestBudget(clock, 60)
    for _ in range(100):
        budget.note_sent()
        budget.note_limited()
        clock.advance(1)
    clock.advance(60)
    assert budget.background_wait_s() == 0


def test_requests_of_other_consoles_count() -> None:
    clock = FakeClock()
    others = 0
    budget = RequestBudget(clock, 60, lambda: others)
    assert budget.background_wait_s() == 0
    others = 45
    assert budget.background_wait_s() > 0
    assert budget.left == 15


def test_a_service_without_a_limit_is_never_waited_for() -> None:
    clock = FakeClock()
    budget = RequestBudget(clock, None)
    for _ in range(10_000):
        budget.note_sent()
    assert budget.background_wait_s() == 0
    assert budget.left is None


async def test_a_background_read_is_sent_again_only_while_requests_are_left_and_the_service_responds() -> None:
    clock = FakeClock(manual=True)
    budget = RequestBudget(clock, 6)
    budget.prepay()
    assert budget.may_retry()
    assert not budget.may_retry(is_lost=True)
    for _ in range(6):
        budget.note_sent()
    assert not budget.may_retry()
    budget.prepay(is_users=True)
    assert budget.may_retry(is_lost=True)


async def test_a_read_that_waits_knows_how_many_go_before_it() -> None:
    clock = FakeClock(manual=True)
    budget = RequestBudget(clock, 5)
    for _ in range(4):
        budget.note_sent()
    clock.advance(20)
    scheduler = Scheduler(clock, budget, lambda: 0.0)

    async def read() -> float:
        return 1.0

    for name, priority in (("side", JobPriority.TAIL), ("focus", JobPriority.FOCUS), ("screen", JobPriority.SCREEN)):
        scheduler.add(name, priority, read)
    waits = [scheduler.budget_wait_s(name) for name in ("focus", "screen", "side")]
    assert waits == [40.0, 40.0 + budget.interval_s, 40.0 + 2 * budget.interval_s]
    clock.advance(15)
    assert scheduler.budget_wait_s("focus") == 25.0
    scheduler.ask_first("focus")
    assert scheduler.budget_wait_s("focus") == 0, "the user's read does not wait"
