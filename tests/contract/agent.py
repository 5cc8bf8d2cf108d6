"""A review agent on this machine that begins no job and takes one key."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

from tests.support.http1 import Malformed, answer_head, read_head


@contextlib.asynccontextmanager
async def review_agent(key: str) -> AsyncIterator[str]:
    """The address of an agent that answers 405 to who shows its key and 401 to everybody else."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, Malformed), contextlib.closing(writer):
            head = await read_head(reader)
            if head is not None:
                status = 405 if head.header("authorization") == f"Bearer {key}" else 401
                writer.write(answer_head(status, [("Content-Length", "0"), ("Connection", "close")]))
                await writer.drain()

    listening = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with listening:
        yield f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}/jobs"
