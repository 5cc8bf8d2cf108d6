"""HTTP side of the sample organization's output checks; only in a service started with ``--sample``."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, Final

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from runwatch.base.clock import Clock, wait_first
from runwatch.base.json import dumps
from runwatch.service.address_policy import SAMPLE_CHECKS_PATH
from runwatch.service.checks.sample_checks import SampleCheck, admit, judge
from runwatch.service.errors import RefusalError
from runwatch.service.http.rate_limits import ANONYMOUS_BYTES_IN_FLIGHT, BytesInFlight, read_body
from runwatch.service.http.responses import JSON_TYPE

READ_S: Final = 5.0
"""Seconds for a caller to send its body."""


class SampleCheckApp:
    def __init__(self, clock: Clock, in_flight: BytesInFlight | None = None) -> None:
        self._clock = clock
        self._in_flight = in_flight or BytesInFlight(ANONYMOUS_BYTES_IN_FLIGHT)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        try:
            status, body, headers = await self._respond(request)
        except ClientDisconnect:
            return
        await Response(dumps(body).encode("ascii"), status, headers, JSON_TYPE)(scope, receive, send)

    async def _respond(self, request: Request) -> tuple[int, Mapping[str, Any], dict[str, str]]:
        # Responses that leave the body unread close the connection; otherwise the body would be parsed as the next
        # request.
        unread = {"Connection": "close"}
        name = request.scope["path"].removeprefix(SAMPLE_CHECKS_PATH)
        sample = admit(name, request.method, request.headers.get("authorization", ""))
        if not isinstance(sample, SampleCheck):
            status, error = sample
            return status, {"error": error}, {"Allow": "POST", **unread} if status == 405 else unread
        with self._in_flight.share() as reserve:
            try:
                async with asyncio.timeout(READ_S):
                    content = await read_body(request, reserve)
            except RefusalError as refusal:
                return refusal.status, {"error": refusal.code}, unread
            except TimeoutError:
                return 408, {"error": "request_timeout"}, unread
            await self._wait(sample.delay_s, request)
            return *judge(sample, content), {}

    async def _wait(self, seconds: float, request: Request) -> None:
        if not seconds:
            return
        if await wait_first(self._clock.sleep(seconds), request.receive()) != 0:
            raise ClientDisconnect
