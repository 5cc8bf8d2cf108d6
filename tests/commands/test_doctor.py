"""``doctor``: one finding a check, the next step, the worst exit code."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from runwatch.base.paths import find_paths
from runwatch.commands import doctor
from tests.commands.here import Here
from tests.support.builders import account, problem, request_body
from tests.support.scripted import Said, ScriptedService


def findings(runwatch: Here, *words: str) -> tuple[int, dict[str, dict[str, Any]]]:
    outcome = runwatch("doctor", "--json", *words)
    return outcome.code, {row["check"]: row for row in outcome.json}


def states(found: dict[str, dict[str, Any]]) -> dict[str, str]:
    return {check: row["state"] for check, row in found.items()}


def test_nothing_configured_fails_with_what_to_set(runwatch: Here) -> None:
    code, found = findings(runwatch)
    assert code == 2
    assert found["service"]["state"] == "fail"
    assert "RUNWATCH_BASE_URL" in found["service"]["next"]
    assert set(states(found).values()) == {"ok", "fail"}


def test_a_mistake_in_an_own_command_is_its_own_line_and_not_why_a_service_is_missing(runwatch: Here) -> None:
    runwatch.settings_file.write_text('[commands.ticket]\nrun = ["x"]\ntimeout_s = 0\n')
    runwatch.settings_file.chmod(0o600)
    code, found = findings(runwatch)
    assert code == 2
    assert "'commands.ticket.timeout_s' must be" in found["settings"]["found"]
    assert "commands" not in found["service"]["found"]


def test_all_is_well(runwatch: Here, service: ScriptedService) -> None:
    clock = runwatch.clock.now().strftime("%a, %d %b %Y %H:%M:%S GMT")
    service.say("GET", "/v1/account", Said(200, account(), headers=(("Date", clock),)))
    code, found = findings(runwatch)
    assert code == 0
    assert set(states(found).values()) == {"ok"}
    assert found["service"]["found"].startswith(service.base_url)
    assert found["service"]["found"].endswith("from RUNWATCH_BASE_URL")
    assert found["key"]["found"] == "from environment RUNWATCH_API_KEY"
    assert "Acme Research, key_A1b2C3" in found["read"]["found"]
    assert found["rate limit"]["found"] == "60 requests a minute"
    assert "agrees" in found["clock"]["found"]


@pytest.mark.parametrize(("quota", "found"), [({"rate_limit_rpm": None}, "unlimited"), ({}, "not published")])
def test_the_rate_limit_is_said_as_the_account_says_it(
    runwatch: Here, service: ScriptedService, quota: dict[str, Any], found: str
) -> None:
    service.say("GET", "/v1/account", Said(200, {**account().raw, "quota": quota}))
    assert findings(runwatch)[1]["rate limit"]["found"] == found


@pytest.mark.parametrize(
    ("available", "state", "said"),
    [(20_000_000_000, "ok", "20.0 GB"), (90_000_000, "warn", "90.0 MB"), (None, "ok", "this command uses")],
)
def test_memory_is_reported_and_too_little_is_a_warning(
    runwatch: Here, monkeypatch: pytest.MonkeyPatch, available: int | None, state: str, said: str
) -> None:
    monkeypatch.setattr(doctor, "available_bytes", lambda: available)
    _, found = findings(runwatch)
    assert found["memory"]["state"] == state
    assert said in found["memory"]["found"]


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="the system does not tell who has a file open")
def test_other_processes_with_the_database_open_are_named(runwatch: Here) -> None:
    assert "consoles" not in findings(runwatch)[1]
    database = find_paths().database
    database.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    database.touch(mode=0o600)
    waits = [sys.executable, "-c", "import sys; opened = open(sys.argv[1]); print(flush=True); input()", str(database)]
    with subprocess.Popen(waits, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        other.stdout.readline()
        found = findings(runwatch)[1]["consoles"]["found"]
        other.communicate(b"\n")
    assert re.fullmatch(rf"consoles and commands on this data directory: process {other.pid} uses [\d.]+ MB", found)


def test_people_get_a_line_a_check_with_the_next_step_below(runwatch: Here) -> None:
    lines = runwatch("doctor").text.splitlines()
    service = next(number for number, line in enumerate(lines) if line.startswith("fail  service"))
    assert lines[service + 1].strip().startswith("next: Set RUNWATCH_BASE_URL")


@pytest.mark.parametrize(
    ("said", "code", "check"),
    [
        (Said(401, problem("unauthenticated")), 4, "read"),
        (Said(403, problem("permission_denied")), 4, "read"),
        (Said(429, problem("rate_limited", retry_after_s=9)), 5, "read"),
        (Said(503, problem("upstream_unavailable", status=503)), 3, "read"),
        (Said(502, b"<html>", content_type="text/html"), 3, "read"),
        (Said(200, b"{", content_type="application/json"), 3, "read"),
    ],
)
def test_an_answer_that_is_invalid_fails_with_its_code(
    runwatch: Here, service: ScriptedService, said: Said, code: int, check: str
) -> None:
    service.say("GET", "/v1/account", said)
    found_code, found = findings(runwatch)
    assert found_code == code
    assert found[check]["state"] == "fail"
    assert found[check]["next"]


def test_nobody_listening_is_a_network_failure(runwatch: Here) -> None:
    code, found = findings(runwatch.use("http://127.0.0.1:9"))
    assert code == 3
    assert found["connection"]["state"] == "fail"


def test_a_service_without_an_account_is_asked_for_its_runs(runwatch: Here, service: ScriptedService) -> None:
    service.say("GET", "/v1/account", Said(404, problem("not_found")))
    code, found = findings(runwatch)
    assert (code, found["read"]["state"]) == (0, "ok")
    assert service.requests("GET", "/v1/executions")


@pytest.mark.parametrize(("minutes", "side"), [(-10, "ahead of"), (10, "behind")])
def test_clocks_that_differ_are_reported(runwatch: Here, service: ScriptedService, minutes: int, side: str) -> None:
    theirs = (runwatch.clock.now() + timedelta(minutes=minutes)).strftime("%a, %d %b %Y %H:%M:%S GMT")
    service.say("GET", "/v1/account", Said(200, account(), headers=(("Date", theirs),)))
    _, found = findings(runwatch)
    assert found["clock"]["state"] == "warn"
    assert f"10 min {side} the service" in found["clock"]["found"]


def test_a_missing_key_is_named_before_it_is_refused(runwatch: Here) -> None:
    runwatch.settings_file.write_text('[profiles.work]\nbase_url = "http://127.0.0.1:9"\n')
    runwatch.settings_file.chmod(0o600)
    _, found = findings(runwatch)
    assert found["key"]["state"] == "warn"
    assert "config key set work" in found["key"]["next"]


def test_a_settings_file_that_others_may_change_is_to_be_made_the_users_own(runwatch: Here) -> None:
    runwatch.settings_file.write_text('[profiles.prod]\nbase_url = "https://api.example.com"\n')
    runwatch.settings_file.chmod(0o666)
    rows = runwatch("doctor", "--json").json
    hints = {row["next"] for row in rows if row["check"] == "settings"}
    assert len(hints) == 1
    assert "chmod" in hints.pop()


def test_a_broken_settings_file_and_an_open_data_directory_are_named(runwatch: Here, tmp_path: Any) -> None:
    runwatch.settings_file.write_text("retries = \n")
    (tmp_path / "runwatch-data").mkdir(mode=0o755)
    code, found = findings(runwatch)
    assert code == 2
    assert (found["settings"]["state"], found["data"]["state"]) == ("fail", "warn")
    assert "chmod 700" in found["data"]["next"]


def test_a_corrupt_database_is_named(runwatch: Here, service: ScriptedService, tmp_path: Any) -> None:
    assert runwatch("runs", "list").code == 0
    (tmp_path / "runwatch-data" / "console.db").write_bytes(b"not a database" * 1000)
    code, found = findings(runwatch)
    assert code == 2
    assert found["database"]["state"] == "fail"


def test_what_a_local_service_wrote_before_it_ended_is_reported_line_by_line(runwatch: Here, tmp_path: Path) -> None:
    directory = tmp_path / "runwatch-data" / "local-service"
    directory.mkdir(parents=True, mode=0o700)
    (directory / "service.db").write_bytes(b"not a database" * 1000)
    outcome = runwatch("doctor", "--local", code=3)
    lines = outcome.text.splitlines()
    told = next(number for number, line in enumerate(lines) if line.startswith("fail  service"))
    assert lines[told + 1] == f"{'':<16} The service's database is damaged or not a database"
    assert lines[-1].startswith(f"{'':<16} next: Its error output is in ")
    assert "␊" not in outcome.text


def test_writes_of_unknown_outcome_are_named(runwatch: Here, service: ScriptedService) -> None:
    service.say("POST", "/v1/executions", Said(503, problem("upstream_unavailable", status=503)))
    body = json.dumps(request_body()).encode()
    assert runwatch("runs", "submit", "--from", "-", "--idempotency-key", "kept", stdin=body).code == 3
    _, found = findings(runwatch)
    assert found["writes"]["state"] == "warn"
    assert "kept" in found["writes"]["found"]


def test_no_secret_is_shown(runwatch: Here, service: ScriptedService) -> None:
    runwatch.use(service.base_url, "solverapi_test_canary")
    for form in ("table", "json", "csv"):
        outcome = runwatch("doctor", "--format", form)
        assert "canary" not in outcome.text + outcome.errors


def test_secrets_that_no_master_key_opens_are_named_with_the_command_for_each(
    runwatch: Here, service: ScriptedService
) -> None:
    closed = [
        {"resource_type": "source_connection", "resource_id": "conn_1", "display_name": "Tiny\x1b[31m"},
        {"resource_type": "verifier", "resource_id": "vrf_1"},
        {"resource_type": "agent", "resource_id": "--yes; touch pwned"},
        {"resource_type": "webhook", "resource_id": "wh_1"},
        {"resource_type": "tool", "resource_id": "tool_1"},
    ]
    service.say("GET", "/v1/account", Said(200, account(closed_secrets=closed)))
    outcome = runwatch("doctor", code=0)
    lines = outcome.text.splitlines()
    told = next(number for number, line in enumerate(lines) if line.startswith("warn  secrets"))
    assert lines[told].endswith("5 cannot be opened because their master key is missing:")
    assert [line.strip() for line in lines[told + 1 : told + 7]] == [
        "the key of the source 'Tiny␛[31m'; enter it again: runwatch sources rotate conn_1",
        "the key of vrf_1; enter it again: runwatch verifiers connect vrf_1",
        "the key of --yes; touch pwned; enter it again: runwatch agents connect -- '--yes; touch pwned'",
        "the signing secret of the webhook wh_1; make a new one: runwatch webhooks rotate wh_1",
        "the secret of tool tool_1: this version of runwatch cannot replace it",
        "next: Restore the master key and start the service again, or follow the lines above.",
    ]


def test_a_service_that_opens_every_secret_is_not_told_of(runwatch: Here, service: ScriptedService) -> None:
    service.say("GET", "/v1/account", Said(200, account()))
    assert "secrets" not in findings(runwatch)[1]


@pytest.mark.parametrize(
    ("terminal", "said"),
    [("xterm-kitty", "auto takes OSC 99"), ("xterm-256color", "auto shows none, because")],
)
def test_on_a_terminal_it_says_how_a_notice_gets_to_the_desktop(
    runwatch: Here, monkeypatch: pytest.MonkeyPatch, terminal: str, said: str
) -> None:
    terminal_output = SimpleNamespace(isatty=lambda: True, encoding="utf-8")
    monkeypatch.setattr(doctor, "sys", SimpleNamespace(stdout=terminal_output))
    monkeypatch.setenv("TERM", terminal)
    assert said in runwatch("doctor").text
