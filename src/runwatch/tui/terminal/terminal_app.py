"""Running the console so that every exit restores the terminal and sets the exit code.

======================================  =====================================================
Exit                                    Exit code
======================================  =====================================================
quit                                    0
an exception in a handler or a worker   1, with the path of the log; never a variable's value
ctrl+c, in the console pressed twice    130
SIGINT, SIGTERM, SIGHUP, SIGQUIT        128 plus the number of the signal
the terminal is gone                    129
======================================  =====================================================
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import logging
import os
import select
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import FrameType
from typing import Any, ClassVar, Final

from textual import on
from textual.app import App
from textual.binding import Binding, BindingType
from textual.css.query import NoMatches
from textual.driver import Driver
from textual.worker import WorkerFailed

from runwatch.base.errors import RunwatchError
from runwatch.base.log import redact
from runwatch.base.text import clean_line

INTERRUPTED: Final = 130
CRASHED: Final = 1

STOP_TIMEOUT_S: Final = 5.0
"""How long the console may take to exit after a signal."""

_SIGNALS: Final = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT") if hasattr(signal, name)
)

_log: Final = logging.getLogger(__name__)
# Without a log file, log lines must not be written over the screen.
_log.addHandler(logging.NullHandler())


class TerminalApp(App[None]):
    """Base class of runwatch's full-screen apps.

    Exits cleanly on signals, on ctrl+c and when the terminal is gone. Reports a crash in two lines: Textual would print
    the variables of every frame, service keys among them.

    Attributes:
        crash: The exception that ended the app, if any.
        translation: Characters replaced in everything that is written to the terminal, because it cannot show them.
        uses_mouse: Whether to request mouse reports; otherwise the terminal's own selection works as in a shell.
    """

    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+c", "interrupt", "Quit", show=False, priority=True, system=True, id="app.interrupt"),
    ]

    def __init__(self) -> None:
        # With NO_COLOR, keep the terminal's own colours; Textual would otherwise draw in grey.
        super().__init__(ansi_color=True if "NO_COLOR" in os.environ else None)
        self.crash: BaseException | None = None
        self.translation: Mapping[int, int] | None = None
        self.uses_mouse = True
        self.animation_level = "none"

    def get_driver_class(self) -> type[Driver]:
        """Return the console's own driver on POSIX, unless the environment names another one."""
        if os.name != "posix" or "TEXTUAL_DRIVER" in os.environ:
            return super().get_driver_class()
        from runwatch.tui.terminal.driver import ConsoleDriver

        return ConsoleDriver

    @property
    def holds_terminal(self) -> bool:
        """Whether the terminal is still in the app's modes."""
        return bool(getattr(self._driver, "holds_terminal", False))

    # Private parts of Textual, checked on 8.2.8: `_driver` is the way to the driver, and `_exit` says that the app is
    # ending. `_handle_exception`, `_exception`, `_exception_event`, `_return_code` and `_close_messages_no_wait` end
    # the app on an exception without Textual's traceback, which prints variables.

    def exit(self, result: None = None, return_code: int = 0, message: Any = None) -> None:
        """Exit the app. The first call sets the exit code; errors during the exit do not change it."""
        if not self._exit:
            super().exit(result, return_code, message)

    @on(Driver.SignalResume)
    def draw_again(self) -> None:
        """Redraw everything after the shell resumed the program: the terminal's content is lost."""
        self.refresh(layout=True)

    def action_interrupt(self) -> None:
        self.exit(return_code=INTERRUPTED)

    def panic(self, *renderables: Any) -> None:
        """Exit without printing Textual's report of the error."""
        self._note_crash(RuntimeError("the framework failed"))

    def _handle_exception(self, error: Exception) -> None:
        # Tests that drive the app raise this one again.
        if self._exception is None:
            self._exception = error
            self._exception_event.set()
        self._note_crash(error.error if isinstance(error, WorkerFailed) else error)

    def _note_crash(self, error: BaseException) -> None:
        # A screen that is still opening when the console exits loses its widgets. That is not a crash.
        if self._exit and isinstance(error, NoMatches):
            return
        _log.error("the console ended on an exception", exc_info=error)
        if self._exit:
            return
        self.crash = error
        self._return_code = CRASHED
        self._exit = True
        self._close_messages_no_wait()


def run_app(
    app: TerminalApp,
    *,
    log_file: Path | None = None,
    patience_s: float = STOP_TIMEOUT_S,
    at_forced_end: Callable[[], object] | None = None,
) -> int:
    """Run the app on the terminal and return the exit code of the process.

    Args:
        log_file: Named in the crash message.
        patience_s: How long the app may take to exit after a signal.
        at_forced_end: Called before the process is ended by force, because then no caller's block is left normally.
    """
    with _terminal_kept(app) as give_back:
        ending = _Ending(app, patience_s, give_back, at_forced_end)
        with ending.listening():
            try:
                asyncio.run(ending.run())
            except Exception as error:
                # An error Textual did not catch, such as one during its exit.
                app.crash = app.crash or error
                _log.error("the console ended on an exception", exc_info=error)
    if app.crash is not None:
        _say(_crash_message(app.crash, log_file))
        return CRASHED
    return app.return_code or ending.code or 0


class _Ending:
    """Exits the app on a signal, and the process when the app does not exit.

    Uses Python's signal handlers and not those of the event loop, because they run even while the loop waits for a
    terminal that reads nothing.
    """

    def __init__(
        self,
        app: TerminalApp,
        patience_s: float,
        give_back: Callable[[], None],
        at_forced_end: Callable[[], object] | None,
    ) -> None:
        self._app: Final = app
        self._give_back: Final = give_back
        self._at_forced_end: Final = at_forced_end
        self._loop: asyncio.AbstractEventLoop | None = None
        self._deadline: Final = threading.Timer(patience_s, self._end_now)
        self._deadline.daemon = True
        self.code: int | None = None

    async def run(self) -> None:
        """Run the app, unless a signal arrived before it could start."""
        loop = self._loop = asyncio.get_running_loop()
        loop.set_exception_handler(_note_stray)
        try:
            if self.code is None:
                await self._app.run_async(mouse=self._app.uses_mouse)
        finally:
            self._loop = None

    @contextlib.contextmanager
    def listening(self) -> Iterator[None]:
        """Exit the app on signals while the block runs."""
        before = {number: signal.signal(number, self._on_signal) for number in _SIGNALS}
        try:
            yield
        finally:
            self._deadline.cancel()
            for number, handler in before.items():
                # A closing terminal repeats its signal, which may come while the process puts the rest away.
                is_repeated = number != signal.SIGINT and self.code == 128 + number
                signal.signal(number, signal.SIG_IGN if is_repeated else handler)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        if self.code is None:
            self.code = code = 128 + number
            self._deadline.start()
            if self._loop is not None and not self._loop.is_closed():
                self._loop.call_soon_threadsafe(lambda: self._app.exit(return_code=code))
        elif number == signal.SIGINT:
            # A user who interrupts twice does not want to wait. Only SIGINT counts: a closing terminal repeats its own
            # signal.
            self._end_now()

    def _end_now(self) -> None:
        self._give_back()
        try:
            if self._at_forced_end is not None:
                self._at_forced_end()
        except Exception as error:
            _log.error("clean-up at exit was not complete", exc_info=error)
        finally:
            os._exit(self.code or CRASHED)


def _note_stray(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    # Errors that no code awaits go to the log, not over the screen.
    _log.error("stray exception: %s", context.get("message"), exc_info=context.get("exception"))


@contextlib.contextmanager
def _terminal_kept(app: TerminalApp) -> Iterator[Callable[[], None]]:
    """Restore the terminal after the block, whatever happens; the block gets the function that restores it."""
    if os.name != "posix":
        yield lambda: None
        return
    import termios

    try:
        before = termios.tcgetattr(0)
    except (termios.error, OSError):
        before = None

    def restore() -> None:
        _reset(app)
        if before is not None:
            with contextlib.suppress(termios.error):
                termios.tcsetattr(0, termios.TCSANOW, before)

    atexit.register(restore)
    try:
        yield restore
    finally:
        restore()
        atexit.unregister(restore)


def _reset(app: TerminalApp) -> None:
    """Leave the full-screen modes when the app could not do so itself."""
    if not app.holds_terminal:
        return
    from runwatch.tui.terminal.driver import RESET

    descriptor = 2 if os.isatty(2) else 1
    with contextlib.suppress(OSError):
        # A terminal that accepts no output must not block the process.
        if select.select([], [descriptor], [], 1.0)[1]:
            os.write(descriptor, RESET.encode("ascii"))


def _crash_message(error: BaseException, log_file: Path | None) -> str:
    if isinstance(error, RunwatchError):
        lines = [error.title, error.detail, error.hint]
    else:
        lines = [f"Unexpected error, the console ended: {type(error).__name__}{_place(error)}."]
    if log_file is not None:
        lines.append(f"The trace is in {log_file}.")
    return "".join(f"runwatch: {clean_line(redact(line))}\n" for line in lines if line)


def _place(error: BaseException) -> str:
    """Return file and line of the innermost frame in runwatch, or of any frame. Never contains a value."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if f"{os.sep}runwatch{os.sep}" in frame.filename] or list(frames)
    return f" at {Path(own[-1].filename).name}:{own[-1].lineno}" if own else ""


def _say(message: str) -> None:
    # The terminal may be gone, and then the message has no other place to go.
    with contextlib.suppress(OSError, ValueError):
        stream = sys.__stderr__
        assert stream is not None
        stream.write(message)
        stream.flush()
