"""A long list that comes again costs no comparison on the loop."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

from runwatch.records.receipt import Receipt
from runwatch.store.interning import STEP, known_again
from runwatch.store.state import Known
from tests.support.builders import echo_receipt

AT = datetime(2026, 11, 21, tzinfo=UTC)


def receipts(count: int, **over: object) -> list[Receipt]:
    return [echo_receipt(f"ex_{number}", **over) for number in range(count)]


async def test_what_has_not_changed_is_the_object_that_is_known() -> None:
    before = receipts(3)
    known = {record.id: Known(record, AT, 0.0) for record in before}
    new = [echo_receipt("ex_0"), echo_receipt("ex_1", status="failed"), echo_receipt("ex_9")]
    found = await known_again(known, new)
    assert found[0] is before[0]
    assert found[1] is new[1]
    assert found[2] is new[2]


async def test_everything_else_has_a_turn_between_two_steps() -> None:
    turns = 0

    async def other() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    waiting = asyncio.create_task(other())
    found = await known_again({}, receipts(3 * STEP))
    waiting.cancel()
    assert len(found) == 3 * STEP
    assert turns >= 2


async def test_a_known_record_of_another_kind_is_no_match() -> None:
    class Other(Receipt):
        KIND = "other"

    new = echo_receipt("ex_0")
    found = await known_again({"ex_0": Known(Other(dict(new.raw)), AT, 0.0)}, [new])
    assert found[0] is new
