"""Storms of 429 over a session at work, in simulated minutes: nothing is sent inside a window, and all goes
on.

The session is the console's, with its client, gate, scheduler and tails; the service is met over real sockets.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any, Final

import pytest

from tests.store.live_service import LimitedService, Ticking, watching
from tests.support.builders import account, run
from tests.support.fault_mix import LONG
from tests.support.scripted import Heard, Said

RUNS: Final = [f"ex_{number:04}" for number in range(20)]
MANY: Final = 200 if LONG else 12
CALM_S: Final = 11 * 60.0
"""A little more than the quiet minutes that give the assumed limit back, a tenth of the published one each."""

BEHIND_S: Final = 15.0


class StormyService(LimitedService):
    """A service that now and then answers 429, several times in a row.

    Attributes:
        windows: When each 429 came and when its wait was over.
    """

    def __init__(self, chance: random.Random, **given: Any) -> None:
        super().__init__(**given)
        self.windows: list[tuple[float, float]] = []
        self.left = 0
        self._chance = chance

    def _answer(self, heard: Heard) -> Said:
        if self.left:
            self.left -= 1
            self.holds_for_s = self._chance.choice((1, 5, 20, 60))
            now = self.clock.monotonic()
            self.windows.append((now, now + self.holds_for_s))
        return super()._answer(heard)


@pytest.mark.exhaustive
@pytest.mark.parametrize(("seed", "storms"), [(1, 4), (1, MANY), (2, MANY)])
async def test_nothing_is_sent_inside_a_429_and_every_event_comes_when_the_storms_are_over(
    tmp_path: Path, seed: int, storms: int
) -> None:
    print(f"seed {seed}")
    chance, ticking = random.Random(seed), Ticking(RUNS[0])
    service = StormyService(
        chance, clock=ticking.clock, runs=[run(run_id) for run_id in RUNS], events=ticking,
        account=account(quota={"rate_limit_rpm": 60}),
    )  # fmt: skip
    async with watching(service, tmp_path) as watch:
        for run_id in RUNS[:3]:
            watch.session.live.tails.follow(run_id, "test")
        for _ in range(storms):
            service.left = chance.choice((1, 1, 2, 5))
            while service.left:
                await watch.let_pass(1)
            await watch.let_pass(chance.uniform(0, 90))
        await watch.let_pass(CALM_S)
        assert watch.session.live.hold_s == 0
        assert watch.session.live.tails.last_update(RUNS[0]).count >= ticking.count - BEHIND_S
    inside = [
        (sent, began, over) for sent in service.times for began, over in service.windows if began < sent < over - 1e-6
    ]
    assert inside == []
    assert len(service.windows) >= storms
    assert service.times[-1] > service.windows[-1][1]
    print(f"{len(service.windows)} 429 in {len(service.times)} requests: 0 inside a window")
