"""Review Composer runs: what is refused, and the packet of a service that observes nothing."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from runwatch.records.requests.composer import ReviewComposerRequest
from runwatch.service.access.authentication import local_tenant
from runwatch.service.execution.review_composer import build_packet
from runwatch.service.organization import wallet
from tests.service.conftest import Local
from tests.service.test_agents import Agent, connect_repository, register
from tests.service.test_outbound import server
from tests.support.clock import START
from tests.support.problems import check

SHA = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture
async def agent() -> AsyncIterator[Agent]:
    agent = Agent()
    async with server(agent.answer) as (port, _):
        agent.url = f"http://127.0.0.1:{port}/jobs"
        yield agent


def composed(agent_arm_id: str = "arm_1", **more: Any) -> dict[str, Any]:
    """The ``review_composer`` member."""
    return {
        "version": "v1", "repository": "acme/widgets", "base_ref": "main", "base_sha": SHA,
        "agent_arm_id": agent_arm_id,
        "sources": [
            {"id": "coderabbit"},
            {"id": "github", "checks": [{"workflow_id": 7, "job_name": "test"}], "minimum_approvals": 1},
        ],
        "combine": "all", "veto_sources": ["github"], **more,
    }  # fmt: skip


def body(agent_arm_id: str, **more: Any) -> dict[str, Any]:
    policy = {"data_classes": ["tenant_internal"], "budget": {"max_cost_usd": 1, "max_runtime_s": 60}}
    run = {"mode": "live", "task": {"objective": "Mend the bug."}, "policy": policy}
    return {**run, "review_composer": composed(agent_arm_id), **more}


async def test_a_run_ends_with_a_packet_that_asks_for_a_review(near: Local, agent: Agent) -> None:
    await connect_repository(near)
    arm_id = (await register(near, agent))["arm_id"]
    called = len(agent.heads or [])
    run = await near.finished((await near.submit(body(arm_id)))["execution_id"])
    assert run["status"] == "completed"
    packet = run["decision_packet"]
    assert (packet["verdict"], packet["action"]) == ("no_verdict", "needs_review")
    assert [(each["id"], each["status"], each["reason"]) for each in packet["sources"]] == [
        ("coderabbit", "no_verdict", "nothing_recorded"), ("github", "no_verdict", "nothing_recorded"),
    ]  # fmt: skip
    assert packet["artifact"]["base_sha"] == SHA
    assert len(agent.heads or []) == called, "the agent gets no job"
    receipt = await near.get(f"/v1/receipts/{run['execution_id']}")
    assert receipt["decision_packet"] == packet
    assert (receipt["totals"]["usd"], receipt["totals"]["platform_fee_usd"]) == (0, 0)
    assert "Mend the bug" not in str(receipt) + str(await near.events(run["execution_id"]))
    ended = (await near.events(run["execution_id"]))[-1]
    assert (ended["state"], "slice_id" in ended) == ("completed", False)


async def test_a_run_that_never_gets_its_turn_ends_with_its_time(near: Local, agent: Agent) -> None:
    await connect_repository(near)
    arm_id = (await register(near, agent))["arm_id"]
    await near.context.database.write(
        lambda transaction: wallet.set_limits(transaction, local_tenant(transaction), concurrency=0)
    )
    run = await near.finished((await near.submit(body(arm_id)))["execution_id"])
    assert (run["status"], run["reason"]) == ("expired", "runtime_exceeded")


@pytest.mark.parametrize(
    ("more", "field"),
    [
        ({"base_sha": "main"}, "review_composer.base_sha"),
        ({"version": "v2"}, "review_composer.version"),
        ({"sources": []}, "review_composer.sources"),
        ({"sources": [{"id": "coderabbit"}, {"id": "coderabbit"}]}, "review_composer.sources"),
        ({"sources": [{"id": "coderabbit", "minimum_approvals": 1}]}, "review_composer.sources[0].minimum_approvals"),
        ({"sources": [{"id": "somebody"}]}, "review_composer.sources[0].id"),
        ({"veto_sources": ["somebody"]}, "review_composer.veto_sources"),
        ({"combine": "most"}, "review_composer.combine"),
    ],
)
async def test_a_request_with_a_fault_names_the_field(near: Local, more: dict[str, Any], field: str) -> None:
    sent = body("arm_1") | {"review_composer": composed(**more)}
    problem = check(
        await near.http.post("/v1/executions", json=sent, headers={"Idempotency-Key": "k"}), "validation_failed"
    )
    assert field in [error.field for error in problem.errors or ()]


async def test_the_agent_the_repository_and_the_mode_have_to_fit(near: Local, agent: Agent) -> None:
    async def refused(sent: dict[str, Any], code: str) -> None:
        check(await near.http.post("/v1/executions", json=sent, headers={"Idempotency-Key": "k"}), code)

    await refused(body("arm_1"), "invalid_state")
    await connect_repository(near)
    await connect_repository(near, "acme/other")
    await refused(body("arm_1"), "validation_failed")
    arm_id = (await register(near, agent))["arm_id"]
    await refused(body(arm_id) | {"review_composer": composed(arm_id, repository="acme/other")}, "validation_failed")
    without_mode = body(arm_id)
    del without_mode["mode"]
    await refused(without_mode, "validation_failed")
    await refused(body(arm_id, mode="echo"), "validation_failed")
    await refused(body(arm_id, verifier_id="vrf_1"), "validation_failed")
    await near.http.delete(f"/v1/arms/{arm_id}")
    await refused(body(arm_id), "invalid_state")


def test_the_policy_s_hash_covers_what_is_asked_of_each_source() -> None:
    strict = ReviewComposerRequest.model_validate(composed())
    mild = ReviewComposerRequest.model_validate(composed(sources=[{"id": "coderabbit"}, {"id": "github"}]))
    hashes = {build_packet(request, START)["policy_hash"] for request in (strict, mild, strict)}
    assert len(hashes) == 2
