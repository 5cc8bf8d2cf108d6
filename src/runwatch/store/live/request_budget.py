"""Request budget that keeps the console below the service's rate limit (manual: decisions, "Request budget").

The service publishes ``rate_limit_rpm`` and counts every request of a key, including those of colleagues and other
consoles. A quarter is kept for users; background reads are spaced out over the rest. A 429 shows that others use the
limit too: the assumed limit is halved, and each quiet minute returns a tenth of the published one.

The limit of a service that publishes none is learned from its 429s: it is the number of requests that were granted in
the last minute. It may be higher, so it grows after a quiet time, which doubles each time that growth was too much.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Final

from runwatch.base.clock import Clock

WINDOW_S: Final = 60.0
USER_SHARE: Final = 0.25
"""Share of the limit that background reads never use."""

MARGIN: Final = 0.9
"""Part of their share over which background reads are spaced out; the rest leaves room for a burst."""

BURST: Final = 4
"""Background reads that may go at once after a silence: the runs, the account, the receipts and one tail."""

UNKNOWN_REMOTE_RPM: Final = 60
"""Assumed limit of a remote service that publishes none."""

MIN_RPM: Final = 6
"""Lower bound of halving, so that the console never stops reading for good."""

_LEAST_WAIT_S: Final = 0.05
"""A wait for the window is not shorter, because clocks are not exact."""

LEARNED_QUIET_S: Final = 120.0
MAX_LEARNED_QUIET_S: Final = 1800.0
"""Shortest and longest time without a 429, in seconds, after which a learned limit grows."""

LEARNED_GROWTH: Final = 1.5
"""Factor by which a learned limit grows: one learned beside busy colleagues is far too low."""

MAX_LEARNED_RPM: Final = 6_000
"""Upper bound of that growth, where no limit was assumed before."""


SWEEP_S: Final = (2.0, 10.0)
"""Shortest and longest time between two sweeps of the run list, where the limit allows twice as many requests."""

SWEEP_SHARE: Final = 0.5
"""Largest share of a very low limit that sweeps use."""


def sweep_interval_s(limit_rpm: int | None) -> float:
    """Return the seconds between two reads of the list that gives the state of all runs.

    The rule allows a quarter of the limit and 15 s; ten seconds at 60 a minute leave more for the tails. Below 12 a
    minute the sweeps take half of the limit and come later than that.
    """
    least, most = SWEEP_S
    if limit_rpm is None:
        return least
    return max(min(most, max(least, 10 * WINDOW_S / limit_rpm)), WINDOW_S / max(1.0, limit_rpm * SWEEP_SHARE))


def is_low(limit_rpm: int | None) -> bool:
    """Return whether a limit is so low that the sweeps come later than otherwise, and each request counts."""
    return sweep_interval_s(limit_rpm) > SWEEP_S[1]


@dataclass(slots=True)
class _Payment:
    """How the requests of one task are counted.

    Attributes:
        prepaid: Requests already counted by the scheduler.
        is_users: Whether the user asked for them.
    """

    prepaid: int
    is_users: bool


_payment: ContextVar[_Payment | None] = ContextVar("payment", default=None)


class RequestBudget:
    """Counts requests over the last minute and says when the next background read may go.

    Args:
        limit_rpm: The limit in requests a minute; ``None`` for a service without one.
        others: Returns the requests of other consoles on the same data directory to this service in the last minute.
        is_published: Whether the service publishes the limit; otherwise it is an assumption until a 429.

    Attributes:
        is_learned: Whether the limit is learned from a 429, because the service publishes none.
    """

    def __init__(
        self,
        clock: Clock,
        limit_rpm: int | None,
        others: Callable[[], int] = lambda: 0,
        *,
        is_published: bool = True,
    ) -> None:
        self._clock = clock
        self._published = limit_rpm if is_published else None
        self._max_learned = limit_rpm or MAX_LEARNED_RPM
        self._assumed = None if limit_rpm is None else float(limit_rpm)
        self._others = others
        self._sent: deque[float] = deque()
        self._by_people: deque[float] = deque()
        self._refused: deque[float] = deque()
        self.is_learned = self._has_grown = False
        self._growth_quiet_s = LEARNED_QUIET_S
        self._next_free = 0.0
        self._quiet_since = clock.monotonic()

    @property
    def limit_rpm(self) -> int | None:
        """Requests a minute assumed to be available; ``None`` without a limit."""
        self._recover()
        return None if self._assumed is None else int(self._assumed)

    def publish(self, limit_rpm: int | None) -> None:
        """Adopt the published limit; if it is unchanged, what was learned from a 429 stays."""
        if limit_rpm == self._published:
            return
        self._published = limit_rpm
        self._assumed = None if limit_rpm is None else float(limit_rpm)
        self.is_learned = False

    def note_sent(self, *, is_sweep: bool = False) -> None:
        """Count one request of any origin, retries included."""
        now = self._clock.monotonic()
        self._sent.append(now)
        if not is_sweep and (interval := self.interval_s):
            # Retries, and the first reads after a 429, skip the spacing. Their advance is paid back within a minute,
            # the service's window: reading resumes right after a series of 429s.
            spaced = max(self._next_free, now - BURST * interval) + interval
            self._next_free = min(spaced, now + WINDOW_S)

    def note_users_read(self) -> None:
        """Count one request that the user asked for, which delays no background read."""
        now = self._clock.monotonic()
        self._sent.append(now)
        self._by_people.append(now)

    def prepay(self, *, is_users: bool = False) -> None:
        """Mark the first request of the current task as already counted by the scheduler.

        Args:
            is_users: Whether the user asked for what the task reads.
        """
        _payment.set(_Payment(1, is_users))

    def note_attempt(self, *, was_sent: bool = True) -> None:
        """Count a request when its response or failure is known; a prepaid one only once.

        A request sent outside the scheduler is the user's.

        Args:
            was_sent: Whether the service may have received it. One that it did not receive costs nothing.
        """
        payment = _payment.get()
        if payment is not None and payment.prepaid:
            payment.prepaid -= 1
            if not was_sent and self._sent:
                self._sent.pop()
        elif not was_sent:
            return
        elif payment is None or payment.is_users:
            self.note_users_read()
        else:
            self.note_sent()

    def may_retry(self, *, is_lost: bool = False) -> bool:
        """Return whether the current task may send a read again at once.

        The user's may; another one only if requests are left and the service is not lost, and the scheduler repeats it
        later anyway.
        """
        payment = _payment.get()
        if payment is None or payment.is_users:
            return True
        return not is_lost and self.background_wait_s(is_sweep=True) == 0

    def note_limited(self) -> None:
        """Lower the assumed limit after a 429, or learn it from what was granted, if the service publishes none."""
        now = self._quiet_since = self._clock.monotonic()
        self._refused.append(now)
        if self._published is None:
            if self._has_grown:
                self._growth_quiet_s = min(MAX_LEARNED_QUIET_S, 2 * self._growth_quiet_s)
            self.is_learned, self._has_grown = True, False
            granted = self.per_minute - _recent(self._refused, now)
            # Without a granted request, others had used the limit, and nothing is known of its size.
            self._assumed = float(granted if granted > 0 else MIN_RPM)
        elif self._assumed is not None:
            self._assumed = max(float(min(MIN_RPM, self._published)), self._assumed / 2)

    @property
    def interval_s(self) -> float:
        """Seconds between two background reads that the limit allows, besides sweeps and the account; 0 without one."""
        limit = self.limit_rpm
        if limit is None:
            return 0.0
        beside = WINDOW_S / sweep_interval_s(limit) + 1
        return WINDOW_S / max(1.0, limit * (1 - USER_SHARE) * MARGIN - beside)

    @property
    def own_per_minute(self) -> int:
        """Requests that this console made in the last minute."""
        return _recent(self._sent, self._clock.monotonic())

    @property
    def per_minute(self) -> int:
        """Requests of the last minute, including other consoles on this data directory."""
        return self.own_per_minute + self._others()

    @property
    def left(self) -> int | None:
        """Requests left in this minute for everything; ``None`` without a limit."""
        limit = self.limit_rpm
        return None if limit is None else max(0, limit - self.per_minute)

    @property
    def has_room(self) -> bool:
        """Whether more than half of the limit is left, so that a convenience may cost a request."""
        limit, left = self.limit_rpm, self.left
        return limit is None or left is None or left > limit // 2

    def background_wait_s(self, *, is_sweep: bool = False) -> float:
        """Return the seconds until a background read may go; 0 means now.

        The sweep has reserved requests and skips the spacing, so it delays no tail. It may also use the users' share,
        so that run states stay current when a 429 has just halved the limit.
        """
        limit = self.limit_rpm
        if limit is None:
            return 0.0
        now = self._clock.monotonic()
        wait = 0.0 if is_sweep else max(0.0, self._next_free - now)
        total, kept = self.per_minute, int(limit * USER_SHARE)
        unused = 0 if is_sweep else max(0, kept - _recent(self._by_people, now))
        if (excess := total - max(1, limit - unused)) >= 0:
            # The window slides on until enough requests have left it; those of others leave it at unknown times.
            last = self._sent[min(excess, len(self._sent) - 1)] if self._sent else now
            wait = max(wait, last + WINDOW_S - now, _LEAST_WAIT_S)
        return wait

    def _recover(self) -> None:
        now = self._clock.monotonic()
        if self._assumed is None:
            return
        if self.is_learned:
            while self._assumed < self._max_learned and now - self._quiet_since >= self._growth_quiet_s:
                self._quiet_since += self._growth_quiet_s
                grown = max(self._assumed + 1, self._assumed * LEARNED_GROWTH)
                self._assumed, self._has_grown = min(grown, float(self._max_learned)), True
        elif self._published is not None and self._assumed < self._published:
            minutes = int((now - self._quiet_since) / WINDOW_S)
            if minutes > 0:
                self._quiet_since += minutes * WINDOW_S
                self._assumed = min(float(self._published), self._assumed + minutes * self._published / 10)


def _recent(times: deque[float], now: float) -> int:
    """Drop timestamps older than a minute and return how many are left."""
    while times and times[0] <= now - WINDOW_S:
        times.popleft()
    return len(times)
