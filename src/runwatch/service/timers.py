"""What calls something after some seconds."""

from __future__ import annotations

from asyncio import TimerHandle
from collections.abc import Callable
from typing import Any, Protocol


class Timers(Protocol):
    """What calls something later. An event loop is one."""

    def time(self) -> float:
        """The moment, in seconds."""
        ...

    def call_later(self, delay: float, callback: Callable[..., object], *arguments: Any) -> TimerHandle:
        """Call something after so many seconds."""
        ...
