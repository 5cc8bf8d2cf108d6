"""Gate that a 429 closes (manual: interface, "Retries"; manual: decisions, "Rate limits").

``rate_limited`` closes the whole service: its client, for poller or user, sends nothing until the wait is over.
``quota_exceeded`` closes only the operation that received it, because a spent run quota must not blind the console. A
429 with any other code counts as ``rate_limited``.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Final, NamedTuple

from runwatch.api.errors import RateLimitedError
from runwatch.base.clock import Clock
from runwatch.base.network.retry_after import MAX_WAIT_S, parse_retry_after
from runwatch.records.problem import Problem

DEFAULT_HOLD_S: Final = 60.0
"""Length of a hold after a 429 without a wait of its own."""

LONGEST_HOLD_S: Final = float(MAX_WAIT_S)
"""Upper bound of ``retry_after_s``, so that it stays a number of seconds a clock can add."""


class _Hold(NamedTuple):
    """Hold on the service or an operation.

    Attributes:
        until: The end, on the monotonic clock.
        instance: The ``instance`` of the Problem that asked for it.
    """

    until: float
    instance: str | None


class RateLimitGate:
    """Holds the calls of a client back. No request is sent while it is closed.

    Args:
        clock: Measures the holds; only its monotonic side is used.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._holds: dict[str | None, _Hold] = {}

    def close(self, operation: str | None, seconds: float, instance: str | None = None) -> None:
        """Hold an operation, or with ``None`` the whole service, for ``seconds`` from now.

        An existing hold is never shortened, because responses to concurrent requests come in any order.
        """
        seconds = min(max(seconds, 0.0), LONGEST_HOLD_S)
        until = self._clock.monotonic() + seconds
        known = self._holds.get(operation)
        if known is None or known.until < until:
            self._holds[operation] = _Hold(until, instance)

    def open(self, operation: str | None = None) -> None:
        """End a hold of the whole service, and of an operation, early; the next 429 closes the gate again."""
        for each in {None, operation}:
            self._holds.pop(each, None)

    def check(self, operation: str, *, key: str | None = None) -> None:
        """Check that a call may go.

        Args:
            key: The call's idempotency key, for the error.

        Raises:
            RateLimitedError: The call has to wait; the error says how long.
        """
        holds = list(self._closed(operation))
        if holds:
            last = max(holds, key=lambda hold: hold.until)
            raise RateLimitedError(
                operation=operation,
                seconds=last.until - self._clock.monotonic(),
                key=key,
                support_id=last.instance,
            )

    def seconds_left(self, operation: str | None = None) -> float:
        """Return the seconds until the call may go; 0 if it may go now.

        Without an operation only a hold of the whole service counts.
        """
        now = self._clock.monotonic()
        return max((hold.until - now for hold in self._closed(operation)), default=0.0)

    def _closed(self, operation: str | None) -> Iterator[_Hold]:
        now = self._clock.monotonic()
        for each in {None, operation}:
            hold = self._holds.get(each)
            if hold is None:
                continue
            if hold.until > now:
                yield hold
            else:
                del self._holds[each]


def parse_retry_after_s(problem: Problem, retry_after: str | None, now: datetime) -> float:
    """Return the wait that a 429 asks for: its ``retry_after_s``, else its ``Retry-After`` header, else a minute.

    Args:
        retry_after: The header: seconds or an HTTP date.
        now: The wall time, to which a date is compared.
    """
    seconds = problem.retry_after_s
    if seconds is None or seconds < 0:
        seconds = parse_retry_after(retry_after, now)
    return DEFAULT_HOLD_S if seconds is None else float(min(seconds, int(LONGEST_HOLD_S)))
