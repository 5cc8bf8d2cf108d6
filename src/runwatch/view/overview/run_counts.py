"""Count live and ended runs for the overview."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from heapq import nsmallest
from typing import Final

from runwatch.records.check import BASELINE_VERIFIER
from runwatch.records.states import UNWANTED_STATES
from runwatch.view.runs.decision_packet import end_reason
from runwatch.view.runs.run_facts import RunFacts
from runwatch.view.text.member_format import newest_first_key

HOUR: Final = timedelta(hours=1)
QUARTER: Final = timedelta(minutes=15)

NEWEST: Final = 40
"""How many of the newest runs are kept; a window has room for fewer."""


@dataclass(frozen=True, slots=True)
class EndedRun:
    """A run that has ended, with the option that was selected. Unknown values and empty texts are ``None``, as for
    ``has:`` in filters.
    """

    id: str
    at: datetime
    status: str
    is_test: bool = False
    reason: str | None = None
    provider: str | None = None
    connection: str | None = None
    model: str | None = None
    arm: str | None = None
    check: str | None = None

    @property
    def is_bad(self) -> bool:
        return self.status in UNWANTED_STATES


@dataclass(frozen=True, slots=True)
class RunCounts:
    """All known runs: live ones in the order of the list, ended ones with the latest end first, the creation times of
    those with an unknown end and of the oldest run, and some of the newest, live ones first.
    """

    live: tuple[RunFacts, ...] = ()
    ended: tuple[EndedRun, ...] = ()
    untimed: tuple[datetime, ...] = ()
    oldest: datetime | None = None
    newest: tuple[RunFacts, ...] = ()

    def ended_within(self, span: timedelta, now: datetime) -> Sequence[EndedRun]:
        """Return runs that ended within a duration, as with the filter ``ended<1h``, latest first."""
        end = next((number for number, run in enumerate(self.ended) if now - run.at >= span), len(self.ended))
        return self.ended[:end]

    def untimed_within(self, span: timedelta, now: datetime) -> int:
        """Return the number of runs with an unknown end that must have ended within a duration, because they are no
        older.

        Older ones may also have ended in that time.
        """
        return sum(now - created < span for created in self.untimed)

    def reaches_back(self, span: timedelta, now: datetime) -> bool:
        """Whether the oldest known run is older than a duration, so no newer one can be missing from the list."""
        return self.oldest is not None and now - self.oldest >= span


def count_runs(runs: Iterable[RunFacts]) -> RunCounts:
    runs = list(runs)
    live: list[RunFacts] = []
    ended: list[EndedRun] = []
    untimed: list[datetime] = []
    oldest: datetime | None = None
    for run in runs:
        created = run.run.created_at
        if created is not None and (oldest is None or created < oldest):
            oldest = created
        if not run.is_final:
            live.append(run)
            continue
        found = _ended(run)
        if found is not None:
            ended.append(found)
        elif created is not None:
            untimed.append(created)
    ended.sort(key=lambda run: run.at, reverse=True)
    newest = nsmallest(NEWEST, runs, key=_list_order)
    return RunCounts(tuple(live), tuple(ended), tuple(untimed), oldest, tuple(newest))


def _list_order(run: RunFacts) -> tuple[bool, float]:
    return run.is_final, newest_first_key(run.run.created_at) or 0.0


def _ended(run: RunFacts) -> EndedRun | None:
    at, status, check = run.ended_at.value, run.status, run.verifier_id.value
    if at is None or status is None:
        return None
    return EndedRun(
        run.id,
        at,
        status,
        is_test=run.is_test,
        reason=end_reason(run.reason.value or None, run.packet.value),
        provider=run.provider.value or None,
        connection=run.connection_id.value or None,
        model=run.model.value or None,
        arm=run.arm_id.value or None,
        check=None if check == BASELINE_VERIFIER else check or None,
    )
