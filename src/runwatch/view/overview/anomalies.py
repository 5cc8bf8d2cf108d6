"""Anomalies among recently ended runs: a provider, model, saved model, connection, check or reason that fails often.

The rule is not in the specification. It uses runs that completed, failed or expired in the last hour; cancelled runs
ended on request, and test runs call no provider. A value of one of the :data:`DIMENSIONS` is an anomaly if

* from some time on, at least half of its runs and at least :data:`MIN_FAILURES` of them failed or expired; the earliest
  such time is its "since", and both numbers are counted from there;
* it is not over: one of its last :data:`STILL` runs is among the bad ones;
* runs without this value did better: their bad share in the same period is at most half of its own.

A reason, which only failed and expired runs have, is an anomaly by the same rule among these runs, if the bad runs with
it are also at least a tenth of all runs that ended in the period. If there is no anomaly, all runs together are one if
half of them failed. An anomaly whose runs are all covered by anomalies above it is left out, so a provider with one
model is named once. Order: values before reasons, then largest share, then most runs, then the order of the dimensions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from typing import Final

from runwatch.view.overview.run_counts import EndedRun

MIN_FAILURES: Final = 3
"""Fewer failures than this are considered chance."""

MIN_SHARE: Final = Fraction(1, 2)

STILL: Final = 3
"""Number of good runs in a row that end an anomaly."""

REST_SHARE: Final = Fraction(1, 2)
"""Maximum bad share of all other runs, relative to the value's own."""

REASON_SHARE: Final = Fraction(1, 10)
"""Minimum share of a reason among all runs that ended."""

DIMENSIONS: Final[tuple[tuple[str, Callable[[EndedRun], str | None]], ...]] = (
    ("provider", lambda run: run.provider),
    ("connection", lambda run: run.connection),
    ("model", lambda run: run.model),
    ("arm", lambda run: run.arm),
    ("check", lambda run: run.check),
)
"""Properties by which runs are grouped, under their names in filters of runs, in order of priority."""

REASON: Final = "reason"
ALL: Final = ""


@dataclass(frozen=True, slots=True)
class Anomaly:
    """An anomaly.

    Attributes:
        dimension: One of the names of :data:`DIMENSIONS`, :data:`REASON`, or :data:`ALL` for all runs together.
        value: The provider, model and so on; empty for all runs.
        bad: Ids of the runs that failed or expired, in order of their ends.
        total: Number of runs from the same time on; for a reason, number of bad runs.
        since: When the first of the bad runs ended.
        status: Their final status, if all have the same.
        reason: Their reason, if more than half have the same.
    """

    dimension: str
    value: str
    bad: tuple[str, ...]
    total: int
    since: datetime
    status: str | None = None
    reason: str | None = None

    @property
    def share(self) -> Fraction:
        return Fraction(len(self.bad), self.total)


def find_anomalies(ended: Iterable[EndedRun]) -> list[Anomaly]:
    """Find anomalies among the runs of the last hour, worst first."""
    runs = sorted((run for run in ended if _counts(run)), key=lambda run: (run.at, run.id))
    found = [finding for name, value_of in DIMENSIONS for finding in _values(runs, name, value_of)]
    found += _reasons(runs)
    ranks = {name: rank for rank, name in enumerate([*(name for name, _ in DIMENSIONS), REASON])}
    found.sort(key=lambda it: (it.dimension == REASON, -it.share, -len(it.bad), ranks[it.dimension], it.value))
    covered: set[str] = set()
    kept: list[Anomaly] = []
    for finding in found:
        if not covered.issuperset(finding.bad):
            covered.update(finding.bad)
            kept.append(finding)
    return kept or _all(runs)


def _counts(run: EndedRun) -> bool:
    return not run.is_test and (run.is_bad or run.status == "completed")


def _values(runs: Sequence[EndedRun], name: str, value_of: Callable[[EndedRun], str | None]) -> list[Anomaly]:
    groups: dict[str, list[EndedRun]] = {}
    for run in runs:
        value = value_of(run)
        if value is not None:
            groups.setdefault(value, []).append(run)
    found = []
    for value, group in groups.items():
        spell = _spell(group, lambda run: run.is_bad)
        if not spell:
            continue
        finding = _finding(name, value, spell)
        rest = [run for run in runs if run.at >= finding.since and value_of(run) != value]
        if _bad_share(rest) <= REST_SHARE * finding.share:
            found.append(finding)
    return found


def _reasons(runs: Sequence[EndedRun]) -> list[Anomaly]:
    bad = [run for run in runs if run.is_bad]
    found = []
    for reason in {run.reason: None for run in bad if run.reason is not None}:
        has_it = _ended_for(reason)
        spell = _spell(bad, has_it)
        if not spell:
            continue
        finding = _finding(REASON, reason, spell, has_it)
        in_all = sum(run.at >= finding.since for run in runs)
        if len(finding.bad) >= REASON_SHARE * in_all:
            found.append(finding)
    return found


def _ended_for(reason: str) -> Callable[[EndedRun], bool]:
    return lambda run: run.reason == reason


def _all(runs: Sequence[EndedRun]) -> list[Anomaly]:
    spell = _spell(runs, lambda run: run.is_bad)
    return [_finding(ALL, "", spell)] if spell else []


def _spell(runs: Sequence[EndedRun], is_hit: Callable[[EndedRun], bool]) -> Sequence[EndedRun]:
    """Return the runs from the earliest hit from which at least half of the runs are hits; empty if it is over.
    ``runs`` are in order of their ends.
    """
    if not any(map(is_hit, runs[-STILL:])):
        return ()
    start, hits = None, 0
    for number, run in enumerate(reversed(runs), start=1):
        if is_hit(run):
            hits += 1
            if hits >= MIN_FAILURES and hits >= MIN_SHARE * number:
                start = len(runs) - number
    return () if start is None else runs[start:]


def _finding(
    dimension: str, value: str, spell: Sequence[EndedRun], is_hit: Callable[[EndedRun], bool] = lambda run: run.is_bad
) -> Anomaly:
    bad = [run for run in spell if is_hit(run)]
    states = {run.status for run in bad}
    reason, count = Counter(run.reason for run in bad).most_common(1)[0]
    return Anomaly(
        dimension,
        value,
        tuple(run.id for run in bad),
        len(spell),
        bad[0].at,
        states.pop() if len(states) == 1 else None,
        reason if 2 * count > len(bad) else None,
    )


def _bad_share(runs: Sequence[EndedRun]) -> Fraction:
    return Fraction(sum(run.is_bad for run in runs), len(runs)) if runs else Fraction(0)
