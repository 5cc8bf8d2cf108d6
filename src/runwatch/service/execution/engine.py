"""Who drives which run: what the rest of the service needs of an engine, and the engine of one process.

The database decides: a step is written only while the run is not final, so a cancelled run stays cancelled whatever the
engine was about to do. After a restart, runs continue from their recorded state.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections import defaultdict
from datetime import datetime
from functools import partial

from runwatch.base.clock import wait_first
from runwatch.service.execution import runs
from runwatch.service.execution.live import live_rows
from runwatch.service.execution.retries import retry_forever
from runwatch.service.execution.state_machine import RunState
from runwatch.service.execution.step_runner import StepRunner
from runwatch.service.tables import runs_table
from runwatch.service.transaction import Transaction


class Engine(ABC):
    """Driver of unfinished runs."""

    runner: StepRunner

    @property
    @abstractmethod
    def unfinished(self) -> int:
        """Return the number of runs that this process drives now."""

    @abstractmethod
    async def resume(self) -> None:
        """Start to drive every run that is not final from its recorded state, and remove expired results."""

    @abstractmethod
    def drive(self, run: RunState) -> None:
        """Have an accepted run driven to its end; do nothing if it is already driven."""

    @abstractmethod
    def let_go(self, execution_id: str) -> None:
        """Stop driving a run that has ended, and drop its call in progress."""

    @abstractmethod
    async def settled(self) -> None:
        """Wait until this process drives no run."""

    @abstractmethod
    async def stop(self) -> None:
        """Stop driving all runs. They keep their recorded state, and the next start resumes them."""


class EmbeddedEngine(Engine):
    """The engine of a service that is one process: one task drives one run."""

    def __init__(self, runner: StepRunner) -> None:
        self.runner = runner
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._waiting: defaultdict[str, dict[tuple[datetime, str], asyncio.Event]] = defaultdict(dict)

    @property
    def unfinished(self) -> int:
        return len(self._tasks)

    async def resume(self) -> None:
        await self.runner.database.write(live_rows.sweep)
        for run in await self.runner.database.read(_unfinished_runs):
            self.drive(run)

    def drive(self, run: RunState) -> None:
        if run.is_final or run.execution_id in self._tasks:
            return
        task = asyncio.get_running_loop().create_task(self._drive(run), name=f"run {run.execution_id}")
        self._tasks[run.execution_id] = task
        task.add_done_callback(lambda _: self._forget(run))

    def let_go(self, execution_id: str) -> None:
        task = self._tasks.get(execution_id)
        if task is not None:
            task.cancel()

    async def settled(self) -> None:
        while self._tasks:
            await asyncio.wait(self._tasks.values())

    async def stop(self) -> None:
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _forget(self, run: RunState) -> None:
        del self._tasks[run.execution_id]
        self._wake(run.tenant_id)

    def _wake(self, tenant_id: str) -> None:
        """Let the organization's oldest waiting run check whether its turn has come."""
        waiting = self._waiting[tenant_id]
        if waiting:
            waiting.pop(min(waiting)).set()

    async def _drive(self, run: RunState) -> None:
        failure = f"run {run.execution_id} cannot take its next step"
        while not run.is_final:
            run = await retry_forever(partial(self._take_step, run), self.runner.clock, failure)

    async def _take_step(self, run: RunState) -> RunState:
        if run.status != "queued":
            return await self.runner.take_step(run)
        # Register before the step, so that a wake-up during the step is not missed.
        turn, queue_key = asyncio.Event(), (run.created_at, run.execution_id)
        self._waiting[run.tenant_id][queue_key] = turn
        try:
            updated = await self.runner.take_step(run)
            if updated.status == "queued":
                await wait_first(turn.wait(), self.runner.clock.sleep(updated.time_left(self.runner.clock.now())))
                turn.clear()
            return updated
        finally:
            self._waiting[run.tenant_id].pop(queue_key, None)
            if turn.is_set():
                # This run continued without waiting, so pass the wake-up on.
                self._wake(run.tenant_id)


def _unfinished_runs(transaction: Transaction) -> list[RunState]:
    return [runs.run_from_row(row) for row in transaction.oldest(runs_table, runs.UNFINISHED)]
