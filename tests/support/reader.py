"""A user who reads every screen of hostile records to its end, and what must hold after the console has ended."""

from __future__ import annotations

import base64
import re
from functools import partial
from pathlib import Path
from typing import Final

from runwatch.base.text import is_clean
from tests.support.hostile_service import MARK
from tests.support.screen import foreign_controls
from tests.support.terminal import Terminal

ROWS: Final = 50
"""The height of the terminal that it is read on."""

_CLIPBOARD: Final = re.compile(rb"\x1b\]52;c;([A-Za-z0-9+/=]*)\x1b\\")


class Reader:
    """The user who reads every screen to its end.

    Attributes:
        terminal: Where the console runs.
    """

    def __init__(self, terminal: Terminal) -> None:
        self.terminal: Final = terminal

    def command(self, words: str) -> None:
        self.terminal.type(":")
        self.terminal.wait_for("Go to Runs")
        self.terminal.type(f"{words}\r")
        self.terminal.wait_gone("Go to Runs")

    def has_left(self, crumbs: str) -> bool:
        """Whether another screen is in front."""
        return self.terminal.screen.lines[1] != crumbs

    def read(self, texts: list[str]) -> None:
        """Read a list to its end, and prove that its texts have been painted."""
        start = len(self.terminal.raw)
        wanted = {text[-4:] for text in texts}

        def painted() -> set[str]:
            return wanted & set(MARK.findall(self.terminal.raw[start:].decode("utf-8", "replace")))

        self.terminal.wait_until(lambda: bool(painted()), "hostile rows")
        self.terminal.press(*("pagedown",) * (len(texts) // (ROWS - 10) + 1))

    def open_record(self) -> None:
        """Open the row under the cursor, and read it to its end, raw too."""
        crumbs = self.terminal.screen.lines[1]
        self.terminal.press("enter")
        self.terminal.wait_until(partial(self.has_left, crumbs), "the record to open")
        self.terminal.press("G", "v", "G", "v")

    def look_around(self, *, has_actions: bool) -> None:
        """Open the row under the cursor, look at all its views, raw and whole, and at what can be done with it."""
        self.open_record()
        self.terminal.press(">", ">")
        for key, sign in ((".", "━ Actions   "), ("Y", "━ Copy   "))[0 if has_actions else 1 :]:
            self.terminal.press(key)
            self.terminal.wait_for(sign)
            self.terminal.press("down", "esc")
            self.terminal.wait_gone(sign)


def assert_only_text(terminal: Terminal, home: Path) -> None:
    """The console ends when it is asked to, and what it wrote is its renderer's own and text."""
    assert terminal.ends("ctrl+c", "ctrl+c") == 130
    for payload in copied(terminal):
        assert is_clean(payload)
    assert foreign_controls(_CLIPBOARD.sub(b"", bytes(terminal.raw)), renderer=True) == []
    assert b"\x1b]8;" not in terminal.raw
    assert terminal.screen.bells == 0
    log = home / "runwatch-data" / "log" / "runwatch.log"
    assert not log.exists() or "Traceback" not in log.read_text("utf-8")


def copied(terminal: Terminal) -> list[str]:
    """What the terminal was asked to put into its clipboard, decoded."""
    return [base64.b64decode(payload, validate=True).decode("utf-8") for payload in _CLIPBOARD.findall(terminal.raw)]
