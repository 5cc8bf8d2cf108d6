"""Sum the verdicts of output checks from receipts, without side effects (manual: interface, "Evaluation summary and
compliance export").

One row of the trend is one day, one check and one activity. A slice whose receipt lists ``verification_checks`` counts
by them; a slice checked only by the platform (a test run, or the baseline) counts by its recorded check. The
specification names the members; their definitions are this service's:

* ``attempted_checks`` are all checks, ``technical_failures`` those without a verdict;
* ``valid_customer_verdicts`` are verdicts of the organization's own checks, and ``coverage`` their share of the
  attempts; it is ``null`` for checks of the platform;
* ``total`` are verdicts that say correct or incorrect, ``passed`` those that say correct, and ``pass_rate`` is their
  share;
* ``mean_quality_score`` covers the verdicts that have a score.

Shares have four decimals. A check counts on the day its run became final, because a receipt does not date it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final, NamedTuple

from runwatch.service.amounts import amount_of, numeral, sum_amounts
from runwatch.service.organization.usage import day_of, slices_of

_CUSTOMER: Final = "customer"
_PLACES: Final = Decimal("0.0001")
_PLATFORM: Final[Mapping[str, str]] = {"platform_test": "platform_echo", "baseline": "platform_baseline"}
"""Activities by the states of a ``recorded_check`` that the platform wrote."""


class _Group(NamedTuple):
    day: str
    verifier_id: str | None
    activity: str


@dataclass(slots=True)
class _Sums:
    attempted: int = 0
    failures: int = 0
    verdicts: int = 0
    total: int = 0
    passed: int = 0
    scored: int = 0
    score: Decimal = Decimal(0)

    def add(self, check: Mapping[str, Any]) -> None:
        self.attempted += 1
        if check.get("outcome") != "valid_verdict":
            self.failures += 1
            return
        self.verdicts += 1
        if isinstance(check.get("is_correct"), bool):
            self.total += 1
            self.passed += check["is_correct"]
        if check.get("quality_score") is not None:
            self.scored += 1
            self.score = sum_amounts((self.score, amount_of(check["quality_score"])))


def trend(receipts: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the ``pass_rate_trend``, earliest day first."""
    groups: defaultdict[_Group, _Sums] = defaultdict(_Sums)
    for receipt in receipts:
        for part in slices_of(receipt):
            for check in _checks_of(part):
                verifier_id, activity = check.get("verifier_id"), check.get("activity") or "unknown"
                groups[_Group(day_of(receipt), verifier_id, activity)].add(check)
    ordered = sorted(groups, key=lambda group: (group.day, group.verifier_id or "", group.activity))
    return [_group_json(group, groups[group]) for group in ordered]


def _checks_of(part: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    listed = part.get("verification_checks")
    if listed:
        yield from (check for check in listed if isinstance(check, dict))
        return
    recorded = part.get("recorded_check") or {}
    activity = _PLATFORM.get(recorded.get("state", ""))
    if activity is not None:
        said = part.get("verifier") or {}
        yield {
            "verifier_id": said.get("verifier_id"),
            "activity": activity,
            "outcome": "valid_verdict",
            "is_correct": said.get("is_correct"),
            "quality_score": said.get("quality_score"),
        }


def _group_json(group: _Group, sums: _Sums) -> dict[str, Any]:
    is_customer = group.activity == _CUSTOMER
    return {
        "day": group.day,
        "verifier_id": group.verifier_id,
        "activity": group.activity,
        "attempted_checks": sums.attempted,
        "valid_customer_verdicts": sums.verdicts if is_customer else 0,
        "technical_failures": sums.failures,
        "coverage": _share(Decimal(sums.verdicts), sums.attempted) if is_customer else None,
        "total": sums.total,
        "passed": sums.passed,
        "pass_rate": _share(Decimal(sums.passed), sums.total),
        "mean_quality_score": _share(sums.score, sums.scored),
    }


def _share(part: Decimal, whole: int) -> object:
    return numeral((part / whole).quantize(_PLACES).normalize()) if whole else None
