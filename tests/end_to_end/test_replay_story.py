"""A run on a terminal: its timeline, its replay and its wall, by keys alone."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support.console import console
from tests.support.scripted import running_service
from tests.tui import noon


@pytest.mark.exhaustive
def test_a_run_is_drawn_replayed_and_put_on_the_wall(tmp_path: Path) -> None:
    with running_service(noon.service()) as service, console(tmp_path, base_url=service.base_url) as terminal:
        terminal.wait_for(re.compile(r"5c9d\S+77aa"))
        terminal.press("down", until="8 events")
        terminal.press("enter")
        terminal.type(">>", until=re.compile(r"attempt 1 +█+ +10 s +✗ rejected 0\.31"))
        terminal.wait_for(re.compile(r"↻ attempt 2 +█+ +17 s +✓ accepted 0\.86"))
        terminal.type("m", until="REPLAY")
        terminal.wait_for("plays 1×")
        terminal.type("g", until="event 1 of 8")
        terminal.wait_for("PAUSED")
        terminal.press("right", "right", "right", "right", until="event 5 of 8")
        assert "accepted 0.86" not in terminal.screen.text
        terminal.type("s", until="14:05:10, +30s")
        terminal.type("+60s")
        terminal.press("enter", until="event 8 of 8")
        terminal.press("esc")
        terminal.wait_gone("REPLAY")
        # The run is open as before.
        terminal.wait_for("esc list")
        terminal.press("esc")
        # An escape with a letter right behind it is the letter with alt.
        terminal.wait_for("enter open")
        terminal.type("g GV*", until="Run wall")
        terminal.wait_for("↻ 1 retry")
        # The largest one has the focus.
        terminal.wait_until(lambda: terminal.screen.text.count("╭─ ") == 8, "eight runs beside the largest one")
        terminal.press("enter", until=re.compile("Runs . 8f21"))
        assert terminal.ends("ctrl+c", "ctrl+c") == 130
        assert terminal.flags == terminal.flags_before


@pytest.mark.exhaustive
def test_nine_marked_runs_stand_on_the_wall(tmp_path: Path) -> None:
    with running_service(noon.service()) as service, console(tmp_path, base_url=service.base_url) as terminal:
        terminal.wait_for("19aa")
        terminal.type("g GV")
        terminal.wait_until(lambda: terminal.screen.text.count("■") == 9, "nine marks")
        terminal.type("*")
        terminal.wait_until(lambda: terminal.screen.text.count("╭─ ") == 8, "eight runs beside the largest one")
        terminal.wait_for(re.compile("┏━ 8f21"))
        assert terminal.ends("ctrl+c", "ctrl+c") == 130
