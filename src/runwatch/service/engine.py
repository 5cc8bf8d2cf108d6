"""Moves runs: waits what a step takes, has it written, and ends a run whose time is over.

The database decides: a step is written only while the run is not final, so a cancelled run stays cancelled whatever
the engine was about to do. One task drives one run; a restart drives on from what is recorded.
"""

from __future__ import annotations

import asyncio
import logging
from functools import partial
from typing import Final

from runwatch.base.clock import Clock
from runwatch.service import runs
from runwatch.service.database import Database, Transaction
from runwatch.service.lifecycle import Run, next_step
from runwatch.service.tables import runs as runs_table

RETRY_S: Final = (1.0, 2.0, 5.0, 10.0, 30.0)
"""Waits between attempts to write a step that the database refuses, as a full disk makes it do; the last is kept."""

_log = logging.getLogger("runwatch.service.engine")


class Engine:
    """Drives every live run of one service.

    Args:
        database: Where runs are recorded.
        clock: Time and sleep.
        pace: What the wait of every step is multiplied with.
    """

    def __init__(self, database: Database, clock: Clock, pace: float = 1.0) -> None:
        self._database = database
        self._clock = clock
        self._pace = pace
        self._tasks: dict[str, asyncio.Task[None]] = {}

    @property
    def live(self) -> int:
        """How many runs are being driven."""
        return len(self._tasks)

    async def resume(self) -> None:
        """Drive every run that is not final, from its recorded state."""
        for run in await self._database.read(_live_runs):
            self.drive(run)

    def drive(self, run: Run) -> None:
        """Drive a run to its end, in the background; harmless when it is driven already."""
        if run.is_final or run.execution_id in self._tasks:
            return
        task = asyncio.get_running_loop().create_task(self._drive(run), name=f"run {run.execution_id}")
        self._tasks[run.execution_id] = task
        task.add_done_callback(lambda _: self._tasks.pop(run.execution_id))

    async def settled(self) -> None:
        """Wait until no run is being driven."""
        while self._tasks:
            await asyncio.wait(self._tasks.values())

    async def stop(self) -> None:
        """Let go of all runs; they stay as they are recorded and are resumed by the next start."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _drive(self, run: Run) -> None:
        failures = 0
        while not run.is_final:
            try:
                run = await self._move(run)
                failures = 0
            except Exception:
                _log.exception("run %s cannot take its next step", run.execution_id)
                await self._clock.sleep(RETRY_S[min(failures, len(RETRY_S) - 1)])
                failures += 1

    async def _move(self, run: Run) -> Run:
        step = next_step(run)
        assert step is not None
        wait = step.wait_s * self._pace
        left = run.time_left(self._clock.now())
        if left <= wait:
            await self._clock.sleep(max(0.0, left))
            return await self._database.write(
                partial(runs.end, execution_id=run.execution_id, status="expired", reason="runtime_exceeded")
            )
        await self._clock.sleep(wait)
        return await self._database.write(partial(runs.advance, execution_id=run.execution_id))


def _live_runs(transaction: Transaction) -> list[Run]:
    return [runs.run_of(row) for row in transaction.oldest(runs_table, runs.LIVE)]
