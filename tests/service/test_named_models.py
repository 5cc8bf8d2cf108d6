"""Sources that have no list of models: their users name the models, and the test is one smallest call."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from runwatch.service.models.providers import providers
from tests.service.conftest import Json, Local
from tests.service.sourcing import SECRET, connect, connection_body, model_arm, post, sync
from tests.service.test_model_catalog import entries
from tests.support.model_server import DROP, HANG, Fault, ModelServer
from tests.support.problems import check, fields
from tests.support.scripted import Said

CONNECTIONS = "/v1/source-connections"
FORMS = {
    "openai_chat": ("openai_compatible", "max_tokens"),
    "openai_responses": ("openai_compatible", "max_output_tokens"),
    "anthropic_messages": ("anthropic_compatible", "max_tokens"),
}


async def connect_named(local: Local, server: ModelServer, *models: str, **endpoint: str) -> tuple[str, Json]:
    """The path of a new keyless connection with named models, and the answer to its test."""
    connection = await connect(local, server.origin, secret=None, models=list(models), **endpoint)
    path = f"{CONNECTIONS}/{connection['connection_id']}"
    return path, await post(local, f"{path}/test")


@pytest.mark.parametrize("form", FORMS)
async def test_a_source_without_a_list_is_tested_by_one_smallest_call_and_run(local: Local, form: str) -> None:
    source_id, cap = FORMS[form]
    async with ModelServer(has_list=False) as server:
        body = {
            "source_id": source_id,
            "auth_scheme": "none",
            "endpoint": {"base_url": server.origin, "protocol_profile": form, "models": ["tiny-1"]},
        }
        handoff = await post(local, "/v1/source-credential-handoffs", body, status=201)
        made = {name: handoff[name] for name in ("source_id", "auth_scheme", "source_scope", "handoff_intent_id")}
        connection = await post(local, CONNECTIONS, {"display_name": "Lab", **made})
        path = f"{CONNECTIONS}/{connection['connection_id']}"
        passed = await post(local, f"{path}/test")
        assert (passed["usable"], passed["endpoint"]["base_url"]) == (True, server.base_url)
        calls = [heard for heard in server.heard if heard.head.path.startswith("/v1/") and heard.head.method == "POST"]
        assert [json.loads(call.body)[cap] for call in calls] == [16]
        served = await sync(local, path)
        assert list(served) == ["tiny-1"]
        arm = await model_arm(local, served["tiny-1"])
        assert arm["status"] == "ready"


@pytest.mark.exhaustive
async def test_a_later_sync_and_test_keep_the_named_models(local: Local) -> None:
    async with ModelServer(models=("tiny-1", "tiny-2"), has_list=False) as server:
        path, _ = await connect_named(local, server, "tiny-1")
        await sync(local, path)
        added = await post(local, f"{path}/deployments/sync", {"models": ["tiny-2"]})
        assert {each["upstream_ref"] for each in added["deployments"]} == {"tiny-1", "tiny-2"}
        assert (await post(local, f"{path}/test"))["endpoint"]["models"] == ["tiny-1", "tiny-2"]
        assert {name: each["status"] for name, each in (await sync(local, path)).items()} == {
            "tiny-1": "listed",
            "tiny-2": "listed",
        }
        problem = check(
            await local.http.post(f"{path}/deployments/sync", json={"models": ["nobody"]}), "validation_failed"
        )
        assert fields(problem) == ["models"]
        assert (await local.get(path))["endpoint"]["models"] == ["tiny-1", "tiny-2"]


async def test_a_connection_without_a_list_passes_its_test_once_a_named_model_answers(local: Local) -> None:
    async with ModelServer(models=("tiny-1",), has_list=False) as server:
        path, failed = await connect_named(local, server)
        assert (failed["usable"], failed["test_state"]) == (False, "failed")
        check(await local.http.post(f"{path}/deployments/sync", json={}), "invalid_state")
        check(await local.http.post(f"{path}/deployments/sync", json={"models": ["nobody"]}), "validation_failed")
        assert not (await local.get(path))["usable"]
        added = await post(local, f"{path}/deployments/sync", {"models": ["tiny-1"]})
        assert [each["upstream_ref"] for each in added["deployments"]] == ["tiny-1"]
        kept = await local.get(path)
        assert (kept["usable"], kept["endpoint"]["models"]) == (True, ["tiny-1"])


@pytest.mark.exhaustive
async def test_a_key_that_may_not_call_a_new_model_keeps_the_connection_usable(local: Local) -> None:
    async with ModelServer(models=("tiny-1", "tiny-2")) as server:
        path, _ = await connect_named(local, server, "tiny-1")
        server.say("POST", "/v1/.*", Said(403, {"error": "no"}))
        check(await local.http.post(f"{path}/deployments/sync", json={"models": ["tiny-2"]}), "validation_failed")
        kept = await local.get(path)
        assert (kept["usable"], kept["endpoint"]["models"]) == (True, ["tiny-1"])


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("answer", "cause"),
    [
        (Said(400, {"error": {"message": "bad size"}}), 'the source refused the request (HTTP 400): "bad size"'),
        (Said(401, {}), "the server asks for a key (HTTP 401)"),
        (Said(429, {}), "the source's rate limit is reached (HTTP 429)"),
        (Said(500, {"detail": "boom"}), 'the source failed (HTTP 500): "boom"'),
        (
            Said(200, {}),
            "the answer does not have the form of the protocol: it was JSON of another form (application/json)",
        ),
        (DROP, "the source took the call and closed the connection without an answer"),
        (HANG, "no answer came in time"),
    ],
)
async def test_a_newly_named_model_whose_test_fails_changes_nothing_and_says_why(
    local: Local, answer: Said | Fault, cause: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    prices = {"*": {"input_usd_per_million": "1", "output_usd_per_million": "2"}}
    async with ModelServer(models=("tiny-1", "tiny-2")) as server:
        path, before = await connect_named(local, server, "tiny-1")
        called = len(server.bodies)
        server.say("POST", "/v1/.*", answer)
        if answer is HANG:
            monkeypatch.setattr(providers, "TEST_TIMEOUT_S", 0.3)
        body = {"models": ["tiny-2"], "prices": prices}
        problem = check(await local.http.post(f"{path}/deployments/sync", json=body), "validation_failed")
        (error,) = problem.errors or ()
        assert error.raw == {"field": "models", "message": f"The test of tiny-2 failed: {cause}. Nothing was changed."}
        assert await local.get(path) == before
        assert [call["model"] for call in server.bodies[called:]] == ["tiny-2"]


@pytest.mark.exhaustive
async def test_a_failed_test_of_several_models_names_those_that_failed(local: Local) -> None:
    async with ModelServer(models=("tiny-1", "tiny-2"), has_list=False) as server:
        _, failed = await connect_named(local, server, "nope-1", "nope-2")
        assert (failed["test_error"], failed["test_models"]) == ("model_not_found", ["nope-1", "nope-2"])
        path, passed = await connect_named(local, server, "tiny-1")
        assert passed["test_models"] == []
        body = {"models": ["tiny-2", "nope-1"]}
        problem = check(await local.http.post(f"{path}/deployments/sync", json=body), "validation_failed")
        (error,) = problem.errors or ()
        assert (error.message or "").startswith("The test of nope-1 failed: ")


async def test_a_model_that_fails_leaves_the_others_usable_and_can_be_taken_off(local: Local) -> None:
    async with ModelServer(models=("tiny-1", "tiny-2"), has_list=False) as server:
        path, made = await connect_named(local, server, "tiny-1", "tiny-2", "nope")
        assert (made["usable"], made["test_error"], made["endpoint"]["models"]) == (True, None, ["tiny-1", "tiny-2"])
        assert [failed["model"] for failed in made["failed_models"]] == ["nope"]
        served = await sync(local, path)
        arms = {name: await model_arm(local, served[name]) for name in ("tiny-1", "tiny-2")}

        async def standing() -> list[Json]:
            return [await local.get(f"/v1/arms/{arm['arm_id']}") for arm in arms.values()]

        gone = server.models.pop()
        failed = await post(local, f"{path}/test")
        assert (failed["usable"], set(failed["endpoint"]["models"])) == (True, {"tiny-1", "tiny-2"})
        good, bad = await standing()
        assert (good["status"], bad["status"]) == ("ready", "degraded")
        assert bad["status_reason"].startswith("Failed its last test: the source has no such model")
        assert (await sync(local, path)).keys() == {"tiny-1", "tiny-2"}

        server.models.append(gone)
        called = len(server.bodies)
        await post(local, f"{path}/deployments/sync", {"models": ["tiny-2"]})
        assert [call["model"] for call in server.bodies[called:]] == ["tiny-2"]
        assert [arm["status"] for arm in await standing()] == ["ready", "ready"]

        await post(local, f"{path}/deployments/sync", {"remove": ["tiny-2"]})
        assert [arm["status"] for arm in await standing()] == ["ready", "degraded"]
        assert (await local.get(path))["endpoint"]["models"] == ["tiny-1"]
        for body in ({"remove": ["tiny-2"]}, {"remove": ["tiny-1"], "models": ["tiny-2"]}):
            problem = check(await local.http.post(f"{path}/deployments/sync", json=body), "validation_failed")
            assert fields(problem) == ["remove"]


@pytest.mark.exhaustive
async def test_a_listed_model_that_a_user_removed_stays_off_until_it_is_added_again(local: Local) -> None:
    async with ModelServer(models=("tiny-1", "tiny-2")) as server:
        path, _ = await connect_named(local, server, "tiny-1")
        served = await sync(local, path)
        arm = await model_arm(local, served["tiny-2"])
        await post(local, f"{path}/deployments/sync", {"remove": ["tiny-2"]})
        await post(local, f"{path}/test")
        assert {name: each["status"] for name, each in (await sync(local, path)).items()} == {
            "tiny-1": "listed",
            "tiny-2": "disabled",
        }
        removed = await local.get(f"/v1/arms/{arm['arm_id']}")
        assert removed["status_reason"].startswith("Removed by your organization")
        assert removed["status_reason"].endswith(f"sources sync --model tiny-2 {path.rpartition('/')[2]}")
        assert removed["route_availability"]["reason"] == "operator_suspended"
        assert (await local.get(path))["removed_models"] == ["tiny-2"]

        await post(local, f"{path}/deployments/sync", {"models": ["tiny-2"]})
        assert (await local.get(f"/v1/arms/{arm['arm_id']}"))["status"] == "ready"
        assert (await local.get(path))["removed_models"] == []


async def test_a_sync_says_what_is_missing_in_its_list_and_names_no_publisher_by_the_protocol(local: Local) -> None:
    async with ModelServer(models=("tiny-1", "gpt-4o-image"), takes_any_model=True) as server:
        form = {"source_id": "anthropic_compatible", "auth_scheme": "none", "endpoint": {"base_url": server.base_url}}
        handoff = await post(local, "/v1/source-credential-handoffs", form, status=201)
        made = await post(local, CONNECTIONS, connection_body(handoff))
        path = f"{CONNECTIONS}/{made['connection_id']}"
        await post(local, f"{path}/test")
        synced = await post(local, f"{path}/deployments/sync", {})
        assert ([each["model_key"] for each in synced["deployments"]], synced["left_out"]) == (
            ["unknown/tiny-1"],
            ["gpt-4o-image"],
        )
        assert (synced["unlisted"], synced["list_failure"]) == ([], None)
        by_name = await post(local, f"{path}/deployments/sync", {"models": ["gpt-9", "gpt-4o-image"]})
        assert by_name["unlisted"] == ["gpt-9"]
        server.say("GET", ".*", Said(404, {}))
        named = await post(local, f"{path}/deployments/sync", {"models": ["tiny-1"]})
        assert named["unlisted"] == [], "no list, nothing unlisted"
        assert named["list_failure"] == "nothing at this path lists models (HTTP 404)"


async def test_only_a_model_that_answered_a_call_is_shown_as_tested(local: Local) -> None:
    async with ModelServer(models=("tiny-1", "tiny-2")) as server:
        path, _ = await connect_named(local, server, "tiny-1")
        for names in (["tiny-1"], ["tiny-1", "tiny-2"]):
            await sync(local, path)
            await post(local, f"{path}/test")
            told = {entry["deployment"]["upstream_ref"]: entry for entry in await entries(local)}
            assert {name for name, entry in told.items() if entry["offering"]["tested_at"]} == {*names}
            assert {name for name, entry in told.items() if entry["deployment"]["last_tested_at"]} == {*names}
            standing = {name: entry["offering"]["certification"]["standing"] for name, entry in told.items()}
            assert standing == {name: "conformant" if name in names else None for name in ("tiny-1", "tiny-2")}
            await post(local, f"{path}/deployments/sync", {"models": ["tiny-2"]})


async def test_the_words_of_the_source_are_reported_without_its_key(local: Local) -> None:
    async with ModelServer(has_list=False) as server:
        said = f"Bad key Bearer {SECRET}, not {SECRET[:12]}*** nor sk-proj-abcdefgh12345678. \x1b[2J {'long ' * 100}"
        server.say("POST", ".*", Said(401, {"error": {"message": said}}))
        connection = await connect(local, server.base_url, models=["tiny-1"])
        failed = await post(local, f"{CONNECTIONS}/{connection['connection_id']}/test")
        assert failed["test_http_status"] == 401
        assert failed["test_message"].startswith("Bad key Bearer [removed], not [removed] nor [removed] ␛[2J")
        assert len(failed["test_message"]) <= 200
        assert SECRET[:12] not in str(failed)


async def test_the_other_models_of_a_list_are_taken_over_too(local: Local) -> None:
    async with ModelServer(models=("tiny-1", "tiny-2")) as server:
        path, _ = await connect_named(local, server, "tiny-2")
        assert sorted(await sync(local, path)) == ["tiny-1", "tiny-2"]


async def test_a_name_without_a_tag_means_the_latest(local: Local) -> None:
    async with ModelServer(models=("llama3.2:latest",), takes_any_model=True) as server:
        path, passed = await connect_named(local, server, "llama3.2")
        assert (passed["usable"], passed["endpoint"]["models"]) == (True, ["llama3.2:latest"])
        assert list(await sync(local, path)) == ["llama3.2:latest"]


async def test_a_model_that_answers_is_connected_though_the_list_does_not_name_it(local: Local) -> None:
    async with ModelServer(models=("gpt-5.2",), takes_any_model=True) as server:
        path, passed = await connect_named(local, server, "gpt-4o")
        assert (passed["usable"], passed["endpoint"]["models"]) == (True, ["gpt-4o"])
        assert sorted(await sync(local, path)) == ["gpt-4o", "gpt-5.2"]


async def test_an_alias_is_taken_when_a_listed_model_answers(local: Local) -> None:
    async with ModelServer(models=("big-20251101",)) as server:
        choice = {"message": {"role": "assistant", "content": "OK"}}
        server.say("POST", "/v1/.*", Said(200, {"model": "big-20251101", "choices": [choice]}))
        path, passed = await connect_named(local, server, "big")
        assert passed["usable"]
        assert sorted(await sync(local, path)) == ["big", "big-20251101"]


async def test_a_wrong_name_gets_suggestions(local: Local) -> None:
    async with ModelServer(models=("gpt-4o", "gpt-4o-mini", "x")) as server:
        path, failed = await connect_named(local, server, "gpt-4p")
        assert (failed["test_state"], failed["test_error"], failed["usable"]) == ("failed", "model_not_found", False)
        assert failed["test_suggestions"] == ["gpt-4o", "gpt-4o-mini"]
        assert (await local.get(path))["test_suggestions"] == failed["test_suggestions"]


@pytest.mark.parametrize("status", [400, 405, 413, 422])
async def test_a_refusal_of_the_source_is_reported_as_its_answer(local: Local, status: int) -> None:
    async with ModelServer(has_list=False) as server:
        server.say("POST", ".*", Said(status, {"error": {"message": "no"}}))
        path, failed = await connect_named(local, server, "tiny-1")
        kind = "input_too_long" if status == 413 else "request_refused"
        assert (failed["test_failure"], failed["test_http_status"]) == (kind, status)
        server.say("POST", ".*", Said(200, {"choices": [{"message": {"content": "OK"}}]}))
        passed = await post(local, f"{path}/test")
        assert (passed["usable"], passed["test_failure"], passed["test_http_status"]) == (True, None, None)


async def test_a_source_that_drops_the_call_fails_the_test(local: Local) -> None:
    async with ModelServer(has_list=False) as server:
        connection = await connect(local, server.base_url, secret=None, models=["tiny-1"])
        server.say("POST", ".*", DROP)
        path = f"{CONNECTIONS}/{connection['connection_id']}"
        failed = await post(local, f"{path}/test")
        assert (failed["test_failure"], failed["test_was_sent"]) == ("network", True)
    failed = await post(local, f"{path}/test")
    assert (failed["test_failure"], failed["test_was_sent"]) == ("network", False)


async def test_a_connection_that_never_passed_a_test_is_gone_when_it_is_disconnected(
    local: Local, data_dir: Path
) -> None:
    async with ModelServer(key="another") as server:
        connection = await connect(local, server.base_url, secret=SECRET)
        path = f"{CONNECTIONS}/{connection['connection_id']}"
        assert (await post(local, f"{path}/test"))["test_error"] == "authentication"
        gone = await local.http.delete(path)
        assert (gone.status_code, gone.json()["status"]) == (200, "disabled")
        assert await local.get(CONNECTIONS) == {"connections": []}
        check(await local.http.get(path), "not_found")
        assert not list(data_dir.glob("secrets/*"))


async def test_a_list_that_hangs_is_reported_as_the_list_and_changes_nothing(
    local: Local, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with ModelServer(models=("tiny-1",), has_list=False) as server:
        path, passed = await connect_named(local, server, "tiny-1")
        assert passed["usable"]
        await sync(local, path)
        server.say("GET", ".*", HANG)
        monkeypatch.setattr(providers, "LIST_TIMEOUT_S", 0.05)
        refused = await local.http.post(f"{path}/deployments/sync", json={})
        assert check(refused, "upstream_unavailable").detail == (
            "The source did not give its list of models: no answer came in time. Nothing was changed. The models named"
            " for the connection (tiny-1) work without that list."
        )
        assert (await local.get(path))["usable"]
        assert [row["status"] for row in (await local.get("/v1/model-deployments"))["deployments"]] == ["listed"]


async def test_a_connection_that_no_saved_model_used_leaves_nothing_behind(local: Local) -> None:
    async with ModelServer(models=("tiny-1",)) as server:
        path, _ = await connect_named(local, server, "tiny-1")
        await sync(local, path)
        assert (await local.http.delete(path)).json()["status"] == "disabled"
        assert (await local.get(CONNECTIONS))["connections"] == []
        assert (await local.get("/v1/model-deployments"))["deployments"] == []


@pytest.mark.parametrize("is_bound", [True, False])
async def test_a_connection_that_a_saved_model_may_have_used_stays_as_disconnected(
    local: Local, is_bound: bool
) -> None:
    async with ModelServer(models=("tiny-1",)) as server:
        path, _ = await connect_named(local, server, "tiny-1")
        served = await sync(local, path)
        if is_bound:
            arm = await model_arm(local, served["tiny-1"])
        else:
            # It may run over any connection to its provider.
            body = {"provider": "openai_compatible", "model_id": "tiny-1", "model_deployment_id": None}
            arm = await model_arm(local, served["tiny-1"], **body)
        await local.http.delete(f"/v1/arms/{arm['arm_id']}")
        await local.http.delete(path)
        (kept,) = (await local.get(CONNECTIONS))["connections"]
        assert (kept["status"], kept["revoked_at"] is None) == ("disabled", False)
