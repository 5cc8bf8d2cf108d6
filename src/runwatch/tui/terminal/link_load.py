"""What a slow link to the terminal still has to carry, estimated from the time that writes take.

A connection takes some kilobytes at once, however far its other end is. Only when they are full a write waits, and then
it goes on as fast as the link carries, which gives its rate.
"""

from __future__ import annotations

from typing import Final

WAIT_S: Final = 0.05
"""Longest wait of a write that says nothing about the link."""

SLOW_BYTES_PER_S: Final = 100_000
"""Below this rate a link is slow. Above it a picture takes a tenth of a second, as long as a busy machine may need."""

BUFFERED: Final = 16_384
"""Bytes that are assumed to be on their way when a write had to wait."""

REST_FACTOR: Final = 3.0
"""How long a slow link rests after a picture, as a multiple of the time that it needs for the picture."""

MAX_REST_S: Final = 2.0
"""Longest rest, also after the terminal was paused and the rate is far too low."""

FORGET_S: Final = 60.0
"""How long a link counts as slow after the last wait: it may have become faster."""


class LinkLoad:
    """Estimates when a slow link has carried what was written, and has rested.

    All times are in seconds of one monotonic clock. A link without waits counts as fast, and never rests.
    """

    def __init__(self) -> None:
        self._bytes_per_s: float | None = None
        self._waited_at = 0.0
        self._carried_at = 0.0
        self._rested_at = 0.0

    def note_write(self, size: int, now: float, *, waiting: int = 0, waited_s: float = 0.0) -> None:
        """Note a text that was written.

        Args:
            size: Bytes of the text.
            now: When all of them were taken.
            waiting: How many bytes were not taken at once: the first that had to wait, and all after it.
            waited_s: How long they waited.
        """
        if waiting and waited_s > WAIT_S and waiting < SLOW_BYTES_PER_S * waited_s:
            self._bytes_per_s = waiting / waited_s
            self._waited_at = now
            self._carried_at = now + BUFFERED / self._bytes_per_s
        elif now - self._waited_at > FORGET_S:
            self._bytes_per_s = None
        elif self._bytes_per_s is not None:
            self._carried_at = max(self._carried_at, now) + size / self._bytes_per_s
        if self._bytes_per_s is not None:
            self._rested_at = min(self._carried_at + REST_FACTOR * size / self._bytes_per_s, now + MAX_REST_S)

    def has_rested(self, now: float) -> bool:
        """Return whether a picture that no key asked for may be sent."""
        return now >= self._rested_at
