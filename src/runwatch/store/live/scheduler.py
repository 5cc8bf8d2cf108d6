"""Scheduler of all background reads (manual: decisions, "Request budget").

A job says what to read, how soon again, and with which priority; the scheduler picks the next one when the budget
allows a read. During a rate-limit hold it sends nothing, and afterwards one request goes first, alone: the user's, else
the most important read. Requests of the user, and reads that the user asked for, do not wait for the budget, only for
the gate.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Final

from runwatch.base.clock import Clock, until_whole_second, wait_first
from runwatch.store.live.request_budget import RequestBudget

_log = logging.getLogger(__name__)

STARVED_S: Final = 15.0
"""A job overdue by this much goes before all that are not, the reads needed on every screen first."""

ALIGNED_S: Final = 2.0
"""The shortest wait between two reads that ends on a whole second of the clock."""

HANGS_AFTER_S: Final = 8.0
"""A read that has waited this long may hang: its connection may be dead while the service responds to others."""

MAX_CONCURRENT_READS: Final = 6


class JobPriority(IntEnum):
    FOCUS = 0
    """The tail of the run under the cursor."""

    SCREEN = 1

    SWEEP = 2
    """Reads needed on every screen: the list that gives the state of all runs, and the account."""

    TAIL = 3
    """Tails of followed runs that are not under the cursor."""


@dataclass(slots=True)
class ReadJob:
    """A repeated read.

    Attributes:
        key: Name of the job; a second one with the same name replaces the first.
        run: Reads once and returns the seconds until the next read, or ``None`` if there is nothing more to read. It
            handles its own errors; one that escapes is logged and the job repeated after :data:`STARVED_S`.
        due: Monotonic time from which it may go.
        is_asked: Whether the user waits for the next read: it goes first and does not wait for the budget.
        sent_at: Monotonic start of the read in progress, or of its wait for the next of several answers.
        waits_since: The same, or that of the read that hung and was given up for it.
        is_slow: Whether the last answer took so long that a read without one does not mean a dead connection.
    """

    key: str
    priority: JobPriority
    run: Callable[[], Awaitable[float | None]]
    due: float = 0.0
    is_asked: bool = False
    sent_at: float = 0.0
    waits_since: float | None = None
    is_slow: bool = False
    task: asyncio.Task[None] | None = field(default=None, repr=False)

    def hangs(self, now: float) -> bool:
        return self.task is not None and now - self.sent_at >= HANGS_AFTER_S

    @property
    def may_be_resent(self) -> bool:
        """Whether the read in progress is sent again if it hangs: once, as one that then hangs again is slow."""
        return self.task is not None and not self.is_slow and self.sent_at == self.waits_since


class Scheduler:
    """Runs jobs within the budget.

    Args:
        budget: Says when a background read may go.
        hold_s: Returns the seconds until a 429 lets requests through; 0 without a hold.
        end_hold: Ends the hold early, because the user asks anyway.
    """

    def __init__(
        self,
        clock: Clock,
        budget: RequestBudget,
        hold_s: Callable[[], float],
        end_hold: Callable[[], None] = lambda: None,
    ) -> None:
        self._clock = clock
        self._end_hold = end_hold
        self._budget = budget
        self._hold_s = hold_s
        self._jobs: dict[str, ReadJob] = {}
        self._wake = asyncio.Event()
        self._user_requests = 0
        """The user's requests that wait for the end of a hold, and the one that is going then."""
        self._is_user_going = False
        self._is_read_asked_anyway = False
        self._lifted = asyncio.Event()
        self._was_held = False
        self._is_probing = False
        self.is_resting = False
        """Whether no further read goes, because nothing of the service is shown."""

    def add(
        self,
        key: str,
        priority: JobPriority,
        run: Callable[[], Awaitable[float | None]],
        *,
        in_s: float = 0.0,
        is_asked: bool = False,
    ) -> None:
        """Add a job, or change the priority of the job with this name.

        Args:
            is_asked: Whether the user waits for the next read.
        """
        known = self._jobs.get(key)
        if known is None:
            self._jobs[key] = ReadJob(key, priority, run, self._clock.monotonic() + in_s, is_asked)
        else:
            known.priority, known.run = priority, run
            known.due = min(known.due, self._clock.monotonic() + in_s)
            known.is_asked = known.is_asked or is_asked
        self._wake.set()

    def set_priority(self, key: str, priority: JobPriority) -> None:
        """Change the priority of a job, if it is known, without making it due."""
        if job := self._jobs.get(key):
            job.priority = priority

    def remove(self, key: str) -> None:
        """Remove a job and cancel its current read."""
        job = self._jobs.pop(key, None)
        if job and job.task:
            job.task.cancel()

    def run_soon(self, key: str, *, is_asked: bool = False) -> None:
        """Make a job due now, unless its read is already in progress.

        Args:
            is_asked: Whether the user waits for the read; one that hangs is given up for it.
        """
        job = self._jobs.get(key)
        if job and is_asked and job.hangs(self._clock.monotonic()):
            self._send_again(job)
        elif job and job.task is None:
            job.due = self._clock.monotonic()
            job.is_asked = job.is_asked or is_asked
            self._wake.set()

    def ask_first(self, key: str) -> None:
        """Let the next read of a job, when it is due, go as if the user waited for it."""
        if job := self._jobs.get(key):
            job.is_asked = True

    @property
    def has_requests_left(self) -> bool:
        """Whether the limit leaves a request in this minute."""
        return self._budget.left != 0

    def waiting_s(self, key: str) -> float:
        """Return for how many seconds a job has waited for an answer; 0 if it does not."""
        job = self._jobs.get(key)
        return 0.0 if job is None or job.waits_since is None else self._clock.monotonic() - job.waits_since

    def has_hung(self, key: str) -> bool:
        """Return whether the read of a job hangs and may be sent again."""
        job = self._jobs.get(key)
        return job is not None and job.may_be_resent and job.hangs(self._clock.monotonic())

    def resend_hung(self) -> None:
        """Give up the reads that hang and send them again, because the service responds to others."""
        for key in [key for key in self._jobs if self.has_hung(key)]:
            self._send_again(self._jobs[key])

    def note_answer(self) -> None:
        """Note an answer to a request of the current task: if that is a read, its wait for the next one begins now."""
        now, present = self._clock.monotonic(), asyncio.current_task()
        for job in self._jobs.values():
            if job.task is present:
                job.is_slow = job.hangs(now)
                job.sent_at = job.waits_since = now

    def _send_again(self, job: ReadJob) -> None:
        self.remove(job.key)
        self.add(job.key, job.priority, job.run, is_asked=True)
        self._jobs[job.key].waits_since = job.waits_since

    def run_all_soon(self) -> None:
        """Make all jobs due now, because the service responds again."""
        self.resend_hung()
        for key in self._jobs:
            self.run_soon(key)

    def rest(self) -> None:
        """Start no further read until :meth:`go_on`; requests of the user go as before."""
        self.is_resting = True

    def go_on(self) -> None:
        """Make all jobs due now if none went."""
        if self.is_resting:
            self.is_resting = False
            self.run_all_soon()
            self._wake.set()

    def ask_anyway(self) -> None:
        """End a rate-limit hold early for the user; a second 429 closes the gate again.

        What the user asks for now is read first and alone, then goes what waited for the end of the hold.
        """
        self._is_read_asked_anyway = self._asked()
        self._open()

    def send_anyway(self) -> None:
        """End a rate-limit hold early for the user's requests that wait for it: they go before any read."""
        self._is_read_asked_anyway = False
        self._open()

    def _open(self) -> None:
        self._was_held = self._was_held or self._hold_s() > 0
        self._end_hold()
        if not self._is_read_asked_anyway:
            self._lift()
        self._wake.set()

    def _lift(self) -> None:
        """Let the user's requests that wait for the end of a hold look whether it is over."""
        self._lifted.set()
        self._lifted = asyncio.Event()

    def budget_wait_s(self, key: str) -> float:
        """Return the seconds that a job which is due still waits for the budget; 0 if it does not wait for it.

        An estimate: the jobs that are due and go first are counted, but requests of users and other consoles may come.
        """
        job, now = self._jobs.get(key), self._clock.monotonic()
        if job is None or job.task is not None or job.is_asked or job.due > now:
            return 0.0
        is_sweep = job.priority is JobPriority.SWEEP
        wait = self._budget.background_wait_s(is_sweep=is_sweep)
        if is_sweep or wait == 0:
            return wait
        ahead = sum(
            other.due <= now and other.priority is not JobPriority.SWEEP and _rank(other, now) < _rank(job, now)
            for other in self._idle(None)
        )
        return wait + ahead * self._budget.interval_s

    def due_in_s(self, key: str) -> float:
        """Return the seconds until a job is due; 0 if it is, is being read, or is not known."""
        job = self._jobs.get(key)
        return 0.0 if job is None or job.task is not None else max(0.0, job.due - self._clock.monotonic())

    def __contains__(self, key: str) -> bool:
        return key in self._jobs

    @asynccontextmanager
    async def user_turn(self, on_wait: Callable[[float], None] = lambda _: None) -> AsyncIterator[None]:
        """Send a request of the user inside: at once, or after a 429 before any read, and alone until its response.

        Args:
            on_wait: Called before each wait for the end of a hold, with its seconds.
        """
        if self._hold_s() == 0:
            yield
            return
        self._user_requests += 1
        goes = False
        try:
            while (hold_s := self._hold_s()) > 0 or self._is_user_going:
                if hold_s > 0:
                    on_wait(hold_s)
                    await wait_first(self._lifted.wait(), self._clock.sleep(hold_s))
                else:
                    await self._lifted.wait()
            self._is_user_going = goes = True
            yield
        finally:
            if goes:
                self._is_user_going = False
            self._user_requests -= 1
            self._lift()
            self._wake.set()

    async def run(self) -> None:
        """Run until cancelled; reads in progress are cancelled too."""
        try:
            while True:
                self._wake.clear()
                await self._pause(self._step())
        finally:
            tasks = [job.task for job in self._jobs.values() if job.task]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _pause(self, seconds: float | None) -> None:
        if seconds is None:
            await self._wake.wait()
        else:
            await wait_first(self._wake.wait(), self._clock.sleep(seconds))

    def _step(self) -> float | None:
        """Start the jobs that may go now, and return the seconds until the next may; ``None`` means until woken."""
        if self.is_resting:
            return None
        hold_s = self._hold_s()
        if hold_s > 0:
            self._was_held = True
            return hold_s
        # A read that hangs, maybe on a dead connection, takes no other's place.
        running = sum(job.task is not None and not self.has_hung(job.key) for job in self._jobs.values())
        if self._was_held:
            # The first request after a hold goes alone, to show whether the service responds again.
            if running and not self._asked():
                return self._until_hung()
            if self._user_requests and not (self._is_read_asked_anyway and self._asked()):
                return None
            if not self._start_next():
                return self._until_due()
            self._was_held, self._is_probing = False, True
            return self._until_hung()
        if self._is_probing and running:
            return self._until_hung()
        self._is_probing = False
        while not self._user_requests and self._asked():
            self._start_next()
            running += 1
        while running < MAX_CONCURRENT_READS and not self._user_requests:
            wait = self._budget.background_wait_s()
            if wait > 0:
                if self._budget.background_wait_s(is_sweep=True) > 0 or not self._start_next(JobPriority.SWEEP):
                    due = self._until_due(JobPriority.SWEEP)
                    return wait if due is None else min(wait, max(due, self._budget.background_wait_s(is_sweep=True)))
            elif not self._start_next():
                return self._until_due()
            running += 1
        return self._until_hung()

    def _start_next(self, priority: JobPriority | None = None) -> bool:
        now = self._clock.monotonic()
        due = [job for job in self._idle(priority) if job.due <= now]
        if not due:
            return False
        job = min(due, key=lambda job: _rank(job, now))
        # Counted now, because the request itself is counted only when its response is there.
        if job.is_asked:
            self._budget.note_users_read()
        else:
            self._budget.note_sent(is_sweep=job.priority is JobPriority.SWEEP)
        job.sent_at = now
        job.waits_since = now if job.waits_since is None else job.waits_since
        job.task = asyncio.ensure_future(self._run(job))
        return True

    def _asked(self) -> bool:
        """Return whether the user waits for a read that is due."""
        now = self._clock.monotonic()
        return any(job.is_asked and job.due <= now for job in self._idle(None))

    def _idle(self, priority: JobPriority | None) -> list[ReadJob]:
        return [job for job in self._jobs.values() if job.task is None and priority in (None, job.priority)]

    def _until_due(self, priority: JobPriority | None = None) -> float | None:
        waiting = [job.due for job in self._idle(priority)]
        return max(0.0, min(waiting) - self._clock.monotonic()) if waiting else None

    def _until_hung(self) -> float | None:
        """Return the seconds until a read in progress may hang; ``None`` if none may, so that only an answer counts."""
        now = self._clock.monotonic()
        waits = [job.sent_at + HANGS_AFTER_S - now for job in self._jobs.values() if job.may_be_resent]
        return min((wait for wait in waits if wait > 0), default=None)

    async def _run(self, job: ReadJob) -> None:
        again: float | None = STARVED_S
        was_asked, job.is_asked = job.is_asked, False
        self._budget.prepay(is_users=was_asked)
        try:
            again = await job.run()
        except Exception:
            _log.exception("background read failed: %s", job.key)
        finally:
            job.task = job.waits_since = None
            if was_asked:
                # The user still waits for what a 429 has refused.
                job.is_asked = self._hold_s() > 0
                self._is_read_asked_anyway = False
                self._lift()
            if again is None:
                if self._jobs.get(job.key) is job:
                    del self._jobs[job.key]
            else:
                job.due = self._clock.monotonic() + self._align(again)
            self._wake.set()

    def _align(self, again: float) -> float:
        """Return the wait until the next read, up to a second shorter if it is long, so that reads are due together."""
        return again if again < ALIGNED_S else until_whole_second(self._clock, again)


def _rank(job: ReadJob, now: float) -> tuple[bool, bool, int, float]:
    """Return the sort key of a job that is due: the smallest goes first."""
    is_late = now - job.due >= STARVED_S
    priority = -1 if is_late and job.priority is JobPriority.SWEEP else job.priority
    return (not job.is_asked, not is_late, priority, job.due)
