"""Live runs over restarts: a service that is opened again goes on where the last one stopped, for any reason."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from runwatch.service.execution import live_steps
from runwatch.service.execution.engine import EmbeddedEngine
from runwatch.service.execution.runs import load
from runwatch.service.execution.state_machine import RunState
from runwatch.service.tables import attempts_table
from tests.service.conftest import Json, Serving, event_bodies
from tests.service.live_work import (
    ACCEPTED,
    REJECTED,
    FakeJudge,
    FakeProviders,
    LiveWork,
    add_model,
    add_skill,
    add_verifier,
    in_short,
    live_body,
    only_slice,
    outcomes,
    said,
    scripted,
)

__all__ = ["scripted"]

STEPS = 14
"""More steps than a run with a fallback takes."""

Scripted = tuple[FakeProviders, FakeJudge]


@asynccontextmanager
async def stepped(serving: Serving, scripted: Scripted, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[LiveWork]:
    """A service whose engine drives nothing, so that a test takes the steps of runs itself, each in a transaction."""
    with monkeypatch.context() as patch:
        patch.setattr(EmbeddedEngine, "drive", lambda *_: None)
        patch.setattr(live_steps, "JOINED_STEPS", 1)
        async with serving() as service:
            yield LiveWork(service, *scripted)


async def take_step(work: LiveWork, run_id: str) -> RunState:
    run = await work.service.context.database.read(lambda transaction: load(transaction, run_id))
    return run if run.is_final else await work.service.context.engine.runner.take_step(run)


async def finish(serving: Serving, scripted: Scripted, run_id: str) -> tuple[Json, Json, list[str], list[str]]:
    """Open the service again: the run when it is final, its receipt, its events in short and as stored."""
    async with serving() as service:
        run = await service.finished(run_id)
        receipt = await service.get(f"/v1/receipts/{run_id}")
        stored = await service.context.database.read(event_bodies(run_id))
        return run, receipt, in_short(await service.events(run_id)), stored


WHOLE = [
    "accepted", "queued", "running", "slice running", "slice pending_evaluation", "slice check 1 candidate False",
    "slice progress fallback", "slice check 2 candidate True", "slice customer_verdict", "slice completed", "completed",
]  # fmt: skip


@pytest.mark.parametrize("stage", range(STEPS))
async def test_a_run_goes_on_from_every_recorded_state_without_calling_anything_twice(
    serving: Serving, scripted: Scripted, monkeypatch: pytest.MonkeyPatch, stage: int
) -> None:
    providers, judge = scripted
    judge.script(REJECTED, ACCEPTED)
    async with stepped(serving, scripted, monkeypatch) as work:
        for model in ("ember", "atlas"):
            await work.having(add_model, model)
        body = live_body(["fallback"], verifier_id=await work.having(add_verifier))
        run_id = (await work.service.submit(body))["execution_id"]
        for _ in range(stage):
            await take_step(work, run_id)
        before = await work.service.context.database.read(event_bodies(run_id))
    run, receipt, events, stored = await finish(serving, scripted, run_id)
    assert (run["status"], events) == ("completed", WHOLE)
    assert stored[: len(before)] == before
    assert [call.model for call in providers.calls] == ["ember", "atlas"]
    assert len(judge.candidates) == 2
    assert outcomes(receipt) == [("candidate", "answered"), ("candidate", "answered")]
    assert run["spend_usd"] == receipt["totals"]["usd"] == 0.0142


async def test_every_step_of_that_run_was_stopped_at(
    serving: Serving, scripted: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    scripted[1].script(REJECTED, ACCEPTED)
    async with stepped(serving, scripted, monkeypatch) as work:
        for model in ("ember", "atlas"):
            await work.having(add_model, model)
        body = live_body(["fallback"], verifier_id=await work.having(add_verifier))
        run_id = (await work.service.submit(body))["execution_id"]
        for _ in range(STEPS - 1):
            run = await take_step(work, run_id)
        assert run.is_final


async def test_steps_without_a_call_between_them_share_a_transaction(
    serving: Serving, scripted: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    joined = live_steps.JOINED_STEPS
    async with stepped(serving, scripted, monkeypatch) as work:
        monkeypatch.setattr(live_steps, "JOINED_STEPS", joined)
        await work.having(add_model, "ember")
        run_id = (await work.service.submit(live_body(["gate"])))["execution_id"]
        assert not (await take_step(work, run_id)).is_final
        assert len(scripted[0].calls) == 1
        assert (await take_step(work, run_id)).status == "completed"


@pytest.mark.parametrize("falls_back", [True, False])
async def test_a_call_that_a_restart_interrupted_is_reported_and_not_made_again(
    serving: Serving, scripted: Scripted, falls_back: bool
) -> None:
    providers, _ = scripted
    async with serving() as service:
        work = LiveWork(service, *scripted)
        for model in ("ember", "atlas"):
            await work.having(add_model, model)
        providers.script("ember", asyncio.Event())
        on_eval = ["fallback"] if falls_back else ["gate"]
        run_id = (await service.submit(live_body(on_eval)))["execution_id"]
        await providers.begun.wait()
    assert providers.hung_up == 1
    run, receipt, events, _ = await finish(serving, scripted, run_id)
    part = only_slice(receipt)
    interrupted = part["attempts"][0]
    assert (interrupted["outcome"], interrupted["usage"], interrupted["usd"]) == ("interrupted", "unknown", None)
    assert "stopped during the call" in interrupted["note"]
    assert part["cost"]["usage"] == "unknown"
    if falls_back:
        assert (run["status"], [call.model for call in providers.calls]) == ("completed", ["ember", "atlas"])
        assert [entry["outcome"] for entry in part["route"]["ranking"]] == ["interrupted", "selected"]
        assert events[4] == "slice progress fallback"
    else:
        assert (run["status"], run["reason"]) == ("failed", "dispatch_internal_error")
        assert [call.model for call in providers.calls] == ["ember"]


async def test_an_output_that_waits_for_its_check_is_checked_after_the_restart(
    serving: Serving, scripted: Scripted
) -> None:
    providers, judge = scripted
    async with serving() as service:
        work = LiveWork(service, *scripted)
        await work.having(add_model, "ember")
        providers.script("ember", said("the one output"))
        judge.script(asyncio.Event())
        run_id = (await service.submit(live_body(["gate"], verifier_id=await work.having(add_verifier))))[
            "execution_id"
        ]
        await judge.begun.wait()
        (attempt,) = await work.rows(attempts_table)
        assert attempt["state"] == "answered"
    run, _, events, _ = await finish(serving, scripted, run_id)
    assert run["status"] == "completed"
    assert len(providers.calls) == 1
    assert judge.candidates == ["the one output", "the one output"]
    assert events.count("slice pending_evaluation") == 1


@pytest.mark.parametrize("stage", range(4, 13))
async def test_a_repair_goes_on_after_a_restart(
    serving: Serving, scripted: Scripted, monkeypatch: pytest.MonkeyPatch, stage: int
) -> None:
    providers, judge = scripted
    judge.script(REJECTED, REJECTED, ACCEPTED)
    async with stepped(serving, scripted, monkeypatch) as work:
        await work.having(add_model, "ember")
        await work.having(add_skill)
        body = live_body(["repair_retry"], verifier_id=await work.having(add_verifier))
        run_id = (await work.service.submit(body))["execution_id"]
        for _ in range(stage):
            await take_step(work, run_id)
    run, receipt, _, _ = await finish(serving, scripted, run_id)
    assert run["status"] == "completed"
    assert [phase for phase, _ in outcomes(receipt)] == ["candidate", "skill_baseline", "skill_draft", "skill_repair"]
    assert len(providers.calls) == 4
    async with serving() as service:
        assert len((await service.get("/v1/proposals"))["proposals"]) == 1


async def test_a_run_whose_time_ran_out_meanwhile_expires_without_a_further_call(
    serving: Serving, scripted: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    providers, _ = scripted
    async with stepped(serving, scripted, monkeypatch) as work:
        await work.having(add_model, "ember")
        run_id = (await work.service.submit(live_body(max_runtime_s=5)))["execution_id"]
        for _ in range(3):
            await take_step(work, run_id)
        clock = work.service.clock
    await clock.sleep(6)
    async with serving(clock) as service:
        run = await service.finished(run_id)
    assert (run["status"], run["reason"], providers.calls) == ("expired", "runtime_exceeded", [])
