"""Forms of reading that lists and queues need, and being told of what was added."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest

from runwatch.service.database import ServiceDatabase
from runwatch.service.tables import audit_table, problems_table, tenants_table
from runwatch.service.transaction import Row, Transaction
from tests.service.conftest import Either
from tests.support.clock import FakeClock

pytestmark = pytest.mark.representatives(key=lambda case: case["either"])

WAIT_S = 60.0


@pytest.fixture
async def database(either: Either) -> AsyncIterator[ServiceDatabase]:
    database = ServiceDatabase.open(either(), FakeClock())
    yield database
    await asyncio.to_thread(database.close)


def add_tenant(transaction: Transaction, tenant_id: str = "ten_1") -> None:
    transaction.add(tenants_table, tenant_id=tenant_id, display_name="x", created_at="now")


def add_entry(transaction: Transaction, at: str) -> None:
    transaction.add(
        audit_table, decision_id=f"dec_{at}", tenant_id="ten_1", kind="registry_action", action="changed",
        resource_type="arm", resource_id="arm_1", at=at,
    )  # fmt: skip


async def test_rows_are_read_from_one_value_to_before_another_in_order(database: ServiceDatabase) -> None:
    def write(transaction: Transaction) -> None:
        add_tenant(transaction)
        for at in ("b", "d", "a", "c"):
            add_entry(transaction, at)

    await database.write(write)

    async def read(**more: Any) -> list[str]:
        def rows(transaction: Transaction) -> Sequence[Row]:
            return transaction.oldest(audit_table, {"tenant_id": "ten_1"}, **more)

        return [row["at"] for row in await database.read(rows)]

    assert await read() == ["b", "d", "a", "c"]
    assert await read(since=("at", "b")) == ["b", "d", "c"]
    assert await read(until=("at", "c")) == ["b", "a"]
    assert await read(since=("at", "b"), until=("at", "d"), limit=1) == ["b"]
    assert await read(after=1, limit=2) == ["d", "a"]
    newest = await database.read(
        lambda transaction: transaction.newest(audit_table, {}, since=("at", "b"), until=("at", "d"))
    )
    assert [row["at"] for row in newest] == ["c", "b"]
    assert await database.read(lambda transaction: transaction.least(audit_table, "at", {"tenant_id": "ten_1"})) == "a"
    assert await database.read(lambda transaction: transaction.least(audit_table, "at", {"tenant_id": "ten_2"})) is None


async def test_whoever_watches_a_table_is_told_after_the_commit_and_of_nothing_else(database: ServiceDatabase) -> None:
    told: asyncio.Queue[str] = asyncio.Queue()
    database.watch(audit_table, lambda: told.put_nowait("audit"))
    database.watch(problems_table, lambda: told.put_nowait("problems"))

    def fail(transaction: Transaction) -> None:
        add_entry(transaction, "a")
        raise LookupError("after the row")

    await database.write(add_tenant)
    with pytest.raises(LookupError):
        await database.write(fail)
    await database.write(lambda transaction: add_entry(transaction, "b"))
    async with asyncio.timeout(WAIT_S):
        assert await told.get() == "audit"
        rows = await database.read(lambda transaction: transaction.list_all(audit_table, {}))
        assert [row["at"] for row in rows] == ["b"]
        await database.write(lambda transaction: transaction.change(audit_table, {"at": "b"}, action="disabled"))
        await database.write(lambda transaction: add_tenant(transaction, "ten_2"))
        await database.write(lambda transaction: add_entry(transaction, "c"))
        # Notifications come in the order of commits: one too many would come before this one.
        await told.get()
        await database.write(lambda transaction: add_entry(transaction, "d"))
        await told.get()
        assert await database.read(lambda transaction: transaction.count(audit_table, {})) == 3
    assert told.empty()
