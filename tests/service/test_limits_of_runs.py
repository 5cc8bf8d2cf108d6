"""What keeps runs from being accepted, and from being worked on at once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from decimal import Decimal

import httpx
import pytest

from runwatch.service.organization import wallet
from runwatch.service.tables import (
    arms_table,
    audit_table,
    live_runs_table,
    runs_table,
    tasks_table,
    tenants_table,
    verifiers_table,
    wallets_table,
)
from runwatch.service.transaction import Transaction
from tests.service.conftest import Json, Local, Serving, capped, echo_body
from tests.service.live_work import (
    FakeJudge,
    FakeProviders,
    LiveWork,
    add_model,
    add_skill,
    add_verifier,
    live_body,
    said,
    scripted,
    work,
)
from tests.support.clock import FakeClock
from tests.support.problems import check, fields

__all__ = ["scripted", "work"]


@pytest.fixture
async def queueing(serving: Serving, scripted: tuple[FakeProviders, FakeJudge]) -> AsyncIterator[LiveWork]:
    """A service on a stopped clock, whose organization may have one run in progress at a time."""
    async with serving(FakeClock(manual=True), concurrency=1) as service:
        yield LiveWork(service, *scripted)


async def submit(work: LiveWork, body: Json) -> httpx.Response:
    return await work.service.http.post("/v1/executions", json=body, headers={"Idempotency-Key": "k"})


def refuses(answer: httpx.Response, field: str) -> None:
    """The request is not valid, because of this field alone."""
    assert fields(check(answer, "validation_failed")) == [field]


async def status_of(service: Local, run_id: str) -> str:
    return str((await service.get(f"/v1/executions/{run_id}"))["status"])


async def statuses(service: Local) -> list[str]:
    """The states of all runs at one moment, newest first."""
    return [run["status"] for run in (await service.get("/v1/executions"))["executions"]]


async def test_a_data_class_that_no_arm_is_granted_is_refused(work: LiveWork) -> None:
    unsaved = check(await submit(work, live_body()), "data_class_not_available")
    assert str(unsaved.detail).startswith("No model is saved")
    arm_id = await work.having(add_model, "ember", grants=("tenant_internal",))
    check(await submit(work, live_body()), "data_class_not_available")
    await work.having(add_skill)
    # Some arm is granted it, though none that may work on the run: the run is accepted, and fails.
    assert (await work.done(live_body()))["reason"] == "no_eligible_arms"
    await work.change(arms_table, {"arm_id": arm_id}, status="disabled")
    body = live_body()
    body["policy"]["data_classes"] = ["tenant_internal"]
    check(await submit(work, body), "data_class_not_available")


async def test_the_data_classes_of_a_test_run_are_checked_as_those_of_a_live_one(work: LiveWork) -> None:
    body = echo_body()
    body["policy"]["data_classes"] = ["tenant_internal"]
    check(await submit(work, body), "data_class_not_available")
    await work.having(add_model, "ember", grants=("tenant_internal",))
    assert (await submit(work, body)).status_code == 200


@pytest.mark.parametrize("data_class", ["public", "sandbox"])
async def test_a_test_run_may_touch_open_data_before_a_model_is_saved(work: LiveWork, data_class: str) -> None:
    body = echo_body()
    body["policy"]["data_classes"] = [data_class]
    assert (await submit(work, body)).status_code == 200


async def test_a_check_that_cannot_be_used_is_refused(work: LiveWork) -> None:
    await work.having(add_model, "ember")
    refuses(await submit(work, live_body(verifier_id="vrf_none")), "verifier_id")
    narrow = await work.having(add_verifier, data_classes=("tenant_internal",))
    refuses(await submit(work, live_body(verifier_id=narrow)), "verifier_id")
    verifier_id = await work.having(add_verifier)
    check(await submit(work, echo_body(verifier_id=verifier_id)), "echo_mode_mismatch")
    await work.change(verifiers_table, {"verifier_id": verifier_id}, retired_at="2026-11-21T00:00:00.000Z")
    check(await submit(work, live_body(verifier_id=verifier_id)), "invalid_state")


async def test_a_check_needs_a_saved_model_that_is_ready_or_a_required_one(work: LiveWork) -> None:
    arm_id = await work.having(add_model, "ember")
    verifier_id = await work.having(add_verifier)
    await work.change(arms_table, {}, status="degraded")
    check(await submit(work, live_body(verifier_id=verifier_id)), "invalid_state")
    run = await work.done(live_body(verifier_id=verifier_id, arm_id=arm_id))
    assert run["reason"] == "arm_not_ready"


@pytest.mark.parametrize("mode", ["live", "echo"])
async def test_a_required_arm_has_to_be_a_saved_model_of_the_organization(work: LiveWork, mode: str) -> None:
    arm_id = await work.having(add_model, "ember")
    skill_id = await work.having(add_skill)
    for wrong, told in (
        ("arm_none", "There is no saved model arm_none."),
        (skill_id, f"{skill_id} is a skill, not a saved model. `repair_retry` in `on_eval` uses"),
    ):
        body = {**live_body(arm_id=wrong), "mode": mode}
        refuses(answer := await submit(work, body), "routing.required_arm_id")
        assert told in answer.text
    near = await submit(work, {**live_body(arm_id=f"{arm_id}x"), "mode": mode})
    assert f"`runwatch arms list --kind model` shows them. Did you mean '{arm_id}'?" in near.text
    assert (await work.done({**live_body(arm_id=arm_id), "mode": mode}))["status"] == "completed"


async def test_another_organizations_check_and_arm_do_not_exist(work: LiveWork) -> None:
    await work.having(add_model, "ember")
    bodies = {
        "verifier_id": live_body(verifier_id=await work.having(add_verifier)),
        "routing.required_arm_id": live_body(arm_id=await work.having(add_model, "atlas")),
    }
    tenant_id = "ten_other"

    def other(transaction: Transaction) -> None:
        transaction.add(tenants_table, tenant_id=tenant_id, display_name="Other", created_at="2026-11-21T00:00:00.000Z")
        add_model(transaction, tenant_id, "boreal")

    await work.service.context.database.write(other)
    key, _ = await work.service.add_key(tenant_id)
    headers = {"Authorization": f"Bearer {key}", "Idempotency-Key": "k"}
    for field, body in bodies.items():
        refuses(await work.service.http.post("/v1/executions", json=body, headers=headers), field)


async def test_a_refused_run_leaves_nothing_behind(work: LiveWork) -> None:
    await work.having(add_model, "ember")
    tenant_id = await work.tenant()
    await work.service.context.database.write(lambda t: wallet.set_balance(t, tenant_id, Decimal(0)))
    check(await submit(work, live_body()), "insufficient_credit")
    assert [await work.rows(table) for table in (runs_table, live_runs_table, tasks_table)] == [[], [], []]
    assert (await work.done(echo_body()))["status"] == "completed"


async def test_a_run_is_charged_once_it_is_final(work: LiveWork) -> None:
    await work.having(add_model, "ember")
    tenant_id = await work.tenant()
    await work.service.context.database.write(lambda t: wallet.set_balance(t, tenant_id, Decimal("0.01")))
    work.providers.script("ember", said(usd="0.0300"))
    await work.done(live_body())
    (row,) = await work.rows(wallets_table)
    assert Decimal(row["balance_usd"]) == Decimal("-0.02")
    check(await submit(work, live_body()), "insufficient_credit")


async def test_cancelling_is_noted_in_the_decision_log(held: Local) -> None:
    run_id = (await held.submit())["execution_id"]
    await held.http.post(f"/v1/executions/{run_id}/cancel")
    (row,) = await held.context.database.read(lambda t: t.list_all(audit_table, {"resource_id": run_id}))
    assert (row["kind"], row["action"]) == ("execution_cancellation", "cancelled")


async def test_a_run_waits_in_the_queue_until_another_ends(queueing: LiveWork) -> None:
    await queueing.having(add_model, "ember")
    held = asyncio.Event()
    queueing.providers.script("ember", held)
    first = (await queueing.service.submit(live_body()))["execution_id"]
    await queueing.providers.begun.wait()
    second, third = [(await queueing.service.submit(live_body()))["execution_id"] for _ in range(2)]
    async with asyncio.timeout(60):
        while await statuses(queueing.service) != ["queued", "queued", "running"]:
            await asyncio.sleep(0)
    await queueing.service.http.post(f"/v1/executions/{second}/cancel")
    held.set()
    await queueing.service.context.engine.settled()
    assert [await status_of(queueing.service, run_id) for run_id in (first, second, third)] == [
        "completed", "cancelled", "completed",
    ]  # fmt: skip


async def test_a_run_that_waits_too_long_expires(queueing: LiveWork) -> None:
    await queueing.having(add_model, "ember")
    queueing.providers.script("ember", asyncio.Event())
    first = (await queueing.service.submit(live_body(max_runtime_s=900)))["execution_id"]
    await queueing.providers.begun.wait()
    second = (await queueing.service.submit(live_body(max_runtime_s=30)))["execution_id"]
    clock = queueing.service.fake_clock
    await clock.until_sleeping()
    clock.advance(30)
    while not (await queueing.service.get(f"/v1/executions/{second}"))["reason"]:
        await asyncio.sleep(0)
    assert await status_of(queueing.service, second) == "expired"
    assert await status_of(queueing.service, first) == "running"


@pytest.mark.exhaustive
async def test_test_runs_take_turns_too(queueing: LiveWork) -> None:
    service = queueing.service
    clock = service.fake_clock
    for _ in range(3):
        await service.submit(capped(1e6))
    at_once = set()
    while service.context.engine.unfinished:
        at_once.add((await statuses(service)).count("running"))
        clock.advance(0.01)
    assert await statuses(service) == ["completed"] * 3
    assert at_once == {0, 1}


@pytest.mark.parametrize("mode", ["echo", "live"])
async def test_a_data_class_that_does_not_exist_is_named_with_those_that_do(work: LiveWork, mode: str) -> None:
    await work.having(add_model, "ember", grants=("public", "medical"))
    body = echo_body() | {"mode": mode}
    body["policy"]["data_classes"] = ["public", "medcal"]
    problem = check(await submit(work, body), "validation_failed")
    assert [(error.field, error.message) for error in problem.errors or ()] == [
        (
            "policy.data_classes[1]",
            "There is no data class medcal. Must be one of medical, public, sandbox, tenant_internal. Did you mean"
            " 'medical'?",
        )
    ]


async def test_a_key_in_place_of_a_data_class_is_not_repeated(work: LiveWork) -> None:
    body = echo_body()
    body["policy"]["data_classes"] = ["not a class"]
    problem = check(await submit(work, body), "validation_failed")
    assert "not a class" not in str(problem.raw)
