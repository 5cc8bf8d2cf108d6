"""Runs counted: which are live, and which ended when, how and with what. The overview is made of these. Ours."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from runwatch.view.runs.check_results import BASELINE_VERIFIER
from runwatch.view.runs.run_facts import RunFacts

FAILED_RUN_STATES: Final = frozenset({"failed", "expired"})
"""Final statuses that nobody wanted; what ``is:broken`` keeps of runs. A cancelled run ended as the user wanted it."""

HOUR: Final = timedelta(hours=1)
QUARTER: Final = timedelta(minutes=15)


@dataclass(frozen=True, slots=True)
class EndedRun:
    """A run that has ended. What is not known is ``None``; so is an empty text, as ``has:`` of filters has it.

    Attributes:
        id: Its id.
        at: When it ended.
        status: How: one of the final statuses.
        is_test: Whether it is known to be a test run.
        reason: Why, where something tells it; likewise the following.
        provider: The provider of the option that was selected.
        connection: The id of the connection that this option went over.
        model: Its model.
        arm: The id of the saved model.
        check: The id of the output check that the run went through.
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
        """Whether it failed or expired."""
        return self.status in FAILED_RUN_STATES


@dataclass(frozen=True, slots=True)
class RunCounts:
    """All runs that are known.

    Attributes:
        live: Those that have not ended, in the order of the list.
        ended: Those that have, the newest end first, as far as something tells when.
        untimed: When the others were created; nothing tells when they ended.
        oldest: When the oldest of all was created.
    """

    live: tuple[RunFacts, ...] = ()
    ended: tuple[EndedRun, ...] = ()
    untimed: tuple[datetime, ...] = ()
    oldest: datetime | None = None

    def ended_within(self, span: timedelta, now: datetime) -> Sequence[EndedRun]:
        """Those that ended less than so long ago, as the filter ``ended<1h`` keeps them, the newest first."""
        end = next((number for number, run in enumerate(self.ended) if now - run.at >= span), len(self.ended))
        return self.ended[:end]

    def untimed_within(self, span: timedelta, now: datetime) -> int:
        """How many runs must have ended less than so long ago, because they are no older, although nothing says when.

        An older one may have ended then too; nobody can tell.
        """
        return sum(now - created < span for created in self.untimed)

    def reaches_back(self, span: timedelta, now: datetime) -> bool:
        """Whether the oldest known run is so old that no newer one can be missing from a list that begins with them."""
        return self.oldest is not None and now - self.oldest >= span


def count_runs(runs: Iterable[RunFacts]) -> RunCounts:
    """Count runs."""
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
    return RunCounts(tuple(live), tuple(ended), tuple(untimed), oldest)


def _ended(run: RunFacts) -> EndedRun | None:
    at, status, check = run.ended_at.value, run.status, run.verifier_id.value
    if at is None or status is None:
        return None
    return EndedRun(
        run.id,
        at,
        status,
        is_test=run.is_test,
        reason=run.reason.value or None,
        provider=run.provider.value or None,
        connection=run.connection_id.value or None,
        model=run.model.value or None,
        arm=run.arm_id.value or None,
        check=None if check == BASELINE_VERIFIER else check or None,
    )
