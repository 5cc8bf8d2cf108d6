"""A pin on a real terminal: made, found again after a restart with its mark, and gone to by alt and its digit."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.builders import account, open_run
from tests.support.scripted import running_service
from tests.tui import noon
from tests.tui.console import KEY
from tests.tui.on_terminal import assert_whole, opened


@pytest.mark.exhaustive
def test_a_pinned_run_that_ended_meanwhile_is_marked_and_opened(tmp_path: Path) -> None:
    made = noon.service(key=KEY, account=account())
    with running_service(made) as service:
        with opened(tmp_path, service) as terminal:
            terminal.press("down")
            terminal.type("b", until="Pinned run 8f21…9b7e; alt+1 goes there")
            assert terminal.ends("ctrl+c", "ctrl+c") == 130
        ended = dict(open_run(noon.LIVE, "failed", reason="fallback_exhausted").raw)
        service.runs[:] = [ended if run["execution_id"] == noon.LIVE else run for run in service.runs]
        with opened(tmp_path, service) as terminal:
            terminal.wait_for("1 ± run 8f21…9b7e")
            terminal.send(b"\x1b1")
            terminal.wait_for("Runs › 8f21…9b7e")
            terminal.wait_for("1 run 8f21…9b7e")
            assert terminal.ends("ctrl+c", "ctrl+c") == 130
            assert_whole(terminal, tmp_path)
