"""Accepted connections that have sent nothing yet, or that wait for their turn.

A new connection waits behind all that were opened before it, and serving one (transport, protocol, parser, task) takes
many times as long as accepting it. So the lobby accepts many in a turn of the event loop, peeks at their first bytes,
and serves those with a valid key at once. A head that has not ended waits a moment for its rest, which may hold the
key. The others are served a few in a turn, in the order in which their bytes came (manual: security, "Requests without
a key").
"""

from __future__ import annotations

import asyncio
import errno
import itertools
import logging
import socket
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Final, Protocol

from runwatch.base.clock import Timers
from runwatch.service.errors import RefusalError
from runwatch.service.http.context import RequestContext
from runwatch.service.http.protocol import HEAD_S

MAX_ACCEPTS_PER_TURN: Final = 64
"""Connections that one turn of the event loop accepts."""

MAX_SERVED_PER_TURN: Final = 3
"""Connections without a key that one turn begins to serve, so a burst of them does not delay requests."""

PEEK_BYTES: Final = 4_096
"""How much of a head is searched for a key. A request whose key comes later waits for its turn."""

REST_S: Final = 0.25
"""How long a head that shows no key yet waits for its rest before its connection takes its turn."""

ACCEPT_PAUSE_S: Final = 1.0
"""Pause of a listener after the system ran out of descriptors or memory."""

_AUTHORIZATION: Final = b"\r\nauthorization:"
_END: Final = b"\r\n\r\n"
_ABSENT: Final = object()
_EXHAUSTED: Final = {errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM}

_log: Final = logging.getLogger("asyncio")


class BuildProtocol(Protocol):
    def __call__(self, *, is_keyed: bool) -> asyncio.BaseProtocol:
        """Make a protocol; ``is_keyed`` says whether the first request has a valid key."""


@dataclass(slots=True, eq=False)
class _Guest:
    """A connection in the lobby.

    Attributes:
        until: Deadline of the bytes it waits for, in the time of the timers.
        seen: How many bytes of an unfinished head have come.
    """

    peer: socket.socket
    leave: Callable[[_Guest], None]
    until: float = 0.0
    seen: int = 0

    def drop(self) -> None:
        self.leave(self)


class _Deadlines:
    """Connections that wait equally long, the oldest first.

    Args:
        expire: Called with a connection whose wait is over; it removes it from here.
    """

    def __init__(self, timers: Timers, wait_s: float, expire: Callable[[_Guest], None]) -> None:
        self._timers = timers
        self._wait_s = wait_s
        self._expire = expire
        self._timer: asyncio.TimerHandle | None = None
        self.guests: dict[_Guest, object] = {}

    def add(self, guest: _Guest) -> None:
        guest.until = self._timers.time() + self._wait_s
        self.guests[guest] = None
        if self._timer is None:
            self._timer = self._timers.call_later(self._wait_s, self._sweep)

    def cancel(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _sweep(self) -> None:
        self._timer = None
        now = self._timers.time()
        while self.guests:
            oldest = next(iter(self.guests))
            if oldest.until > now:
                self._timer = self._timers.call_later(oldest.until - now, self._sweep)
                return
            self._expire(oldest)


class Lobby:
    """Accept the connections of one listener, in place of an asyncio server.

    Args:
        listener: A non-blocking listening socket.
    """

    def __init__(self, listener: socket.socket, context: RequestContext, build: BuildProtocol) -> None:
        self._listener = listener
        self._family = listener.family
        # Unix sockets have no level of bytes to wait for, and other systems than Linux were not tried.
        self._waits_for_rest = listener.family != socket.AF_UNIX and sys.platform == "linux"
        self._connections = context.connections
        self._keys = context.keys
        self._timers = context.timers
        self._build = build
        self._loop = asyncio.get_running_loop()
        self._silent = _Deadlines(context.timers, HEAD_S, self._leave)
        self._unfinished = _Deadlines(context.timers, REST_S, self._queue)
        self._queued: dict[_Guest, None] = {}
        self._is_serving = False
        self._is_closed = False
        self._tasks: set[asyncio.Task[None]] = set()
        self._listen()

    def close(self) -> None:
        """Stop accepting, and close the connections that are not served yet."""
        self._is_closed = True
        self._loop.remove_reader(self._listener)
        self._silent.cancel()
        self._unfinished.cancel()
        for guest in (*self._silent.guests, *self._unfinished.guests, *self._queued):
            self._leave(guest)

    async def wait_closed(self) -> None:
        """Wait until each connection that left the lobby has its protocol."""
        await asyncio.gather(*self._tasks)

    def _listen(self) -> None:
        if not self._is_closed:
            self._loop.add_reader(self._listener, self._accept)

    def _accept(self) -> None:
        for _ in range(MAX_ACCEPTS_PER_TURN):
            try:
                peer, _ = self._listener.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError as error:
                if error.errno not in _EXHAUSTED:
                    raise
                _log.error("no connection could be accepted: %s", error.strerror)
                self._loop.remove_reader(self._listener)
                self._timers.call_later(ACCEPT_PAUSE_S, self._listen)
                return
            peer.settimeout(0)
            guest = _Guest(peer, self._leave)
            self._connections.add_waiting(guest, self._family)
            self._silent.add(guest)
            if self._peek(guest):
                self._loop.add_reader(peer, self._peek, guest)

    def _peek(self, guest: _Guest) -> bool:
        """Peek at the first bytes of a connection and move it on; return ``True`` while it waits for more."""
        try:
            head = guest.peer.recv(PEEK_BYTES, socket.MSG_PEEK)
        except (BlockingIOError, InterruptedError):
            return True
        except OSError:
            head = b""
        if not head:
            self._leave(guest)
        elif self._shows_key(head):
            self._serve(guest, is_keyed=True)
        elif _END in head or len(head) == PEEK_BYTES or len(head) == guest.seen or not self._waits_for_rest:
            # Readable without more bytes: the caller has ended its side.
            self._queue(guest)
        else:
            # What was peeked at stays in the system's buffer, so without this level it would be readable all the time.
            guest.peer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, len(head) + 1)
            guest.seen = len(head)
            if self._silent.guests.pop(guest, _ABSENT) is not _ABSENT:
                self._unfinished.add(guest)
            return True
        return False

    def _queue(self, guest: _Guest) -> None:
        """Let a connection without a key wait for its turn to be served."""
        self._loop.remove_reader(guest.peer)
        self._silent.guests.pop(guest, None)
        self._unfinished.guests.pop(guest, None)
        self._queued[guest] = None
        if not self._is_serving:
            self._is_serving = True
            self._loop.call_soon(self._serve_some)

    def _shows_key(self, head: bytes) -> bool:
        head = head.partition(_END)[0]
        start = head.lower().find(_AUTHORIZATION)
        if start < 0:
            return False
        value = head[start + len(_AUTHORIZATION) :].partition(b"\r\n")[0]
        try:
            self._keys.principal_of([value.strip().decode("latin-1")])
        except RefusalError:
            return False
        return True

    def _serve_some(self) -> None:
        for guest in list(itertools.islice(self._queued, MAX_SERVED_PER_TURN)):
            # A caller that has reset its connection meanwhile costs no protocol.
            if guest.peer.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
                self._leave(guest)
            else:
                self._serve(guest, is_keyed=False)
        self._is_serving = bool(self._queued)
        if self._is_serving:
            self._loop.call_soon(self._serve_some)

    def _serve(self, guest: _Guest, *, is_keyed: bool) -> None:
        self._forget(guest)
        if guest.seen:
            guest.peer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, 1)
        task = self._loop.create_task(self._hand_over(guest.peer, is_keyed=is_keyed))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _hand_over(self, peer: socket.socket, *, is_keyed: bool) -> None:
        try:
            await self._loop.connect_accepted_socket(partial(self._build, is_keyed=is_keyed), peer)
        except OSError:
            peer.close()

    def _leave(self, guest: _Guest) -> None:
        self._forget(guest)
        guest.peer.close()

    def _forget(self, guest: _Guest) -> None:
        self._loop.remove_reader(guest.peer)
        self._silent.guests.pop(guest, None)
        self._unfinished.guests.pop(guest, None)
        self._queued.pop(guest, None)
        self._connections.remove(guest, self._family)
