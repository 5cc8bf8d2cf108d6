"""``runs list|show|events|cancel|result|add`` against a scripted service."""

from __future__ import annotations

import json
from typing import Any

import pytest

from runwatch.commands.shared import list_reader
from tests.commands.conftest import ECHO, FAILED, LIVE, RUNNING
from tests.commands.here import Here
from tests.support.builders import account, echo_events, problem, run
from tests.support.resources import arm
from tests.support.scripted import Said, ScriptedService, running_service

CANCEL = f"/v1/executions/{RUNNING}/cancel"


def ids(values: list[dict[str, Any]]) -> list[str]:
    return [value["execution_id"] for value in values]


def test_a_list_is_one_array_of_the_exact_records(runwatch: Here, service: ScriptedService) -> None:
    outcome = runwatch("runs", "list", "--json")
    assert outcome.json == service.runs
    assert (outcome.code, outcome.errors) == (0, "")
    assert outcome.stdout.isascii()


def test_a_list_in_ndjson_is_one_record_a_line(runwatch: Here, service: ScriptedService) -> None:
    assert runwatch("runs", "list", "--format", "ndjson").json_lines == service.runs


def test_a_list_in_csv_has_a_head_and_nested_members_with_dots(runwatch: Here, service: ScriptedService) -> None:
    head, *rows = runwatch("runs", "list", "--format", "csv").text.splitlines()
    assert head.startswith("execution_id,status,slices,links.status,")
    assert "policy.budget.max_cost_usd" in head.split(",")
    assert len(rows) == len(service.runs)


def test_a_list_for_people_has_whole_ids(runwatch: Here, service: ScriptedService) -> None:
    long_id = "ex_01HXE0000000000000000000000000000001"
    service.runs.append(dict(run(long_id, "completed").raw))
    head, *rows = runwatch("runs", "list").text.splitlines()
    assert head.split()[:2] == ["status", "run"]
    assert [row.split()[2] for row in rows] == [RUNNING, ECHO, LIVE, FAILED, long_id]


def test_fields_choose_members_in_every_format(runwatch: Here, service: ScriptedService) -> None:
    words = ("runs", "list", "--status", "failed", "--fields", "execution_id,policy.budget.max_cost_usd", "--format")
    assert runwatch(*words, "json").json == [{"execution_id": FAILED, "policy.budget.max_cost_usd": 0.25}]
    assert runwatch(*words, "csv").text == f"execution_id,policy.budget.max_cost_usd\n{FAILED},0.25\n"
    assert runwatch(*words, "table").text.splitlines()[1].split() == [FAILED, "0.25"]


def test_status_and_since_go_to_the_service_with_every_page(runwatch: Here, service: ScriptedService) -> None:
    service.runs[:] = [dict(run(f"ex_{number}", "failed").raw) for number in range(150)]
    assert len(runwatch("runs", "list", "--status", "failed", "--since", "7d", "--json").json) == 150
    first, second = (heard.head.query for heard in service.requests("GET", "/v1/executions"))
    assert first["status"] == second["status"] == "failed"
    assert first["since"] == second["since"] == "2026-11-14T12:00:00.000Z"
    assert (first.get("cursor"), second.get("cursor")) == (None, "100")


def test_a_service_that_filters_by_nothing_changes_only_the_traffic(runwatch: Here, service: ScriptedService) -> None:
    everything = [*service.runs, dict(run("ex_old", "failed", created_at="2026-01-01T00:00:00Z").raw)]
    service.say("GET", "/v1/executions", Said(200, {"executions": everything, "next_cursor": None}))
    assert ids(runwatch("runs", "list", "--status", "failed", "--json").json) == [FAILED, "ex_old"]
    assert ids(runwatch("runs", "list", "--status", "failed", "--since", "7d", "--json").json) == [FAILED]


def test_the_limit_counts_over_pages_and_says_that_it_cut(runwatch: Here, service: ScriptedService) -> None:
    service.runs[:] = [dict(run(f"ex_{number}", "completed").raw) for number in range(1250)]
    outcome = runwatch("runs", "list", "--json")
    assert len(outcome.json) == 1000
    assert "the first 1000" in json.loads(outcome.errors)["notice"]
    assert len(runwatch("runs", "list", "--json", "--limit", "120").json) == 120
    filtered = runwatch("runs", "list", "--json", "--limit", "5", "--filter", "has:run")
    assert "showing the first 5 records that match; use --limit 0 to read all" in filtered.errors
    everything = runwatch("runs", "list", "--json", "--limit", "0")
    assert (len(everything.json), everything.errors) == (1250, "")


def test_a_filtered_list_is_read_until_enough_records_match(
    runwatch: Here, service: ScriptedService, monkeypatch: pytest.MonkeyPatch
) -> None:
    statuses = ["completed", *["failed"] * 149] * 2
    service.runs[:] = [dict(run(f"ex_{number}", status).raw) for number, status in enumerate(statuses)]
    words = ("runs", "list", "--json", "--filter", "status!=failed", "--limit")
    assert ids(runwatch(*words, "1").json) == ["ex_0"]
    assert len(service.requests("GET", "/v1/executions")) == 1
    found = runwatch(*words, "2")
    assert ids(found.json) == ["ex_0", "ex_150"]
    assert len(service.requests("GET", "/v1/executions")) == 3
    assert (ids(runwatch(*words, "3").json), runwatch(*words, "3").errors) == (["ex_0", "ex_150"], "")
    monkeypatch.setattr(list_reader, "MAX_SELECTED_FROM", 200)
    assert "2 of the first 200 records match; use --limit 0 to read all" in runwatch(*words, "3").errors


def test_all_of_a_list_in_one_response_is_filtered(
    runwatch: Here, service: ScriptedService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(list_reader, "MAX_SELECTED_FROM", 2)
    listed = [dict(run(f"ex_{number}", "completed").raw) for number in range(9)] + [dict(run("ex_9", "failed").raw)]
    service.say("GET", "/v1/executions", Said(200, {"executions": listed, "next_cursor": None}))
    found = runwatch("runs", "list", "--json", "--limit", "2", "--filter", "status=failed")
    assert (ids(found.json), found.errors) == (["ex_9"], "")


def test_a_filter_is_applied_here_to_what_the_service_sent(runwatch: Here, service: ScriptedService) -> None:
    assert ids(runwatch("runs", "list", "--filter", "is:final mode=live", "--json").json) == [LIVE, FAILED]
    assert ids(runwatch("runs", "list", "--filter", "status=failed", "--json").json) == [FAILED]
    assert service.requests("GET", "/v1/executions")[-1].head.query["status"] == "failed"


@pytest.mark.parametrize("noun", ["runs", "receipts"])
def test_a_value_that_nothing_has_is_answered_with_the_nearest(
    runwatch: Here, service: ScriptedService, noun: str
) -> None:
    assert "nothing matches; did you mean status=failed?" in runwatch(noun, "list", "--filter", "status:faild").errors
    assert runwatch(noun, "list", "--filter", "status:xyzzy").errors == "nothing matches\n"


def test_a_filter_that_cannot_be_read_stops_before_any_request(runwatch: Here, service: ScriptedService) -> None:
    outcome = runwatch("runs", "list", "--filter", "is:purple", code=2)
    assert "unknown is:purple" in outcome.errors
    assert service.heard == []


def test_since_takes_moments_and_ages_and_nothing_else(runwatch: Here, service: ScriptedService) -> None:
    assert runwatch("runs", "list", "--since", "2026-11-20").code == 0
    for wrong in ("yesterday", "7", "22:00"):
        outcome = runwatch("runs", "list", "--since", wrong)
        assert (outcome.code, outcome.stdout) == (2, b"")
        assert "2h" in outcome.errors


def test_an_empty_list_is_an_empty_array_and_says_what_to_do_to_people(
    runwatch: Here, service: ScriptedService
) -> None:
    service.runs.clear()
    assert runwatch("runs", "list", "--json").text == "[]\n"
    shown = runwatch("runs", "list")
    assert (shown.stdout, shown.code) == (b"", 0)
    assert "runs submit" in shown.errors
    assert "nothing matches" in runwatch("runs", "list", "--status", "failed").errors


@pytest.mark.parametrize("status", [404, 405, 501])
def test_a_service_without_a_list_gives_the_watch_list(runwatch: Here, service: ScriptedService, status: int) -> None:
    assert runwatch("runs", "add", LIVE, ECHO).code == 0
    service.say("GET", "/v1/executions", Said(status, problem("not_found", status=status)))
    outcome = runwatch("runs", "list", "--json")
    assert ids(outcome.json) == [ECHO, LIVE]
    assert "watch list" in outcome.errors


def test_a_server_that_is_no_service_has_no_empty_list(runwatch: Here, service: ScriptedService) -> None:
    for path in ("/v1/executions", "/v1/account"):
        service.say("GET", path, Said(404, b"<html>nothing here</html>", "text/html"))
    outcome = runwatch("runs", "list", "--json")
    assert (outcome.code, outcome.stdout) == (1, b"")
    assert "did not come from the API" in outcome.errors


def test_a_run_gone_from_the_watch_list_s_service_is_reported_and_left_out(
    runwatch: Here, service: ScriptedService
) -> None:
    assert runwatch("runs", "add", "ex_gone", ECHO, "--no-check").code == 0
    service.say("GET", "/v1/executions", Said(501, problem("internal", status=501)))
    outcome = runwatch("runs", "list", code=0)
    assert ECHO in outcome.text
    assert "ex_gone" in outcome.errors


def test_a_list_that_this_key_may_not_read_is_a_refusal_and_no_watch_list(
    runwatch: Here, service: ScriptedService
) -> None:
    service.say("GET", "/v1/executions", Said(403, problem("permission_denied")))
    assert runwatch("runs", "list").code == 4


def test_show_gives_the_exact_record_or_sections(runwatch: Here, service: ScriptedService) -> None:
    assert runwatch("runs", "show", LIVE, "--json").json == service.runs[2]
    text = runwatch("runs", "show", LIVE).text
    assert f"execution_id  {LIVE}" in text
    assert "receipt)" in text


def test_show_goes_on_without_a_receipt(runwatch: Here, service: ScriptedService) -> None:
    service.receipts.clear()
    outcome = runwatch("runs", "show", LIVE, code=0)
    assert "without the receipt" in outcome.errors


@pytest.mark.parametrize("form", ["json", "ndjson"])
def test_events_are_one_exact_object_a_line(runwatch: Here, service: ScriptedService, form: str) -> None:
    outcome = runwatch("runs", "events", ECHO, "--format", form)
    assert outcome.json_lines == [dict(event.raw) for event in echo_events(ECHO)]


def test_events_for_people_are_one_line_each_and_start_where_they_are_asked_to(
    runwatch: Here, service: ScriptedService
) -> None:
    lines = runwatch("runs", "events", ECHO, "--after", "ev_0005").text.splitlines()
    assert len(lines) == 2
    assert lines[-1].endswith("completed")


def test_events_in_csv_have_a_head(runwatch: Here, service: ScriptedService) -> None:
    head, *rows = runwatch("runs", "events", ECHO, "--format", "csv").text.splitlines()
    assert head.startswith("event_id,execution_id,")
    assert len(rows) == 7


def test_a_run_without_events_says_so(runwatch: Here, service: ScriptedService) -> None:
    service.say("GET", f"/v1/executions/{RUNNING}/events", Said(200, {"events": []}))
    outcome = runwatch("runs", "events", RUNNING)
    assert (outcome.stdout, outcome.code) == (b"", 0)
    assert "no events" in outcome.errors


def test_cancel_needs_yes_without_a_terminal_and_sends_nothing(runwatch: Here, service: ScriptedService) -> None:
    outcome = runwatch("runs", "cancel", RUNNING, code=2)
    assert "--yes" in outcome.errors
    assert service.heard == []


def test_cancel_names_the_outcome_of_each_run_and_exits_with_the_worst(
    runwatch: Here, service: ScriptedService
) -> None:
    outcome = runwatch("runs", "cancel", RUNNING, ECHO, "ex_nobody", "--yes", "--json")
    rows = {row["execution_id"]: (row["outcome"], row["status"]) for row in outcome.json}
    assert rows == {
        RUNNING: ("cancelled", "cancelled"),
        ECHO: ("already final", "completed"),
        "ex_nobody": ("refused", None),
    }
    assert outcome.code == 1
    assert [json.loads(line)["problem"]["status"] for line in outcome.errors.splitlines()] == [409, 404]


def test_cancel_carries_a_key_of_its_own_for_each_run(runwatch: Here, service: ScriptedService) -> None:
    assert runwatch("runs", "cancel", RUNNING, ECHO, "--yes").code == 1
    keys = [heard.head.header("idempotency-key") for heard in service.requests("POST")]
    assert None not in keys
    assert len(set(keys)) == 2


@pytest.mark.parametrize("detail", [None, "It is too late. Nothing was changed."])
def test_that_nothing_was_changed_is_said_once(runwatch: Here, service: ScriptedService, detail: str | None) -> None:
    more = {} if detail is None else {"detail": detail}
    service.say("POST", CANCEL, Said(409, problem("invalid_state", status=409, **more)))
    outcome = runwatch("runs", "cancel", RUNNING, "--yes", code=1)
    assert outcome.errors.count("Nothing was changed.") == 1


def test_a_cancel_without_an_answer_is_unknown(runwatch: Here, service: ScriptedService) -> None:
    service.say("POST", CANCEL, Said(503, problem("upstream_unavailable", status=503)))
    outcome = runwatch("runs", "cancel", RUNNING, "--yes", "--base-url", service.base_url, code=3)
    assert outcome.text == f"{RUNNING}  unknown\n"
    assert f"O or :outbox in the console, `runwatch --base-url {service.base_url}`, retries it" in outcome.errors
    assert "the same bytes" not in outcome.errors, "no option of this command sends them"
    assert "Unknown: it may have taken effect" in outcome.errors
    assert len(service.requests("POST")) == 3


@pytest.mark.parametrize("words", [("runs", "cancel", RUNNING, "--yes"), ("runs", "cancel", RUNNING)])
def test_read_only_refuses_before_it_asks(runwatch: Here, service: ScriptedService, words: tuple[str, ...]) -> None:
    outcome = runwatch(*words, "--read-only", code=2)
    assert "read-only" in outcome.errors
    assert service.heard == []


def test_the_result_of_a_live_run_is_its_text_or_the_exact_record(runwatch: Here, service: ScriptedService) -> None:
    assert runwatch("runs", "result", LIVE).text == "- First point\n- Second point\n"
    assert runwatch("runs", "result", LIVE, "--json").json["retention_expires_at"] == "2026-11-27T10:00:10Z"


@pytest.mark.parametrize("run_id", [ECHO, "ex_closed"])
def test_the_result_of_a_test_run_is_never_asked_for(runwatch: Here, service: ScriptedService, run_id: str) -> None:
    # The second run tells no mode; its receipt does.
    service.runs.append(dict(run("ex_closed", "completed").raw))
    service.receipts.append({**service.receipts[0], "execution_id": "ex_closed"})
    outcome = runwatch("runs", "result", run_id)
    assert (outcome.code, outcome.stdout) == (1, b"")
    assert "test run has no result content" in outcome.errors
    assert service.requests("GET", ".*/result") == []


@pytest.mark.parametrize(
    ("reason", "said"),
    [
        ("length", "the output was cut at the limit of output tokens"),
        ("empty", "the output was empty"),
        ("error", "the output was broken off by an error of the provider"),
        ("stop", ""),
    ],
)
def test_a_result_that_is_no_whole_answer_says_so_beside_the_text(
    runwatch: Here, service: ScriptedService, reason: str, said: str
) -> None:
    run = {"execution_id": LIVE, "status": "completed", "mode": "live", "slices": [{"finish_reason": reason}]}
    service.say("GET", f"/v1/executions/{LIVE}", Said(200, run))
    outcome = runwatch("runs", "result", LIVE)
    assert outcome.text == "- First point\n- Second point\n"
    assert [text for text in outcome.errors.splitlines() if "output" in text] == [said] * bool(said)


def test_a_result_that_the_service_refuses_is_a_refusal(runwatch: Here, service: ScriptedService) -> None:
    service.say("GET", f"/v1/executions/{LIVE}/result", Said(409, problem("invalid_state")))
    assert runwatch("runs", "result", LIVE).code == 1


@pytest.mark.parametrize("status", ["failed", "cancelled", "expired"])
def test_the_result_of_a_run_that_did_not_complete_is_never_asked_for(
    runwatch: Here, service: ScriptedService, status: str
) -> None:
    service.say("GET", f"/v1/executions/{LIVE}", Said(200, {**run(LIVE, status).raw, "mode": "live"}))
    outcome = runwatch("runs", "result", LIVE)
    assert (outcome.code, outcome.stdout) == (1, b"")
    assert f"this one is {status}" in outcome.errors
    assert f"runwatch runs show {LIVE}" in " ".join(outcome.errors.split())
    assert service.requests("GET", ".*/result") == []


def test_add_reads_each_run_first(runwatch: Here, service: ScriptedService) -> None:
    outcome = runwatch("runs", "add", ECHO, "ex_nobody", "--json")
    assert [row["outcome"] for row in outcome.json] == ["added", "not added"]
    assert outcome.code == 1


def test_add_takes_ids_one_a_line_from_standard_input(runwatch: Here, service: ScriptedService) -> None:
    text = f"{ECHO} and what somebody wrote behind it\n\n  {LIVE}\n{ECHO}\n"
    outcome = runwatch("runs", "add", "-", stdin=text.encode())
    assert outcome.text.splitlines() == [f"{ECHO}  added  completed", f"{LIVE}  added  completed"]
    runwatch("runs", "add", "-", stdin=b"\n", code=2)


def test_runs_of_another_key_are_not_on_this_watch_list(runwatch: Here) -> None:
    script = ScriptedService(runs=[run(ECHO, "completed")], account=account())
    script.say("GET", "/v1/executions", Said(501, problem("internal", status=501)))
    with running_service(script) as running:
        runwatch.use(running.base_url)
        assert runwatch("runs", "add", ECHO).code == 0
        script.say("GET", "/v1/account", Said(200, account(authenticated_principal_id="key_Other")))
        runwatch.use(running.base_url, "another-key")
        assert runwatch("runs", "list", "--json").json == []


def test_a_run_that_found_no_model_reads_which_one_is_degraded(runwatch: Here, service: ScriptedService) -> None:
    service.runs.append(dict(run("ex_none", "failed", reason="no_eligible_arms").raw))
    degraded = arm("arm_1", "degraded", status_reason="Test it: runwatch sources test c1")
    service.say("GET", "/v1/arms", Said(200, {"arms": [dict(degraded.raw)], "next_cursor": None}))
    assert "arm_1) is degraded" in " ".join(runwatch("runs", "show", "ex_none").text.split())
    service.say("GET", "/v1/arms", Said(403, problem("permission_denied")))
    assert "Save a model" in " ".join(runwatch("runs", "show", "ex_none").text.split())


def test_a_shortened_id_is_refused_and_the_only_one_that_fits_is_named(
    runwatch: Here, service: ScriptedService
) -> None:
    whole = "ex_01M8KG42EX54BR8KEK5RHKFMCB"
    assert runwatch("runs", "add", whole, "--no-check").code == 0
    heard = len(service.heard)
    for short in ("ex_…FMCB", "ex_~FMCB", "ex_01M8…FMCB"):
        outcome = runwatch("runs", "show", short, code=2)
        assert f"'{short}' is a shortened id" in outcome.errors
        assert f"did you mean '{whole}'?" in outcome.errors
    assert len(service.heard) == heard, "before any request"
    assert "did you mean" not in runwatch("runs", "cancel", "ex_02…FMCB", "--yes", code=2).errors
    cancelled = runwatch("runs", "cancel", "HKFMCB", "zzzzzz", "--yes", code=1)
    assert cancelled.errors.count(f"did you mean '{whole}'?") == 1
    for part, said in (("HKFMCB", f"did you mean '{whole}'?"), ("zzzzzz", "The id has to be whole.")):
        assert said in runwatch("receipts", "show", part, code=1).errors
