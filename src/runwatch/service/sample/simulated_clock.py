"""A clock of the past, on which time passes only through waiting."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta

Act = Callable[[], Awaitable[object]]


class SimulatedClock:
    """A :class:`runwatch.base.clock.Clock` whose sleeps advance the time at once.

    Attributes:
        until: The latest time a sleep may reach, so that endless retries end.
    """

    def __init__(self, start: datetime) -> None:
        self.until: datetime | None = None
        self._start = start
        self._now = start
        self._due: tuple[datetime, Act] | None = None

    def now(self) -> datetime:
        return self._now

    def monotonic(self) -> float:
        return (self._now - self._start).total_seconds()

    def chance(self) -> float:
        """Return a constant, because the past must be reproducible."""
        return 0.5

    def move_to(self, moment: datetime) -> None:
        """Advance to a time; do nothing if it has passed."""
        self._now = max(self._now, moment)

    def interrupt_at(self, moment: datetime, act: Act) -> None:
        """Run something once, in the middle of the first sleep that reaches a time."""
        self._due = (moment, act)

    def let_be(self) -> None:
        """Drop a pending :meth:`interrupt_at`."""
        self._due = None

    async def sleep(self, seconds: float) -> None:
        """Advance by ``seconds``. Raises TimeoutError if that would pass :attr:`until`."""
        end = self._now + timedelta(seconds=max(0.0, seconds))
        if self.until is not None and end > self.until:
            raise TimeoutError
        if self._due is not None and self._due[0] <= end:
            (moment, act), self._due = self._due, None
            self.move_to(moment)
            await act()
            # The action may have cancelled this very sleeper, which then ends here.
            await asyncio.sleep(0)
        self.move_to(end)
        await asyncio.sleep(0)
