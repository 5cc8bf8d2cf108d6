"""``runwatch open FILE`` on a real terminal: the console without any service; in a pipe the records as text."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.builders import open_run, run
from tests.support.cli import Cli
from tests.support.console import console


@pytest.fixture
def file(tmp_path: Path) -> Path:
    kept = tmp_path / "runs.ndjson"
    records = (run("ex_1"), open_run("ex_2", "failed", reason="fallback_exhausted"))
    kept.write_text("".join(f"{json.dumps(dict(each.raw))}\n" for each in records))
    return kept


def test_on_a_terminal_a_file_is_the_console_and_nothing_is_started(tmp_path: Path, file: Path) -> None:
    with console(tmp_path, "open", str(file)) as terminal:
        terminal.wait_for("Runs   2")
        terminal.wait_for("file runs.ndjson")
        terminal.wait_for("READ-ONLY")
        terminal.type("qq")
        assert terminal.wait_exit() == 0
        assert terminal.flags == terminal.flags_before
    data = tmp_path / "runwatch-data"
    assert not (data / "console.db").exists()
    assert not (data / "local-service").exists()


@pytest.mark.parametrize(
    ("name", "said"), [("nothing.json", "There is no file"), (".", "is not a file")], ids=["missing", "a folder"]
)
def test_a_file_that_cannot_be_opened_leaves_the_terminal_alone(tmp_path: Path, name: str, said: str) -> None:
    with console(tmp_path, "open", str(tmp_path / name)) as terminal:
        terminal.wait_for(said)
        assert terminal.wait_exit() == 2


def test_in_a_pipe_it_prints(tmp_path: Path, file: Path) -> None:
    outcome = Cli(tmp_path)("open", str(file))
    assert outcome.code == 0
    assert "ex_1" in outcome.text
    assert "ex_2" in outcome.text
