"""A notice goes to the desktop by what the terminal understands, and only while its window has no focus."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence

import pytest

from runwatch.tui.terminal.desktop_notice import DesktopNotices, NoticeRoute, describe_auto
from runwatch.tui.terminal.desktop_tool import read_tool
from runwatch.view.text.safe_text import line

TEXT = line("run ex_1; has #(touch x) ended 100%")
OSC9 = f"\x1b]9;runwatch: {TEXT}\x1b\\"
OSC777 = "\x1b]777;notify;runwatch;run ex_1, has #(touch x) ended 100%\x1b\\"
OSC99 = f"\x1b]99;;runwatch: {TEXT}\x1b\\"
SHOWN_BY_TMUX = "runwatch: run ex_1; has (touch x) ended 100"


class Desk:
    """A terminal, perhaps with tmux."""

    def __init__(
        self, tmux: str | None = None, *, refuses: str = "", clients: str = "tty: b", **environment: str
    ) -> None:
        self.sent: list[str] = []
        self.ran: list[Sequence[str]] = []
        self.tmux = tmux
        self.refused, self.clients = refuses, clients
        self.notices = DesktopNotices(environment, self.sent.append, self.read)

    def read(self, command: Sequence[str]) -> str | None:
        if "-p" in command:
            return self.tmux
        if "list-clients" in command:
            return self.clients
        if self.refused in command:
            return None
        self.ran.append(command)
        return ""

    async def notify(self, route: NoticeRoute = "auto", *, has_focus: bool = False) -> list[str]:
        way = await self.notices.find_way(route, has_focus=has_focus)
        if way is not None:
            await self.notices.send(TEXT, way)
        return self.sent


@pytest.mark.parametrize(
    ("environment", "route", "sent"),
    [
        ({"TERM": "xterm-kitty"}, "auto", [OSC99]),
        ({"TERM": "xterm-256color", "KITTY_WINDOW_ID": "1"}, "auto", [OSC99]),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "iTerm.app"}, "auto", [OSC9]),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "WezTerm"}, "auto", [OSC9]),
        ({"TERM": "foot"}, "auto", [OSC777]),
        ({"TERM": "xterm-256color"}, "auto", []),
        ({"TERM": "xterm-256color"}, "osc777", [OSC777]),
        ({"TERM": "xterm-kitty"}, "off", []),
    ],
)
async def test_the_terminal_gets_what_it_understands(
    environment: dict[str, str], route: NoticeRoute, sent: list[str]
) -> None:
    assert await Desk(**environment).notify(route) == sent
    assert await Desk(**environment).notify(route, has_focus=True) == []


def wrapped(sequence: str) -> str:
    return "\x1bPtmux;" + sequence.replace("\x1b", "\x1b\x1b") + "\x1b\\"


@pytest.mark.parametrize(
    ("tmux", "has_focus", "sent"),
    [
        ("1|1|11|0|1|xterm-kitty ", False, [wrapped(OSC99)]),
        ("1|1|11|0|1|xterm-256color WezTerm 2024", False, [wrapped(OSC9)]),
        ("1|1|11|0|1|xterm-256color ", False, ["\x07"]),
        ("0|1|11|0|1|xterm-kitty ", False, ["\x07"]),
        (None, False, ["\x07"]),
        ("1|1|11|0|1|xterm-kitty ", True, []),
        ("1|0|11|0|1|xterm-kitty ", True, []),
        (None, True, []),
        ("0|0|11|0|0|", True, ["\x07"]),
        # Another window is shown, another pane beside this one, another pane alone, or no client is attached.
        ("1|1|10|0|1|xterm-kitty ", False, ["\x07"]),
        ("1|1|01|0|1|xterm-kitty ", False, [wrapped(OSC99)]),
        ("1|1|01|1|1|xterm-kitty ", False, ["\x07"]),
        ("1|1|11|0|0|xterm-kitty ", False, ["\x07"]),
        ("2|0|10|0|1|xterm-kitty ", True, [wrapped(OSC99)]),
    ],
)
async def test_inside_tmux_it_is_passed_through_or_shown_by_tmux(
    tmux: str | None, has_focus: bool, sent: list[str]
) -> None:
    desk = Desk(tmux, TMUX="/tmp/x,1,0", TMUX_PANE="%3")
    assert await desk.notify(has_focus=has_focus) == sent
    shown = [("tmux", "display-message", "-d", "10000", "--", SHOWN_BY_TMUX)] if sent == ["\x07"] else []
    assert desk.ran == shown


async def test_tmux_without_a_client_shows_nothing() -> None:
    for has_focus in (False, True):
        desk = Desk("2|1|11|0|0|", clients="", TMUX="/tmp/x,1,0")
        assert await desk.notices.find_way("auto", has_focus=has_focus) is None


async def test_an_older_tmux_shows_it_as_long_as_it_can() -> None:
    desk = Desk(None, TMUX="/tmp/x,1,0", refuses="-d")
    await desk.notify()
    assert desk.ran == [("tmux", "display-message", "--", SHOWN_BY_TMUX)]


def test_a_tool_that_fails_or_is_missing_says_nothing() -> None:
    assert read_tool((sys.executable, "-c", "print(' said ')")) == "said"
    assert read_tool((sys.executable, "-c", "raise SystemExit(1)")) is None
    assert read_tool((shutil.which("no-such-tool") or "/nowhere/tool",)) is None


@pytest.mark.parametrize(
    ("environment", "said"),
    [({"TERM": "xterm-kitty"}, "OSC 99"), ({"TERM": "foot"}, "OSC 777"), ({"TERM": "xterm"}, "")],
)
async def test_the_way_of_auto_is_said_in_words(environment: dict[str, str], said: str) -> None:
    assert await describe_auto(environment) == said
