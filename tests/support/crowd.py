"""Many test runs submitted at once to a real service: how long it takes, and what there is in the end."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass

from runwatch.api.client import Client
from runwatch.base.json import encode_body
from runwatch.records.run import Run
from runwatch.records.states import LIVE_STATES
from tests.support.builders import request_body
from tests.support.client_calls import submit_run

PATIENCE_S = 120.0
"""How long all of them may take on a busy machine."""


@dataclass(frozen=True, slots=True)
class Crowd:
    """The results.

    Attributes:
        runs: The runs as they were acknowledged.
        slowest_s: Seconds that the slowest submit took, each on its own.
        accepted_s: Seconds until every run was acknowledged.
        final_s: Seconds until every run was final.
    """

    runs: Sequence[Run]
    slowest_s: float
    accepted_s: float
    final_s: float


async def crowd(client: Client, count: int) -> Crowd:
    """Submit so many test runs at once, and wait until the service has none that is not final.

    Raises:
        TimeoutError: it takes longer than two minutes.
    """
    body = encode_body(request_body())

    async def submit() -> tuple[Run, float]:
        began = time.perf_counter()
        return await submit_run(client, body, key=str(uuid.uuid4())), time.perf_counter() - began

    start = time.perf_counter()
    async with asyncio.timeout(PATIENCE_S):
        submitted = await asyncio.gather(*(submit() for _ in range(count)))
        accepted_s = time.perf_counter() - start
        # Each look is a call of the service, so that looking gives way to everybody else.
        while any([await _has(client, state) for state in sorted(LIVE_STATES)]):
            pass
        final_s = time.perf_counter() - start
    return Crowd([run for run, _ in submitted], max(seconds for _, seconds in submitted), accepted_s, final_s)


async def _has(client: Client, state: str) -> bool:
    return bool((await client.page("getExecutions", query={"status": state, "limit": 1})).records)
