"""Changing the settings file: one key changes, everything else stays as the user wrote it."""

from __future__ import annotations

import stat
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import tomli_w
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from runwatch.base.errors import SettingsError
from runwatch.base.files import hold_lock
from runwatch.settings.settings_file import load_settings_file, remove_setting, write_setting
from tests.support.sampling import examples

WRITTEN = """\
# My settings, do not touch!
retries   =   1     # twice is too often

[profiles.work]   # the real one
base_url = 'https://api.example.com'

# below is only for tests
[profiles.eu]
base_url = "https://eu.example.com"

[unknown]
kept = true
"""

WRITER = """
import sys
from pathlib import Path
from runwatch.settings.settings_file import write_setting
path, name = Path(sys.argv[1]), sys.argv[2]
print("up", flush=True)
sys.stdin.read()
for number in range(20):
    write_setting(path, f"filters.{name}{number}", "is:live")
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "config" / "settings.toml"


@pytest.fixture
def written(path: Path) -> Path:
    path.parent.mkdir()
    path.write_text(WRITTEN)
    path.chmod(0o644)
    return path


def content(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text("utf-8"))


def test_a_new_file_holds_the_one_setting_and_is_private(path: Path) -> None:
    write_setting(path, "profiles.work.base_url", "https://API.example.com/v1")
    assert path.read_text() == '[profiles.work]\nbase_url = "https://api.example.com"\n'
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert load_settings_file(path).problems == ()


def test_a_value_is_replaced_and_every_comment_stays(written: Path) -> None:
    write_setting(written, "retries", "0")
    assert written.read_text() == WRITTEN.replace("retries   =   1 ", "retries   =   0 ")
    assert stat.S_IMODE(written.stat().st_mode) == 0o600


def test_a_new_key_joins_its_table_and_every_line_stays(written: Path) -> None:
    write_setting(written, "profiles.work.production", "true")
    write_setting(written, "theme", "runwatch-light")
    write_setting(written, "refresh.runs_s", 7)
    write_setting(written, "filters.my.own", "is:live")
    write_setting(written, "profiles.new.base_url", "https://new.example.com")
    text = written.read_text()
    assert [line for line in WRITTEN.splitlines() if line not in text.splitlines()] == []
    settings = load_settings_file(written).settings
    assert settings.profiles["work"].production
    assert (settings.theme, settings.refresh_runs_s, settings.filters) == ("runwatch-light", 7.0, {"my.own": "is:live"})
    assert list(settings.profiles) == ["work", "eu", "new"]
    assert content(written)["unknown"] == {"kept": True}


@pytest.mark.parametrize(
    "text",
    [
        'profiles.work.base_url = "https://a.example"\n',
        'profiles = { work = { base_url = "https://a.example" } }\n',
        '[profiles]\nwork.base_url = "https://a.example" # mine\n',
        '[profiles.work]\nbase_url = "https://a.example"\n[other]\n[profiles.eu]\nbase_url = "https://b.example"\n',
        '["profiles".\'work\']\n"base_url" = """https://a.example"""\n',
    ],
)
def test_every_form_that_toml_has_for_a_table_can_be_changed(text: str, path: Path) -> None:
    path.parent.mkdir()
    path.write_text(text)
    write_setting(path, "profiles.work.base_url", "https://c.example")
    write_setting(path, "profiles.work.read_only", "true")
    wanted = tomllib.loads(text)
    wanted["profiles"]["work"] = {"base_url": "https://c.example", "read_only": True}
    assert content(path) == wanted


def test_lines_of_windows_stay_so(path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(b"# mine\r\nretries = 1\r\n")
    write_setting(path, "retries", 0)
    assert path.read_bytes() == b"# mine\r\nretries = 0\r\n"


def test_a_link_to_a_repository_of_settings_stays_one(path: Path, tmp_path: Path) -> None:
    real = tmp_path / "dotfiles.toml"
    real.write_text("retries = 1\n")
    path.parent.mkdir()
    path.symlink_to(real)
    write_setting(path, "retries", 0)
    assert path.is_symlink()
    assert real.read_text() == "retries = 0\n"


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("them", "x", "Did you mean 'theme'?"),
        ("zzzzzz", "x", "config show"),
        ("profiles.work.baseurl", "x", "profiles.work.base_url"),
        ("profiles.local.base_url", "https://h", "taken"),
        ("profiles.a/b.base_url", "https://h", "Use letters"),
        ("profiles.work", "x", "Did you mean"),
        ("retries", "many", "a whole number from 0 to 5"),
        ("retries", 2.5, "a whole number from 0 to 5"),
        ("mouse", "maybe", "true or false"),
        ("profiles.work.base_url", "http://canary@example.com", "an https address"),
        ("profiles.work.api_key", "canary", "config key set"),
        ("api_key", "canary", "config key set"),
        ("profiles.work.key_command", "echo sk-ant-api03-canary0123456789", "config key set"),
    ],
)
def test_what_cannot_be_set_is_refused_and_nothing_is_written(key: str, value: object, said: str, path: Path) -> None:
    with pytest.raises(SettingsError) as caught:
        write_setting(path, key, value)
    assert said in f"{caught.value} {caught.value.hint}"
    assert "canary" not in f"{caught.value} {caught.value.hint}"
    assert not path.exists()


def test_a_file_that_cannot_be_read_is_not_touched(path: Path) -> None:
    path.parent.mkdir()
    path.write_text("retries = 1\nbroken\n")
    with pytest.raises(SettingsError, match=r"settings\.toml:2:7"):
        write_setting(path, "retries", 0)
    with pytest.raises(SettingsError, match=r"settings\.toml:2:7"):
        remove_setting(path, "retries")
    assert path.read_text() == "retries = 1\nbroken\n"


def test_a_table_that_is_none_is_not_overwritten(path: Path) -> None:
    path.parent.mkdir()
    path.write_text("refresh = 5\n")
    with pytest.raises(SettingsError, match="'refresh' is not a table"):
        write_setting(path, "refresh.runs_s", 7)
    assert path.read_text() == "refresh = 5\n"


def test_a_file_that_cannot_be_written_is_an_error_that_says_why(path: Path) -> None:
    path.parent.mkdir()
    path.mkdir()
    with pytest.raises(SettingsError, match="Is a directory"):
        write_setting(path, "retries", 0)


def test_a_change_that_would_touch_more_is_not_made(written: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import tomlkit

    monkeypatch.setattr(tomlkit, "dumps", lambda document: "retries = 0\n")
    with pytest.raises(SettingsError, match="more than the one setting"):
        write_setting(written, "retries", 0)
    assert written.read_text() == WRITTEN


def test_a_key_is_removed_and_every_comment_stays(written: Path) -> None:
    assert remove_setting(written, "unknown.kept") is True
    assert remove_setting(written, "unknown.kept") is False
    assert remove_setting(written, "nothing.here") is False
    assert written.read_text() == WRITTEN.replace("kept = true\n", "")


def test_a_whole_profile_is_removed(written: Path) -> None:
    assert remove_setting(written, "profiles.eu") is True
    assert list(content(written)["profiles"]) == ["work"]
    assert "# My settings, do not touch!" in written.read_text()


def test_the_only_profile_is_removed_although_its_table_has_no_header(path: Path) -> None:
    write_setting(path, "profiles.work.base_url", "https://h")
    assert remove_setting(path, "profiles.work") is True
    assert load_settings_file(path).settings.profiles == {}
    assert load_settings_file(path).problems == ()


def test_removing_from_a_missing_file_makes_none(path: Path) -> None:
    assert remove_setting(path, "theme") is False
    assert not path.exists()


def test_a_key_to_a_service_that_is_in_the_file_can_be_removed(path: Path) -> None:
    path.parent.mkdir()
    path.write_text('theme = "runwatch-dark"\napi_key = "x"\n')
    assert remove_setting(path, "api_key") is True
    assert content(path) == {"theme": "runwatch-dark"}


def test_what_another_console_wrote_meanwhile_is_kept(path: Path) -> None:
    """The file is read again under its lock, so that the first of two changes is in the second."""
    write_setting(path, "retries", 1)
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path), "other"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdin is not None
        assert other.stdout is not None
        assert other.stdout.readline() == b"up\n"
        other.stdin.close()
        for number in range(20):
            write_setting(path, f"filters.mine{number}", "is:final")
    assert other.returncode == 0
    expected = {f"other{number}" for number in range(20)} | {f"mine{number}" for number in range(20)}
    assert set(load_settings_file(path).settings.filters) == expected
    assert load_settings_file(path).settings.retries == 1


def test_a_change_waits_for_the_one_before(path: Path) -> None:
    path.parent.mkdir()
    with hold_lock(path.with_name(".settings.toml.lock")):
        other = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(path), "other"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert other.stdin is not None
        assert other.stdout is not None
        assert other.stdout.readline() == b"up\n"
        other.stdin.close()
        path.write_text("# written while the lock was held\n")
    with other:
        pass
    assert path.read_text().startswith("# written while the lock was held\n")
    assert len(load_settings_file(path).settings.filters) == 20


NAMES = st.text("ab\"'.é #=]", min_size=1, max_size=3)
FILES = st.dictionaries(
    NAMES,
    st.recursive(
        st.integers() | st.booleans() | st.text('ab\n"\\', max_size=5) | st.lists(st.integers(), max_size=3),
        lambda inner: st.dictionaries(NAMES, inner, max_size=3),
        max_leaves=6,
    ),
    max_size=4,
)


@hypothesis_settings(
    max_examples=examples(100), suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
@given(FILES)
def test_in_any_file_only_the_one_key_changes(tmp_path: Path, before: dict[str, Any]) -> None:
    path = tmp_path / "settings.toml"
    path.write_text("# first\n" + tomli_w.dumps(before))
    write_setting(path, "profiles.work.base_url", "https://h")
    write_setting(path, "retries", 0)
    wanted = {**before, "retries": 0, "profiles": {"work": {"base_url": "https://h"}}}
    assert content(path) == wanted
    assert remove_setting(path, "retries")
    del wanted["retries"]
    assert content(path) == wanted
    assert path.read_text().startswith("# first\n")
