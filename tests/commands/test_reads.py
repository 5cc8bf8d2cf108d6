"""``receipts``, ``account``, ``problems``, ``requests``: what is read, and what this machine remembers."""

from __future__ import annotations

import json

import pytest

from runwatch.records.error_codes import CODES, REASONS
from tests.commands.conftest import ECHO, FAILED, LIVE
from tests.commands.here import Here
from tests.support.builders import account, problem
from tests.support.scripted import Said, ScriptedService


def met(runwatch: Here, *ids: str) -> list[str]:
    """Meet a problem for each run that does not exist; their instances, newest first."""
    instances = []
    for run_id in ids:
        outcome = runwatch("runs", "show", run_id, "--json", code=1)
        instances.append(json.loads(outcome.errors)["problem"]["instance"])
    return instances[::-1]


def test_receipts_are_exact(runwatch: Here, service: ScriptedService) -> None:
    assert runwatch("receipts", "list", "--json").json == service.receipts
    assert runwatch("receipts", "list", "--format", "ndjson").json_lines == service.receipts
    assert runwatch("receipts", "show", LIVE, "--json").json == service.receipts[1]


def test_receipts_are_filtered_by_the_service_and_here(runwatch: Here, service: ScriptedService) -> None:
    words = ("receipts", "list", "--status", "failed", "--since", "2026-11-20", "--arm-id", "arm_1", "--json")
    assert [item["execution_id"] for item in runwatch(*words).json] == [FAILED]
    query = service.requests("GET", "/v1/receipts")[0].head.query
    assert query == {"status": "failed", "since": "2026-11-20T00:00:00.000Z", "arm_id": "arm_1"}
    assert [item["execution_id"] for item in runwatch("receipts", "list", "--filter", "is:test", "--json").json] == [
        ECHO
    ]


def test_receipts_for_people_have_whole_ids_and_sections(runwatch: Here, service: ScriptedService) -> None:
    assert ECHO in runwatch("receipts", "list").text
    shown = runwatch("receipts", "show", ECHO).text
    assert "neither prompt nor output" in shown
    assert "test run, no charge" in shown


def test_columns_of_the_settings_are_those_of_the_table(runwatch: Here, service: ScriptedService) -> None:
    runwatch.settings_file.write_text('[columns]\nreceipts = ["status", "execution_id", "stauts"]\n', "utf-8")
    runwatch.settings_file.chmod(0o600)
    outcome = runwatch("receipts", "list")
    head, *rows = outcome.text.splitlines()
    assert head.split() == ["status", "run"]
    assert [row.split()[-1] for row in rows] == [item["execution_id"] for item in service.receipts]
    assert "'stauts' (did you mean status?)" in outcome.errors
    assert runwatch("receipts", "list", "--json").json == service.receipts
    assert runwatch("receipts", "list", "--fields", "slices").text.splitlines()[0] == "slices"


def test_receipts_in_csv_have_one_row_each(runwatch: Here, service: ScriptedService) -> None:
    head, *rows = runwatch("receipts", "list", "--format", "csv").text.splitlines()
    assert "totals.usd" in head.split(",")
    assert len(rows) == 3


def test_a_receipt_that_is_not_there_yet_is_a_refusal(runwatch: Here, service: ScriptedService) -> None:
    assert runwatch("receipts", "show", "ex_running").code == 1


def test_the_account_is_exact_or_in_sections(runwatch: Here, service: ScriptedService) -> None:
    assert runwatch("account", "--json").json == dict(account().raw)
    assert "Acme Research" in runwatch("account").text
    assert runwatch("account", "--fields", "tenant_id,quota.rate_limit_rpm", "--format", "csv").text == (
        "tenant_id,quota.rate_limit_rpm\nten_01,60\n"
    )


def test_a_refused_key_is_stored_anew_for_the_profile_that_has_it(
    runwatch: Here, service: ScriptedService, monkeypatch: pytest.MonkeyPatch
) -> None:
    runwatch.settings_file.write_text(
        f'default_profile = "work"\n[profiles.work]\nbase_url = "{service.base_url}"\nkey_command = "echo rk_test"\n'
    )
    monkeypatch.delenv("RUNWATCH_BASE_URL")
    monkeypatch.delenv("RUNWATCH_API_KEY")
    service.say("GET", "/v1/account", Said(401, problem("unauthenticated")))
    assert "store a valid one with `runwatch config key set work`" in runwatch("account", code=4).errors


def test_a_key_that_is_refused_exits_4_and_names_the_next_step(runwatch: Here, service: ScriptedService) -> None:
    service.say("GET", "/v1/account", Said(401, problem("unauthenticated")))
    outcome = runwatch("account", code=4)
    assert "config key set" in outcome.errors


def test_problems_met_are_listed_newest_first(runwatch: Here, service: ScriptedService) -> None:
    instances = met(runwatch, "ex_a", "ex_b", "ex_c")
    listed = runwatch("problems", "list", "--json").json
    assert [item["instance"] for item in listed] == instances
    assert listed[0]["raw"]["instance"] == instances[0]
    assert (listed[0]["profile"], listed[0]["path"]) == ("environment", "/v1/executions/ex_c")
    assert len(runwatch("problems", "list", "--limit", "2", "--json").json) == 2
    assert len(runwatch("problems", "list", "--limit", "0", "--json").json) == 3
    assert runwatch("problems", "list", "--profile", "other", "--json").json == []
    assert len(runwatch("problems", "list", "--filter", "path:ex_a", "--limit", "1", "--json").json) == 1


def test_problems_older_than_asked_for_are_left_out(runwatch: Here, service: ScriptedService) -> None:
    met(runwatch, "ex_a")
    runwatch.clock.advance(7200)
    met(runwatch, "ex_b")
    assert len(runwatch("problems", "list", "--since", "1h", "--json").json) == 1


def test_a_problem_is_found_by_any_six_characters_and_in_a_mail(runwatch: Here, service: ScriptedService) -> None:
    (instance,) = met(runwatch, "ex_a")
    met(runwatch, "ex_b")
    for text in (instance, instance[7:16], instance.upper(), instance.replace("-", "")[10:18]):
        assert [item["instance"] for item in runwatch("problems", "find", text, "--json").json] == [instance]
    mail = f"Hello,\nI got this today: {instance}.\nWhat now?\n".encode()
    assert [item["instance"] for item in runwatch("problems", "find", "-", "--json", stdin=mail).json] == [instance]
    nothing = runwatch("problems", "find", "no id here")
    assert (nothing.code, nothing.stdout) == (1, b"")


def test_a_problem_is_shown_with_its_meaning_and_next_step(runwatch: Here, service: ScriptedService) -> None:
    (instance,) = met(runwatch, "ex_a")
    text = runwatch("problems", "show", instance[:8]).text
    for words in (instance, "not_found", "GET /v1/executions/ex_a", "means", "next"):
        assert words in text
    assert runwatch("problems", "show", instance, "--json").json["instance"] == instance
    assert runwatch("problems", "show", "ffffffff-0000").code == 1


def test_a_part_that_several_problems_have_is_not_guessed_at(runwatch: Here, service: ScriptedService) -> None:
    for start in "ab":
        said = Said(404, problem("not_found", instance=f"{start}0000000-1234-4567-89ab-0123456789ab"))
        service.say("GET", f"/v1/executions/ex_{start}", said)
    met(runwatch, "ex_a", "ex_b")
    outcome = runwatch("problems", "show", "1234-4567-89ab", code=2)
    assert "a0000000-1234" in outcome.errors
    assert "b0000000-1234" in outcome.errors


@pytest.mark.parametrize("word", [*CODES, *REASONS, "scheme_rejected", "pause_turn"])
def test_every_code_and_reason_is_explained_without_any_settings(runwatch: Here, word: str) -> None:
    outcome = runwatch("problems", "explain", word, code=0)
    assert outcome.text.startswith(word)
    assert "means" in outcome.text
    assert "next" in outcome.text


def test_explain_lists_everything_in_every_format(runwatch: Here) -> None:
    listed = runwatch("problems", "explain", "--json").json
    assert {item["word"] for item in listed} >= {*CODES, *REASONS, "scheme_rejected", "content_filter"}
    assert runwatch("problems", "explain", "--format", "ndjson").json_lines == listed
    assert len(runwatch("problems", "explain", "--format", "csv").text.splitlines()) == len(listed) + 1
    text = f"\n{runwatch('problems', 'explain').text}"
    assert all(f"\n{word} (" in text for word in (*CODES, *REASONS, "scheme_rejected"))


def test_explain_names_the_nearest_word(runwatch: Here) -> None:
    outcome = runwatch("problems", "explain", "not_fuond", code=2)
    assert "not_found" in outcome.errors


def test_requests_are_listed_with_every_attempt(runwatch: Here, service: ScriptedService) -> None:
    bad = Said(503, problem("upstream_unavailable", status=503))
    service.say("GET", "/v1/account", bad, Said(200, account()))
    assert runwatch("account").code == 0
    rows = runwatch("requests", "list", "--json").json
    assert [(row["status"], row["attempt"]) for row in rows] == [(200, 2), (503, 1)]
    assert "/v1/account" in runwatch("requests", "list").text
    assert len(runwatch("requests", "list", "--format", "csv", "--limit", "1").text.splitlines()) == 2


def test_requests_come_as_curl_commands_without_the_key(runwatch: Here, service: ScriptedService) -> None:
    runwatch.use(service.base_url, "solverapi_test_secret")
    assert runwatch("runs", "list", "--status", "it's").code == 0
    assert runwatch("runs", "cancel", "ex_running", "--yes").code == 0
    cancel, _, listed = runwatch("requests", "list", "--curl").text.splitlines()
    assert listed == (
        f"runwatch config header --base-url {service.base_url} | curl -sS -H @- -X GET"
        f" --url '{service.base_url}/v1/executions?status=it%27s&limit=100'"
    )
    assert "-X POST" in cancel
    assert runwatch("requests", "list", "--curl", "--filter", "method=POST").text.splitlines() == [cancel]
    assert "-H 'Idempotency-Key: " in cancel
    assert "solverapi_test_secret" not in runwatch("requests", "list", "--json").text


def test_a_journal_that_nobody_has_written_is_empty(runwatch: Here) -> None:
    for noun in ("problems", "requests"):
        assert runwatch(noun, "list", "--json").text == "[]\n"
        shown = runwatch(noun, "list")
        assert (shown.code, shown.stdout) == (0, b"")
        assert "this machine" in shown.errors


@pytest.mark.parametrize(("name", "value"), [("LC_ALL", "C"), ("TERM", "linux"), ("TERM", "dumb")])
def test_where_the_terminal_has_few_symbols_text_is_ascii(
    name: str, value: str, runwatch: Here, service: ScriptedService, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = [("runs", "list"), ("receipts", "list"), ("receipts", "show", FAILED), ("runs", "events", ECHO)]
    before = [runwatch(*each).text for each in words]
    monkeypatch.setenv(name, value)
    after = [runwatch(*each).text for each in words]
    assert [text.isascii() for text in (*before, *after)] == [False] * 4 + [True] * 4
    assert [len(text) for text in before] == [len(text) for text in after]


@pytest.mark.parametrize(
    ("words", "guess"),
    [
        (("receipts", "list", "--fields", "id,stauts"), "status"),
        (("receipts", "list", "--json", "--fields", "totals.usdd"), "totals.usd"),
        (("receipts", "list", "--format", "csv", "--fields", "provder"), "provider"),
        (("receipts", "show", FAILED, "--fields", "reasn"), "reason"),
        (("runs", "list", "--json", "--fields", "policy.budget.max_cots_usd"), "policy.budget.max_cost_usd"),
        (("runs", "list", "--format", "csv", "--fields", "provider_nme"), ""),
        (("runs", "events", ECHO, "--json", "--fields", "exection_id"), "execution_id"),
        (("runs", "list", "--json", "--fields", "cost"), "spend_usd"),
    ],
)
def test_an_unknown_field_is_refused_with_the_nearest(
    words: tuple[str, ...], guess: str, runwatch: Here, service: ScriptedService
) -> None:
    outcome = runwatch(*words)
    assert (outcome.code, outcome.stdout) == (2, b"")
    assert "There is no field" in outcome.errors
    assert f"did you mean '{guess}'?" in outcome.errors or not guess


def test_fields_that_are_declared_or_sent_are_not_refused(runwatch: Here, service: ScriptedService) -> None:
    service.receipts[0]["new"] = {"deep": 1}
    for fields in ("execution_id", "new.deep,mode", "slices[0].cost.usd", "decision_packet.outcome", "totals"):
        for form in ("json", "csv", "table"):
            assert runwatch("receipts", "list", "--fields", fields, "--format", form).code == 0
    assert runwatch("receipts", "list", "--fields", "id,model,spend").code == 0
    exact = runwatch("receipts", "list", "--json", "--fields", "execution_id,created_at").json
    named = runwatch("receipts", "list", "--json", "--fields", "id,created").json
    assert [list(each.values()) for each in named] == [list(each.values()) for each in exact]
    assert list(named[0]) == ["id", "created"], "as they were typed"
    assert runwatch("receipts", "list", "--format", "csv", "--fields", "id").text.startswith("id\nex_")
    # A column of several members has its exact value.
    named = runwatch("receipts", "list", "--json", "--fields", "id,took,model,created").json
    one = next(each for each in named if each["model"])
    assert isinstance(one["took"], int | float)
    assert "/" in one["model"]
    rows = runwatch("receipts", "list", "--format", "csv", "--fields", "model,id").text.splitlines()
    assert rows[0] == "model,id"
    assert len(rows) == len(named) + 1
    shown = runwatch("receipts", "show", one["id"], "--json", "--fields", "model,took").json
    assert shown == {name: one[name] for name in ("model", "took")}
    service.receipts.clear()
    assert runwatch("receipts", "list", "--fields", "anything.new", "--json").json == []
    assert runwatch("receipts", "list", "--fields", "stauts", "--json").code == 2
