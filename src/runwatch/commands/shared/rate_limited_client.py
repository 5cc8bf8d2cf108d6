"""Following within the service's limit of requests a minute (DESIGN 4, Requests within the limit)."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

from runwatch.api.client import Client
from runwatch.api.errors import ApiError
from runwatch.base.clock import Clock
from runwatch.base.service_target import Target
from runwatch.records.account import Quota
from runwatch.records.event import RunEvent
from runwatch.records.record import Page
from runwatch.records.run import Run
from runwatch.store.live.request_budget import UNKNOWN_REMOTE_RPM, RequestBudget


class RateLimitedClient(Client):
    """A client whose reads of runs and events take turns once it was told the limit; until then none waits."""

    def __init__(self, target: Target, **options: Any) -> None:
        super().__init__(target, **options)
        self._budget: RequestBudget | None = None
        self._turns = asyncio.Lock()

    def pace(self, budget: RequestBudget) -> None:
        """Keep within this budget from now on."""
        self._budget = budget

    def note_limited(self) -> None:
        """Learn from a 429 that the limit is not all ours."""
        if self._budget is not None:
            self._budget.note_limited()

    async def get_run(self, execution_id: str) -> Run:
        """As :meth:`Client.get_run`, when its turn has come."""
        await self._turn()
        return await super().get_run(execution_id)

    async def list_events(self, execution_id: str, *, after: str | None = None) -> Page[RunEvent]:
        """As :meth:`Client.list_events`, when its turn has come."""
        await self._turn()
        return await super().list_events(execution_id, after=after)

    async def _turn(self) -> None:
        if self._budget is None:
            return
        async with self._turns:
            while (wait := self._budget.background_wait_s()) > 0:
                await self._clock.sleep(wait)
            self._budget.note_sent()


async def apply_published_limit(client: RateLimitedClient, clock: Clock) -> None:
    """Read the limit that the service publishes, and keep the client's reads within it.

    A service that publishes none gets the assumption of the design: 60 a minute when it is remote, none when local.
    """
    limit = None if client.target.is_loopback else UNKNOWN_REMOTE_RPM
    # Where the account cannot be read, what follows meets the same trouble and tells it.
    with contextlib.suppress(ApiError):
        quota = (await client.get_account()).quota or Quota({})
        limit = quota.rate_limit_rpm or limit
    client.pace(RequestBudget(clock, limit))
