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
    tables,
    team_trial,
    wire,
)
from tests.performance.measure import Figure

SUITES: dict[str, Callable[[], list[Figure]]] = {
    "read-side": read_side.figures,
    "event-log": event_log.figures,
    "tables": tables.figures,
    "first-paint": first_paint.figures,
    "console": console.figures,
    "big-lists": big_lists.figures,
    "following": following.figures,
    "idle": idle.figures,
    "limited": limited.figures,
    "wire": wire.figures,
    "local-service": local_service.figures,
    "floods": floods.figures,
    "long-lists": long_lists.figures,
    "soak": soak.figures,
}
BY_NAME: dict[str, Callable[[], list[Figure]]] = {
    "team-trial": team_trial.figures,
}
"""Suites that are taken only when they are named, because they are long or need PostgreSQL."""

BESIDE: dict[str, tuple[str, ...]] = {
    "following": ("wire", "soak", "big-lists", "tables", "first-paint"),
    "idle": ("limited",),
}
"""Suites that are taken one after the other while a long one waits most of its time, for which half a core is enough.

What they count, a neighbour does not change; times are taken in turns with what they stand beside, and the wait for a
core is no part of how long a callback takes.
"""


def figures_of(name: str) -> list[Figure]:
    """What a suite measures now."""
    return {**SUITES, **BY_NAME}[name]()
