"""Calls to the sample checks without a network, for the time before the service listens."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from starlette.types import Message

from runwatch.base.clock import Clock
from runwatch.service.checks.docks import Docks
from runwatch.service.outbound import ANSWER_BYTES, Outbound, OutboundAnswer, OutboundError
from runwatch.service.reach import DOCKS_PATH, Reach

AGENT_URL: Final = "https://agents.sample.invalid"
"""Where the sample agents are said to be. Nobody is there, and nobody can ever be (RFC 2606)."""

_NOT_ALLOWED: Final = 405
"""What an agent answers to a ``HEAD``: it is there and takes no such call."""


class DockCalls(Outbound):
    """Calls the sample checks of this process in place of the network, and tells what became of the sample agents.

    Args:
        clock: What the checks' delays, and the limits of the callers, are measured by.
    """

    def __init__(self, clock: Clock) -> None:
        super().__init__()
        self._clock = clock
        self._docks = Docks(clock)

    async def send(
        self,
        method: str,
        url: str,
        *,
        reach: Reach,
        timeout_s: float,
        headers: Mapping[str, str] | None = None,
        body: bytes | None = None,
        limit_bytes: int = ANSWER_BYTES,
    ) -> OutboundAnswer:
        """Answer as the called side would; see :meth:`runwatch.service.outbound.Outbound.send`.

        Raises:
            OutboundError: there would be no complete answer.
        """
        if url.startswith(AGENT_URL):
            if url.endswith("/gone"):
                raise OutboundError("network")
            return OutboundAnswer(_NOT_ALLOWED, {}, b"")
        path = urlsplit(url).path
        if not path.startswith(DOCKS_PATH):
            raise OutboundError("network")
        began = self._clock.monotonic()
        answer = await self._ask(method, path, headers or {}, body or b"")
        if self._clock.monotonic() - began > timeout_s:
            raise OutboundError("timeout", was_sent=True)
        return answer

    async def _ask(self, method: str, path: str, headers: Mapping[str, str], body: bytes) -> OutboundAnswer:
        """Call the application of the checks as an HTTP server would."""
        status, content = 0, bytearray()
        requests: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

        async def receive() -> Message:
            if requests:
                return requests.pop()
            # The caller stays: it waits for the answer.
            return await asyncio.get_running_loop().create_future()  # type: ignore[no-any-return]  # never done

        async def send(message: Any) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            else:
                content.extend(message.get("body", b""))

        scope = {
            "type": "http",
            "method": method,
            "path": path,
            "query_string": b"",
            "headers": [(name.lower().encode("ascii"), value.encode("ascii")) for name, value in headers.items()],
        }
        await self._docks(scope, receive, send)
        return OutboundAnswer(status, {}, bytes(content))
