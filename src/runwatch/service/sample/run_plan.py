"""Schedule of past runs: pure, and the same for the same seed."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from random import Random
from typing import Final, NamedTuple

from runwatch.service.sample.run_kinds import INCIDENT, RunKind

DAYS: Final = 30

SETUP: Final = timedelta(days=1)
"""How long before the first day the organization was set up."""

MARGIN: Final = timedelta(minutes=30)
"""How long before now the last run starts; it takes a few minutes at most."""

_HOURS: Final = (6.0, 21.0, 13.0)
"""First, last and busiest hour of a working day."""


class PlannedRun(NamedTuple):
    """A run of the past."""

    at: datetime
    work: RunKind


def plan_runs(works: Sequence[RunKind], count: int, now: datetime, chance: Random) -> list[PlannedRun]:
    """Plan runs within the last :data:`DAYS` days, oldest first: the minimum of each kind, the rest by weight.

    If ``count`` is below the sum of the minimums, the last kinds are left out.

    Args:
        works: The kinds.
        now: End of the past.
        chance: Source of random choices.
    """
    needed = [work for work in works for _ in range(work.least)][:count]
    others = chance.choices(works, [work.weight for work in works], k=count - len(needed))
    chosen = [*needed, *others]
    chance.shuffle(chosen)
    moments = sorted(_moment(now, chance) for _ in chosen)
    return [PlannedRun(at, work) for at, work in zip(moments, chosen, strict=True)]


def plan_incident(works: Sequence[RunKind], count: int, now: datetime) -> list[PlannedRun]:
    """Plan the runs of :data:`~runwatch.service.sample.run_kinds.INCIDENT`, if the total leaves room for them.

    Args:
        works: The kinds whose minimums must fit as well.
        count: Total number of runs.
        now: End of the past.
    """
    if count < len(INCIDENT) + sum(work.least for work in works):
        return []
    return [PlannedRun(now - timedelta(minutes=minutes), work) for minutes, work in INCIDENT]


def _moment(now: datetime, chance: Random) -> datetime:
    while True:
        day = (now - timedelta(days=chance.randrange(DAYS))).replace(hour=0, minute=0, second=0, microsecond=0)
        at = day + timedelta(hours=chance.triangular(*_HOURS))
        if now - timedelta(days=DAYS) < at < now - MARGIN:
            return at
