"""Time, sleep and chance, injected so that tests neither wait nor depend on chance."""

from __future__ import annotations

import asyncio
import math
import random
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any, Final, Protocol


class Clock(Protocol):
    """Source of time, sleep and chance."""

    def now(self) -> datetime:
        """Return the wall time, aware, in UTC."""

    def monotonic(self) -> float:
        """Return monotonic seconds, for ages and deadlines."""

    async def sleep(self, seconds: float) -> None: ...

    def chance(self) -> float:
        """Return a number from 0 (included) to 1 (excluded), for jitter and sampling."""


class Timers(Protocol):
    """Scheduler of delayed calls, such as an event loop."""

    def time(self) -> float: ...

    def call_later(self, delay: float, callback: Callable[..., object], *arguments: Any) -> asyncio.TimerHandle:
        """Call something after a delay in seconds."""


_RESOLUTION_S: Final = 1e-6

_PHASE: Final = time.monotonic() % 1.0
"""Where whole seconds begin in this process, so that many processes do not all work at the same moment."""


class SystemClock:
    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        return time.monotonic() - _PHASE

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    def chance(self) -> float:
        """Return a number from 0 to 1 to spread load; not for secrets."""
        return random.random()  # noqa: S311


def until_whole_second(clock: Clock, seconds: float = 1.0) -> float:
    """Return a wait that ends on a whole second of the monotonic clock, the last in the next ``seconds``.

    What happens again and again waits so: a process that wakes once for all of it costs less than one that wakes for
    each, because its code leaves the processor's caches in between.
    """
    now = clock.monotonic()
    # A sleep may end early by what the clock cannot tell.
    return max(0.0, math.floor(now + seconds + _RESOLUTION_S) - now)


async def wait_first(*waits: Awaitable[object]) -> int:
    """Wait until the first of several awaitables ends in any way, cancel the others, and return its position.

    If several have ended, the earliest in the arguments counts. Results and exceptions are discarded, so use this only
    for plain waits.
    """
    tasks = [asyncio.ensure_future(wait) for wait in waits]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        return next(position for position, task in enumerate(tasks) if task.done())
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def format_iso(moment: datetime) -> str:
    """Return a time as the interface writes it: ISO 8601, UTC, milliseconds, ``Z``."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
