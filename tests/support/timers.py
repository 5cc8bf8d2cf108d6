"""Timers that tests turn by hand, in place of those of the event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any


class FakeTimers:
    """A :class:`runwatch.base.clock.Timers` whose time moves only with :meth:`advance`."""

    def __init__(self) -> None:
        self._now = 1000.0
        self._waiting: list[asyncio.TimerHandle] = []

    def time(self) -> float:
        return self._now

    def call_later(self, delay: float, callback: Callable[..., object], *arguments: Any) -> asyncio.TimerHandle:
        """Call something once the time has come."""
        loop = asyncio.get_running_loop()
        handle = asyncio.TimerHandle(self._now + delay, callback, arguments, loop)
        self._waiting.append(handle)
        return handle

    def advance(self, seconds: float) -> None:
        """Move the time on, and call what is due on the way, in order."""
        until = self._now + seconds
        while due := [handle for handle in self._waiting if not handle.cancelled() and handle.when() <= until]:
            first = min(due, key=asyncio.TimerHandle.when)
            self._waiting.remove(first)
            self._now = max(self._now, first.when())
            first._run()
        self._now = until
        self._waiting = [handle for handle in self._waiting if not handle.cancelled()]
