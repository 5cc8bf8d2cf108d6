"""Totals of many receipts are never those of others, and each receipt is added up once."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any, cast

import pytest

from runwatch.records.receipt import Receipt
from runwatch.tui.sources import receipt_totals
from runwatch.tui.sources.receipt_totals import MAX_SYNC_RECEIPTS, ReceiptTotalsModel
from runwatch.view.receipts.totals import ReceiptTotals
from tests.support.builders import live_receipt

COUNT = MAX_SYNC_RECEIPTS + 100


@pytest.fixture
def workers(monkeypatch: pytest.MonkeyPatch) -> list[Coroutine[Any, Any, None]]:
    """The workers that the model started."""
    started: list[Coroutine[Any, Any, None]] = []
    monkeypatch.setattr(receipt_totals, "start_worker", lambda _, work, *__, **___: started.append(work))
    return started


@pytest.fixture
def added(monkeypatch: pytest.MonkeyPatch) -> list[Receipt]:
    """The receipts that were added up."""
    seen: list[Receipt] = []
    add = ReceiptTotals.add

    def noted(sums: ReceiptTotals, receipt: Receipt) -> None:
        seen.append(receipt)
        add(sums, receipt)

    monkeypatch.setattr(ReceiptTotals, "add", noted)
    return seen


def counted(sums: ReceiptTotals | None) -> int | None:
    return None if sums is None else sums.total.count


async def test_the_sums_of_many_receipts_are_unknown_until_they_are_added_up(
    workers: list[Coroutine[Any, Any, None]], added: list[Receipt]
) -> None:
    every = [live_receipt(f"ex_{number:05}") for number in range(COUNT + 10)]
    model = ReceiptTotalsModel(cast("Any", None), "", lambda: None)

    def take(receipts: list[Receipt]) -> int | None:
        return counted(model.take(receipts, lambda one: one))

    assert take(every[:9]) == 9
    many = every[:COUNT]
    assert take(many) is None
    await workers.pop()
    assert take(many) == COUNT
    added.clear()
    assert take(many[::-1]) is None, "not known to be the same receipts yet"
    await workers.pop()
    assert counted(model.sums) == COUNT
    assert not added
    assert take(every[:3]) == 3
    added.clear()
    assert take(every) is None
    await workers.pop()
    assert counted(model.sums) == len(every)
    assert len(added) == 10
    assert take(every[5:]) is None
    await workers.pop()
    assert counted(model.sums) == COUNT + 5


async def test_a_worker_for_receipts_no_longer_shown_tells_nothing(workers: list[Coroutine[Any, Any, None]]) -> None:
    every = [live_receipt(f"ex_{number:05}") for number in range(COUNT)]
    told: list[bool] = []
    model = ReceiptTotalsModel(cast("Any", None), "", lambda: told.append(True))
    model.take(every, lambda one: one)
    model.take(every[:3], lambda one: one)
    await workers.pop()
    assert counted(model.sums) == 3
    assert not told
