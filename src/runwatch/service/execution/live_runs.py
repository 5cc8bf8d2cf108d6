"""Drive live runs: take steps and make the calls between them.

A call starts only after its start is on disk, and nothing else happens to the run until its end is on disk too. A call
that a provider has answered is therefore never repeated because a write failed.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Final

from runwatch.base.clock import Clock
from runwatch.service.access.vault import Vault
from runwatch.service.checks.evaluation import Evaluation
from runwatch.service.database import TransactionRunner
from runwatch.service.execution import live_steps, review_composer, runs
from runwatch.service.execution.live import live_rows, provider_call
from runwatch.service.execution.live.provider_call import CallOutcome, ModelCaller
from runwatch.service.execution.retries import retry_forever
from runwatch.service.execution.state_machine import RunState
from runwatch.service.models.connections import build_address
from runwatch.service.transaction import Row, Transaction

Judge = Callable[[Row, str], Awaitable[Evaluation]]
"""Runs a customer's check on an output."""

_log: Final = logging.getLogger("runwatch.service.execution.live")


@dataclass(slots=True)
class LiveRuns:
    """Takes the steps of live runs, with the calls they need."""

    database: TransactionRunner
    clock: Clock
    vault: Vault
    providers: ModelCaller
    judge: Judge

    async def take_step(self, run: RunState) -> RunState:
        """Take a live run's steps up to its next call, and that; return the run, unchanged when it has to wait."""
        begun = await self.database.write(partial(_begin_step, run.execution_id))
        if isinstance(begun, live_steps.PendingCall):
            return await self._dispatch(begun)
        if isinstance(begun, live_steps.PendingCheck):
            return await self._evaluate(begun)
        return begun

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

        Raises:
            FencedOutError: Another driver has claimed the run, and counts the call as lost.
        """
        return await retry_forever(
            partial(self.database.write, write), self.clock, "what came of a call cannot be written yet"
        )


def _begin_step(
    execution_id: str, transaction: Transaction
) -> RunState | live_steps.PendingCall | live_steps.PendingCheck:
    if live_rows.find_review_composer(transaction, execution_id) is not None:
        return review_composer.take_composer_step(transaction, execution_id)
    return live_steps.take_live_steps(transaction, execution_id)
