"""A file that a command writes is new, or is replaced on purpose; no link leads it elsewhere."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.commands.here import Here
from tests.support import resources
from tests.support.scripted import Said, ScriptedService

EXPORT = "/v1/compliance-export"
OLD = "export PATH=~/bin\n"


@pytest.fixture(
    params=[
        ("compliance", "export", "--output"),
        ("receipts", "export", "--output"),
        ("templates", "report", "--output"),
        ("problems", "show", "INSTANCE", "--bundle"),
    ],
    ids=" ".join,
)
def export(request: pytest.FixtureRequest, runwatch: Here, service: ScriptedService) -> Callable[..., int]:
    """Writes the export of one command into a file, and returns the exit code."""
    service.say("GET", EXPORT, Said(200, resources.compliance_export()))
    service.say("GET", "/v1/tenant-templates", Said(200, {"templates": [dict(resources.template().raw)]}))
    words = list(request.param)
    if "INSTANCE" in words:
        assert runwatch("runs", "show", "ex_gone").code != 0
        (met,) = runwatch("problems", "list", "--json").json
        words[words.index("INSTANCE")] = met["instance"]

    def run(file: Path, *more: str) -> int:
        outcome = runwatch(*words, str(file), *more)
        if outcome.code == 2:
            assert "nothing was changed" in outcome.errors
        return outcome.code

    return run


def test_a_file_that_is_there_stays_unless_it_is_forced(export: Callable[..., int], tmp_path: Path) -> None:
    file = tmp_path / "export.json"
    file.write_text(OLD)
    assert export(file) == 2
    assert file.read_text() == OLD
    assert export(file, "--force") == 0
    assert file.read_text() != OLD
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_planted_link_is_not_followed_whether_forced_or_not(export: Callable[..., int], tmp_path: Path) -> None:
    bashrc, missing = tmp_path / ".bashrc", tmp_path / "missing"
    bashrc.write_text(OLD)
    for number, target in enumerate((bashrc, missing)):
        link = tmp_path / f"{number}.json"
        link.symlink_to(target)
        assert export(link) == 2
        assert link.is_symlink()
        assert export(link, "--force") == 0
        assert not link.is_symlink()
    assert bashrc.read_text() == OLD
    assert not missing.exists()


def test_a_hard_link_to_another_file_leaves_that_file_alone(export: Callable[..., int], tmp_path: Path) -> None:
    bashrc, name = tmp_path / ".bashrc", tmp_path / "export.json"
    bashrc.write_text(OLD)
    os.link(bashrc, name)
    assert export(name) == 2
    assert export(name, "--force") == 0
    assert bashrc.read_text() == OLD


def test_what_is_no_file_is_never_replaced(export: Callable[..., int], tmp_path: Path) -> None:
    pipe, folder = tmp_path / "pipe.json", tmp_path / "folder.json"
    os.mkfifo(pipe)
    folder.mkdir()
    for place in (pipe, folder):
        assert export(place) == 2
        assert export(place, "--force") == 2
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert list(folder.iterdir()) == []


def test_a_file_that_is_there_is_refused_before_anything_is_read(
    runwatch: Here, service: ScriptedService, tmp_path: Path
) -> None:
    (tmp_path / "export.json").touch()
    before = len(service.requests("GET"))
    outcome = runwatch("compliance", "export", "--output", str(tmp_path / "export.json"), code=2)
    assert "--force" in outcome.errors
    assert len(service.requests("GET")) == before
