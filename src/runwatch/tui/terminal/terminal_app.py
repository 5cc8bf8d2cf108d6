"""Running the console so that the terminal is whole on every way out and the exit code says which way it was.

======================================  =====================================================
Way out                                 Exit code
======================================  =====================================================
quit                                    0
an exception in a handler or a worker   1, with the place of the log; never a value of a variable
ctrl+c                                  130
SIGINT, SIGTERM, SIGHUP, SIGQUIT        128 and the number of the signal
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
from collections.abc import Callable, Iterator
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
"""How long after a signal the console may take to end by itself."""

_SIGNALS: Final = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT") if hasattr(signal, name)
)

_log: Final = logging.getLogger(__name__)
# Where no log was started, nothing may be written over the screen instead.
_log.addHandler(logging.NullHandler())


class TerminalApp(App[None]):
    """What every full-screen program of runwatch is made from.

    Ends in order on signals, on ctrl+c and when the terminal goes away, and tells a crash in two lines: the framework
    would print the variables of every function on the way, keys to the service among them.

    Attributes:
        crash: The exception that ended the app, if one did.
        uses_mouse: Whether the terminal is asked to report the mouse; otherwise its own selection works as in a shell.
    """

    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+c", "interrupt", "Quit", show=False, priority=True, system=True, id="app.interrupt"),
    ]

    def __init__(self) -> None:
        # Without colours the framework has to leave the terminal its own; otherwise it draws in shades of grey.
        super().__init__(ansi_color=True if "NO_COLOR" in os.environ else None)
        self.crash: BaseException | None = None
        self.uses_mouse = True
        self.animation_level = "none"

    def get_driver_class(self) -> type[Driver]:
        """The console's own driver where there is a POSIX terminal; another where the environment names one."""
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
        """End the app. The first reason stands: what goes wrong on the way out does not change the exit code."""
        if not self._exit:
            super().exit(result, return_code, message)

    @on(Driver.SignalResume)
    def draw_again(self) -> None:
        """Draw everything after the shell brought the program back: the terminal shows nothing of it any more."""
        self.refresh(layout=True)

    def action_interrupt(self) -> None:
        """End because the user pressed ctrl+c."""
        self.exit(return_code=INTERRUPTED)

    def panic(self, *renderables: Any) -> None:
        """End without printing what the framework made of the error."""
        self._note_crash(RuntimeError("the framework failed"))

    def _handle_exception(self, error: Exception) -> None:
        # Tests that drive the app raise the first of these again.
        if self._exception is None:
            self._exception = error
            self._exception_event.set()
        self._note_crash(error.error if isinstance(error, WorkerFailed) else error)

    def _note_crash(self, error: BaseException) -> None:
        # A screen that was just opening loses its widgets when the console ends; that is no other way of ending.
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
        app: What to run.
        log_file: Named in the message about a crash.
        patience_s: How long after a signal the app may take to end by itself.
        at_forced_end: What has to be done yet when it does not and the process is ended under it, because no block of
            a caller ends then.
    """
    with _terminal_kept(app) as give_back:
        ending = _Ending(app, patience_s, give_back, at_forced_end)
        with ending.listening():
            try:
                asyncio.run(ending.run())
            except Exception as error:
                # Something that Textual did not catch, such as a fault while it ends.
                app.crash = app.crash or error
                _log.error("the console ended on an exception", exc_info=error)
    if app.crash is not None:
        _say(_crash_message(app.crash, log_file))
        return CRASHED
    return app.return_code or ending.code or 0


class _Ending:
    """Ends the app on a signal, and the process when the app does not end.

    Python's own handlers are used rather than those of the event loop: they run even while the loop waits for a
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
        """Run the app, unless a signal came before it could start."""
        loop = self._loop = asyncio.get_running_loop()
        loop.set_exception_handler(_note_stray)
        try:
            if self.code is None:
                await self._app.run_async(mouse=self._app.uses_mouse)
        finally:
            self._loop = None

    @contextlib.contextmanager
    def listening(self) -> Iterator[None]:
        """Have signals end the app while the block runs."""
        before = {number: signal.signal(number, self._on_signal) for number in _SIGNALS}
        try:
            yield
        finally:
            self._deadline.cancel()
            for number, handler in before.items():
                signal.signal(number, handler)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        if self.code is None:
            self.code = code = 128 + number
            self._deadline.start()
            if self._loop is not None and not self._loop.is_closed():
                self._loop.call_soon_threadsafe(lambda: self._app.exit(return_code=code))
        elif number == signal.SIGINT:
            # The user who asks twice does not want to wait. A closing terminal sends its signal twice by itself.
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
    # Nobody awaits these any more; they are worth a line in the log and must not draw over the screen.
    _log.error("stray exception: %s", context.get("message"), exc_info=context.get("exception"))


@contextlib.contextmanager
def _terminal_kept(app: TerminalApp) -> Iterator[Callable[[], None]]:
    """Give the terminal back as it was found, whatever happens in the block, which gets the function that does it."""
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
    """Leave the full-screen modes by hand, when the app could not do it itself."""
    if not app.holds_terminal:
        return
    from runwatch.tui.terminal.driver import RESET

    descriptor = 2 if os.isatty(2) else 1
    with contextlib.suppress(OSError):
        # A terminal that takes nothing must not keep the process.
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
    """Where in runwatch it happened, or where at all; a file and a line, never a value."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if f"{os.sep}runwatch{os.sep}" in frame.filename] or list(frames)
    return f" at {Path(own[-1].filename).name}:{own[-1].lineno}" if own else ""


def _say(message: str) -> None:
    # The terminal may be gone, and there is nobody left to tell.
    with contextlib.suppress(OSError, ValueError):
        stream = sys.__stderr__
        assert stream is not None
        stream.write(message)
        stream.flush()
