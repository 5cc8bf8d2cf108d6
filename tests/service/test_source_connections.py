"""Connections to sources: connect, test, take over models, rotate, disconnect."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from runwatch.base.secrets.sealing import MasterKeys
from runwatch.service.access.vault import DIRECTORY
from runwatch.service.startup import named_handles
from tests.service.conftest import Json, Local, Serving
from tests.service.sourcing import SECRET, Saved, completed, connect, connection_body, model_arm, post, save, sync
from tests.support.clock import FakeClock
from tests.support.master_keys import vault_secrets
from tests.support.model_server import DROP, HANG, ModelServer
from tests.support.problems import check, fields
from tests.support.scripted import Said

CONNECTIONS = "/v1/source-connections"
URL = "http://127.0.0.1:9/v1"
PRICE = {"input_usd_per_million": "1", "output_usd_per_million": "2"}

REFUSALS = (
    (401, "authentication"), (403, "permission"), (402, "provider_insufficient_funds"), (429, "rate_limited"),
    (503, "capacity"), (500, "source_5xx"),
)  # fmt: skip


async def catalog(local: Local) -> list[str]:
    return [entry["deployment"]["upstream_ref"] for entry in (await local.get("/v1/model-catalog"))["models"]]


async def test_a_new_connection_is_a_whole_record_that_is_not_usable(local: Local) -> None:
    handoff = await completed(local, URL)
    connection = await post(local, CONNECTIONS, connection_body(handoff))
    tenant_id = (await local.get("/v1/account"))["tenant_id"]
    assert connection == {
        "connection_id": connection["connection_id"], "source_id": "openai_compatible", "display_name": "Lab",
        "auth_scheme": "api_key", "auth_binding_ref": connection["auth_binding_ref"],
        "source_scope": handoff["source_scope"], "status": "disabled", "access_lane": "byok",
        "credential_owner": "customer", "commercial_owner": "customer", "customer_ref": tenant_id,
        "binding_revision": 1, "tested_binding_revision": None, "test_state": "untested", "test_error": None,
        "test_failure": None, "test_http_status": None, "test_message": None, "test_models": [], "failed_models": [],
        "removed_models": [], "test_suggestions": [], "test_was_sent": None, "last_tested_at": None, "rotated_at": None,
        "revoked_at": None, "created_at": "2026-11-21T12:00:00.000Z", "updated_at": "2026-11-21T12:00:00.000Z",
        "endpoint": {
            "base_url": URL, "protocol_profile": "openai_chat", "location": "local", "models": [], "prices": {},
        },
        "usable": False,
    }  # fmt: skip
    assert await local.get(f"{CONNECTIONS}/{connection['connection_id']}") == connection
    assert await local.get(CONNECTIONS) == {"connections": [connection]}
    assert (await local.get(f"/v1/source-credential-handoffs/{handoff['handoff_intent_id']}"))["state"] == "consumed"


async def test_a_handoff_connects_once(local: Local) -> None:
    handoff = await completed(local, URL)
    await post(local, CONNECTIONS, connection_body(handoff), key="k")
    check(await local.http.post(CONNECTIONS, json=connection_body(handoff)), "invalid_state")
    assert len((await local.get(CONNECTIONS))["connections"]) == 1


async def test_connecting_a_server_again_changes_its_connection(local: Local, data_dir: Path) -> None:
    async with ModelServer(has_list=False) as server:
        saved = await save(local, server, secret=None, models=["tiny-1"])
        here = server.base_url.replace("127.0.0.1", "localhost")
        handoff = await completed(local, here, secret=None, prices={"*": PRICE})
        assert handoff["connected_as"] == {
            "connection_id": saved.connection["connection_id"],
            "display_name": saved.connection["display_name"],
            "usable": True,
        }
        same = await post(local, CONNECTIONS, connection_body(handoff))
        prices = {"prices": {"*": PRICE}}
        assert same == {**saved.connection, "endpoint": {**saved.connection["endpoint"], **prices}}

        server.models.append({"id": "tiny-2"})
        keyed = await connect(local, here, models=["tiny-2"])
        again = await connect(local, here, models=["tiny-2"])
        for one in (keyed, again):
            assert (one["connection_id"], one["usable"]) == (same["connection_id"], True)
            assert (one["auth_scheme"], one["endpoint"]["models"]) == ("api_key", ["tiny-1", "tiny-2"])
        listed = (await local.get("/v1/model-deployments"))["deployments"]
        assert {one["upstream_ref"]: one["status"] for one in listed} == {"tiny-1": "listed", "tiny-2": "listed"}
        assert vault_secrets(data_dir) == [SECRET]
        other = await connect(local, here, name="Other")
        assert other["connection_id"] != same["connection_id"]


@pytest.mark.parametrize(
    ("key", "models", "said"),
    [
        ("sk-another-key-0", ["tiny-1"], "The test of tiny-1 failed: the source refused the key (HTTP 401)"),
        (SECRET, ["nope"], "The test of nope failed: the source has no such model"),
    ],
)
async def test_a_working_connection_stays_as_it_was_when_connecting_again_fails(
    local: Local, data_dir: Path, key: str, models: list[str], said: str
) -> None:
    async with ModelServer(key=SECRET) as server:
        saved = await save(local, server, models=["tiny-1"])
        handoff = await completed(local, server.base_url, secret=key, models=models)
        problem = check(await local.http.post(CONNECTIONS, json=connection_body(handoff)), "validation_failed")
        (error,) = problem.errors or ()
        assert (error.message or "").startswith(said)
        assert (error.message or "").endswith(f"{saved.connection['connection_id']} stays as it was.")
        assert await local.get(saved.path) == saved.connection


async def test_a_pending_handoff_connects_nothing(local: Local) -> None:
    body = {"source_id": "openai_compatible", "auth_scheme": "api_key", "endpoint": {"base_url": URL}}
    handoff = await post(local, "/v1/source-credential-handoffs", body, status=201)
    answer = await local.http.post(CONNECTIONS, json=connection_body({**handoff, "source_scope": {}}))
    assert "pending" in (check(answer, "invalid_state").detail or "")


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"handoff_intent_id": "hand_unknown"}, ["handoff_intent_id"]),
        ({"source_id": "openai_direct"}, ["source_id"]),
        ({"auth_scheme": "none"}, ["auth_scheme"]),
        ({"source_scope": {"kind": "account", "account_ref": "acct_other"}}, ["source_scope"]),
        ({"source_scope": "acct"}, ["source_scope"]),
        ({"display_name": ""}, ["display_name"]),
        ({"display_name": "x" * 201}, ["display_name"]),
    ],
)
async def test_a_connection_has_to_be_that_of_its_handoff(local: Local, change: Json, named: list[str]) -> None:
    handoff = await completed(local, URL)
    answer = await local.http.post(CONNECTIONS, json=connection_body(handoff, **change))
    assert fields(check(answer, "validation_failed")) == named
    # Nothing was used up by it.
    await post(local, CONNECTIONS, connection_body(handoff))


async def test_a_passed_test_makes_a_connection_usable(local: Local) -> None:
    async with ModelServer(key=SECRET) as server:
        saved = await save(local, server)
    connection = saved.connection
    assert (connection["status"], connection["test_state"], connection["usable"]) == ("active", "passed", True)
    assert (connection["binding_revision"], connection["tested_binding_revision"]) == (1, 1)
    assert connection["last_tested_at"] == "2026-11-21T12:00:00.000Z"


async def test_a_server_without_a_key_is_tested_without_one(local: Local) -> None:
    async with ModelServer() as server:
        await save(local, server, secret=None)
        assert {heard.head.header("authorization") for heard in server.heard} == {None}


async def test_the_base_url_that_works_is_kept(local: Local) -> None:
    async with ModelServer(key=SECRET) as server:
        connection = await connect(local, server.origin)
        tested = await post(local, f"{CONNECTIONS}/{connection['connection_id']}/test")
        assert tested["endpoint"]["base_url"] == server.base_url
        handoff = await completed(local, server.origin)
        path = f"{CONNECTIONS}/{connection['connection_id']}/rotate"
        await post(local, path, {"handoff_intent_id": handoff["handoff_intent_id"]})


@pytest.mark.parametrize(("status", "kind"), REFUSALS)
async def test_a_refused_test_says_why_and_the_next_may_pass(local: Local, status: int, kind: str) -> None:
    async with ModelServer(key=SECRET) as server:
        connection = await connect(local, server.base_url)
        path = f"{CONNECTIONS}/{connection['connection_id']}"
        server.say("GET", ".*", Said(status, {"error": "sk-echo"}, content_type="application/json"))
        failed = await post(local, f"{path}/test")
        assert (failed["test_state"], failed["test_error"], failed["test_failure"]) == ("failed", kind, kind)
        assert (failed["status"], failed["usable"]) == ("disabled", False)
        check(await local.http.post(f"{path}/deployments/sync", json={}), "invalid_state")
        server.say("GET", ".*", Said(200, {"data": []}))
        passed = await post(local, f"{path}/test")
        assert (passed["test_state"], passed["test_error"], passed["test_failure"]) == ("passed", None, None)


async def test_a_test_that_no_source_answers_is_a_failed_test_and_the_next_may_pass(local: Local) -> None:
    async with ModelServer(key=SECRET) as server:
        connection = await connect(local, server.base_url)
        path = f"{CONNECTIONS}/{connection['connection_id']}"
        server.say("GET", ".*", DROP)
        failed = await post(local, f"{path}/test")
        assert (failed["test_state"], failed["test_error"], failed["test_failure"]) == ("failed", None, "network")
        assert failed == await local.get(path)
        server.say("GET", ".*", Said(200, {"data": []}))
        assert (await post(local, f"{path}/test"))["usable"]


async def test_an_answer_that_is_no_list_of_models_is_no_pass(local: Local) -> None:
    async with ModelServer() as server:
        connection = await connect(local, server.base_url, secret=None)
        path = f"{CONNECTIONS}/{connection['connection_id']}"
        server.say("GET", ".*", Said(200, {"data": "nothing"}))
        assert (await post(local, f"{path}/test"))["test_failure"] == "invalid_response"
        assert (await local.get(path))["test_failure"] == "invalid_response"


async def test_a_secret_that_no_master_key_opens_is_reported_without_a_call(local: Local, data_dir: Path) -> None:
    async with ModelServer(models=("tiny-1",), key=SECRET) as server:
        path = (await save(local, server)).path
        for file in (data_dir / DIRECTORY).iterdir():
            file.write_bytes(MasterKeys.new().seal(SECRET.encode(), file.name))
        server.heard.clear()
        refused = check(await local.http.post(f"{path}/deployments/sync", json={}), "invalid_state")
        assert "master key" in (refused.detail or "")
        failed = await post(local, f"{path}/test")
        assert (failed["test_error"], failed["test_failure"]) == (None, "credential_unavailable")
        assert server.heard == []


async def test_a_sync_takes_over_new_models_keeps_ids_and_disables_those_that_are_gone(local: Local) -> None:
    async with ModelServer(models=("tiny-1", "tiny-2"), key=SECRET) as server:
        saved = await save(local, server)
        assert {name: row["status"] for name, row in saved.deployments.items()} == {
            "tiny-1": "listed",
            "tiny-2": "listed",
        }
        server.say("GET", ".*", Said(200, {"data": [{"id": "tiny-2"}, {"id": "tiny-3"}]}))
        later = await sync(local, saved.path)
        assert {name: row["status"] for name, row in later.items()} == {
            "tiny-1": "disabled", "tiny-2": "listed", "tiny-3": "listed",
        }  # fmt: skip
        for name, row in saved.deployments.items():
            assert later[name]["model_deployment_id"] == row["model_deployment_id"]
        assert sorted(await catalog(local)) == ["tiny-2", "tiny-3"]
        server.say("GET", ".*", Said(200, {"data": [{"id": "tiny-1"}]}))
        back = await sync(local, saved.path)
        assert back["tiny-1"]["status"] == "listed"
        assert back["tiny-1"]["model_deployment_id"] == saved.deployments["tiny-1"]["model_deployment_id"]


async def test_names_that_no_call_could_carry_are_left_out(local: Local) -> None:
    async with ModelServer(models=("good", "", "x" * 256, "line\nbreak", "\ud800")) as server:
        assert list((await save(local, server, secret=None)).deployments) == ["good"]


async def test_a_sync_needs_a_passed_test(local: Local) -> None:
    async with ModelServer() as server:
        connection = await connect(local, server.base_url, secret=None)
        path = f"{CONNECTIONS}/{connection['connection_id']}/deployments/sync"
        check(await local.http.post(path, json={}), "invalid_state")
        assert server.heard == []


async def test_a_sync_that_is_refused_makes_the_test_a_failed_one(local: Local) -> None:
    async with ModelServer(key=SECRET) as server:
        saved = await save(local, server)
        arm = await model_arm(local, saved.deployments["tiny-1"])
        server.say("GET", ".*", Said(401, {}))
        problem = check(await local.http.post(f"{saved.path}/deployments/sync", json={}), "invalid_state")
        assert "authentication" in (problem.detail or "")
    assert (await local.get(saved.path))["test_error"] == "authentication"
    assert (await local.get(f"/v1/arms/{arm['arm_id']}"))["status"] == "degraded"


async def test_a_sync_adds_prices_to_the_connection(local: Local) -> None:
    price = {"input_usd_per_million": "1", "output_usd_per_million": "2"}
    async with ModelServer(key=SECRET) as server:
        saved = await save(local, server)
        assert saved.deployments["tiny-1"]["pricing_basis"] == "unknown"
        path = f"{saved.path}/deployments/sync"
        (priced,) = (await post(local, path, {"prices": {"*": price}}))["deployments"]
        assert priced["pricing_basis"] == "estimated"
        assert (await sync(local, saved.path))["tiny-1"]["pricing_basis"] == "estimated"
        problem = check(await local.http.post(path, json={"prices": {"*": {**price, "input_usd_per_million": "x"}}}),
                        "validation_failed")  # fmt: skip
        assert fields(problem) == ["prices.*.input_usd_per_million"]
        many = {f"model-{number}": price for number in range(1000)}
        check(await local.http.post(path, json={"prices": many}), "validation_failed")


@pytest.mark.exhaustive
async def test_a_sync_that_meets_nobody_changes_nothing(local: Local) -> None:
    async with ModelServer(key=SECRET) as server:
        saved = await save(local, server)
        server.say("GET", ".*", DROP)
        check(await local.http.post(f"{saved.path}/deployments/sync", json={}), "upstream_unavailable")
    assert (await local.get(saved.path))["usable"]
    assert await catalog(local) == ["tiny-1"]


async def rotated(local: Local, saved: Saved, server: ModelServer, secret: str) -> Json:
    handoff = await completed(local, server.base_url, secret=secret)
    return await post(local, f"{saved.path}/rotate", {"handoff_intent_id": handoff["handoff_intent_id"]})


async def test_a_rotated_connection_is_used_again_after_a_test(local: Local, data_dir: Path) -> None:
    async with ModelServer(key=SECRET) as server:
        saved = await save(local, server)
        arm = await model_arm(local, saved.deployments["tiny-1"])
        before = saved.connection
        after = await rotated(local, saved, server, "sk-wrong")
        assert (after["binding_revision"], after["tested_binding_revision"]) == (2, 1)
        assert (after["test_state"], after["usable"]) == ("untested", False)
        assert after["rotated_at"] == "2026-11-21T12:00:00.000Z"
        assert after["auth_binding_ref"] != before["auth_binding_ref"]
        assert vault_secrets(data_dir) == ["sk-wrong"]
        assert await catalog(local) == []
        waiting = await local.get(f"/v1/arms/{arm['arm_id']}")
        assert (waiting["status"], waiting["route_availability"]["reason"]) == ("degraded", "not_ready")
        assert (await post(local, f"{saved.path}/test"))["test_error"] == "authentication"
        await rotated(local, saved, server, SECRET)
        tested = await post(local, f"{saved.path}/test")
        assert (tested["tested_binding_revision"], tested["usable"]) == (3, True)
        assert await catalog(local) == ["tiny-1"]
        assert (await local.get(f"/v1/arms/{arm['arm_id']}"))["status"] == "ready"


@pytest.mark.exhaustive
async def test_a_rotation_takes_only_a_handoff_of_the_same_address(local: Local) -> None:
    async with ModelServer(key=SECRET) as server:
        saved = await save(local, server)
        other = await completed(local, URL)
        body = {"handoff_intent_id": other["handoff_intent_id"]}
        problem = check(await local.http.post(f"{saved.path}/rotate", json=body), "validation_failed")
        assert fields(problem) == ["handoff_intent_id"]
    assert (await local.get(saved.path))["binding_revision"] == 1


@pytest.mark.exhaustive
async def test_a_server_of_a_user_goes_from_no_key_to_one_and_back(local: Local, data_dir: Path) -> None:
    async with ModelServer() as server:
        saved = await save(local, server, secret=None)
        for secret, scheme in ((SECRET, "api_key"), (None, "none")):
            handoff = await completed(local, f"{server.base_url}/", secret=secret)
            body = {"handoff_intent_id": handoff["handoff_intent_id"]}
            changed = await post(local, f"{saved.path}/rotate", body)
            assert (changed["auth_scheme"], changed["usable"]) == (scheme, False)
            assert vault_secrets(data_dir) == [SECRET] * (secret is not None)
            assert (await post(local, f"{saved.path}/test"))["usable"]


@pytest.mark.exhaustive
async def test_a_test_that_was_overtaken_by_a_rotation_proves_nothing(local: Local) -> None:
    async with ModelServer(key=SECRET) as server:
        saved = await save(local, server)
        context = local.context
        asked = context.providers.find_models

        async def find_models(address: Any, named: Any = ()) -> Any:
            found = await asked(address, named)
            await rotated(local, saved, server, "sk-later")
            return found

        context.providers.find_models = find_models  # type: ignore[method-assign]
        check(await local.http.post(f"{saved.path}/test"), "invalid_state")
    assert (await local.get(saved.path))["usable"] is False


async def test_a_disconnected_source_disables_what_depends_on_it(local: Local, data_dir: Path) -> None:
    async with ModelServer(models=("tiny-1", "tiny-2"), key=SECRET) as server:
        saved = await save(local, server)
        other = await save(local, server, name="Other")
        arm = await model_arm(local, saved.deployments["tiny-1"])
        kept = await model_arm(local, other.deployments["tiny-1"])
        answer = await local.http.delete(saved.path, headers={"Idempotency-Key": "k"})
        gone = answer.json()
        assert (gone["status"], gone["revoked_at"]) == ("disabled", "2026-11-21T12:00:00.000Z")
        assert gone["effects"]["arms"] == [arm["arm_id"]]
        assert sorted(gone["effects"]["model_deployments"]) == sorted(
            row["model_deployment_id"] for row in saved.deployments.values()
        )
        assert vault_secrets(data_dir) == [SECRET]
        disabled = await local.get(f"/v1/arms/{arm['arm_id']}")
        assert (disabled["status"], disabled["status_reason"]) == (
            "disabled",
            "Disconnected from its source.",
        )
        assert disabled["route_availability"]["reason"] == "operator_suspended"
        assert (await local.get(f"/v1/arms/{kept['arm_id']}"))["status"] == "ready"
        for path in ("test", "deployments/sync"):
            check(await local.http.post(f"{saved.path}/{path}"), "invalid_state")
        handoff = await completed(local, server.base_url)
        body = {"handoff_intent_id": handoff["handoff_intent_id"]}
        check(await local.http.post(f"{saved.path}/rotate", json=body), "invalid_state")
        again = (await local.http.delete(saved.path)).json()
        assert again == {**gone, "effects": {"arms": [], "model_deployments": []}}
        assert (await local.http.delete(saved.path, headers={"Idempotency-Key": "k"})).json() == gone


async def test_the_last_secret_is_gone_when_its_connection_is(local: Local, data_dir: Path) -> None:
    connection = await connect(local, URL)
    assert vault_secrets(data_dir) == [SECRET]
    assert (await local.http.delete(f"{CONNECTIONS}/{connection['connection_id']}")).status_code == 200
    assert vault_secrets(data_dir) == []


async def test_the_handles_in_use_are_those_of_the_secrets(local: Local, data_dir: Path) -> None:
    await connect(local, URL)
    await completed(local, URL)
    handles = await local.context.database.read(named_handles)
    assert handles == {file.name for file in (data_dir / DIRECTORY).iterdir()}
    assert len(handles) == 2


@pytest.mark.exhaustive
async def test_a_connection_survives_a_restart(serving: Serving) -> None:
    async with ModelServer(key=SECRET) as server:
        async with serving() as service:
            saved = await save(service, server)
        async with serving() as service:
            assert await service.get(saved.path) == saved.connection
            assert (await post(service, f"{saved.path}/test"))["usable"]


async def test_a_server_that_never_answers_is_given_up(serving: Serving) -> None:
    async with serving(FakeClock()) as service, ModelServer() as server:
        connection = await connect(service, server.base_url, secret=None)
        server.say("GET", ".*", HANG)
        path = f"{CONNECTIONS}/{connection['connection_id']}"
        shortened(service)
        assert (await post(service, f"{path}/test"))["test_failure"] == "timeout"


def shortened(service: Local) -> None:
    """Have calls to other servers end after a moment, whatever timeout their callers set."""
    send = service.context.outbound.send

    async def soon(*arguments: Any, **options: Any) -> Any:
        return await send(*arguments, **{**options, "timeout_s": 0.2})

    service.context.outbound.send = soon  # type: ignore[method-assign]
