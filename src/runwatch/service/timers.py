"""Delayed calls."""

from __future__ import annotations

from asyncio import TimerHandle
from collections.abc import Callable
from typing import Any, Protocol


class Timers(Protocol):
    """Scheduler of delayed calls, such as an event loop."""

    def time(self) -> float: ...

    def call_later(self, delay: float, callback: Callable[..., object], *arguments: Any) -> TimerHandle:
        """Call something after a delay in seconds."""
