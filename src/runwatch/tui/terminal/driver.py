"""Terminal driver that survives a closed terminal, failed writes, resizing and job control.

Textual's own driver reads a closed terminal forever, blocks the console when a write fails, may miss the last of
several resizes, stops for the shell even while it holds the lock needed to release the terminal, and takes the terminal
twice when it resumes after a stop it did not notice. This driver ends the console when the terminal is gone, stops and
resumes between two iterations of the event loop, and parses keys with :mod:`runwatch.tui.terminal.input_parser`.
"""

from __future__ import annotations

import errno
import os
import select
import signal
import sys
import termios
import time
from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TextIO

from textual.driver import Driver
from textual.drivers.linux_driver import LinuxDriver
from textual.events import MouseEvent, Resize
from textual.geometry import Size

from runwatch.tui.terminal.input_parser import InputParser
from runwatch.tui.terminal.link_load import LinkLoad

if TYPE_CHECKING:
    from textual.app import App
    from textual.message import Message

HUNG_UP: Final = 129
"""Exit code when the terminal is gone: that of a process ended by SIGHUP."""

READ_BYTES: Final = 4096
PIECE_BYTES: Final = 1024
"""How much is written at once: little enough to notice when the terminal takes no more."""

PIECE_WAIT_S: Final = 0.005
"""How long a terminal needs at most to take a piece that it has room for."""

LOOK_UP_S: Final = 0.1
"""How often the reading thread checks whether a lone escape is complete, while one is pending."""

MODES_OFF: Final = (
    "\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?1015l\x1b[?1016l"  # all mouse reports
    "\x1b[?2004l"  # bracketed paste
    "\x1b[?1004l"  # focus reports
    "\x1b[?2048l"  # size reports in the input
    "\x1b[?2026l"  # synchronized output
    "\x1b[?7h"  # wrap long lines again
    "\x1b[0m"
)
"""Switches off every mode that a full-screen program may have switched on; harmless when off already."""

RESET: Final = f"{MODES_OFF}\x1b[<u\x1b[?1049l\x1b[?25h"
""":data:`MODES_OFF`, and leaves the keyboard protocol and the alternate screen. Only while the terminal is still held.
"""


class TerminalWriter:
    """Output stream for Textual's writing thread: a failed write ends the console, not the thread.

    Args:
        on_loss: Called once, from the writing thread, when the terminal is gone.

    Attributes:
        taken: How many texts were written or will never be written.
        load: What a slow link still has to carry of them.
    """

    def __init__(self, stream: TextIO, on_loss: Callable[[], None]) -> None:
        self.taken = 0
        self.load: Final = LinkLoad()
        self._descriptor: Final = stream.fileno()
        self._encoding: Final = stream.encoding or "utf-8"
        self._on_loss: Final = on_loss
        self._is_lost = False

    def fileno(self) -> int:
        return self._descriptor

    def isatty(self) -> bool:
        return not self._is_lost and os.isatty(self._descriptor)

    def write(self, text: str) -> int:
        """Write the text, waiting for a slow terminal; do nothing once the terminal is gone."""
        data = memoryview(self._encode(text))
        size, waiting, waits_since = len(data), 0, 0.0
        while data and not self._is_lost:
            left, since = len(data), time.monotonic()
            try:
                data = data[os.write(self._descriptor, data[:PIECE_BYTES]) :]
            except BlockingIOError:
                select.select([], [self._descriptor], [])
            except OSError:
                self._is_lost = True
                self._on_loss()
            if not waiting and time.monotonic() - since > PIECE_WAIT_S:
                waiting, waits_since = left, since
        now = time.monotonic()
        self.load.note_write(size, now, waiting=waiting, waited_s=now - waits_since)
        self.taken += 1
        return len(text)

    def _encode(self, text: str) -> bytes:
        return text.encode(self._encoding, "replace")

    def flush(self) -> None:
        """Do nothing: writes are unbuffered."""


class OutputDriver(Driver):
    """Driver whose output waits to be written; the one for a terminal and the one for a browser derive from it.

    Textual gives a driver only private access to its app (checked on Textual 8.2.8).
    """

    _output: TerminalWriter
    _given = 0
    """How many texts were given to the output."""

    @property
    def is_behind(self) -> bool:
        """Whether output is waiting because the terminal or the browser is slow, or paused with ctrl+s."""
        return self._given > self._output.taken

    @property
    def is_resting(self) -> bool:
        """Whether a slow link is kept free for the answer to the next key."""
        return not self._output.load.has_rested(time.monotonic())

    def _send_messages(self, found: Iterable[Message]) -> None:
        for message in found:
            if not is_outside(message, self._app.size):
                self.process_message(message)

    def run_input_thread(self) -> None:
        """Read until the console ends or the other side is gone."""
        raise NotImplementedError

    def _run_input_thread(self) -> None:
        try:
            self.run_input_thread()
        except Exception as error:
            # An error while reading ends the console like any other unhandled exception.
            self._loop.call_soon_threadsafe(self._app._handle_exception, error)

    def _hang_up(self) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(partial(self._app.exit, return_code=HUNG_UP))


def is_outside(message: Message, size: Size) -> bool:
    """Return whether a mouse event lies outside the window.

    Textual would treat a click there as one beside every widget, and the focused widget would lose the focus.
    """
    return isinstance(message, MouseEvent) and not (message.x < size.width and message.y < size.height)


class ConsoleDriver(OutputDriver, LinuxDriver):
    """Terminal driver of the console on Linux and macOS.

    Textual has no public way to replace reading, writing or job control alone, so the private methods and attributes
    of its driver are overridden and used here (checked on Textual 8.2.8).

    Attributes:
        holds_terminal: Whether the terminal is currently in the console's modes.
    """

    def __init__(
        self,
        app: App[Any],
        *,
        debug: bool = False,
        mouse: bool = True,
        size: tuple[int, int] | None = None,
    ) -> None:
        super().__init__(app, debug=debug, mouse=mouse, size=size)
        self._output = TerminalWriter(_screen_stream(), self._hang_up)
        self._file = self._output  # type: ignore[assignment]
        # A write to this pipe wakes the reading thread. Both ends stay open for the life of the process.
        self._woken, self._wakes = os.pipe()
        self.holds_terminal = False
        # Whether SIGCONT arrived since the driver last took the terminal.
        self._goes_on = False

    def write(self, data: str) -> None:
        """Queue output unless another program has the terminal; after that, everything is redrawn."""
        if self.holds_terminal:
            translation = getattr(self._app, "translation", None)
            super().write(data if translation is None else data.translate(translation))
            self._given += 1

    def start_application_mode(self) -> None:
        """Take the terminal once the shell allows it; end the console if it never can."""
        if not self._wait_for_terminal():
            self._hang_up()
            return
        self.holds_terminal, self._goes_on = True, False
        super().start_application_mode()  # type: ignore[no-untyped-call]
        self.holds_terminal = self._writer_thread is not None and self._writer_thread.is_alive()
        self._loop.add_signal_handler(signal.SIGWINCH, self._report_size)

    def _report_size(self) -> None:
        """Report the current window size to the app.

        Textual's own handler may be interrupted by the next signal, and would then report the older size last.
        """
        if not self._in_band_window_resize:
            size = Size(*self._get_terminal_size())
            self._app.post_message(Resize(size, size))

    def stop_application_mode(self) -> None:
        """Release the terminal and switch off every mode that may be on."""
        super().stop_application_mode()
        self.write(MODES_OFF)
        self.holds_terminal = False

    def _sigtstp_application(self, *_: object) -> None:
        """Stop for the shell in the next iteration of the loop, because this handler can run anywhere."""
        if self.holds_terminal and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._stop_in_turn)
        else:
            _stop()

    def _stop_in_turn(self) -> None:
        if self.holds_terminal:
            self.suspend_application_mode()
            self._must_signal_resume = True
        _stop()

    def _sigcont_application(self, *_: object) -> None:
        """Resume in the next iteration of the loop, unless the terminal is lent to another program and is taken back
        later.
        """
        if self._auto_restart and not self._loop.is_closed():
            self._goes_on = True
            self._loop.call_soon_threadsafe(self._go_on_in_turn)

    def _go_on_in_turn(self) -> None:
        """Take the terminal again, also after a stop without notice (SIGSTOP), during which the shell used it."""
        if not self._goes_on or not self._auto_restart or self._app._exit or not self._output.isatty():
            return
        if self.holds_terminal and self._wait_for_terminal():
            self.suspend_application_mode()
            self._must_signal_resume = True
        self.resume_application_mode()

    def _wait_for_terminal(self) -> bool:
        """Return whether this program may change the terminal. In the background, the system stops the process here.

        False for a background process without a shell to resume it.
        """
        while os.isatty(self.fileno):
            try:
                termios.tcsetattr(self.fileno, termios.TCSANOW, termios.tcgetattr(self.fileno))
            except termios.error as error:
                # The process was stopped and resumed, perhaps in the background again.
                if error.args[0] != errno.EINTR:
                    return False
            else:
                break
        return True

    def close(self) -> None:
        """Wait until all output is written; safe to call twice."""
        if self._writer_thread is not None and self._writer_thread.is_alive():
            super().close()

    def disable_input(self) -> None:
        os.write(self._wakes, b"\0")
        super().disable_input()
        os.read(self._woken, 1)

    def run_input_thread(self) -> None:
        """Read keys, mouse and reports until the console ends or the terminal is gone."""
        reader = InputParser()
        while not self.exit_event.is_set():
            patience = LOOK_UP_S if reader.is_undecided else None
            readable, _, _ = select.select([self.fileno, self._woken], [], [], patience)
            if not readable:
                self._send_messages(reader.resolve_after(LOOK_UP_S))
            if self.fileno not in readable:
                continue
            try:
                data = os.read(self.fileno, READ_BYTES)
            except OSError:
                data = b""
            if not data:
                self._hang_up()
                return
            self._send_messages(reader.feed(data))


def _stop() -> None:
    """Stop this process until the shell resumes it."""
    os.kill(os.getpid(), signal.SIGSTOP)


def _screen_stream() -> TextIO:
    """Return standard error, as Textual does, or standard output when it alone is a terminal."""
    error, output = sys.__stderr__, sys.__stdout__
    if output is not None and output.isatty() and (error is None or not error.isatty()):
        return output
    assert error is not None
    return error
