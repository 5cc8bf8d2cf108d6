"""Send queued webhook deliveries.

The queue is only in the database, so deliveries survive a restart. A try cut off by a stop of the service does not
count and is repeated. Where several processes send, each takes a delivery for one try before it sends it.

Receivers do not wait for each other. At most :data:`RECEIVER_AT_ONCE` tries to one webhook and :data:`AT_ONCE` in total
run at a time; beyond that, an organization without a running try may still start one.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from datetime import datetime
from functools import partial
from typing import Any, Final, NamedTuple

from runwatch.base.clock import Clock, wait_first
from runwatch.base.errors import DataError
from runwatch.service.access.vault import Vault
from runwatch.service.address_policy import OrganizationPolicies
from runwatch.service.database import ServiceDatabase
from runwatch.service.organization import webhooks
from runwatch.service.outbound import OutboundClient, OutboundError
from runwatch.service.tables import webhook_deliveries_table
from runwatch.service.transaction import Row, Transaction

TIMEOUT_S: Final = 10.0
"""Seconds until the last byte of a receiver's response."""

RECEIVER_AT_ONCE: Final = 2
"""Most concurrent tries to one webhook."""

AT_ONCE: Final = 64
"""Most concurrent tries in total, not counting the first one of each organization."""

PAUSE_S: Final = 10.0
"""Seconds to wait when the database refuses a read or write."""

LEASE_S: Final = 60.0
"""Seconds that a delivery belongs to the process that tries it; one whose process is gone is then tried again."""

POLL_S: Final = 2.0
"""Seconds until a delivery that another process has added is found."""

_ANSWER_BYTES: Final = 64 * 1024

_log: Final = logging.getLogger("runwatch.service.organization.deliverer")


class WebhookSender:
    def __init__(
        self,
        database: ServiceDatabase,
        vault: Vault,
        outbound: OutboundClient,
        policy: OrganizationPolicies,
        clock: Clock,
        *,
        is_shared: bool = False,
    ) -> None:
        self._is_shared = is_shared
        self._database = database
        self._vault = vault
        self._outbound = outbound
        self._policy = policy
        self._clock = clock
        self._news = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._tries: dict[str, _Try] = {}
        self._ended: set[str] = set()

    def start(self) -> None:
        self._database.watch(webhook_deliveries_table, self._news.set)
        self._task = asyncio.get_running_loop().create_task(self._run(), name="webhook deliveries")

    async def stop(self) -> None:
        """Stop sending and cancel running tries; do nothing if it never started."""
        tasks = [running.task for running in self._tries.values()]
        tasks += [self._task] if self._task is not None else []
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _run(self) -> None:
        while True:
            try:
                self._news.clear()
                self._ended.clear()
                due, next_at = await self._database.read(_waiting)
                for delivery, webhook in due:
                    # A delivery whose try ended during this read may have been read as still waiting.
                    if delivery["delivery_id"] not in self._ended and self._has_room(delivery):
                        self._begin(delivery, webhook)
                await self._wait_for_news(next_at)
            except Exception:
                _log.exception("deliveries cannot be read")
                await self._clock.sleep(PAUSE_S)

    async def _wait_for_news(self, next_at: str | None) -> None:
        """Wait until a delivery is added, a try ends, or the next try is due."""
        waits: list[Coroutine[Any, Any, Any]] = [self._news.wait()]
        if next_at is not None:
            left = (datetime.fromisoformat(next_at) - self._clock.now()).total_seconds()
            waits.append(self._clock.sleep(max(0.0, left)))
        if self._is_shared:
            waits.append(self._clock.sleep(POLL_S))
        await wait_first(*waits)

    def _has_room(self, delivery: Row) -> bool:
        tries = self._tries.values()
        if delivery["delivery_id"] in self._tries:
            return False
        if sum(running.webhook_id == delivery["webhook_id"] for running in tries) >= RECEIVER_AT_ONCE:
            return False
        return len(tries) < AT_ONCE or all(running.tenant_id != delivery["tenant_id"] for running in tries)

    def _begin(self, delivery: Row, webhook: Row) -> None:
        delivery_id = delivery["delivery_id"]
        task = asyncio.get_running_loop().create_task(self._deliver(delivery, webhook), name=f"delivery {delivery_id}")
        self._tries[delivery_id] = _Try(task, delivery["webhook_id"], delivery["tenant_id"])
        task.add_done_callback(lambda _: self._end(delivery_id))

    def _end(self, delivery_id: str) -> None:
        del self._tries[delivery_id]
        self._ended.add(delivery_id)
        self._news.set()

    async def _deliver(self, delivery: Row, webhook: Row) -> None:
        try:
            claiming = partial(webhooks.claim, delivery=delivery, lease_s=LEASE_S)
            if self._is_shared and not await self._database.write(claiming):
                return
            code, failure = await self._try(delivery, webhook)
            await self._database.write(partial(webhooks.record_try, delivery=delivery, status_code=code, error=failure))
        except Exception:
            _log.exception("delivery %s cannot be kept", delivery["delivery_id"])
            # The delivery is still pending and is tried again as soon as its slot is free.
            await self._clock.sleep(PAUSE_S)

    async def _try(self, delivery: Row, webhook: Row) -> tuple[int | None, str | None]:
        """Send one delivery once; return the HTTP status, if any, and the error, if any."""
        try:
            secret = await self._vault.get(webhook["secret_handle"])
        except DataError:
            secret = None
        if secret is None:
            # The secret is being rotated, or its file is lost or unreadable.
            return None, "credential_unavailable"
        try:
            answer = await self._outbound.send(
                "POST",
                webhook["url"],
                reach=self._policy.endpoints(webhook["tenant_id"]),
                timeout_s=TIMEOUT_S,
                headers=webhooks.headers_of(delivery, secret, int(self._clock.now().timestamp())),
                body=delivery["body"].encode("ascii"),
                limit_bytes=_ANSWER_BYTES,
            )
        except OutboundError as error:
            return None, error.kind
        return answer.status, None if 200 <= answer.status < 300 else "http_error"


class _Try(NamedTuple):
    task: asyncio.Task[None]
    webhook_id: str
    tenant_id: str


def _waiting(transaction: Transaction) -> tuple[list[tuple[Row, Row]], str | None]:
    return webhooks.due(transaction, RECEIVER_AT_ONCE), webhooks.next_attempt_at(transaction)
