"""Sums of costs of which a part is not known: what a service of this project says beside them.

The interface has numbers alone for costs. Where nobody said what a provider call cost, the number is the known part of
the sum and the member ``unknown_calls`` beside it counts those calls. It is not in the specification.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Context, Decimal
from functools import reduce
from typing import Any, Final

# Sums of amounts that differ by less than this many digits are exact.
_EXACT: Final = Context(prec=100)


def sum_amounts(amounts: Iterable[Decimal]) -> Decimal:
    """The sum of some amounts, with every digit."""
    return reduce(_EXACT.add, amounts, Decimal(0))


def unknown_calls(holder: Mapping[str, Any]) -> int:
    """How many provider calls of a receipt's slice, of an attempt or of a sum have no known cost.

    Receipts of version 0.1.0 have no such count. Their attempts of unknown cost say 0 dollars without a pricing basis,
    and that the usage is not known.
    """
    attempts = holder.get("attempts")
    if isinstance(attempts, list) and attempts:
        return sum(unknown_calls(attempt) for attempt in attempts if isinstance(attempt, Mapping))
    cost = holder.get("cost")
    if isinstance(cost, Mapping) and cost:
        return unknown_calls(cost)
    count = holder.get("unknown_calls")
    if isinstance(count, int) and not isinstance(count, bool):
        return max(count, 0)
    if holder.get("pricing_basis") is not None:
        return 0
    return int("usd" in holder and (holder["usd"] is None or holder.get("usage") == "unknown"))


AMOUNTS: Final = frozenset({"usd", "spend_usd", "passthrough_usd"})
"""Members that may lack calls of unknown cost; the platform's fees are always known."""


def is_partial(holder: object, name: str | int) -> bool:
    """Whether a member of an object is an amount that lacks calls of unknown cost."""
    if name not in AMOUNTS or not isinstance(holder, Mapping):
        return False
    count = holder.get("unknown_calls")
    return isinstance(count, int) and count > 0
