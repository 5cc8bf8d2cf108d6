"""Copying takes the best way there is, names it, and refuses what a paste could act on."""

from __future__ import annotations

import base64
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from runwatch.base.errors import RunwatchError
from runwatch.tui.terminal import desktop_tool
from runwatch.tui.terminal.clipboard import ClipboardEnvironment, CopyRoute, copy_text
from runwatch.tui.terminal.desktop_tool import run_tool
from runwatch.view.text.copied_text import copied_unchanged

ID = "0b1f6c1e-8a34-4f0e-9f5d-2d0a9c5c7e11"


class World:
    """A machine with some tools, of which some fail."""

    def __init__(self, *tools: str, failing: Sequence[str] = (), platform: str = "linux", **environment: str) -> None:
        self.calls: list[tuple[str, bytes]] = []
        self.sent: list[str] = []
        self.around = ClipboardEnvironment(
            environment, platform, lambda name: f"/bin/{name}" if name in tools else None, self.run
        )
        self.failing = failing

    def run(self, command: Sequence[str], text: bytes) -> bool:
        self.calls.append((" ".join(command), text))
        return command[0] not in self.failing

    async def copy(self, text: str = ID, *, route: CopyRoute = "auto", several_lines: bool = False) -> str:
        return await copy_text(
            copied_unchanged(text), self.around, self.sent.append, route=route, several_lines=several_lines
        )


@pytest.mark.parametrize(
    ("world", "way"),
    [
        (World("pbcopy", platform="darwin"), "pbcopy"),
        (World("wl-copy", "xclip", WAYLAND_DISPLAY="wayland-0", DISPLAY=":0"), "wl-copy"),
        (World("xclip", "xsel", DISPLAY=":0"), "xclip"),
        (World("xsel", DISPLAY=":0"), "xsel"),
        (World("xclip", "tmux", DISPLAY=":0", TMUX="/tmp/x,1,0"), "xclip"),
        (World("xclip", "tmux", failing=["xclip"], DISPLAY=":0", TMUX="/tmp/x,1,0"), "tmux"),
        (World("xclip", "tmux", DISPLAY=":0", TMUX="/tmp/x,1,0", SSH_CONNECTION="a b"), "tmux"),
        (World("xclip"), "OSC 52"),
        (World("xclip", DISPLAY=":0", SSH_TTY="/dev/pts/1"), "OSC 52"),
        (World("tmux", failing=["tmux"], TMUX="/tmp/x,1,0"), "OSC 52"),
        (World(TMUX="/tmp/x,1,0"), "OSC 52"),
    ],
)
async def test_the_best_way_is_taken_and_named(world: World, way: str) -> None:
    assert await world.copy() == way
    if way == "OSC 52":
        assert world.sent == [f"\x1b]52;c;{base64.b64encode(ID.encode()).decode()}\x1b\\"]
    else:
        assert world.calls[-1][1] == ID.encode()
        assert world.sent == []


async def test_tmux_is_asked_to_pass_the_text_on_to_the_terminal() -> None:
    world = World("tmux", TMUX="/tmp/x,1,0")
    await world.copy()
    assert world.calls == [("tmux load-buffer -w -", ID.encode())]


@pytest.mark.parametrize("route", ["native", "tmux"])
async def test_the_way_that_the_settings_name_is_the_only_one(route: CopyRoute) -> None:
    world = World("xclip", "tmux", failing=["xclip", "tmux"], DISPLAY=":0", TMUX="/tmp/x,1,0")
    with pytest.raises(RunwatchError) as caught:
        await world.copy(route=route)
    assert world.sent == []
    assert len(world.calls) == 1
    assert route in (caught.value.detail or "")


async def test_osc_52_by_the_settings_asks_no_tool() -> None:
    world = World("xclip", DISPLAY=":0")
    assert await world.copy(route="osc52") == "OSC 52"
    assert world.calls == []


@pytest.mark.parametrize("text", ["", "a\x1b]52;c;eA==\x07", "a\x03", "one\ntwo", "a\rb", "\u202ea", "a\x9bb"])
async def test_what_a_paste_could_act_on_is_refused(text: str) -> None:
    world = World("xclip", DISPLAY=":0")
    with pytest.raises(RunwatchError, match="Nothing was copied"):
        await world.copy(text)
    assert world.calls == []
    assert world.sent == []


async def test_several_lines_are_copied_where_they_are_meant() -> None:
    world = World("xclip", DISPLAY=":0")
    await world.copy("one\ntwo", several_lines=True)
    assert world.calls[0][1] == b"one\ntwo"


async def test_more_than_a_terminal_takes_is_refused() -> None:
    world = World()
    await world.copy("x" * 55_000)
    with pytest.raises(RunwatchError, match="more than a terminal takes"):
        await world.copy("x" * 56_000)


def test_a_tool_gets_the_text_on_its_input(tmp_path: Path) -> None:
    target = tmp_path / "copied"
    assert run_tool([sys.executable, "-c", f"import sys; open({str(target)!r}, 'w').write(sys.stdin.read())"], b"text")
    assert target.read_text() == "text"


def test_a_tool_gets_none_of_our_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTHER_VARIABLE", "kept")
    monkeypatch.setenv("RUNWATCH_API_KEY", "rk_secret")
    inherits = "import os, sys; sys.exit('OTHER_VARIABLE' not in os.environ or 'RUNWATCH_API_KEY' in os.environ)"
    assert run_tool([sys.executable, "-c", inherits], b"")


def test_a_tool_that_fails_or_is_not_there_is_no_success() -> None:
    assert not run_tool([sys.executable, "-c", "raise SystemExit(1)"], b"text")
    assert not run_tool(["/nonexistent/tool"], b"text")


def test_a_tool_that_hangs_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(desktop_tool, "TOOL_TIMEOUT_S", 0.05)
    assert not run_tool([sys.executable, "-c", "import time; time.sleep(60)"], b"text")


@pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")
async def test_the_text_arrives_in_a_tmux_with_default_options(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    socket = str(tmp_path / "tmux")
    tmux = ["tmux", "-S", socket, "-f", "/dev/null"]
    environment = {"TMUX": f"{socket},1,0", "SSH_TTY": "/dev/pts/1"}
    subprocess.run([*tmux, "new-session", "-d", "cat"], check=True)
    try:
        monkeypatch.setenv("TMUX", environment["TMUX"])
        assert await copy_text(copied_unchanged(ID), ClipboardEnvironment(environment), lambda _: None) == "tmux"
        shown = subprocess.run([*tmux, "show-buffer"], check=True, capture_output=True, text=True)
        assert shown.stdout == ID
    finally:
        subprocess.run([*tmux, "kill-server"], check=False)
