"""A scripted endpoint of an output check on this machine: it judges, refuses, dawdles or talks nonsense as told."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.support.http1 import Head, Malformed, answer_bytes, read_body, read_head

GOOD = {"is_correct": False, "quality_score": 0}
"""What a check answers to the reserved probe."""


@dataclass(slots=True)
class Dock:
    """One endpoint.

    Attributes:
        url: Where it is.
        status: The status that it answers.
        content: The body that it answers, exact bytes.
        keys: The keys that it accepts; ``None`` for a public endpoint.
        judge: Makes the verdict on a request's body instead, where there is one.
        is_silent: Whether it takes requests and never answers.
        heads: The heads of the requests that it got.
        bodies: Their bodies, decoded.
    """

    url: str
    status: int = 200
    content: bytes = json.dumps(GOOD).encode()
    keys: set[str] | None = None
    judge: Callable[[Any], Mapping[str, Any]] | None = None
    is_silent: bool = False
    heads: list[Head] = field(default_factory=list)
    bodies: list[Any] = field(default_factory=list)
    _news: asyncio.Condition = field(default_factory=asyncio.Condition)

    def says(self, **verdict: Any) -> None:
        """Answer this verdict from now on."""
        self.status, self.content = 200, json.dumps(verdict).encode()

    @property
    def authorizations(self) -> list[str | None]:
        """The ``Authorization`` header of every request."""
        return [head.header("authorization") for head in self.heads]

    async def until_heard(self, count: int) -> None:
        """Wait until the endpoint has read this many requests."""
        async with self._news:
            await self._news.wait_for(lambda: len(self.bodies) >= count)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one connection's one request."""
        with contextlib.suppress(ConnectionError, Malformed):
            head = await read_head(reader)
            if head is not None:
                self.heads.append(head)
                self.bodies.append(json.loads(await read_body(reader, head)))
                async with self._news:
                    self._news.notify_all()
                if self.is_silent:
                    await reader.read(-1)
                else:
                    writer.write(self._answer(head))
                    await writer.drain()
        writer.close()

    def _answer(self, head: Head) -> bytes:
        shown = (head.header("authorization") or "").removeprefix("Bearer ")
        if self.keys is not None and shown not in self.keys:
            return answer_bytes(401, b'{"error": "unauthorized"}')
        if self.judge is not None:
            return answer_bytes(200, json.dumps(self.judge(self.bodies[-1])).encode())
        return answer_bytes(self.status, self.content)


@contextlib.asynccontextmanager
async def dock(path: str = "/check") -> AsyncIterator[Dock]:
    """An endpoint that listens on a free port of this machine while the block runs."""
    made = Dock("")
    listening = await asyncio.start_server(lambda reader, writer: made.serve(reader, writer), "127.0.0.1", 0)
    made.url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}{path}"
    async with listening:
        yield made
