"""``__complete``: names for the shells, from this machine alone."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from runwatch.base.paths import find_paths
from runwatch.commands.cli.command_spec import CONSOLE
from runwatch.commands.cli.grammar import list_commands
from runwatch.commands.completion import SCRIPTS
from runwatch.commands.completion_names import find_names
from runwatch.commands.schema import records
from runwatch.records.arm import Arm
from runwatch.records.record import Record
from runwatch.records.verifier import Verifier
from runwatch.store.db.database import Database
from runwatch.store.repositories.journal import Journal
from runwatch.store.repositories.record_cache import RecordCache
from runwatch.store.repositories.scope import Scope
from runwatch.store.repositories.watch_list import WatchList
from runwatch.tui.screens.registry import PAGE_CLASSES as SCREENS
from runwatch.tui.screens.registry import has_screen
from runwatch.view.resources.registry import PAGES, screen_names
from tests.commands.here import Here
from tests.commands.test_process import HEAVY
from tests.store.repositories.test_journal import failed
from tests.support.builders import open_run, problem
from tests.support.cli import Cli
from tests.support.scripted import ScriptedService, running_service

INSTANCE = "b71d6a11-1f7c-4b53-8a43-6a0b6f0a7c13"
SEEN_AT = datetime(2026, 11, 22, 3, tzinfo=UTC)
PROFILES = '[profiles.work]\nbase_url = "https://work.example"\n\n[profiles.home]\nbase_url = "https://home.example"\n'
HOSTILE = (
    "ex_$(touch owned)", "ex_`touch owned`", "ex_;touch owned", "ex_ two", "ex_\nline", "ex_\x1b[2J", "ex_ü", "ex_*",
    "ex_'", 'ex_"', "ex_\\", "ex_\ud800", "ex_" + "x" * 300, "--yes", "-x", "",
)  # fmt: skip


def offered(*words: str) -> list[str]:
    """What completion offers after these words in the test's own environment."""
    return find_names(words, os.environ, find_paths())


async def fill(database: Database) -> None:
    """What a console has seen through the profile ``work``, and one run through ``home``."""
    work, home = Scope("work", "svc", "key_1"), Scope("home", "svc", "key_2")
    cache = RecordCache(database)
    kept: tuple[tuple[str, list[Record]], ...] = (
        ("run", [open_run("ex_cached"), *(open_run(name) for name in HOSTILE)]),
        ("arm", [Arm({"arm_id": "arm_1"}), Arm({"arm_id": "arm_2"}), Arm({"arm_id": 7}), Arm({})]),
        ("verifier", [Verifier({"verifier_id": "vf_1"})]),
    )
    for kind, found in kept:
        await cache.save(work, kind, found, SEEN_AT)
    watch_list = WatchList(database)
    await watch_list.add(work, ["ex_watched", "ex_cached"])
    await watch_list.add(home, ["ex_home"])
    journal = Journal(database)
    journal.note(failed(said=problem("internal", instance=INSTANCE)))
    await journal.flush()


@pytest.fixture
async def seen(tmp_path: Path) -> Path:
    """The data directory of a console that has been closed, and a settings file with two profiles."""
    settings, path = find_paths().settings_file, find_paths().database
    settings.write_text(PROFILES)
    settings.chmod(0o600)
    database = Database.open(path)
    await fill(database)
    database.close()
    return path.parent


@pytest.mark.parametrize(
    ("words", "names"),
    [
        ("runs show |", ["ex_cached", "ex_home", "ex_watched"]),
        ("receipts show ex_w|", ["ex_watched"]),
        ("receipts compare ex_cached |", ["ex_home", "ex_watched"]),
        ("runs cancel ex_home ex_cached |", ["ex_watched"]),
        ("--profile work runs watch |", ["ex_cached", "ex_watched"]),
        ("runs result --profile=home |", ["ex_home"]),
        ("runs result --json --profile all ex_h|", ["ex_home"]),
        ("runs show --local |", []),
        ("runs show --base-url https://other.example |", []),
        ("runs show --base-url nonsense |", []),
        ("runs show ex_cached |", []),
        ("arms edit |", ["arm_1", "arm_2", "7"]),
        ("arms disable arm_1 arm|", ["arm_2"]),
        ("verifiers connect --days 30 |", ["vf_1"]),
        ("runs submit --verifier-id |", ["vf_1"]),
        ("runs submit --arm-id=arm_2|", ["arm_2"]),
        ("problems show |", [INSTANCE]),
        ("runs list --profile |", ["work", "home"]),
        ("receipts list --profile |", ["work", "home", "all"]),
        ("problems list --profile a|", ["all"]),
        ("receipts list --profile work,h|", ["work,home"]),
        ("--profile w|", ["work"]),
        ("config key set h|", ["home"]),
        ("--theme runwatch-contrast|", ["runwatch-contrast-dark", "runwatch-contrast-light"]),
        ("--theme runwatch-p|", ["runwatch-plain"]),
        ("--open ov|", ["overview"]),
        ("--open verifiers/|", ["verifiers/vf_1"]),
        ("--open nowhere/|", []),
        ("keys label key_1 |", []),
        ("runs list |", []),
        ("runs |", []),
        ("nonsense show |", []),
        ("--objective |", []),
        ("runs show --nonsense=|", []),
        ("|", []),
    ],
)
def test_what_a_place_names_is_offered(seen: Path, words: str, names: list[str]) -> None:
    assert offered(*words.removesuffix("|").split(" ")) == names


def test_a_profile_of_the_environment_or_the_settings_narrows(seen: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    find_paths().settings_file.write_text(f'default_profile = "home"\n{PROFILES}')
    assert offered("runs", "show", "") == ["ex_home"]
    monkeypatch.setenv("RUNWATCH_PROFILE", "work")
    assert offered("runs", "show", "") == ["ex_cached", "ex_watched"]
    monkeypatch.setenv("RUNWATCH_PROFILE", "gone")
    assert offered("runs", "show", "") == []


def contents(directory: Path) -> dict[str, bytes]:
    """Every file below a directory."""
    return {str(path): path.read_bytes() for path in sorted(directory.rglob("*")) if path.is_file()}


def test_asking_writes_nothing(seen: Path, tmp_path: Path) -> None:
    before = contents(tmp_path)
    assert offered("runs", "show", "")
    assert contents(tmp_path) == before


async def test_a_console_that_is_open_is_read_while_it_writes(seen: Path) -> None:
    database = Database.open(find_paths().database)
    await WatchList(database).add(Scope("work", "svc", "key_1"), ["ex_new"])
    before = {path.name for path in seen.iterdir()}
    assert offered("runs", "show", "ex_n") == ["ex_new"]
    assert {path.name for path in seen.iterdir()} == before
    database.close()


@pytest.mark.parametrize(("lost", "names"), [((), ["ex_late"]), (("-shm",), []), (("-shm", "-wal"), [])])
async def test_what_a_killed_console_left_is_read_and_stays(
    seen: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lost: tuple[str, ...], names: list[str]
) -> None:
    database = Database.open(find_paths().database)
    await WatchList(database).add(Scope("work", "svc", "key_1"), ["ex_late"])
    killed = tmp_path / "killed"
    shutil.copytree(seen, killed)
    database.close()
    for ending in lost:
        (killed / f"console.db{ending}").unlink()
    monkeypatch.setenv("RUNWATCH_DATA_DIR", str(killed))
    before = {name: content for name, content in contents(killed).items() if not name.endswith("-shm")}
    assert offered("runs", "show", "ex_l") == names
    assert {name: content for name, content in contents(killed).items() if not name.endswith("-shm")} == before
    assert offered("arms", "show", "") == ["arm_1", "arm_2", "7"]


async def test_many_runs_of_one_profile_do_not_hide_those_of_another(seen: Path) -> None:
    database = Database.open(find_paths().database)
    await WatchList(database).add(Scope("home", "svc", "key_2"), [f"ex_many_{number}" for number in range(1_500)])
    database.close()
    assert offered("runs", "show", "--profile", "work", "") == ["ex_cached", "ex_watched"]
    assert len(offered("runs", "show", "ex_many")) == 1_000


def test_without_data_nothing_is_made(tmp_path: Path) -> None:
    assert offered("runs", "show", "") == []
    assert offered("runs", "list", "--profile", "") == []
    assert contents(tmp_path) == {}


@pytest.mark.parametrize("content", [b"no database", b"", b"SQLite format 3\0" + b"\xff" * 4096])
def test_a_database_that_cannot_be_read_offers_nothing(tmp_path: Path, content: bytes) -> None:
    path = find_paths().database
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    assert offered("runs", "show", "") == []
    assert path.read_bytes() == content


async def test_a_database_of_another_version_is_left_alone(seen: Path) -> None:
    database = Database.open(find_paths().database)
    await database.read(lambda connection: connection.execute("PRAGMA user_version = 99").fetchall())
    database.close()
    assert offered("runs", "show", "") == []


def test_a_settings_file_that_cannot_be_read_is_neither_told_nor_copied(seen: Path, tmp_path: Path) -> None:
    find_paths().settings_file.write_text("[[[")
    before = contents(tmp_path)
    assert offered("runs", "list", "--profile", "") == []
    assert contents(tmp_path) == before


def test_asking_imports_nothing_heavy_and_calls_nobody(seen: Path, tmp_path: Path) -> None:
    with running_service(ScriptedService()) as service:
        cli = Cli(tmp_path, base_url=service.base_url, api_key="k")
        code = (
            "import sys\n"
            "from runwatch.cli import run\n"
            "assert run(['__complete', *sys.argv[1:]]) == 0\n"
            f"found = [name for name in {HEAVY!r} if name in sys.modules]\n"
            "sys.exit(f'imported: {found}' if found else 0)\n"
        )
        for words in (("--profile", "work", "arms", "show", ""), ("--open", "ov"), ("--theme", "")):
            done = subprocess.run(
                [sys.executable, "-c", code, *words], env=cli.environment, capture_output=True, text=True, check=False
            )
            assert (done.returncode, done.stderr) == (0, "")
            assert done.stdout
        assert service.requests("GET") == []


def test_what_an_argument_or_a_flag_names_is_known() -> None:
    known = {*(record.KIND for record in records()), "profile", "profiles", "theme", "screen", "topic", ""}
    flags = [flag for flags in (CONSOLE, *(verb.flags for verb in list_commands())) for flag in flags]
    assert {flag.names for flag in flags} | {
        argument.names for verb in list_commands() for argument in verb.arguments
    } <= known
    assert all(flag.metavar for flag in flags if flag.names)
    assert {flag.name for flag in flags if flag.names} & {flag.name for flag in flags if not flag.names} == set()
    assert all(argument.names for verb in list_commands() for argument in verb.arguments if verb.path[-1] == "show")


def test_the_screens_that_are_offered_are_those_there_are() -> None:
    assert set(PAGES) == set(SCREENS)
    assert all(has_screen(name) for name in screen_names())


@pytest.mark.parametrize(
    ("words", "reply"),
    [
        (["runs", "show", "ex_"], "ex_cached ex_home ex_watched"),
        (["--profile", "work", "runs", "cancel", "ex_cached", "ex_"], "ex_watched"),
        (["problems", "show", "b7"], INSTANCE),
        (["--profile", "wo"], "work"),
        (["receipts", "list", "--profile", "a"], "all"),
        (["--theme", "runwatch-l"], "runwatch-light"),
        (["--open", "verifiers/"], "verifiers/vf_1"),
        (["runs", "show", "--fi"], "--fields"),
    ],
)
def test_bash_asks_and_takes_no_name_that_it_would_run(
    seen: Path, runwatch: Here, tmp_path: Path, words: list[str], reply: str
) -> None:
    script = runwatch("completion", "bash").text
    program = tmp_path / "runwatch"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m runwatch "$@"\n')
    program.chmod(0o700)
    call = 'COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _runwatch; echo "${COMPREPLY[*]}"'
    command = ["bash", "-c", f"{script}\n{call}", "bash", str(program), *words]
    done = subprocess.run(
        command, env=Cli(tmp_path).environment, cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert (done.stdout.strip(), done.stderr) == (reply, "")
    assert not (tmp_path / "owned").exists()


@pytest.mark.parametrize("shell", SCRIPTS)
def test_every_script_asks(runwatch: Here, shell: str) -> None:
    script = runwatch("completion", shell).text
    assert "__complete" in script
    assert "problems show" in script


@pytest.mark.parametrize("shell", [shell for shell in SCRIPTS if shutil.which(shell)])
def test_every_shell_that_is_here_reads_its_script(runwatch: Here, shell: str) -> None:
    script = runwatch("completion", shell).text
    done = subprocess.run([shell, "-n"], input=script, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_topics_of_the_manual_are_offered() -> None:
    assert offered("help", "se") == ["settings", "security"]
