"""Where keys come from, to whom they go, and that nobody sees them."""

from __future__ import annotations

import json
import os
import shlex
import stat
import subprocess
import sys
import threading
import tomllib
import traceback
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from runwatch.base import log
from runwatch.base.errors import SettingsError
from runwatch.base.secrets.secret import Secret
from runwatch.settings.declarations import Profile
from runwatch.settings.key_command import run_key_command
from runwatch.settings.key_sources import FoundKey, environment_key, forget_key, profile_key, store_key
from runwatch.settings.key_store import KeyFile, StoredKey, SystemKeyring

KEY = "rw_canary_0123456789"
WORK = "https://work.example"


@pytest.fixture(autouse=True)
def _no_known_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log, "_known", ())


@pytest.fixture(autouse=True)
def _no_keyring(monkeypatch: pytest.MonkeyPatch) -> None:
    """By default the optional package is not installed; ``None`` makes its import fail."""
    monkeypatch.setitem(sys.modules, "keyring", None)


@pytest.fixture
def key_file(tmp_path: Path) -> Path:
    return tmp_path / "data" / "keys.toml"


class FakeKeyring(ModuleType):
    def __init__(self) -> None:
        super().__init__("keyring")
        self.kept: dict[tuple[str, str], str] = {}

    def get_password(self, service: str, name: str) -> str | None:
        return self.kept.get((service, name))

    def set_password(self, service: str, name: str, value: str) -> None:
        self.kept[service, name] = value

    def delete_password(self, service: str, name: str) -> None:
        del self.kept[service, name]


@pytest.fixture
def keyring(monkeypatch: pytest.MonkeyPatch) -> FakeKeyring:
    fake = FakeKeyring()
    monkeypatch.setitem(sys.modules, "keyring", fake)
    return fake


def profile(**chosen: str) -> Profile:
    return Profile("work", {"base_url": WORK, **chosen})


def python(code: str) -> str:
    return shlex.join([sys.executable, "-c", code])


def found(key: FoundKey | None) -> tuple[str, str] | None:
    return None if key is None else (key.key.reveal(), key.source)


def said(error: SettingsError) -> str:
    return f"{error} {error.hint} {''.join(traceback.format_exception(error))}"


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_the_environments_key_is_trimmed_and_known_to_the_log() -> None:
    key = environment_key({"RUNWATCH_API_KEY": f" {KEY}\n"})
    assert found(key) == (KEY, "environment RUNWATCH_API_KEY")
    assert log.redact(f"Bearer {KEY}") == "Bearer [redacted]"
    assert KEY not in repr(key)


@pytest.mark.parametrize("environment", [{}, {"RUNWATCH_API_KEY": ""}, {"RUNWATCH_API_KEY": " \n"}])
def test_no_key_in_the_environment(environment: dict[str, str]) -> None:
    assert environment_key(environment) is None


@pytest.mark.parametrize("value", [f"{KEY}\r\nX-Evil: 1", f"{KEY} two", f"{KEY}é", f"{KEY}\udcff", KEY * 500])
def test_what_cannot_be_a_key_is_refused_and_not_repeated(value: str) -> None:
    with pytest.raises(SettingsError) as caught:
        environment_key({"RUNWATCH_API_KEY": value})
    assert "canary" not in said(caught.value)


def test_a_profile_without_any_key_has_none(key_file: Path) -> None:
    assert profile_key(profile(), key_file) is None
    assert not key_file.exists()


class TestKeyCommand:
    def test_what_it_prints_is_the_key(self, key_file: Path) -> None:
        command = python(f"print(' {KEY} ')")
        assert found(profile_key(profile(key_command=command), key_file)) == (KEY, "key command")
        assert log.redact(KEY) == "[redacted]"

    def test_it_comes_before_what_is_stored(self, key_file: Path, keyring: FakeKeyring) -> None:
        store_key(profile(), Secret("rw_stored"), key_file)
        KeyFile(key_file).put("work", StoredKey(WORK, Secret("rw_stored")))
        assert found(profile_key(profile(key_command=python(f"print('{KEY}')")), key_file)) == (KEY, "key command")

    def test_there_is_no_shell(self, tmp_path: Path) -> None:
        assert run_key_command("echo $HOME `id` * > file; true").strip() == "$HOME `id` * > file; true"

    def test_there_is_nothing_to_read_and_no_terminal(self) -> None:
        code = (
            "import os, sys\n"
            "assert sys.stdin.read() == ''\n"
            "assert os.getsid(0) == os.getpid()\n"
            "try: os.open('/dev/tty', os.O_RDWR)\n"
            "except OSError: print('no terminal')\n"
        )
        assert run_key_command(python(code)).strip() == "no terminal"

    @pytest.mark.parametrize(
        ("code", "words"),
        [
            (f"import sys; print('{KEY}'); sys.stderr.write('{KEY}'); sys.exit(3)", "exit status 3"),
            (f"import os; print('{KEY}', flush=True); os.kill(os.getpid(), 9)", "signal 9"),
            (f"import os; os.write(1, b'{KEY}' + bytes([255]))", "does not print text"),
        ],
    )
    def test_a_failure_says_how_and_never_what_was_printed(
        self, code: str, words: str, capfd: pytest.CaptureFixture[str]
    ) -> None:
        with pytest.raises(SettingsError) as caught:
            run_key_command(python(code))
        assert words in str(caught.value)
        assert "canary" not in said(caught.value)
        assert capfd.readouterr() == ("", "")

    @pytest.mark.parametrize("code", ["", f"print('{KEY}'); print('{KEY}')", f"print('{KEY} and a note')"])
    def test_what_is_no_key_is_refused(self, code: str, key_file: Path) -> None:
        with pytest.raises(SettingsError) as caught:
            profile_key(profile(key_command=python(code)), key_file)
        assert "key command" in str(caught.value)
        assert "canary" not in said(caught.value)

    def test_a_command_that_is_not_there_is_named_by_the_reason(self) -> None:
        with pytest.raises(SettingsError, match="No such file"):
            run_key_command("/nowhere/at/all --key")

    def test_a_command_that_does_not_end_is_ended_with_all_it_has_started(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        pipe = tmp_path / "alive"
        os.mkfifo(pipe)
        started = threading.Event()
        ended: list[bytes] = []

        def read() -> None:
            with pipe.open("rb") as file:
                started.set()
                ended.append(file.read())

        def time_runs_out(process: subprocess.Popen[bytes], timeout: float) -> None:
            assert started.wait(60)
            raise subprocess.TimeoutExpired("command", timeout)

        monkeypatch.setattr(subprocess.Popen, "communicate", time_runs_out)
        reader = threading.Thread(target=read, daemon=True)
        reader.start()
        # The grandchild alone holds the writing end; when it is gone the reader sees the end of the file.
        with pytest.raises(SettingsError, match="did not end within 10 seconds"):
            run_key_command(f"sh -c '(exec 3>{pipe}; exec sleep 1000) & wait'")
        reader.join(60)
        assert ended == [b""]

    def test_the_patience_is_kept(self) -> None:
        with pytest.raises(SettingsError, match="did not end within 0 seconds"):
            run_key_command("sleep 1000", patience_s=0)


class TestKeyFile:
    def test_a_stored_key_comes_back_with_its_source(self, key_file: Path) -> None:
        assert store_key(profile(), Secret(f"{KEY}\n"), key_file) == "key file"
        assert found(profile_key(profile(), key_file)) == (KEY, "key file")
        assert mode_of(key_file) == 0o600
        assert mode_of(key_file.parent) == 0o700
        assert tomllib.loads(key_file.read_text()) == {"work": {"origin": WORK, "key": KEY}}
        assert log.redact(KEY) == "[redacted]"

    def test_keys_of_other_profiles_stay(self, key_file: Path) -> None:
        other = Profile("eu", {"base_url": "https://eu.example"})
        store_key(other, Secret("rw_other_key"), key_file)
        store_key(profile(), Secret("rw_first_key"), key_file)
        store_key(profile(), Secret(KEY), key_file)
        assert found(profile_key(other, key_file)) == ("rw_other_key", "key file")
        assert found(profile_key(profile(), key_file)) == (KEY, "key file")
        assert forget_key("work", key_file) == ("key file",)
        assert profile_key(profile(), key_file) is None
        assert found(profile_key(other, key_file)) == ("rw_other_key", "key file")

    def test_a_key_is_not_served_to_another_address(self, key_file: Path) -> None:
        store_key(profile(), Secret(KEY), key_file)
        with pytest.raises(SettingsError) as caught:
            profile_key(profile(base_url="https://evil.example"), key_file)
        assert "stored for another address" in str(caught.value)
        assert "config key set work" in said(caught.value)
        assert "canary" not in said(caught.value)

    @pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o666])
    def test_a_file_that_others_may_open_serves_nobody(self, mode: int, key_file: Path) -> None:
        store_key(profile(), Secret(KEY), key_file)
        key_file.chmod(mode)
        for attempt in (
            lambda: profile_key(profile(), key_file),
            lambda: store_key(profile(), Secret(KEY), key_file),
            lambda: forget_key("work", key_file),
        ):
            with pytest.raises(SettingsError) as caught:
                attempt()
            assert f"chmod 600 {key_file}" in said(caught.value)
            assert f"mode {mode:04o}" in str(caught.value)
        assert mode_of(key_file) == mode

    def test_a_file_of_somebody_else_serves_nobody(self, key_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        store_key(profile(), Secret(KEY), key_file)
        monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
        with pytest.raises(SettingsError, match="belongs to another user"):
            profile_key(profile(), key_file)

    @pytest.mark.parametrize(
        "content",
        [b"canary", b"\xff", b"work = 'canary'", b"[work]\nkey = 'canary'", b"[work]\norigin = 1\nkey = 'canary'",
         b"a = " + b"[" * 100_000],
    )  # fmt: skip
    def test_a_damaged_file_is_an_error_that_repeats_nothing_of_it(self, content: bytes, key_file: Path) -> None:
        key_file.parent.mkdir()
        key_file.write_bytes(content)
        key_file.chmod(0o600)
        with pytest.raises(SettingsError, match="damaged") as caught:
            profile_key(profile(), key_file)
        assert "canary" not in said(caught.value)

    def test_a_directory_or_a_pipe_in_its_place_is_an_error(self, key_file: Path) -> None:
        key_file.mkdir(parents=True)
        with pytest.raises(SettingsError, match="not a regular file"):
            profile_key(profile(), key_file)
        key_file.rmdir()
        os.mkfifo(key_file, 0o600)
        with pytest.raises(SettingsError, match="not a regular file"):
            profile_key(profile(), key_file)

    def test_a_place_that_cannot_be_written_is_an_error_that_says_why(self, tmp_path: Path) -> None:
        (tmp_path / "data").write_bytes(b"")
        with pytest.raises(SettingsError, match=r"cannot be written: .*File exists"):
            store_key(profile(), Secret(KEY), tmp_path / "data" / "keys.toml")

    def test_a_key_needs_an_address_and_no_command(self, key_file: Path) -> None:
        with pytest.raises(SettingsError, match="no usable base_url"):
            store_key(Profile("work"), Secret(KEY), key_file)
        with pytest.raises(SettingsError, match="from a command"):
            store_key(profile(key_command="pass work"), Secret(KEY), key_file)
        with pytest.raises(SettingsError, match="The input does not contain an API key"):
            store_key(profile(), Secret(" \n"), key_file)
        assert not key_file.exists()

    def test_forgetting_what_is_not_there_forgets_nothing(self, key_file: Path) -> None:
        assert forget_key("work", key_file) == ()
        assert not key_file.exists()


class TestKeyring:
    def test_where_there_is_one_it_keeps_the_key_and_the_file_does_not(
        self, key_file: Path, keyring: FakeKeyring
    ) -> None:
        KeyFile(key_file).put("work", StoredKey(WORK, Secret("rw_old_key")))
        assert store_key(profile(), Secret(KEY), key_file) == "keyring"
        assert json.loads(keyring.kept["runwatch", "work"]) == {"origin": WORK, "key": KEY}
        assert "rw_old_key" not in key_file.read_text()
        assert found(profile_key(profile(), key_file)) == (KEY, "keyring")

    def test_it_comes_before_the_file(self, key_file: Path, keyring: FakeKeyring) -> None:
        store_key(profile(), Secret(KEY), key_file)
        KeyFile(key_file).put("work", StoredKey(WORK, Secret("rw_old_key")))
        assert found(profile_key(profile(), key_file)) == (KEY, "keyring")
        assert forget_key("work", key_file) == ("keyring", "key file")
        assert profile_key(profile(), key_file) is None

    def test_a_key_is_not_served_to_another_address(self, key_file: Path, keyring: FakeKeyring) -> None:
        store_key(profile(), Secret(KEY), key_file)
        with pytest.raises(SettingsError, match="stored for another address"):
            profile_key(profile(base_url="https://evil.example"), key_file)

    @pytest.mark.parametrize("value", [KEY, "{}", "[1]", '{"origin": 1, "key": 2}'])
    def test_an_entry_of_another_make_is_not_used(self, value: str, key_file: Path, keyring: FakeKeyring) -> None:
        keyring.kept["runwatch", "work"] = value
        assert profile_key(profile(), key_file) is None

    def test_one_that_fails_is_one_that_is_not_there(
        self, key_file: Path, keyring: FakeKeyring, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def fail(*arguments: object) -> None:
            raise RuntimeError(f"locked, and here is {KEY}")

        for name in ("get_password", "set_password", "delete_password"):
            monkeypatch.setattr(keyring, name, fail)
        assert store_key(profile(), Secret(KEY), key_file) == "key file"
        assert found(profile_key(profile(), key_file)) == (KEY, "key file")
        assert forget_key("work", key_file) == ("key file",)
        assert "RuntimeError" in caplog.text
        assert "canary" not in caplog.text

    def test_one_that_keeps_nothing_is_one_that_is_not_there(
        self, key_file: Path, keyring: FakeKeyring, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(keyring, "set_password", lambda *arguments: None)
        assert store_key(profile(), Secret(KEY), key_file) == "key file"

    def test_one_that_does_not_answer_is_not_waited_for(
        self, keyring: FakeKeyring, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        answers = threading.Event()
        monkeypatch.setattr(keyring, "get_password", lambda *arguments: answers.wait() and None)
        try:
            assert SystemKeyring(patience_s=0).get("work") is None
        finally:
            answers.set()


@pytest.fixture(autouse=True)
def _seen_by_nobody(capfd: pytest.CaptureFixture[str]) -> Iterator[None]:
    """No test here may print anything."""
    yield
    assert capfd.readouterr() == ("", "")
