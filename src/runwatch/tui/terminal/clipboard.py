"""Copying text to the clipboard, by the route set in the settings or the best one available.

The order is: a clipboard tool when the console runs on this machine; tmux's own buffer inside tmux, which by default
drops clipboard sequences from programs; otherwise OSC 52 to the terminal (manual: decisions, "Terminal"). The caller
shows the route's name, because no program can see whether a terminal obeyed.
"""

from __future__ import annotations

import asyncio
import base64
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from runwatch.base.errors import RunwatchError
from runwatch.base.text import is_clean
from runwatch.tui.terminal.desktop_tool import run_tool
from runwatch.view.text.copied_text import CopiedText

CopyRoute = Literal["auto", "native", "tmux", "osc52"]
"""Values of the copy setting."""

OSC52_BYTES: Final = 74_000
"""Limit of terminals for one OSC 52 sequence, encoded."""

_PASTEBOARD: Final = ("pbcopy",)
_WAYLAND: Final = ("wl-copy",)
_X11: Final = (("xclip", "-selection", "clipboard", "-in"), ("xsel", "--clipboard", "--input"))
_TMUX: Final = ("tmux", "load-buffer", "-w", "-")


@dataclass(frozen=True, slots=True)
class ClipboardEnvironment:
    """Environment in which the console copies.

    Attributes:
        platform: A value of ``sys.platform``.
        find: Returns the path of a program, or ``None``.
        run: Runs a command with the given input; returns whether it succeeded in time.
    """

    environment: Mapping[str, str]
    platform: str = sys.platform
    find: Callable[[str], str | None] = shutil.which
    run: Callable[[Sequence[str], bytes], bool] = run_tool

    @property
    def is_remote(self) -> bool:
        """Whether the user is connected over SSH."""
        return any(self.environment.get(name) for name in ("SSH_CONNECTION", "SSH_TTY", "SSH_CLIENT"))


async def copy_text(
    text: CopiedText,
    around: ClipboardEnvironment,
    send: Callable[[str], None],
    *,
    route: CopyRoute = "auto",
    several_lines: bool = False,
) -> str:
    """Copy a text and return the route: the name of a tool, or ``OSC 52``.

    Args:
        text: The text to copy. Ids are copied exactly, not as displayed.
        send: Sends a control sequence to the terminal.
        route: The route set in the settings.
        several_lines: Whether the text may have more than one line.

    Raises:
        RunwatchError: The text has characters that a paste would act on, no route is available, or it is too long.
    """
    if not text or not is_clean(text) or ("\n" in text and not several_lines):
        raise RunwatchError(
            "Nothing was copied",
            detail="the text is empty or has control characters that a paste could execute",
            hint="Export the record to a file to get its exact value.",
        )
    encoded = text.encode("utf-8")
    for command in _commands(around, route):
        if await asyncio.to_thread(around.run, command, encoded):
            return command[0]
    if route in {"auto", "osc52"}:
        return _by_terminal(encoded, send)
    raise RunwatchError(
        "Nothing was copied",
        detail=f"the settings choose {route}, but no such tool is installed or responds",
        hint="Set copy to auto in the settings.",
    )


def _commands(around: ClipboardEnvironment, route: CopyRoute) -> list[Sequence[str]]:
    commands: list[Sequence[str]] = []
    if route == "native" or (route == "auto" and not around.is_remote):
        commands += _native(around)
    if route == "tmux" or (route == "auto" and around.environment.get("TMUX")):
        commands.append(_TMUX)
    return [command for command in commands if around.find(command[0])]


def _native(around: ClipboardEnvironment) -> list[Sequence[str]]:
    if around.platform == "darwin":
        return [_PASTEBOARD]
    tools: list[Sequence[str]] = []
    if around.environment.get("WAYLAND_DISPLAY"):
        tools.append(_WAYLAND)
    if around.environment.get("DISPLAY"):
        tools += _X11
    return tools


def _by_terminal(encoded: bytes, send: Callable[[str], None]) -> str:
    payload = base64.b64encode(encoded).decode("ascii")
    if len(payload) > OSC52_BYTES:
        raise RunwatchError(
            "Nothing was copied",
            detail=f"{len(encoded):,} bytes are more than a terminal takes",
            hint="Export the record to a file instead.",
        )
    # End with ST; BEL is valid too, but makes some terminals ring.
    send(f"\x1b]52;c;{payload}\x1b\\")
    return "OSC 52"
