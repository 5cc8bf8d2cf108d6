"""Waits after failed reads (manual: decisions, "Request budget")."""

from __future__ import annotations

from typing import Final

from runwatch.base.clock import Clock

FIRST_WAIT_S: Final = 0.5
MAX_WAIT_S: Final = 30.0
JITTER: Final = 0.2


class Backoff:
    """Waits that double from half a second to thirty, with jitter so that consoles do not send in step."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._wait_s = FIRST_WAIT_S

    def reset(self) -> None:
        """Start again at the shortest wait."""
        self._wait_s = FIRST_WAIT_S

    def next_s(self) -> float:
        wait = self._wait_s * (1 + JITTER * (2 * self._clock.chance() - 1))
        self._wait_s = min(MAX_WAIT_S, self._wait_s * 2)
        return wait
