"""Submit runs in the sample organization while the service is in use."""

from __future__ import annotations

import asyncio
import logging
from functools import partial
from random import Random
from typing import Any, Final

from runwatch.base.clock import format_iso
from runwatch.records.requests.run import RunRequest
from runwatch.service.access.key_uses import store_use
from runwatch.service.errors import RefusalError
from runwatch.service.execution import runs, submission
from runwatch.service.execution.state_machine import RunState
from runwatch.service.sample.models import arm_ids
from runwatch.service.sample.registrations import check_ids
from runwatch.service.sample.run_kinds import BACKGROUND, STEADY, RunKind, build_request
from runwatch.service.service_context import ServiceContext
from runwatch.service.tables import api_keys_table, runs_table, sample_organizations_table
from runwatch.service.transaction import Row, Transaction

PAUSE_S: Final = (2.0, 6.0)
"""Shortest and longest pause between two runs, in seconds."""

AT_ONCE: Final = 6
"""Most live runs of the organization when another one is added."""

STEADY_EVERY_S: Final = 30.0
"""Seconds between two long runs; each lasts longer than this and one pause, so that one run is always live."""

WATCHED_S: Final = 60.0
"""Seconds after the last request during which the service counts as in use."""

_log: Final = logging.getLogger("runwatch.service.sample")


class BackgroundRuns:
    """Submitter of runs in the sample organization, with a key kept for it.

    It does nothing in a database without a sample organization. It is not a caller, so it does not keep an unused
    service from stopping.
    """

    def __init__(self, context: ServiceContext, chance: Random) -> None:
        self._context = context
        self._chance = chance
        self._works: list[RunKind] = []
        self._steady_at = 0.0
        self._cancelling: set[asyncio.Task[None]] = set()

    async def run(self) -> None:
        try:
            while True:
                await self._until_watched()
                now = self._context.clock.monotonic()
                if now >= self._steady_at:
                    self._steady_at = now + STEADY_EVERY_S
                    await self._start(STEADY, at_once=AT_ONCE + 1)
                await self._context.clock.sleep(self._chance.uniform(*PAUSE_S))
                if self._is_watched():
                    await self.add()
        finally:
            for task in self._cancelling:
                task.cancel()

    def _is_watched(self) -> bool:
        context = self._context
        quiet_s = min(WATCHED_S, context.options.idle_exit_s or WATCHED_S)
        return context.clock.monotonic() - context.last_request < quiet_s

    async def _until_watched(self) -> None:
        while not self._is_watched():
            self._context.touched.clear()
            await self._context.touched.wait()

    async def add(self) -> None:
        """Submit one run, unless there are enough or the organization may not."""
        await self._start(self._next(), at_once=AT_ONCE)

    async def _start(self, work: RunKind, *, at_once: int) -> None:
        try:
            run = await self._context.database.write(partial(_submit, work, self._chance, at_once))
        except RefusalError as refusal:
            # A user may have spent the balance, used up the quota, or changed the setup.
            _log.info("a sample run was not accepted: %s", refusal.code)
            return
        except Exception:
            _log.exception("a sample run cannot be submitted")
            return
        if run is None:
            return
        self._context.engine.drive(run)
        if work.cancel_after_s is not None:
            task = asyncio.get_running_loop().create_task(self._cancel(run, work.cancel_after_s), name="sample cancel")
            self._cancelling.add(task)
            task.add_done_callback(self._cancelling.discard)

    def _next(self) -> RunKind:
        """Return the next kind of run: all by weight in random order, then again."""
        if not self._works:
            self._works = [work for work in BACKGROUND for _ in range(work.weight)]
            self._chance.shuffle(self._works)
        return self._works.pop()

    async def _cancel(self, run: RunState, after_s: float) -> None:
        await self._context.clock.sleep(after_s)
        try:
            await self._context.database.write(partial(_cancel, run))
        except RefusalError:
            return
        self._context.engine.let_go(run.execution_id)


def _submit(work: RunKind, chance: Random, at_once: int, transaction: Transaction) -> RunState | None:
    """Accept a run; return ``None`` without a sample organization, or when it has enough runs or lacks what this one
    needs.
    """
    sample = _sample(transaction)
    if sample is None:
        return None
    tenant_id = sample["tenant_id"]
    unfinished = transaction.count(runs_table, {"tenant_id": tenant_id, **runs.UNFINISHED})
    arms, checks = arm_ids(transaction, tenant_id), check_ids(transaction, tenant_id)
    if unfinished >= at_once or (work.check is not None and work.check not in checks):
        return None
    content: dict[str, Any] = build_request(work, chance, arms, checks)
    request = RunRequest.model_validate(content)
    store_use(transaction, sample["api_key_id"], format_iso(transaction.now))
    return submission.submit(transaction, tenant_id, sample["api_key_id"], request, content)


def _cancel(run: RunState, transaction: Transaction) -> None:
    sample = _sample(transaction)
    if sample is not None:
        submission.cancel(transaction, run.tenant_id, sample["api_key_id"], run.execution_id)


def _sample(transaction: Transaction) -> Row | None:
    """Return the sample organization while its key is active."""
    for row in transaction.list_all(sample_organizations_table, {}):
        if transaction.count(api_keys_table, {"api_key_id": row["api_key_id"], "status": "active"}):
            return row
    return None
