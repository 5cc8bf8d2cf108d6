"""Limits of a single service: size of a body, requests a minute."""

from __future__ import annotations

import math
from collections import deque
from typing import Final

from starlette.requests import Request

from runwatch.base.clock import Clock
from runwatch.service.http.answer import Refusal

BODY_BYTES: Final = 1024 * 1024
"""The largest request body (DESIGN, Answers)."""

WINDOW_S: Final = 60.0


async def read_body(request: Request) -> bytes:
    """The request's body, read no further than its limit.

    A ``Content-Length`` above the limit is refused before a byte is read; a length that lies and a chunked body are
    counted as they come.

    Raises:
        Refusal: ``request_too_large``.
        ClientDisconnect: the caller has gone.
    """
    too_large = Refusal("request_too_large", f"A request body has at most {BODY_BYTES:,} bytes.")
    declared = request.headers.get("content-length", "")
    if declared.isdecimal() and int(declared) > BODY_BYTES:
        raise too_large
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > BODY_BYTES:
            raise too_large
    return bytes(body)


class RateLimit:
    """At most so many requests of one key in any minute.

    Args:
        requests_per_minute: The limit, or ``None`` for none.
        clock: Where the time comes from.
    """

    def __init__(self, requests_per_minute: int | None, clock: Clock) -> None:
        self.requests_per_minute: Final = requests_per_minute
        self._clock = clock
        self._recent: dict[str, deque[float]] = {}

    def admit(self, key_id: str) -> None:
        """Count one request of a key.

        Raises:
            Refusal: ``rate_limited``, with the seconds until the oldest request leaves the window. A refused request
                does not count.
        """
        if self.requests_per_minute is None:
            return
        now = self._clock.monotonic()
        recent = self._recent.setdefault(key_id, deque())
        while recent and recent[0] <= now - WINDOW_S:
            recent.popleft()
        if len(recent) >= self.requests_per_minute:
            wait = max(1, math.ceil(recent[0] + WINDOW_S - now))
            detail = f"This key may send {self.requests_per_minute} requests a minute."
            raise Refusal("rate_limited", detail, retry_after_s=wait)
        recent.append(now)
