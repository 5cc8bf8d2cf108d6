"""Amounts keep their digits."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from runwatch.base.json import dumps, loads
from runwatch.service.amounts import amount_of, less, numeral, sum_amounts


@pytest.mark.parametrize("text", ["0", "0.10", "18.4", "-3", "12345678901234567890.12", "1e-9", "5E+3"])
def test_an_amount_is_read_and_written_with_the_same_value(text: str) -> None:
    amount = amount_of(loads(text))
    assert amount == Decimal(text)
    assert amount_of(loads(dumps(numeral(amount)))) == amount


@pytest.mark.parametrize("value", [None, True, "1", [], float("inf"), float("nan")])
def test_what_is_no_finite_number_is_no_amount(value: Any) -> None:
    assert amount_of(value) == 0


def test_a_sum_loses_nothing_to_binary_fractions_or_to_precision() -> None:
    assert sum_amounts([Decimal("0.1")] * 3) == Decimal("0.3")
    assert sum_amounts([Decimal("1e20"), Decimal("1e-20")]) == Decimal("100000000000000000000.00000000000000000001")
    assert less(Decimal("1e20"), Decimal("1e-20")) == Decimal("99999999999999999999.99999999999999999999")
    assert sum_amounts([]) == 0
