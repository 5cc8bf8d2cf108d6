"""Accepted connections whose first bytes have not come yet, or that wait to be served.

A new connection of a caller with a key waits behind all that were opened before it. To serve one (transport, protocol,
parser, task) takes many times as long as to accept it. The lobby therefore accepts many in a turn, looks at the first
bytes of each without taking them, and serves those that show a good key at once. The others are served a few in a turn,
in the order in which their bytes came. (Numbers: manual, Security: Requests without a key.)
"""

from __future__ import annotations

import asyncio
import errno
import itertools
import logging
import socket
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Final, Protocol

from runwatch.service.errors import RefusalError
from runwatch.service.http.context import RequestContext
from runwatch.service.http.protocol import HEAD_S

MAX_ACCEPTS_PER_TURN: Final = 64
"""How many connections one turn of the event loop accepts."""

MAX_SERVED_PER_TURN: Final = 6
"""How many connections without a key one turn begins to serve, so that a burst of them does not hold up requests."""

PEEK_BYTES: Final = 4_096
"""How much of a request's head is searched for a key. A head that shows it later is served in turn."""

ACCEPT_PAUSE_S: Final = 1.0
"""How long a listener rests after the system had no descriptor or memory for a connection."""

_AUTHORIZATION: Final = b"\r\nauthorization:"
_EXHAUSTED: Final = {errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM}

_log: Final = logging.getLogger("asyncio")


class BuildProtocol(Protocol):
    """What makes the protocol that serves a connection."""

    def __call__(self, *, is_keyed: bool) -> asyncio.BaseProtocol:
        """Make the protocol of a connection whose first request shows a good key, or does not."""
        ...


@dataclass(slots=True, eq=False)
class _Guest:
    """A connection in the lobby.

    Attributes:
        peer: Its socket.
        until: When its first bytes must have come.
        leave: Closes it.
    """

    peer: socket.socket
    until: float
    leave: Callable[[_Guest], None]

    def drop(self) -> None:
        """Close at once, without an answer."""
        self.leave(self)


class Lobby:
    """Accepts the connections of one listener. It takes the place of an asyncio server.

    Args:
        listener: A listening socket that does not block.
        context: The open service.
        build: Makes the protocol that serves a connection.
    """

    def __init__(self, listener: socket.socket, context: RequestContext, build: BuildProtocol) -> None:
        self._listener = listener
        self._family = listener.family
        self._connections = context.connections
        self._keys = context.keys
        self._timers = context.timers
        self._build = build
        self._loop = asyncio.get_running_loop()
        # Both in the order in which they are served or closed: the oldest first.
        self._silent: dict[_Guest, None] = {}
        self._waiting: dict[_Guest, None] = {}
        self._is_serving = False
        self._is_closed = False
        self._sweep_timer: asyncio.TimerHandle | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._listen()

    def close(self) -> None:
        """Accept no more connections, and close those that are not served yet."""
        self._is_closed = True
        self._loop.remove_reader(self._listener)
        if self._sweep_timer is not None:
            self._sweep_timer.cancel()
        for guest in (*self._silent, *self._waiting):
            self._leave(guest)

    async def wait_closed(self) -> None:
        """Wait until no connection is between the lobby and its protocol."""
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
            guest = _Guest(peer, self._timers.time() + HEAD_S, self._leave)
            self._silent[guest] = None
            self._connections.add(guest, self._family)
            # It is gone already where all places are taken by busy connections with a key.
            if guest in self._silent and self._look(guest):
                self._loop.add_reader(peer, self._look, guest)
                if self._sweep_timer is None:
                    self._sweep_timer = self._timers.call_later(HEAD_S, self._sweep)

    def _look(self, guest: _Guest) -> bool:
        """Move a connection on whose first bytes have come, and return whether it still waits for them."""
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
        else:
            self._loop.remove_reader(guest.peer)
            del self._silent[guest]
            self._waiting[guest] = None
            if not self._is_serving:
                self._is_serving = True
                self._loop.call_soon(self._serve_some)
        return False

    def _shows_key(self, head: bytes) -> bool:
        head = head.partition(b"\r\n\r\n")[0]
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
        for guest in list(itertools.islice(self._waiting, MAX_SERVED_PER_TURN)):
            # A caller that has reset its connection meanwhile costs no protocol.
            if guest.peer.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
                self._leave(guest)
            else:
                self._serve(guest, is_keyed=False)
        self._is_serving = bool(self._waiting)
        if self._is_serving:
            self._loop.call_soon(self._serve_some)

    def _serve(self, guest: _Guest, *, is_keyed: bool) -> None:
        self._forget(guest)
        task = self._loop.create_task(self._hand_over(guest.peer, is_keyed=is_keyed))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _hand_over(self, peer: socket.socket, *, is_keyed: bool) -> None:
        try:
            await self._loop.connect_accepted_socket(partial(self._build, is_keyed=is_keyed), peer)
        except OSError:
            peer.close()

    def _sweep(self) -> None:
        """Close what has been silent for too long."""
        self._sweep_timer = None
        now = self._timers.time()
        while self._silent:
            oldest = next(iter(self._silent))
            if oldest.until > now:
                self._sweep_timer = self._timers.call_later(oldest.until - now, self._sweep)
                return
            self._leave(oldest)

    def _leave(self, guest: _Guest) -> None:
        self._forget(guest)
        guest.peer.close()

    def _forget(self, guest: _Guest) -> None:
        self._loop.remove_reader(guest.peer)
        self._silent.pop(guest, None)
        self._waiting.pop(guest, None)
        self._connections.remove(guest, self._family)
