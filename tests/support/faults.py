"""A TCP proxy between a real client and a real service that lets requests go wrong by plan.

::

    async with FaultPeer(service.base_url) as peer:
        peer.plan(match("POST", "/v1/executions"), Reset(after="answer"))
        peer.plan(match("GET"), *times(2, failing()))
        ...                                     # call peer.base_url
        assert len(peer.seen("POST")) == 2

Each plan is a list of steps; a request that matches it uses up its next step, and when none is left the request passes.
Tests without an event loop use :func:`running_peer`.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import socket
import struct
from collections import deque
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlsplit

from runwatch.base.clock import Clock, SystemClock
from tests.support.fault_steps import Pass, Response, Step
from tests.support.http1 import HEAD_LIMIT, Head, Malformed, read_body, read_head
from tests.support.threads import LoopThread, in_thread

_NO_LINGER: Final = struct.pack("ii", 1, 0)


@dataclass(frozen=True, slots=True)
class Match:
    """Which requests a plan is for.

    Attributes:
        method: The method, or ``*`` for any.
        path: A pattern that the whole path must match, the query not included.
    """

    method: str
    path: re.Pattern[str]

    def fits(self, head: Head) -> bool:
        """Whether the request is one of those meant."""
        return self.method in {"*", head.method} and self.path.fullmatch(head.path) is not None


def match(method: str = "*", path: str = ".*") -> Match:
    """Requests with this method whose whole path matches the pattern."""
    return Match(method, re.compile(path))


@dataclass(slots=True)
class Seen:
    """One request that the peer saw.

    Attributes:
        at: When its head was complete, on the peer's clock, in seconds.
        head: The head as it came.
        connection: The number of the client's connection, from 1.
        step: The name of the step that was applied.
        body: The body, as far as it was read; ``None`` when nothing was.
        status: The status that the service answered with; ``None`` when it was not asked or has not answered.
    """

    at: float
    head: Head
    connection: int
    step: str
    body: bytes | None = None
    status: int | None = None

    @property
    def key(self) -> str | None:
        return self.head.header("idempotency-key")


@dataclass(slots=True)
class _Plan:
    match: Match
    steps: deque[Step]
    always: Step | None


class FaultPeer:
    """The proxy.

    Args:
        upstream: The base URL of the service, ``http://HOST:PORT``.
        clock: Waits of steps and times of requests are its.

    Attributes:
        requests: Every request seen, in order.
        base_url: Where clients call the peer; set when it listens, and kept while it refuses.
    """

    def __init__(self, upstream: str, *, clock: Clock | None = None) -> None:
        parts = urlsplit(upstream)
        assert parts.hostname is not None
        assert parts.port is not None
        self.requests: list[Seen] = []
        self.base_url = ""
        self.clock: Clock = clock or SystemClock()
        self.upstream: Final = (parts.hostname, parts.port)
        self._plans: list[_Plan] = []
        self._server: asyncio.Server | None = None
        # Bound and never listening: while the peer refuses, no other server gets its port.
        self._held: socket.socket | None = None
        self._connections: dict[asyncio.Task[None], asyncio.StreamWriter] = {}
        self._opened = 0
        self._stalled: list[asyncio.Event] = []
        self._news = asyncio.Event()
        self._errors: list[Exception] = []

    def plan(self, matching: Match, *steps: Step, always: Step | None = None) -> None:
        """Have the next matching requests meet these steps, one each, and all later ones ``always`` if it is given."""
        self._plans.append(_Plan(matching, deque(steps), always))

    @property
    def unspent(self) -> int:
        """How many steps no request has met yet."""
        return sum(len(plan.steps) for plan in self._plans)

    def seen(self, method: str = "*", path: str = ".*") -> list[Seen]:
        """The requests seen so far with this method whose whole path matches the pattern."""
        wanted = match(method, path)
        return [request for request in self.requests if wanted.fits(request.head)]

    def release(self) -> None:
        """Let everything that is stalled right now go on."""
        for event in self._stalled:
            event.set()
        self._stalled.clear()

    async def until_seen(self, count: int, method: str = "*", path: str = ".*") -> None:
        """Wait until so many matching requests were seen."""
        while len(self.seen(method, path)) < count:
            await self._next_news()

    async def until_stalled(self, count: int = 1) -> None:
        """Wait until this many requests are stalled."""
        while len(self._stalled) < count:
            await self._next_news()

    async def listen(self) -> None:
        """Accept connections, on the same port as before if there was one."""
        if self._held is None:
            self._held = socket.socket()
            self._held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
            self._held.bind(("127.0.0.1", 0))
        host, port = self._held.getsockname()
        self._server = await asyncio.start_server(self._accept, host, port, limit=HEAD_LIMIT, reuse_port=True)
        self.base_url = f"http://{host}:{port}"

    async def refuse(self) -> None:
        """Stop listening and reset every connection: new ones are refused."""
        if self._server is not None:
            self._server.close()
            self._server = None
        running = list(self._connections)
        for task, writer in self._connections.items():
            _reset(writer)
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)

    @contextlib.asynccontextmanager
    async def refusing(self) -> AsyncIterator[None]:
        """Refuse connections inside the block."""
        await self.refuse()
        try:
            yield
        finally:
            await self.listen()

    async def __aenter__(self) -> FaultPeer:
        """Start listening on a free loopback port."""
        await self.listen()
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close everything.

        Raises:
            ExceptionGroup: the peer itself went wrong while it served.
        """
        await self.refuse()
        if self._held is not None:
            self._held.close()
        if self._errors:
            raise ExceptionGroup("the fault peer went wrong", self._errors)

    def _tell(self) -> None:
        self._news.set()
        self._news = asyncio.Event()

    async def _next_news(self) -> None:
        await self._news.wait()

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._opened += 1
        task = asyncio.create_task(self._serve(reader, writer, self._opened))
        self._connections[task] = writer
        task.add_done_callback(self._connections.pop)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, connection: int) -> None:
        try:
            open_ = True
            while open_ and (head := await read_head(reader)) is not None:
                step = self._step_for(head)
                seen = Seen(self.clock.monotonic(), head, connection, type(step).__name__)
                self.requests.append(seen)
                self._tell()
                passage = _Passage(self, head, reader, writer, seen)
                await step.apply(passage)
                open_ = not passage.is_over
        except (OSError, Malformed):
            # A client left in the middle; a faulty network looks the same from here.
            _reset(writer)
        except Exception as error:
            self._errors.append(error)
            _reset(writer)
        finally:
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()

    def _step_for(self, head: Head) -> Step:
        for plan in self._plans:
            if plan.match.fits(head):
                if plan.steps:
                    return plan.steps.popleft()
                if plan.always is not None:
                    return plan.always
        return Pass()

    async def hold(self) -> None:
        """Wait for the next :meth:`release`; for steps."""
        event = asyncio.Event()
        self._stalled.append(event)
        self._tell()
        try:
            await event.wait()
        finally:
            if event in self._stalled:
                self._stalled.remove(event)


@dataclass(slots=True)
class _Passage:
    """One request on its way: see :class:`tests.support.fault_steps.Passage`."""

    peer: FaultPeer
    head: Head
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    seen: Seen
    is_over: bool = field(default=False)

    @property
    def clock(self) -> Clock:
        return self.peer.clock

    async def body(self) -> bytes:
        if self.seen.body is None:
            self.seen.body = await read_body(self.reader, self.head)
        return self.seen.body

    async def ask(self) -> Response:
        body = await self.body()
        reader, writer = await asyncio.open_connection(*self.peer.upstream, limit=HEAD_LIMIT)
        try:
            writer.write(self.head.replace(connection="close") + body)
            await writer.drain()
            head = await read_head(reader)
            if head is None:
                raise Malformed("the service closed without an answer")
            self.seen.status = head.status
            bodiless = self.head.method == "HEAD" or head.status in {204, 304}
            wire = b"" if bodiless else await read_body(reader, head, until_closed=True)
        finally:
            await _close(writer)
        # The service closes its own connection after this answer; the client's stays open and needs a length.
        framed = bodiless or head.header("content-length") or head.header("transfer-encoding")
        kept = head.replace(connection=None) if framed else head.replace(connection=None, content_length=str(len(wire)))
        return Response(Head(head.start, head.headers, kept), wire)

    async def ask_in_part(self, body_bytes: int) -> None:
        part = await self.reader.readexactly(body_bytes)
        self.seen.body = part
        _, writer = await asyncio.open_connection(*self.peer.upstream)
        try:
            writer.write(self.head.raw + part)
            await writer.drain()
        finally:
            _reset(writer)

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def stall(self) -> None:
        await self.peer.hold()

    def reset(self) -> None:
        self.is_over = True
        _reset(self.writer)

    def close(self) -> None:
        self.is_over = True
        self.writer.close()


def _reset(writer: asyncio.StreamWriter) -> None:
    """Close so that the other side sees a reset."""
    sock: socket.socket | None = writer.get_extra_info("socket")
    if sock is not None and not writer.transport.is_closing():
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _NO_LINGER)
    writer.transport.abort()


async def _close(writer: asyncio.StreamWriter) -> None:
    writer.close()
    with contextlib.suppress(OSError):
        await writer.wait_closed()


class PeerHandle:
    """A running peer, for tests without an event loop."""

    def __init__(self, peer: FaultPeer, thread: LoopThread) -> None:
        self.peer: Final = peer
        self._thread = thread

    @property
    def base_url(self) -> str:
        """Where clients call the peer."""
        return self.peer.base_url

    def plan(self, matching: Match, *steps: Step, always: Step | None = None) -> None:
        """See :meth:`FaultPeer.plan`."""
        self.peer.plan(matching, *steps, always=always)

    def seen(self, method: str = "*", path: str = ".*") -> list[Seen]:
        """See :meth:`FaultPeer.seen`."""
        return self.peer.seen(method, path)

    @property
    def unspent(self) -> int:
        """See :attr:`FaultPeer.unspent`."""
        return self.peer.unspent

    def until_seen(self, count: int, method: str = "*", path: str = ".*", *, timeout: float = 60.0) -> None:
        """See :meth:`FaultPeer.until_seen`; raises :class:`TimeoutError` after ``timeout`` seconds."""
        self._thread.call(self.peer.until_seen(count, method, path), timeout)

    def until_stalled(self, count: int = 1, *, timeout: float = 60.0) -> None:
        """See :meth:`FaultPeer.until_stalled`; raises :class:`TimeoutError` after ``timeout`` seconds."""
        self._thread.call(self.peer.until_stalled(count), timeout)

    def release(self) -> None:
        """See :meth:`FaultPeer.release`."""

        async def release() -> None:
            self.peer.release()

        self._thread.call(release())

    def refuse(self) -> None:
        """See :meth:`FaultPeer.refuse`."""
        self._thread.call(self.peer.refuse())

    def listen(self) -> None:
        """See :meth:`FaultPeer.listen`."""
        self._thread.call(self.peer.listen())


@contextlib.contextmanager
def running_peer(upstream: str, *, clock: Clock | None = None) -> Iterator[PeerHandle]:
    """A peer that runs in its own thread while the block runs."""
    with in_thread(FaultPeer(upstream, clock=clock)) as (peer, thread):
        yield PeerHandle(peer, thread)
