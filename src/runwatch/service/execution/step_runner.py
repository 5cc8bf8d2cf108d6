"""Take the steps of a run: wait each one out, have it written, and end a run whose time is over."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

from runwatch.base.clock import Clock
from runwatch.service.database import TransactionRunner
from runwatch.service.execution import runs
from runwatch.service.execution.fencing import FencedDatabase
from runwatch.service.execution.live_runs import LiveRuns
from runwatch.service.execution.state_machine import RunState, next_test_step


@dataclass(frozen=True, slots=True)
class StepRunner:
    """Takes the steps of test runs and live runs.

    Attributes:
        pace: Factor on the wait before every step of a test run.
    """

    database: TransactionRunner
    clock: Clock
    live: LiveRuns
    pace: float

    async def take_step(self, run: RunState) -> RunState:
        """Take a run's next step and return the updated run, or the unchanged run when its turn has not come."""
        return await (self.live.take_step(run) if run.mode == "live" else self._take_test_step(run))

    def fenced(self, execution_id: str, fence: int) -> StepRunner:
        """Return a runner whose every write of the run is refused once another driver has claimed it."""
        database = FencedDatabase(self.database, execution_id, fence)
        return replace(self, database=database, live=replace(self.live, database=database))

    async def _take_test_step(self, run: RunState) -> RunState:
        step = next_test_step(run)
        assert step is not None
        wait = step.wait_s * self.pace
        left = run.time_left(self.clock.now())
        if left <= wait:
            await self.clock.sleep(max(0.0, left))
            return await self.database.write(
                partial(runs.end, execution_id=run.execution_id, status="expired", reason="runtime_exceeded")
            )
        await self.clock.sleep(wait)
        return await self.database.write(partial(runs.take_test_step, execution_id=run.execution_id))
