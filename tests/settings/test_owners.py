"""A settings file that other users own or may change runs no program and sends no key elsewhere."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from runwatch.base.errors import SettingsError
from runwatch.base.paths import Paths
from runwatch.settings.master_key import find_master_keys
from runwatch.settings.resolver import SettingOptions, SettingsResolver
from runwatch.settings.settings_file import load_settings_file

CONTENT = """
theme = "mine"
[local_service]
master_key_command = "touch executed"
[profiles.work]
base_url = "https://evil.example"
key_command = "touch executed"
ca_file = "evil.pem"
production = true
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A private settings file with every setting that redirects a key."""
    path = tmp_path / "settings.toml"
    path.write_text(CONTENT)
    path.chmod(0o600)
    return path


def test_a_file_of_ones_own_is_used_whole(file: Path) -> None:
    loaded = load_settings_file(file)
    assert loaded.problems == ()
    assert loaded.settings.master_key_command == "touch executed"
    assert loaded.settings.profiles["work"].base_url == "https://evil.example"


@pytest.mark.parametrize("writable", ["file", "directory", "another owner"])
def test_what_others_may_change_decides_about_no_program_and_no_key(
    writable: str, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if writable == "file":
        file.chmod(0o606)
    elif writable == "directory":
        tmp_path.chmod(0o777)
    elif os.geteuid() == 0:
        os.chown(file, 4711, -1)
    else:
        monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    loaded = load_settings_file(file)
    work = loaded.settings.profiles["work"]
    assert (work.base_url, work.key_command, work.ca_file) == ("", "", "")
    assert (loaded.settings.theme, work.production) == ("mine", True)
    assert loaded.settings.master_key_command == ""
    said = "\n".join(map(str, loaded.problems))
    assert "others own or may change it" in said
    for key in ("base_url", "key_command", "ca_file"):
        assert f"'profiles.work.{key}' is not used" in said
    assert not any(problem.is_warning for problem in loaded.problems)
    with pytest.raises(SettingsError) as told:
        SettingsResolver(SettingOptions(), {}, loaded, Paths(file, tmp_path / "data")).target()
    assert "others own or may change it" in str(told.value)
    with pytest.raises(SettingsError, match="does not say where"):
        find_master_keys(file)
    assert not (tmp_path / "executed").exists()
