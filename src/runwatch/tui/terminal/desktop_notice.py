"""Notices on the desktop, by the sequence that the terminal understands, or through tmux (manual: decisions,
"Terminal").

Nothing is sent while the window has the focus: the console itself shows what happened there.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from runwatch.tui.terminal.desktop_tool import read_tool
from runwatch.view.text.safe_text import SafeText

NoticeRoute = Literal["auto", "osc9", "osc777", "osc99", "off"]
"""Values of the ``desktop_notice`` setting."""

TITLE: Final = "runwatch"
BELL: Final = "\x07"

_BY_TERMINAL: Final[tuple[tuple[str, NoticeRoute], ...]] = (
    ("kitty", "osc99"),
    ("ghostty", "osc9"),
    ("iterm", "osc9"),
    ("wezterm", "osc9"),
    ("foot", "osc777"),
    ("rxvt-unicode", "osc777"),
)
"""Part of a terminal's name, in lower case, and what it understands."""

_ASKED: Final = (
    "#{allow-passthrough}|#{focus-events}|#{pane_active}#{window_active}|#{window_zoomed_flag}|#{session_attached}"
    "|#{client_termname} #{client_termtype}"
)

_SHOWN_MS: Final = "10000"
"""How long tmux shows a notice; its own display-time is 750 ms."""


class NoticeWay(NamedTuple):
    """How a notice gets to the desktop: the terminal's sequence, or the bell and the status line of tmux."""

    sequence: NoticeRoute | None
    in_tmux: bool = False


@dataclass(frozen=True, slots=True)
class DesktopNotices:
    """Sends notices to the desktop, by writing to the terminal and by running tools."""

    environment: Mapping[str, str]
    send_raw: Callable[[str], None]
    read: Callable[[Sequence[str]], str | None] = read_tool

    async def find_way(self, route: NoticeRoute, *, has_focus: bool) -> NoticeWay | None:
        """Return how a notice gets to the desktop now.

        ``None`` while the window has the focus, as far as the terminal reports it, or if nothing can, as in a tmux
        without a client.
        """
        if route == "off":
            return None
        if not self.environment.get("TMUX"):
            chosen = self._understood() if route == "auto" else route
            return None if has_focus or chosen is None else NoticeWay(chosen)
        tmux = await asyncio.to_thread(self._ask_tmux)
        if has_focus and (tmux is None or tmux.is_in_sight):
            return None
        if tmux is not None and not tmux.has_client:
            return None
        chosen = (None if tmux is None else tmux.route) if route == "auto" else route
        return NoticeWay(chosen if tmux is not None and tmux.passes else None, in_tmux=True)

    async def send(self, text: SafeText, way: NoticeWay) -> None:
        if way.sequence is None:
            self.send_raw(BELL)
            await asyncio.to_thread(self._show_by_tmux, _plain(text))
        else:
            self.send_raw(_sequence(text, way))

    def _understood(self) -> NoticeRoute | None:
        names = ("TERM", "TERM_PROGRAM", "LC_TERMINAL")
        found = _route_of(" ".join(self.environment.get(name, "") for name in names))
        return "osc99" if found is None and self.environment.get("KITTY_WINDOW_ID") else found

    def _show_by_tmux(self, text: str) -> None:
        # tmux before 3.2 refuses the option.
        if self.read(("tmux", "display-message", "-d", _SHOWN_MS, "--", text)) is None:
            self.read(("tmux", "display-message", "--", text))

    def _ask_tmux(self) -> _Tmux | None:
        pane = self.environment.get("TMUX_PANE", "")
        said = self.read(("tmux", "display-message", "-p", *(("-t", pane) if pane else ()), _ASKED))
        parts = (said or "").split("|")
        if len(parts) != _ASKED.count("|") + 1:
            return None
        allowed, reports, active, zoomed, attached, terminal = parts
        has_window = active.endswith("1") and attached != "0"
        is_active = has_window and active == "11"
        # It drops what a pane sends that is not shown, unless it passes everything.
        is_shown = is_active or (has_window and zoomed != "1")
        passes = allowed in {"2", "all"} or (allowed in {"1", "on"} and is_shown)
        # Without a client of its own session, tmux shows a message to one of another session, if there is any.
        has_client = attached != "0" or self.read(("tmux", "list-clients")) != ""
        # Without focus reports, a pane that is not shown is the only sign that the user is elsewhere.
        return _Tmux(passes, reports == "1" or is_active, has_client, _route_of(terminal))


async def describe_auto(environment: Mapping[str, str]) -> str:
    """Say which way a notice takes here with ``desktop_notice = "auto"``; empty for none."""
    way = await DesktopNotices(environment, lambda data: None).find_way("auto", has_focus=False)
    if way is None:
        return ""
    by_tmux = "the bell and the status line of tmux"
    if way.sequence is None:
        return by_tmux
    sequence = f"OSC {way.sequence.removeprefix('osc')}"
    return f"{sequence} through tmux; while the pane is not shown, {by_tmux}" if way.in_tmux else sequence


class _Tmux(NamedTuple):
    """What tmux says.

    Attributes:
        passes: Whether it passes what this pane sends now to the terminal.
        is_in_sight: Whether the pane is shown and chosen, or focus is reported by itself.
        has_client: Whether a terminal shows what tmux says.
        route: What the terminal of its client understands.
    """

    passes: bool
    is_in_sight: bool
    has_client: bool
    route: NoticeRoute | None


def _route_of(name: str) -> NoticeRoute | None:
    return next((route for part, route in _BY_TERMINAL if part in name.lower()), None)


def _sequence(text: SafeText, way: NoticeWay) -> str:
    match way.sequence:
        case "osc9":
            body = f"9;{TITLE}: {text}"
        case "osc777":
            body = f"777;notify;{TITLE};{text.replace(';', ',')}"
        case _:
            body = f"99;;{TITLE}: {text}"
    sequence = f"\x1b]{body}\x1b\\"
    return "\x1bPtmux;" + sequence.replace("\x1b", "\x1b\x1b") + "\x1b\\" if way.in_tmux else sequence


def _plain(text: str) -> str:
    """Return a text that tmux shows as it is: it expands ``#`` and ``%``, and runs commands that ``#(`` names."""
    return f"{TITLE}: {text}".replace("#", "").replace("%", "")
