"""Reading the settings file: any content gives settings, and everything wrong is named."""

from __future__ import annotations

import os
import random
import stat
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from runwatch.base import files, log
from runwatch.base.log import REDACTED
from runwatch.settings.declarations import Settings
from runwatch.settings.file_parser import SettingsProblem
from runwatch.settings.settings_file import MAX_SETTINGS_BYTES, LoadedSettings, load_settings_file
from tests.support.clock import FakeClock
from tests.support.sampling import examples

GOOD = """\
# mine
theme = "runwatch-light"
retries = 1
default_profile = "work"

[refresh]
runs_s = 7

[keys]
"app.quit" = "ctrl+q"

[filters]
mine = "is:live"

[profiles.work]
base_url = "https://API.example.com/v1"
key_command = "pass show work"
ca_file = "ca.pem"
production = true

[profiles.eu]
base_url = "https://eu.example.com"
read_only = true
colour = "cyan"
"""


NAMES = "must be names with spaces or commas between them, each of them once"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "config" / "settings.toml"


def write(path: Path, content: str | bytes, mode: int = 0o600) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    path.chmod(mode)
    return path


def told(loaded: LoadedSettings) -> list[tuple[int | None, str, str]]:
    return [(problem.line, problem.key, problem.message) for problem in loaded.problems]


def is_default(settings: Settings) -> bool:
    return not settings.chosen and not settings.profiles


def test_a_missing_file_means_defaults_and_no_problem(path: Path) -> None:
    loaded = load_settings_file(path)
    assert is_default(loaded.settings)
    assert loaded.problems == ()
    assert not loaded.is_broken
    assert not path.parent.exists(), "reading makes nothing"


def test_an_empty_file_means_defaults_and_no_problem(path: Path) -> None:
    assert load_settings_file(write(path, "")).problems == ()


def test_a_good_file_is_read_whole(path: Path) -> None:
    loaded = load_settings_file(write(path, GOOD))
    settings = loaded.settings
    assert loaded.problems == ()
    assert (settings.theme, settings.retries, settings.default_profile) == ("runwatch-light", 1, "work")
    assert settings.refresh_runs_s == 7.0
    assert settings.keys == {"app.quit": "ctrl+q"}
    assert settings.filters == {"mine": "is:live"}
    assert settings.mouse is True
    work, eu = settings.profiles["work"], settings.profiles["eu"]
    assert (work.name, work.base_url, work.key_command) == ("work", "https://api.example.com", "pass show work")
    assert (work.ca_file, work.production, work.read_only, work.colour) == ("ca.pem", True, False, "auto")
    assert (eu.production, eu.read_only, eu.colour) == (False, True, "cyan")


def test_a_byte_order_mark_and_lines_of_windows_do_no_harm(path: Path) -> None:
    loaded = load_settings_file(write(path, b"\xef\xbb\xbf" + GOOD.replace("\n", "\r\n").encode()))
    assert loaded.problems == ()
    assert loaded.settings.retries == 1


@pytest.mark.parametrize(
    ("text", "line", "key", "message"),
    [
        ('retries = "2"', 1, "retries", "must be a whole number from 0 to 5"),
        ("\nretries = 99", 2, "retries", "must be a whole number from 0 to 5"),
        ("retries = true", 1, "retries", "must be a whole number from 0 to 5"),
        ('mouse = "no"', 1, "mouse", "must be true or false"),
        ('glyphs = "emoji"', 1, "glyphs", "must be one of unicode, ascii"),
        ("[refresh]\nruns_s = 0.1", 2, "refresh.runs_s", "must be a number from 1 to 15"),
        ("refresh.runs_s = nan", 1, "refresh.runs_s", "must be a number from 1 to 15"),
        ("refresh = 5", 1, "refresh", "must be a table"),
        ("filters = 5", 1, "filters", "must be a table of texts"),
        ('[filters]\na = "x"\nb = 5', 3, "filters.b", "must be a text"),
        ("columns = 5", 1, "columns", "must be a table of lists of names"),
        ('[columns]\nruns = "status"', 2, "columns.runs", "must be a list of names"),
        ("[columns]\nruns = []", 2, "columns.runs", NAMES),
        ("[columns]\nruns = [1]", 2, "columns.runs", NAMES),
        ('[columns]\nruns = ["a", "a"]', 2, "columns.runs", NAMES),
        ('[keys]\napp.quit = "q"', 2, "keys.app", "must be a text"),
        ("profiles = 5", 1, "profiles", "must be a table of profiles, such as [profiles.work]"),
        ("[profiles]\nwork = 5", 2, "profiles.work", "must be a table"),
        ("[profiles.work]\nproduction = false", 1, "profiles.work", "has no base_url, so it cannot be used"),
        (
            "[profiles.local]",
            1,
            "profiles.local",
            "is a name that runwatch uses itself; give the profile another one",
        ),
        (
            "[profiles.environment]",
            1,
            "profiles.environment",
            "is the name of a service that the environment gives; rename the profile to environment-profile,"
            " which has its labels and notes, and store its key again",
        ),
        (
            '[profiles."a b"]',
            1,
            "profiles.a b",
            "is not a valid profile name: use letters, digits, - and _, at most 64",
        ),
        (
            '[profiles.work]\nbase_url = "https://u:canary@h"',
            2,
            "profiles.work.base_url",
            "must be an https address, with or without /v1, without user name or query (http for this machine only)",
        ),
        ('default_profile = "wrk"', 1, "default_profile", "names a profile that is not in the file"),
    ],
)
def test_a_wrong_value_is_named_with_its_line_and_the_default_holds(
    text: str, line: int, key: str, message: str, path: Path
) -> None:
    loaded = load_settings_file(write(path, text))
    assert told(loaded) == [(line, key, message)]
    assert not loaded.problems[0].is_warning
    assert "canary" not in str(loaded.problems[0])
    assert not loaded.is_broken
    assert key not in loaded.settings.chosen


@pytest.mark.parametrize("key", ["production", "read_only"])
def test_a_guard_that_cannot_be_read_counts_as_on(key: str, path: Path) -> None:
    loaded = load_settings_file(write(path, f'[profiles.work]\nbase_url = "https://h"\n{key} = "yes"\n'))
    assert loaded.settings.profiles["work"].chosen[key] is True
    assert told(loaded) == [(3, f"profiles.work.{key}", "must be true or false; it counts as true until then")]


def test_one_wrong_value_spoils_no_other(path: Path) -> None:
    loaded = load_settings_file(write(path, GOOD.replace("retries = 1", "retries = -1")))
    assert [problem.key for problem in loaded.problems] == ["retries"]
    assert loaded.settings.retries == 2
    assert loaded.settings.profiles["work"].production


@pytest.mark.parametrize(
    ("text", "line", "key", "near"),
    [
        ("them = 1", 1, "them", "theme"),
        ("[refresh]\nrun_s = 1", 2, "refresh.run_s", "refresh.runs_s"),
        ('profiles.a = {base_url = "https://h", red_only = 1}', 1, "profiles.a.red_only", "profiles.a.read_only"),
        ('"refresh.runs_s" = 5', 1, "refresh.runs_s", "refresh.runs_s"),
        ("[zzzzzz]\na = 1", 1, "zzzzzz", ""),
    ],
)  # fmt: skip
def test_an_unknown_key_is_kept_and_named_with_the_nearest(
    text: str, line: int, key: str, near: str, path: Path
) -> None:
    loaded = load_settings_file(write(path, text))
    (problem,) = loaded.problems
    assert (problem.line, problem.key, problem.message, problem.nearest) == (line, key, "is not a setting", near)
    assert problem.is_warning
    assert loaded.raw
    assert (f"did you mean '{near}'?" in str(problem)) is bool(near)


def test_problems_stand_in_the_order_of_the_file(path: Path) -> None:
    loaded = load_settings_file(write(path, "zz = 1\n[profiles.work]\nretries = 1\n[refresh]\nruns_s = 0\n[mouse]\n"))
    assert [problem.line for problem in loaded.problems] == sorted(problem.line or 0 for problem in loaded.problems)


@pytest.mark.parametrize(
    "text",
    [
        'api_key = "canary-5e1f"', '[profiles.work]\nbase_url = "https://h"\napi_key = "canary-5e1f"',
        '[profiles.work]\nbase_url = "https://h"\nAPI-KEY = "canary-5e1f"',
        '[profiles.work]\nbase_url = "https://h"\ntoken = ["canary-5e1f"]',
        '[other.deep]\npassword = { value = "canary-5e1f" }', '[profiles."not a name"]\nsecret = "canary-5e1f"',
    ],
)  # fmt: skip
def test_a_key_in_the_file_is_refused_and_never_shown(text: str, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log, "_known", ())
    loaded = load_settings_file(write(path, text))
    refused = [problem for problem in loaded.problems if "does not belong in this file" in problem.message]
    assert [problem.line for problem in refused] == [text.count("\n") + 1]
    assert not refused[0].is_warning
    assert "config key set" in refused[0].message
    assert "canary" not in repr(loaded)
    assert "canary" not in "".join(map(str, loaded.problems))
    assert REDACTED in repr(loaded.raw)
    assert log.redact("canary-5e1f") == REDACTED, "it is known to the log"


def test_a_filter_or_key_binding_may_be_named_like_a_secret(path: Path) -> None:
    loaded = load_settings_file(write(path, '[filters]\ntoken = "has:token"\n'))
    assert loaded.problems == ()
    assert loaded.settings.filters == {"token": "has:token"}


@pytest.mark.parametrize(
    ("content", "line", "column"),
    [
        (b"theme = \n", 1, 9),
        (b"a = 1\nb c\n", 2, 3),
        (b"a = 1\na = 2\n", 2, 6),
        (b"[a]\n[a]\n", 2, 3),
        (b'a = "x\n', 1, 7),
        (b"a = 1\n\nb = [1,\n", 3, None),
        (b"a = 2026-13-45\n", None, None),
        (b"a = 1\nb = \"\xff\"\n", 2, None),
        (b"\x00", 1, 1),
        (b"a = " + b"[" * 100_000, None, None),
        (b"a = 1" + b"0" * 5000, None, None),
    ],
)  # fmt: skip
def test_a_file_that_is_no_toml_means_defaults_and_is_named_by_line(
    content: bytes, line: int | None, column: int | None, path: Path
) -> None:
    loaded = load_settings_file(write(path, content))
    (problem,) = loaded.problems
    assert is_default(loaded.settings)
    assert loaded.is_broken
    if line is not None:
        assert (problem.line, problem.column) == (line, column)
    assert problem.copy is not None
    assert problem.copy.read_bytes() == content


def test_a_secret_in_a_file_that_is_no_toml_is_not_shown(path: Path) -> None:
    loaded = load_settings_file(write(path, "api_key = canary-5e1f\n"))
    assert "canary" not in repr(loaded)
    assert "canary" not in str(loaded.problems[0])


def test_a_broken_file_is_set_aside_once_for_each_content(path: Path) -> None:
    clock = FakeClock(datetime(2026, 11, 21, 12, tzinfo=UTC))
    write(path, "a = \n", 0o644)
    first = load_settings_file(path, clock=clock).problems[0].copy
    clock.advance(60)
    assert load_settings_file(path, clock=clock).problems[0].copy == first
    assert first is not None
    assert first.name == "settings.toml.bad-20261121T120000.000000Z"
    assert stat.S_IMODE(first.stat().st_mode) == 0o600
    write(path, "b = \n")
    second = load_settings_file(path, clock=clock).problems[0].copy
    assert second != first
    assert len(list(path.parent.iterdir())) == 3


def test_a_broken_file_in_a_directory_that_cannot_be_written_is_named_all_the_same(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*arguments: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("runwatch.settings.settings_file.copy_aside", refuse)
    (problem,) = load_settings_file(write(path, "a = \n")).problems
    assert (problem.line, problem.copy) == (1, None)


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604])
def test_a_file_that_others_can_read_is_a_warning(mode: int, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "_is_own_group", lambda _: False)
    loaded = load_settings_file(write(path, GOOD, mode))
    (problem,) = loaded.problems
    assert problem.is_warning
    assert "chmod 600" in problem.message
    assert "read" in problem.message
    assert loaded.settings.retries == 1


def test_a_directory_or_a_pipe_in_its_place_means_defaults(path: Path) -> None:
    path.mkdir(parents=True)
    assert load_settings_file(path).is_broken
    path.rmdir()
    os.mkfifo(path)
    assert load_settings_file(path).is_broken


def test_a_file_that_cannot_be_opened_means_defaults(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: Path) -> bytes:
        raise PermissionError(13, "Permission denied")

    write(path, GOOD)
    monkeypatch.setattr(Path, "read_bytes", refuse)
    loaded = load_settings_file(path)
    assert loaded.is_broken
    assert "Permission denied" in loaded.problems[0].message


def test_a_file_below_a_file_or_a_link_to_itself_means_defaults(path: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    assert is_default(load_settings_file(tmp_path / "file" / "settings.toml").settings)
    path.parent.mkdir()
    path.symlink_to(path)
    assert load_settings_file(path).is_broken


def test_a_file_of_absurd_size_is_not_read(path: Path) -> None:
    assert load_settings_file(write(path, b"#" * (MAX_SETTINGS_BYTES + 1))).is_broken


def test_a_problem_reads_as_editors_take_it() -> None:
    problem = SettingsProblem(Path("/c/settings.toml"), "is not a setting", "them", 3, nearest="theme", is_warning=True)
    assert str(problem) == "/c/settings.toml:3: 'them' is not a setting; did you mean 'theme'?"
    assert str(SettingsProblem(Path("/c/s.toml"), "is broken", line=3, column=7)) == "/c/s.toml:3:7: is broken"


MUTATIONS = ("", '"', "'", "[", "]", "=", "\n", "\x00", "\\", "{", "\ud7ff", "1", ".", "#", "\r", "true", "[profiles]")


@hypothesis_settings(
    max_examples=examples(300), suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
@given(st.randoms(use_true_random=False), st.integers(1, 4))
def test_no_mutated_file_stops_a_start(tmp_path: Path, chance: random.Random, count: int) -> None:
    text = GOOD
    for _ in range(count):
        start = chance.randrange(len(text) + 1)
        text = text[:start] + chance.choice(MUTATIONS) + text[start + chance.randrange(3) :]
    loaded = load_settings_file(write(tmp_path / "settings.toml", text.encode("utf-8", "surrogatepass")))
    assert isinstance(loaded.settings, Settings)
    for problem in loaded.problems:
        assert problem.line is not None, str(problem)
    for copy in tmp_path.glob("*.bad-*"):
        copy.unlink()


def test_a_named_filter_of_0_1_0_finds_the_environments_profile(path: Path) -> None:
    loaded = load_settings_file(write(path, "[filters]\nmine = 'is:problem profile=unnamed'"))
    assert loaded.settings.filters == {"mine": "is:problem profile=environment"}
