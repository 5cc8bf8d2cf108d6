"""Open connections: how many are allowed, and which one is dropped when there are too many.

Each kind of listener has its own limit, so that callers over TCP never use up the console's socket. A connection counts
as keyed while its last request had a valid key, and as a stranger's otherwise (manual: security, "Requests without a
key").
"""

from __future__ import annotations

import itertools
import resource
import socket
from dataclasses import dataclass, field
from typing import Final, Protocol

TCP_CONNECTIONS: Final = 512
"""Limit of TCP connections; strangers may have at most half."""

UNIX_CONNECTIONS: Final = 128
"""Limit of connections to a Unix socket, which only the owner's own programs reach."""

DESCRIPTORS: Final = 4_096
"""Soft limit of open files to set at the start, if the hard limit allows it."""

WAITING_CONNECTIONS: Final = 1_536
"""Limit of TCP connections whose first request is not read yet. Each costs a socket alone, so there may be many: a
caller whose key comes late stays connected while others open thousands of connections a second."""

RESERVED_DESCRIPTORS: Final = 256
"""Descriptors reserved for the database, logs, calls to other servers and connections being accepted or closed."""

_LEAST: Final = 8
_ABSENT: Final = object()


class Connection(Protocol):
    def drop(self) -> None:
        """Close at once, without a response."""


def raise_descriptor_limit() -> int:
    """Raise the soft limit of open files to :data:`DESCRIPTORS` if possible, and return the current limit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = DESCRIPTORS if hard == resource.RLIM_INFINITY else min(DESCRIPTORS, hard)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return DESCRIPTORS if soft == resource.RLIM_INFINITY else soft
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    except (OSError, ValueError):
        return soft
    return wanted


@dataclass(frozen=True, slots=True)
class Bounds:
    """Limits of connections.

    Attributes:
        unix: Over a Unix socket; as many more may wait there for their first request to be read.
        waiting: Over TCP, waiting for their first request to be read.
    """

    tcp: int = TCP_CONNECTIONS
    unix: int = UNIX_CONNECTIONS
    waiting: int = WAITING_CONNECTIONS

    @classmethod
    def within(cls, descriptors: int) -> Bounds:
        """Return the limits allowed by a number of descriptors."""
        spare = descriptors - RESERVED_DESCRIPTORS
        unix = max(_LEAST, min(UNIX_CONNECTIONS, spare // 16))
        tcp = spare - 2 * unix
        return cls(
            tcp=max(_LEAST, min(TCP_CONNECTIONS, tcp * 3 // 7)),
            unix=unix,
            waiting=max(_LEAST, min(WAITING_CONNECTIONS, tcp * 4 // 7)),
        )


@dataclass(slots=True)
class _ListenerConnections:
    """The connections of one kind of listener. Each mapping is in the order in which its connections are dropped."""

    bound: int
    strangers_bound: int
    waiting_bound: int
    waiting: dict[Connection, object] = field(default_factory=dict)
    strangers: dict[Connection, object] = field(default_factory=dict)
    busy: dict[Connection, object] = field(default_factory=dict)
    idle: dict[Connection, object] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.strangers) + len(self.busy) + len(self.idle)

    def remove(self, connection: Connection) -> bool:
        """Remove a connection; return whether it was there."""
        groups = (self.waiting, self.strangers, self.busy, self.idle)
        return any(group.pop(connection, _ABSENT) is not _ABSENT for group in groups)


class Connections:
    def __init__(self, bounds: Bounds | None = None) -> None:
        bounds = bounds or Bounds()
        # Only the owner's programs reach a Unix socket, so strangers may fill it for the moment before they show their
        # key.
        self._unix = _ListenerConnections(bounds.unix, bounds.unix, bounds.unix)
        self._tcp = _ListenerConnections(bounds.tcp, max(1, bounds.tcp // 2), bounds.waiting)

    def counts(self, family: int) -> tuple[int, int]:
        """Count the connections of a kind of listener: all of them, and those of strangers. Waiting ones are both."""
        pool = self._of(family)
        waiting = len(pool.waiting)
        return waiting + len(pool), waiting + len(pool.strangers)

    def add_waiting(self, connection: Connection, family: int) -> None:
        """Take up a connection whose first request is not read yet; where too many wait, drop the one that is open
        longest.
        """
        pool = self._of(family)
        pool.waiting[connection] = None
        if len(pool.waiting) > pool.waiting_bound:
            oldest = next(iter(pool.waiting))
            del pool.waiting[oldest]
            oldest.drop()

    def add(self, connection: Connection, family: int, *, is_keyed: bool = False) -> None:
        """Take up a connection to be served, as a stranger's unless its first request has a valid key.

        Where there is no room, the stranger's that is open longest is dropped. Where none is a stranger's, the keyed
        one that is idle longest goes, and where all of those are busy, the new one.
        """
        pool = self._of(family)
        group = pool.busy if is_keyed else pool.strangers
        group[connection] = None
        self._make_room(pool, connection)

    def _make_room(self, pool: _ListenerConnections, newest: Connection) -> None:
        if len(pool.strangers) <= pool.strangers_bound and len(pool) <= pool.bound:
            return
        others = (other for other in itertools.chain(pool.strangers, pool.idle) if other is not newest)
        oldest = next(others, newest)
        pool.remove(oldest)
        oldest.drop()

    def mark(self, connection: Connection, family: int, *, is_keyed: bool) -> None:
        """Record whether a connection's current request has a valid key; no effect once it is closed."""
        pool = self._of(family)
        if connection in pool.strangers and not is_keyed:
            return
        if not pool.remove(connection):
            return
        if is_keyed:
            pool.busy[connection] = None
        else:
            pool.strangers[connection] = None
            self._make_room(pool, connection)

    def mark_idle(self, connection: Connection, family: int) -> None:
        """Record that a connection has no request to answer."""
        pool = self._of(family)
        if connection in pool.busy:
            pool.remove(connection)
            pool.idle[connection] = None

    def remove(self, connection: Connection, family: int) -> None:
        """Remove a closed connection; do nothing if it is already gone."""
        self._of(family).remove(connection)

    def _of(self, family: int) -> _ListenerConnections:
        return self._unix if family == socket.AF_UNIX else self._tcp
