"""State shared by all requests of one service."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from weakref import WeakValueDictionary

from runwatch.base.clock import Timers
from runwatch.service.access.authentication import ActiveKeys
from runwatch.service.access.key_uses import KeyUses
from runwatch.service.http.connections import Connections
from runwatch.service.http.lists.cursors import Cursors
from runwatch.service.http.problem_responder import ProblemResponder
from runwatch.service.http.rate_limits import KEYED_BYTES_IN_FLIGHT, AnonymousLimits, BytesInFlight, RateLimiter
from runwatch.service.models.server_discovery import KNOWN_PORTS, KnownPort
from runwatch.service.service_context import ServiceContext


@dataclass(slots=True, kw_only=True)
class RequestContext(ServiceContext):
    """One open service, without its sockets.

    Attributes:
        strangers: Limits of callers without a valid key.
        key_locks: Let requests with the same idempotency key wait for each other; each lasts while one has it.
        closed_handles: Handles of the secrets that no master key opened at the start.
        closed_secrets: The records they belonged to then, one line each.
    """

    keys: ActiveKeys
    key_uses: KeyUses
    problems: ProblemResponder
    rate_limit: RateLimiter
    cursors: Cursors
    strangers: AnonymousLimits
    timers: Timers
    usual_ports: tuple[KnownPort, ...] = KNOWN_PORTS
    key_locks: WeakValueDictionary[tuple[str, str, str], asyncio.Lock] = field(default_factory=WeakValueDictionary)
    connections: Connections = field(default_factory=Connections)
    bytes_in_flight: BytesInFlight = field(default_factory=lambda: BytesInFlight(KEYED_BYTES_IN_FLIGHT))
    closed_handles: frozenset[str] = frozenset()
    closed_secrets: tuple[str, ...] = ()

    async def refresh_keys(self, authorization: Sequence[str] = (), *, key_id: str | None = None) -> None:
        """Learn what other processes have done to a key; see :meth:`ActiveKeys.refresh`."""
        if self.options.is_shared:
            await self.keys.refresh(self.database, authorization, key_id=key_id)

    async def close(self) -> None:
        """Stop the engine and calls to other servers, finish waiting writes, and close the database."""
        await self.engine.stop()
        await self.deliverer.stop()
        await self.outbound.close()
        await self.problems.flush()
        with contextlib.suppress(Exception):
            # A full disk must not prevent the stop.
            await self.key_uses.flush()
        await asyncio.to_thread(self.database.close)
