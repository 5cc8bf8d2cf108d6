"""Drivers of runs that were replaced while they still ran."""

from __future__ import annotations

import asyncio
from functools import partial

import pytest

from runwatch.service.execution.fencing import FencedOutError, claim
from runwatch.service.execution.state_machine import RunState
from tests.service.conftest import Serving, event_bodies
from tests.service.live_work import LiveWork, add_model, live_body, outcomes, scripted
from tests.service.test_live_restart import Scripted, stepped

__all__ = ["scripted"]


async def drive(work: LiveWork, run_id: str) -> RunState:
    """Claim a run and drive it to its end."""
    context = work.service.context
    run, fence = await context.database.write(partial(claim, execution_id=run_id))
    runner = context.engine.runner.fenced(run_id, fence)
    while not run.is_final:
        run = await runner.take_step(run)
    return run


@pytest.mark.parametrize("mode", ["fallback", "gate"])
async def test_the_answer_of_a_replaced_driver_is_a_call_of_unknown_spend_and_policy_says_what_follows(
    serving: Serving, scripted: Scripted, monkeypatch: pytest.MonkeyPatch, mode: str
) -> None:
    providers, _ = scripted
    async with stepped(serving, scripted, monkeypatch) as work:
        for model in ("ember", "atlas"):
            await work.having(add_model, model)
        run_id = (await work.service.submit(live_body([mode])))["execution_id"]
        answer = asyncio.Event()
        providers.script("ember", answer)
        replaced = asyncio.ensure_future(drive(work, run_id))
        await providers.begun.wait()
        run = await drive(work, run_id)
        before = await work.service.context.database.read(event_bodies(run_id))
        answer.set()
        with pytest.raises(FencedOutError):
            await replaced
        receipt = await work.service.get(f"/v1/receipts/{run_id}")
        assert await work.service.context.database.read(event_bodies(run_id)) == before
        assert (await work.service.get(f"/v1/executions/{run_id}"))["spend_usd"] is None
    tried = [("candidate", "interrupted")]
    if mode == "fallback":
        assert (run.status, outcomes(receipt)) == ("completed", [*tried, ("candidate", "answered")])
    else:
        assert (run.status, run.reason, outcomes(receipt)) == ("failed", "dispatch_internal_error", tried)
