"""A delivery is sent once, even if it changes while waiting deliveries are read."""

from __future__ import annotations

import asyncio
from typing import Any, cast

from runwatch.service.access.vault import Vault
from runwatch.service.address_policy import OrganizationPolicies
from runwatch.service.database import ServiceDatabase
from runwatch.service.organization.webhook_sender import WebhookSender
from runwatch.service.outbound import OutboundClient
from tests.support.clock import FakeClock

DELIVERY: dict[str, Any] = {"delivery_id": "dlv_1", "webhook_id": "wh_1", "tenant_id": "ten_1"}


class StaleDatabase:
    """Its second read begins before the try of the delivery is kept and answers afterwards what it saw at first."""

    def __init__(self) -> None:
        self.reads = 0
        self.reading_again = asyncio.Event()
        self.kept = asyncio.Event()
        self.idle = asyncio.Event()
        self.deliverer: Counting | None = None

    def watch(self, *_: object) -> None:
        """Tell of nothing."""

    async def read(self, _: object) -> tuple[list[tuple[Any, Any]], None]:
        self.reads += 1
        if self.reads > 2:
            self.idle.set()
            return [], None
        if self.reads == 2:
            self.reading_again.set()
            await self.kept.wait()
            assert self.deliverer is not None
            while self.deliverer.is_busy:
                await asyncio.sleep(0)
        return [(DELIVERY, {})], None

    async def write(self, _: object) -> None:
        self.kept.set()


class Counting(WebhookSender):
    """Counts its tries, each of which ends when it may."""

    def __init__(self, database: StaleDatabase) -> None:
        none = cast(Any, None)
        super().__init__(
            cast(ServiceDatabase, database), cast(Vault, none), cast(OutboundClient, none),
            cast(OrganizationPolicies, none), FakeClock(),
        )  # fmt: skip
        self.tries = 0
        self.begun = asyncio.Event()
        self.may_end = asyncio.Event()

    @property
    def is_busy(self) -> bool:
        return bool(self._tries)

    def tell(self) -> None:
        """Have it read what waits once more."""
        self._news.set()

    async def _try(self, *_: Any) -> tuple[int | None, str | None]:
        self.tries += 1
        self.begun.set()
        await self.may_end.wait()
        return 204, None


async def test_a_delivery_whose_try_ends_while_what_waits_is_read_is_sent_once() -> None:
    database = StaleDatabase()
    deliverer = database.deliverer = Counting(database)
    deliverer.start()
    try:
        await deliverer.begun.wait()
        deliverer.tell()
        await database.reading_again.wait()
        deliverer.may_end.set()
        await database.idle.wait()
        assert deliverer.tries == 1
    finally:
        await deliverer.stop()
