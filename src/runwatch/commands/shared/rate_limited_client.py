"""Follow runs within the service's rate limit (manual: decisions, "Request budget")."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

from runwatch.api.client import Client
from runwatch.api.errors import ApiError
from runwatch.base.clock import Clock
from runwatch.base.network.service_target import Target
from runwatch.records.account import Quota
from runwatch.records.event import RunEvent
from runwatch.records.record import Page
from runwatch.records.run import Run
from runwatch.store.live.request_budget import UNKNOWN_REMOTE_RPM, RequestBudget


class RateLimitedClient(Client):
    """A client whose reads of runs and events wait for a request budget, once it is set."""

    def __init__(self, target: Target, **options: Any) -> None:
        super().__init__(target, **options)
        self._budget: RequestBudget | None = None
        self._turns = asyncio.Lock()

    def pace(self, budget: RequestBudget) -> None:
        self._budget = budget

    def note_limited(self) -> None:
        """Note a 429, which means that other clients use part of the limit."""
        if self._budget is not None:
            self._budget.note_limited()

    async def get_run(self, execution_id: str) -> Run:
        """Wait for the budget, then do the same as :meth:`Client.get_run`."""
        await self._turn()
        return await super().get_run(execution_id)

    async def list_events(self, execution_id: str, *, after: str | None = None) -> Page[RunEvent]:
        """Wait for the budget, then do the same as :meth:`Client.list_events`."""
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
    """Read the published rate limit and set the client's budget.

    If the service publishes none, 60 requests a minute are assumed for a remote service, and no limit for a local one.
    """
    limit, is_published = None if client.target.is_loopback else UNKNOWN_REMOTE_RPM, False
    # If the account cannot be read, later requests fail the same way and report it.
    with contextlib.suppress(ApiError):
        quota = (await client.get_account()).quota or Quota({})
        limit, is_published = quota.rate_limit_rpm or limit, bool(quota.rate_limit_rpm)
    client.pace(RequestBudget(clock, limit, is_published=is_published))
