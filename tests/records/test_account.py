"""A balance of zero where none is kept is not shown as money."""

from __future__ import annotations

import pytest

from runwatch.records.account import Account


@pytest.mark.parametrize(("state", "usd", "shown"), [("sandbox", 0, None), ("unfunded", 0, 0), ("sandbox", 5, 5)])
def test_a_balance_that_is_not_kept_is_none(state: str, usd: int, shown: int | None) -> None:
    account = Account({"balance": {"balance_usd": usd}, "billing": {"funded_state": state}})
    assert account.balance_usd == shown
