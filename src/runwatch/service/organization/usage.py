"""Sum the usage of runs from their receipts, without side effects (manual: interface, "Usage").

A run counts on the day (UTC) it became final; other runs do not count yet. ``passthrough_usd`` is the cost of models,
``platform_usd`` the platform's fees, ``usd`` both. Tokens and costs count for the arm whose call used them, as listed
in the receipt's ``attempts``; a slice without that list counts whole for its selected arm. The specification names the
members; these rules, and the limit of five ``top_arms`` per key, are this service's choice.

Amounts and token counts are the known part of a sum; :mod:`runwatch.records.spend` describes the members beside them.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Final

from runwatch.records.spend import estimated_calls, unknown_calls, unknown_token_calls
from runwatch.service.amounts import amount_of, numeral, sum_amounts

_OF_ARM: Final = (
    "selected_count fallback_count input_tokens output_tokens usd unknown_calls unknown_token_calls estimated_calls"
)
_OF_DAY: Final = "executions platform_usd passthrough_usd usd unknown_calls estimated_calls"
_OF_KEY: Final = (
    "executions slices input_tokens output_tokens calls usd unknown_calls unknown_token_calls estimated_calls"
)

TOP_ARMS: Final = 5


@dataclass(slots=True)
class _CallSums:
    """Tokens of some calls, and how many calls did not report what."""

    input_tokens: int = 0
    output_tokens: int = 0
    unknown_calls: int = 0
    unknown_token_calls: int = 0
    estimated_calls: int = 0

    def add_calls(self, part: Mapping[str, Any], cost: Mapping[str, Any]) -> None:
        self.input_tokens += _count(cost, "input_tokens")
        self.output_tokens += _count(cost, "output_tokens")
        self.unknown_calls += unknown_calls(part)
        self.unknown_token_calls += unknown_token_calls(part)
        self.estimated_calls += estimated_calls(part)


@dataclass(slots=True)
class Sums(_CallSums):
    """Usage of some runs: the ``totals`` of a usage report."""

    executions: int = 0
    slices: int = 0
    calls: int = 0
    platform_usd: Decimal = Decimal(0)
    passthrough_usd: Decimal = Decimal(0)

    @property
    def usd(self) -> Decimal:
        return sum_amounts((self.platform_usd, self.passthrough_usd))

    def add(self, receipt: Mapping[str, Any]) -> None:
        self.executions += 1
        for part in slices_of(receipt):
            self.slices += 1
            cost = _object(part, "cost")
            self.calls += _count(cost, "calls")
            self.add_calls(part, cost)
        totals = _object(receipt, "totals")
        self.platform_usd = sum_amounts((self.platform_usd, amount_of(totals.get("platform_fee_usd"))))
        self.passthrough_usd = sum_amounts((self.passthrough_usd, amount_of(totals.get("usd"))))

    def to_json(self) -> dict[str, Any]:
        return _sums_json(
            self,
            "executions slices input_tokens output_tokens calls usd platform_usd passthrough_usd unknown_calls "
            "unknown_token_calls estimated_calls",
        )


@dataclass(slots=True)
class _ArmSums(_CallSums):
    """How often one arm was selected, and the usage of its calls."""

    selected_count: int = 0
    fallback_count: int = 0
    usd: Decimal = Decimal(0)

    def select(self, part: Mapping[str, Any]) -> None:
        self.selected_count += 1
        self.fallback_count += _object(part, "route").get("fallback_used") is True

    def add(self, cost: Mapping[str, Any]) -> None:
        self.usd = sum_amounts((self.usd, amount_of(cost.get("usd"))))
        self.add_calls(cost, cost)


@dataclass(slots=True)
class _KeySums:
    sums: Sums = field(default_factory=Sums)
    days: defaultdict[str, Sums] = field(default_factory=lambda: defaultdict(Sums))
    arms: Counter[str] = field(default_factory=Counter)


def report(receipts: Iterable[tuple[Mapping[str, Any], str | None]]) -> dict[str, Any]:
    """Build a usage report without its period.

    Args:
        receipts: Decoded receipts, each with the key that submitted its run; a run without one counts for no key.
    """
    whole = Sums()
    days: defaultdict[str, Sums] = defaultdict(Sums)
    arms: defaultdict[str, _ArmSums] = defaultdict(_ArmSums)
    keys: defaultdict[str, _KeySums] = defaultdict(_KeySums)
    for receipt, owner in receipts:
        day = day_of(receipt)
        whole.add(receipt)
        days[day].add(receipt)
        for arm_id, part in _selections(receipt):
            arms[arm_id].select(part)
        for arm_id, cost in _costs(receipt):
            arms[arm_id].add(cost)
        if owner is not None:
            keys[owner].sums.add(receipt)
            keys[owner].days[day].add(receipt)
            keys[owner].arms.update(arm_id for arm_id, _ in _selections(receipt))
    return {
        "totals": whole.to_json(),
        "by_arm": [{"arm_id": arm_id, **_sums_json(arms[arm_id], _OF_ARM)} for arm_id in sorted(arms)],
        "by_day": [{"date": day, **_sums_json(days[day], _OF_DAY)} for day in sorted(days)],
        "by_key": [_key_json(key_id, keys[key_id]) for key_id in sorted(keys)],
    }


def day_of(receipt: Mapping[str, Any]) -> str:
    """Return the day in UTC on which a run became final, ``YYYY-MM-DD``."""
    return str(receipt["completed_at"])[:10]


def slices_of(receipt: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [part for part in receipt.get("slices") or () if isinstance(part, dict)]


def _selections(receipt: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each slice that selected an arm, with that arm."""
    for part in slices_of(receipt):
        arm_id = _object(_object(part, "route"), "selected").get("arm_id")
        if isinstance(arm_id, str):
            yield arm_id, part


def _costs(receipt: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the usage of each call with the arm that was called."""
    for part in slices_of(receipt):
        yield from ((attempt["arm_id"], attempt) for attempt in part.get("attempts") or ())
    for arm_id, part in _selections(receipt):
        if not part.get("attempts"):
            yield arm_id, _object(part, "cost")


def _sums_json(sums: Sums | _ArmSums, names: str) -> dict[str, Any]:
    """Build the JSON of some sums, by their names with spaces between them."""
    values = {name: getattr(sums, name) for name in names.split()}
    return {name: numeral(value) if isinstance(value, Decimal) else value for name, value in values.items()}


def _key_json(key_id: str, key: _KeySums) -> dict[str, Any]:
    # Most used first, ties by id, so that the order is deterministic.
    top = sorted(key.arms.items(), key=lambda item: (-item[1], item[0]))[:TOP_ARMS]
    return {
        "api_key_id": key_id,
        **_sums_json(key.sums, _OF_KEY),
        "by_day": [
            {"date": day, **_sums_json(sums, "usd unknown_calls estimated_calls")}
            for day, sums in sorted(key.days.items())
        ],
        "top_arms": [{"arm_id": arm_id, "selected_count": count} for arm_id, count in top],
    }


def _object(holder: Mapping[str, Any], name: str) -> dict[str, Any]:
    value = holder.get(name)
    return value if isinstance(value, dict) else {}


def _count(holder: Mapping[str, Any], name: str) -> int:
    value = holder.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) else 0
