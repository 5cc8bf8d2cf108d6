"""A full-screen program that ends in the way its argument names, for the tests of how the terminal is left.

``python -m tests.tui.victim WAY [LOG]``
"""

from __future__ import annotations

import sys
import threading
from pathlib import Path

from textual import events
from textual.app import ComposeResult
from textual.widget import Widget

from runwatch.base.errors import RunwatchError
from runwatch.base.log import start_log
from runwatch.tui.core.workers import start_worker
from runwatch.tui.terminal.terminal_app import TerminalApp, run_app


class _Label(Widget):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text

    def render(self) -> str:
        return self.text


class Victim(TerminalApp):
    """Prints ``ready`` once it runs, and then ends in the way that it was asked for."""

    def __init__(self, way: str) -> None:
        super().__init__()
        self.way = way

    def compose(self) -> ComposeResult:
        yield _Label("ready")

    def on_mount(self) -> None:
        """End at once where that is asked for."""
        # In pieces, so that no source line quoted in a trace has it.
        secret = "-".join(["sentinel", "key", "7f3a"])
        if self.way == "exception at the start" and secret:
            raise ValueError("told")
        if self.way == "worker":
            self.run_worker(self.fail(secret))
        if self.way == "guarded worker":
            start_worker(self, self.fail(secret), "reading")
        if self.way == "flood":
            self.set_interval(0.001, self.flood)

    async def fail(self, secret: str) -> None:
        assert secret
        raise ValueError("told")

    def flood(self) -> None:
        """Draw more than a terminal that reads nothing can hold."""
        label = self.query_one(_Label)
        label.text = "".join(chr(65 + (len(label.text) * 7 + place) % 26) for place in range(1800))
        label.text += "x" if len(label.text) % 2 else ""
        label.refresh()

    def on_key(self, event: events.Key) -> None:
        secret = "-".join(["sentinel", "key", "7f3a"])
        match event.key:
            case "q":
                self.exit()
            case "b" if secret:
                raise ValueError("told")
            case "e":
                raise RunwatchError("The data is gone", detail="\x1b]0;x\x07", hint="Look for it.")
            case "s":
                print("stuck", file=sys.__stderr__, flush=True)
                threading.Event().wait()
            case other:
                self.query_one(_Label).text = f"got {other}"
                self.query_one(_Label).refresh()


if __name__ == "__main__":
    log = Path(sys.argv[2]) if len(sys.argv) > 2 else None
    if log is not None:
        start_log(log)
    away = log.with_name("away").touch if log is not None else None
    sys.exit(run_app(Victim(sys.argv[1]), log_file=log, patience_s=1.0, at_forced_end=away))
