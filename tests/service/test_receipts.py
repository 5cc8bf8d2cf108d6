"""The routes of receipts."""

from __future__ import annotations

from typing import Any

from runwatch.base.clock import format_iso
from runwatch.service.tables import receipt_arms_table
from tests.service.conftest import Local, capped
from tests.support.problems import check


async def test_a_run_that_is_not_final_has_no_receipt(held: Local) -> None:
    run_id = (await held.submit())["execution_id"]
    check(await held.http.get(f"/v1/receipts/{run_id}"), "not_found")
    assert await held.get("/v1/receipts") == {"receipts": []}


async def test_receipts_are_listed_newest_first_and_filtered(local: Local) -> None:
    clock = local.fake_clock

    async def done(seconds: float) -> str:
        run_id = str((await local.submit(capped(seconds)))["execution_id"])
        await local.finished(run_id)
        return run_id

    async def found(**query: Any) -> list[str]:
        return [receipt["execution_id"] for receipt in (await local.get("/v1/receipts", **query))["receipts"]]

    completed = await done(60)
    clock.advance(60)
    noon = format_iso(clock.now())
    expired = await done(0.01)
    assert await found() == [expired, completed]
    assert await found(status="completed") == [completed]
    assert await found(status="expired", since=noon) == [expired]
    assert await found(status="completed", since=noon) == []
    assert await found(status="cancelled") == []
    assert await found(arm_id="arm_1") == []
    await local.context.database.write(
        lambda transaction: transaction.add(receipt_arms_table, execution_id=completed, arm_id="arm_1")
    )
    assert await found(arm_id="arm_1") == [completed]
    assert await found(arm_id="arm_1", status="expired") == []


async def test_a_receipt_is_the_same_alone_and_in_the_list(local: Local) -> None:
    run_id = (await local.submit())["execution_id"]
    await local.finished(run_id)
    alone = await local.http.get(f"/v1/receipts/{run_id}")
    whole = await local.http.get("/v1/receipts")
    assert whole.text == f'{{"receipts":[{alone.text}]}}'


async def test_a_receipt_holds_nothing_of_the_prompt(local: Local) -> None:
    body = capped(60, task={"objective": "the word is xylophone"})
    run_id = (await local.submit(body))["execution_id"]
    await local.finished(run_id)
    assert "xylophone" not in (await local.http.get(f"/v1/receipts/{run_id}")).text
