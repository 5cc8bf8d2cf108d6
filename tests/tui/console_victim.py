"""The console with a fault behind a key, for the tests of how the terminal is left.

``python -m tests.tui.console_victim``: ``!`` raises in a handler, ``@`` in a worker that nobody guards, ``#`` in a
guarded one, ``$`` is told to stop at the worst moment. Where keys are typed into something, SIGUSR1 does what ``!``
does, and SIGUSR2 what ``@`` does.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys

from textual import events

from runwatch.base.paths import find_paths
from runwatch.settings.resolver import SettingOptions
from runwatch.tui.app.console_app import ConsoleApp, LaunchOptions
from runwatch.tui.core.workers import start_worker
from runwatch.tui.terminal.driver import ConsoleDriver
from runwatch.tui.terminal.terminal_app import run_app


class Victim(ConsoleApp):
    """The console; the key to the service is at hand wherever it fails."""

    def on_mount(self) -> None:
        """Listen to signals that the console leaves alone."""
        key = os.environ["RUNWATCH_API_KEY"]
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGUSR1, self.call_later, self._fail, key)
        loop.add_signal_handler(signal.SIGUSR2, lambda: self.run_worker(self._fail(key)))

    def on_key(self, event: events.Key) -> None:
        """Fail in the way that the key names."""
        key = os.environ["RUNWATCH_API_KEY"]
        match event.character:
            case "!" if key:
                raise ValueError("told")
            case "@":
                self.run_worker(self._fail(key))
            case "#":
                start_worker(self.screen, self._fail(key), "the work")
            case "$":
                self._stop_while_drawing()

    def _stop_while_drawing(self) -> None:
        """Be told to stop in the moment in which a picture is handed on, when nothing else can be."""
        assert isinstance(self._driver, ConsoleDriver)
        assert self._driver._writer_thread is not None
        with self._driver._writer_thread._queue.mutex:
            os.kill(os.getpid(), signal.SIGTSTP)

    async def _fail(self, key: str) -> None:
        assert key
        raise ValueError("told")


if __name__ == "__main__":
    paths = find_paths()
    sys.exit(
        run_app(Victim(LaunchOptions(paths, os.environ, SettingOptions())), log_file=paths.log_file, patience_s=3.0)
    )
