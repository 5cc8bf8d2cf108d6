"""What all requests of one service share."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass, field

from runwatch.service.access.authentication import ActiveKeys
from runwatch.service.access.key_uses import KeyUses
from runwatch.service.http.connections import Connections
from runwatch.service.http.cursors import Cursors
from runwatch.service.http.idempotency import KeyLocks
from runwatch.service.http.problem_responder import ProblemResponder
from runwatch.service.http.rate_limits import KEYED_BYTES_IN_FLIGHT, AnonymousLimits, BytesInFlight, RateLimiter
from runwatch.service.models.server_discovery import KNOWN_PORTS, KnownPort
from runwatch.service.service_context import ServiceContext
from runwatch.service.timers import Timers


@dataclass(slots=True, kw_only=True)
class RequestContext(ServiceContext):
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

    keys: ActiveKeys
    key_uses: KeyUses
    problems: ProblemResponder
    rate_limit: RateLimiter
    cursors: Cursors
    strangers: AnonymousLimits
    timers: Timers
    usual_ports: tuple[KnownPort, ...] = KNOWN_PORTS
    turns: KeyLocks = field(default_factory=KeyLocks)
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
