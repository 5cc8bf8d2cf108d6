"""The console on a real terminal: however it ends, the terminal is whole, the exit code honest and the key unseen."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

from tests.support.scripted import ScriptedService
from tests.tui import noon
from tests.tui.on_terminal import assert_whole, opened


def test_the_mouse_selects_copies_and_drags_and_another_size_is_drawn_again(
    tmp_path: Path, noon_service: ScriptedService
) -> None:
    def row() -> int:
        return next(number for number, line in enumerate(terminal.screen.lines, 1) if "80b1" in line)

    def border() -> int:
        return next(number for number, line in enumerate(terminal.screen.lines) if line.startswith(("╰", "┗")))

    with opened(tmp_path, noon_service) as terminal:
        terminal.wait_for("Summary")
        assert terminal.screen.modes >= {1000, 1006}
        terminal.type(f"\x1b[<0;20;{row()}M\x1b[<0;20;{row()}m", until="─ 5c9d…80b1  ✗ failed")
        terminal.type("".join(f"\x1b[<{button};{column};{row()}M" for button, column in ((0, 5), (32, 30), (32, 60))))
        terminal.type(f"\x1b[<0;60;{row()}m", until="copies the selected text")
        terminal.press("ctrl+c", until="Copied selection")
        copied = base64.b64encode(f"✗ failed  {noon.FALLBACK}".encode())
        assert b"\x1b]52;c;" + copied[:40] in terminal.raw
        before = border()
        terminal.type(
            f"\x1b[<0;60;{before + 1}M\x1b[<32;60;{before - 1}M\x1b[<32;60;{before - 3}M\x1b[<0;60;{before - 3}m"
        )
        terminal.wait_until(lambda: border() == before - 4, "the border to follow the mouse")
        terminal.resize(80, 24)
        terminal.wait_gone("Summary")
        terminal.resize(60, 10)
        terminal.wait_for("window too small")
        terminal.resize(200, 50)
        terminal.wait_for("Summary")
        assert terminal.ends("q", "q") == 0
        assert terminal.flags == terminal.flags_before


def test_the_settings_leave_the_mouse_to_the_terminal(tmp_path: Path, noon_service: ScriptedService) -> None:
    with opened(tmp_path, noon_service, settings="mouse = false\n") as terminal:
        assert not terminal.screen.modes & {1000, 1002, 1003, 1006}
        assert terminal.ends("q", "q") == 0
        assert_whole(terminal, tmp_path)


@pytest.mark.exhaustive
def test_work_that_fails_in_the_background_rings_and_ends_nothing(
    tmp_path: Path, noon_service: ScriptedService
) -> None:
    with opened(tmp_path, noon_service, victim=True, settings="bell = true\n") as terminal:
        assert terminal.screen.bells == 0
        terminal.type("#", until="the work: told")
        terminal.wait_until(lambda: terminal.screen.bells == 1, "the bell to ring")
        assert terminal.ends("q", "q") == 0
        assert terminal.flags == terminal.flags_before


@pytest.mark.exhaustive
def test_keys_typed_faster_than_screens_open_break_nothing(tmp_path: Path, noon_service: ScriptedService) -> None:
    with opened(tmp_path, noon_service) as terminal:
        terminal.type("20H\r20\rH\r2t0tH\r" * 3)
        assert terminal.ends("ctrl+c", "ctrl+c") == 130
        assert_whole(terminal, tmp_path)


@pytest.mark.exhaustive
def test_a_terminal_of_few_symbols_gets_ascii_alone(tmp_path: Path, noon_service: ScriptedService) -> None:
    with opened(tmp_path, noon_service, variables={"TERM": "linux"}) as terminal:
        for key, seen in (("0", "Problems"), (",", "Settings"), ("1", "follow"), ("/", "9/9"), ("is:live", "3 of 9")):
            terminal.type(key, until=seen)
        terminal.press("enter")
        terminal.type("?", until="Help")
        terminal.press("ctrl+c", "ctrl+c")
        terminal.wait_exit()
        told = bytes(terminal.raw).decode()
    assert sorted({mark for mark in told if not mark.isascii()}) == []
