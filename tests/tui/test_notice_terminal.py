"""Notices on the desktop on a real terminal and inside tmux: the bytes that arrive, and none while it has the focus."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.builders import open_run
from tests.support.environment import clean_environment
from tests.support.scripted import ScriptedService, running_service
from tests.support.terminal import Terminal
from tests.tui import noon
from tests.tui.console import KEY
from tests.tui.on_terminal import ROOT, opened

TEXT = "runwatch: run 8f21…9b7e has ended: ✗ failed · fallback_exhausted"
ELSEWHERE = "\x1b[O"
"""What a terminal sends when its window loses the focus."""


def end_run(service: ScriptedService, terminal: Terminal) -> None:
    """Have the pinned run end while the window has no focus, so that the next read of the list tells it."""
    terminal.type(ELSEWHERE)
    ended = dict(open_run(noon.LIVE, "failed", reason="fallback_exhausted").raw)
    service.runs[:] = [ended if run["execution_id"] == noon.LIVE else run for run in service.runs]


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("program", "sequence"), [("kitty", f"\x1b]99;;{TEXT}\x1b\\"), ("WezTerm", f"\x1b]9;{TEXT}\x1b\\")],
    ids=["osc99", "osc9"],
)  # fmt: skip
def test_a_pinned_run_that_ends_is_reported_as_the_terminal_understands_it(
    tmp_path: Path, program: str, sequence: str
) -> None:
    with (
        running_service(noon.service(key=KEY)) as service,
        opened(tmp_path, service, variables={"TERM_PROGRAM": program}) as terminal,
    ):
        terminal.press("down")
        terminal.type("b", until="Pinned run 8f21…9b7e")
        end_run(service, terminal)
        terminal.wait_until(lambda: sequence.encode() in terminal.raw, "the notice")
        assert terminal.ends("ctrl+c", "ctrl+c") == 130
        assert terminal.flags == terminal.flags_before


@pytest.fixture
def tmux_directory(tmp_path: Path) -> Iterator[Path]:
    """A home whose tmux ends with the test."""
    yield tmp_path
    subprocess.run(["tmux", "kill-server"], env={"TMUX_TMPDIR": str(tmp_path)}, capture_output=True, check=False)


@pytest.mark.exhaustive
@pytest.mark.skipif(shutil.which("tmux") is None, reason="needs tmux")
@pytest.mark.parametrize("passes", ["on", "off"])
def test_inside_tmux_it_passes_through_where_that_is_on_and_else_tmux_tells_it(
    tmux_directory: Path, passes: str
) -> None:
    (tmux_directory / "settings.toml").write_text('desktop_notice = "osc777"\n')
    (tmux_directory / "settings.toml").chmod(0o600)
    settings = tmux_directory / "tmux.conf"
    settings.write_text(f"set -g allow-passthrough {passes}\nset -g focus-events on\nset -g escape-time 0\n")
    with running_service(noon.service(key=KEY)) as service:
        environment = clean_environment(
            tmux_directory,
            {"RUNWATCH_BASE_URL": service.base_url, "RUNWATCH_API_KEY": KEY, "TMUX_TMPDIR": str(tmux_directory)},
        )  # fmt: skip
        command = ["tmux", "-u", "-f", str(settings), "new-session", sys.executable, "-m", "runwatch"]
        with Terminal(command, env=environment, columns=120, rows=30, cwd=ROOT) as terminal:
            terminal.wait_for("19aa")
            terminal.press("down")
            terminal.type("b", until="Pinned run 8f21…9b7e")
            end_run(service, terminal)
            if passes == "on":
                sequence = f"\x1b]777;notify;{TEXT.replace(': ', ';', 1)}\x1b\\".encode()
                terminal.wait_until(lambda: sequence in terminal.raw, "the notice")
            else:
                terminal.wait_for(TEXT)
                # The bell goes through the console's terminal, the words through tmux itself.
                terminal.wait_until(lambda: terminal.screen.bells > 0, "the bell")
                assert b"\x1b]777" not in terminal.raw
            terminal.press("ctrl+c", "ctrl+c")
            terminal.wait_exit()
