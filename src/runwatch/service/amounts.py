"""Amounts: summed as decimals and written with the digits that came of it, never through a binary float."""

from __future__ import annotations

from decimal import Context, Decimal
from typing import Final

from runwatch.base.json import ExactNumber
from runwatch.records.spend import sum_amounts

__all__ = ["amount_of", "less", "numeral", "sum_amounts"]

# Sums of amounts that differ by less than this many digits are exact.
_EXACT: Final = Context(prec=100)


def amount_of(value: object) -> Decimal:
    """The amount that a decoded JSON number states, to its last digit; zero for anything that is no finite number."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return Decimal(0)
    amount = Decimal(value.literal if isinstance(value, ExactNumber) else repr(value))
    return amount if amount.is_finite() else Decimal(0)


def less(amount: Decimal, taken: Decimal) -> Decimal:
    """What is left of an amount; negative when more is taken than there is."""
    return _EXACT.subtract(amount, taken)


def numeral(amount: Decimal) -> ExactNumber:
    """An amount as a JSON number with exactly its digits."""
    return ExactNumber(str(amount))
