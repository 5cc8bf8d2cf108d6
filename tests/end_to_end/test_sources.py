"""From nothing to a model's answer by commands alone: real processes, a real service and a model server."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from tests.support.cli import Cli
from tests.support.model_server import ModelServer, running_model_server
from tests.support.scripted import Said
from tests.support.service import ServiceProcess

SECRET: Final = "sk-canary-e2e-3344556677"

LIVE: Final = (
    *("runs", "submit", "--mode", "live", "--objective", "Say hello", "--data-class", "public"),
    *("--max-cost-usd", "0.5", "--max-runtime-s", "60", "--exit-status"),
)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the command keeps its data; the service's are elsewhere."""
    return tmp_path_factory.mktemp("console")


@pytest.fixture(scope="module")
def cli(home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cli]:
    """The command and the real local service."""
    with ServiceProcess(tmp_path_factory.mktemp("service") / "data") as service:
        yield Cli(home, base_url=service.base_url, api_key=service.api_key)


@pytest.fixture(scope="module")
def models() -> Iterator[ModelServer]:
    """A server with one model that asks for a key."""
    server = ModelServer(models=("tiny-1",), key=SECRET)
    server.answer("Hello from tiny-1.")
    with running_model_server(server) as running:
        yield running


@pytest.mark.exhaustive
def test_a_model_is_connected_saved_run_rotated_and_disconnected(cli: Cli, models: ModelServer, home: Path) -> None:
    connect = ("sources", "connect", "--openai-compatible", models.base_url, "--name", "Box", "--json")
    wrong = cli(*connect, "--key-stdin", stdin=b"sk-not-the-one-1")
    assert (wrong.code, wrong.json["connection"]) == (1, None)
    assert "the source refused the key" in wrong.errors
    assert cli("sources", "list", "--json").json == []

    # Connecting twice makes one connection, and its model is saved once.
    made = cli(*connect, "--key-stdin", stdin=SECRET.encode(), code=0)
    connection_id = made.json["connection"]["connection_id"]
    again = cli(*connect, "--key-stdin", stdin=SECRET.encode())
    assert [again.json["connection"]["connection_id"], again.json["arms"][0]["arm_id"]] == [
        connection_id,
        made.json["arms"][0]["arm_id"],
    ]
    assert len(cli("sources", "list", "--json").json) == 1
    assert cli("arms", "disable", made.json["arms"][0]["arm_id"], "--yes").code == 0

    # Another key is tested, and a model is saved from the catalog.
    rotated = cli("sources", "rotate", connection_id, "--key-stdin", "--json", stdin=SECRET.encode())
    assert (rotated.code, rotated.json["test_state"]) == (0, "passed")
    (deployment,) = cli("sources", "sync", connection_id, "--json").json
    arm = cli("models", "save", deployment["model_deployment_id"], "--name", "Tiny", "--json").json
    assert [it["display_name"] for it in cli("arms", "list", "--status", "ready", "--json").json] == ["Tiny"]

    run = cli(*LIVE, "--arm-id", arm["arm_id"], "--watch", "--json", code=0)
    execution_id = run.json_lines[0]["execution_id"]
    assert "Hello from tiny-1." in cli("runs", "result", execution_id).text
    receipt = cli("receipts", "show", execution_id, "--json").json
    assert receipt["slices"][0]["route"]["selected"]["arm_id"] == arm["arm_id"]
    assert any("Say hello" in prompt for prompt in models.prompts)

    gone = cli("sources", "disconnect", connection_id, "--yes", "--json")
    assert gone.json == [{"connection_id": connection_id, "outcome": "disconnected", "status": "disabled"}]
    assert cli("arms", "show", arm["arm_id"], "--json").json["status"] == "disabled"
    assert cli("models", "list", "--json").json == []

    kept = b"".join(path.read_bytes() for path in home.rglob("*") if path.is_file())
    assert connection_id.encode() in kept
    assert SECRET.encode() not in kept
    assert b"intent=" not in kept


@pytest.mark.exhaustive
def test_connecting_again_gives_what_is_asked_for(cli: Cli) -> None:
    server = ModelServer(models=("tiny-1", "tiny-2"), key=SECRET)
    with running_model_server(server) as running:
        words = ("sources", "connect", "--openai-compatible", running.base_url, "--name", "Twice", "--json")

        def connect(*more: str) -> Any:
            return cli(*words, *more, "--key-stdin", stdin=SECRET.encode())

        first = connect("--model", "tiny-1")
        assert first.code == 0, first.errors
        assert "no price is known" in first.errors
        assert "--price-input" in first.errors
        connection_id = first.json["connection"]["connection_id"]

        priced = connect("--model", "tiny-1", "--price-input", "1", "--price-output", "2")
        assert "it has the new prices" in priced.errors
        assert priced.json["connection"]["endpoint"]["prices"]["*"]["output_usd_per_million"] == "2"
        served = cli("sources", "sync", connection_id, "--json").json
        assert {one["pricing_basis"] for one in served} == {"estimated"}
        assert "no price is known" not in connect("--model", "tiny-1").errors

        granted = connect("--model", "tiny-1", "--data-class", "tenant_internal")
        assert granted.json["arms"][0]["arm_id"] == first.json["arms"][0]["arm_id"]
        assert granted.json["arms"][0]["data_class_grants"] == ["public", "tenant_internal"]
        wrong = connect("--model", "tiny-1", "--data-class", "nothing")
        assert wrong.code == 2
        assert "it can be granted public, sandbox, tenant_internal" in wrong.errors

        # The same server, its address written otherwise, without key and name: what is left out stays, and a model
        # that answered before is not called again.
        called = len(server.prompts)
        bare = cli(*words[:3], running.origin, *("--model", "tiny-1", "--json"))
        assert (len(server.prompts), "no model is called" in bare.errors) == (called, True)
        assert bare.json["connection"]["connection_id"] == connection_id
        assert bare.json["connection"]["auth_scheme"] == "api_key"
        assert bare.json["arms"][0]["arm_id"] == first.json["arms"][0]["arm_id"]

        # Without a name, only what is not saved yet is suggested.
        unnamed = connect()
        assert f"the test passed, at {running.base_url}" in unnamed.errors
        assert "1 is saved already" in unnamed.errors
        assert unnamed.errors.count("models save") == unnamed.errors.count("to save tiny-2") == 1

        # A model that was not named before is called once, and one that refuses the call is not saved.
        answer = {"model": "tiny-1", "choices": [{"message": {"role": "assistant", "content": "OK"}}]}
        server.say("POST", ".*", Said(200, answer), Said(400, {"error": {"message": "no"}}))
        refused = connect("--model", "tiny-2")
        assert (refused.code, refused.json["arms"]) == (1, [])
        assert "the test passed" in refused.errors
        assert refused.json["connection"]["usable"]

    down = cli("sources", "test", connection_id, code=1)
    assert "nothing answered at the address" in down.errors
    assert "Start the server" in down.errors
    again = connect("--model", "tiny-1")
    assert again.code == 1
    assert "nothing answered at the address" in again.errors
    assert not any(word in down.errors + again.errors for word in ("nknown", "dempotency", "attempts"))
    (listed,) = [one for one in cli("sources", "list", "--json").json if one["connection_id"] == connection_id]
    assert listed["test_failure"] == "network"
    assert "network" in cli("sources", "list").text
    assert cli("sources", "disconnect", connection_id, "--yes").code == 0


@pytest.mark.exhaustive
def test_a_server_without_a_list_is_connected_by_the_name_of_a_model(cli: Cli) -> None:
    with running_model_server(ModelServer(models=("tiny-1", "tiny-2", "tiny-3"), has_list=False)) as running:
        words = ("sources", "connect", "--openai-compatible", running.base_url, "--name", "Listless")
        unnamed = cli(*words, code=1)
        assert "--model NAME" in unnamed.errors
        named = cli(*words, "--model", "tiny-2", "--model", "tiny-1", "--json", code=0)
        assert [arm["model_id"] for arm in named.json["arms"]] == ["tiny-2", "tiny-1"]
        assert named.errors.count("--data-class") == 1
        assert "the list of models could not be read: nothing at this path lists models" in named.errors
        assert "answered by name" in named.errors
        assert "no other" not in named.errors
        connection_id = named.json["connection"]["connection_id"]

        # A bad model is called alone and changes nothing; a good one is in the record that is printed.
        called = len(running.bodies)
        elsewhere = (*words[:3], running.base_url.replace("127.0.0.1", "localhost"), "--json")
        bad = cli(*elsewhere, "--model", "nope")
        assert (bad.code, bad.json["connection"]["endpoint"]["models"]) == (1, ["tiny-2", "tiny-1"])
        assert "The test of nope failed" in bad.errors
        assert not any(word in bad.errors for word in ("passed", "not valid", "fields"))
        added = cli(*elsewhere, "--model", "tiny-3")
        assert added.json["connection"]["endpoint"]["models"] == ["tiny-2", "tiny-1", "tiny-3"]
        assert [call["model"] for call in running.bodies[called:]] == ["nope", "tiny-3"]

        assert cli("sources", "sync", connection_id, "--remove", "tiny-3", "--json").code == 0
        (left,) = [one for one in cli("sources", "list", "--json").json if one["connection_id"] == connection_id]
        assert left["endpoint"]["models"] == ["tiny-2", "tiny-1"]
        assert cli("sources", "disconnect", connection_id, "--yes").code == 0


def test_a_template_is_applied_to_its_echo_proof(cli: Cli) -> None:
    plan = cli("templates", "plan", "starter", "--json", code=0)
    words = ("--digest", plan.json["digest"], "--issued-at", plan.json["issued_at"], "--json")
    cli("templates", "apply", "starter", *words, code=0)
    stale = cli(
        "templates", "apply", "starter", "--digest", "sha256:0", "--issued-at", plan.json["issued_at"], "--json"
    )
    assert stale.code == 1
    assert json.loads(stale.errors.splitlines()[-1])["problem"]["errors"]


@pytest.mark.exhaustive
def test_every_list_and_report_answers_on_the_local_service(cli: Cli) -> None:
    nouns = (
        "models", "arms", "verifiers", "templates", "agents", "credentials", "github", "sources", "proposals", "keys",
    )  # fmt: skip
    for words in (*((noun, "list") for noun in nouns), ("models", "deployments"), ("models", "definitions"),
                  ("sources", "list", "--available"), ("usage",), ("evals",), ("compliance", "export")):  # fmt: skip
        assert cli(*words, "--json").code == 0, words
