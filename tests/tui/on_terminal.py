"""The console over the runs of a noon on a real terminal, and how that terminal is left."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from tests.support.environment import clean_environment
from tests.support.screen import foreign_controls
from tests.support.scripted import ScriptedService
from tests.support.terminal import Terminal
from tests.tui.console import KEY

ROOT: Final = Path(__file__).resolve().parents[2]
LAST_ROW: Final = "0c42"
"""The run at the end of the list."""


@contextmanager
def opened(
    home: Path,
    service: ScriptedService,
    *,
    victim: bool = False,
    columns: int = 120,
    rows: int = 30,
    settings: str = "",
    variables: Mapping[str, str] | None = None,
) -> Iterator[Terminal]:
    """The console on a terminal, with its list read.

    Args:
        home: Where its settings and data are.
        service: What it is connected to.
        victim: Whether keys cause faults, as :mod:`tests.tui.console_victim` says.
        columns: The terminal's width.
        rows: The terminal's height.
        settings: The settings file.
        variables: More of its environment.
    """
    if settings:
        (home / "settings.toml").write_text(settings)
        (home / "settings.toml").chmod(0o600)
    environment = {"RUNWATCH_BASE_URL": service.base_url, "RUNWATCH_API_KEY": KEY, **(variables or {})}
    command = [sys.executable, "-m", "tests.tui.console_victim" if victim else "runwatch"]
    with Terminal(command, env=clean_environment(home, environment), columns=columns, rows=rows, cwd=ROOT) as terminal:
        terminal.wait_for(LAST_ROW.replace("…", "~") if "TERM" in environment else LAST_ROW)
        yield terminal


def assert_whole(terminal: Terminal, home: Path, *, failed: bool = False) -> None:
    """Nothing of the console is left in the terminal, its key is nowhere, and it noted a trace only if it failed."""
    assert terminal.flags == terminal.flags_before
    assert terminal.screen.modes == {7, 25}
    assert terminal.screen.keyboards == 0
    assert not terminal.screen.is_alternate
    assert foreign_controls(bytes(terminal.raw), renderer=True) == []
    assert KEY.encode() not in terminal.raw
    for file in home.rglob("*"):
        if file.is_file():
            assert KEY.encode() not in file.read_bytes(), file
    if not failed:
        assert_no_trace(home)


def assert_no_trace(home: Path) -> None:
    """Nothing unforeseen has been noted."""
    log = home / "runwatch-data" / "log" / "runwatch.log"
    assert not log.exists() or "Traceback" not in log.read_text("utf-8")
