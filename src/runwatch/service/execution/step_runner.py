"""Take the steps of runs: wait each one out, make the calls between them, and end a run whose time is over.

A call starts only after its start is on disk, and nothing else happens to the run until its end is on disk too. A call
that a provider has answered is therefore never repeated because a write failed.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from runwatch.base.clock import Clock
from runwatch.service.access.vault import Vault
from runwatch.service.checks.evaluation import Evaluation
from runwatch.service.database import TransactionRunner
from runwatch.service.execution import live_steps, runs
from runwatch.service.execution.fencing import FencedDatabase
from runwatch.service.execution.live import provider_call
from runwatch.service.execution.live.provider_call import CallOutcome, ModelCaller
from runwatch.service.execution.retries import retry_forever
from runwatch.service.execution.state_machine import RunState, next_test_step
from runwatch.service.models.connections import build_address
from runwatch.service.transaction import Row, Transaction

Judge = Callable[[Row, str], Awaitable[Evaluation]]
"""Runs a customer's check on an output."""

_log: Final = logging.getLogger("runwatch.service.execution.live")


@dataclass(slots=True)
class StepRunner:
    """Takes the steps of test runs and live runs.

    Attributes:
        pace: Factor on the wait before every step of a test run.
    """

    database: TransactionRunner
    clock: Clock
    vault: Vault
    providers: ModelCaller
    judge: Judge
    pace: float = 1.0

    def fenced(self, execution_id: str, fence: int) -> StepRunner:
        """Return a runner whose every write of the run is refused once another driver has claimed it."""
        return replace(self, database=FencedDatabase(self.database, execution_id, fence))

    async def take_step(self, run: RunState) -> RunState:
        """Take a run's next step: of a live run all that come before its next call, and the call.

        Returns the run, unchanged when its turn has not come.
        """
        if run.mode != "live":
            return await self._take_test_step(run)
        begun = await self.database.write(partial(live_steps.take_live_steps, execution_id=run.execution_id))
        if isinstance(begun, live_steps.PendingCall):
            return await self._dispatch(begun)
        if isinstance(begun, live_steps.PendingCheck):
            return await self._evaluate(begun)
        return begun

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

    async def _dispatch(self, pending: live_steps.PendingCall) -> RunState:
        call, run_id = pending.call, pending.run.execution_id
        handle = call.connection["secret_handle"]
        secret = None if handle is None else await self.vault.get(handle)
        if handle is not None and secret is None:
            # No master key at hand opens it; or the connection was removed a moment ago.
            outcome = CallOutcome(
                reason=provider_call.OTHER_REASON, failure_kind="credential_unavailable", was_sent=False
            )
        else:
            left = pending.run.time_left(self.clock.now())
            outcome = await provider_call.call_provider(
                self.providers, build_address(call.connection, secret), call, left
            )
        return await self._write_outcome(
            partial(live_steps.record_response, execution_id=run_id, number=call.number, outcome=outcome)
        )

    async def _evaluate(self, pending: live_steps.PendingCheck) -> RunState:
        run, attempt = pending.run, pending.attempt
        left = run.time_left(self.clock.now())
        scope = asyncio.timeout(left)
        try:
            async with scope:
                evaluation = await self.judge(pending.verifier, attempt.candidate or "")
        except Exception as error:
            if scope.expired():
                return await self._write_outcome(
                    partial(runs.end, execution_id=run.execution_id, status="expired", reason="runtime_exceeded")
                )
            # Log neither message nor traceback: both may contain the output.
            _log.error("an output check failed unexpectedly: %s", type(error).__name__)
            evaluation = Evaluation("technical_failure", "internal")
        return await self._write_outcome(
            partial(
                live_steps.record_verdict,
                execution_id=run.execution_id,
                number=attempt.number,
                verifier=pending.verifier,
                evaluation=evaluation,
            )
        )

    async def _write_outcome(self, write: Callable[[Transaction], RunState]) -> RunState:
        """Write something that has already happened, retrying for as long as it takes.

        Raises FencedOutError if another driver has claimed the run, and counts the call as lost.
        """
        return await retry_forever(
            partial(self.database.write, write), self.clock, "the outcome of a call cannot be written yet"
        )
