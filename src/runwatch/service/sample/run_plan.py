"""When the runs of the past happened: pure, the same for the same seed."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from random import Random
from typing import Final, NamedTuple

from runwatch.service.sample.run_kinds import INCIDENT, RunKind

DAYS: Final = 30
"""How many days the runs are spread over."""

SETUP: Final = timedelta(days=1)
"""How long before the first day the organization was set up."""

MARGIN: Final = timedelta(minutes=30)
"""How long before now the last run begins; it takes a few minutes at most."""

_HOURS: Final = (6.0, 21.0, 13.0)
"""The first and the last hour of a working day, and the busiest."""


class PlannedRun(NamedTuple):
    """A run of the past."""

    at: datetime
    work: RunKind


def plan_runs(works: Sequence[RunKind], count: int, now: datetime, chance: Random) -> list[PlannedRun]:
    """So many runs within the last :data:`DAYS` days, oldest first: the least of each kind, the rest by weight.

    With fewer than the kinds need the last of them are left out.

    Args:
        works: The kinds.
        count: How many runs.
        now: When the past ends.
        chance: Chooses.
    """
    needed = [work for work in works for _ in range(work.least)][:count]
    others = chance.choices(works, [work.weight for work in works], k=count - len(needed))
    chosen = [*needed, *others]
    chance.shuffle(chosen)
    moments = sorted(_moment(now, chance) for _ in chosen)
    return [PlannedRun(at, work) for at, work in zip(moments, chosen, strict=True)]


def plan_incident(works: Sequence[RunKind], count: int, now: datetime) -> list[PlannedRun]:
    """The runs of :data:`~runwatch.service.sample.run_kinds.INCIDENT`, where there is room for them beside the past.

    Args:
        works: The kinds that the past needs the least of.
        count: How many runs there are in all.
        now: When the past ends.
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
