"""Commands that change something: what they send, what they print, what they refuse and what they ask."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest

from runwatch.base.json import loads
from tests.commands.here import Here
from tests.commands.test_resources import serve
from tests.support import resources
from tests.support.builders import problem
from tests.support.scripted import Said, ScriptedService

Words = tuple[str, ...]

DESTROYING: Final[dict[Words, str]] = {
    ("arms", "disable", "arm_1"): "DELETE /v1/arms/arm_1",
    ("verifiers", "retire", "vrf_1"): "DELETE /v1/verifiers/vrf_1",
    ("verifiers", "revoke", "vrf_1"): "POST /v1/verifiers/vrf_1/connection/revoke",
    ("sources", "disconnect", "conn_1"): "DELETE /v1/source-connections/conn_1",
    ("keys", "revoke", "key_1"): "POST /v1/api-keys/key_1/revoke",
}
"""Commands that destroy, and what they call."""

WRITES: Final[dict[Words, tuple[str, str, Any, Any]]] = {
    ("arms", "edit", "arm_01HX7", "--name", "New", "--data-class", "public"): (
        "PATCH", "/v1/arms/arm_01HX7", {"display_name": "New", "data_class_grants": ["public"]}, resources.arm(),
    ),
    ("arms", "create", "--kind", "agent", "--name", "A", "--capability-tag", "t", "--data-class", "public", "--url",
     "https://a.test/x", "--max-runtime-s", "60"): (
        "POST", "/v1/arms",
        {"kind": "agent", "display_name": "A", "capability_tags": ["t"], "data_class_grants": ["public"],
         "endpoint": {"url": "https://a.test/x", "auth_ref": ""}, "lifecycle": {"max_runtime_s": 60}},
        resources.arm_outcome(),
    ),
    ("verifiers", "register", "--name", "C", "--version-name", "2", "--url", "https://c.test/", "--data-class",
     "public", "--deterministic"): (
        "POST", "/v1/verifiers",
        {"kind": "endpoint", "scoring": {"correctness": "boolean_anchors", "quality": "scalar_0_1"},
         "display_name": "C", "version": "2", "input_data_classes": ["public"],
         "correctness_declaration": {"method": "deterministic"},
         "endpoint": {"url": "https://c.test/", "auth_ref": ""}},
        resources.verifier_outcome(),
    ),
    ("verifiers", "update", "vrf_7c1e", "--not-deterministic"): (
        "PATCH", "/v1/verifiers/vrf_7c1e", {"correctness_declaration": None}, resources.verifier(),
    ),
    ("verifiers", "test", "vrf_7c1e"): ("POST", "/v1/verifiers/vrf_7c1e/test", None, resources.verifier_test()),
    ("sources", "test", "conn_01HX5"): (
        "POST", "/v1/source-connections/conn_01HX5/test", None, resources.connection(),
    ),
    ("agents", "register", "--repository", "acme/widgets", "--name", "P", "--url", "https://p.test/"): (
        "POST", "/v1/review-composer/agents",
        {"max_runtime_s": 1800, "repository": "acme/widgets", "display_name": "P",
         "endpoint": {"url": "https://p.test/", "auth_ref": ""}},
        resources.arm_outcome("arm_rev1"),
    ),
    ("proposals", "approve", "prop_01"): (
        "POST", "/v1/proposals/prop_01/approve", None, resources.proposal(status="approved"),
    ),
    ("proposals", "reject", "prop_01", "--reason", "worse"): (
        "POST", "/v1/proposals/prop_01/reject", {"reason": "worse"}, resources.proposal(status="rejected"),
    ),
    ("keys", "create"): ("POST", "/v1/api-keys", None, resources.api_key(key="solverapi_live_xyz987654")),
    ("keys", "label", "key_A1b2C3", "ci 2"): (
        "PATCH", "/v1/api-keys/key_A1b2C3", {"display_name": "ci 2"}, resources.api_key(display_name="ci 2"),
    ),
    ("account", "--top-up", "5"): (
        "POST", "/v1/account/top-up-intents", {"amount_usd": 5.0}, resources.github_intent(),
    ),
    ("github", "connect", "acme/widgets"): (
        "POST", "/v1/github-connections/intents", {"repository": "acme/widgets"}, resources.github_intent(),
    ),
    ("templates", "select", "app_01"): (
        "POST", "/v1/tenant-model-selection", {"application_id": "app_01"}, resources.selection(),
    ),
}  # fmt: skip
"""Commands that do one write: method, path, body, and what the service answers."""

each_write = pytest.mark.parametrize("words", WRITES, ids=lambda words: " ".join(words[:2]))
each_destroying = pytest.mark.parametrize("words", DESTROYING, ids=lambda words: " ".join(words[:2]))


@each_write
def test_a_write_sends_what_was_asked_under_a_key_and_prints_the_answer(
    runwatch: Here, service: ScriptedService, words: Words
) -> None:
    method, path, body, answer = WRITES[words]
    service.say(method, path, Said(200, answer))
    outcome = runwatch(*words, "--json")
    assert (outcome.code, outcome.json) == (0, dict(answer.raw))
    (heard,) = service.requests(method, path)
    assert (loads(heard.body) if heard.body else None) == body
    assert heard.head.header("idempotency-key")
    assert runwatch(*words).code == 0


@each_write
def test_a_refused_write_is_reported_with_its_problem(runwatch: Here, service: ScriptedService, words: Words) -> None:
    method, path, _, _ = WRITES[words]
    service.say(method, path, Said(409, problem("invalid_state", detail="Not now.")))
    outcome = runwatch(*words, "--json")
    assert (outcome.code, outcome.stdout) == (1, b"")
    told = json.loads(outcome.errors.splitlines()[-1])
    assert (told["problem"]["detail"], told["outcome"], told["exit_code"]) == ("Not now.", "known", 1)


@each_write
def test_a_write_of_unknown_outcome_says_so_and_names_its_key(
    runwatch: Here, service: ScriptedService, words: Words
) -> None:
    method, path, _, _ = WRITES[words]
    service.say(method, path, Said(503, problem("upstream_unavailable", status=503)))
    outcome = runwatch(*words, "--json")
    assert (outcome.code, outcome.stdout) == (3, b"")
    told = json.loads(outcome.errors.splitlines()[-1])
    assert told["outcome"] == "unknown"
    assert {heard.head.header("idempotency-key") for heard in service.requests(method, path)} == {
        told["idempotency_key"]
    }


@pytest.mark.parametrize("words", [*WRITES, *DESTROYING], ids=lambda words: " ".join(words[:2]))
def test_read_only_refuses_before_anything_is_sent_or_asked(
    runwatch: Here, service: ScriptedService, words: Words
) -> None:
    outcome = runwatch(*words, "--read-only")
    assert (outcome.code, outcome.stdout) == (2, b"")
    assert "read-only" in outcome.errors
    assert service.heard == []


@each_destroying
def test_what_destroys_needs_a_yes_where_nobody_can_be_asked(
    runwatch: Here, service: ScriptedService, words: Words
) -> None:
    outcome = runwatch(*words, code=2)
    assert "--yes" in outcome.errors
    assert words[2] in outcome.errors
    assert service.heard == []


@each_destroying
def test_what_destroys_is_done_with_a_yes(runwatch: Here, service: ScriptedService, words: Words) -> None:
    method, _, path = DESTROYING[words].partition(" ")
    service.say(method, path, Said(204) if words[0] == "verifiers" and words[1] == "retire" else Said(200, {}))
    service.say("GET", "/v1/verifiers/vrf_1/connection", Said(200, resources.key_connection("revoked")))
    assert runwatch(*words, "--yes").code == 0
    assert len(service.requests(method, path)) == 1


def test_several_are_destroyed_one_by_one_and_the_worst_counts(runwatch: Here, service: ScriptedService) -> None:
    service.say("DELETE", "/v1/arms/arm_1", Said(200, resources.arm("arm_1", "disabled")))
    service.say("DELETE", "/v1/arms/arm_2", Said(404, problem("not_found")))
    outcome = runwatch("arms", "disable", "arm_1", "arm_2", "arm_1", "--yes", "--json", code=1)
    assert outcome.json == [
        {"arm_id": "arm_1", "outcome": "disabled", "status": "disabled"},
        {"arm_id": "arm_2", "outcome": "refused", "status": None},
    ]


def test_a_check_that_cannot_be_used_is_registered_and_told(runwatch: Here, service: ScriptedService) -> None:
    service.say("POST", "/v1/verifiers", Said(200, resources.verifier_outcome(reachable=False)))
    words = ("--name", "C", "--version-name", "1", "--url", "https://c.test/", "--data-class", "public")
    outcome = runwatch("verifiers", "register", *words, code=0)
    assert "cannot be used yet" in outcome.text
    assert "runwatch verifiers test vrf_90aa" in outcome.errors


@pytest.mark.parametrize("noun", ["verifiers", "sources"])
def test_a_test_that_does_not_pass_exits_1(runwatch: Here, service: ScriptedService, noun: str) -> None:
    service.say("POST", "/v1/verifiers/x/test", Said(200, resources.verifier_test(reachable=False)))
    failed = resources.connection(test_state="failed", test_error="authentication", status="disabled")
    service.say("POST", "/v1/source-connections/x/test", Said(200, failed))
    assert runwatch(noun, "test", "x").code == 1


@pytest.mark.parametrize(
    ("words", "missing"),
    [
        (("arms", "create", "--kind", "model"), "--name, --capability-tag, --data-class"),
        (("verifiers", "register", "--name", "x"), "--version-name, --url, --data-class"),
        (("agents", "register",), "--repository, --name, --url"),
    ],
)  # fmt: skip
def test_what_is_missing_is_named_all_at_once(runwatch: Here, words: Words, missing: str) -> None:
    outcome = runwatch(*words, code=2)
    assert f"This needs {missing}" in outcome.errors


@pytest.mark.parametrize("words", [("arms", "edit", "arm_1"), ("verifiers", "update", "vrf_1")])
def test_a_change_of_nothing_is_refused(runwatch: Here, service: ScriptedService, words: Words) -> None:
    outcome = runwatch(*words)
    assert (outcome.code, service.heard) == (2, [])
    assert "Nothing to change" in outcome.errors


def test_a_whole_request_comes_from_a_file_and_options_win(
    runwatch: Here, service: ScriptedService, tmp_path: Path
) -> None:
    service.say("POST", "/v1/arms", Said(200, resources.arm_outcome()))
    given = {"kind": "skill", "display_name": "S", "capability_tags": [], "data_class_grants": ["public"], "x": 0.10}
    (tmp_path / "arm.json").write_text(json.dumps(given))
    (tmp_path / "skill.md").write_text("Be brief.")
    words = ("--artifact", str(tmp_path / "skill.md"), "--editable-region", "tone")
    assert runwatch("arms", "create", "--from", str(tmp_path / "arm.json"), "--name", "T", *words).code == 0
    artifact = {"content": "Be brief.", "version": "1", "editable_regions": ["tone"]}
    assert loads(service.requests("POST", "/v1/arms")[0].body) == {**given, "display_name": "T", "artifact": artifact}
    for bad in (b"[1]", b"{"):
        assert runwatch("arms", "create", "--from", "-", stdin=bad).code == 2


def test_the_same_key_of_the_user_is_sent_again(runwatch: Here, service: ScriptedService) -> None:
    service.say("POST", "/v1/github-connections/intents", Said(200, resources.github_intent()))
    assert runwatch("github", "connect", "acme/widgets", "--idempotency-key", "mine").code == 0
    assert service.requests("POST")[0].head.header("idempotency-key") == "mine"
    assert runwatch("github", "connect", "acme/widgets", "--idempotency-key", " ").code == 2


def test_a_model_is_saved_as_the_catalog_says_and_narrower_if_asked(runwatch: Here, service: ScriptedService) -> None:
    raws = serve(service, "models")
    service.say("POST", "/v1/arms", Said(200, resources.arm_outcome()))
    template = raws[0]["arm_registration_template"]
    assert runwatch("models", "save", "mdep_01HX6", "--json").json["arm_id"] == "arm_01HX7"
    assert runwatch("models", "save", "mdep_01HX6", "--name", "E", "--capability-tag", "text.generate").code == 0
    sent = [loads(heard.body) for heard in service.requests("POST", "/v1/arms")]
    assert sent == [template, {**template, "display_name": "E", "capability_tags": ["text.generate"]}]
    assert runwatch("models", "save", "nobody").code == 1


def test_a_model_that_several_sources_serve_has_to_be_named_by_its_deployment(
    runwatch: Here, service: ScriptedService
) -> None:
    serve(service, "models", [resources.catalog_entry("mdep_1"), resources.catalog_entry("mdep_2")])
    outcome = runwatch("models", "save", "northwind/ember-7b-instruct", code=2)
    assert "mdep_1, mdep_2" in outcome.errors


def test_a_minted_key_is_printed_once_and_kept_nowhere(
    runwatch: Here, service: ScriptedService, tmp_path: Path
) -> None:
    canary = "solverapi_live_canary-77aa88bb"
    service.say("POST", "/v1/api-keys", Said(200, resources.api_key(key=canary)))
    service.say("GET", "/v1/api-keys", Said(400, problem("validation_failed", detail=f"bad {canary}")))
    outcome = runwatch("keys", "create", "--name", "ci", "--role", "reader")
    assert outcome.text.count(canary) == 1
    assert canary not in outcome.errors
    assert "shown only once" in outcome.errors
    assert loads(service.requests("POST")[0].body) == {"display_name": "ci", "role": "reader"}
    # A Problem that repeats it is journalled without it.
    assert runwatch("keys", "list").code == 1
    kept = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert kept
    assert not any(canary.encode() in path.read_bytes() for path in kept)


def test_a_key_that_the_service_withholds_is_reported(runwatch: Here, service: ScriptedService) -> None:
    service.say("POST", "/v1/api-keys", Said(200, resources.api_key()))
    assert "did not show the key" in runwatch("keys", "create").errors


def test_a_private_page_s_address_is_reported_once_on_stderr(runwatch: Here, service: ScriptedService) -> None:
    address = "http://127.0.0.1:4444/connect/github?intent=canary-12345678901"
    service.say("POST", "/v1/github-connections/intents", Said(200, resources.github_intent(address)))
    outcome = runwatch("github", "connect", "acme/widgets")
    assert (outcome.stdout, outcome.errors.count(address)) == (b"", 1)
    assert "ssh -L 4444:127.0.0.1:4444" in outcome.errors
    assert "canary" not in runwatch("requests", "list", "--json").text


@pytest.mark.parametrize(("text", "seconds"), [("30d", 2_592_000), ("12h", 43_200), ("1d12h", 129_600)])
def test_a_key_expires_after_the_time_that_was_given(
    runwatch: Here, service: ScriptedService, text: str, seconds: int
) -> None:
    made = resources.api_key(key="solverapi_live_xyz987654", expires_at="2026-12-21T12:00:00.000Z")
    service.say("POST", "/v1/api-keys", Said(200, made))
    outcome = runwatch("keys", "create", "--name", "ci", "--expires", text, code=0)
    assert "2026-12-21" in outcome.text
    assert loads(service.heard[-1].body) == {"display_name": "ci", "expires_in_s": seconds}


@pytest.mark.parametrize("text", ["", "30", "soon", "0s", "4000d", "2026-12-01", "-1d"])
def test_a_key_expires_after_a_length_of_time_and_nothing_else(
    runwatch: Here, service: ScriptedService, text: str
) -> None:
    outcome = runwatch("keys", "create", f"--expires={text}", code=2)
    assert "30d" in outcome.errors
    assert not service.heard


def test_a_service_that_does_not_say_when_a_key_expires_is_not_trusted_to(
    runwatch: Here, service: ScriptedService
) -> None:
    service.say("POST", "/v1/api-keys", Said(200, resources.api_key(key="solverapi_live_xyz987654")))
    assert "may never" in runwatch("keys", "create", "--expires", "30d").errors


def test_a_dry_run_prints_the_request_and_sends_nothing(runwatch: Here, service: ScriptedService) -> None:
    words = ("--url", "https://c.test/", "--deterministic", "--idempotency-key", "mine")
    made = runwatch(
        "verifiers", "register", "--name", "C", "--version-name", "2", "--data-class", "public", *words, "--dry-run"
    )
    assert made.json == {
        "method": "POST", "path": "/v1/verifiers", "idempotency_key": "mine",
        "body": WRITES[next(each for each in WRITES if each[:2] == ("verifiers", "register"))][2],
    }  # fmt: skip
    changed = runwatch("arms", "edit", "arm/1", "--cost-class", "economy", "--dry-run").json
    assert (changed["path"], changed["body"]) == ("/v1/arms/arm%2F1", {"cost_class": "economy"})
    assert service.heard == []


def test_a_member_that_the_interface_does_not_define_is_named_before_it_is_sent(
    runwatch: Here, service: ScriptedService, tmp_path: Path
) -> None:
    body = {
        "kind": "model", "display_name": "T", "capability_tags": ["text.generate"], "data_class_grants": ["public"],
        "model_deployment_id": "mdep_1", "cost_clas": "economy",
    }  # fmt: skip
    (tmp_path / "arm.json").write_text(json.dumps(body))
    outcome = runwatch("arms", "create", "--from", str(tmp_path / "arm.json"), "--dry-run")
    assert (outcome.code, outcome.json["body"]["cost_clas"]) == (0, "economy")
    assert (
        "the interface does not define cost_clas; it may have no effect; did you mean 'cost_class'?" in outcome.errors
    )


def test_a_dry_run_names_each_option_whose_value_breaks_a_rule(runwatch: Here, service: ScriptedService) -> None:
    outcome = runwatch("webhooks", "create", "--url", "ftp://x", "--event", "execution.failed", "--dry-run")
    assert (outcome.code, outcome.stdout) == (2, b"")
    assert "--url: Must be an absolute URL" in outcome.errors
    assert service.heard == []


def test_a_declaration_is_not_made_and_withdrawn_at_once(runwatch: Here, service: ScriptedService) -> None:
    outcome = runwatch("verifiers", "update", "vrf_1", "--deterministic", "--not-deterministic")
    assert (outcome.code, service.heard) == (2, [])
    assert "--deterministic and --not-deterministic cannot be used together" in outcome.errors
