"""The demo's runs: a steady trickle of valid ones, some cancelled, some too short, whatever the service answers."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from runwatch.records.requests import RunRequest
from runwatch.tui import demo
from runwatch.tui.start import DEMO_PACE
from tests.support.builders import account, problem
from tests.support.scripted import Said, ScriptedService
from tests.tui.console import Driven, console


@pytest.fixture
def service() -> ScriptedService:
    return ScriptedService(account=account())


@contextlib.asynccontextmanager
async def moving(driven: Driven) -> AsyncIterator[None]:
    """The demo's customer at work while the block runs."""
    task = asyncio.create_task(demo.keep_runs_moving(driven.desk))
    try:
        yield
        assert not task.done(), "it goes on for ever"
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def submitted(service: ScriptedService) -> list[dict[str, Any]]:
    return [json.loads(heard.body) for heard in service.requests("POST", "/v1/executions")]


async def submitting(driven: Driven, count: int) -> None:
    """Let time go by until so many runs were submitted."""
    while len(submitted(driven.service)) < count:
        await driven.until(lambda: driven.clock.next_wake_s is not None, "somebody to wait")
        await driven.pass_time(1.0)


async def test_runs_of_every_kind_are_submitted_one_after_another(service: ScriptedService, tmp_path: Path) -> None:
    async with console(service, tmp_path) as driven, moving(driven):
        await submitting(driven, len(demo.ERRANDS) + 2)
        bodies = submitted(service)
        for body in bodies:
            assert RunRequest.model_validate(body).mode == "echo"
        assert [body["task"]["objective"] for body in bodies[: len(demo.ERRANDS)]] == [
            errand.objective for errand in demo.ERRANDS
        ]
        keys = [heard.head.header("idempotency-key") for heard in service.requests("POST")]
        assert len(set(keys)) == len(keys)
        cancelled = service.requests("POST", "/v1/executions/[^/]+/cancel")
        assert len(cancelled) == 1


async def test_two_runs_are_there_at_once_and_then_they_trickle(service: ScriptedService, tmp_path: Path) -> None:
    async with console(service, tmp_path) as driven, moving(driven):
        await driven.until(lambda: len(submitted(service)) == demo.AT_ONCE, "the first runs")
        await driven.pass_time(demo.EVERY_S - 0.5)
        assert len(submitted(service)) == demo.AT_ONCE
        await driven.pass_time(1)
        await driven.until(lambda: len(submitted(service)) == demo.AT_ONCE + 1, "one more run")


async def test_a_service_that_refuses_does_not_end_the_trickle(service: ScriptedService, tmp_path: Path) -> None:
    service.say("POST", "/v1/executions", Said(402, problem("insufficient_credit")))
    async with console(service, tmp_path) as driven, moving(driven):
        await submitting(driven, 4)
        await driven.press("0")
        await driven.shows("✗ insufficient_credit")


def test_some_runs_are_too_short_for_their_work_and_the_others_are_not() -> None:
    whole_s = 0.13 * DEMO_PACE
    short = [errand for errand in demo.ERRANDS if errand.max_runtime_s < whole_s]
    cut = [errand for errand in demo.ERRANDS if errand.cancel_after_s is not None]
    assert 0 < len(short) + len(cut) < len(demo.ERRANDS) / 2
    assert all((errand.cancel_after_s or 0) < min(whole_s, demo.EVERY_S) for errand in cut)
