"""The console starts with little and imports the rest afterwards; a command imports nothing of it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.environment import clean_environment
from tests.support.terminal import Terminal

ROOT = Path(__file__).resolve().parents[3]
HEAVY = ("pydantic", "httpx", "sqlalchemy", "starlette", "uvicorn", "tomlkit", "cryptography")

ON_DEMAND = (
    "runwatch.tui.screens.runs.replay", "runwatch.tui.screens.runs.run_wall", "runwatch.tui.app.pins",
    "runwatch.tui.flows", "runwatch.tui.widgets.panes.jump_labels", "runwatch.tui.widgets.panes.run_detail",
    "runwatch.tui.terminal.browser_driver", "runwatch.tui.terminal.desktop_notice", "runwatch.view.detail.plots",
    "runwatch.view.runs.run_timeline",
)  # fmt: skip
"""What is imported when it is used for the first time."""


def test_nothing_heavy_is_imported_before_the_first_paint(tmp_path: Path) -> None:
    """(manual: measurements, "Targets")"""
    written = tmp_path / "modules"
    command = [sys.executable, "-m", "tests.tui.painted", str(written)]
    with Terminal(command, env=clean_environment(tmp_path), cwd=ROOT, columns=120, rows=36) as terminal:
        assert terminal.wait_exit() == 0, terminal.screen.text
    imported = set(written.read_text().split())
    assert {"textual.app", "runwatch.tui.screens.runs.runs"} <= imported
    assert imported.isdisjoint({*HEAVY, "sqlite3"})
    unused = ("runwatch.service", "runwatch.view.manual", "runwatch.web", "runwatch.api.operations", *ON_DEMAND)
    assert not [name for name in imported if name.startswith(unused)]
    assert {"textual.widgets._text_area", "textual.widgets._markdown", "textual.widgets._data_table"}.isdisjoint(
        imported
    )


@pytest.mark.parametrize("words", [("problems", "list"), ("requests", "list"), ("config", "show"), ("demo", "--help")])
def test_a_verb_does_not_import_the_console(tmp_path: Path, words: tuple[str, ...]) -> None:
    code = (
        "import sys; from runwatch.cli import run; code = run(sys.argv[1:]);"
        " print([name for name in sys.modules if name.startswith(('textual', 'runwatch.tui'))], file=sys.stderr);"
        " sys.exit(code)"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code, *words], env=clean_environment(tmp_path), capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    assert ended.stderr.splitlines()[-1] == "[]"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--profile", "nobody"), "There is no profile 'nobody'"),
        (("--theme", "no such"), "--theme"),
        (("--opne", "runs"), "did you mean --open?"),
    ],
)
def test_a_mistake_in_the_options_is_reported_before_anything_is_drawn(
    tmp_path: Path, words: tuple[str, ...], told: str
) -> None:
    command = [sys.executable, "-m", "runwatch", *words]
    with Terminal(command, env=clean_environment(tmp_path)) as terminal:
        assert terminal.wait_exit() == 2
        assert told in terminal.screen.text
        assert b"\x1b[?1049h" not in terminal.raw
