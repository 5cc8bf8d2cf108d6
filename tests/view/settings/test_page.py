"""The settings as rows: the value that holds, the place that won, and what may be written instead."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from runwatch.base.paths import Paths
from runwatch.settings.declarations import PROFILE_SETTINGS, SETTINGS
from runwatch.settings.resolver import SettingOptions, SettingsResolver
from runwatch.settings.setting import InvalidValueError
from runwatch.settings.settings_file import load_settings_file
from runwatch.view.settings.page import parse_edit, search_rows, settings_rows
from runwatch.view.settings.rows import KeyedAction, SettingsContext, SettingsRow, effect_text
from runwatch.view.text.glyphs import ASCII

FILE = """
theme = "runwatch-light"
thme = "x"
retries = 99

[filters]
mine = "is:live"

[profiles.work]
base_url = "https://api.example.com"
production = true
"""


ACTIONS = (
    KeyedAction("screen.copy", "y", "y", "Copy the main id.", "On this screen"),
    KeyedAction("screen.raw", "v", "v", "Show JSON.", "On this screen", refused="screen.raw: q belongs to app.quit"),
)


def rows(
    home: Path,
    text: str = FILE,
    *,
    options: SettingOptions | None = None,
    environment: Mapping[str, str] | None = None,
    around: SettingsContext | None = None,
) -> dict[str, SettingsRow]:
    paths = Paths(home / "settings.toml", home / "data")
    paths.settings_file.write_text(text, "utf-8")
    paths.settings_file.chmod(0o600)
    loaded = load_settings_file(paths.settings_file)
    resolver = SettingsResolver(options or SettingOptions(), environment or {}, loaded, paths)
    around = around or SettingsContext(
        themes={"runwatch-dark": "Dark", "runwatch-light": "Light"}, screens=("runs", "receipts"), actions=ACTIONS
    )
    return {row.key: row for row in settings_rows(resolver, loaded, around)}


def cells(row: SettingsRow) -> tuple[str, str, str]:
    key, value, source = (row.cells[name].text for name in ("key", "value", "source"))
    return str(key), str(value), str(source)


def about(row: SettingsRow) -> dict[str, str]:
    return {str(entry.label): str(entry.text) for entry in row.about}


def test_what_is_wrong_with_the_file_comes_first_with_its_line(tmp_path: Path) -> None:
    found = list(rows(tmp_path).values())
    assert [cells(row) for row in found[:2]] == [
        ("◷ line 3", "'thme' is not a setting", "file"),
        ("✗ line 4", "'retries' must be a whole number from 0 to 5", "file"),
    ]
    assert about(found[0]) == {
        "problem": "'thme' is not a setting", "place": f"{tmp_path / 'settings.toml'}:3", "nearest": "theme",
    }  # fmt: skip


def test_every_setting_has_a_row_and_so_has_every_setting_of_a_profile(tmp_path: Path) -> None:
    found = rows(tmp_path)
    assert [setting.key for setting in SETTINGS if not setting.is_table and setting.key not in found] == []
    assert [setting.key for setting in PROFILE_SETTINGS if f"profiles.work.{setting.key}" not in found] == []


def test_the_place_that_won_is_named(tmp_path: Path) -> None:
    found = rows(tmp_path, environment={"RUNWATCH_PROFILE": "work"})
    assert cells(found["theme"]) == ("theme", "runwatch-light", "file")
    assert about(found["theme"])["from"] == f"{tmp_path / 'settings.toml'}:2"
    assert cells(found["mouse"]) == ("mouse", "true", "default")
    assert cells(found["default_profile"]) == ("default_profile", "work", "environment")
    assert about(found["default_profile"])["note"] == "RUNWATCH_PROFILE wins over what the file says"


def test_what_a_flag_hides_is_what_editing_begins_with(tmp_path: Path) -> None:
    row = rows(tmp_path, options=SettingOptions(theme="runwatch-dark"))["theme"]
    assert cells(row) == ("theme", "runwatch-dark", "flag")
    assert row.text == "runwatch-light"


def test_a_profile_shows_its_address_and_the_source_of_its_key(tmp_path: Path) -> None:
    found = rows(tmp_path, around=SettingsContext("work", "https://api.example.com", {"work": "keyring"}))
    assert cells(found["profile work"]) == ("profile work   in use", "https://api.example.com", "keyring")
    assert "profile local" not in found
    long = SettingsContext("w" * 20, "https://api.example.com")
    assert cells(rows(tmp_path, "", around=long)[f"profile {'w' * 20}"])[0] == f"profile {'w' * 20}", (
        "no part of the words"
    )
    assert cells(found["profiles.work.production"]) == ("  production", "true", "profile")


def test_what_is_in_use_without_a_profile_has_a_row_too(tmp_path: Path) -> None:
    found = rows(tmp_path, "", around=SettingsContext("local", "http://127.0.0.1:1", {"local": "local service"}))
    assert cells(found["profile local"]) == ("profile local   in use", "http://127.0.0.1:1", "local service")


def test_ascii_glyphs_keep_to_ascii(tmp_path: Path) -> None:
    found = rows(tmp_path, around=SettingsContext(glyphs=ASCII))
    for row in found.values():
        assert "".join(cells(row)).isascii(), row.key


@pytest.mark.parametrize(
    ("key", "text", "written"),
    [
        ("theme", "runwatch-dark", ("theme", "runwatch-dark")),
        ("theme", " ", ("theme", None)),
        ("mouse", "false", ("mouse", "false")),
        ("retries", "3", ("retries", "3")),
        ("filters.mine", "is:final", ("filters.mine", "is:final")),
        ("+ filters", "late = age>1h | is:problem", ("filters.late", "age>1h | is:problem")),
        ("keys.screen.copy", "ctrl+y", ("keys.screen.copy", "ctrl+y")),
        ("columns.runs", "status id", ("columns.runs", "status id")),
        ("+ profiles", "eu = https://eu.example.com", ("profiles.eu.base_url", "https://eu.example.com")),
        ("profiles.work.colour", "green", ("profiles.work.colour", "green")),
    ],
)
def test_what_is_typed_becomes_a_key_and_a_value(
    tmp_path: Path, key: str, text: str, written: tuple[str, str | None]
) -> None:
    assert parse_edit(rows(tmp_path)[key], text) == written


@pytest.mark.parametrize(
    ("key", "text", "reason"),
    [
        ("theme", "nope", "must be one of runwatch-dark, runwatch-light"),
        ("mouse", "maybe", "must be true or false"),
        ("retries", "99", "must be a whole number from 0 to 5"),
        ("home_screen", "nowhere", "must be one of runs, receipts"),
        ("+ filters", "late", "must be NAME = FILTER"),
        ("+ profiles", "local = https://eu.example.com", "must begin with a name"),
        ("+ profiles", "eu = http://eu.example.com", "must be an https address"),
    ],
)
def test_what_does_not_fit_is_refused_with_the_reason(tmp_path: Path, key: str, text: str, reason: str) -> None:
    with pytest.raises(InvalidValueError, match=reason):
        parse_edit(rows(tmp_path)[key], text)


def test_a_refusal_never_repeats_what_was_typed(tmp_path: Path) -> None:
    with pytest.raises(InvalidValueError) as caught:
        parse_edit(rows(tmp_path)["profiles.work.base_url"], "https://user:sentinel@example.com")
    assert "sentinel" not in str(caught.value)


def test_every_action_has_a_row_with_its_keys(tmp_path: Path) -> None:
    found = rows(tmp_path, '[keys]\n"screen.copy" = "ctrl+y"\n"screen.raw" = "q"\n"screen.cpoy" = "x"\n')
    assert cells(found["keys.screen.copy"]) == ("keys.screen.copy", f"{'y'.ljust(15)}  Copy the main id.", "file")
    assert found["keys.screen.copy"].text == "ctrl+y"
    assert cells(found["keys.screen.raw"])[1].endswith("screen.raw: q belongs to app.quit")
    assert about(found["keys.screen.raw"])["refused"] == "screen.raw: q belongs to app.quit"
    assert about(found["keys.screen.cpoy"])["wrong"] == "no action has this id"
    assert found["keys.screen.cpoy"].removes == "keys.screen.cpoy"


def test_every_list_has_a_row_with_its_columns(tmp_path: Path) -> None:
    found = rows(
        tmp_path, '[columns]\nruns = ["status", "id"]\nreceipts = ["stauts", "id", "created_at"]\nrnus = ["id"]\n'
    )
    assert cells(found["columns.runs"]) == ("columns.runs", "status id", "file")
    assert found["columns.runs"].removes == "columns.runs"
    assert "now" not in about(found["columns.runs"])
    assert about(found["columns.receipts"])["now"] == "stauts id created_at"
    assert about(found["columns.receipts"])["wrong"] == (
        "columns.receipts names no column of receipts: 'stauts' (did you mean status?)"
    )
    assert about(found["columns.rnus"])["wrong"] == "names no list"
    assert cells(found["columns.arms"])[2] == "default"
    assert found["columns.arms"].text.split()[0] in about(found["columns.arms"])["names"].split()
    assert found["columns.arms"].removes == ""


@pytest.mark.parametrize(
    ("text", "label", "told"),
    [
        ("is:live", "works on", "runs"),
        ("failed", "works on", "every list"),
        ("is:nothing", "wrong", "nothing"),
        (":mine", "wrong", "mine"),
        ("a |", "wrong", "nothing after |"),
    ],
)
def test_a_named_filter_says_where_it_works_or_what_is_wrong_with_it(
    tmp_path: Path, text: str, label: str, told: str
) -> None:
    row = rows(tmp_path, f'[filters]\nmine = "{text}"\n')["filters.mine"]
    assert told in about(row)[label]


def test_only_what_is_in_the_file_can_be_taken_out_of_it(tmp_path: Path) -> None:
    found = rows(tmp_path)
    assert {row.removes for row in found.values() if row.removes} == {
        "theme", "filters.mine", "profiles.work", "profiles.work.base_url", "profiles.work.production",
    }  # fmt: skip


def test_the_profile_in_use_cannot_be_taken_out_of_the_file(tmp_path: Path) -> None:
    assert rows(tmp_path, around=SettingsContext("work"))["profile work"].removes == ""


def test_the_parts_follow_each_other_below_their_headings(tmp_path: Path) -> None:
    headings = [key for key, row in rows(tmp_path).items() if row.is_heading]
    assert headings == ["part Console", "part Profiles", "part Named filters", "part Columns", "part Keys"]


def test_rows_are_found_by_every_word_below_their_headings(tmp_path: Path) -> None:
    every = list(rows(tmp_path).values())
    assert search_rows(every, "  ") == every
    assert [row.key for row in search_rows(every, "COPY main")] == ["part Keys", "keys.screen.copy"]
    assert [row.key for row in search_rows(every, "destructive work")] == ["part Profiles", "profiles.work.production"]
    assert search_rows(every, "thme")[0].key == "problem 0"
    assert search_rows(every, "nothing holds this") == []


def test_it_says_what_waits_for_a_new_start(tmp_path: Path) -> None:
    found = rows(tmp_path)
    assert about(found["theme"])["holds"] == "at once"
    assert about(found["filters.mine"])["holds"] == "at once"
    assert about(found["glyphs"])["holds"] == "from the next start"
    assert about(found["profiles.work.base_url"])["holds"] == "when the profile is opened next"


@pytest.mark.parametrize(
    ("key", "when"),
    [
        ("desktop_notice", "at once"),
        ("keys.screen.copy", "at once"),
        ("profiles.work.colour", "at once"),
        ("profiles.work.production", "when the profile is opened next"),
        ("refresh.runs_s", "from the next start"),
        ("local_service.master_key_store", "from the next start of the local service"),
    ],
)
def test_each_setting_says_when_it_holds(key: str, when: str) -> None:
    assert effect_text(key) == when
