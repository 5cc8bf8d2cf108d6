"""The pty driver types, reads the screen, resizes, signals, hangs up and sees what a program leaves behind."""

from __future__ import annotations

import re
import signal
import sys
import termios
from pathlib import Path

import pytest

from tests.support.environment import clean_environment
from tests.support.hostile import CORPUS, Hostile
from tests.support.hostile_sequences import SEQUENCES
from tests.support.screen import Screen, foreign_controls
from tests.support.terminal import Terminal

ECHO = """
import sys, tty, termios
tty.setraw(0)
sys.stdout.write("\\x1b[?1049h\\x1b[?25l\\x1b[2;3Hready"); sys.stdout.flush()
while (key := sys.stdin.read(1)) != "q":
    sys.stdout.write(f"\\x1b[4;1H\\x1b[Kgot {key!r}"); sys.stdout.flush()
sys.stdout.write("\\x1b[?1049l\\x1b[?25h"); sys.stdout.flush()
"""

RESTORE = """
import sys, tty, termios
before = termios.tcgetattr(0)
tty.setraw(0)
sys.stdin.read(1)
termios.tcsetattr(0, termios.TCSANOW, before)
"""

SIZES = """
import os, signal, sys, time
def show(*_):
    print(*os.get_terminal_size(), flush=True)
signal.signal(signal.SIGWINCH, show)
show()
while True:
    signal.pause()
"""

ENDS = """
import signal, sys
def end(number, _):
    open(sys.argv[1], "w").write(signal.Signals(number).name)
    if number != signal.SIGHUP:
        print("ended by", signal.Signals(number).name, flush=True)
    sys.exit(7)
for name in ("SIGTERM", "SIGHUP"):
    signal.signal(getattr(signal, name), end)
print("waiting", flush=True)
while True:
    signal.pause()
"""


def started(tmp_path: Path, code: str, *arguments: str, columns: int = 80, rows: int = 24) -> Terminal:
    return Terminal(
        [sys.executable, "-c", code, *arguments], env=clean_environment(tmp_path), columns=columns, rows=rows
    )


def test_keys_reach_the_program_and_the_screen_shows_its_answer(tmp_path: Path) -> None:
    with started(tmp_path, ECHO) as terminal:
        terminal.wait_for("ready")
        assert terminal.screen.lines[1] == "  ready"
        terminal.type("ä")
        terminal.wait_for("got 'ä'")
        terminal.press("enter")
        terminal.wait_for(re.compile(r"got '\\r'"))
        assert "ready" in terminal.screen.text
        terminal.press("q")
        assert terminal.wait_exit() == 0
    assert terminal.raw.startswith(b"\x1b[?1049h\x1b[?25l")


def test_the_screen_knows_what_is_switched_on_and_that_the_main_screen_came_back(tmp_path: Path) -> None:
    with started(tmp_path, ECHO) as terminal:
        terminal.wait_for("ready")
        assert terminal.screen.modes == {7, 1049}
        terminal.press("q")
        terminal.wait_exit()
    assert terminal.screen.modes == {7, 25}
    assert terminal.screen.text == ""


@pytest.mark.parametrize(("code", "is_restored"), [(RESTORE, True), (ECHO, False)])
def test_the_flags_tell_whether_a_program_restored_them(tmp_path: Path, code: str, is_restored: bool) -> None:
    with started(tmp_path, code) as terminal:
        terminal.wait_until(lambda: not terminal.flags[3] & termios.ECHO, "raw mode", poll=True)
        terminal.press("q")
        assert terminal.wait_exit() == 0
        assert (terminal.flags == terminal.flags_before) is is_restored


def test_a_program_is_told_of_its_size_and_of_a_new_one(tmp_path: Path) -> None:
    with started(tmp_path, SIZES, columns=100, rows=30) as terminal:
        terminal.wait_for("100 30")
        terminal.resize(60, 20)
        terminal.wait_for("60 20")
        assert len(terminal.screen.lines) == 20


def test_a_signal_reaches_the_program_and_its_status_comes_back(tmp_path: Path) -> None:
    with started(tmp_path, ENDS, str(tmp_path / "end")) as terminal:
        terminal.wait_for("waiting")
        terminal.signal(signal.SIGTERM)
        assert terminal.wait_exit() == 7
        assert "ended by SIGTERM" in terminal.screen.text


def test_a_program_whose_terminal_is_closed_is_hung_up(tmp_path: Path) -> None:
    with started(tmp_path, ENDS, str(tmp_path / "end")) as terminal:
        terminal.wait_for("waiting")
        terminal.hang_up()
        terminal.wait_exit()
    assert (tmp_path / "end").read_text() == "SIGHUP"


def test_control_c_interrupts_as_on_a_real_terminal(tmp_path: Path) -> None:
    with started(tmp_path, "print('up', flush=True); import signal; signal.pause()") as terminal:
        terminal.wait_for("up")
        terminal.press("ctrl+c")
        assert terminal.wait_exit() != 0
        assert "KeyboardInterrupt" in terminal.screen.text


def test_a_program_that_was_killed_has_the_signals_status(tmp_path: Path) -> None:
    with started(tmp_path, ENDS, str(tmp_path / "end")) as terminal:
        terminal.wait_for("waiting")
        terminal.signal(signal.SIGKILL)
        assert terminal.wait_exit() == -signal.SIGKILL


def test_a_wait_that_cannot_come_true_fails_with_the_screen(tmp_path: Path) -> None:
    with started(tmp_path, "print('something else')") as terminal:
        with pytest.raises(TimeoutError, match=r"the program ended(?s:.*)something else"):
            terminal.wait_for("the right thing")
        assert terminal.wait_exit() == 0


def test_a_wait_ends_at_its_timeout(tmp_path: Path) -> None:
    with started(tmp_path, ENDS, str(tmp_path / "end")) as terminal:
        terminal.wait_for("waiting")
        with pytest.raises(TimeoutError, match=r"took 0\.01 s"):
            terminal.wait_for("more", timeout=0.01)
        with pytest.raises(TimeoutError, match="still runs"):
            terminal.wait_exit(timeout=0.01)


def test_all_output_is_read_even_when_the_program_ends_at_once(tmp_path: Path) -> None:
    with started(tmp_path, "import sys; sys.stdout.write('x' * 100_000 + 'end')") as terminal:
        assert terminal.wait_exit() == 0
    assert bytes(terminal.raw).endswith(b"xend")
    assert len(terminal.raw) == 100_003


def test_a_paste_is_marked_only_for_a_program_that_asked_for_it(tmp_path: Path) -> None:
    code = ECHO.replace("?25l", "?2004h")
    with started(tmp_path, code) as terminal:
        terminal.wait_for("ready")
        terminal.paste("z")
        terminal.wait_for("got '~'")
        terminal.press("q")
        terminal.wait_exit()


TEXTUAL = """
from textual.app import App
from textual.widgets import Static, Input
class Bare(App):
    ENABLE_COMMAND_PALETTE = False
    def compose(self):
        yield Static("plain text", markup=False)
        yield Input()
Bare().run()
"""


def test_a_textual_application_can_be_read_typed_into_and_writes_nothing_foreign(tmp_path: Path) -> None:
    with started(tmp_path, TEXTUAL) as terminal:
        terminal.wait_for("plain text")
        terminal.type("typed")
        terminal.wait_for("typed")
        terminal.press("ctrl+q")
        assert terminal.wait_exit() == 0
    assert terminal.screen.modes == {7, 25}
    assert terminal.screen.keyboards == 0
    assert foreign_controls(bytes(terminal.raw), renderer=True) == []


def test_a_sequence_may_arrive_in_pieces() -> None:
    screen = Screen(20, 3)
    for byte in "\x1b]0;title\x1b\\\x1b[2;3Hä\x1b[31mred\x1b[?1049".encode():
        screen.feed(bytes([byte]))
    assert screen.lines == ["", "  äred", ""]
    screen.feed(b"h")
    assert screen.is_alternate


def test_questions_and_strange_sequences_leave_no_letters_on_the_screen() -> None:
    screen = Screen(40, 3)
    for number, text in enumerate(SEQUENCES.values()):
        if "never ended" not in list(SEQUENCES)[number]:
            screen.feed(text.encode())
    screen.feed(b"\x1b[?1049h\x1b[>1u\x1b[?2026$p\x1b[<u\x1b[H\x1b[2Jend")
    assert screen.text == "end"


@pytest.mark.parametrize(
    "hostile", [entry for entry in CORPUS if entry.name in SEQUENCES], ids=lambda entry: entry.name
)
def test_every_sequence_of_the_corpus_is_foreign_to_a_verb(hostile: Hostile) -> None:
    assert foreign_controls(f"before {hostile.text} after\n".encode())


@pytest.mark.parametrize(
    "text",
    [
        "\x1b]52;c;eA==\x07",
        "\x1b[?47h",
        "\x1b[6n",
        "\x1bPq\x1b\\",
        "\x9b2J",
        "\x9d0;x\x9c",
        "\x07",
        "\t",
        "a\rb",
        "\u202e",
    ],
)
def test_what_the_renderer_never_writes_is_foreign_to_it(text: str) -> None:
    assert foreign_controls(f"\x1b[1;1H\x1b[31m{text}\x1b[0m".encode(), renderer=True)


def test_bytes_that_are_no_text_are_foreign() -> None:
    assert foreign_controls(b"run \x9b2J\n") == ["\\udc9b"]


def test_plain_text_is_not_foreign_whatever_its_script() -> None:
    text = "run ex_1  実行中 ± ─│ مرحبا שלום café 🚀 é\u0301 ␛[2J \\u202e\n"
    assert foreign_controls(text.encode()) == []
    assert foreign_controls(text.replace("\n", "\r\n").encode(), terminal=True) == []
    assert foreign_controls(text.replace("\n", "\r\n").encode()) == ["\\r"]
