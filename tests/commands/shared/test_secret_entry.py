"""Secrets that are entered: from where they come, where they go, and that they are nowhere else."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, Final

import pytest

from runwatch.base.json import loads
from tests.commands.here import Here
from tests.commands.test_resources import serve
from tests.support import resources
from tests.support.builders import problem
from tests.support.scripted import Said, ScriptedService

CANARY: Final = "sk-canary-5511aa77bb"
TOKEN: Final = "token-canary-9922cc44dd"
CONNECT: Final = ("sources", "connect", "--openai-compatible", "https://models.test/v1")
CONNECTION: Final = "/v1/source-connections/conn_01HX5"
TEMPLATE: Final = dict(resources.catalog_entry().raw["arm_registration_template"])
SERVED: Final = resources.deployment("mdep_01HX6", source_id="openai_compatible")


def page(service: ScriptedService, kind: str) -> str:
    """The address of a private page of the service."""
    return f"{service.base_url}/connect/{kind}?intent={TOKEN}"


def offer_source(service: ScriptedService, *, begun: str = "pending", after: str = "completed") -> None:
    """Offer everything that connecting a source needs, all of it successful."""
    handoffs = "/v1/source-credential-handoffs"
    state = {"continue_url": page(service, "source")} if begun == "pending" else {}
    service.say("POST", handoffs, Said(201, resources.handoff(begun, **state)))
    service.say("GET", f"{handoffs}/hand_01", Said(200, resources.handoff(after)))
    service.say("POST", "/connect/source", Said(200, {"state": "completed"}))
    fresh = resources.connection(status="disabled", test_state="untested", tested_binding_revision=None)
    service.say("POST", "/v1/source-connections", Said(200, fresh))
    service.say("GET", "/v1/source-connections/conn_01HX5", Said(200, fresh))
    service.say("POST", "/v1/source-connections/conn_01HX5/test", Said(200, resources.connection()))
    service.say(
        "POST", "/v1/source-connections/conn_01HX5/deployments/sync", Said(200, {"deployments": [dict(SERVED.raw)]})
    )
    serve(service, "models", [resources.catalog_entry()])
    service.say("POST", "/v1/arms", Said(200, resources.arm_outcome()))


def body_of(service: ScriptedService, path: str) -> Any:
    (heard,) = service.requests("POST", path)
    return loads(heard.body)


def nowhere(home: Path, *outcomes: Any) -> None:
    """Check that neither the secret nor the address is in any file or output."""
    kept = [path for path in home.rglob("*") if path.is_file()]
    assert any(path.suffix == ".db" for path in kept)
    written = [path.read_bytes() for path in kept] + [part for it in outcomes for part in (it.stdout, it.stderr)]
    assert not any(word.encode() in content for content in written for word in (CANARY, TOKEN))


@pytest.fixture(autouse=True)
def _source(service: ScriptedService) -> None:
    """Every service offers a source; a test may say more about it."""
    offer_source(service)


def test_a_source_is_connected_step_by_step(runwatch: Here, service: ScriptedService, tmp_path: Path) -> None:
    service.say("GET", CONNECTION, Said(200, resources.connection()))
    outcome = runwatch(*CONNECT, "--key-stdin", "--json", stdin=f"{CANARY}\n".encode(), code=0)
    assert outcome.json == {"connection": dict(resources.connection().raw), "arms": [dict(resources.arm_outcome().raw)]}
    told = [json.loads(line)["notice"] for line in outcome.errors.splitlines()]
    *steps, run = told[-6:]
    assert [line[:6] for line in steps] == [f"{number} of 5" for number in range(1, 6)]
    assert "runs submit --mode live --arm-id arm_" in run
    assert body_of(service, "/v1/source-credential-handoffs") == {
        "source_id": "openai_compatible",
        "auth_scheme": "api_key",
        "endpoint": {"base_url": "https://models.test/v1", "protocol_profile": "openai_chat"},
    }
    (entered,) = service.requests("POST", "/connect/source")
    assert (loads(entered.body), entered.head.query) == ({"secret": CANARY}, {"intent": TOKEN})
    assert entered.head.header("authorization") == "Bearer k"
    assert body_of(service, "/v1/source-connections")["source_scope"] == {"kind": "account", "account_ref": "acct_01"}
    requests = runwatch("requests", "list", "--format", "csv")
    assert "postPrivateEntry" in requests.text
    nowhere(tmp_path, outcome, requests)


def test_the_key_comes_from_a_command_too(runwatch: Here, service: ScriptedService, tmp_path: Path) -> None:
    (tmp_path / "key.txt").write_text(CANARY)
    command = f"{sys.executable} -c \"print(open(r'{tmp_path / 'key.txt'}').read())\""
    outcome = runwatch(*CONNECT, "--key-command", command, code=0)
    assert body_of(service, "/connect/source") == {"secret": CANARY}
    (tmp_path / "key.txt").unlink()
    nowhere(tmp_path, outcome)


def test_without_a_key_the_page_is_reported_and_waited_for(runwatch: Here, service: ScriptedService) -> None:
    pending, completed = resources.handoff("pending"), resources.handoff("completed")
    service.say(
        "GET", "/v1/source-credential-handoffs/hand_01", Said(200, pending), Said(200, pending), Said(200, completed)
    )
    outcome = runwatch(*CONNECT, code=0)
    assert outcome.errors.count(page(service, "source")) == 1
    port = service.base_url.rpartition(":")[2]
    assert f"ssh -L {port}:127.0.0.1:{port} " in outcome.errors
    assert service.requests("POST", "/connect/source") == []
    assert len(service.requests("GET", "/v1/source-credential-handoffs/hand_01")) == 3
    assert "conn_01HX5" in outcome.text
    assert "arm_01HX7" in outcome.text


@pytest.mark.parametrize("state", ["failed", "expired", "consumed"])
def test_a_handoff_that_ends_without_a_key_ends_the_waiting(
    runwatch: Here, service: ScriptedService, state: str
) -> None:
    offer_source(service, after=state)
    outcome = runwatch(*CONNECT)
    assert (outcome.code, outcome.stdout) == (1, b"")
    assert "No key was entered" in outcome.errors


def test_a_page_that_nobody_completes_is_given_up(runwatch: Here, service: ScriptedService) -> None:
    offer_source(service, after="pending")
    outcome = runwatch(*CONNECT, code=1)
    assert "The private page was not completed in time" in outcome.errors


def test_a_key_is_never_sent_to_another_address(runwatch: Here, service: ScriptedService) -> None:
    address = "http://127.0.0.1:9/connect/source?intent=elsewhere-123456789"
    service.say("POST", "/v1/source-credential-handoffs", Said(201, resources.handoff(continue_url=address)))
    outcome = runwatch(*CONNECT, "--key-stdin", stdin=CANARY.encode(), code=0)
    assert "no key is sent there" in outcome.errors
    assert address in outcome.errors
    assert not any(CANARY.encode() in heard.body for heard in service.heard)


def test_a_page_that_refuses_the_key_is_a_refusal(runwatch: Here, service: ScriptedService, tmp_path: Path) -> None:
    said = Said(400, problem("validation_failed", detail=f"What is {CANARY}?"))
    service.say("POST", "/connect/source", said)
    outcome = runwatch(*CONNECT, "--key-stdin", stdin=CANARY.encode())
    assert (outcome.code, outcome.stdout) == (1, b"")
    assert len(service.requests("POST", "/connect/source")) == 1
    assert CANARY not in runwatch("problems", "list", "--json").text


def test_a_server_on_this_machine_gets_no_key_unless_one_is_given(runwatch: Here, service: ScriptedService) -> None:
    offer_source(service, begun="completed")
    words = ("sources", "connect", "--openai-compatible", "http://127.0.0.1:11434/v1", "--name", "Box")
    prices = ("--price-input", "0.25", "--price-output", "1")
    assert runwatch(*words, *prices).code == 0
    body = body_of(service, "/v1/source-credential-handoffs")
    assert (body["auth_scheme"], body["endpoint"]["prices"]) == (
        "none",
        {"*": {"input_usd_per_million": "0.25", "output_usd_per_million": "1"}},
    )
    assert body_of(service, "/v1/source-connections")["display_name"] == "Box"
    assert service.requests("POST", "/connect/.*") == []


def test_a_source_with_an_address_of_its_own_takes_its_usual_way(runwatch: Here, service: ScriptedService) -> None:
    serve(
        service, "profiles", [resources.source_profile("openrouter", auth_schemes=[{"id": "oauth2", "version": "1"}])]
    )
    assert runwatch("sources", "connect", "openrouter", "--key-stdin", stdin=CANARY.encode()).code == 0
    assert body_of(service, "/v1/source-credential-handoffs") == {"source_id": "openrouter", "auth_scheme": "oauth2"}
    wrong = runwatch("sources", "connect", "openroutr", "--key-stdin", stdin=CANARY.encode(), code=1)
    assert "did you mean 'openrouter'?" in wrong.errors


@pytest.mark.parametrize(
    ("failure", "said"),
    [
        ({"test_error": "authentication"}, ("the source refused the key", "another key")),
        (
            {"test_error": "authentication", "auth_scheme": "none"},
            ("the server asks for a key", "again with --key-stdin"),
        ),
        ({"test_failure": "request_refused", "test_http_status": 400}, ("refused the request (HTTP 400)", "the log")),
        (
            {"test_error": "model_not_found", "test_suggestions": ["ember-7b", "ember-9b"]},
            ("no such model", "It serves ember-7b, ember-9b."),
        ),
        (
            {"test_failure": "request_refused", "test_http_status": 418, "test_message": "no\x1b[2Jcoffee"},
            ("refused the request (HTTP 418): ", "coffee"),
        ),
        ({"test_failure": "network"}, ("nothing answered at the address", "Start the server")),
        ({"test_failure": "network", "test_was_sent": True}, ("closed the connection", "the log of the server")),
        ({"test_failure": "invalid_response"}, ("the form of the protocol", "Check the address and the protocol")),
    ],
)
def test_a_new_connection_whose_test_fails_is_removed_and_the_cause_has_its_advice(
    runwatch: Here, service: ScriptedService, failure: dict[str, Any], said: tuple[str, str]
) -> None:
    failed = resources.connection(status="disabled", test_state="failed", **failure)
    service.say("POST", f"{CONNECTION}/test", Said(200, failed))
    service.say("DELETE", CONNECTION, Said(200, {"connection_id": "conn_01HX5", "status": "disabled"}))
    outcome = runwatch(*CONNECT, "--key-stdin", "--json", stdin=CANARY.encode(), code=1)
    assert outcome.json == {"connection": None, "arms": []}
    assert all(words in outcome.errors for words in said), outcome.errors
    assert ("rotate" in outcome.errors) is False
    assert len(service.requests("DELETE", CONNECTION)) == 1


def test_a_source_that_does_not_answer_leaves_no_connection_either(runwatch: Here, service: ScriptedService) -> None:
    failed = resources.connection(status="disabled", test_state="failed", test_failure="network")
    service.say("POST", f"{CONNECTION}/test", Said(502, problem("upstream_unavailable")))
    service.say("GET", CONNECTION, Said(200, failed))
    service.say("DELETE", CONNECTION, Said(200, {"connection_id": "conn_01HX5", "status": "disabled"}))
    outcome = runwatch(*CONNECT, "--key-stdin", stdin=CANARY.encode(), code=3)
    assert "nothing answered at the address" in outcome.errors
    assert "Start the server" in outcome.errors
    assert "502" not in outcome.errors
    assert len(service.requests("DELETE", CONNECTION)) == 1


def test_a_source_that_is_connected_is_used_and_its_model_is_saved_once(
    runwatch: Here, service: ScriptedService
) -> None:
    endpoint = {"base_url": "https://models.test/v1", "protocol_profile": "openai_chat"}
    known = resources.connection(display_name="models.test", source_id="openai_compatible", endpoint=endpoint)
    serve(service, "sources", [known])
    saved = resources.arm("arm_09", model_deployment_id="mdep_01HX6", status="ready")
    serve(service, "arms", [saved])
    outcome = runwatch(*CONNECT, "--json", code=0)
    assert "already connected as conn_01HX5" in outcome.errors
    assert outcome.json["arms"] == [dict(saved.raw)]
    for path in ("/v1/source-credential-handoffs", "/v1/source-connections", "/v1/arms", f"{CONNECTION}/rotate"):
        assert service.requests("POST", path) == []


def test_connecting_again_tests_a_new_model_sets_prices_and_grants_data_classes(
    runwatch: Here, service: ScriptedService
) -> None:
    endpoint = {"base_url": "https://127.0.0.1:9/v1", "protocol_profile": "openai_chat", "models": ["other"]}
    known = resources.connection(display_name="models.test", source_id="openai_compatible", endpoint=endpoint)
    serve(service, "sources", [known])
    service.say("POST", f"{CONNECTION}/test", Said(200, known))
    saved = resources.arm("arm_09", model_deployment_id="mdep_01HX6", status="ready", data_class_grants=["public"])
    serve(service, "arms", [saved])
    service.say("PATCH", "/v1/arms/arm_09", Said(200, saved))
    words = ("--model", "ember-7b-instruct", "--data-class", "sandbox", "--price-input", "1", "--price-output", "2")
    prices = {"*": {"input_usd_per_million": "1", "output_usd_per_million": "2"}}
    priced = resources.connection(source_id="openai_compatible", endpoint={**endpoint, "prices": prices})
    service.say("GET", CONNECTION, Said(200, priced))
    outcome = runwatch("sources", "connect", "--openai-compatible", "https://127.0.0.1:9", *words, "--json", code=0)
    assert outcome.json["connection"] == dict(priced.raw)
    assert [loads(heard.body) for heard in service.requests("POST", f"{CONNECTION}/deployments/sync")] == [
        {"models": ["ember-7b-instruct"], "prices": prices}
    ]
    (changed,) = service.requests("PATCH", "/v1/arms/arm_09")
    assert loads(changed.body) == {"data_class_grants": ["public", "sandbox"]}


def test_prices_that_a_service_does_not_take_are_an_error(runwatch: Here, service: ScriptedService) -> None:
    endpoint = {"base_url": "https://models.test/v1", "protocol_profile": "openai_chat"}
    serve(service, "sources", [
        resources.connection(display_name="models.test", source_id="openai_compatible", endpoint=endpoint)
    ])  # fmt: skip
    unpriced = {**SERVED.raw, "pricing_basis": "estimated"}
    service.say("POST", f"{CONNECTION}/deployments/sync", Said(200, {"deployments": [unpriced]}))
    outcome = runwatch(*CONNECT, "--price-input", "1", "--price-output", "2", code=1)
    assert "did not accept the prices" in outcome.errors
    assert "sources disconnect conn_01HX5" in outcome.errors


def test_a_source_with_an_address_of_its_own_is_connected_once_too(runwatch: Here, service: ScriptedService) -> None:
    serve(service, "sources", [resources.connection(display_name="openrouter", source_id="openrouter")])
    words = (
        "sources", "connect", "openrouter", "--auth-scheme", "api_key", "--price-input", "1", "--price-output", "2",
    )  # fmt: skip
    outcome = runwatch(*words, code=0)
    assert "already connected as conn_01HX5" in outcome.errors
    assert service.requests("POST", "/v1/source-connections") == []


def test_a_known_connection_gets_the_key_that_is_given(runwatch: Here, service: ScriptedService) -> None:
    endpoint = {"base_url": "https://models.test/v1", "protocol_profile": "openai_chat"}
    known = resources.connection(display_name="models.test", source_id="openai_compatible", endpoint=endpoint)
    serve(service, "sources", [known])
    service.say("POST", f"{CONNECTION}/rotate", Said(200, resources.connection(test_state="untested")))
    assert runwatch(*CONNECT, "--key-stdin", stdin=CANARY.encode()).code == 0
    asked = [heard.head.path for heard in service.heard if heard.head.path.startswith(f"{CONNECTION}/")]
    assert asked == [f"{CONNECTION}/rotate", f"{CONNECTION}/test", f"{CONNECTION}/deployments/sync"]
    assert service.requests("POST", "/v1/source-connections") == []


@pytest.mark.parametrize(
    ("address", "name"),
    [("https://models.test", None), ("https://models.test/v1/", None), ("https://MODELS.test:443/v1", "models.test")],
)
def test_a_known_address_is_one_connection_whatever_its_name_or_spelling(
    runwatch: Here, service: ScriptedService, address: str, name: str | None
) -> None:
    endpoint = {"base_url": "https://models.test/v1", "protocol_profile": "openai_responses"}
    known = resources.connection(
        display_name=name or "Lab", source_id="openai_compatible", auth_scheme="none", endpoint=endpoint
    )
    serve(service, "sources", [known])
    named = () if name is None else ("--name", name)
    outcome = runwatch("sources", "connect", "--openai-compatible", address, *named)
    assert "already connected as conn_01HX5" in outcome.errors
    assert service.requests("POST", "/v1/source-connections") == []


@pytest.mark.parametrize("words", [("--name", "Two"), ("--protocol", "openai_chat")])
def test_another_name_or_protocol_makes_a_second_connection(
    runwatch: Here, service: ScriptedService, words: tuple[str, str]
) -> None:
    endpoint = {"base_url": "https://models.test/v1", "protocol_profile": "openai_responses"}
    known = resources.connection(display_name="Lab", source_id="openai_compatible", endpoint=endpoint)
    serve(service, "sources", [known])
    outcome = runwatch(*CONNECT, *words, "--key-stdin", stdin=CANARY.encode())
    assert len(service.requests("POST", "/v1/source-connections")) == 1
    assert ("without --name that one is used" in outcome.errors) is (words[0] == "--name")


def test_prices_that_are_there_already_are_not_set_again(runwatch: Here, service: ScriptedService) -> None:
    prices = {"*": {"input_usd_per_million": "1.0", "output_usd_per_million": "2"}}
    endpoint = {"base_url": "https://models.test/v1", "protocol_profile": "openai_chat", "prices": prices}
    known = resources.connection(display_name="models.test", source_id="openai_compatible", endpoint=endpoint)
    serve(service, "sources", [known])
    outcome = runwatch(*CONNECT, "--price-input", "1", "--price-output", "2")
    assert "new prices" not in outcome.errors
    assert [loads(heard.body) for heard in service.requests("POST", f"{CONNECTION}/deployments/sync")] == [{}]


def test_a_data_class_that_no_model_there_may_get_is_refused_before_anything_is_sent(
    runwatch: Here, service: ScriptedService
) -> None:
    for address, name, allowed in (
        ("https://models.test/v1", "sandbox", "public"),
        ("http://127.0.0.1:9/v1", "secret", "public, sandbox, tenant_internal"),
    ):
        outcome = runwatch("sources", "connect", "--openai-compatible", address, "--data-class", name, code=2)
        assert f"it can be granted {allowed}" in outcome.errors
    assert service.heard == []


def test_a_new_connection_whose_model_is_refused_is_disconnected_again(
    runwatch: Here, service: ScriptedService
) -> None:
    service.say("POST", "/v1/arms", Said(400, problem("validation_failed")))
    service.say("DELETE", CONNECTION, Said(200, {"connection_id": "conn_01HX5", "status": "disabled"}))
    outcome = runwatch(*CONNECT, "--key-stdin", "--json", stdin=CANARY.encode())
    assert (outcome.code, outcome.json) == (1, {"connection": None, "arms": []})
    assert len(service.requests("DELETE", CONNECTION)) == 1


def test_too_many_models_are_refused_with_the_bound(runwatch: Here, service: ScriptedService) -> None:
    words = [word for number in range(21) for word in ("--model", f"m{number}")]
    outcome = runwatch(*CONNECT, *words, code=2)
    assert "20 times" in outcome.errors
    assert service.heard == []


def leave_untested(service: ScriptedService) -> None:
    """What a command leaves that is killed between connecting and testing."""
    endpoint = {"base_url": "https://models.test/v1", "protocol_profile": "openai_chat"}
    left: dict[str, Any] = {
        "status": "disabled", "test_state": "untested", "tested_binding_revision": None, "last_tested_at": None,
    }  # fmt: skip
    made = resources.connection(display_name="models.test", source_id="openai_compatible", endpoint=endpoint, **left)
    serve(service, "sources", [made])


def test_a_connection_that_was_never_tested_is_taken_up_again(runwatch: Here, service: ScriptedService) -> None:
    leave_untested(service)
    outcome = runwatch(*CONNECT, "--json", code=0)
    assert "already connected as conn_01HX5" in outcome.errors
    assert outcome.json["connection"]["connection_id"] == "conn_01HX5"
    assert len(service.requests("POST", f"{CONNECTION}/test")) == 1
    assert service.requests("POST", "/v1/source-connections") == []


@pytest.mark.parametrize("status", [200, 502])
def test_a_connection_that_was_never_tested_and_fails_is_removed(
    runwatch: Here, service: ScriptedService, status: int
) -> None:
    leave_untested(service)
    failed = resources.connection(status="disabled", test_state="failed", test_error="authentication")
    service.say(
        "POST", f"{CONNECTION}/test", Said(200, failed) if status == 200 else Said(502, problem("upstream_unavailable"))
    )
    service.say("GET", CONNECTION, Said(200, failed))
    service.say("POST", f"{CONNECTION}/rotate", Said(200, failed))
    service.say("DELETE", CONNECTION, Said(200, {"connection_id": "conn_01HX5", "status": "disabled"}))
    outcome = runwatch(*CONNECT, "--key-stdin", "--json", stdin=CANARY.encode())
    assert outcome.code == (1 if status == 200 else 3)
    assert outcome.json == {"connection": None, "arms": []}
    assert len(service.requests("POST", f"{CONNECTION}/rotate")) == 1
    assert len(service.requests("DELETE", CONNECTION)) == 1
    assert service.requests("POST", "/v1/source-connections") == []


def test_only_public_data_is_granted_unless_more_was_asked_for(runwatch: Here, service: ScriptedService) -> None:
    template = {**TEMPLATE, "data_class_grants": ["public", "tenant_internal"]}
    serve(service, "models", [resources.catalog_entry(arm_registration_template=template)])
    outcome = runwatch(*CONNECT, "--key-stdin", stdin=CANARY.encode())
    assert body_of(service, "/v1/arms")["data_class_grants"] == ["public"]
    assert "--data-class adds others: tenant_internal" in outcome.errors


def test_a_named_class_is_added_to_public(runwatch: Here, service: ScriptedService) -> None:
    template = {**TEMPLATE, "data_class_grants": ["public", "tenant_internal"]}
    serve(service, "models", [resources.catalog_entry(arm_registration_template=template)])
    words = ("sources", "connect", "openrouter", "--auth-scheme", "api_key", "--data-class", "tenant_internal")
    runwatch(*words, "--key-stdin", stdin=CANARY.encode())
    assert body_of(service, "/v1/arms")["data_class_grants"] == ["public", "tenant_internal"]


def test_a_model_that_may_not_get_public_data_needs_a_named_class(runwatch: Here, service: ScriptedService) -> None:
    template = {**TEMPLATE, "data_class_grants": ["tenant_internal"]}
    serve(service, "models", [resources.catalog_entry(arm_registration_template=template)])
    outcome = runwatch(*CONNECT, "--key-stdin", stdin=CANARY.encode(), code=1)
    assert "it may be granted tenant_internal" in outcome.errors
    assert service.requests("POST", "/v1/arms") == []


def test_what_was_made_before_a_failure_is_printed_as_it_is_now(runwatch: Here, service: ScriptedService) -> None:
    now = resources.connection(test_state="failed")
    service.say("POST", f"{CONNECTION}/deployments/sync", Said(502, problem("upstream_unavailable")))
    service.say("GET", CONNECTION, Said(200, now))
    outcome = runwatch(*CONNECT, "--key-stdin", "--json", stdin=CANARY.encode(), code=3)
    assert outcome.json["connection"] == dict(now.raw)
    assert "upstream_unavailable" in outcome.errors


def test_of_several_models_only_the_named_ones_are_saved(runwatch: Here, service: ScriptedService) -> None:
    served = [dict(SERVED.raw), dict(resources.deployment("mdep_2", upstream_ref="other", model_key="x/other").raw)]
    sync = "/v1/source-connections/conn_01HX5/deployments/sync"
    service.say("POST", sync, Said(200, {"deployments": served}))
    words = (*CONNECT, "--key-stdin", "--json")
    unnamed = runwatch(*words, stdin=CANARY.encode())
    assert unnamed.json["arms"] == []
    assert 'to save other: runwatch models save mdep_2"}' in unnamed.errors
    named = runwatch(*words, "--model", "ember-7b-instruct", "--data-class", "public", stdin=CANARY.encode())
    assert len(named.json["arms"]) == 1
    assert body_of(service, "/v1/arms")["data_class_grants"] == ["public"]
    missing = runwatch(*words, "--model", "nobody", stdin=CANARY.encode())
    assert (missing.code, missing.json["arms"]) == (1, [])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("sources", "connect"), "Name one source"),
        (("sources", "connect", "x", "--openai-compatible", "https://m.test"), "Name one source"),
        ((*CONNECT, "--price-input", "1"), "go together"),
        ((*CONNECT, "--price-input", "a", "--price-output", "1"), "'a' is not a price"),
        ((*CONNECT, "--key-stdin", "--key-command", "x"), "cannot be used together"),
        ((*CONNECT, "--key-stdin"), "not a key"),
        (("verifiers", "connect", "v", "--days", "31"), "--days takes one of 30, 90, 180, 365"),
        (("verifiers", "connect", "v", "--days", "30", "--until", "2027-01-01"), "cannot be used together"),
        (("verifiers", "connect", "v", "--time-zone", "UTC"), "--time-zone goes with --until"),
    ],
)
def test_options_that_cannot_be_are_refused_before_anything_is_sent(
    runwatch: Here, service: ScriptedService, words: tuple[str, ...], said: str
) -> None:
    outcome = runwatch(*words, code=2)
    assert said in outcome.errors
    assert service.heard == []


def test_what_is_no_key_is_refused_without_being_repeated(runwatch: Here, service: ScriptedService) -> None:
    outcome = runwatch(*CONNECT, "--key-stdin", stdin=b"two words-canary")
    assert (outcome.code, service.heard) == (2, [])
    assert "canary" not in outcome.errors


def test_another_key_is_given_to_a_connection_and_tested(runwatch: Here, service: ScriptedService) -> None:
    service.say("POST", "/v1/source-connections/conn_01HX5/rotate", Said(200, resources.connection()))
    runwatch("sources", "rotate", "conn_01HX5", "--key-stdin", stdin=CANARY.encode(), code=0)
    assert body_of(service, "/v1/source-connections/conn_01HX5/rotate") == {"handoff_intent_id": "hand_01"}
    assert len(service.requests("POST", "/v1/source-connections/conn_01HX5/test")) == 1


def offer_endpoint(service: ScriptedService, base: str, intents: str, *views: Any) -> None:
    """Offer the protected connection of a check or an agent, which shows these views one after another."""
    intent = resources.key_intent(page(service, "verifier"))
    service.say("POST", f"{base}/{intents}", Said(200, intent))
    service.say("POST", "/connect/verifier", Said(200, {"handle": resources.HANDLE, "captured_generation": 4}))
    service.say("POST", f"{base}/connection/test", Said(200, {"generation": 5}))
    service.say("GET", f"{base}/connection", *[Said(200, view) for view in views])


STAGED: Final = resources.key_connection(
    "unbound", handle=None, pending_key={"handle": resources.HANDLE, "captured_generation": 4, "staged_until": None}
)
UNBOUND: Final = resources.key_connection("unbound", handle=None)
ENDPOINTS: Final = {
    "verifiers": ("/v1/verifiers/id_1", "connection-intents"),
    "agents": ("/v1/review-composer/agents/id_1", "connection/intents"),
}


@pytest.mark.parametrize("noun", ENDPOINTS)
def test_the_key_of_an_endpoint_is_entered_tested_and_used(
    runwatch: Here, service: ScriptedService, tmp_path: Path, noun: str
) -> None:
    base, intents = ENDPOINTS[noun]
    offer_endpoint(service, base, intents, UNBOUND, STAGED, resources.key_connection())
    words = (noun, "connect", "id_1", "--until", "2027-03-01", "--time-zone", "Europe/Berlin")
    outcome = runwatch(*words, "--key-stdin", "--json", stdin=CANARY.encode())
    assert (outcome.code, outcome.json["status"]) == (0, "active")
    assert body_of(service, f"{base}/{intents}") == {
        "stop_choice": {"kind": "calendar_date", "date": "2027-03-01", "time_zone": "Europe/Berlin"}
    }
    assert body_of(service, "/connect/verifier") == {"secret": CANARY}
    assert body_of(service, f"{base}/connection/test") == {
        "handle": resources.HANDLE, "captured_generation": 4, "operation_key": "int_01",
    }  # fmt: skip
    nowhere(tmp_path, outcome)


def test_only_what_is_read_back_decides_whether_a_key_is_used(runwatch: Here, service: ScriptedService) -> None:
    base, intents = ENDPOINTS["verifiers"]
    failed = resources.key_connection(
        "unbound", handle=None, last_test={"outcome": "failed", "reason": "authentication_failed"}
    )
    offer_endpoint(service, base, intents, STAGED, failed)
    outcome = runwatch("verifiers", "promote", "id_1", code=1)
    assert "authentication_failed" in outcome.errors


def test_a_key_is_waited_for_and_may_stay_unused(runwatch: Here, service: ScriptedService) -> None:
    base, intents = ENDPOINTS["verifiers"]
    offer_endpoint(service, base, intents, UNBOUND, UNBOUND, UNBOUND, STAGED)
    outcome = runwatch("verifiers", "connect", "id_1", "--stage-only", "--days", "90", "--json")
    assert (outcome.code, outcome.json) == (0, dict(STAGED.raw))
    assert body_of(service, f"{base}/{intents}") == {"stop_choice": {"kind": "preset_days", "days": 90}}
    assert service.requests("POST", f"{base}/connection/test") == []
    assert page(service, "verifier") in outcome.errors


def test_nothing_to_promote_is_reported(runwatch: Here, service: ScriptedService) -> None:
    service.say("GET", "/v1/verifiers/v/connection", Said(200, UNBOUND))
    outcome = runwatch("verifiers", "promote", "v", code=1)
    assert "runwatch verifiers connect v" in outcome.errors


def test_a_key_that_is_still_in_use_after_its_revocation_is_no_success(
    runwatch: Here, service: ScriptedService
) -> None:
    service.say("POST", "/v1/verifiers/v/connection/revoke", Said(200, {"generation": 5}))
    service.say("GET", "/v1/verifiers/v/connection", Said(200, resources.key_connection("active")))
    assert runwatch("verifiers", "revoke", "v", "--yes", code=1).errors == "runwatch: a key is still in use\n"


@pytest.mark.parametrize(
    ("before", "said"),
    [
        (resources.key_connection(), "no key is in use any more"),
        (
            resources.key_connection("revoked", stopped_at="2026-10-30T12:00:05Z", handle=None),
            "the key is stopped since 2026-10-30T12:00:05.000Z; nothing was changed",
        ),
    ],
)
def test_a_key_that_was_stopped_before_says_since_when(
    runwatch: Here, service: ScriptedService, before: Any, said: str
) -> None:
    after = resources.key_connection("revoked", stopped_at="2026-10-30T12:00:05Z", handle=None)
    service.say("POST", "/v1/verifiers/v/connection/revoke", Said(200, {"generation": 5}))
    service.say("GET", "/v1/verifiers/v/connection", Said(200, before), Said(200, after))
    outcome = runwatch("verifiers", "revoke", "v", "--yes")
    assert outcome.code == 0
    assert said in outcome.errors


def test_an_operation_on_a_connection_is_asked_for_by_its_key(runwatch: Here, service: ScriptedService) -> None:
    service.say("GET", "/v1/verifiers/v/connection", Said(200, resources.key_connection()))
    shown = runwatch("verifiers", "connection", "v", "--operation", "int_01", "--json")
    assert shown.json == dict(resources.key_connection().raw)
    assert service.requests("GET", "/v1/verifiers/v/connection")[0].head.query == {"operation_key": "int_01"}
