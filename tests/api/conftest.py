"""A server that answers with exactly the bytes a test wrote down, and clients that call it without waiting."""

from __future__ import annotations

import asyncio
import socket
import ssl
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import pytest

from runwatch.api.client import Client
from runwatch.base.json import dumps
from runwatch.base.network.service_target import Target
from runwatch.base.secrets.secret import Secret
from runwatch.records.problem import PROBLEM_TYPE
from tests.support.builders import problem
from tests.support.clock import FakeClock
from tests.support.http1 import Head, answer_bytes, read_body, read_head
from tests.support.listening import Listening

CANARY: Final = "solverapi_test_c4n4ry-d0-n0t-l34k"
"""The key that no error, exchange or log may ever show."""

_NO_LINGER: Final = struct.pack("ii", 1, 0)


def json_answer(value: object, status: int = 200, **headers: str) -> bytes:
    named = [(name.replace("_", "-"), text) for name, text in headers.items()]
    return answer_bytes(status, dumps(value).encode(), headers=named)


def problem_answer(
    code: str, status: int | None = None, headers: tuple[tuple[str, str], ...] = (), **members: Any
) -> bytes:
    body = problem(code, **members)
    status = status or body.status or 500
    return answer_bytes(status, dumps(dict(body.raw)).encode(), content_type=PROBLEM_TYPE, headers=headers)


@dataclass(frozen=True, slots=True)
class Heard:
    """One request that the server got."""

    head: Head
    body: bytes


class Connection:
    """One request as a custom step sees it: it may send what it likes and end the connection as it likes."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, heard: Heard) -> None:
        self.reader = reader
        self.writer = writer
        self.heard = heard
        self.is_over = False

    async def send(self, data: bytes) -> None:
        """Send bytes and see them go."""
        self.writer.write(data)
        await self.writer.drain()

    def reset(self) -> None:
        """Reset the connection, so that the client sees a failure and no end of file."""
        raw: socket.socket = self.writer.get_extra_info("socket")
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _NO_LINGER)
        self.writer.transport.abort()
        self.is_over = True

    def close(self) -> None:
        """Close the connection in order after what was sent."""
        self.writer.close()
        self.is_over = True


Step: TypeAlias = "bytes | Callable[[Connection], Awaitable[None]]"
"""Either the bytes of a whole answer, after which the connection stays, or a function that does anything."""


def then_close(data: bytes) -> Step:
    """Send these bytes and close the connection."""

    async def step(connection: Connection) -> None:
        await connection.send(data)
        connection.close()

    return step


def then_reset(data: bytes = b"") -> Step:
    """Send these bytes and reset the connection."""

    async def step(connection: Connection) -> None:
        if data:
            await connection.send(data)
        connection.reset()

    return step


async def stall(connection: Connection) -> None:
    """Say nothing until the client goes away."""
    await connection.reader.read()
    connection.is_over = True


def then_stall(data: bytes) -> Step:
    """Send these bytes and then nothing more until the client goes away."""

    async def step(connection: Connection) -> None:
        await connection.send(data)
        await stall(connection)

    return step


class RawServer(Listening):
    """Answers each request with the next step of its script; the last step is used for all that follow.

    Attributes:
        heard: Every request, in order.
    """

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        super().__init__(tls)
        self.heard: list[Heard] = []
        self._steps: list[Step] = []

    @property
    def base_url(self) -> str:
        return self.origin

    def script(self, *steps: Step) -> None:
        """What the next requests are answered with."""
        self._steps = list(steps)

    @property
    def paths(self) -> list[str]:
        """The request targets heard, queries included."""
        return [heard.head.start[1] for heard in self.heard]

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while (head := await read_head(reader)) is not None:
            heard = Heard(head, await read_body(reader, head))
            self.heard.append(heard)
            step = self._steps.pop(0) if len(self._steps) > 1 else self._steps[0]
            if isinstance(step, bytes):
                writer.write(step)
                await writer.drain()
                continue
            connection = Connection(reader, writer, heard)
            await step(connection)
            if connection.is_over:
                break


@pytest.fixture
async def server() -> AsyncIterator[RawServer]:
    async with RawServer() as server:
        yield server


def target_of(server: RawServer, key: str | None = CANARY, **more: Any) -> Target:
    """The server as a profile would name it."""
    return Target("test", server.base_url, Secret(key) if key is not None else None, **more)


@pytest.fixture
async def connect(server: RawServer, clock: FakeClock) -> AsyncIterator[Callable[..., Client]]:
    """Makes clients of the server that wait on the fake clock; all are closed at the end."""
    clients: list[Client] = []

    def make(**options: Any) -> Client:
        client = Client(options.pop("target", None) or target_of(server), clock=clock, **options)
        clients.append(client)
        return client

    yield make
    for client in clients:
        await client.close()


@pytest.fixture
def client(connect: Callable[..., Client]) -> Client:
    return connect()
