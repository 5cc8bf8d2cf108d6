"""Limits: body sizes, bytes in flight, requests per minute (manual: security, "Requests without a key")."""

from __future__ import annotations

import contextlib
import math
from collections import deque
from collections.abc import Callable, Iterator
from functools import partial
from typing import Final

from starlette.requests import Request

from runwatch.base.clock import Clock
from runwatch.service.database import TransactionRunner
from runwatch.service.errors import RefusalError
from runwatch.service.tables import rate_windows_table
from runwatch.service.transaction import Transaction

BODY_BYTES: Final = 1024 * 1024
"""Largest request body (manual: decisions, "Error responses")."""

ANONYMOUS_BODY_BYTES: Final = 64 * 1024
"""Largest body without a key: the form of a private page, or a sign-up."""

KEYED_BYTES_IN_FLIGHT: Final = 16 * 1024 * 1024

ANONYMOUS_BYTES_IN_FLIGHT: Final = 2 * 1024 * 1024

WINDOW_S: Final = 60.0

ANONYMOUS_REQUESTS_PER_MINUTE: Final = 300
"""Requests per minute from one address to private pages and other open endpoints."""

FAILED_KEYS_PER_MINUTE: Final = 120
"""Requests per minute from one address with a missing or invalid key that are answered with 401."""

ALL_FAILED_KEYS_PER_MINUTE: Final = 600
"""The same from all addresses together."""

HOUR_S: Final = 3600.0

SIGN_UPS_PER_HOUR: Final = 20
"""New organizations per hour from one address."""

ALL_SIGN_UPS_PER_HOUR: Final = 60
"""The same from all addresses together."""

_NAMES: Final = 10_000

Reserve = Callable[[int], None]
"""Reserves bytes for a request."""


class BytesInFlight:
    """Counter of the bytes that request bodies have reserved at once."""

    def __init__(self, most: int) -> None:
        self.most: Final = most
        self.reserved = 0

    @contextlib.contextmanager
    def share(self) -> Iterator[Reserve]:
        """Yield what reserves bytes for one request until the block ends.

        It refuses with ``rate_limited`` when all requests together have reserved the maximum.
        """
        mine = 0

        def reserve(count: int) -> None:
            nonlocal mine
            if self.reserved + count > self.most:
                detail = "The service is reading as many request bodies as it can. Send this one again."
                raise RefusalError("rate_limited", detail, retry_after_s=1)
            self.reserved += count
            mine += count

        try:
            yield reserve
        finally:
            self.reserved -= mine


async def read_body(request: Request, reserve: Reserve, *, most: int = BODY_BYTES) -> bytes:
    """Read the request's body, no further than its limit.

    A ``Content-Length`` above the limit is refused before a byte is read; bodies with a wrong length or in chunks are
    counted as they arrive.

    Raises:
        RefusalError: ``request_too_large``, or ``rate_limited`` while too many bytes are in flight.
        ClientDisconnect: the caller has disconnected.
    """
    declared = request.headers.get("content-length", "")
    _check_length(int(declared) if declared.isdecimal() else 0, most)
    body = bytearray()
    async for chunk in request.stream():
        _check_length(len(body) + len(chunk), most)
        reserve(len(chunk))
        body += chunk
    return bytes(body)


def _check_length(length: int, most: int) -> None:
    if length > most:
        raise RefusalError("request_too_large", f"A request body has at most {most:,} bytes here.")


class RateWindow:
    """Limit of events per name within a sliding time window, and of those of all names together if there is one."""

    def __init__(self, most: int, seconds: float, clock: Clock, most_of_all: int | None = None) -> None:
        self._most = most
        self._seconds = seconds
        self._clock = clock
        self._recent: dict[str, deque[float]] = {}
        self._all = None if most_of_all is None else RateWindow(most_of_all, seconds, clock)

    def wait_s(self, name: str = "") -> int:
        """Return the seconds until the next event of a name is allowed; 0 when it is allowed now."""
        now = self._clock.monotonic()
        recent = self._recent.get(name)
        while recent and recent[0] <= now - self._seconds:
            recent.popleft()
        is_full = recent is not None and len(recent) >= self._most
        own = max(1, math.ceil(recent[0] + self._seconds - now)) if recent and is_full else 0
        return own if self._all is None else max(own, self._all.wait_s())

    def count(self, name: str = "") -> None:
        """Count one event. When there are too many names, the one first counted is dropped."""
        if name not in self._recent and len(self._recent) >= _NAMES:
            self._recent.pop(next(iter(self._recent)))
        self._recent.setdefault(name, deque()).append(self._clock.monotonic())
        if self._all is not None:
            self._all.count()

    def admit(self, name: str, detail: str) -> None:
        """Count one event; refuse one too many with ``rate_limited`` and the wait, without counting it."""
        if wait := self.wait_s(name):
            raise RefusalError("rate_limited", detail, retry_after_s=wait)
        self.count(name)


class RateLimiter:
    """Limit of requests per key and minute."""

    def __init__(self, requests_per_minute: int | None, clock: Clock) -> None:
        self.requests_per_minute: Final = requests_per_minute
        self._window = None if requests_per_minute is None else RateWindow(requests_per_minute, WINDOW_S, clock)

    async def admit(self, key_id: str) -> None:
        """Count one request of a key.

        Refuses with ``rate_limited``, with the seconds until the oldest request leaves the window. A refused request
        does not count.
        """
        if self._window is not None:
            self._window.admit(key_id, self.detail)

    @property
    def detail(self) -> str:
        return f"This key may send {self.requests_per_minute} requests a minute."


class SharedRateLimiter(RateLimiter):
    """The same limit for all processes of a service together, which count in the database."""

    def __init__(self, requests_per_minute: int | None, clock: Clock, database: TransactionRunner) -> None:
        super().__init__(requests_per_minute, clock)
        self._database = database

    async def admit(self, key_id: str) -> None:
        if self.requests_per_minute is not None and (wait := await self._database.write(partial(self._count, key_id))):
            raise RefusalError("rate_limited", self.detail, retry_after_s=wait)

    def _count(self, name: str, transaction: Transaction) -> int:
        """Count one request, or return the seconds until the next one is allowed."""
        assert self.requests_per_minute is not None
        now = transaction.now.timestamp()
        row = transaction.one(rate_windows_table, {"name": name})
        recent = [at for at in (() if row is None else row["recent"]) if now - WINDOW_S < at <= now]
        if len(recent) >= self.requests_per_minute:
            return max(1, math.ceil(recent[0] + WINDOW_S - now)) if recent else math.ceil(WINDOW_S)
        transaction.put(rate_windows_table, {"name": name}, row, recent=[*recent, now])
        return 0


class AnonymousLimits:
    """Limits of callers without a valid key. They never apply to requests with one.

    Args:
        requests_per_minute: The limit of a key, which also applies here if it is lower.
    """

    def __init__(self, clock: Clock, requests_per_minute: int | None = None) -> None:
        self._most = min(ANONYMOUS_REQUESTS_PER_MINUTE, requests_per_minute or ANONYMOUS_REQUESTS_PER_MINUTE)
        self.bytes_in_flight: Final = BytesInFlight(ANONYMOUS_BYTES_IN_FLIGHT)
        self._requests = RateWindow(self._most, WINDOW_S, clock)
        self._failed = RateWindow(FAILED_KEYS_PER_MINUTE, WINDOW_S, clock, ALL_FAILED_KEYS_PER_MINUTE)
        self._sign_ups = RateWindow(SIGN_UPS_PER_HOUR, HOUR_S, clock, ALL_SIGN_UPS_PER_HOUR)

    def admit(self, peer: str) -> None:
        """Count one request to an open endpoint. Refuses with ``rate_limited``; such a request does not count."""
        self._requests.admit(peer, f"One address may send {self._most} requests a minute without a key.")

    def admit_failure(self, peer: str) -> None:
        """Count one request with an invalid key. Refuses with ``rate_limited`` after too many."""
        self._failed.admit(peer, "Too many requests came without a valid key. Check the key, then wait.")

    def sign_up(self, peer: str) -> None:
        """Count one sign-up. Refuses with ``rate_limited``, with the seconds until the next one is allowed."""
        detail = f"One address may sign up {SIGN_UPS_PER_HOUR} times an hour, all together {ALL_SIGN_UPS_PER_HOUR}."
        self._sign_ups.admit(peer, detail)
