"""Sums of costs of which a part is not known: what a service of this project says beside them.

The interface has numbers alone for costs and tokens. Where nobody said what a provider call cost, the number is the
known part of the sum and the member ``unknown_calls`` beside it counts those calls. Likewise ``unknown_token_calls``
counts those that did not report their tokens, and ``estimated_calls`` those whose cost rests on a guess. None of them
is in the specification.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
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


def unknown_token_calls(holder: Mapping[str, Any]) -> int:
    """How many provider calls of a receipt's slice, of an attempt or of a sum did not report their tokens."""
    return _count(holder, "unknown_token_calls", _lacks_tokens)


def _lacks_tokens(one: Mapping[str, Any]) -> bool:
    untold = any(name in one and one[name] is None for name in TOKENS)
    return bool(one["usage"] == "unknown") if "usage" in one else untold


def estimated_calls(holder: Mapping[str, Any]) -> int:
    """How many provider calls of a receipt's slice, of an attempt or of a sum have a cost that rests on a guess."""
    return _count(holder, "estimated_calls", lambda one: one.get("pricing_basis") == "estimated")


def _count(holder: Mapping[str, Any], name: str, is_one: Callable[[Mapping[str, Any]], bool]) -> int:
    attempts = holder.get("attempts")
    if isinstance(attempts, list) and attempts:
        return sum(is_one(attempt) for attempt in attempts if isinstance(attempt, Mapping))
    cost = holder.get("cost")
    if isinstance(cost, Mapping) and cost:
        return int(is_one(cost))
    count = holder.get(name)
    if isinstance(count, int) and not isinstance(count, bool):
        return max(count, 0)
    return int(is_one(holder))


TOKENS: Final = frozenset({"input_tokens", "output_tokens"})
"""Members that lack the tokens of calls which did not report them."""

AMOUNTS: Final = frozenset({"usd", "spend_usd", "passthrough_usd"})
"""Members that may lack calls of unknown cost; the platform's fees are always known."""


def is_guess(holder: object, name: str | int) -> bool:
    """Whether a member of an object is an amount of which a part rests on a guess."""
    return name in AMOUNTS and isinstance(holder, Mapping) and _has(holder, "estimated_calls")


def _has(holder: Mapping[str, Any], name: str) -> bool:
    count = holder.get(name)
    return isinstance(count, int) and count > 0


def is_partial(holder: object, name: str | int) -> bool:
    """Whether a member of an object is an amount or a number of tokens that lacks calls which told none."""
    if name not in AMOUNTS | TOKENS or not isinstance(holder, Mapping):
        return False
    return _has(holder, "unknown_calls" if name in AMOUNTS else "unknown_token_calls")
