"""Every setting is declared once, and what it takes is what it says."""

from __future__ import annotations

from typing import Any

import pytest

from runwatch.settings.declarations import (
    PROFILE_SETTINGS,
    SETTINGS,
    Profile,
    Settings,
    find_closest_key,
    find_setting,
    is_profile_name,
    is_secret_key,
    split_key,
)
from runwatch.settings.resolver import SettingOptions
from runwatch.settings.setting import InvalidValueError, Setting

ALL = [*SETTINGS, *PROFILE_SETTINGS]


@pytest.mark.parametrize("setting", ALL, ids=lambda setting: setting.key)
def test_a_setting_has_one_sentence_and_takes_its_own_default(setting: Setting[Any]) -> None:
    assert setting.doc.endswith(".")
    assert "\n" not in setting.doc
    if setting.default != "":
        assert setting.read(setting.default) == setting.default


@pytest.mark.parametrize("setting", ALL, ids=lambda setting: setting.key)
def test_nothing_a_setting_does_not_take_is_repeated(setting: Setting[Any]) -> None:
    with pytest.raises(InvalidValueError) as caught:
        setting.read({"canary": ["canary"]} if not setting.is_table else "canary\x1b")
    assert "canary" not in str(caught.value)
    assert setting.takes in str(caught.value)


@pytest.mark.parametrize("setting", [setting for setting in ALL if setting.flag], ids=lambda setting: setting.key)
def test_a_flag_of_a_setting_is_an_option(setting: Setting[Any]) -> None:
    assert setting.flag.removeprefix("--").replace("-", "_") in SettingOptions._fields


@pytest.mark.parametrize(
    ("key", "typed", "value"),
    [
        ("mouse", "false", False),
        ("mouse", " TRUE ", True),
        ("retries", "0", 0),
        ("refresh.runs_s", "7", 7.0),
        ("refresh.tail_s", "0.5", 0.5),
        ("glyphs", "ascii", "ascii"),
        ("theme", " runwatch-light ", "runwatch-light"),
        ("filters.mine", "is:live age<10m", "is:live age<10m"),
        ("columns.runs", "status, id  cost", ["status", "id", "cost"]),
        ("keys.app.quit", "ctrl+q", "ctrl+q"),
        ("profiles.work.base_url", "https://API.example.com/v1", "https://api.example.com"),
        ("profiles.work.production", "true", True),
        ("profiles.work.key_command", "pass show 'my key'", "pass show 'my key'"),
    ],
)
def test_what_the_user_types_is_read(key: str, typed: str, value: object) -> None:
    setting = find_setting(key)
    assert setting is not None
    assert setting.parse(typed) == value


@pytest.mark.parametrize(
    ("key", "typed"),
    [
        ("mouse", "yes"),
        ("retries", "-1"),
        ("retries", "6"),
        ("retries", "1.5"),
        ("retries", "many"),
        ("retries", "9" * 5000),
        ("refresh.runs_s", "0"),
        ("refresh.runs_s", "16"),
        ("refresh.runs_s", "nan"),
        ("glyphs", "emoji"),
        ("glyphs", ""),
        ("theme", "../../etc/passwd"),
        ("default_profile", "two words"),
        ("filters.mine", "a\x1bb"),
        ("columns.runs", " , "),
        ("columns.runs", "id id"),
        ("columns.runs", "a\x1bb"),
        ("profiles.work.base_url", "http://example.com"),
        ("profiles.work.key_command", "pass show 'my key"),
        ("profiles.work.key_command", " "),
        ("profiles.work.colour", "beige"),
    ],
)
def test_what_a_setting_does_not_take_is_refused(key: str, typed: str) -> None:
    setting = find_setting(key)
    assert setting is not None
    with pytest.raises(InvalidValueError):
        setting.parse(typed)


@pytest.mark.parametrize("value", [True, "1", 1.0, None])
def test_a_whole_number_is_nothing_else(value: object) -> None:
    with pytest.raises(InvalidValueError):
        Settings.retries.read(value)


def test_a_group_gives_what_was_chosen_and_defaults_for_the_rest() -> None:
    settings = Settings({"retries": 0}, {"work": Profile("work", {"production": True})})
    assert (settings.retries, settings.mouse, settings.filters) == (0, True, {})
    assert settings.profiles["work"].production is True
    assert settings.profiles["work"].read_only is False


def test_settings_are_frozen() -> None:
    with pytest.raises(AttributeError, match="frozen"):
        Settings().retries = 1


@pytest.mark.parametrize("name", ["work", "prod-eu", "a", "9", "A_b-1", "x" * 64])
def test_names_of_profiles(name: str) -> None:
    assert is_profile_name(name)


@pytest.mark.parametrize(
    "name", ["", "local", "environment", "unnamed", "-a", "a b", "a.b", "a/b", "é", "x" * 65, "a\n", "../a"]
)
def test_no_names_of_profiles(name: str) -> None:
    assert not is_profile_name(name)


@pytest.mark.parametrize(
    ("key", "near"),
    [
        ("them", "theme"),
        ("refresh.run_s", "refresh.runs_s"),
        ("profiles.work.baseurl", "profiles.work.base_url"),
        ("profile.work.base_url", "profiles.NAME.base_url"),
        ("zzzzzz", ""),
        ("profiles.work.zzzzzz", ""),
    ],
)
def test_an_unknown_key_has_a_nearest_one(key: str, near: str) -> None:
    assert find_setting(key) is None
    assert find_closest_key(key) == near


def test_names_in_tables_of_texts_may_hold_dots() -> None:
    assert split_key("keys.app.quit") == ("keys", "app.quit")
    assert split_key("profiles.work.base_url") == ("profiles", "work", "base_url")
    assert find_setting("keys.") is None
    assert find_setting("profiles.local.base_url") is None


def test_a_table_of_texts_is_distinguished_from_its_entries() -> None:
    filters = find_setting("filters")
    entry = find_setting("filters.mine")
    assert filters is not None
    assert filters.is_table
    assert entry is not None
    assert not entry.is_table


@pytest.mark.parametrize("key", ["api_key", "profiles.work.API-KEY", "token", "profiles.work.password"])
def test_names_under_which_people_write_keys(key: str) -> None:
    assert is_secret_key(key)


@pytest.mark.parametrize("setting", ALL, ids=lambda setting: setting.key)
def test_no_setting_of_ours_looks_like_a_key(setting: Setting[Any]) -> None:
    assert not is_secret_key(setting.key)
