"""A program in its own terminal: type, read the screen, resize, signal, hang up, and see what it leaves behind.

::

    with Terminal([sys.executable, "-m", "runwatch"], env=environment) as terminal:
        terminal.wait_for("Runs")
        terminal.press("down", "enter")
        terminal.type("qq")
        assert terminal.wait_exit() == 0

Every wait ends when its condition holds, and fails with the screen's text after its timeout. Nothing sleeps.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Self

from tests.support.screen import Screen

TIMEOUT_S: Final = 60.0

KEYS: Final[Mapping[str, str]] = {
    "enter": "\r",
    "tab": "\t",
    "shift+tab": "\x1b[Z",
    "esc": "\x1b",
    "space": " ",
    "backspace": "\x7f",
    "up": "\x1b[A",
    "down": "\x1b[B",
    "right": "\x1b[C",
    "left": "\x1b[D",
    "home": "\x1b[H",
    "end": "\x1b[F",
    "pageup": "\x1b[5~",
    "pagedown": "\x1b[6~",
    "delete": "\x1b[3~",
    "f1": "\x1bOP",
    "f5": "\x1b[15~",
    "f6": "\x1b[17~",
    "f7": "\x1b[18~",
    **{f"ctrl+{chr(code + 96)}": chr(code) for code in range(1, 27)},
}
"""What a terminal sends for keys that type no character."""

# The new process makes its standard input the terminal that signals and hang-ups come from, and becomes the program. A
# function between fork and exec could do it too, but not safely while other threads run.
_TAKE_TERMINAL: Final = """
import fcntl, os, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execvp(sys.argv[1], sys.argv[1:])
"""


def take_terminal(command: Sequence[str]) -> list[str]:
    """The command line that makes its standard input the terminal it belongs to, and then becomes the command."""
    return [sys.executable, "-ISc", _TAKE_TERMINAL, *command]


class Terminal:
    """The program and its terminal.

    Args:
        command: The program with its arguments.
        env: Its environment, whole.
        columns: The terminal's width.
        rows: The terminal's height.
        cwd: The directory it starts in.

    Attributes:
        raw: Every byte that the program wrote, in order.
        flags_before: The terminal's settings before the program started.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        env: Mapping[str, str],
        columns: int = 80,
        rows: int = 24,
        cwd: Path | None = None,
    ) -> None:
        self._screen = Screen(columns, rows)
        self._undrawn = bytearray()
        self.raw = bytearray()
        self._master, self._slave = pty.openpty()
        os.set_blocking(self._master, False)
        self._set_size(columns, rows)
        self.flags_before: list[Any] = termios.tcgetattr(self._slave)
        self._ended, ended = os.pipe()
        self.process: Final = subprocess.Popen(
            take_terminal(command),
            stdin=self._slave,
            stdout=self._slave,
            stderr=self._slave,
            env=dict(env),
            cwd=cwd,
            start_new_session=True,
        )
        self._waiter = threading.Thread(target=self._tell_end, args=(ended,), daemon=True)
        self._waiter.start()

    def _tell_end(self, pipe: int) -> None:
        self.process.wait()
        os.close(pipe)

    @property
    def screen(self) -> Screen:
        """What is on the terminal; drawn only when a test looks, because that is slow."""
        if self._undrawn:
            self._screen.feed(bytes(self._undrawn))
            self._undrawn.clear()
        return self._screen

    @property
    def is_stopped(self) -> bool:
        """Whether the program has been stopped, as Ctrl+Z does it."""
        flags = os.WSTOPPED | os.WNOHANG | os.WNOWAIT
        return os.waitid(os.P_PID, self.process.pid, flags) is not None

    def type(self, text: str, *, until: str | re.Pattern[str] | None = None) -> None:
        """Type a text, and wait until something shows if that is named."""
        self._write(text.encode())
        if until is not None:
            self.wait_for(until)

    def press(self, *names: str, until: str | re.Pattern[str] | None = None) -> None:
        """Press keys by name, and wait until something shows if that is named; a name of one character types it.

        Raises:
            KeyError: there is no key of that name.
        """
        for name in names:
            self._write((name if len(name) == 1 else KEYS[name]).encode())
        if until is not None:
            self.wait_for(until)

    def paste(self, text: str) -> None:
        """Paste a text, between the marks of bracketed paste where the program has asked for them."""
        marks = ("\x1b[200~", "\x1b[201~") if 2004 in self.screen.modes else ("", "")
        self._write(f"{marks[0]}{text}{marks[1]}".encode())

    def click(self, text: str) -> None:
        """Click where a text begins on the screen, as a terminal reports it to a program that asked for the mouse.

        Raises:
            AssertionError: the text is not on the screen.
        """
        row = next((number for number, line in enumerate(self.screen.lines) if text in line), None)
        assert row is not None, f"{text!r} is not there to be clicked:\n{self.screen.text}"
        place = f"{self.screen.lines[row].index(text) + 1};{row + 1}"
        self._write(f"\x1b[<0;{place}M\x1b[<0;{place}m".encode())

    def click_until(self, text: str, sign: str | re.Pattern[str], timeout: float = TIMEOUT_S) -> None:
        """Click a text until something shows: it may move down a row while lines above it are redrawn.

        Raises:
            TimeoutError: it did not show in ``timeout`` seconds.
        """
        deadline = time.monotonic() + timeout
        while True:
            if any(text in line for line in self.screen.lines):
                self.click(text)
            try:
                self.wait_for(sign, min(3.0, timeout))
            except TimeoutError:
                if time.monotonic() > deadline:
                    raise
            else:
                return

    def _write(self, data: bytes) -> None:
        deadline = time.monotonic() + TIMEOUT_S
        while data:
            _, writable, _ = select.select([], [self._master], [], max(0.0, deadline - time.monotonic()))
            if not writable:
                raise TimeoutError("the program does not read what is typed")
            data = data[os.write(self._master, data) :]

    def wait_for(self, wanted: str | re.Pattern[str], timeout: float = TIMEOUT_S) -> re.Match[str]:
        """Wait until the screen shows a text, or something that a pattern finds, and return the match.

        Raises:
            TimeoutError: it did not come in ``timeout`` seconds, or the program ended without it.
        """
        pattern = re.compile(re.escape(wanted)) if isinstance(wanted, str) else wanted
        self.wait_until(lambda: pattern.search(self.screen.text) is not None, f"{pattern.pattern!r} to show", timeout)
        match = pattern.search(self.screen.text)
        assert match is not None
        return match

    def wait_gone(self, unwanted: str | re.Pattern[str], timeout: float = TIMEOUT_S) -> None:
        """Wait until the screen no longer shows a text.

        Raises:
            TimeoutError: it is still there after ``timeout`` seconds.
        """
        pattern = re.compile(re.escape(unwanted)) if isinstance(unwanted, str) else unwanted
        self.wait_until(lambda: pattern.search(self.screen.text) is None, f"{pattern.pattern!r} to go", timeout)

    def wait_until(
        self, condition: Callable[[], bool], what: str, timeout: float = TIMEOUT_S, *, poll: bool = False
    ) -> None:
        """Read what the program writes until a condition holds.

        Args:
            condition: What is waited for.
            what: The same in words, for the failure.
            timeout: The most seconds to wait.
            poll: Whether the condition can come true without any output, such as a change of the terminal's flags.

        Raises:
            TimeoutError: it did not hold in ``timeout`` seconds, or the program ended before.
        """
        deadline = time.monotonic() + timeout
        while not condition():
            pause = min(deadline, time.monotonic() + 0.02) if poll else deadline
            if not self._read(pause):
                if condition():
                    return
                if pause < deadline and self.process.poll() is None:
                    continue
                end = "ended" if self.process.poll() is not None else f"took {timeout:g} s"
                raise TimeoutError(f"waited for {what}, the program {end}; the screen shows:\n{self.screen.text}")

    def _read(self, deadline: float) -> bool:
        """Take in what has been written, waiting for the first byte; False at the program's end or the deadline."""
        left = max(0.0, deadline - time.monotonic())
        readable, _, _ = select.select([self._master, self._ended], [], [], left)
        if self._master in readable:
            try:
                data = os.read(self._master, 1 << 16)
            except OSError:
                # Linux reports the end of the last writer as an error of input and output.
                return False
            self.raw += data
            self._undrawn += data
            return bool(data)
        return False

    def take_in(self) -> None:
        """Read what the program has written by now, without waiting for more."""
        while self._read(time.monotonic()):
            pass

    def send(self, data: bytes) -> None:
        """Send the program bytes that need not be text, as a terminal or a broken line does."""
        self._write(data)

    def resize(self, columns: int, rows: int) -> None:
        """Give the terminal another size; a signal tells the program."""
        self._set_size(columns, rows)
        self.screen.resize(columns, rows)

    def _set_size(self, columns: int, rows: int) -> None:
        fcntl.ioctl(self._slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def signal(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def hang_up(self) -> None:
        """Close the terminal under the program, as a lost connection does."""
        self._close(self._slave)
        self._close(self._master)

    def wait_exit(self, timeout: float = TIMEOUT_S) -> int:
        """Wait for the program's end, take in the last of its output, and return its exit status.

        Raises:
            TimeoutError: it still runs after ``timeout`` seconds.
        """
        deadline = time.monotonic() + timeout
        while self.process.poll() is None and self._master >= 0 and self._read(deadline):
            pass
        left = max(0.0, deadline - time.monotonic())
        self._waiter.join(left)
        if self.process.returncode is None:
            raise TimeoutError(f"the program still runs; the screen shows:\n{self.screen.text}")
        if self._master >= 0:
            while self._read(time.monotonic()):
                pass
        return self.process.returncode

    def ends(self, *names: str) -> int:
        """Press keys that end the program, and return its exit status."""
        self.press(*names)
        return self.wait_exit()

    @property
    def flags(self) -> list[Any]:
        """The terminal's settings now; compare with ``flags_before``."""
        return termios.tcgetattr(self._slave)

    def __enter__(self) -> Self:
        """Give the terminal to a block that closes it."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the program if it still runs, and close everything."""
        if self.process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                self.process.kill()
        self._waiter.join(TIMEOUT_S)
        self._close(self._slave)
        self._close(self._master)
        self._close(self._ended)

    def _close(self, descriptor: int) -> None:
        if descriptor < 0:
            return
        os.close(descriptor)
        for name in ("_master", "_slave", "_ended"):
            if getattr(self, name) == descriptor:
                setattr(self, name, -1)
