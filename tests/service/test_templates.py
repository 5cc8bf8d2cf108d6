"""Templates: blockers that follow from what is there, and that following their next actions removes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from runwatch.service.models.catalog import variant_id
from runwatch.service.tables import deployments_table
from tests.service.conftest import Local, Serving
from tests.service.sourcing import SECRET, connect, post, save
from tests.support.clock import FakeClock
from tests.support.model_server import ModelServer
from tests.support.problems import check
from tests.support.scripted import Said

Json = dict[str, Any]

PLANS = "/v1/tenant-template-plans"
APPLICATIONS = "/v1/tenant-template-applications"
SELECTION = "/v1/tenant-model-selection"


async def templates(local: Local) -> dict[str, Json]:
    """Every template by its id."""
    return {each["template_id"]: each for each in (await local.get("/v1/tenant-templates"))["templates"]}


async def blocked_by(local: Local, template_id: str = "byok-open-model") -> list[tuple[str, str]]:
    """Code and next action of every blocker."""
    template = (await templates(local))[template_id]
    assert template["eligible"] == (not template["blockers"])
    return [(each["code"], each["next_action"]["type"]) for each in template["blockers"]]


async def plan(local: Local, **asked: Any) -> Json:
    return await post(local, PLANS, asked)


async def apply(local: Local, key: str = "apply-1", **asked: Any) -> Json:
    made = await plan(local, **asked)
    body = {**asked, "digest": made["digest"], "issued_at": made["issued_at"]}
    return await post(local, APPLICATIONS, body, key=key)


async def application(local: Local, application_id: str) -> Json:
    """The application once its runs have ended."""
    for _ in range(4):
        await local.get(f"{APPLICATIONS}/{application_id}")
        await local.context.engine.settled()
    return await local.get(f"{APPLICATIONS}/{application_id}")


async def resume(local: Local, application_id: str, action: str, key: str = "resume-1", **more: Any) -> Json:
    return await post(local, f"{APPLICATIONS}/{application_id}/resume", {"action": action, **more}, key=key)


async def test_an_empty_organization_can_set_up_the_starter_only(local: Local) -> None:
    listed = await templates(local)
    assert list(listed) == ["starter", "pooled-open-model", "byok-open-model"]
    assert {each["template_version"] for each in listed.values()} == {"1"}
    assert [each["access_lane"] for each in listed.values()] == ["diagnostic", "millwork_pool", "byok"]
    assert await blocked_by(local, "starter") == []
    assert await blocked_by(local, "pooled-open-model") == [("pool_not_entitled", "approve_plan")]
    (alternative,) = listed["pooled-open-model"]["alternative_plans"]
    assert (alternative["template_id"], alternative["application_supported"]) == ("byok-open-model", True)
    assert await blocked_by(local) == [("connection_required", "connect_source")]


async def test_following_the_next_actions_makes_the_byok_template_eligible(local: Local) -> None:
    async with ModelServer(key=SECRET) as server:
        connection = await connect(local, server.base_url)
        path = f"/v1/source-connections/{connection['connection_id']}"
        assert await blocked_by(local) == [("connection_test_required", "test_source_connection")]
        await post(local, f"{path}/test")
        assert await blocked_by(local) == [("deployment_required", "sync_source_deployments")]
        await post(local, f"{path}/deployments/sync", {})
        assert await blocked_by(local) == []
        row = (await templates(local))["byok-open-model"]["catalog_row"]
        assert row["connection"]["connection_id"] == connection["connection_id"]
        assert set(row) == {
            "model", "source", "offering", "connection", "deployment", "provenance", "arm_registration_template",
        }  # fmt: skip
        await local.http.delete(path)
        assert await blocked_by(local) == [("connection_required", "connect_source")]


async def test_a_plan_writes_nothing_and_says_what_it_may_cost(local: Local) -> None:
    made = await plan(local)
    assert (made["template_id"], made["access_lane"], made["maximum_spend_usd"]) == ("starter", "diagnostic", 0)
    assert [effect["id"] for effect in made["effects"]] == ["submit_echo"]
    assert made["request_policy"]["mode"] == "echo"
    assert made["qualification"]["state"] == "approved"
    assert (await local.get("/v1/executions"))["executions"] == []
    byok = await plan(local, template_id="byok-open-model")
    assert (byok["application_supported"], byok["next_action"]["type"]) == (False, "connect_source")
    assert byok["maximum_spend_usd"] == 0.25


async def test_the_starter_ends_with_a_test_run_and_its_receipt(local: Local) -> None:
    begun = await apply(local)
    assert (begun["state"], begun["next_action"]["type"]) == ("applying", "wait")
    done = await application(local, begun["application_id"])
    assert (done["state"], done["live_execution_id"], done["managed_arm_id"]) == ("ready", None, None)
    assert [effect["id"] for effect in done["completed_effects"]] == ["submit_echo"]
    assert done["receipt"]["receipt_id"] == done["echo_execution_id"] == done["echo_receipt_id"]
    receipt = await local.get(done["receipt"]["href"])
    assert (receipt["mode"], receipt["status"]) == ("echo", "completed")


async def test_the_same_application_key_leads_to_the_same_application(local: Local) -> None:
    made = await plan(local)
    body = {"digest": made["digest"], "issued_at": made["issued_at"]}
    first = await post(local, APPLICATIONS, body, key="one")
    assert await post(local, APPLICATIONS, body, key="one") == first, "the recorded answer"
    again = await post(local, APPLICATIONS, {**body, "application_key": "one"}, key="two")
    assert again["application_id"] == first["application_id"]
    assert len((await local.get("/v1/executions"))["executions"]) == 1
    found = await local.get(APPLICATIONS, template_id="starter", idempotency_key="one")
    assert found["application"]["application_id"] == first["application_id"]
    assert await local.get(APPLICATIONS, template_id="starter", idempotency_key="three") == {"application": None}


async def test_a_byok_application_goes_from_a_saved_model_to_a_live_proof_and_a_selection(local: Local) -> None:
    async with ModelServer(key=SECRET) as server:
        server.answer("ready")
        saved = await save(local, server)
        (deployment, *_) = saved.deployments.values()
        asked = {"model_deployment_id": deployment["model_deployment_id"]}
        begun = await apply(local, **asked)
        assert begun["state"] == "arm_ready"
        proved = await application(local, begun["application_id"])
        assert (proved["state"], proved["next_action"]["type"]) == ("echo_proved", "authorize_byok_live_proof")
        assert server.prompts == [], "nothing is spent before it is authorized"
        check(
            await local.http.post(SELECTION, json={"application_id": begun["application_id"]}, headers=_key("s-0")),
            "invalid_state",
        )
        queued = await resume(
            local, begun["application_id"], "authorize_live_proof", live_proof_digest=proved["live_proof"]["digest"]
        )
        assert queued["state"] == "live_queued"
        done = await application(local, begun["application_id"])
        assert (done["state"], done["next_action"]["type"]) == ("ready", "select_model")
        assert len(server.prompts) == 1
        assert [effect["id"] for effect in done["completed_effects"]] == [
            "save_model", "submit_echo", "submit_bounded_live_proof", "live_result_ready",
        ]  # fmt: skip
        assert done["result"]["execution_id"] == done["live_execution_id"]
        assert (await local.get(done["result"]["href"]))["final_text"] == "ready"
        receipt = await local.get(done["receipt"]["href"])
        assert receipt["slices"][0]["route"]["selected"]["arm_id"] == done["managed_arm_id"]
        assert await local.get(SELECTION) == {"selection": None}
        selected = await post(local, SELECTION, {"application_id": done["application_id"]}, key="s-1")
        assert selected["managed_arm_id"] == done["managed_arm_id"]
        assert (await local.get(SELECTION))["selection"] == selected


def _key(text: str) -> dict[str, str]:
    return {"Idempotency-Key": text}


@pytest.mark.exhaustive
async def test_a_live_proof_that_fails_can_be_tried_again(local: Local) -> None:
    async with ModelServer(key=SECRET) as server:
        saved = await save(local, server)
        # The source refuses the first live call and takes the next.
        ok = {"choices": [{"message": {"content": "ready"}}], "model": "tiny-1"}
        server.say("POST", ".*", Said(401, {}), Said(200, ok))
        (deployment, *_) = saved.deployments.values()
        begun = await apply(local, model_deployment_id=deployment["model_deployment_id"])
        proved = await application(local, begun["application_id"])
        digest = proved["live_proof"]["digest"]
        await resume(local, begun["application_id"], "authorize_live_proof", live_proof_digest=digest)
        failed = await application(local, begun["application_id"])
        assert (failed["state"], failed["next_action"]["type"]) == ("action_required", "refresh_byok_readiness")
        assert failed["diagnostics"]["failure_code"] == "dispatch_internal_error"
        refreshed = await resume(local, begun["application_id"], "refresh_byok_readiness", "resume-2")
        assert refreshed["state"] == "echo_proved"
        digest = refreshed["live_proof"]["digest"]
        await resume(local, begun["application_id"], "authorize_live_proof", "resume-3", live_proof_digest=digest)
        assert (await application(local, begun["application_id"]))["state"] == "ready"


async def test_an_offering_that_is_not_connected_is_connected_by_the_application(
    serving: Serving, tmp_path: Path
) -> None:
    async with ModelServer(key=SECRET) as server:
        config = tmp_path / "sources.toml"
        config.write_text(
            f'[[source]]\nsource_id = "lab"\nsource_kind = "gateway"\nbase_url = "{server.base_url}"\n'
            'protocol_profile = "openai_chat"\nauth_schemes = ["api_key"]\n'
        )
        async with serving(provider_config=config) as local:
            variant = variant_id("lab", "tiny-1")
            offering = {"source_id": "lab", "auth_scheme": "api_key", "served_variant_id": variant}
            begun = await apply(local, template_id="byok-open-model", byok_offering=offering)
            assert begun["state"] == "consent_pending"
            page = begun["consent"]["continue_url"]
            read = await local.get(f"{APPLICATIONS}/{begun['application_id']}")
            assert read["consent"] == {**begun["consent"], "continue_url": None}, "the address is told once"
            assert (await local.http.post(page, json={"secret": SECRET})).status_code == 200
            polled = await resume(local, begun["application_id"], "poll_consent")
            assert polled["state"] == "applying"
            proved = await application(local, begun["application_id"])
            assert proved["state"] == "echo_proved", proved
            assert proved["source_connection_id"]


async def test_an_application_goes_on_after_a_restart(serving: Serving) -> None:
    async with ModelServer(key=SECRET) as server:
        async with serving(FakeClock(manual=True)) as local:
            saved = await save(local, server)
            (deployment, *_) = saved.deployments.values()
            begun = await apply(local, model_deployment_id=deployment["model_deployment_id"])
            assert begun["state"] == "arm_ready"
        async with serving() as local:
            proved = await application(local, begun["application_id"])
            assert (proved["state"], proved["echo_execution_id"]) == ("echo_proved", begun["echo_execution_id"])
            assert len((await local.get("/v1/executions"))["executions"]) == 1


async def test_a_plan_that_is_over_or_no_longer_true_is_not_applied(serving: Serving) -> None:
    clock = FakeClock(manual=True)
    async with ModelServer(key=SECRET) as server, serving(clock) as local:
        made = await plan(local)
        for change in ({"digest": "sha256:0"}, {"issued_at": "2026-11-21T11:59:00.000Z"}, {"issued_at": "soon"}):
            body = {"digest": made["digest"], "issued_at": made["issued_at"], **change}
            problem = check(await local.http.post(APPLICATIONS, json=body, headers=_key("k")), "validation_failed")
            assert {error.field for error in problem.errors or ()} <= {"digest", "issued_at"}
        saved = await save(local, server)
        made = await plan(local, template_id="byok-open-model")
        await local.http.delete(saved.path)
        body = {"template_id": "byok-open-model", "digest": made["digest"], "issued_at": made["issued_at"]}
        problem = check(await local.http.post(APPLICATIONS, json=body, headers=_key("k2")), "validation_failed")
        assert [error.field for error in problem.errors or ()] == ["digest"]
        made = await plan(local)
        clock.advance(15 * 60)
        body = {"digest": made["digest"], "issued_at": made["issued_at"]}
        problem = check(await local.http.post(APPLICATIONS, json=body, headers=_key("k3")), "validation_failed")
        assert [error.field for error in problem.errors or ()] == ["issued_at"]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"template_id": "other"}, "template_id"),
        ({"template_id": "starter", "model_deployment_id": "mdep_1"}, "model_deployment_id"),
        ({"model_deployment_id": "mdep_1"}, "model_deployment_id"),
        ({"byok_offering": {"source_id": "x"}}, "byok_offering.auth_scheme"),
    ],
)
async def test_a_plan_with_a_fault_names_the_field(local: Local, body: Any, field: str) -> None:
    problem = check(await local.http.post(PLANS, json=body), "validation_failed")
    assert field in [error.field for error in problem.errors or ()]


async def test_an_application_is_told_what_it_does_not_wait_for(local: Local) -> None:
    begun = await apply(local)
    await application(local, begun["application_id"])
    path = f"{APPLICATIONS}/{begun['application_id']}/resume"
    actions = (
        "poll_consent", "retry_consent", "retry_connection_test", "retry_deployment_sync", "authorize_live_proof",
        "refresh_pool_readiness", "refresh_byok_readiness",
    )  # fmt: skip
    for number, action in enumerate(actions):
        check(await local.http.post(path, json={"action": action}, headers=_key(f"r{number}")), "invalid_state")
    check(await local.http.post(path, json={"action": "dance"}, headers=_key("r")), "validation_failed")
    check(await local.http.post(path, json={"action": "poll_consent"}), "validation_failed")
    check(await local.http.get(APPLICATIONS), "validation_failed")
    check(await local.http.get(f"{APPLICATIONS}/app_0"), "not_found")


async def test_a_model_without_open_data_does_not_count(local: Local) -> None:
    async with ModelServer(key=SECRET) as server:
        await save(local, server)
        await local.context.database.write(
            lambda transaction: transaction.change(deployments_table, {}, data_classes=["tenant_internal"])
        )
        assert await blocked_by(local) == [("deployment_required", "sync_source_deployments")]
