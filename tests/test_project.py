"""What the project says about itself: README, manual, gate and packaging agree."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import runwatch

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text("utf-8")


def commands() -> list[str]:
    """The commands of README's section *Start*, in order."""
    start = README.partition("\n## Start\n")[2].partition("\n## ")[0]
    return [block.strip() for block in re.findall(r"```sh\n(.*?)```", start, re.DOTALL)]


def test_readme_gives_two_commands_to_start_with() -> None:
    assert len(commands()) == 2
    assert commands()[0].endswith("runwatch demo")


def test_the_gate_runs_the_test_command_of_the_readme() -> None:
    assert commands()[1] in (ROOT / ".ci" / "run").read_text("utf-8").splitlines()


def test_readme_is_short() -> None:
    assert len(README.splitlines()) <= 150


def test_every_exit_code_of_the_manual_is_one_that_commands_use() -> None:
    from runwatch.commands.cli import exit_codes
    from runwatch.view.manual.pages import DIRECTORY

    page = (DIRECTORY / "commands.md").read_text("utf-8").partition("\n## Exit codes\n")[2]
    told = {int(code) for row in re.findall(r"^\| ([\d, ]+) \|", page, re.MULTILINE) for code in row.split(",")}
    used = {value for name, value in vars(exit_codes).items() if name.isupper() and isinstance(value, int)}
    assert {0, 1, 2, 3, 4, 5, 10, 11, 12, 130} == told
    assert used <= told


def test_the_top_level_holds_only_what_is_fixed() -> None:
    import subprocess

    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:  # a source archive has no git directory; its content was chosen when it was packed
        return
    top = {name.partition("/")[0] for name in listed.stdout.splitlines()}
    assert {name for name in top if not name.startswith(".")} <= {
        "pyproject.toml", "README.md", "src", "tests", "themes", "screenshots", "LICENSE",
    }  # fmt: skip


def test_the_version_has_one_place() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert "version" in project["dynamic"]
    assert re.fullmatch(r"\d+\.\d+\.\d+", runwatch.__version__)
