"""However the console ends, on whatever screen, the terminal is as it was before and the exit code says how.

Each ending meets a few of the screens, each screen a few of the endings; ``RUNWATCH_LONG=1`` has all meet all.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from tests.support.scripted import ScriptedService
from tests.support.terminal import Terminal
from tests.tui.on_terminal import LAST_ROW, assert_whole, opened

SCREENS: Final = {
    "the overview": (":overview\r", "Overview"),
    "a live run": ("j\r", "Events"),
    "a run form": ("+", "New run"),
    "the settings": (",", "Settings"),
    "the command line": (":", "Go to Runs"),
    "the help": ("?", "How the service works"),
    "the problems": ("0", "Problems"),
    "the account": (":account\r", "Account and usage"),
    "a filter": ("/", "9/9"),
    "a menu": ("Y", "━ Copy"),
    "a dialog": ("X", "Keep it running"),
}
"""What is typed to get to a screen, and what it shows then."""

Ending = Callable[[Terminal], None]

ENDINGS: Final[dict[str, tuple[Ending, int]]] = {
    "ctrl+c": (lambda terminal: terminal.press("ctrl+c", "ctrl+c"), 130),
    "SIGINT": (lambda terminal: terminal.signal(signal.SIGINT), 130),
    "SIGTERM": (lambda terminal: terminal.signal(signal.SIGTERM), 143),
    "SIGHUP": (lambda terminal: terminal.signal(signal.SIGHUP), 129),
    "SIGQUIT": (lambda terminal: terminal.signal(signal.SIGQUIT), 131),
    "an exception": (lambda terminal: terminal.signal(signal.SIGUSR1), 1),
    "an exception in a worker": (lambda terminal: terminal.signal(signal.SIGUSR2), 1),
    "a closed terminal": (lambda terminal: terminal.hang_up(), 129),
}
"""What ends the console, and its exit code."""

PAIRS: Final = [
    (screen, ending)
    for row, screen in enumerate(SCREENS)
    for column, ending in enumerate(ENDINGS)
    if os.environ.get("RUNWATCH_LONG") or (row + column) % 4 == 0
]


# Tests of job control end the console in the short run too, by ctrl+c, and those of an editor by a signal.
@pytest.mark.parametrize(
    ("screen", "ending"),
    [pytest.param(*pair, marks=[pytest.mark.exhaustive] * (ENDINGS[pair[1]][1] != 1)) for pair in PAIRS],
    ids=str,
)
def test_the_terminal_is_whole_and_the_exit_code_honest(
    tmp_path: Path, noon_service: ScriptedService, screen: str, ending: str
) -> None:
    keys, sign = SCREENS[screen]
    end, code = ENDINGS[ending]
    with opened(tmp_path, noon_service, victim=True) as terminal:
        terminal.type(keys, until=sign)
        end(terminal)
        assert terminal.wait_exit() == code
        if ending != "a closed terminal":
            assert_whole(terminal, tmp_path, failed=code == 1)
        if code == 1:
            assert "Unexpected error, the console ended" in terminal.screen.text
            assert "Traceback" not in terminal.screen.text
            assert "Error" in (tmp_path / "runwatch-data" / "log" / "runwatch.log").read_text()
    assert noon_service.requests("POST") == []


@pytest.mark.exhaustive
def test_a_window_of_twenty_by_five_says_what_it_needs_and_lets_go(
    tmp_path: Path, noon_service: ScriptedService
) -> None:
    with opened(tmp_path, noon_service) as terminal:
        terminal.resize(20, 5)
        terminal.wait_for("now 20x5, q quits")
        assert max(map(len, terminal.screen.lines)) <= 20
        terminal.type("Xjy:0")
        # Drawn after the keys were read.
        terminal.resize(20, 6)
        terminal.wait_for("now 20x6")
        terminal.resize(120, 30)
        terminal.wait_for(LAST_ROW)
        terminal.wait_for("━ Runs ")
        terminal.resize(20, 5)
        terminal.wait_for("80x20")
        terminal.type("qq")
        assert terminal.wait_exit() == 0
        assert_whole(terminal, tmp_path)
    assert noon_service.requests("POST") == []
