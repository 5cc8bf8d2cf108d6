"""Calls that the program makes in another way: it submits through the outbox, and follows runs in the store."""

from __future__ import annotations

from collections.abc import AsyncIterator

from runwatch.api.client import Client
from runwatch.api.run_follower import RunFollower
from runwatch.api.run_tail import EndStep, PauseStep, RunTail
from runwatch.records.event import RunEvent
from runwatch.records.run import Run


async def submit_run(client: Client, body: bytes, *, key: str) -> Run:
    value = (await client.request("postExecutions", body=body, key=key)).value
    assert isinstance(value, dict)
    return Run(value)


async def cancel_run(client: Client, run_id: str, *, key: str) -> Run:
    path = {"execution_id": run_id}
    value = (await client.request("postExecutionsByExecutionIdCancel", path=path, key=key)).value
    assert isinstance(value, dict)
    return Run(value)


async def follow(client: Client, run_id: str, *, after: str | None = None) -> AsyncIterator[RunEvent]:
    """Yield the events of a run as they happen, each once, until the run has ended."""
    follower = RunFollower(client, run_id, RunTail(after))
    while not isinstance(step := await follower.step(), EndStep):
        if isinstance(step, PauseStep):
            await client._clock.sleep(step.seconds)
            continue
        for event in step.new:
            yield event
