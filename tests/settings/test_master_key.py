"""Where the master key is found, made and changed, and what is refused."""

from __future__ import annotations

import os
import shlex
import stat
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType

import pytest

from runwatch.base.errors import SettingsError
from runwatch.base.secrets.sealing import MasterKeys
from runwatch.settings.master_key import KEYRING_NAME, add_master_key, find_master_keys, master_key_file
from runwatch.settings.settings_file import write_setting
from tests.support.master_keys import MASTER_KEYS

OTHER = MasterKeys.new()


@pytest.fixture
def settings_file(tmp_path: Path) -> Path:
    return tmp_path / "config" / "settings.toml"


@pytest.fixture
def keyring(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """What a working keyring holds, by name."""
    kept: dict[str, str] = {}
    module = ModuleType("keyring")
    module.get_password = lambda _, name: kept.get(name)  # type: ignore[attr-defined]
    module.set_password = lambda _, name, value: kept.update({name: value})  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "keyring", module)
    return kept


def said(error: SettingsError) -> str:
    """Everything that a user sees of an error."""
    return f"{error} {error.hint}"


def prints(text: str) -> str:
    return shlex.join([sys.executable, "-c", f"print({text!r})"])


class TestFile:
    def test_the_first_call_makes_a_private_file_beside_the_settings_and_the_next_finds_it(
        self, settings_file: Path
    ) -> None:
        made = find_master_keys(settings_file)
        file = settings_file.parent / "master.key"
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
        assert find_master_keys(settings_file) == made
        assert file.read_text().startswith("# ")

    def test_two_that_make_one_at_the_same_time_end_with_the_same(self, settings_file: Path) -> None:
        with ThreadPoolExecutor(8) as pool:
            found = list(pool.map(lambda _: find_master_keys(settings_file), range(8)))
        assert all(keys == found[0] for keys in found)

    def test_a_new_key_comes_first_and_the_others_stay(self, settings_file: Path) -> None:
        first = find_master_keys(settings_file)
        rotated = add_master_key(settings_file)
        assert rotated.keys[1:] == first.keys
        assert find_master_keys(settings_file) == rotated
        assert stat.S_IMODE(master_key_file(settings_file).stat().st_mode) == 0o600

    @pytest.mark.parametrize("mode", [0o640, 0o604, 0o620])
    def test_a_file_that_others_may_open_is_refused(self, mode: int, settings_file: Path) -> None:
        find_master_keys(settings_file)
        file = master_key_file(settings_file)
        file.chmod(mode)
        with pytest.raises(SettingsError, match="not private") as told:
            find_master_keys(settings_file)
        assert f"chmod 600 {file}" in said(told.value) or f"chmod go-w {file}" in said(told.value)

    def test_a_file_of_another_user_is_refused(self, settings_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        find_master_keys(settings_file)
        monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
        with pytest.raises(SettingsError, match="belongs to another user"):
            find_master_keys(settings_file)

    def test_a_directory_that_others_may_change_is_refused(self, settings_file: Path) -> None:
        find_master_keys(settings_file)
        settings_file.parent.chmod(0o777)
        with pytest.raises(SettingsError, match="may be changed by every user"):
            find_master_keys(settings_file)

    @pytest.mark.parametrize("content", [b"", b"canary\n", b"\xff" * 40, b"x" * 100_000])
    def test_a_damaged_file_is_an_error_that_repeats_nothing_of_it_and_leaves_it(
        self, content: bytes, settings_file: Path
    ) -> None:
        file = master_key_file(settings_file)
        file.parent.mkdir(mode=0o700)
        file.write_bytes(content)
        file.chmod(0o600)
        with pytest.raises(SettingsError) as told:
            find_master_keys(settings_file)
        assert "canary" not in said(told.value)
        assert file.read_bytes() == content

    def test_a_pipe_in_its_place_is_refused_at_once(self, settings_file: Path) -> None:
        settings_file.parent.mkdir(mode=0o700)
        os.mkfifo(master_key_file(settings_file), 0o600)
        with pytest.raises(SettingsError, match="not a regular file"):
            find_master_keys(settings_file)

    def test_a_place_that_cannot_be_written_is_an_error_that_says_why(self, tmp_path: Path) -> None:
        (tmp_path / ".master.key.lock").mkdir()
        with pytest.raises(SettingsError, match=r"cannot be written: .*Is a directory") as told:
            find_master_keys(tmp_path / "settings.toml")
        assert str(tmp_path / "master.key") in str(told.value)


class TestCommand:
    def test_what_the_command_prints_is_the_key(self, settings_file: Path) -> None:
        write_setting(settings_file, "local_service.master_key_command", prints(f"{OTHER.text}{MASTER_KEYS.text}"))
        assert find_master_keys(settings_file).keys == (*OTHER.keys, *MASTER_KEYS.keys)
        assert not master_key_file(settings_file).exists()

    def test_a_command_that_prints_no_key_is_an_error_that_repeats_nothing(self, settings_file: Path) -> None:
        write_setting(settings_file, "local_service.master_key_command", prints("canary"))
        with pytest.raises(SettingsError, match="does not print a master key") as told:
            find_master_keys(settings_file)
        assert "canary" not in said(told.value)
        assert "base64" in said(told.value)

    def test_a_command_that_fails_makes_no_other_key(self, settings_file: Path) -> None:
        write_setting(settings_file, "local_service.master_key_command", "/nowhere/print-key")
        with pytest.raises(SettingsError, match="cannot be started"):
            find_master_keys(settings_file)
        assert not master_key_file(settings_file).exists()

    def test_its_keys_are_not_rotated_here(self, settings_file: Path) -> None:
        write_setting(settings_file, "local_service.master_key_command", prints(OTHER.text))
        with pytest.raises(SettingsError, match="comes from a command") as told:
            add_master_key(settings_file)
        assert "first line" in said(told.value)


class TestKeyring:
    def test_the_keyring_keeps_it_where_the_settings_say_so(self, settings_file: Path, keyring: dict[str, str]) -> None:
        write_setting(settings_file, "local_service.master_key_store", "keyring")
        made = find_master_keys(settings_file)
        assert keyring == {KEYRING_NAME: made.text}
        assert find_master_keys(settings_file) == made
        assert add_master_key(settings_file).keys[1:] == made.keys
        assert not master_key_file(settings_file).exists()

    def test_a_keyring_that_gives_nothing_is_an_error_and_makes_no_other_key(
        self, settings_file: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        write_setting(settings_file, "local_service.master_key_store", "keyring")
        monkeypatch.setitem(sys.modules, "keyring", None)
        with pytest.raises(SettingsError, match="keyring does not give") as told:
            find_master_keys(settings_file)
        assert "-m pip install 'keyring" in said(told.value)
        assert not master_key_file(settings_file).exists()

    def test_an_entry_that_is_no_key_stays_as_it_is(self, settings_file: Path, keyring: dict[str, str]) -> None:
        write_setting(settings_file, "local_service.master_key_store", "keyring")
        keyring[KEYRING_NAME] = "canary"
        with pytest.raises(SettingsError, match="not a master key") as told:
            find_master_keys(settings_file)
        assert keyring == {KEYRING_NAME: "canary"}
        assert "canary" not in said(told.value)


@pytest.mark.parametrize(
    "content",
    [
        "= 3", "local_service = 3\n", '[local_service]\nmaster_key_store = "cloud"\n',
        "[local_service]\nmaster_key_command = 3\n",
    ],
)  # fmt: skip
def test_settings_that_leave_the_place_open_stop_the_search(content: str, settings_file: Path) -> None:
    settings_file.parent.mkdir(mode=0o700)
    settings_file.write_text(content)
    settings_file.chmod(0o600)
    with pytest.raises(SettingsError, match="does not say where") as told:
        find_master_keys(settings_file)
    assert "config validate" in said(told.value)
    assert [entry.name for entry in settings_file.parent.iterdir()] == ["settings.toml"]
