"""HTTP as bytes: uvicorn's h11 protocol, which here answers a Problem to what it cannot read, too.

It also closes politely. A caller that is refused while it still sends would lose the answer to a connection reset, so
the end of the answer is sent, what still comes is thrown away for a while, and only then the connection is closed.
"""

from __future__ import annotations

import asyncio
import sys
from typing import Any, Final, cast

import h11
from uvicorn.config import Config
from uvicorn.protocols.http.h11_impl import STATUS_PHRASES, H11Protocol
from uvicorn.server import ServerState

from runwatch.service.http.answer import Refusal, invalid
from runwatch.service.http.app import Application

LINGER_S: Final = 2.0
"""How long a refused caller may go on sending before the connection is closed."""

LINGER_BYTES: Final = 16 * 1024 * 1024
"""How much of it is thrown away at most."""

_HEADER_TOO_LARGE: Final = 431


class _Transport:
    """The connection's transport, whose ``close`` is the protocol's own."""

    def __init__(self, transport: asyncio.Transport, protocol: Protocol) -> None:
        self._transport = transport
        self._protocol = protocol

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def close(self) -> None:
        """Close the connection as soon as that loses nothing."""
        self._protocol.close(self._transport)


class Protocol(H11Protocol):
    """One connection."""

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        assert isinstance(config.app, Application)
        self._application = config.app
        self._is_deaf = False
        self._has_ended = False
        self._thrown_away = 0
        self._lingering: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to serve a connection."""
        super().connection_made(cast(asyncio.Transport, _Transport(transport, self)))

    def data_received(self, data: bytes) -> None:
        """Take what the caller sends; after a refusal, throw it away."""
        if not self._is_deaf:
            super().data_received(data)
            return
        self._thrown_away += len(data)
        if self._thrown_away > LINGER_BYTES:
            self.transport.abort()

    def eof_received(self) -> bool:  # type: ignore[override]
        """Answer whether the connection stays open although the caller sends no more: it may still be reading."""
        self._has_ended = True
        if self._is_deaf:
            # True while the refusal is being written; it closes the connection then.
            return self._lingering is None
        is_answered = self.cycle is None or self.cycle.response_complete
        if self.conn.their_state is h11.SEND_BODY or (is_answered and self.conn.trailing_data[0]):
            self._refuse(invalid(("request", "Ended before it was complete."), cause="the connection ended early"))
            return True
        if is_answered:
            return False
        self.cycle.keep_alive = False
        return True

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        if self._lingering is not None:
            self._lingering.cancel()
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        """Answer a Problem to bytes that are no HTTP request; uvicorn calls this while it handles h11's error."""
        error = sys.exception()
        if isinstance(error, h11.RemoteProtocolError) and error.error_status_hint == _HEADER_TOO_LARGE:
            self._refuse(Refusal("request_too_large", "The request line and headers are too large.", cause=str(error)))
        else:
            self._refuse(invalid(("request", "Must be an HTTP/1.1 request."), cause=str(error)))

    def on_response_complete(self) -> None:
        """Go on with the next request, unless this one was answered before it was read to its end."""
        if self.conn.their_state is h11.SEND_BODY:
            self.transport.close()
        else:
            super().on_response_complete()

    def close(self, transport: asyncio.Transport) -> None:
        """Close the connection, politely where the caller may still be sending."""
        if self._lingering is not None or transport.is_closing():
            return
        if self._has_ended or self.conn.their_state not in {h11.SEND_BODY, h11.ERROR}:
            transport.close()
            return
        self._is_deaf = True
        transport.resume_reading()
        transport.write_eof()
        self._lingering = self.loop.call_later(LINGER_S, transport.close)

    def shutdown(self) -> None:
        """End the connection as soon as it has nothing to answer."""
        if self._lingering is not None:
            self.transport.abort()
        elif not self._is_deaf:
            super().shutdown()

    def _refuse(self, refusal: Refusal) -> None:
        self._is_deaf = True
        if self.cycle is not None and not self.cycle.response_complete:
            # The handler is still waiting for the rest of the body; to it, the caller has gone.
            self.cycle.disconnected = True
            self.cycle.message_event.set()
            if self.cycle.response_started:
                self.transport.close()
                return
        task = self.loop.create_task(self._answer(refusal))
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    async def _answer(self, refusal: Refusal) -> None:
        answer = await self._application.refuse(refusal)
        if self.transport.is_closing() or self.conn.our_state not in {h11.IDLE, h11.SEND_RESPONSE}:
            self.transport.close()
            return
        headers = [
            *self.server_state.default_headers,
            (b"content-type", answer.media_type.encode("ascii")),
            (b"content-length", str(len(answer.body)).encode("ascii")),
            (b"connection", b"close"),
        ]
        response = h11.Response(status_code=answer.status, headers=headers, reason=STATUS_PHRASES[answer.status])
        for event in (response, h11.Data(data=answer.body), h11.EndOfMessage()):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()
