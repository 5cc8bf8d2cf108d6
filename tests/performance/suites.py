"""The suites of measurements by name, in the order of their table."""

from __future__ import annotations

from collections.abc import Callable

from tests.performance import (
    big_lists,
    console,
    event_log,
    first_paint,
    floods,
    following,
    idle,
    limited,
    local_service,
    long_lists,
    read_side,
    soak,
    submits,
    tables,
    team_service,
    team_trial,
    wire,
)
from tests.performance.measure import Figure

SUITES: dict[str, Callable[[], list[Figure]]] = {
    "read-side": read_side.figures, "event-log": event_log.figures, "tables": tables.figures,
    "first-paint": first_paint.figures, "console": console.figures, "big-lists": big_lists.figures,
    "following": following.figures, "idle": idle.figures, "limited": limited.figures, "wire": wire.figures,
    "local-service": local_service.figures, "submits": submits.figures, "floods": floods.figures,
    "long-lists": long_lists.figures, "soak": soak.figures,
}  # fmt: skip
BY_NAME: dict[str, Callable[[], list[Figure]]] = {
    "team-service": team_service.figures,
    "team-trial": team_trial.figures,
}
"""Suites that are taken only when they are named, because they are long or need PostgreSQL."""

BESIDE: dict[str, tuple[str, ...]] = {
    "following": ("wire", "soak", "big-lists", "tables", "first-paint"),
    "idle": ("limited",),
}
"""Suites that run one after another beside a long suite, which mostly waits and needs half a core.

A busy neighbour does not change what they count. They take times in turns with what they compare, and the wait for a
core is no part of the time of a callback.
"""


def figures_of(name: str) -> list[Figure]:
    """Measure a suite, and return its figures."""
    return {**SUITES, **BY_NAME}[name]()
