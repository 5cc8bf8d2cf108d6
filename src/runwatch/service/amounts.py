"""Amounts: sum as decimals and write every digit, never through a binary float."""

from __future__ import annotations

from decimal import Context, Decimal
from typing import Final

from runwatch.base.json import ExactNumber
from runwatch.records.spend import sum_amounts

__all__ = ["amount_of", "less", "numeral", "sum_amounts"]

# Sums are exact as long as the amounts differ by less than this many digits.
_EXACT: Final = Context(prec=100)


def amount_of(value: object) -> Decimal:
    """Return the exact amount of a decoded JSON number, or zero for anything but a finite number."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return Decimal(0)
    amount = Decimal(value.literal if isinstance(value, ExactNumber) else repr(value))
    return amount if amount.is_finite() else Decimal(0)


def less(amount: Decimal, taken: Decimal) -> Decimal:
    """Subtract an amount; the result may be negative."""
    return _EXACT.subtract(amount, taken)


def numeral(amount: Decimal) -> ExactNumber:
    """Convert an amount to a JSON number with exactly its digits."""
    return ExactNumber(str(amount))
