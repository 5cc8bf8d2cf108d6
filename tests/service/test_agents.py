"""Review agents: registered for a connected repository, reached, and given a key that is never shown again."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.service.conftest import Local, Serving
from tests.service.test_outbound import server
from tests.support.problems import check

AGENTS = "/v1/review-composer/agents"
KEY = "agent-key-sentinel-91c4"


@dataclass(slots=True)
class Agent:
    """An agent on this machine that takes one key, or any caller while it has none.

    Attributes:
        url: Its address.
        key: The key.
        status: What it answers to who may call.
        heads: The request heads that it got.
    """

    url: str = ""
    key: str | None = None
    status: int = 405
    heads: list[bytes] | None = None

    async def answer(self, _: asyncio.StreamReader, writer: asyncio.StreamWriter, head: bytes) -> None:
        knows = self.key is None or f"Bearer {self.key}".encode() in head
        status = self.status if knows else 401
        writer.write(f"HTTP/1.1 {status} Said\r\nContent-Length: 0\r\n\r\n".encode())
        await writer.drain()


@pytest.fixture
async def agent() -> AsyncIterator[Agent]:
    agent = Agent()
    async with server(agent.answer) as (port, heads):
        agent.url, agent.heads = f"http://127.0.0.1:{port}/jobs", heads
        yield agent


async def connect_repository(near: Local, repository: str = "acme/widgets") -> None:
    intent = await near.http.post("/v1/github-connections/intents", json={"repository": repository})
    assert (await near.http.post(intent.json()["continue_url"], json={"on": "yes"})).status_code == 200


def body(agent: Agent, **more: Any) -> dict[str, Any]:
    endpoint = {"url": agent.url, "auth_ref": ""}
    return {
        "repository": "acme/widgets",
        "display_name": "Patch agent",
        "endpoint": endpoint,
        "max_runtime_s": 600,
    } | more


async def register(near: Local, agent: Agent, key: str = "r-1", **more: Any) -> dict[str, Any]:
    answer = await near.http.post(AGENTS, json=body(agent, **more), headers={"Idempotency-Key": key})
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


async def enter_key(near: Local, arm_id: str, key: str = KEY) -> dict[str, Any]:
    """Ask for the private page and type a key there."""
    asked = await near.http.post(
        f"{AGENTS}/{arm_id}/connection/intents", json={"stop_choice": {"kind": "preset_days", "days": 30}}
    )
    assert asked.status_code == 200, asked.text
    entered = await near.http.post(asked.json()["continue_url"], json={"secret": key})
    assert entered.status_code == 200, entered.text
    return dict(entered.json())


async def view(near: Local, arm_id: str) -> dict[str, Any]:
    return await near.get(f"{AGENTS}/{arm_id}/connection")


async def test_a_registered_agent_is_listed_with_safe_metadata_only(near: Local, agent: Agent) -> None:
    await connect_repository(near)
    outcome = await register(near, agent)
    assert (outcome["status"], outcome["status_reason"]) == ("ready", None)
    assert await near.get(AGENTS) == {
        "agents": [
            {
                "arm_id": outcome["arm_id"], "display_name": "Patch agent", "endpoint_url": agent.url,
                "repository": "acme/widgets", "status": "ready", "status_reason": "",
            }
        ]
    }  # fmt: skip
    arm = await near.get(f"/v1/arms/{outcome['arm_id']}")
    assert (arm["kind"], arm["data_class_grants"], arm["capability_tags"]) == (
        "agent", ["tenant_internal"], ["async_job_v1"],
    )  # fmt: skip


async def test_without_a_connected_repository_there_is_no_agent(near: Local, agent: Agent) -> None:
    answer = await near.http.post(AGENTS, json=body(agent), headers={"Idempotency-Key": "r"})
    assert "`runwatch github connect`" in str(check(answer, "invalid_state").detail)
    assert await near.get(AGENTS) == {"agents": []}


async def test_a_registration_needs_an_idempotency_key_and_happens_once(near: Local, agent: Agent) -> None:
    await connect_repository(near)
    check(await near.http.post(AGENTS, json=body(agent)), "validation_failed")
    assert await register(near, agent) == await register(near, agent)
    assert len((await near.get(AGENTS))["agents"]) == 1


async def test_an_agent_that_does_not_answer_is_degraded(near: Local, agent: Agent) -> None:
    await connect_repository(near)
    agent.status = 503
    outcome = await register(near, agent)
    assert outcome["status"] == "degraded"
    assert outcome["status_reason"] == "endpoint_unreachable"


async def test_an_agent_on_this_machine_is_out_of_reach_unless_allowed(serving: Serving, agent: Agent) -> None:
    async with serving() as strict:
        await connect_repository(strict)
        outcome = await register(strict, agent)
        assert outcome["status"] == "degraded"
        assert agent.heads == []


@pytest.mark.parametrize(
    ("more", "field"),
    [
        ({"repository": "ab"}, "repository"),
        ({"endpoint": {"url": "ftp://one"}}, "endpoint.url"),
        ({"max_runtime_s": 0}, "max_runtime_s"),
    ],
)
async def test_a_registration_with_a_fault_names_the_field(
    near: Local, agent: Agent, more: dict[str, Any], field: str
) -> None:
    answer = await near.http.post(AGENTS, json=body(agent, **more), headers={"Idempotency-Key": "r"})
    problem = check(answer, "validation_failed")
    assert [error.field for error in problem.errors or ()] == [field]


async def test_a_key_is_entered_tested_used_and_stopped(near: Local, agent: Agent, data_dir: Path) -> None:
    await connect_repository(near)
    arm_id = (await register(near, agent))["arm_id"]
    assert (await view(near, arm_id))["status"] == "unbound"
    agent.key = KEY
    staged = await enter_key(near, arm_id)
    assert (await view(near, arm_id))["pending_key"]["handle"] == staged["handle"]
    answer = await near.http.post(f"{AGENTS}/{arm_id}/connection/test", json=staged)
    assert answer.json() == {"status": "active", "handle": staged["handle"], "arm_id": arm_id}
    active = await view(near, arm_id)
    assert (active["status"], active["days_remaining"], active["pending_key"]) == ("active", 30, None)
    again = await near.http.post(f"{AGENTS}/{arm_id}/connection/test", json=staged)
    assert again.status_code == 200, "asking again for what has happened changes nothing"
    answer = await near.http.post(f"{AGENTS}/{arm_id}/connection/revoke", json={"operation_key": "stop-1"})
    assert answer.json() == {"status": "revoked", "arm_id": arm_id}
    assert (await view(near, arm_id))["status"] == "revoked"
    (listed,) = (await near.get(AGENTS))["agents"]
    assert (listed["status"], listed["status_reason"]) == ("degraded", "connection_revoked")
    for where, found in (({}, [arm_id]), ({"status": "degraded"}, [arm_id]), ({"status": "ready"}, [])):
        arms = (await near.get("/v1/arms", **where))["arms"]
        assert [arm["arm_id"] for arm in arms] == found
        assert all((arm["status"], arm["status_reason"]) == ("degraded", "connection_revoked") for arm in arms)
    for file in data_dir.rglob("*"):
        assert not file.is_file() or KEY.encode() not in file.read_bytes(), file


async def test_a_key_that_the_agent_refuses_leaves_the_one_in_use(near: Local, agent: Agent) -> None:
    await connect_repository(near)
    arm_id = (await register(near, agent))["arm_id"]
    agent.key = KEY
    good = await enter_key(near, arm_id)
    assert (await near.http.post(f"{AGENTS}/{arm_id}/connection/test", json=good)).status_code == 200
    wrong = await enter_key(near, arm_id, "another-key-8d2f")
    problem = check(await near.http.post(f"{AGENTS}/{arm_id}/connection/test", json=wrong), "invalid_state")
    assert "authentication_failed" in (problem.detail or "")
    now = await view(near, arm_id)
    assert (now["status"], now["handle"], now["pending_key"]) == ("active", good["handle"], None)


async def test_a_disabled_agent_takes_no_key(near: Local, agent: Agent) -> None:
    await connect_repository(near)
    arm_id = (await register(near, agent))["arm_id"]
    assert (await near.http.delete(f"/v1/arms/{arm_id}")).status_code == 200
    asked = {"stop_choice": {"kind": "no_expiration"}}
    check(await near.http.post(f"{AGENTS}/{arm_id}/connection/intents", json=asked), "invalid_state")
    (listed,) = (await near.get(AGENTS))["agents"]
    assert listed["status"] == "disabled"


async def test_an_ordinary_agent_option_is_no_review_agent(near: Local, agent: Agent) -> None:
    arm = {
        "kind": "agent", "display_name": "Other", "capability_tags": [], "data_class_grants": ["public"],
        "endpoint": {"url": agent.url, "auth_ref": ""},
    }  # fmt: skip
    answer = await near.http.post("/v1/arms", json=arm)
    assert answer.status_code == 200, answer.text
    assert await near.get(AGENTS) == {"agents": []}
    check(await near.http.get(f"{AGENTS}/{answer.json()['arm_id']}/connection"), "not_found")
