"""The demo's own customer: submits test runs for as long as somebody looks, and lets some of them not succeed."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from typing import Any, Final

from runwatch.api.errors import ApiError
from runwatch.base.json import dumps_body
from runwatch.records.run import Run
from runwatch.store.desk import Desk
from runwatch.store.outbox import Order

EVERY_S: Final = 4.0
"""Seconds between two runs."""

AT_ONCE: Final = 2
"""So many runs are submitted at once in the beginning, because an empty screen shows nothing."""


@dataclass(frozen=True, slots=True)
class Errand:
    """One run of the demo.

    Attributes:
        objective: What it is to do.
        data_class: The data class it may touch.
        max_cost_usd: Its cost cap.
        max_runtime_s: Its runtime cap; one of a few seconds expires it.
        cancel_after_s: When it is cancelled; ``None`` for never.
    """

    objective: str
    data_class: str = "public"
    max_cost_usd: float = 0.25
    max_runtime_s: int = 60
    cancel_after_s: float | None = None

    def request(self) -> dict[str, Any]:
        """The request; a test run calls no model and costs nothing."""
        budget = {"max_cost_usd": self.max_cost_usd, "max_runtime_s": self.max_runtime_s}
        return {
            "mode": "echo",
            "task": {"objective": self.objective},
            "policy": {"data_classes": [self.data_class], "budget": budget},
        }


ERRANDS: Final = (
    Errand("Summarise the release notes in five bullets"),
    Errand("Sort yesterday's support mails by topic", "tenant_internal", 1.0, 120),
    Errand("Translate the onboarding page into Dutch", max_cost_usd=0.5, cancel_after_s=2.5),
    Errand("Draft an answer to the oldest open ticket", "tenant_internal"),
    Errand("Check the price list for wrong currencies", "sandbox", 0.1, 4),
    Errand("Extract the dates from the meeting notes"),
    Errand("Compare two versions of the returns policy", "sandbox", 0.4, 90),
)
"""What the runs are about, one after another, over and over: mostly completed, one cancelled, one expired."""


async def keep_runs_moving(desk: Desk) -> None:
    """Submit one run after another until cancelled; what the service refuses is among the problems then."""
    for number in count():
        errand = ERRANDS[number % len(ERRANDS)]
        left = 0.0 if number < AT_ONCE - 1 else EVERY_S
        with suppress(ApiError):
            run_id = await _submit(desk, errand.request())
            if errand.cancel_after_s is not None:
                await desk.clock.sleep(errand.cancel_after_s)
                left = max(0.0, left - errand.cancel_after_s)
                await _cancel(desk, run_id)
        await desk.clock.sleep(left)


async def _submit(desk: Desk, request: Mapping[str, Any]) -> str:
    order = Order("postExecutions", {}, dumps_body(request), str(uuid.uuid4()), "demo")
    answer = await desk.act(order, _patient)
    desk.live.refresh(Run)
    return Run(answer.value).id if isinstance(answer.value, dict) else ""


async def _cancel(desk: Desk, run_id: str) -> None:
    order = Order("postExecutionsByExecutionIdCancel", {"execution_id": run_id}, None, str(uuid.uuid4()), "demo")
    await desk.act(order, _patient)
    desk.live.refresh(Run)


def _patient(_: float) -> None:
    """Nobody needs to be told that the demo waits."""
