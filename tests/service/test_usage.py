"""What runs have used: sums without a lost digit, by arm, by day and by key."""

from __future__ import annotations

from typing import Any

import pytest

from runwatch.base.json import ExactNumber, dumps, loads
from runwatch.records.usage import Usage
from runwatch.service.access.authentication import local_tenant
from runwatch.service.execution import run_owners
from runwatch.service.organization import usage
from runwatch.service.tables import receipts_table, runs_table
from runwatch.service.transaction import Transaction
from tests.service.conftest import Json, Local, bearing, echo_body, keyed, other_tenant
from tests.support.problems import check, fields


def part(arm_id: str | None, usd: str, tokens: int = 10, *, is_fallback: bool = False) -> Json:
    """One slice of a live run's receipt."""
    selected = None if arm_id is None else {"arm_id": arm_id}
    return {
        "slice_id": "sl_1",
        "capability": "text.generate",
        "route": {"ranking": [], "selected": selected, "fallback_used": is_fallback},
        "cost": {"usd": ExactNumber(usd), "input_tokens": tokens, "output_tokens": 2, "calls": 1},
    }


def receipt(run_id: str, day: str, parts: list[Json], usd: str, fee: str = "0") -> Json:
    """The receipt of a live run that became final on a day."""
    return {
        "execution_id": run_id, "mode": "live", "status": "completed", "created_at": f"{day}T00:00:00.000Z",
        "completed_at": f"{day}T23:59:59.999Z", "slices": parts,
        "totals": {"usd": ExactNumber(usd), "platform_fee_usd": ExactNumber(fee), "runtime_s": 1},
    }  # fmt: skip


async def keep(local: Local, raw: Json, *, tenant_id: str | None = None, key_id: str | None = None) -> None:
    """Store a run that is final, with its receipt."""

    def effect(transaction: Transaction) -> None:
        tenant = tenant_id or local_tenant(transaction)
        transaction.add(
            runs_table, execution_id=raw["execution_id"], tenant_id=tenant, mode=raw["mode"], status=raw["status"],
            policy="{}", max_runtime_s=60.0, slices=[], spend_usd="0", created_at=raw["created_at"],
            completed_at=raw["completed_at"],
        )  # fmt: skip
        transaction.add(
            receipts_table, execution_id=raw["execution_id"], tenant_id=tenant, status=raw["status"],
            completed_at=raw["completed_at"], body=dumps(raw),
        )  # fmt: skip
        if key_id is not None:
            run_owners.record_owner(transaction, raw["execution_id"], key_id)

    await local.context.database.write(effect)


RECEIPTS = [
    receipt("ex_1", "2026-11-20", [part("arm_a", "0.10")], "0.10", "0.05"),
    receipt("ex_2", "2026-11-20", [part("arm_b", "0.20", 30, is_fallback=True), part("arm_a", "0.01")], "0.21", "0.05"),
    receipt("ex_3", "2026-11-21", [part(None, "0.000000000000000000001")], "0.000000000000000000001"),
]
OWNERS = {"ex_1": "key_1", "ex_2": "key_1", "ex_3": "key_2"}


def report(found: list[Json], owners: dict[str, str]) -> Json:
    """A usage report of receipts whose runs these keys submitted."""
    return usage.report((raw, owners.get(raw["execution_id"])) for raw in found)


def test_the_parts_of_a_report_add_up_to_the_last_digit() -> None:
    found = report(RECEIPTS, OWNERS)
    assert dumps(found["totals"]) == (
        '{"executions":3,"slices":4,"input_tokens":60,"output_tokens":8,"calls":4,"usd":0.410000000000000000001,'
        '"platform_usd":0.10,"passthrough_usd":0.310000000000000000001,"unknown_calls":0,"unknown_token_calls":0,"estimated_calls":0}'
    )
    assert dumps(found["by_arm"]) == (
        '[{"arm_id":"arm_a","selected_count":2,"fallback_count":0,"input_tokens":20,"output_tokens":4,"usd":0.11,"unknown_calls":0,"unknown_token_calls":0,"estimated_calls":0},'
        '{"arm_id":"arm_b","selected_count":1,"fallback_count":1,"input_tokens":30,"output_tokens":2,"usd":0.20,"unknown_calls":0,"unknown_token_calls":0,"estimated_calls":0}]'
    )
    assert dumps(found["by_day"]) == (
        '[{"date":"2026-11-20","executions":2,"platform_usd":0.10,"passthrough_usd":0.31,"usd":0.41,"unknown_calls":0,"estimated_calls":0},'
        '{"date":"2026-11-21","executions":1,"platform_usd":0,"passthrough_usd":1E-21,"usd":1E-21,"unknown_calls":0,"estimated_calls":0}]'
    )
    first, second = found["by_key"]
    assert dumps(first) == (
        '{"api_key_id":"key_1","executions":2,"slices":3,"input_tokens":50,"output_tokens":6,"calls":3,"usd":0.41,"unknown_calls":0,"unknown_token_calls":0,"estimated_calls":0,'
        '"by_day":[{"date":"2026-11-20","usd":0.41,"unknown_calls":0,"estimated_calls":0}],'
        '"top_arms":[{"arm_id":"arm_a","selected_count":2},{"arm_id":"arm_b","selected_count":1}]}'
    )
    assert (second["api_key_id"], second["top_arms"]) == ("key_2", [])
    sums = usage.Sums()
    for raw in RECEIPTS:
        sums.add(raw)
    assert sums.to_json() == found["totals"]


def test_what_a_fallback_used_is_divided_among_the_arms_that_were_called() -> None:
    raw = part("arm_b", "0.30", 30, is_fallback=True)
    raw["attempts"] = [
        {"arm_id": "arm_a", "input_tokens": 20, "output_tokens": 1, "usd": ExactNumber("0.10")},
        {"arm_id": "arm_b", "input_tokens": 10, "output_tokens": None, "usd": ExactNumber("0.20")},
    ]
    first, second = report([receipt("ex_1", "2026-11-20", [raw], "0.30")], {})["by_arm"]
    assert dumps(first) == (
        '{"arm_id":"arm_a","selected_count":0,"fallback_count":0,"input_tokens":20,"output_tokens":1,"usd":0.10,"unknown_calls":0,"unknown_token_calls":0,"estimated_calls":0}'
    )
    assert dumps(second) == (
        '{"arm_id":"arm_b","selected_count":1,"fallback_count":1,"input_tokens":10,"output_tokens":0,"usd":0.20,"unknown_calls":0,"unknown_token_calls":1,"estimated_calls":0}'
    )


def test_a_run_whose_key_nobody_noted_counts_for_no_key() -> None:
    found = report(RECEIPTS, {"ex_3": "key_2"})
    assert [row["api_key_id"] for row in found["by_key"]] == ["key_2"]
    assert found["totals"]["executions"] == 3


def test_of_many_arms_a_key_names_the_five_most_used() -> None:
    parts = [part(f"arm_{number}", "0") for number in range(7)] + [part("arm_6", "0")]
    (key,) = report([receipt("ex_1", "2026-11-20", parts, "0")], {"ex_1": "key_1"})["by_key"]
    assert [arm["arm_id"] for arm in key["top_arms"]] == ["arm_6", "arm_0", "arm_1", "arm_2", "arm_3"]


@pytest.mark.parametrize("cost", [None, {}, {"usd": None, "calls": True}, {"input_tokens": "many"}])
def test_a_slice_that_says_nothing_of_its_cost_costs_nothing(cost: Any) -> None:
    raw = receipt("ex_1", "2026-11-20", [{**part("arm_a", "0"), "cost": cost}], "0")
    found = report([raw], {})
    assert found["totals"]["calls"] == found["totals"]["usd"] == found["by_arm"][0]["input_tokens"] == 0
    assert found["by_arm"][0]["selected_count"] == 1


async def test_usage_counts_the_final_runs_of_its_period_and_organization(local: Local) -> None:
    me: str = (await local.get("/v1/account"))["authenticated_principal_id"]
    owners = dict.fromkeys(OWNERS, me)
    await keep(local, receipt("ex_october", "2026-10-31", [part("arm_a", "9")], "9"), key_id=me)
    for raw in RECEIPTS:
        await keep(local, raw, key_id=me)
    await keep(local, receipt("ex_other", "2026-11-20", [], "7"), tenant_id=await other_tenant(local))
    answer = await local.http.get("/v1/usage", params={"period": "2026-11"})
    raw = loads(answer.content)
    shown = Usage(raw)
    assert not shown.flaws()
    assert not shown.unknown()
    assert raw["period"] == {"from": "2026-11-01", "to": "2026-11-30"}
    expected = report(RECEIPTS, owners)
    for key in expected["by_key"]:
        key["display_name"] = "owner"
    assert dumps({name: raw[name] for name in expected}) == dumps(expected)
    assert await local.get("/v1/usage") == answer.json()
    days = {"from": "2026-10-31", "to": "2026-11-20"}
    assert (await local.get("/v1/usage", **days))["totals"]["executions"] == 3
    assert (await local.get("/v1/usage", period="2026-09"))["by_key"] == []


async def test_a_submitted_run_counts_for_the_key_that_submitted_it(local: Local) -> None:
    bearer, key_id = await local.add_key(role="runner")
    answer = await local.http.post("/v1/executions", json=echo_body(), headers=bearing(bearer, **keyed("k")))
    await local.finished(answer.json()["execution_id"])
    (key,) = (await local.get("/v1/usage"))["by_key"]
    assert (key["api_key_id"], key["executions"], key["usd"]) == (key_id, 1, 0)


async def test_a_run_that_is_not_final_has_used_nothing_yet(held: Local) -> None:
    await held.submit()
    assert (await held.get("/v1/usage"))["totals"]["executions"] == 0


@pytest.mark.parametrize("path", ["/v1/usage", "/v1/compliance-export"])
async def test_a_period_in_another_form_is_refused(local: Local, path: str) -> None:
    answer = await local.http.get(path, params={"period": "November"})
    assert fields(check(answer, "validation_failed")) == ["period"]


async def test_more_runs_than_one_statement_takes_keep_their_keys(local: Local) -> None:
    me: str = (await local.get("/v1/account"))["authenticated_principal_id"]
    names = [f"ex_{number}" for number in range(1201)]

    def effect(transaction: Transaction) -> None:
        for name in names:
            transaction.add(
                runs_table, execution_id=name, tenant_id=local_tenant(transaction), mode="echo", status="completed",
                policy="{}", max_runtime_s=60.0, slices=[], spend_usd="0", created_at="2026-11-20T00:00:00.000Z",
            )  # fmt: skip
            run_owners.record_owner(transaction, name, me)

    await local.context.database.write(effect)
    found = [{"execution_id": name} for name in [*names, "ex_nobody"]]
    owned = await local.context.database.read(lambda transaction: list(run_owners.with_owners(transaction, found)))
    assert owned == [*((raw, me) for raw in found[:-1]), (found[-1], None)]
