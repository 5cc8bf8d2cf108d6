"""``runs submit``: the body it makes, what it refuses by itself, what it keeps, what it follows."""

from __future__ import annotations

import json
import shlex
from collections.abc import AsyncIterator
from typing import Any

import pytest

from runwatch.api.errors import RateLimitedError
from runwatch.view.problems.explanations import NEW_KEY
from tests.commands.here import Here
from tests.support.builders import echo_events, echo_receipt, ended_receipt, full_request_body, problem, run
from tests.support.scripted import Said, ScriptedService

NEW = "ex_scripted_5"
"""The id that the scripted service gives to the next run."""

BASE = (
    *("runs", "submit", "--mode", "echo", "--objective", "Say hello", "--data-class", "public"),
    *("--max-cost-usd", "0.5", "--max-runtime-s", "60"),
)
BODY = {
    "mode": "echo",
    "task": {"objective": "Say hello"},
    "policy": {"data_classes": ["public"], "budget": {"max_cost_usd": 0.5, "max_runtime_s": 60}},
}
SUBMIT = "/v1/executions"


def sent(service: ScriptedService) -> list[Any]:
    return [json.loads(heard.body) for heard in service.requests("POST", SUBMIT)]


def without(flag: str) -> list[str]:
    words = list(BASE)
    at = words.index(flag)
    del words[at : at + 2]
    return words


def test_the_body_has_the_mode_and_exactly_what_was_asked(runwatch: Here, service: ScriptedService) -> None:
    outcome = runwatch(*BASE, code=0)
    assert sent(service) == [BODY]
    assert NEW in outcome.text


def test_every_flag_has_its_place_in_the_body(runwatch: Here, tmp_path: Any) -> None:
    (tmp_path / "inputs.json").write_text('{"notes": "1.4: faster start"}')
    wanted = full_request_body()
    del wanted["compose"]
    outcome = runwatch(
        *("runs", "submit", "--mode", "live", "--objective", wanted["task"]["objective"], "--data-class", "public"),
        *("--data-class", "tenant_internal", "--max-cost-usd", "0.25", "--max-runtime-s", "60"),
        *("--verifier-id", "vrf_7c1e", "--arm-id", "arm_01HX7", "--on-eval", "gate", "--on-eval", "fallback"),
        *("--cost-coefficient", "0.5", "--inputs", str(tmp_path / "inputs.json"), "--dry-run"),
    )
    assert outcome.json["body"] == wanted


def test_a_dry_run_prints_what_would_be_sent_and_needs_no_service(runwatch: Here) -> None:
    outcome = runwatch(*BASE, "--idempotency-key", "mine", "--dry-run")
    assert outcome.json == {"method": "POST", "path": SUBMIT, "idempotency_key": "mine", "body": BODY}
    assert outcome.code == 0


def test_a_live_run_without_limits_is_asked_for_its_limits_and_stays_live(runwatch: Here) -> None:
    words = ["runs", "submit", "--mode", "live", "--objective", "x", "--data-class", "public"]
    outcome = runwatch(*words, code=2)
    assert "A run needs --max-cost-usd, --max-runtime-s" in outcome.errors
    assert "echo" not in outcome.errors
    added = outcome.errors.partition("for example: ")[2].split()
    assert json.loads(runwatch(*words, *added, "--dry-run", code=0).text)["body"]["mode"] == "live"


def test_without_anything_a_whole_command_is_named_that_works(runwatch: Here) -> None:
    command = runwatch("runs", "submit", code=2).errors.partition("runwatch runs submit ")[2]
    body = json.loads(runwatch("runs", "submit", *shlex.split(command), "--dry-run", code=0).text)["body"]
    assert body["mode"] == "echo"


@pytest.mark.parametrize("flag", ["--mode", "--objective", "--data-class", "--max-cost-usd", "--max-runtime-s"])
def test_what_is_required_is_asked_for_by_its_name(runwatch: Here, flag: str) -> None:
    outcome = runwatch(*without(flag), code=2)
    assert flag in outcome.errors.splitlines()[0]
    assert ("costs money" in outcome.errors) == (flag == "--mode")


@pytest.mark.parametrize(
    ("more", "named"),
    [
        (("--max-cost-usd", "0"), "--max-cost-usd: Must be greater than 0."),
        (("--max-runtime-s", "0"), "--max-runtime-s: Must be greater than 0."),
        (("--objective", "x" * 4001), "--objective: Must be at most 4000 characters."),
        (("--objective", ""), "--objective: Must be at least 1 character."),
        (("--cost-coefficient", "1.5"), "--cost-coefficient: Must be at most 1."),
        (("--on-eval", "gate", "--on-eval", "gate"), "--on-eval: Each reaction may be named once."),
        (("--data-class", ""), "--data-class: Must be at least 1 character."),
        (("--verifier-id", "vrf_1"), "--verifier-id: A test run cannot use an output check."),
    ],
)
def test_a_rule_of_the_interface_is_kept_here_and_its_flag_named(
    runwatch: Here, service: ScriptedService, more: tuple[str, ...], named: str
) -> None:
    outcome = runwatch(*BASE, *more, code=2)
    assert named in outcome.errors
    assert service.heard == []


def test_the_objective_comes_from_a_file_or_standard_input(runwatch: Here, tmp_path: Any) -> None:
    words = [*without("--objective"), "--dry-run"]
    (tmp_path / "objective.txt").write_text("Zusammenfassen – bitte\n", "utf-8")
    for name, stdin in ((str(tmp_path / "objective.txt"), b""), ("-", "Zusammenfassen – bitte\n".encode())):
        body = runwatch(*words, "--objective-file", name, stdin=stdin).json["body"]
        assert body["task"]["objective"] == "Zusammenfassen – bitte"


def test_files_that_cannot_be_used_are_named(runwatch: Here, tmp_path: Any) -> None:
    (tmp_path / "latin").write_bytes(b"caf\xe9")
    (tmp_path / "list.json").write_text("[1]")
    for words, word in (
        ([*without("--objective"), "--objective-file", str(tmp_path / "none")], "cannot be read"),
        ([*without("--objective"), "--objective-file", str(tmp_path / "latin")], "not UTF-8"),
        ([*BASE, "--objective-file", "-"], "cannot be used together"),
        ([*BASE, "--inputs", str(tmp_path / "latin")], "not JSON"),
        ([*BASE, "--inputs", str(tmp_path / "list.json")], "not a JSON object"),
        ([*without("--objective"), "--objective-file", "-", "--inputs", "-"], "standard input"),
    ):
        outcome = runwatch(*words, code=2)
        assert word in outcome.errors


FROM = b'{ "mode": "echo", "task": {"objective": "x", "weight": 0.10},\n "policy": {"data_classes": ["public"],' + (
    b' "budget": {"max_cost_usd": 1.00, "max_runtime_s": 60}}, "new_member": 12345678901234567890 }'
)


def test_a_whole_request_is_sent_with_the_bytes_it_has(runwatch: Here, service: ScriptedService) -> None:
    assert runwatch("runs", "submit", "--from", "-", stdin=b"\xef\xbb\xbf" + FROM + b"\n").code == 0
    assert service.requests("POST", SUBMIT)[0].body == FROM


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b'{"task": {}}', "has no mode"),
        (b'{"mode": "echo"}', "task: Required."),
        (b"[]", "not a JSON object"),
        (b'{"mode": ', "not JSON"),
        (b'{"mode": "echo", "mode": NaN}', "not JSON"),
        (FROM.replace(b'"task"', b'"verifier_id": "vrf_1", "task"'), "verifier_id: A test run cannot use"),
    ],
)
def test_a_whole_request_that_breaks_a_rule_is_not_sent(
    runwatch: Here, service: ScriptedService, content: bytes, words: str
) -> None:
    outcome = runwatch("runs", "submit", "--from", "-", stdin=content, code=2)
    assert words in outcome.errors
    assert service.heard == []


def test_a_whole_request_goes_with_no_part_of_one(runwatch: Here) -> None:
    outcome = runwatch("runs", "submit", "--from", "-", "--mode", "echo", "--max-cost-usd", "1", code=2)
    assert "--mode, --max-cost-usd" in outcome.errors


def test_a_key_of_its_own_is_told_to_people_and_used(runwatch: Here, service: ScriptedService) -> None:
    outcome = runwatch(*BASE)
    key = service.requests("POST", SUBMIT)[0].head.header("idempotency-key")
    assert f"idempotency key {key}" in outcome.errors


def test_a_given_key_is_used_as_it_is_and_the_run_read_back(runwatch: Here, service: ScriptedService) -> None:
    # The first answer to this key is repeated by the service, and the run has gone on since.
    service.say("POST", SUBMIT, Said(200, run("ex_live", "accepted")))
    outcome = runwatch(*BASE, "--idempotency-key", "mine", "--json")
    assert outcome.json["status"] == "completed"
    assert service.requests("POST", SUBMIT)[0].head.header("idempotency-key") == "mine"
    assert outcome.errors == ""


def test_a_blank_key_is_refused(runwatch: Here) -> None:
    assert runwatch(*BASE, "--idempotency-key", " ").code == 2


def test_read_only_sends_nothing(runwatch: Here, service: ScriptedService) -> None:
    runwatch(*BASE, "--read-only", code=2)
    assert service.heard == []


def test_a_refusal_says_that_nothing_was_accepted(runwatch: Here, service: ScriptedService) -> None:
    service.say("POST", SUBMIT, Said(402, problem("insufficient_credit", detail="0.20 USD are left.")))
    outcome = runwatch(*BASE, code=1)
    for words in ("0.20 USD are left.", "insufficient_credit (HTTP 402)", "Nothing was accepted", "instance", "key"):
        assert words in outcome.errors


def test_an_unknown_outcome_is_kept_and_settled_by_resending_it(runwatch: Here, service: ScriptedService) -> None:
    service.say("POST", SUBMIT, *[Said(503, problem("upstream_unavailable", status=503))] * 3, Said(200, run(NEW)))
    service.runs.append(dict(run(NEW, "running").raw))
    failed = runwatch(*BASE, "--idempotency-key", "kept", "--json")
    failure = json.loads(failed.errors)
    assert (failed.code, failure["outcome"], failure["attempts"]) == (3, "unknown", 3)
    assert failure["idempotency_key"] == "kept"
    assert failure["hint"].endswith("\nRetry: runwatch runs submit --resend kept")
    told = runwatch("runs", "submit", "--resend", "other", code=2)
    assert "kept (Say hello)" in told.errors
    again = runwatch("runs", "submit", "--resend", "kept", "--json")
    assert (again.code, again.json["execution_id"]) == (0, NEW)
    assert len({(heard.body, heard.head.header("idempotency-key")) for heard in service.requests("POST")}) == 1
    assert "no unconfirmed submit" in runwatch("runs", "submit", "--resend", "kept").errors


def test_resend_goes_with_no_part_of_a_request(runwatch: Here) -> None:
    outcome = runwatch("runs", "submit", "--resend", "kept", "--mode", "echo", code=2)
    assert "--mode" in outcome.errors


def test_an_accepted_submit_that_names_no_run_is_unusable_and_not_lost(
    runwatch: Here, service: ScriptedService
) -> None:
    service.say("POST", SUBMIT, Said(200, {"status": "accepted"}))
    outcome = runwatch(*BASE, "--json")
    failure = json.loads(outcome.errors)
    assert (outcome.code, failure["outcome"]) == (3, "unknown")
    assert failure["idempotency_key"]


def test_watch_prints_events_on_stdout_and_a_summary_on_stderr(runwatch: Here, service: ScriptedService) -> None:
    service.say("GET", f"/v1/executions/{NEW}/events", Said(200, {"events": [dict(e.raw) for e in echo_events(NEW)]}))
    service.receipts.append(dict(echo_receipt(NEW).raw))
    outcome = runwatch(*BASE, "--watch")
    assert len(outcome.text.splitlines()) == 7
    summary, receipt = outcome.errors.splitlines()[-2:]
    assert summary.startswith("completed, test run, no charge")
    assert receipt == f"receipt: runwatch receipts show {NEW}"


def test_watch_ends_with_what_to_do_about_a_failed_run(runwatch: Here, service: ScriptedService) -> None:
    failed = dict(echo_receipt(NEW).raw) | {"status": "failed", "reason": "no_eligible_arms"}
    events = [dict(event.raw) for event in echo_events(NEW, final="failed")]
    service.say("GET", f"/v1/executions/{NEW}/events", Said(200, {"events": events}))
    service.receipts.append(failed)
    summary, advice, _ = runwatch(*BASE, "--watch").errors.splitlines()[-3:]
    assert summary.startswith("failed, no_eligible_arms")
    assert advice.startswith("next: ")


LIMITED = Said(429, problem("rate_limited"))
MOVED_ON = f"The run {NEW} was accepted and continues. Follow it: runwatch runs watch"


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (LIMITED, 5),
        (Said(503, problem("upstream_unavailable", status=503)), 3),
        (Said(401, problem("unauthenticated")), 4),
        (Said(404, problem("not_found")), 1),
        (Said(200, {"no": "run"}), 3),
    ],
)
def test_a_read_that_fails_after_the_submit_names_the_accepted_run(
    runwatch: Here, service: ScriptedService, answer: Said, code: int
) -> None:
    # The events end with no final one, and the run's own state cannot be read.
    service.say("GET", f"/v1/executions/{NEW}/events", answer, answer)
    service.say("GET", f"/v1/executions/{NEW}", answer)
    outcome = runwatch(*BASE, "--watch")
    assert len(sent(service)) == 1
    assert outcome.code == code
    assert f"{MOVED_ON} {NEW}\n" in outcome.errors
    for wrong in ("Nothing was sent", "Ask again", "ask again", "Nothing was accepted"):
        assert wrong not in outcome.errors
    failure = json.loads(runwatch(*BASE, "--watch", "--json").errors.splitlines()[-1])
    assert failure["execution_id"] in failure["hint"]


def test_a_hold_after_the_submit_names_the_accepted_run_and_the_service_of_the_call(
    runwatch: Here, service: ScriptedService, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def hold(*_: object, **__: object) -> None:
        raise RateLimitedError(operation="getExecutionsByExecutionId", seconds=40)

    monkeypatch.setattr("runwatch.commands.watch.PacedReads.list_events", hold)
    monkeypatch.setattr("runwatch.commands.watch.follow_run", lambda client, *_, **__: held_events(client))
    outcome = runwatch(*BASE, "--watch", "--base-url", service.base_url, code=5)
    assert f"{MOVED_ON} --base-url {service.base_url} {NEW}\n" in outcome.errors
    assert "Nothing was sent" not in outcome.errors


async def held_events(client: Any) -> AsyncIterator[Any]:
    yield await client.list_events(NEW)


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_an_end_of_the_program_after_the_submit_names_the_accepted_run(
    runwatch: Here, service: ScriptedService, monkeypatch: pytest.MonkeyPatch, error: type[BaseException]
) -> None:
    async def end(_: object) -> int:
        raise error

    monkeypatch.setattr("runwatch.commands.watch.Watcher.watch", end)
    outcome = runwatch(*BASE, "--watch")
    assert f"{MOVED_ON} {NEW}\n" in outcome.errors
    assert ("Please report it" in outcome.errors) is (error is ValueError)


def test_a_refused_submit_names_no_accepted_run(runwatch: Here, service: ScriptedService) -> None:
    service.say("POST", SUBMIT, LIMITED)
    outcome = runwatch(*BASE, "--watch")
    assert "Nothing was accepted" in outcome.errors
    assert "was accepted and continues" not in outcome.errors


def test_a_new_key_is_asked_for_only_where_the_user_chose_the_key(runwatch: Here, service: ScriptedService) -> None:
    service.say("POST", SUBMIT, Said(400, problem("validation_failed")))
    assert NEW_KEY not in runwatch(*BASE).errors
    assert NEW_KEY in runwatch(*BASE, "--idempotency-key", "mine").errors
    service.say("POST", "/v1/webhooks", Said(400, problem("validation_failed")))
    refused = runwatch("webhooks", "create", "--url", "https://hooks.example.test/x", "--event", "execution.completed")
    assert "validation_failed" in refused.errors
    assert NEW_KEY not in refused.errors


def test_a_problem_with_nothing_but_type_title_and_status_is_a_refusal(
    runwatch: Here, service: ScriptedService
) -> None:
    body = {"type": "https://errors.example.test/over-limit", "title": "Over the limit", "status": 422}
    service.say("POST", SUBMIT, Said(422, body))
    outcome = runwatch(*BASE, code=1)
    assert "Nothing was accepted" in outcome.errors
    assert "Unknown" not in outcome.errors


@pytest.mark.parametrize(("final", "code"), [("completed", 0), ("failed", 10), ("cancelled", 11), ("expired", 12)])
def test_watch_with_exit_status_exits_with_the_state_of_the_run(
    runwatch: Here, service: ScriptedService, final: str, code: int
) -> None:
    events = [dict(event.raw) for event in echo_events(NEW, final=final)]
    service.say("GET", f"/v1/executions/{NEW}/events", Said(200, {"events": events}))
    service.receipts.append(dict(ended_receipt(final, execution_id=NEW).raw))
    assert runwatch(*BASE, "--watch", "--exit-status").code == code
    assert runwatch("runs", "watch", NEW).code == 0


def test_watch_says_that_a_run_waited_for_all_of_its_time(runwatch: Here, service: ScriptedService) -> None:
    events = [dict(one.raw) for one in echo_events(NEW, final="expired") if one.state != "running"]
    service.say("GET", f"/v1/executions/{NEW}/events", Said(200, {"events": events}))
    receipt = ended_receipt("expired", execution_id=NEW, mode="echo", slices=[{}])
    service.receipts.append({**receipt.raw, "reason": "runtime_exceeded"})
    shown = runwatch(*BASE, "--watch").errors
    assert "runtime_exceeded: it waited in the queue and never ran" in shown
    assert "fewer runs at once" in shown
    assert "smaller task" not in shown


def test_a_submitted_run_tells_its_caps_from_our_own_request(runwatch: Here, service: ScriptedService) -> None:
    assert runwatch(*BASE).code == 0
    assert "0.5 USD  (own request)" in runwatch("runs", "show", NEW).text


def test_watching_a_live_run_to_its_end_says_how_to_read_the_result(runwatch: Here, service: ScriptedService) -> None:
    service.say("GET", f"/v1/executions/{NEW}/events", Said(200, {"events": [dict(e.raw) for e in echo_events(NEW)]}))
    service.receipts.append(dict(echo_receipt(NEW).raw))
    outcome = runwatch(*["live" if word == "echo" else word for word in BASE], "--watch")
    assert outcome.errors.splitlines()[-1] == f"result: runwatch runs result {NEW}"


def test_members_that_the_interface_does_not_know_are_named_and_sent(runwatch: Here, tmp_path: Any) -> None:
    policy = {**json.loads(json.dumps(BODY))["policy"], "allowed_arms": ["arm_1"], "on_evall": ["gate"]}
    (tmp_path / "run.json").write_text(json.dumps({**BODY, "policy": policy}))
    outcome = runwatch("runs", "submit", "--from", str(tmp_path / "run.json"), "--dry-run")
    assert outcome.json["body"]["policy"] == policy
    assert "does not define policy.allowed_arms; it may have no effect" in outcome.errors
    assert "does not define policy.on_evall; it may have no effect; did you mean 'on_eval'?" in outcome.errors
    assert "does not know" not in runwatch(*BASE, "--dry-run").errors
