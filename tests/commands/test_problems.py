"""Looking back from the command line: around a time, in the local service's store, and into bundles and files."""

from __future__ import annotations

import json
import stat
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from runwatch.base.clock import format_iso
from runwatch.base.paths import find_paths
from tests.commands.conftest import LIVE
from tests.commands.here import Here
from tests.support.builders import echo_events, validation_problem
from tests.support.scripted import Said, ScriptedService
from tests.support.service import ServiceProcess

KEY = "rk_test_sentinel_7f3a9c"


def met(runwatch: Here, run_id: str) -> str:
    """Meet a problem, and give its instance."""
    return str(json.loads(runwatch("runs", "show", run_id, "--json").errors)["problem"]["instance"])


def test_a_problem_and_its_request_are_found_around_their_time(runwatch: Here, service: ScriptedService) -> None:
    instance = met(runwatch, "ex_a")
    when = format_iso(runwatch.clock.now())
    runwatch.clock.advance(3600)
    met(runwatch, "ex_b")
    outcome = runwatch("problems", "find", "--at", when, "--json")
    assert [(each["what"], each["path"]) for each in outcome.json] == [
        ("problem", "/v1/executions/ex_a"), ("request", "/v1/executions/ex_a"),
    ]  # fmt: skip
    assert outcome.json[0]["instance"] == instance
    assert outcome.json[0]["kept"]["instance"] == instance
    assert instance in runwatch("problems", "find", "--at", when).text
    assert len(runwatch("problems", "find", "--at", when, "--within", "2h", "--json").json) == 4


def test_reads_that_succeeded_are_one_line_of_the_table(runwatch: Here, service: ScriptedService) -> None:
    for _ in range(3):
        runwatch("runs", "list")
    each = runwatch("problems", "find", "--at", "now", "--json").json
    assert len(each) >= 3
    assert f"{len(each)} reads that succeeded" in runwatch("problems", "find", "--at", "now").text


def test_ended_runs_are_found_too(runwatch: Here, service: ScriptedService) -> None:
    assert runwatch("runs", "watch", LIVE).code == 0
    ended = echo_events(LIVE)[-1].raw["at"]
    found = runwatch("problems", "find", LIVE, "--at", ended, "--json").json
    assert [(each["run_id"], each["state"]) for each in found if each["what"] == "run"] == [(LIVE, "completed")]


def test_words_filters_and_fields_narrow_what_is_found(runwatch: Here, service: ScriptedService) -> None:
    met(runwatch, "ex_a")
    met(runwatch, "ex_b")
    find = ("problems", "find", "--at", "now", "--json")
    assert {each["path"] for each in runwatch(*find, "ex_b").json} == {"/v1/executions/ex_b"}
    assert len(runwatch(*find, "--filter", "is:request path:ex_a").json) == 1
    assert runwatch(*find, "ex_a", "--fields", "what").json == [{"what": "problem"}, {"what": "request"}]


def test_a_time_of_day_is_read_in_the_zone_that_is_named(runwatch: Here, service: ScriptedService) -> None:
    met(runwatch, "ex_a")
    berlin = (runwatch.clock.now() + timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M")
    assert len(runwatch("problems", "find", "--at", berlin, "--tz", "Europe/Berlin", "--json").json) == 2
    assert runwatch("problems", "find", "--at", berlin, "--json").code == 1


def test_a_miss_says_what_was_searched_and_shows_the_neighbours(runwatch: Here, service: ScriptedService) -> None:
    instance = met(runwatch, "ex_a")
    outcome = runwatch("problems", "find", "--at", "2026-01-01T00:00")
    assert (outcome.code, outcome.stdout) == (1, b"")
    for words in (
        "Nothing recorded at that time",
        "2025-12-31 23:55:00 UTC to 2026-01-01 00:05:00 UTC",
        "1 problem, 1 request",
        "was not searched: it is not running",
        "Nearest entries:",
        instance,
    ):
        assert words in outcome.errors


def test_a_miss_in_an_empty_journal_says_so(runwatch: Here) -> None:
    outcome = runwatch("problems", "find", "--at", "now", code=1)
    assert "0 problems, 0 requests" in outcome.errors
    assert "Nothing else is recorded." in outcome.errors


@pytest.mark.parametrize(
    ("at", "told"),
    [("2026-03-29T02:30", "does not exist"), ("2026-10-25T02:30", "clocks moved back: 00:30 UTC and 01:30 UTC")],
)
def test_times_around_a_change_of_the_clocks_are_reported(runwatch: Here, at: str, told: str) -> None:
    assert told in runwatch("problems", "find", "--at", at, "--tz", "Europe/Berlin").errors


@pytest.mark.parametrize(
    "words",
    [(), ("--within", "5m", "x"), ("--tz", "UTC", "x"), ("--at", "soon"), ("--at", "now", "--within", "long"),
     ("--at", "03:10", "--tz", "Mars/Base")],
)  # fmt: skip
def test_what_cannot_be_read_is_a_usage_error(runwatch: Here, words: tuple[str, ...]) -> None:
    outcome = runwatch("problems", "find", *words)
    assert (outcome.code, outcome.stdout) == (2, b"")


def test_the_local_service_s_own_store_is_searched_where_it_runs(runwatch: Here) -> None:
    own = {"RUNWATCH_CONFIG": str(find_paths().settings_file)}
    with ServiceProcess(find_paths().local_service_dir, env=own) as local:
        answer = httpx.get(
            f"{local.base_url}/v1/executions/ex_lost", headers={"Authorization": f"Bearer {local.api_key}"}
        )
        instance = str(answer.json()["instance"])
        found = runwatch("problems", "find", f"It said {instance.upper()}!", "--json").json
        assert [(each["instance"], each["path"]) for each in found] == [(instance, "/v1/executions/ex_lost")]
        outcome = runwatch("problems", "find", "--at", found[0]["time"], "--json")
        assert [(each["what"], each["found_in"]) for each in outcome.json] == [("problem", "local service")]
        assert "local service's store (1 answered" in outcome.errors
        assert "not_found" in runwatch("problems", "show", instance).text
        miss = runwatch("problems", "find", "--at", "2026-01-01T00:00")
        assert instance in miss.errors, "the neighbour in time"


def bundled(runwatch: Here, tmp_path: Path) -> tuple[str, Path, Any]:
    instance = met(runwatch, "ex_a")
    file = tmp_path / "bundle.json"
    outcome = runwatch("problems", "show", instance, "--bundle", str(file), code=0)
    assert instance in outcome.text
    assert str(file) in outcome.errors
    return instance, file, json.loads(file.read_text("ascii"))


def test_a_bundle_is_written_for_its_owner_alone_and_without_any_key(
    runwatch: Here, service: ScriptedService, tmp_path: Path
) -> None:
    runwatch.settings_file.write_text(
        '[profiles.work]\nbase_url = "https://x.example"\nkey_command = "echo canary-in-command"\n'
    )
    runwatch.settings_file.chmod(0o600)
    runwatch.use(service.base_url, KEY)
    instance, file, content = bundled(runwatch, tmp_path)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert content["problem"]["instance"] == instance
    assert [each["path"] for each in content["requests"]] == ["/v1/executions/ex_a"]
    assert {"setting": "theme", "value": "runwatch-dark", "source": "default"} in content["settings"]
    text = file.read_text()
    assert KEY not in text
    assert "canary-in-command" not in text


def test_a_bundle_is_opened_again_as_its_problem(runwatch: Here, service: ScriptedService, tmp_path: Path) -> None:
    instance, file, content = bundled(runwatch, tmp_path)
    assert instance in runwatch("open", str(file)).text
    assert runwatch("open", str(file), "--json").json == content


def test_a_bundle_that_cannot_be_written_says_so(runwatch: Here, service: ScriptedService, tmp_path: Path) -> None:
    instance = met(runwatch, "ex_a")
    (tmp_path / "file").touch()
    outcome = runwatch("problems", "show", instance, "--bundle", str(tmp_path / "file" / "b.json"), code=1)
    assert "cannot be written" in outcome.errors


@pytest.mark.parametrize("noun", ["problems", "requests"])
def test_what_the_journal_printed_is_opened_again(runwatch: Here, service: ScriptedService, noun: str) -> None:
    met(runwatch, "ex_a")
    met(runwatch, "ex_b")
    printed = runwatch(noun, "list", "--json")
    opened = runwatch("open", "-", "--json", stdin=printed.stdout)
    assert opened.json == printed.json
    assert "/v1/executions/ex_a" in runwatch("open", "-", stdin=printed.stdout).text


def test_a_request_names_the_problem_that_it_met(runwatch: Here, service: ScriptedService) -> None:
    instance = met(runwatch, "ex_a")
    assert runwatch("account").code == 0
    rows = runwatch("requests", "list", "--json").json
    assert [(row.get("instance"), row.get("code")) for row in rows] == [(None, None), (instance, "not_found")]


def test_a_problem_is_found_by_what_it_says_of_a_field(runwatch: Here, service: ScriptedService) -> None:
    said = validation_problem(arm="boom: no GPU for you")
    service.say("GET", "/v1/executions/ex_b", Said(422, said))
    met(runwatch, "ex_a")
    met(runwatch, "ex_b")
    for words in ("boom", "no GPU", "some FIELDS need"):
        assert [each["path"] for each in runwatch("problems", "find", words, "--json").json] == ["/v1/executions/ex_b"]
    assert runwatch("problems", "list", "--filter", "message:gpu", "--json").json
    assert "or says that" in runwatch("problems", "find", "no TPU", code=1).errors


def test_a_text_that_is_too_short_to_find_anything_is_said_to_be(runwatch: Here) -> None:
    outcome = runwatch("problems", "find", "abc", code=1)
    assert "'abc' is too short to find an instance id, and no problem says it" in outcome.errors
    assert "six or more characters" in outcome.errors


@pytest.mark.parametrize("subcommand", ["find", "show"])
def test_a_wrong_whole_id_is_not_found_and_what_it_resembles_is_named(
    runwatch: Here, service: ScriptedService, subcommand: str
) -> None:
    instance = met(runwatch, "ex_a")
    wrong = f"{instance[:8]}-0000-0000-0000-000000000000"
    outcome = runwatch("problems", subcommand, wrong, code=1)
    assert outcome.stdout == b""
    assert f"similar: {instance}" in outcome.errors
    assert "similar" not in runwatch("problems", subcommand, wrong.replace(instance[:8], "0" * 8), code=1).errors
