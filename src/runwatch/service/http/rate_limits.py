"""Limits of a single service: size of bodies, bytes being read, requests a minute.

(Numbers: manual, Security: Requests without a key.)
"""

from __future__ import annotations

import contextlib
import math
from collections import deque
from collections.abc import Iterator
from typing import Final

from starlette.requests import Request

from runwatch.base.clock import Clock
from runwatch.service.errors import RefusalError

BODY_BYTES: Final = 1024 * 1024
"""The largest request body (DESIGN, Answers)."""

ANONYMOUS_BODY_BYTES: Final = 64 * 1024
"""The largest body without a key: the form of a private page, or a sign-up."""

KEYED_BYTES_IN_FLIGHT: Final = 16 * 1024 * 1024
"""How many bytes of bodies with a key are held at once."""

ANONYMOUS_BYTES_IN_FLIGHT: Final = 2 * 1024 * 1024
"""How many bytes of bodies without a key are held at once."""

WINDOW_S: Final = 60.0

ANONYMOUS_REQUESTS_PER_MINUTE: Final = 300
"""Requests to private pages and other open endpoints, from one address."""

FAILED_KEYS_PER_MINUTE: Final = 120
"""Requests with a missing or bad key, from one address, that are answered with 401."""

ALL_FAILED_KEYS_PER_MINUTE: Final = 600
"""The same, from all addresses together."""

HOUR_S: Final = 3600.0

SIGN_UPS_PER_HOUR: Final = 20
"""New organizations, from one address."""

ALL_SIGN_UPS_PER_HOUR: Final = 60
"""The same, from all addresses together."""

_NAMES: Final = 10_000


class Share:
    """The bytes that one request holds."""

    def __init__(self, whole: BytesInFlight) -> None:
        self._whole = whole
        self.held = 0

    def take(self, count: int) -> None:
        """Hold some bytes more.

        Raises:
            Refusal: ``rate_limited``: all requests together hold as much as they may.
        """
        if self._whole.held + count > self._whole.most:
            detail = "The service is reading as many request bodies as it can. Send this one again."
            raise RefusalError("rate_limited", detail, retry_after_s=1)
        self._whole.held += count
        self.held += count


class BytesInFlight:
    """How many bytes of request bodies are held at once.

    Args:
        most: The bound, in bytes.

    Attributes:
        held: How many are held.
    """

    def __init__(self, most: int) -> None:
        self.most: Final = most
        self.held = 0

    @contextlib.contextmanager
    def share(self) -> Iterator[Share]:
        """What one request holds, until the block ends."""
        share = Share(self)
        try:
            yield share
        finally:
            self.held -= share.held


async def read_body(request: Request, share: Share | None = None, *, most: int = BODY_BYTES) -> bytes:
    """The request's body, read no further than its limit.

    A ``Content-Length`` above the limit is refused before a byte is read; a length that lies and a chunked body are
    counted as they come.

    Args:
        request: The request.
        share: What the body's bytes are held in.
        most: The limit, in bytes.

    Raises:
        Refusal: ``request_too_large``, or ``rate_limited`` while too many bytes are in flight.
        ClientDisconnect: the caller has gone.
    """
    too_large = RefusalError("request_too_large", f"A request body has at most {most:,} bytes here.")
    declared = request.headers.get("content-length", "")
    if declared.isdecimal() and int(declared) > most:
        raise too_large
    body = bytearray()
    async for chunk in request.stream():
        if len(body) + len(chunk) > most:
            raise too_large
        if share is not None:
            share.take(len(chunk))
        body += chunk
    return bytes(body)


class RateWindow:
    """At most so many events of one name within any stretch of time.

    Args:
        most: How many.
        seconds: The length of the stretch.
        clock: Where the time comes from.
    """

    def __init__(self, most: int, seconds: float, clock: Clock) -> None:
        self._most = most
        self._seconds = seconds
        self._clock = clock
        self._recent: dict[str, deque[float]] = {}

    def wait_s(self, name: str = "") -> int:
        """Seconds until the next event of a name is admitted; 0 when it is admitted at once."""
        now = self._clock.monotonic()
        recent = self._recent.get(name)
        while recent and recent[0] <= now - self._seconds:
            recent.popleft()
        if not recent or len(recent) < self._most:
            return 0
        return max(1, math.ceil(recent[0] + self._seconds - now))

    def count(self, name: str = "") -> None:
        """Count one event. Of more names than can be kept, the one that was counted first is forgotten."""
        if name not in self._recent and len(self._recent) >= _NAMES:
            self._recent.pop(next(iter(self._recent)))
        self._recent.setdefault(name, deque()).append(self._clock.monotonic())


class RateLimiter:
    """At most so many requests of one key in any minute.

    Args:
        requests_per_minute: The limit, or ``None`` for none.
        clock: Where the time comes from.
    """

    def __init__(self, requests_per_minute: int | None, clock: Clock) -> None:
        self.requests_per_minute: Final = requests_per_minute
        self._window = None if requests_per_minute is None else RateWindow(requests_per_minute, WINDOW_S, clock)

    def admit(self, key_id: str) -> None:
        """Count one request of a key.

        Raises:
            Refusal: ``rate_limited``, with the seconds until the oldest request leaves the window. A refused request
                does not count.
        """
        if self._window is None:
            return
        wait = self._window.wait_s(key_id)
        if wait:
            detail = f"This key may send {self.requests_per_minute} requests a minute."
            raise RefusalError("rate_limited", detail, retry_after_s=wait)
        self._window.count(key_id)


class AnonymousLimits:
    """What callers without a good key may do. Nothing here is asked about a request with a good key.

    Args:
        clock: Where the time comes from.
        requests_per_minute: The limit of a key, which holds for them too where it is the smaller one.

    Attributes:
        bytes_in_flight: The bytes of their bodies.
    """

    def __init__(self, clock: Clock, requests_per_minute: int | None = None) -> None:
        self._most = min(ANONYMOUS_REQUESTS_PER_MINUTE, requests_per_minute or ANONYMOUS_REQUESTS_PER_MINUTE)
        self.bytes_in_flight: Final = BytesInFlight(ANONYMOUS_BYTES_IN_FLIGHT)
        self._requests = RateWindow(self._most, WINDOW_S, clock)
        self._failed = RateWindow(FAILED_KEYS_PER_MINUTE, WINDOW_S, clock)
        self._all_failed = RateWindow(ALL_FAILED_KEYS_PER_MINUTE, WINDOW_S, clock)
        self._sign_ups = RateWindow(SIGN_UPS_PER_HOUR, HOUR_S, clock)
        self._all_sign_ups = RateWindow(ALL_SIGN_UPS_PER_HOUR, HOUR_S, clock)

    def admit(self, peer: str) -> None:
        """Count one request to an open endpoint.

        Args:
            peer: The address that it comes from.

        Raises:
            Refusal: ``rate_limited``; such a request does not count.
        """
        if wait := self._requests.wait_s(peer):
            detail = f"One address may send {self._most} requests a minute without a key."
            raise RefusalError("rate_limited", detail, retry_after_s=wait)
        self._requests.count(peer)

    def refuse(self, peer: str, refusal: RefusalError) -> RefusalError:
        """What a request with a bad key is refused with: the refusal itself, or ``rate_limited`` after too many."""
        if wait := max(self._failed.wait_s(peer), self._all_failed.wait_s()):
            detail = "Too many requests came without a valid key. Check the key, then wait."
            return RefusalError("rate_limited", detail, retry_after_s=wait)
        self._failed.count(peer)
        self._all_failed.count()
        return refusal

    def sign_up(self, peer: str) -> None:
        """Count one sign-up.

        Raises:
            Refusal: ``rate_limited``, with the seconds until the next one is taken.
        """
        if wait := max(self._sign_ups.wait_s(peer), self._all_sign_ups.wait_s()):
            detail = f"One address may sign up {SIGN_UPS_PER_HOUR} times an hour, all together {ALL_SIGN_UPS_PER_HOUR}."
            raise RefusalError("rate_limited", detail, retry_after_s=wait)
        self._sign_ups.count(peer)
        self._all_sign_ups.count()
