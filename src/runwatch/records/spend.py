"""Sums of partly unknown costs, with members that only the local service sends.

The interface has plain numbers for costs and tokens. If the cost of a provider call is unknown, the number is the known
part of the sum, and ``unknown_calls`` beside it counts those calls. Likewise ``unknown_token_calls`` counts calls that
did not report their tokens, and ``estimated_calls`` those with an estimated cost. None of them is in the specification.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from decimal import Context, Decimal
from functools import reduce
from typing import Any, Final

UNKNOWN_USAGE: Final = "unknown"
"""Value of ``usage`` beside the tokens of calls that did not all report them, in receipts."""

# Sums of amounts are exact if their digits span less than this.
_EXACT: Final = Context(prec=100)


def sum_amounts(amounts: Iterable[Decimal]) -> Decimal:
    return reduce(_EXACT.add, amounts, Decimal(0))


def unknown_calls(holder: Mapping[str, Any]) -> int:
    """Count the provider calls with unknown cost, of a receipt's slice, an attempt or a sum.

    Receipts of version 0.1.0 have no such count. Their attempts of unknown cost have 0 dollars without a pricing basis,
    and unknown usage.
    """
    attempts = holder.get("attempts")
    if attempts and isinstance(attempts, list):
        return sum([unknown_calls(attempt) for attempt in attempts if isinstance(attempt, dict)])
    cost = holder.get("cost")
    if cost and isinstance(cost, dict):
        return unknown_calls(cost)
    count = holder.get("unknown_calls")
    if count is not None and isinstance(count, int) and not isinstance(count, bool):
        return max(count, 0)
    if holder.get("pricing_basis") is not None:
        return 0
    if holder.get("usd") is None:
        return int("usd" in holder)
    return int(holder.get("usage") == UNKNOWN_USAGE)


def unknown_token_calls(holder: Mapping[str, Any]) -> int:
    """Count the provider calls that did not report their tokens, of a receipt's slice, an attempt or a sum."""
    return _count(holder, "unknown_token_calls", _lacks_tokens)


def _lacks_tokens(call: Mapping[str, Any]) -> bool:
    is_unknown = any(name in call and call[name] is None for name in TOKENS)
    return bool(call["usage"] == UNKNOWN_USAGE) if "usage" in call else is_unknown


def estimated_calls(holder: Mapping[str, Any]) -> int:
    """Count the provider calls with an estimated cost, of a receipt's slice, an attempt or a sum."""
    return _count(holder, "estimated_calls", lambda call: call.get("pricing_basis") == "estimated")


def _count(holder: Mapping[str, Any], name: str, is_counted: Callable[[Mapping[str, Any]], bool]) -> int:
    attempts = holder.get("attempts")
    if isinstance(attempts, list) and attempts:
        return sum(is_counted(attempt) for attempt in attempts if isinstance(attempt, Mapping))
    cost = holder.get("cost")
    if isinstance(cost, Mapping) and cost:
        return int(is_counted(cost))
    count = holder.get(name)
    if isinstance(count, int) and not isinstance(count, bool):
        return max(count, 0)
    return int(is_counted(holder))


TOKENS: Final = frozenset({"input_tokens", "output_tokens"})
"""Members that lack the tokens of calls which did not report them."""

AMOUNTS: Final = frozenset({"usd", "spend_usd", "passthrough_usd"})
"""Members that may lack calls of unknown cost; the platform's fees are always known."""


def is_guess(holder: object, name: str | int) -> bool:
    """Return whether a member of an object is a partly estimated amount."""
    return name in AMOUNTS and isinstance(holder, Mapping) and _has(holder, "estimated_calls")


def _has(holder: Mapping[str, Any], name: str) -> bool:
    count = holder.get(name)
    return isinstance(count, int) and count > 0


def is_partial(holder: object, name: str | int) -> bool:
    """Return whether a member of an object is an amount or token count that lacks some calls."""
    if name not in AMOUNTS | TOKENS or not isinstance(holder, Mapping):
        return False
    if name in AMOUNTS:
        return _has(holder, "unknown_calls")
    return _has(holder, "unknown_token_calls") or holder.get("usage") == UNKNOWN_USAGE
