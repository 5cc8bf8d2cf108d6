"""Registered options: register, list, change, disable, and how their status follows what they depend on."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from runwatch.service.access.vault import DIRECTORY
from runwatch.service.models.arms import NO_ROUTE
from runwatch.service.tables import arms_table, audit_table
from tests.service.conftest import Json, Local, Serving, other_tenant
from tests.service.live_work import live_body
from tests.service.sourcing import SECRET, Saved, completed, model_arm, post, save, save_sample, sync
from tests.service.test_agents import AGENTS, KEY, connect_repository, enter_key
from tests.support.clock import FakeClock
from tests.support.master_keys import vault_secrets
from tests.support.model_server import ModelServer
from tests.support.problems import check, fields
from tests.support.scripted import Said

NOW = "2026-11-21T12:00:00.000Z"
REMOTE = "https://agents.example.test/run"

CONTENT = "[[region:body]]\nBe brief.\n[[/region:body]]\n"

SKILL: Json = {
    "kind": "skill",
    "display_name": "Tidy",
    "capability_tags": ["text.repair"],
    "data_class_grants": ["public"],
    "artifact": {"content": CONTENT, "version": "1", "editable_regions": ["body"]},
}


def agent(url: str, **more: Any) -> Json:
    return {
        "kind": "agent",
        "display_name": "Reviewer",
        "capability_tags": ["code.review"],
        "data_class_grants": ["public"],
        "endpoint": {"url": url, "auth_ref": ""},
        **more,
    }


@pytest.fixture
async def server() -> AsyncIterator[ModelServer]:
    async with ModelServer(models=("tiny-1", "tiny-2")) as running:
        yield running


@pytest.fixture
async def saved(local: Local, server: ModelServer) -> Saved:
    """A connection that serves two models."""
    return await save(local, server, secret=None)


async def decisions(local: Local, arm_id: str) -> list[str]:
    where = {"resource_type": "arm", "resource_id": arm_id, "kind": "registry_action"}
    rows = await local.context.database.read(lambda transaction: transaction.list_all(audit_table, where))
    assert all(row["acted_by"] for row in rows)
    return [row["action"] for row in rows]


async def read(local: Local, arm: Json) -> Json:
    return await local.get(f"/v1/arms/{arm['arm_id']}")


async def patch(local: Local, arm: Json, **change: Any) -> Json:
    answer = await local.http.patch(f"/v1/arms/{arm['arm_id']}", json=change)
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


async def test_a_saved_model_is_a_whole_record(local: Local, saved: Saved) -> None:
    deployment = saved.deployments["tiny-1"]
    arm = await model_arm(local, deployment, display_name="Tiny One")
    assert arm == {
        "arm_id": arm["arm_id"], "kind": "model", "display_name": "Tiny One", "status": "ready", "status_reason": None,
        "capability_tags": ["text.generate"], "data_class_grants": ["public"], "cost_class": "economy",
        "provider": "Lab", "model_id": "tiny-1", "model_deployment_id": deployment["model_deployment_id"],
        "connection_id": saved.connection["connection_id"], "connection_name": "Lab", "model_lifecycle": "active",
        "created_at": NOW, "updated_at": NOW,
    }  # fmt: skip
    assert arm["arm_id"].startswith("arm_")
    # What is shown can be registered again, with the deployment and by the names alone.
    names = ("kind", "display_name", "capability_tags", "data_class_grants", "provider", "model_id")
    again = {name: arm[name] for name in names}
    for body in (again, again | {"model_deployment_id": arm["model_deployment_id"]}):
        made = (await local.http.post("/v1/arms", json=body)).json()
        assert (made["status"], made["provider"], made["model_deployment_id"]) == (
            "ready", "Lab", arm["model_deployment_id"],
        )  # fmt: skip
    assert await read(local, arm) == arm
    assert await decisions(local, arm["arm_id"]) == ["registered"]


async def test_a_model_named_by_provider_is_bound_to_what_serves_it(local: Local, saved: Saved) -> None:
    body = {**SKILL, "kind": "model", "provider": "openai_compatible", "model_id": "tiny-2"}
    del body["artifact"]
    arm = await post(local, "/v1/arms", {**body, "capability_tags": ["text.generate"]})
    assert arm["status"] == "ready"
    assert arm["model_deployment_id"] == saved.deployments["tiny-2"]["model_deployment_id"]


async def test_a_model_that_nothing_serves_is_registered_as_degraded(local: Local) -> None:
    body = {**SKILL, "kind": "model", "provider": "elsewhere", "model_id": "big"}
    del body["artifact"]
    arm = await post(local, "/v1/arms", body)
    assert (arm["status"], arm["status_reason"]) == ("degraded", NO_ROUTE)
    assert (arm["provider"], arm["model_id"]) == ("elsewhere", "big")
    assert "model_deployment_id" not in arm


async def test_a_skill_carries_the_hash_of_its_text(local: Local) -> None:
    arm = await post(local, "/v1/arms", SKILL)
    assert (arm["status"], arm["kind"]) == ("ready", "skill")
    assert arm["artifact_hash"] == f"sha256:{hashlib.sha256(CONTENT.encode()).hexdigest()}"
    artifact = {"content": "Be very brief.", "version": "2", "editable_regions": []}
    changed = await patch(local, arm, artifact=artifact)
    assert changed["artifact_hash"] == f"sha256:{hashlib.sha256(b'Be very brief.').hexdigest()}"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("Be brief.", "The text does not mark these editable regions: 'body', 'tone'. A region begins with a line"),
        ("[[region:tone]]\nx\n[[/region:tone]]", "The text does not mark these editable regions: 'body'."),
        ("[[region:body]]\nBrief.\n[[region:tone]]\nx\n[[/region:tone]]",
         "The region 'body' has no closing line [[/region:body]] after its text."),
    ],
)  # fmt: skip
async def test_a_skill_without_its_region_is_not_ready_until_its_text_has_it(
    local: Local, content: str, said: str
) -> None:
    without = {"content": content, "version": "1", "editable_regions": ["body", "tone"]}
    arm = await post(local, "/v1/arms", SKILL | {"artifact": without})
    assert arm["status"] == "degraded"
    assert arm["status_reason"].startswith(said)
    marked = {"content": CONTENT.replace("\n", "\r\n"), "version": "2", "editable_regions": ["body"]}
    changed = await patch(local, arm, artifact=marked)
    assert (changed["status"], changed["status_reason"]) == ("ready", None)


@pytest.mark.parametrize(("status", "reachable"), [(200, True), (401, True), (405, True), (500, False)])
async def test_an_agent_is_asked_for_an_answer(serving: Serving, status: int, reachable: bool) -> None:
    async with serving(allow_loopback_checks=True) as service, ModelServer() as server:
        server.say("HEAD", ".*", Said(status, b""))
        arm = await post(service, "/v1/arms", agent(f"{server.origin}/agent", lifecycle={"max_runtime_s": 60}))
        assert [heard.head.header("authorization") for heard in server.heard] == [None]
        assert arm["preflight"] == {
            "reachable": reachable, "reason_code": None if reachable else "endpoint_unreachable", "http_status": status,
            "detail": None if reachable else "The address answered with a server error.",
        }  # fmt: skip
        assert arm["status"] == ("ready" if reachable else "degraded")
        record = await read(service, arm)
        assert record["endpoint"] == {"url": f"{server.origin}/agent", "auth_ref": ""}
        assert record["lifecycle"] == {"max_runtime_s": 60}
        assert "preflight" not in record
        # A new name calls no server; a new address does.
        assert (await patch(service, arm, display_name="Other"))["status"] == arm["status"]
        assert len(server.heard) == 1
        server.say("HEAD", ".*", Said(200, b""))
        moved = await patch(service, arm, endpoint={"url": f"{server.origin}/there", "auth_ref": ""})
        assert (moved["status"], len(server.heard)) == ("ready", 2)


@pytest.mark.parametrize(
    ("url", "reason"),
    [("http://127.0.0.1:9/", "scheme_rejected"), ("https://127.0.0.1:9/", "private_range_rejected")],
)
async def test_an_agent_on_this_machine_is_not_called_unless_the_service_allows_it(
    local: Local, url: str, reason: str
) -> None:
    arm = await post(local, "/v1/arms", agent(url))
    assert (arm["status"], arm["preflight"]["reason_code"]) == ("degraded", reason)
    assert reason in arm["status_reason"]


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ({**SKILL, "kind": "tool"}, ["kind"]),
        ({**SKILL, "capability_tags": ["a", "a"], "data_class_grants": "public"},
         ["capability_tags", "data_class_grants"]),
        ({**SKILL, "cost_class": "free"}, ["cost_class"]),
        ({**SKILL, "artifact": None}, ["artifact"]),
        ({**SKILL, "artifact": {"content": "", "version": "1"}}, ["artifact.content", "artifact.editable_regions"]),
        ({**SKILL, "model_deployment_id": "mdep_1"}, ["model_deployment_id"]),
        ({**SKILL, "kind": "agent"}, ["endpoint", "artifact"]),
        (agent("agents.example.test"), ["endpoint.url"]),
        (agent("https://user:pass@agents.example.test/"), ["endpoint.url"]),
        (agent(REMOTE, lifecycle={"max_runtime_s": 0}), ["lifecycle.max_runtime_s"]),
        ({**SKILL, "kind": "model", "artifact": None}, ["provider", "model_id"]),
        ({**SKILL, "kind": "model", "artifact": None, "provider": "x"}, ["model_id"]),
        ({**SKILL, "kind": "model", "artifact": None, "model_deployment_id": "mdep_unknown"}, ["model_deployment_id"]),
    ],
)  # fmt: skip
async def test_what_cannot_be_registered_is_refused_by_field(local: Local, body: Any, named: list[str]) -> None:
    assert fields(check(await local.http.post("/v1/arms", json=body), "validation_failed")) == named
    assert (await local.get("/v1/arms"))["arms"] == []


async def test_a_model_claims_no_more_than_it_is_certified_for(local: Local, saved: Saved) -> None:
    body: Json = {
        "kind": "model", "display_name": "x", "model_deployment_id": saved.deployments["tiny-1"]["model_deployment_id"],
        "capability_tags": ["text.generate", "text.translate"], "data_class_grants": ["public", "secret"],
    }  # fmt: skip
    answer = await local.http.post("/v1/arms", json=body)
    assert fields(check(answer, "validation_failed")) == ["capability_tags", "data_class_grants"]
    other = {**body, "capability_tags": [], "data_class_grants": [], "provider": "elsewhere", "model_id": "tiny-1"}
    assert fields(check(await local.http.post("/v1/arms", json=other), "validation_failed")) == ["provider"]
    arm = await model_arm(local, saved.deployments["tiny-1"])
    answer = await local.http.patch(f"/v1/arms/{arm['arm_id']}", json={"data_class_grants": ["secret"]})
    assert fields(check(answer, "validation_failed")) == ["data_class_grants"]
    assert await read(local, arm) == arm


async def test_a_deployment_that_is_not_listed_cannot_be_saved(local: Local, server: ModelServer, saved: Saved) -> None:
    server.say("GET", ".*", Said(200, {"data": [{"id": "tiny-2"}]}))
    await sync(local, saved.path)
    body = {
        "kind": "model", "display_name": "x", "model_deployment_id": saved.deployments["tiny-1"]["model_deployment_id"],
        "capability_tags": [], "data_class_grants": [],
    }  # fmt: skip
    assert fields(check(await local.http.post("/v1/arms", json=body), "validation_failed")) == ["model_deployment_id"]


async def test_a_model_that_is_gone_degrades_its_option_until_it_is_back(
    local: Local, server: ModelServer, saved: Saved
) -> None:
    arm = await model_arm(local, saved.deployments["tiny-1"])
    server.say("GET", ".*", Said(200, {"data": [{"id": "tiny-2"}]}))
    await sync(local, saved.path)
    gone = await read(local, arm)
    assert (gone["status"], "No longer served by" in gone["status_reason"]) == ("degraded", True)
    assert gone["route_availability"] == {
        "status": "retired", "reason": "absent_from_feed", "since": gone["route_availability"]["since"], "until": None,
    }  # fmt: skip
    # A degraded option can still be named otherwise.
    assert (await patch(local, arm, display_name="Old"))["status"] == "degraded"
    server.say("GET", ".*", Said(200, {"data": [{"id": "tiny-1"}]}))
    await sync(local, saved.path)
    back = await read(local, arm)
    assert (back["status"], back["status_reason"], "route_availability" in back) == ("ready", None, False)


@pytest.mark.exhaustive
async def test_a_deprecated_model_stays_ready_and_says_since_when(serving: Serving) -> None:
    async with serving(FakeClock(manual=True)) as service, ModelServer() as server:
        clock = service.fake_clock
        source = await save(service, server, secret=None)
        arm = await model_arm(service, source.deployments["tiny-1"])
        server.say("GET", ".*", Said(200, {"data": [{"id": "tiny-1", "deprecated": True}]}))
        clock.advance(60)
        await sync(service, source.path)
        clock.advance(60)
        await sync(service, source.path)
        shown = await read(service, arm)
    assert (shown["status"], shown["model_lifecycle"]) == ("ready", "deprecated")
    assert shown["route_availability"] == {
        "status": "deprecated", "reason": "provider_deprecated", "since": "2026-11-21T12:01:00.000Z", "until": None,
    }  # fmt: skip


async def test_a_failed_test_degrades_every_option_behind_the_connection(
    local: Local, server: ModelServer, saved: Saved
) -> None:
    arms = [await model_arm(local, row) for row in saved.deployments.values()]
    server.say("GET", ".*", Said(503, {}))
    await post(local, f"{saved.path}/test")
    for arm in arms:
        shown = await read(local, arm)
        connection_id = saved.connection["connection_id"]
        test = f"To test it again: runwatch sources test {connection_id}"
        reason = f"Failed test of its connection {connection_id}. {test}"
        assert (shown["status"], shown["status_reason"]) == ("degraded", reason)
        assert (shown["route_availability"]["status"], shown["route_availability"]["reason"]) == (
            "suspended",
            "not_ready",
        )
    assert len((await local.get("/v1/arms", status="degraded"))["arms"]) == 2


async def test_options_are_listed_newest_first_by_kind_and_status(local: Local, saved: Saved) -> None:
    models = [(await model_arm(local, saved.deployments["tiny-1"]))["arm_id"] for _ in range(3)]
    skills = [(await post(local, "/v1/arms", SKILL))["arm_id"] for _ in range(2)]
    await local.http.delete(f"/v1/arms/{models[0]}")

    async def found(**query: Any) -> list[str]:
        return [arm["arm_id"] for arm in (await local.get("/v1/arms", **query))["arms"]]

    assert await found() == [*skills[::-1], *models[::-1]]
    assert await found(kind="skill") == skills[::-1]
    assert await found(kind="model", status="ready") == models[:0:-1]
    assert await found(status="disabled") == [models[0]]
    first = await local.get("/v1/arms", limit=4)
    second = await local.get("/v1/arms", limit=4, cursor=first["next_cursor"])
    assert [arm["arm_id"] for arm in (*first["arms"], *second["arms"])] == await found()
    assert second["next_cursor"] is None
    for query in ({"kind": "tool"}, {"status": "gone"}, {"limit": "0"}, {"cursor": "x"}):
        assert fields(check(await local.http.get("/v1/arms", params=query), "validation_failed")) == list(query)


@pytest.mark.exhaustive
async def test_a_change_names_only_what_changes(local: Local, saved: Saved) -> None:
    arm = await model_arm(local, saved.deployments["tiny-1"])
    changed = await patch(local, arm, display_name="Second", cost_class="premium", kind="model", unknown=1)
    assert changed == {**arm, "display_name": "Second", "cost_class": "premium"}
    other = saved.deployments["tiny-2"]["model_deployment_id"]
    moved = await patch(local, arm, model_deployment_id=other)
    assert (moved["model_id"], moved["model_deployment_id"]) == ("tiny-2", other)
    unbound = await patch(local, arm, provider="elsewhere", model_id="big")
    assert (unbound["status"], "model_deployment_id" in unbound) == ("degraded", False)
    bound = await patch(local, arm, model_deployment_id=other)
    assert (bound["status"], bound["model_id"]) == ("ready", "tiny-2")
    assert await decisions(local, arm["arm_id"]) == ["registered", "changed", "changed", "changed", "changed"]


@pytest.mark.exhaustive
async def test_an_option_that_moves_to_another_model_is_held_against_that_one(serving: Serving) -> None:
    async with serving(sample=True) as service:
        models = (await save_sample(service, "sample_north")).deployments
        arm = await model_arm(service, models["ember-small"], data_class_grants=["tenant_internal"])
        path, moved = f"/v1/arms/{arm['arm_id']}", models["ember-next"]["model_deployment_id"]
        answer = await service.http.patch(path, json={"model_deployment_id": moved})
        assert fields(check(answer, "validation_failed")) == ["data_class_grants"]
        shown = await patch(service, arm, model_deployment_id=moved, data_class_grants=["public"])
        assert (shown["model_id"], shown["model_lifecycle"]) == ("ember-next", "preview")


async def test_changes_of_different_members_at_once_are_both_kept(local: Local) -> None:
    arm = await post(local, "/v1/arms", SKILL)
    changes: list[Json] = [{"display_name": "Second"}, {"capability_tags": ["b"]}, {"cost_class": "premium"}]
    await asyncio.gather(*(patch(local, arm, **change) for change in changes))
    shown = await read(local, arm)
    assert (shown["display_name"], shown["capability_tags"], shown["cost_class"]) == ("Second", ["b"], "premium")


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"kind": "agent"}, ["kind"]),
        ({"capability_tags": [""]}, ["capability_tags[0]"]),
        ({"endpoint": {"url": REMOTE}}, ["endpoint"]),
    ],
)
async def test_a_change_that_cannot_be_is_refused_by_field(local: Local, change: Any, named: list[str]) -> None:
    arm = await post(local, "/v1/arms", SKILL)
    answer = await local.http.patch(f"/v1/arms/{arm['arm_id']}", json=change)
    assert fields(check(answer, "validation_failed")) == named
    assert await read(local, arm) == arm


@pytest.mark.exhaustive
async def test_a_disabled_option_stays_disabled(local: Local, saved: Saved) -> None:
    arm = await model_arm(local, saved.deployments["tiny-1"])
    path = f"/v1/arms/{arm['arm_id']}"
    disabled = (await local.http.delete(path)).json()
    assert disabled == {**arm, "status": "disabled", "status_reason": "Disabled by the organization."}
    assert (await local.http.delete(path)).json() == disabled
    check(await local.http.patch(path, json={"display_name": "x"}), "invalid_state")
    await post(local, f"{saved.path}/test")
    await sync(local, saved.path)
    assert await read(local, arm) == disabled
    assert await decisions(local, arm["arm_id"]) == ["registered", "disabled"]


@pytest.mark.parametrize("moves", [True, False])
async def test_an_agent_that_moves_or_ends_loses_its_key(serving: Serving, data_dir: Path, moves: bool) -> None:
    async with serving(allow_loopback_checks=True) as service, ModelServer() as first, ModelServer() as second:
        await connect_repository(service)
        body = {
            "repository": "acme/widgets", "display_name": "Patch agent",
            "endpoint": {"url": f"{first.origin}/jobs", "auth_ref": ""}, "max_runtime_s": 600,
        }  # fmt: skip
        arm = await post(service, AGENTS, body, key="k")
        await enter_key(service, arm["arm_id"])
        secrets = data_dir / DIRECTORY
        assert vault_secrets(data_dir) == [KEY]
        # Within one origin nothing changes.
        await patch(service, arm, endpoint={"url": f"{first.origin}/other", "auth_ref": ""})
        assert len(list(secrets.iterdir())) == 1
        if moves:
            await patch(service, arm, endpoint={"url": f"{second.origin}/jobs", "auth_ref": ""})
        else:
            assert (await service.http.delete(f"/v1/arms/{arm['arm_id']}")).json()["status"] == "disabled"
        assert list(secrets.iterdir()) == []
        assert (await service.get(f"{AGENTS}/{arm['arm_id']}/connection"))["pending_key"] is None


async def test_the_same_request_again_registers_nothing_more(serving: Serving) -> None:
    async with serving(allow_loopback_checks=True) as service, ModelServer() as server:
        body = agent(f"{server.origin}/agent")
        first = await post(service, "/v1/arms", body, key="k")
        both = await asyncio.gather(*(post(service, "/v1/arms", body, key="k") for _ in range(3)))
        assert both == [first] * 3
        assert (len((await service.get("/v1/arms"))["arms"]), len(server.heard)) == (1, 1)
        answer = await service.http.post("/v1/arms", json=SKILL, headers={"Idempotency-Key": "k"})
        check(answer, "idempotency_conflict")


async def two_connections(local: Local, server: ModelServer) -> tuple[Saved, Saved]:
    """An older and a newer connection to one server, each with prices of its own."""

    def prices(usd: str) -> Json:
        return {"*": {"input_usd_per_million": usd, "output_usd_per_million": usd}}

    older = await save(local, server, prices=prices("100"))
    return older, await save(local, server, name="Newer", prices=prices("900"))


def by_provider(**more: Any) -> Json:
    """A model named by its provider, or by a deployment."""
    named = {} if "model_deployment_id" in more else {"provider": "openai_compatible", "model_id": "tiny-1"}
    body = {**SKILL, "kind": "model", "capability_tags": ["text.generate"], **named, **more}
    del body["artifact"]
    return body


@pytest.mark.parametrize("name", ["connection_id", "auth_binding_ref"])
@pytest.mark.parametrize("is_older", [True, False])
async def test_a_credential_reference_decides_the_connection_of_a_run(local: Local, name: str, is_older: bool) -> None:
    async with ModelServer(models=("tiny-1",), key=SECRET) as server:
        older, newer = await two_connections(local, server)
        wanted = older if is_older else newer
        arm = await post(local, "/v1/arms", by_provider(credential_ref=wanted.connection[name]))
        assert arm["status"] == "ready"
        assert arm["model_deployment_id"] == wanted.deployments["tiny-1"]["model_deployment_id"]
        run = await local.finished((await local.submit(live_body()))["execution_id"])
        (part,) = (await local.get(f"/v1/receipts/{run['execution_id']}"))["slices"]
    assert part["route"]["selected"]["connection_id"] == wanted.connection["connection_id"]
    # 17 tokens at the prices of that connection.
    assert part["cost"]["usd"] == (0.0017 if is_older else 0.0153)


async def test_a_credential_reference_that_names_nothing_is_refused(local: Local) -> None:
    named = await post(local, "/v1/credentials", {"display_name": "A name without a key"})
    async with ModelServer(models=("tiny-1",), key=SECRET) as server:
        older, newer = await two_connections(local, server)
        for reference in ("cred_1", named["credential_ref"], newer.connection["display_name"]):
            answer = await local.http.post("/v1/arms", json=by_provider(credential_ref=reference))
            assert fields(check(answer, "validation_failed")) == ["credential_ref"]
        arm = await post(local, "/v1/arms", by_provider())
        answer = await local.http.patch(f"/v1/arms/{arm['arm_id']}", json={"credential_ref": "cred_1"})
        assert fields(check(answer, "validation_failed")) == ["credential_ref"]
        # A deployment belongs to one connection, so the reference of another one contradicts it.
        deployment_id = newer.deployments["tiny-1"]["model_deployment_id"]
        body = by_provider(model_deployment_id=deployment_id, credential_ref=older.connection["connection_id"])
        answer = await local.http.post("/v1/arms", json=body)
        assert fields(check(answer, "validation_failed")) == ["credential_ref"]
        bearer, _ = await local.add_key(await other_tenant(local))
        foreign = by_provider(credential_ref=older.connection["connection_id"])
        answer = await local.http.post("/v1/arms", json=foreign, headers={"Authorization": f"Bearer {bearer}"})
        assert fields(check(answer, "validation_failed")) == ["credential_ref"]


@pytest.mark.exhaustive
async def test_a_credential_reference_follows_the_rotation_of_its_connection(local: Local) -> None:
    async with ModelServer(models=("tiny-1",), key=SECRET) as server:
        older, _ = await two_connections(local, server)
        arm = await post(local, "/v1/arms", by_provider(credential_ref=older.connection["auth_binding_ref"]))
        handoff = await completed(local, server.base_url)
        rotated = await post(local, f"{older.path}/rotate", {"handoff_intent_id": handoff["handoff_intent_id"]})
        await post(local, f"{older.path}/test")
        shown = await read(local, arm)
        assert (shown["status"], shown["credential_ref"]) == ("ready", rotated["auth_binding_ref"])
        run = await local.finished((await local.submit(live_body()))["execution_id"])
    assert run["status"] == "completed"


@pytest.mark.exhaustive
async def test_a_stored_reference_that_names_another_connection_is_not_run(local: Local) -> None:
    async with ModelServer(models=("tiny-1",), key=SECRET) as server:
        _, newer = await two_connections(local, server)
        arm = await post(local, "/v1/arms", by_provider())
        await local.context.database.write(
            lambda transaction: transaction.change(arms_table, {"arm_id": arm["arm_id"]}, credential_ref="cred_1")
        )
        run = await local.finished((await local.submit(live_body()))["execution_id"])
        assert (run["status"], run["reason"]) == ("failed", "no_eligible_arms")
        await post(local, f"{newer.path}/test")
        shown = await read(local, arm)
        assert (shown["status"], "credential" in shown["status_reason"]) == ("degraded", True)
