"""Calls a service over connections that stay open, with as little of a client as there can be.

Raw asyncio streams: a library's client would take as long as a service of this size takes to answer, and a measurement
of the service would be one of the client.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from tests.support.http1 import HEAD_LIMIT, Head, read_body, read_head

PART_BYTES: Final = 1 << 16
"""How many bytes of a body with a known length are read at once."""


class Connection:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, host: str, key: str) -> None:
        self._reader = reader
        self._writer = writer
        self._headers = f"Host: {host}\r\nAuthorization: Bearer {key}\r\n\r\n"

    async def get(self, path: str) -> bytes:
        """The body of an answer, as on the wire.

        Raises:
            AssertionError: it is no success.
        """
        return await read_body(self._reader, await self._ask(path))

    async def post(self, path: str, body: bytes, key: str) -> bytes:
        """The body of the answer to a body that is sent once, by its idempotency key.

        Raises:
            AssertionError: it is no success.
        """
        lines = f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\nIdempotency-Key: {key}\r\n"
        return await read_body(self._reader, await self._ask(path, lines, body))

    async def count(self, path: str, sign: bytes) -> int:
        """How often a character occurs in the body of an answer, of which only a part is held at a time.

        Raises:
            AssertionError: it is no success.
        """
        found, tail = 0, b""
        async for part in self._parts(await self._ask(path)):
            # A sign may begin in one part and end in the next one.
            text = tail + part
            found += text.count(sign)
            tail = text[max(0, len(text) - len(sign) + 1) :]
        return found

    async def _ask(self, path: str, lines: str = "", body: bytes | None = None) -> Head:
        method = "GET" if body is None else "POST"
        self._writer.write(f"{method} {path} HTTP/1.1\r\n{lines}{self._headers}".encode("ascii") + (body or b""))
        head = await read_head(self._reader)
        assert head is not None, "the service has closed the connection"
        assert head.status in {200, 201, 202}, await read_body(self._reader, head)
        return head

    async def _parts(self, head: Head) -> AsyncIterator[bytes]:
        if head.header("transfer-encoding") != "chunked":
            left = int(head.header("content-length") or 0)
            while left:
                part = await self._reader.read(min(left, PART_BYTES))
                assert part, "the body is not whole"
                left -= len(part)
                yield part
            return
        while size := int(await self._reader.readline(), 16):
            yield (await self._reader.readexactly(size + 2))[:size]
        await self._reader.readline()


@contextlib.asynccontextmanager
async def connected(base_url: str, key: str) -> AsyncIterator[Connection]:
    """A connection to a service, open while the block runs."""
    address = urlsplit(base_url)
    reader, writer = await asyncio.open_connection(address.hostname, address.port, limit=HEAD_LIMIT)
    try:
        yield Connection(reader, writer, address.netloc, key)
    finally:
        writer.close()
        await writer.wait_closed()


@contextlib.asynccontextmanager
async def connected_locally(socket: Path, key: str) -> AsyncIterator[Connection]:
    """A connection to a service's Unix socket, open while the block runs."""
    reader, writer = await asyncio.open_unix_connection(socket, limit=HEAD_LIMIT)
    try:
        yield Connection(reader, writer, "localhost", key)
    finally:
        writer.close()
        await writer.wait_closed()


async def seconds_of_reads(base_url: str, key: str, path: str, *, at_once: int, seconds: float) -> list[float]:
    """Read a path again and again, over this many connections at once; return the seconds of each read."""
    taken: list[float] = []

    async def read() -> None:
        async with connected(base_url, key) as connection:
            until = time.perf_counter() + seconds
            while (start := time.perf_counter()) < until:
                await connection.get(path)
                taken.append(time.perf_counter() - start)

    await asyncio.gather(*(read() for _ in range(at_once)))
    return taken
