"""Which calls of a receipt have no known cost, also in receipts of the first version."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from runwatch.records.receipt import Receipt
from runwatch.records.run import Run
from runwatch.records.spend import is_partial, sum_amounts, unknown_calls


@pytest.mark.parametrize(
    ("holder", "count"),
    [
        ({}, 0),
        ({"usd": 0}, 0),
        ({"usd": None, "pricing_basis": None}, 1),
        ({"usd": None, "pricing_basis": None, "usage": "known"}, 1),
        ({"usd": 0.1, "unknown_calls": 2}, 2),
        ({"usd": 0, "unknown_calls": -1}, 0),
        ({"usd": 0, "unknown_calls": True}, 0),
        ({"usd": 0, "usage": "unknown", "pricing_basis": None}, 1),
        ({"usd": 0.1, "usage": "unknown", "pricing_basis": "source_reported"}, 0),
        ({"cost": {"usd": 0, "usage": "unknown"}}, 1),
        ({"cost": {"usd": 0, "waiver": {"reason": "sandbox_echo_d9"}}}, 0),
        ({"cost": {"usd": 0}, "attempts": [{"usd": None}, {"usd": 0.1, "pricing_basis": "estimated"}, 7]}, 1),
        ({"cost": "much", "attempts": {}}, 0),
    ],
)
def test_calls_of_unknown_cost_are_counted(holder: dict[str, Any], count: int) -> None:
    assert unknown_calls(holder) == count


def test_a_receipt_of_the_first_version_tells_its_unknown_calls_by_its_attempts() -> None:
    lost = {"usd": 0, "usage": "unknown", "pricing_basis": None}
    part = {"cost": {"usd": 0, "calls": 1, "usage": "unknown"}, "attempts": [lost]}
    receipt = Receipt({"slices": [part], "totals": {"usd": 0, "platform_fee_usd": 0}})
    assert (receipt.unknown_calls, receipt.spend_usd, receipt.known_spend_usd) == (1, None, Decimal(0))


def test_a_run_has_the_known_part_of_its_spend_beside_the_unknown_sum() -> None:
    run = Run({"execution_id": "ex_1", "spend_usd": None, "known_spend_usd": 0.0031, "unknown_calls": 1})
    assert (run.spend_usd, run.known_spend_usd, run.unknown_calls) == (None, Decimal("0.0031"), 1)
    assert not run.flaws()
    assert not run.unknown()


def test_only_amounts_that_may_lack_calls_are_partial() -> None:
    assert is_partial({"usd": 1, "unknown_calls": 1}, "usd")
    assert not is_partial({"usd": 1, "unknown_calls": 0}, "usd")
    assert not is_partial({"platform_usd": 1, "unknown_calls": 1}, "platform_usd")
    assert not is_partial(None, "usd")


def test_sums_keep_every_digit() -> None:
    found = sum_amounts([Decimal("1e30"), Decimal("1e-30")])
    assert f"{found:f}" == f"1{'0' * 30}.{'0' * 29}1"
