"""``config``: where the settings are, what holds, changing it, keys."""

from __future__ import annotations

import json

import pytest

from runwatch.base.text import is_clean
from tests.commands.here import Here
from tests.support.hostile import CORPUS, Hostile

KEY = "solverapi_test_0123456789"

CONTROLS = [hostile for hostile in CORPUS if hostile.name in {"OSC 52 clipboard, BEL", "CSI 8-bit clear", "bidi RLO"}]
"""A few entries that a path can hold."""


def test_path_is_the_settings_file_alone_for_an_editor(runwatch: Here) -> None:
    assert runwatch("config", "path").text == f"{runwatch.settings_file}\n"
    places = runwatch("config", "path", "--json").json
    assert places["settings_file"] == str(runwatch.settings_file)
    assert set(places) == {"settings_file", "data_dir", "log_file", "local_service_dir"}


def test_show_names_the_place_that_won(runwatch: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    runwatch.settings_file.write_text('retries = 1\n[profiles.work]\nbase_url = "https://work.example"\n')
    monkeypatch.setenv("RUNWATCH_PROFILE", "work")
    rows = {row["key"]: row for row in runwatch("config", "show", "--read-only", "--json").json}
    assert (rows["retries"]["value"], rows["retries"]["source"]) == (1, "file")
    assert rows["retries"]["where"].endswith("settings.toml:1")
    assert (rows["default_profile"]["value"], rows["default_profile"]["source"]) == ("work", "environment")
    assert (rows["read_only"]["value"], rows["read_only"]["source"]) == (True, "flag")
    assert (rows["base_url"]["value"], rows["base_url"]["source"]) == ("https://work.example", "profile")
    assert rows["theme"]["source"] == "default"


@pytest.mark.parametrize("form", ["table", "ndjson", "csv"])
def test_show_prints_one_setting_a_line(runwatch: Here, form: str) -> None:
    lines = runwatch("config", "show", "--format", form).text.splitlines()
    assert any("retries" in line and "2" in line and "default" in line for line in lines)
    assert len(lines) > 10


def test_get_prints_the_value_alone(runwatch: Here) -> None:
    assert runwatch("config", "get", "retries").text == "2\n"
    assert runwatch("config", "get", "retries", "--json").json == [
        {"key": "retries", "value": 2, "source": "default", "where": ""}
    ]


def test_get_of_a_table_prints_its_settings(runwatch: Here) -> None:
    runwatch.settings_file.write_text('[profiles.work]\nbase_url = "https://work.example"\nproduction = true\n')
    lines = runwatch("config", "get", "profiles.work").text.splitlines()
    assert [line.split()[0] for line in lines] == ["profiles.work.base_url", "profiles.work.production"]


def test_get_tells_unset_from_unknown(runwatch: Here) -> None:
    unset = runwatch("config", "get", "profiles.work.base_url")
    assert (unset.code, "not set" in unset.errors) == (1, True)
    unknown = runwatch("config", "get", "retrys")
    assert (unknown.code, "'retries'" in unknown.errors) == (2, True)


def test_set_and_unset_keep_what_the_user_wrote(runwatch: Here) -> None:
    runwatch.settings_file.write_text("# mine\nretries = 1  # few\n")
    assert runwatch("config", "set", "profiles.work.base_url", "https://work.example/v1").code == 0
    assert runwatch("config", "set", "retries", "3").code == 0
    text = runwatch.settings_file.read_text()
    assert "# mine" in text
    assert "retries = 3  # few" in text
    assert runwatch("config", "get", "profiles.work.base_url").text == "https://work.example\n"
    assert runwatch("config", "unset", "retries").code == 0
    assert runwatch("config", "unset", "retries").code == 2


def test_set_refuses_what_a_setting_does_not_take(runwatch: Here) -> None:
    for name, value in (("retries", "many"), ("retrys", "1"), ("api_key", KEY)):
        outcome = runwatch("config", "set", name, value, code=2)
        assert KEY not in outcome.errors
    assert not runwatch.settings_file.exists()


def test_validate_names_line_and_key_and_the_nearest(runwatch: Here) -> None:
    assert "no settings file" in runwatch("config", "validate").errors
    runwatch.settings_file.write_text('retries = "many"\nthem = "x"\n')
    runwatch.settings_file.chmod(0o600)
    outcome = runwatch("config", "validate", "--json", code=2)
    assert [(row["key"], row["nearest"]) for row in outcome.json] == [("retries", ""), ("them", "theme")]
    assert [row["place"].rpartition(":")[2] for row in outcome.json] == ["1", "2"]
    assert "retries" in runwatch("config", "validate").text
    runwatch.settings_file.write_text("retries = 1\n")
    fine = runwatch("config", "validate")
    assert (fine.code, fine.stdout) == (0, b"")


def test_validate_names_filters_and_columns_that_no_list_has(runwatch: Here) -> None:
    runwatch.settings_file.write_text(
        '[filters]\nmine = "is:live"\nbad = "is:nothing"\n[columns]\nruns = ["status", "stauts"]\nrnus = ["id"]\n'
    )
    runwatch.settings_file.chmod(0o600)
    outcome = runwatch("config", "validate", "--json", code=0)
    assert [(row["place"].rpartition(":")[2], row["level"], row["key"]) for row in outcome.json] == [
        ("3", "warning", "filters.bad"), ("5", "warning", "columns.runs"), ("6", "warning", "columns.rnus"),
    ]  # fmt: skip
    assert "did you mean status?" in outcome.json[1]["message"]


def test_columns_are_set_and_shown_like_any_setting(runwatch: Here) -> None:
    assert runwatch("config", "set", "columns.runs", "status, run").code == 0
    assert runwatch("config", "get", "columns.runs", "--json").json[0]["value"] == ["status", "run"]
    assert "status" in runwatch("config", "get", "columns.runs").text
    assert runwatch("config", "unset", "columns.runs").code == 0
    assert runwatch("config", "set", "columns.runs", "run run").code == 2


def test_a_broken_file_is_a_warning_once_and_stops_no_verb(runwatch: Here) -> None:
    runwatch.settings_file.write_text("retries = \n")
    outcome = runwatch("config", "get", "retries", "--json")
    assert outcome.json[0]["value"] == 2
    (warning,) = outcome.errors.splitlines()
    assert "settings.toml:1" in json.loads(warning)["warning"]


def test_a_key_comes_from_standard_input_and_is_shown_nowhere(runwatch: Here) -> None:
    assert runwatch("config", "set", "profiles.work.base_url", "https://work.example").code == 0
    outcome = runwatch("config", "key", "set", "work", stdin=f"{KEY}\n".encode())
    assert (outcome.code, outcome.stdout) == (0, b"")
    assert "for https://work.example alone" in outcome.errors
    for words in (("config", "show"), ("config", "get", "profiles.work"), ("doctor", "--profile", "work")):
        shown = runwatch(*words)
        assert KEY not in shown.text + shown.errors
    assert KEY not in runwatch.settings_file.read_text()
    assert "removed from the key file" in runwatch("config", "key", "forget", "work").errors
    assert "no key was stored" in runwatch("config", "key", "forget", "work").errors


def test_a_key_needs_a_profile_and_a_content(runwatch: Here) -> None:
    assert runwatch("config", "set", "profiles.work.base_url", "https://work.example").code == 0
    unknown = runwatch("config", "key", "set", "wrok", stdin=KEY.encode())
    assert (unknown.code, "'work'" in unknown.errors) == (2, True)
    assert runwatch("config", "key", "set", "work", stdin=b"\n").code == 2
    two = runwatch("config", "key", "set", "work", stdin=f"{KEY} {KEY}".encode(), code=2)
    assert KEY not in two.errors


def test_the_header_is_printed_into_a_pipe_for_the_address_of_the_profile_alone(runwatch: Here) -> None:
    runwatch.settings_file.write_text('[profiles.work]\nbase_url = "https://work.example"\n')
    assert runwatch("config", "key", "set", "work", stdin=KEY.encode()).code == 0
    words = ("config", "header", "--profile", "work")
    assert runwatch(*words).stdout == f"Authorization: Bearer {KEY}\n".encode()
    assert runwatch(*words, "--base-url", "https://work.example").stdout == f"Authorization: Bearer {KEY}\n".encode()
    refused = runwatch(*words, "--base-url", "https://evil.example")
    assert (refused.code, refused.stdout) == (2, b"")
    assert "serves only its own address" in refused.errors
    assert KEY not in refused.errors


def test_the_header_is_not_printed_on_a_terminal_unless_it_is_asked_for(
    runwatch: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    runwatch.use("https://work.example", KEY)
    monkeypatch.setattr("runwatch.commands.config._is_terminal", lambda: True)
    refused = runwatch("config", "header")
    assert (refused.code, refused.stdout) == (2, b"")
    assert "standard output is a terminal" in refused.errors
    assert KEY not in refused.errors
    assert runwatch("config", "header", "--show").stdout == f"Authorization: Bearer {KEY}\n".encode()


def test_without_a_key_there_is_no_header(runwatch: Here) -> None:
    runwatch.settings_file.write_text('[profiles.work]\nbase_url = "https://work.example"\n')
    outcome = runwatch("config", "header", "--profile", "work")
    assert (outcome.code, outcome.stdout) == (2, b"")
    assert "runwatch config key set work" in outcome.errors
    assert runwatch("config", "header", "--base-url", "https://work.example").code == 2


@pytest.mark.parametrize("hostile", CONTROLS, ids=lambda hostile: hostile.name)
def test_path_writes_nothing_that_a_terminal_acts_on(
    runwatch: Here, monkeypatch: pytest.MonkeyPatch, hostile: Hostile
) -> None:
    monkeypatch.setenv("RUNWATCH_CONFIG", f"/tmp/{hostile.text}/settings.toml")
    for words in (("config", "path"), ("config", "path", "--json"), ("config", "path", "--format", "csv")):
        outcome = runwatch(*words, code=0)
        assert is_clean(outcome.text)
        assert is_clean(outcome.errors)


@pytest.mark.parametrize(
    ("key", "value", "told"),
    [
        ("theme", "runwatch-drak", "did you mean 'runwatch-dark'?"),
        ("theme", "drak", "did you mean 'runwatch-dark'?"),
        ("home_screen", "rnus", "did you mean 'runs'?"),
        ("default_profile", "work", "config set profiles.work.base_url https://HOST"),
        ("keys.screen.refersh", "r", "did you mean screen.refresh?"),
        ("keys.screen.refresh", "ctrl+zz", "did you mean ctrl+z?"),
        ("keys.screen.refresh", "q", "q belongs to app.quit"),
        ("filters.bad", "stauts=failed", "there is no field 'stauts'"),
        ("columns.runs", "status, stauts", "did you mean status?"),
        ("columns.rnus", "status", "did you mean 'runs'?"),
        ("commands.jq.kinds", "runs rnus", "did you mean 'runs'?"),
        ("commands.jq.key", "q", "q belongs to app.quit"),
        ("commands.jq.run", "jq {idd}", "did you mean {id}?"),
        ("commands.jq.quetsion", "Sure?", "Did you mean 'commands.jq.question'?"),
    ],
)
def test_a_value_that_names_nothing_is_not_written(key: str, value: str, told: str, runwatch: Here) -> None:
    outcome = runwatch("config", "set", key, value, code=2)
    assert told in outcome.errors
    assert not runwatch.settings_file.exists()


def test_values_that_name_something_are_written(runwatch: Here) -> None:
    for key, value in (
        ("theme", "runwatch-light"), ("home_screen", "overview"), ("keys.screen.refresh", "f6 f9"),
        ("profiles.work.base_url", "https://work.example"), ("default_profile", "work"), ("filters.mine", "is:live"),
        ("columns.receipts", "status, totals.usd"), ("commands.jq.run", "jq '.a | .b'"), ("commands.jq.key", "f7"),
        ("commands.jq.kinds", "run, receipts"),
    ):  # fmt: skip
        assert runwatch("config", "set", key, value).errors == ""
    assert runwatch("config", "validate", "--json").json == []


def test_validate_names_every_mistake_of_an_own_command(runwatch: Here) -> None:
    runwatch.settings_file.write_text('[commands.one]\nrun = "echo hi"\nkey = "q"\n')
    runwatch.settings_file.chmod(0o600)
    rows = runwatch("config", "validate", "--json").json
    assert [row["key"] for row in rows] == ["commands.one.run", "commands.one.key"]
    assert "commands.one.run" in runwatch("config", "show").errors
    assert "commands" not in runwatch("requests", "list").errors


def test_validate_knows_themes_screens_and_keys(runwatch: Here) -> None:
    runwatch.settings_file.write_text('theme = "runwatch-drak"\nhome_screen = "rnus"\n[keys]\n"list.open" = "o2"\n')
    runwatch.settings_file.chmod(0o600)
    rows = runwatch("config", "validate", "--json").json
    assert [(row["place"].rpartition(":")[2], row["key"], row["nearest"]) for row in rows] == [
        ("1", "theme", "runwatch-dark"), ("2", "home_screen", "runs"), ("4", "keys.list.open", ""),
    ]  # fmt: skip
