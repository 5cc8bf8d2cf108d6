"""A server on loopback that takes deliveries, remembers them, and answers what a test wrote down.

::

    async with Receiver(500, 500) as receiver:      # two refusals, then 204 for ever
        ...                                         # have something post to receiver.url
        await receiver.wait_for(3)
        assert receiver.taken[0].headers["content-type"] == "application/json"
"""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass
from typing import Final

from tests.support.http1 import read_body, read_head
from tests.support.listening import Listening

WAIT_S: Final = 60.0
"""How long a delivery may take on a busy machine before it counts as missing."""

HANG_UP: Final = 0
"""In place of a status: close the connection without an answer."""

HANG: Final = -1
"""In place of a status: keep the connection open without an answer, for as long as the block runs."""


@dataclass(frozen=True, slots=True)
class Taken:
    """One request that came.

    Attributes:
        method: Its method.
        path: Its path.
        headers: Its headers, names in lower case.
        body: Its body.
    """

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


class Receiver(Listening):
    """Takes requests while its block runs.

    Args:
        statuses: What it answers, one after another; 204 when none is left.

    Attributes:
        taken: The requests that came, in order.
    """

    def __init__(self, *statuses: int) -> None:
        super().__init__()
        self.taken: Final[list[Taken]] = []
        self._statuses = deque(statuses)
        self._came = asyncio.Condition()

    @property
    def url(self) -> str:
        """Where deliveries go."""
        return f"{self.origin}/hook"

    async def wait_for(self, count: int) -> None:
        """Wait until this many requests have come.

        Raises:
            TimeoutError: they did not come within a minute.
        """
        async with asyncio.timeout(WAIT_S), self._came:
            await self._came.wait_for(lambda: len(self.taken) >= count)

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await read_head(reader)
        if head is None:
            return
        body = await read_body(reader, head)
        status = self._statuses.popleft() if self._statuses else 204
        async with self._came:
            self.taken.append(Taken(head.method, head.path, dict(head.headers), body))
            self._came.notify_all()
        if status == HANG:
            await asyncio.Event().wait()
        if status != HANG_UP:
            length = "" if status == 204 else "Content-Length: 0\r\n"
            writer.write(f"HTTP/1.1 {status} Said\r\n{length}Connection: close\r\n\r\n".encode("ascii"))
            await writer.drain()
