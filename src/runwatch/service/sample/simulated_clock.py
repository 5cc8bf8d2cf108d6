"""A clock of the past: time goes by as soon as somebody waits for it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta

Act = Callable[[], Awaitable[object]]


class SimulatedClock:
    """A :class:`runwatch.base.clock.Clock` that no sleep waits for: it moves on by itself at once.

    Args:
        start: The wall time at the beginning.

    Attributes:
        until: The moment behind which no sleep may lead, so that what tries again and again comes to an end.
    """

    def __init__(self, start: datetime) -> None:
        self.until: datetime | None = None
        self._start = start
        self._now = start
        self._due: tuple[datetime, Act] | None = None

    def now(self) -> datetime:
        """The wall time, aware, in UTC."""
        return self._now

    def monotonic(self) -> float:
        """Seconds since the clock was made."""
        return (self._now - self._start).total_seconds()

    def chance(self) -> float:
        """Always the same: nothing about the past is left to chance."""
        return 0.5

    def move_to(self, moment: datetime) -> None:
        """Let the time until a moment go by; nothing when that is over already."""
        self._now = max(self._now, moment)

    def interrupt_at(self, moment: datetime, act: Act) -> None:
        """Have something done once, by the first sleep that reaches a moment, and in the middle of it."""
        self._due = (moment, act)

    def let_be(self) -> None:
        """Forget what :meth:`interrupt_at` was told and no sleep has reached."""
        self._due = None

    async def sleep(self, seconds: float) -> None:
        """Let ``seconds`` go by.

        Raises:
            TimeoutError: that leads behind :attr:`until`.
        """
        end = self._now + timedelta(seconds=max(0.0, seconds))
        if self.until is not None and end > self.until:
            raise TimeoutError
        if self._due is not None and self._due[0] <= end:
            (moment, act), self._due = self._due, None
            self.move_to(moment)
            await act()
            # What was done may have been to cancel this very sleeper, which ends here then.
            await asyncio.sleep(0)
        self.move_to(end)
        await asyncio.sleep(0)
