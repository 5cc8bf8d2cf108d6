"""Two hundred live runs on a service that grants sixty requests a minute and counts them itself.

The service measures ages: from one answer with a status, or with a tail, to the next. Drawing it then takes a fraction
of a second.
"""

from __future__ import annotations

import tempfile
import time
from collections import Counter, deque
from itertools import pairwise
from pathlib import Path
from typing import Final

from tests.performance.measure import Figure
from tests.support.builders import problem
from tests.support.console import console
from tests.support.generator import GeneratedService, RunGenerator
from tests.support.scripted import Heard, Said, running_service

RUNS: Final = 200
LIMIT_RPM: Final = 60
WINDOW_S: Final = 60.0
SECONDS: Final = 85.0
RATE: Final = 200.0
"""Events a second of all runs: a tail always has something new to read."""

TARGET_STATUS_S: Final = 15.0
"""Longest time between two reads of the run list, in seconds (manual: decisions, "Request budget")."""


class LimitedService(GeneratedService):
    """Live runs on a service that refuses requests beyond its limit.

    Attributes:
        answered: Time and request of every answer.
        most: The most requests within a minute so far, refused ones included.
        refused: How many requests were refused.
    """

    def __init__(self) -> None:
        super().__init__(RunGenerator(runs=RUNS, rate=RATE, seconds=4 * SECONDS), rpm=LIMIT_RPM)
        self.answered: list[tuple[float, Heard]] = []
        self.most = 0
        self.refused = 0
        self._minute: deque[float] = deque()

    def _answer(self, heard: Heard) -> Said:
        now = time.monotonic()
        while self._minute and self._minute[0] <= now - WINDOW_S:
            self._minute.popleft()
        self._minute.append(now)
        self.most = max(self.most, len(self._minute))
        if len(self._minute) > LIMIT_RPM:
            self.refused += 1
            return Said(429, problem("rate_limited", retry_after_s=round(self._minute[0] + WINDOW_S - now) + 1))
        self.answered.append((now, heard))
        return super()._answer(heard)

    def ages(self, path: str) -> list[float]:
        """Return the seconds from each answer to the next one for the same path, and from the last one to now.

        Args:
            path: The path asked for; each page of a list counts separately.
        """
        told: dict[str, list[float]] = {}
        for at, heard in list(self.answered):
            if heard.head.path == path:
                told.setdefault(heard.head.query.get("cursor", ""), []).append(at)
        now = time.monotonic()
        return [later - earlier for times in told.values() for earlier, later in pairwise([*times, now])]

    def busiest_tail(self) -> str:
        """Return the path of the events asked for most often: those of the run under the cursor."""
        paths = Counter(heard.head.path for _, heard in list(self.answered) if heard.head.path.endswith("/events"))
        return paths.most_common(1)[0][0]


def figures() -> list[Figure]:
    """Watch for longer than a minute, and judge."""
    with (
        tempfile.TemporaryDirectory() as directory,
        running_service(LimitedService()) as service,
        console(Path(directory), "--open", "runs", base_url=service.base_url) as terminal,
    ):
        assert isinstance(service, LimitedService)
        terminal.wait_for(f"live {RUNS}", SECONDS)
        deadline = time.monotonic() + SECONDS
        terminal.wait_until(lambda: time.monotonic() >= deadline, "the end", SECONDS + WINDOW_S, poll=True)
        status, tail = max(service.ages("/v1/executions")), max(service.ages(service.busiest_tail()))
    return [
        Figure(f"{RUNS} live runs, {LIMIT_RPM} requests a minute granted: the most in any minute",
               f"{service.most}", "", f"≤ {LIMIT_RPM}", service.most <= LIMIT_RPM),
        Figure("… refused as too many", f"{service.refused}", "", "0", service.refused == 0),
        Figure("… the oldest status of a run on the screen", f"{status:.1f} s", "", f"≤ {TARGET_STATUS_S:.0f} s",
               status <= TARGET_STATUS_S),
        Figure("… the tail of the run under the cursor, at its oldest", f"{tail:.1f} s"),
    ]  # fmt: skip
