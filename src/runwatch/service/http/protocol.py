"""HTTP as bytes: uvicorn's h11 protocol, which here also answers unreadable requests with a Problem.

Every wait for a caller has a limit: for the head of a request, its body, the next request, and for a caller without a
key to read its response (manual: security, "Requests without a key").

A caller that is refused while still sending would lose the response to a connection reset. So the end of the response
is sent, further input is discarded for a while, and only then is the connection closed.
"""

from __future__ import annotations

import asyncio
import enum
import sys
from typing import Any, Final, cast

import h11
from uvicorn.config import Config
from uvicorn.protocols.http.h11_impl import STATUS_PHRASES, H11Protocol
from uvicorn.server import ServerState

from runwatch.service.errors import RefusalError, make_validation_error
from runwatch.service.http.app import CONNECTION, ServiceApp

LINGER_S: Final = 2.0
"""Seconds a refused caller may keep sending before the connection is closed."""

LINGER_BYTES: Final = 16 * 1024 * 1024
"""Most bytes discarded meanwhile."""

HEAD_S: Final = 10.0
"""Seconds for the head of a request, from the opening of the connection or the head's first byte."""

BODY_S: Final = 10.0
"""Seconds for a body before its rate counts."""

MIN_BODY_BYTES_PER_S: Final = 16 * 1024
"""Lowest rate of a body after that, averaged over its whole time."""

MAX_BODY_S: Final = 90.0
"""Most seconds for a body: slightly more than the largest one needs at the lowest rate."""

KEEP_ALIVE_S: Final = 75
"""Seconds an idle connection with a key stays open; longer than in common clients' pools."""

ANONYMOUS_KEEP_ALIVE_S: Final = 5
"""Seconds an idle connection without a key stays open."""

ANONYMOUS_RESPONSE_S: Final = 120.0
"""Seconds for making a response to a caller without a key and for the caller to read it."""

KEYED_READ_BYTES: Final = 256 * 1024
"""Most bytes read per turn of the event loop from a connection with a key."""

READ_BYTES: Final = 16 * 1024
"""Most bytes read per turn from others, so that many of them neither block the loop nor take much memory."""

_SLOW: Final = "The request did not come in time. Send it again, faster."
_HEADER_TOO_LARGE: Final = 431


class _Wait(enum.Enum):
    HEAD = enum.auto()
    BODY = enum.auto()
    RESPONSE = enum.auto()
    NEXT = enum.auto()


class _Transport:
    """The connection's transport, with the protocol's own ``close``."""

    def __init__(self, transport: asyncio.Transport, protocol: PoliteH11Protocol) -> None:
        self._transport = transport
        self._protocol = protocol

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def close(self) -> None:
        """Close the connection as soon as nothing is lost by it."""
        self._protocol.close(self._transport)


# Shared read buffer of all connections: asyncio passes on what was read before it reads again.
_buffer: Final = memoryview(bytearray(KEYED_READ_BYTES))


class PoliteH11Protocol(H11Protocol, asyncio.BufferedProtocol):
    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
        *,
        is_keyed: bool = False,
    ) -> None:
        super().__init__(config, server_state, {**app_state, CONNECTION: self}, _loop)
        assert isinstance(config.app, ServiceApp)
        self._problems = config.app.context.problems
        self._connections = config.app.context.connections
        self._timers = config.app.context.timers
        self._family = 0
        self._is_keyed = is_keyed
        self._wait: _Wait | None = None
        self._began = 0.0
        self._until = 0.0
        self._body_bytes = 0
        self._timer: asyncio.TimerHandle | None = None
        self._timer_at = 0.0
        self._is_deaf = False
        self._has_ended = False
        self._thrown_away = 0
        self._lingering: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(cast(asyncio.Transport, _Transport(transport, self)))
        # A connection closed before it could be served has no socket.
        peer = transport.get_extra_info("socket")
        self._family = 0 if peer is None else peer.family
        self._connections.add(self, self._family, is_keyed=self._is_keyed)
        self._expect(_Wait.HEAD, HEAD_S)

    def get_buffer(self, sizehint: int) -> memoryview:
        return _buffer[: KEYED_READ_BYTES if self._is_keyed else READ_BYTES]

    def buffer_updated(self, nbytes: int) -> None:
        if self._is_deaf:
            self._throw_away(nbytes)
        else:
            self.data_received(bytes(_buffer[:nbytes]))

    def data_received(self, data: bytes) -> None:
        if self._wait is _Wait.BODY:
            self._body_bytes += len(data)
        super().data_received(data)
        self._watch()

    def _throw_away(self, count: int) -> None:
        self._thrown_away += count
        if self._thrown_away > LINGER_BYTES:
            self.transport.abort()

    def eof_received(self) -> bool:  # type: ignore[override]
        """Return whether to keep the connection open after the end of input: the caller may still be reading."""
        self._has_ended = True
        if self._is_deaf:
            # True while the refusal is being written, which then closes the connection.
            return self._lingering is None
        is_responded = self.cycle is None or self.cycle.response_complete
        if self.conn.their_state is h11.SEND_BODY or (is_responded and self.conn.trailing_data[0]):
            self._refuse(
                make_validation_error(
                    ("request", "The request ended before it was complete."), cause="the connection ended early"
                )
            )
            return True
        if is_responded:
            return False
        self.cycle.keep_alive = False
        return True

    def connection_lost(self, exc: Exception | None) -> None:
        for timer in (self._lingering, self._timer):
            if timer is not None:
                timer.cancel()
        self._connections.remove(self, self._family)
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        """Answer bytes that are not an HTTP request with a Problem; uvicorn calls this while handling h11's error."""
        error = sys.exception()
        if isinstance(error, h11.RemoteProtocolError) and error.error_status_hint == _HEADER_TOO_LARGE:
            self._refuse(
                RefusalError("request_too_large", "The request line and headers are too large.", cause=str(error))
            )
        else:
            self._refuse(make_validation_error(("request", "Must be an HTTP/1.1 request."), cause=str(error)))

    def on_response_complete(self) -> None:
        """Continue with the next request, unless the response was sent before the whole request was read."""
        if self.conn.their_state is h11.SEND_BODY:
            self.transport.close()
        else:
            super().on_response_complete()
            self._unset_keepalive_if_required()
            self._watch()

    def identify(self, *, is_keyed: bool) -> None:
        self._is_keyed = is_keyed
        self._connections.mark(self, self._family, is_keyed=is_keyed)
        self._watch()

    def drop(self) -> None:
        """Close at once without a response, to make room for another connection."""
        self._is_deaf = True
        self.transport.abort()

    def _watch(self) -> None:
        """Start the time limit of the current wait, unless it is already running."""
        if self._is_deaf or self.transport.is_closing():
            self._wait = None
        elif self.conn.their_state is h11.SEND_BODY:
            if self._wait is not _Wait.BODY:
                self._body_bytes = 0
                self._expect(_Wait.BODY, BODY_S)
        elif self.cycle is not None and not self.cycle.response_complete:
            if self._is_keyed:
                self._wait = None
            elif self._wait is not _Wait.RESPONSE:
                self._expect(_Wait.RESPONSE, ANONYMOUS_RESPONSE_S)
        elif self.cycle is None or self.conn.trailing_data[0]:
            if self._wait is not _Wait.HEAD:
                self._expect(_Wait.HEAD, HEAD_S)
        elif self._wait is not _Wait.NEXT:
            self._connections.mark_idle(self, self._family)
            self._expect(_Wait.NEXT, KEEP_ALIVE_S if self._is_keyed else ANONYMOUS_KEEP_ALIVE_S)

    def _expect(self, wait: _Wait, seconds: float) -> None:
        self._wait = wait
        self._began = self._timers.time()
        self._set(self._began + seconds)

    def _set(self, until: float) -> None:
        self._until = until
        # A timer that fires early checks the time and waits again. Most requests end before a timer fires, and one
        # timer per wait would cost more than the request.
        if self._timer is None or self._timer_at > until:
            if self._timer is not None:
                self._timer.cancel()
            self._timer_at = until
            self._timer = self._timers.call_later(until - self._timers.time(), self._check_deadline)

    def _check_deadline(self) -> None:
        self._timer = None
        now = self._timers.time()
        if self._wait is None or self._is_deaf or self.transport.is_closing():
            return
        if self._wait is _Wait.BODY:
            earned = BODY_S + self._body_bytes / MIN_BODY_BYTES_PER_S
            self._until = self._began + min(earned, MAX_BODY_S)
        if now < self._until:
            self._set(self._until)
            return
        wait, self._wait = self._wait, None
        if wait is _Wait.BODY or (wait is _Wait.HEAD and self.conn.trailing_data[0]):
            self._refuse(RefusalError("request_timeout", _SLOW, cause=f"waited for the {wait.name.lower()}"))
        elif wait is _Wait.RESPONSE:
            self.transport.abort()
        else:
            self.timeout_keep_alive_handler()

    def close(self, transport: asyncio.Transport) -> None:
        """Close the connection, lingering if the caller may still be sending."""
        if self._lingering is not None or transport.is_closing():
            return
        if self._has_ended or self.conn.their_state not in {h11.SEND_BODY, h11.ERROR}:
            transport.close()
            return
        self._is_deaf = True
        if self.cycle is not None:
            self.cycle.body = bytearray()
        transport.resume_reading()
        transport.write_eof()
        self._lingering = self.loop.call_later(LINGER_S, transport.close)

    def shutdown(self) -> None:
        """End the connection as soon as it has nothing to answer."""
        if self._lingering is not None:
            self.transport.abort()
        elif not self._is_deaf:
            super().shutdown()

    def _refuse(self, refusal: RefusalError) -> None:
        self._is_deaf = True
        if self.cycle is not None and not self.cycle.response_complete:
            # The handler is still waiting for the rest of the body; tell it that the caller has disconnected.
            self.cycle.disconnected = True
            self.cycle.message_event.set()
            if self.cycle.response_started:
                self.transport.close()
                return
        task = self.loop.create_task(self._respond(refusal))
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    async def _respond(self, refusal: RefusalError) -> None:
        response = await self._problems.respond(refusal)
        if self.transport.is_closing() or self.conn.our_state not in {h11.IDLE, h11.SEND_RESPONSE}:
            self.transport.close()
            return
        headers = [
            *self.server_state.default_headers,
            (b"content-type", response.media_type.encode("ascii")),
            (b"content-length", str(len(response.body)).encode("ascii")),
            (b"connection", b"close"),
        ]
        head = h11.Response(status_code=response.status, headers=headers, reason=STATUS_PHRASES[response.status])
        for event in (head, h11.Data(data=response.body), h11.EndOfMessage()):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()
