"""What all requests of one service share."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass, field

from runwatch.service.access.auth import Keys
from runwatch.service.access.uses import KeyUses
from runwatch.service.domain_context import DomainContext
from runwatch.service.http.connections import Connections
from runwatch.service.http.cursors import Cursors
from runwatch.service.http.idempotency import Turns
from runwatch.service.http.limits import KEYED_BYTES_IN_FLIGHT, BytesInFlight, RateLimit, Strangers
from runwatch.service.http.problems import Problems
from runwatch.service.models.discovery import USUAL_PORTS, UsualPort
from runwatch.service.timers import Timers


@dataclass(slots=True, kw_only=True)
class Context(DomainContext):
    """One open service, without its sockets.

    Attributes:
        keys: Who may call.
        key_uses: When each key was last used.
        problems: What answers refusals.
        rate_limit: Requests a minute of one key.
        cursors: Cursors of lists.
        strangers: What callers without a good key may do.
        timers: What calls things later; the event loop, apart from tests.
        usual_ports: Where model servers of this machine are looked for.
        turns: Order among requests with the same idempotency key.
        connections: The open connections.
        bytes_in_flight: The bytes of bodies that came with a good key.
        closed_handles: The handles of the secrets that no master key opened at the start.
        closed_secrets: What those belonged to then, a line each.
    """

    keys: Keys
    key_uses: KeyUses
    problems: Problems
    rate_limit: RateLimit
    cursors: Cursors
    strangers: Strangers
    timers: Timers
    usual_ports: tuple[UsualPort, ...] = USUAL_PORTS
    turns: Turns = field(default_factory=Turns)
    connections: Connections = field(default_factory=Connections)
    bytes_in_flight: BytesInFlight = field(default_factory=lambda: BytesInFlight(KEYED_BYTES_IN_FLIGHT))
    closed_handles: frozenset[str] = frozenset()
    closed_secrets: tuple[str, ...] = ()

    async def close(self) -> None:
        """Stop the engine, end the calls to other servers, finish the writes that wait, and close the database."""
        await self.engine.stop()
        await self.deliverer.stop()
        await self.outbound.close()
        await self.problems.flush()
        with contextlib.suppress(Exception):
            # A disk that is full is no reason not to end.
            await self.key_uses.flush()
        await asyncio.to_thread(self.database.close)
