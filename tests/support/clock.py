"""A clock that tests turn by hand or that never waits."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any, Final

START: Final = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
"""Where a fake clock starts unless the test says otherwise."""


class FakeClock:
    """A :class:`runwatch.base.clock.Clock` whose time moves only when a test says so.

    By default a sleep is noted, moves the time on at once and lets the other tasks run. With ``manual`` a sleep blocks
    until :meth:`advance` has passed its deadline.

    Args:
        start: The wall time at the beginning.
        manual: Whether sleepers wait for :meth:`advance`.
        chances: What :meth:`chance` gives, one after another; the last is given for ever.

    Attributes:
        sleeps: The seconds of every sleep asked for, in order.
    """

    def __init__(self, start: datetime = START, *, manual: bool = False, chances: Iterable[float] = (0.0,)) -> None:
        self.sleeps: list[float] = []
        self._start = start
        self._manual = manual
        self._elapsed = 0.0
        self._chances = [0.0]
        self._sleepers: list[tuple[float, asyncio.Future[None]]] = []
        self._asleep: list[asyncio.Task[Any] | None] = []
        self._watchers: list[tuple[int, asyncio.Future[None]]] = []
        self.set_chances(*chances)

    def now(self) -> datetime:
        """The wall time, aware, in UTC."""
        return self._start + timedelta(seconds=self._elapsed)

    def monotonic(self) -> float:
        """Seconds since the clock was made, plus a hundred, so that zero is never mistaken for a moment."""
        return 100.0 + self._elapsed

    def chance(self) -> float:
        """The next of the numbers that the test has set."""
        return self._chances.pop(0) if len(self._chances) > 1 else self._chances[0]

    def set_chances(self, *values: float) -> None:
        """What :meth:`chance` gives from now on; the last value is given for ever."""
        if not values or not all(0 <= value < 1 for value in values):
            raise ValueError("chances are numbers from 0 to 1, without 1")
        self._chances = list(values)

    async def sleep(self, seconds: float) -> None:
        """Note the sleep; move the time on at once, or wait for :meth:`advance` on a manual clock."""
        self.sleeps.append(seconds)
        if not self._manual:
            self.advance(max(0.0, seconds))
            await asyncio.sleep(0)
            return
        deadline = self._elapsed + seconds
        if seconds <= 0:
            await asyncio.sleep(0)
            return
        sleeper = (deadline, asyncio.get_running_loop().create_future())
        task = asyncio.current_task()
        self._sleepers.append(sleeper)
        self._asleep.append(task)
        self._tell_watchers()
        try:
            await sleeper[1]
        finally:
            self._asleep.remove(task)
            if sleeper in self._sleepers:
                self._sleepers.remove(sleeper)

    def advance(self, seconds: float) -> None:
        """Move the time on and wake every sleeper whose deadline has passed; they run when the caller next awaits."""
        if seconds < 0:
            raise ValueError("time does not go back")
        self._elapsed += seconds
        due = [sleeper for sleeper in self._sleepers if sleeper[0] <= self._elapsed + 1e-9]
        for sleeper in sorted(due, key=lambda item: item[0]):
            self._sleepers.remove(sleeper)
            if not sleeper[1].done():
                sleeper[1].set_result(None)

    def advance_to_next(self) -> float:
        """Move the time to the earliest deadline, wake its sleepers, and return the seconds that went by.

        Raises:
            LookupError: no task sleeps.
        """
        if not self._sleepers:
            raise LookupError("nobody sleeps")
        seconds = max(0.0, min(deadline for deadline, _ in self._sleepers) - self._elapsed)
        self.advance(seconds)
        return seconds

    @property
    def next_wake_s(self) -> float | None:
        """Seconds until the earliest deadline on a manual clock; ``None`` when no task sleeps."""
        return max(0.0, min(deadline for deadline, _ in self._sleepers) - self._elapsed) if self._sleepers else None

    @property
    def sleeping(self) -> int:
        """How many tasks sleep on a manual clock right now."""
        return len(self._sleepers)

    def has_asleep(self, task: asyncio.Task[Any]) -> bool:
        """Whether a task sleeps on a manual clock right now, so that nothing but time moves it on."""
        return task in self._asleep

    async def until_sleeping(self, count: int = 1) -> None:
        """Wait, without time going by, until at least ``count`` tasks sleep on a manual clock."""
        if self.sleeping >= count:
            return
        watcher = (count, asyncio.get_running_loop().create_future())
        self._watchers.append(watcher)
        try:
            await watcher[1]
        finally:
            if watcher in self._watchers:
                self._watchers.remove(watcher)

    def _tell_watchers(self) -> None:
        for count, future in self._watchers:
            if self.sleeping >= count and not future.done():
                future.set_result(None)
