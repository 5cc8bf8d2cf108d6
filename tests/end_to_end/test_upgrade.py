"""The settings and the data of version 0.1.0, taken over by this version.

``home_of_0_1_0.tar.gz`` is the home of a user of 0.1.0: a theme, a profile with its key in the key file, a key, a named
filter and columns in the settings; a local service with one test run; a label and a note on it; one problem met.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.support.archives import extract_archive
from tests.support.cli import Cli
from tests.support.console import console

HOME: Final = Path(__file__).parent / "home_of_0_1_0.tar.gz"
RUN: Final = "ex_01M87AJH2AQ03CZ02Z09D3A7PM"
PROBLEM: Final = "e3d8835c-223a-40d8-8181-e2b8f61aa2c1"


@pytest.fixture
def upgraded(tmp_path: Path) -> Iterator[Cli]:
    """Commands of this version over the home of the version before."""
    extract_archive(HOME, tmp_path)
    shutil.move(tmp_path / "home" / "config" / "settings.toml", tmp_path / "settings.toml")
    shutil.move(tmp_path / "home" / "data", tmp_path / "runwatch-data")
    cli = Cli(tmp_path)
    yield cli
    cli("serve", "--stop")


def test_settings_hold(upgraded: Cli) -> None:
    assert upgraded("config", "validate").code == 0
    settings = {row["key"]: row["value"] for row in upgraded("config", "show", "--json").json}
    assert settings["theme"] == "runwatch-light"
    assert settings["keys.screen.copy"] == "c"
    assert settings["filters.busy"] == "is:live age<10m"
    assert settings["columns.runs"] == ["status", "run", "label", "cost"]
    assert settings["profiles.work.base_url"] == "https://api.example.com"


def test_the_key_of_a_profile_is_found_and_serves_its_own_address_alone(upgraded: Cli) -> None:
    assert "from key file" in upgraded("doctor", "--profile", "work").text
    outcome = upgraded("account", "--base-url", "https://other.example.com", "--profile", "work")
    assert outcome.code == 2
    assert "sk-profile-key" not in outcome.errors


def test_runs_labels_and_problems_are_there(upgraded: Cli, tmp_path: Path) -> None:
    assert [run["execution_id"] for run in upgraded("runs", "list", "--local", "--json").json] == [RUN]
    assert upgraded("receipts", "show", RUN, "--local", "--json").json["mode"] == "echo"
    assert PROBLEM in upgraded("problems", "list", "--json").text
    with console(tmp_path, "--local") as terminal:
        terminal.wait_for("first")
        terminal.type("qq")
        assert terminal.wait_exit() == 0


@pytest.mark.exhaustive
def test_labels_and_problems_under_the_environments_former_name_are_there(upgraded: Cli, tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "runwatch-data" / "console.db") as old:
        old.execute("INSERT INTO scope (profile, service, principal) SELECT 'unnamed', service, principal FROM scope")
        old.execute("UPDATE note SET scope = (SELECT id FROM scope WHERE profile = 'unnamed')")
        old.execute("UPDATE problem SET profile = 'unnamed'")
    old.close()
    with upgraded.running("serve", "--json") as service:
        assert service.stdout is not None
        started = json.loads(service.stdout.readline())
        address = {"RUNWATCH_BASE_URL": started["base_url"], "RUNWATCH_API_KEY": started["api_key"]}
        with console(tmp_path, base_url=started["base_url"], key=started["api_key"]) as terminal:
            terminal.wait_for("environment")
            terminal.wait_for("first")
            terminal.type("qq")
            assert terminal.wait_exit() == 0
        problems = upgraded("problems", "list", "--json", env=address).json
        assert [(row["profile"], row["instance"]) for row in problems] == [("environment", PROBLEM)]
