"""Balance, quota and runs at once: unlimited unless set, and refused in the codes of the interface."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import httpx

from runwatch.base.json import loads
from runwatch.records.account import Account
from runwatch.service.access.authentication import local_tenant
from runwatch.service.errors import RefusalError
from runwatch.service.organization import wallet
from runwatch.service.tables import wallets_table
from runwatch.service.transaction import Transaction
from tests.service.conftest import Local, Serving, bearing, echo_body, keyed, other_tenant
from tests.support.clock import FakeClock
from tests.support.problems import check

LAST_MINUTE = datetime(2026, 11, 30, 23, 59, 0, 500_000, tzinfo=UTC)


async def set_limits(
    local: Local, *, balance_usd: Decimal | None = None, is_frozen: bool | None = None, **limits: Any
) -> None:
    """Give the owner's organization limits, and a balance, which no option freezes."""

    def effect(transaction: Transaction) -> None:
        nonlocal balance_usd
        tenant_id = local_tenant(transaction)
        if balance_usd is None and is_frozen is not None and wallet.spendable(transaction, tenant_id) is None:
            balance_usd = Decimal(0)
        if balance_usd is not None:
            wallet.set_balance(transaction, tenant_id, balance_usd)
        if is_frozen is not None:
            transaction.change(wallets_table, {"tenant_id": tenant_id}, is_frozen=is_frozen)
        wallet.set_limits(transaction, tenant_id, **limits)

    await local.context.database.write(effect)


async def charge(local: Local, usd: str, execution_id: str) -> None:
    """Charge the owner's organization for a run."""
    await local.context.database.write(
        lambda transaction: wallet.charge(transaction, local_tenant(transaction), Decimal(usd), execution_id)
    )


async def refusal(local: Local, mode: str) -> str | None:
    """The code with which the owner's organization is refused a run, ``None`` when it may submit one."""
    try:
        await local.context.database.read(
            lambda transaction: wallet.admit_run(transaction, local_tenant(transaction), mode)
        )
    except RefusalError as error:
        return error.code
    return None


async def submit(local: Local, key: str) -> httpx.Response:
    return await local.http.post("/v1/executions", json=echo_body(), headers=keyed(key))


async def running(local: Local) -> int:
    return int((await local.get("/v1/account"))["quota"]["concurrency"]["running"])


async def balance(local: Local) -> str:
    answer = await local.http.get("/v1/account")
    assert not Account(loads(answer.content)).flaws()
    value = loads(answer.content)["balance"]["balance_usd"]
    return str(getattr(value, "literal", value))


async def test_a_private_service_has_no_limits(local: Local) -> None:
    account = await local.get("/v1/account")
    assert account["quota"]["executions"] == {
        "limit": None, "used": 0, "remaining": None, "reset_at": None, "retry_after_s": None,
    }  # fmt: skip
    assert account["quota"]["concurrency"] == {"limit": None, "running": 0}
    assert account["balance"]["balance_usd"] == 0
    assert account["billing"]["funded_state"] == "sandbox"
    assert await refusal(local, "live") is None


async def test_a_live_run_needs_a_balance_above_zero_and_a_test_run_none(local: Local) -> None:
    for usd, expected in (("0", "insufficient_credit"), ("-0.01", "insufficient_credit"), ("0.01", None)):
        await set_limits(local, balance_usd=Decimal(usd))
        assert await refusal(local, "live") == expected
        assert await refusal(local, "echo") is None


async def test_a_frozen_wallet_refuses_live_runs_whatever_is_in_it(local: Local) -> None:
    await set_limits(local, balance_usd=Decimal(5), is_frozen=True)
    assert await refusal(local, "live") == "credit_wallet_frozen"
    assert await refusal(local, "echo") is None
    assert (await local.get("/v1/account"))["billing"]["funded_state"] == "frozen"
    await set_limits(local, is_frozen=False)
    assert await refusal(local, "live") is None
    assert await balance(local) == "5"


async def test_a_wallet_that_is_frozen_before_anything_was_put_in_is_empty(local: Local) -> None:
    await set_limits(local, is_frozen=True)
    assert await refusal(local, "live") == "credit_wallet_frozen"
    await set_limits(local, is_frozen=False)
    assert await refusal(local, "live") == "insufficient_credit"


async def test_a_run_is_charged_once_and_to_the_last_digit(held: Local) -> None:
    await set_limits(held, balance_usd=Decimal("0.30"))
    first, second = [(await held.submit())["execution_id"] for _ in range(2)]
    for _ in range(2):
        await charge(held, "0.10", first)
    assert await balance(held) == "0.20"
    await charge(held, "0", second)
    await charge(held, "0.200000000000000000001", second)
    assert await balance(held) == "-1E-21"
    assert (await held.get("/v1/account"))["billing"]["funded_state"] == "unfunded"
    assert await refusal(held, "live") == "insufficient_credit"


async def test_nothing_is_charged_where_no_balance_is_kept(held: Local) -> None:
    run_id = (await held.submit())["execution_id"]
    await charge(held, "0.10", run_id)
    assert await balance(held) == "0"
    await set_limits(held, balance_usd=Decimal(1))
    await charge(held, "0.10", run_id)
    assert await balance(held) == "0.90"


async def test_what_is_put_into_the_wallet_is_reported(local: Local) -> None:
    await set_limits(local, balance_usd=Decimal("5.00"))
    await set_limits(local, balance_usd=Decimal("3.50"))
    await set_limits(local, balance_usd=Decimal("3.50"))
    shown = (await local.get("/v1/account"))["balance"]
    assert [entry["amount_usd"] for entry in shown["credit_activity"]] == [-1.5, 5]
    assert {entry["kind"] for entry in shown["credit_activity"]} == {"manual_adjustment"}
    assert [entry["amount_usd"] for entry in shown["top_up_history"]] == [-1.5, 5]
    assert shown["balance_usd"] == 3.5


async def test_a_start_refills_nothing_that_was_spent_unless_it_names_another_balance(serving: Serving) -> None:
    kept = []
    for usd in ("1", "1.0", "2"):
        async with serving(FakeClock(manual=True), balance_usd=Decimal(usd)) as local:
            kept.append(await balance(local))
            await charge(local, "0.15", (await local.submit(key=usd))["execution_id"])
    assert kept == ["1", "0.85", "2"]


async def test_the_quota_counts_all_runs_of_the_month_and_names_its_end(serving: Serving) -> None:
    clock = FakeClock(LAST_MINUTE, manual=True)
    async with serving(clock, quota_executions=2) as local:
        for key in ("k1", "k2"):
            assert (await submit(local, key)).status_code == 200
        answer = await submit(local, "k3")
        assert check(answer, "quota_exceeded").retry_after_s == 60
        assert answer.headers["retry-after"] == "60"
        assert await refusal(local, "live") == "quota_exceeded"
        assert (await submit(local, "k1")).status_code == 200
        quota = (await local.get("/v1/account"))["quota"]["executions"]
        assert quota == {
            "limit": 2, "used": 2, "remaining": 0, "reset_at": "2026-12-01T00:00:00.000Z", "retry_after_s": 60,
        }  # fmt: skip
        clock.advance(59.5)
        assert (await submit(local, "k3")).status_code == 200
        quota = (await local.get("/v1/account"))["quota"]["executions"]
        assert (quota["used"], quota["remaining"], quota["retry_after_s"]) == (1, 1, 0)
        assert quota["reset_at"] == "2027-01-01T00:00:00.000Z"
        assert await running(local) == 3
        await local.http.post(f"/v1/executions/{(await submit(local, 'k1')).json()['execution_id']}/cancel")
        assert await running(local) == 2


async def test_the_limits_of_a_start_stay_until_another_start_changes_them(serving: Serving) -> None:
    async with serving(balance_usd=Decimal("1.5"), quota_executions=7, concurrency=3) as local:
        account = await local.get("/v1/account")
        assert account["balance"]["balance_usd"] == 1.5
        assert account["billing"]["funded_state"] == "funded"
        assert (account["quota"]["executions"]["limit"], account["quota"]["concurrency"]["limit"]) == (7, 3)
        assert await local.context.database.read(_concurrency) == 3
    async with serving(quota_executions=8) as local:
        account = await local.get("/v1/account")
        assert (account["quota"]["executions"]["limit"], account["quota"]["concurrency"]["limit"]) == (8, 3)
        assert account["balance"]["balance_usd"] == 1.5


async def test_limits_are_one_organizations_own(held: Local) -> None:
    await set_limits(held, balance_usd=Decimal(0), executions_per_month=0, concurrency=1)
    check(await submit(held, "k"), "quota_exceeded")
    bearer, _ = await held.add_key(await other_tenant(held))
    answer = await held.http.post("/v1/executions", json=echo_body(), headers=bearing(bearer, **keyed("k")))
    assert answer.status_code == 200
    account = (await held.http.get("/v1/account", headers=bearing(bearer))).json()
    assert account["quota"]["concurrency"]["limit"] is None
    assert account["billing"]["funded_state"] == "sandbox"


def _concurrency(transaction: Transaction) -> int | None:
    return wallet.concurrency_of(transaction, local_tenant(transaction))
