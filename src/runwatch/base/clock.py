"""Time, sleep and chance, injected so that no test waits or guesses."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """What a component asks of the world's clock."""

    def now(self) -> datetime:
        """The wall time, aware, in UTC."""
        ...

    def monotonic(self) -> float:
        """Seconds that only grow; for ages and deadlines."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Let ``seconds`` go by."""
        ...

    def chance(self) -> float:
        """A number from 0 (included) to 1 (excluded), for jitter and sampling."""
        ...


class SystemClock:
    """The clock of the machine."""

    def now(self) -> datetime:
        """The wall time, aware, in UTC."""
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """Seconds that only grow."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Let ``seconds`` go by."""
        await asyncio.sleep(seconds)

    def chance(self) -> float:
        """A number from 0 to 1 that spreads load; not for secrets."""
        return random.random()  # noqa: S311


async def wait_first(*waits: Awaitable[object]) -> int:
    """Wait until one of these is over, however it ends, and let go of the others; answers its place among them.

    Of several that are over at once it is the earliest named. What they answer or raise is not looked at: this is for
    waits that only tell that a moment has come.
    """
    tasks = [asyncio.ensure_future(wait) for wait in waits]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        return next(place for place, task in enumerate(tasks) if task.done())
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def format_iso(moment: datetime) -> str:
    """A moment as the interface writes it: ISO 8601, UTC, milliseconds, ``Z``."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
