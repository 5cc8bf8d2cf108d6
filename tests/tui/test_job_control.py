"""The console is stopped and goes on, by keys, by signals and by a shell: it has the terminal when it may, and once."""

from __future__ import annotations

import shutil
import signal
import sys
from pathlib import Path

import pytest

from tests.support.environment import clean_environment
from tests.support.scripted import ScriptedService
from tests.support.terminal import Terminal
from tests.tui.console import KEY
from tests.tui.on_terminal import LAST_ROW, ROOT, assert_no_trace, assert_whole, opened
from tests.tui.test_console_endings import SCREENS

TAKEN = b"\x1b[?1049h"
"""What the console writes when it takes the terminal."""


def assert_is_alive(terminal: Terminal) -> None:
    """Keys are read, and what they do is drawn."""
    terminal.press("?", until="How the service works")
    terminal.press("esc")
    terminal.wait_gone("How the service works")


def wait_until_stopped(terminal: Terminal) -> None:
    """Wait until it has given the terminal back and is stopped: an earlier signal to go on would be lost."""
    terminal.wait_until(lambda: terminal.is_stopped, "the console to stop", poll=True)
    terminal.wait_until(lambda: terminal.screen.modes == {7, 25}, "the console to leave the screen", poll=True)
    assert terminal.flags == terminal.flags_before
    assert terminal.screen.keyboards == 0


@pytest.mark.exhaustive
@pytest.mark.parametrize("screen", [name for name in SCREENS if name not in {"a filter", "a run form"}])
def test_it_is_stopped_and_goes_on_where_it_was(tmp_path: Path, noon_service: ScriptedService, screen: str) -> None:
    keys, sign = SCREENS[screen]
    with opened(tmp_path, noon_service) as terminal:
        terminal.type(keys, until=sign)
        terminal.signal(signal.SIGTSTP)
        wait_until_stopped(terminal)
        assert sign not in terminal.screen.text
        terminal.signal(signal.SIGCONT)
        terminal.wait_for(sign)
        assert terminal.ends("ctrl+c", "ctrl+c") == 130
        assert_whole(terminal, tmp_path)


@pytest.mark.exhaustive
def test_it_is_stopped_in_the_moment_in_which_it_draws(tmp_path: Path, noon_service: ScriptedService) -> None:
    with opened(tmp_path, noon_service, victim=True) as terminal:
        terminal.type("$")
        wait_until_stopped(terminal)
        terminal.signal(signal.SIGCONT)
        terminal.wait_for(LAST_ROW)
        assert_is_alive(terminal)
        assert terminal.ends("ctrl+c", "ctrl+c") == 130
        assert_whole(terminal, tmp_path)


def test_its_key_stops_it_and_a_signal_to_go_on_without_a_noticed_stop_takes_the_terminal_once(
    tmp_path: Path, noon_service: ScriptedService
) -> None:
    def go_on(times: int) -> None:
        terminal.signal(signal.SIGCONT)
        terminal.wait_until(lambda: terminal.raw.count(TAKEN) == times, "the console to take the terminal", poll=True)
        terminal.wait_for(LAST_ROW)
        assert_is_alive(terminal)

    with opened(tmp_path, noon_service) as terminal:
        terminal.press("ctrl+z")
        wait_until_stopped(terminal)
        go_on(2)
        go_on(3)
        terminal.signal(signal.SIGSTOP)
        terminal.wait_until(lambda: terminal.is_stopped, "the console to stop", poll=True)
        go_on(4)
        assert terminal.ends("ctrl+c", "ctrl+c") == 130
        assert_whole(terminal, tmp_path)


@pytest.mark.exhaustive
@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_a_shell_starts_it_in_the_background_and_moves_it_to_and_fro(
    tmp_path: Path, noon_service: ScriptedService
) -> None:
    def wait_for_stop(number: int) -> None:
        terminal.type(f"until jobs | grep -q Stopped; do :; done; echo $((100 + {number})) times\r")
        terminal.wait_for(f"{100 + number} times")

    variables = {"RUNWATCH_BASE_URL": noon_service.base_url, "RUNWATCH_API_KEY": KEY, "PS1": "> "}
    shell = ["bash", "--norc", "--noprofile", "-i"]
    environment = clean_environment(tmp_path, variables)
    with Terminal(shell, env=environment, columns=120, rows=30, cwd=ROOT) as terminal:
        terminal.type(f"{sys.executable} -m runwatch &\r")
        wait_for_stop(1)
        assert TAKEN not in terminal.raw
        terminal.type("fg\r", until=LAST_ROW)
        terminal.press("ctrl+z")
        terminal.wait_gone(LAST_ROW)
        wait_for_stop(2)
        terminal.type("bg\r")
        wait_for_stop(3)
        assert terminal.raw.count(TAKEN) == 1
        terminal.type("fg\r", until=LAST_ROW)
        assert_is_alive(terminal)
        terminal.press("ctrl+c", "ctrl+c")
        terminal.wait_until(lambda: terminal.screen.text.rstrip().endswith("\n>"), "the shell to ask for more")
        terminal.type("exit $(($? - 100))\r")
        assert terminal.wait_exit() == 30
    assert_no_trace(tmp_path)
