"""Faults drawn by chance, the same ones for the same seed.

What one request may meet on its way, in two hands: faults that end within the wait of a retry, and those that also take
time or a lot of memory.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Sequence
from typing import Final

from tests.support.fault_steps import (
    Answer,
    Bandwidth,
    Cut,
    Doubled,
    Endless,
    Huge,
    Latency,
    Reset,
    Retyped,
    Skewed,
    SlowClose,
    Step,
    deep_json,
    failing,
    html_502,
)

LONG: Final = os.environ.get("RUNWATCH_LONG") == "1"
"""Whether the fault suites run in their long form: the full numbers of the issue, for many minutes."""

Draw = Callable[[random.Random], Step]

DISCONNECTS: Final[Sequence[Draw]] = (
    lambda chance: Reset(), lambda chance: Reset(after="answer"),
    lambda chance: Reset(after="answer", size=chance.randint(1, 400)), lambda chance: Cut(chance.randint(0, 400)),
)  # fmt: skip
"""The ways in which a connection ends too early; each is a network failure for the client."""

LOST_ANSWERS: Final[Sequence[Draw]] = (
    *DISCONNECTS, lambda chance: failing(), lambda chance: failing("internal", 500, commits=True),
    lambda chance: html_502(), lambda chance: html_502(commits=True),
)  # fmt: skip
"""What leaves a write unknown and is asked again: connections that end, 5XX of the service and of a proxy."""

BAD_ANSWERS: Final[Sequence[Draw]] = (
    lambda chance: Doubled(), lambda chance: Doubled(chance.randint(1, 60)), lambda chance: Retyped("text/html"),
    lambda chance: Answer(200, b"<!doctype html><p>Sign in", content_type="text/html"),
    lambda chance: Answer(302, headers=(("Location", "http://127.0.0.1:9/"),)),
    lambda chance: Skewed(chance.choice((-86_400.0, -90.0, 90.0, 86_400.0))),
)  # fmt: skip
"""Answers that come whole and are wrong."""

SLOW_ANSWERS: Final[Sequence[Draw]] = (
    lambda chance: Latency(0.05, jitter=0.5, seed=chance.randrange(1 << 16)),
    lambda chance: Bandwidth(bytes_per_s=20_000, piece=512),
    lambda chance: SlowClose(0.3),
)
"""Answers that take their time."""

HEAVY_ANSWERS: Final[Sequence[Draw]] = (
    lambda chance: deep_json(),
    lambda chance: Huge(50_000_000, declared=chance.random() < 0.5),
    lambda chance: Endless(),
)
"""Answers that cost the client much: too deep, 50 MB, and endless."""


def draw(chance: random.Random, *hands: Sequence[Draw]) -> Step:
    """One fault of these, each equally likely."""
    return chance.choice([one for hand in hands for one in hand])(chance)
