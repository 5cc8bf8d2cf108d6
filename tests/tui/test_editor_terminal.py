"""An editor gets the whole terminal and a private file, and the console comes back with what was written."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest

from tests.support import resources
from tests.support.builders import account
from tests.support.environment import clean_environment
from tests.support.scripted import Said, ScriptedService, running_service
from tests.support.terminal import Terminal
from tests.tui import noon
from tests.tui.console import KEY
from tests.tui.on_terminal import LAST_ROW, assert_whole

EDITOR: Final = """\
import os, pathlib, stat, sys, termios
file, told = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[0]).parent / "told"
modes = [oct(stat.S_IMODE(it.stat().st_mode)) for it in (file, file.parent)]
cooked = bool(termios.tcgetattr(0)[3] & termios.ICANON)
told.write_text(repr((file.read_text(), modes, cooked, [name for name in os.environ if "RUNWATCH" in name])))
(told.parent / "file").write_text(str(file))
print("the editor has the terminal", flush=True)
word = sys.stdin.readline().strip()
if word == "write":
    file.write_text("written\\nelsewhere\\n")
elif word == "bytes":
    file.write_bytes(b"\\xff\\xfe")
sys.exit(3 if word == "give up" else 0)
"""


@pytest.fixture
def service() -> Iterator[ScriptedService]:
    made = noon.service(key=KEY, account=account())
    made.say("GET", "/v1/arms", Said(200, {"arms": [dict(resources.arm().raw)], "next_cursor": None}))
    with running_service(made) as running:
        yield running


@contextmanager
def in_editor(home: Path, service: ScriptedService) -> Iterator[Terminal]:
    """The console on a terminal, with the text of a skill given to an editor."""
    script = home / "editor.py"
    script.write_text(EDITOR)
    variables = {
        "RUNWATCH_BASE_URL": service.base_url, "RUNWATCH_API_KEY": KEY, "EDITOR": f"{sys.executable} {script}",
    }  # fmt: skip
    command = [sys.executable, "-m", "runwatch"]
    with Terminal(command, env=clean_environment(home, variables), columns=120, rows=36) as terminal:
        terminal.wait_for(LAST_ROW)
        terminal.type("4", until="arm_")
        terminal.type("+", until="Save a skill")
        terminal.press("down", "down", "enter", until="Request, exactly as sent")
        terminal.type("A")
        terminal.press("tab", "tab", "tab", "tab")
        terminal.type("first", until="first")
        terminal.press("ctrl+e", until="the editor has the terminal")
        yield terminal


def told(home: Path) -> str:
    return (home / "told").read_text()


def file(home: Path) -> Path:
    return Path((home / "file").read_text())


@pytest.mark.exhaustive
def test_the_editor_has_a_private_file_and_the_console_takes_what_it_wrote(
    tmp_path: Path, service: ScriptedService
) -> None:
    with in_editor(tmp_path, service) as terminal:
        assert not terminal.screen.is_alternate
        assert told(tmp_path) == repr(("first\n", ["0o600", "0o700"], True, []))
        terminal.type("write\n", until="artifact.content, 2 lines, 17 characters")
        assert not file(tmp_path).parent.exists()
        terminal.type("!", until="elsewhere!")
        terminal.press("esc")
        terminal.wait_gone("artifact.content")
        assert terminal.ends("ctrl+c", "ctrl+c") == 130
        assert_whole(terminal, tmp_path)


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("word", "words"),
    [("give up", "The editor failed: exit code 3."), ("bytes", "The editor did not write UTF-8.")],
)
def test_an_editor_that_fails_leaves_the_text_as_it_was(
    tmp_path: Path, service: ScriptedService, word: str, words: str
) -> None:
    with in_editor(tmp_path, service) as terminal:
        terminal.type(f"{word}\n", until=words)
        terminal.wait_for('"content": "first"')
        assert not file(tmp_path).parent.exists()


def test_ctrl_c_in_the_editor_is_not_meant_for_the_console(tmp_path: Path, service: ScriptedService) -> None:
    with in_editor(tmp_path, service) as terminal:
        terminal.press("ctrl+c", until="The editor failed")
        terminal.wait_for('"content": "first"')


@pytest.mark.exhaustive
def test_a_signal_ends_the_console_and_its_editor(tmp_path: Path, service: ScriptedService) -> None:
    with in_editor(tmp_path, service) as terminal:
        terminal.signal(signal.SIGTERM)
        assert terminal.wait_exit() == 143
        assert not file(tmp_path).parent.exists()
        assert terminal.flags == terminal.flags_before
