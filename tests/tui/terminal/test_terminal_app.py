"""The terminal is whole and the exit code honest on every way out of a full-screen program."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.environment import clean_environment
from tests.support.screen import foreign_controls
from tests.support.terminal import Terminal

ROOT = Path(__file__).resolve().parents[3]


@contextmanager
def victim(home: Path, way: str = "stay") -> Iterator[Terminal]:
    """The program on its own terminal, ready unless it ends or floods it first."""
    command = [sys.executable, "-m", "tests.tui.victim", way, str(home / "log")]
    with Terminal(command, env=clean_environment(home), cwd=ROOT) as terminal:
        if way in {"stay", "key", "guarded worker"}:
            terminal.wait_for("ready")
        yield terminal


def assert_whole(terminal: Terminal) -> None:
    """Nothing of the program is left in the terminal."""
    assert terminal.flags == terminal.flags_before
    assert terminal.screen.modes == {7, 25}
    assert terminal.screen.keyboards == 0
    assert not terminal.screen.is_alternate
    assert foreign_controls(bytes(terminal.raw), renderer=True) == []


def is_stopped(terminal: Terminal) -> bool:
    """Whether the program waits for its shell to let it go on."""
    command = ["ps", "-o", "stat=", "-p", str(terminal.process.pid)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.startswith("T")


@pytest.mark.parametrize(("key", "code"), [("q", 0), ("ctrl+c", 130)])
def test_quitting_is_a_success_and_ctrl_c_an_interruption_and_both_leave_the_terminal_whole(
    tmp_path: Path, key: str, code: int
) -> None:
    with victim(tmp_path) as terminal:
        assert terminal.ends(key) == code
        assert_whole(terminal)


@pytest.mark.parametrize(
    ("number", "code"),
    [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGQUIT, 131)],
)
def test_a_signal_ends_the_program_with_its_own_code(tmp_path: Path, number: signal.Signals, code: int) -> None:
    with victim(tmp_path) as terminal:
        terminal.signal(number)
        assert terminal.wait_exit() == code
        assert_whole(terminal)


@pytest.mark.exhaustive
def test_a_signal_that_comes_again_until_the_end_changes_nothing(tmp_path: Path) -> None:
    with victim(tmp_path) as terminal:
        while terminal.process.poll() is None:
            terminal.signal(signal.SIGHUP)
            terminal.take_in()
        assert terminal.wait_exit() == 129
        assert_whole(terminal)


def test_a_program_that_does_not_end_by_itself_is_ended_with_everything_put_away(tmp_path: Path) -> None:
    with victim(tmp_path) as terminal:
        terminal.press("s", until="stuck")
        terminal.signal(signal.SIGTERM)
        assert terminal.wait_exit() == 143
        assert_whole(terminal)
    assert (tmp_path / "away").exists()


@pytest.mark.exhaustive
def test_a_program_that_ends_by_itself_leaves_the_rest_to_whoever_called_it(tmp_path: Path) -> None:
    with victim(tmp_path) as terminal:
        terminal.signal(signal.SIGTERM)
        assert terminal.wait_exit() == 143
    assert not (tmp_path / "away").exists()


@pytest.mark.parametrize("way", ["key", "exception at the start", "worker"])
def test_an_exception_is_reported_in_two_lines_without_the_value_of_any_variable(tmp_path: Path, way: str) -> None:
    with victim(tmp_path, way) as terminal:
        if way == "key":
            terminal.press("b")
        assert terminal.wait_exit() == 1
        assert_whole(terminal)
        assert "the console ended: ValueError at victim.py:" in terminal.screen.text
        assert f"The trace is in {tmp_path / 'log'}" in terminal.screen.text.replace("\n", "")
        assert b"sentinel" not in terminal.raw
        assert b"Traceback" not in terminal.raw
    assert "ValueError" in (tmp_path / "log").read_text()
    assert "sentinel-key" not in (tmp_path / "log").read_text()


def test_an_error_that_was_raised_on_purpose_says_what_to_do_and_is_cleaned(tmp_path: Path) -> None:
    with victim(tmp_path) as terminal:
        assert terminal.ends("e") == 1
        assert_whole(terminal)
        assert "runwatch: The data is gone" in terminal.screen.text
        assert "runwatch: ␛]0;x␇" in terminal.screen.text
        assert "runwatch: Look for it." in terminal.screen.text


def test_guarded_work_that_fails_ends_nothing(tmp_path: Path) -> None:
    with victim(tmp_path, "guarded worker") as terminal:
        terminal.press("x", until="got x")
        assert terminal.ends("q") == 0
        assert_whole(terminal)
    assert "work failed: reading" in (tmp_path / "log").read_text()


def test_a_closed_terminal_ends_the_program(tmp_path: Path) -> None:
    with victim(tmp_path) as terminal:
        terminal.hang_up()
        assert terminal.wait_exit() == 129


@pytest.mark.exhaustive
def test_a_closed_terminal_ends_the_program_without_a_signal_too(tmp_path: Path) -> None:
    master, slave = os.openpty()
    # A session without a controlling terminal gets no SIGHUP; it has to notice by reading.
    child = subprocess.Popen(
        [sys.executable, "-m", "tests.tui.victim", "stay"],
        stdin=slave, stdout=slave, stderr=slave, env=clean_environment(tmp_path), cwd=ROOT, start_new_session=True,
    )  # fmt: skip
    os.close(slave)
    seen = b""
    while b"ready" not in seen:
        seen += os.read(master, 4096)
    os.close(master)
    assert child.wait(30) == 129


def test_a_signal_ends_a_program_whose_terminal_takes_nothing(tmp_path: Path) -> None:
    with victim(tmp_path, "flood") as terminal:
        terminal.wait_until(lambda: terminal.screen.is_alternate, "the program to draw")
        # From here on its output is not read and blocks.
        terminal.signal(signal.SIGTERM)
        terminal.process.wait(30)
        assert terminal.process.returncode == 143


def test_what_old_terminals_and_broken_pipes_send_does_no_harm(tmp_path: Path) -> None:
    with victim(tmp_path) as terminal:
        terminal.send(b"\x1b[M \xf0\xb0\x1b[M#\xff\xfe\xff\xfe\x80")
        terminal.press("x", until="got x")
        assert terminal.ends("q") == 0
        assert_whole(terminal)


def test_the_shell_gets_a_whole_terminal_while_the_program_is_suspended_and_back_it_is_drawn_again(
    tmp_path: Path,
) -> None:
    with victim(tmp_path) as terminal:
        terminal.signal(signal.SIGTSTP)
        terminal.wait_until(lambda: is_stopped(terminal), "the program to stop", poll=True)
        terminal.wait_until(lambda: terminal.screen.modes == {7, 25}, "the modes to be off", poll=True)
        assert terminal.flags == terminal.flags_before
        assert terminal.screen.keyboards == 0
        terminal.signal(signal.SIGCONT)
        terminal.wait_for("ready")
        assert terminal.screen.is_alternate
        terminal.press("x", until="got x")
        assert terminal.ends("q") == 0
        assert_whole(terminal)
