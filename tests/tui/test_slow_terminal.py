"""A terminal that takes what is drawn slowly is not sent one picture behind another."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.tui import noon
from tests.tui.console import Driven, console


def noted_pictures(driven: Driven, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The pictures that are drawn from now on."""
    pictures: list[Any] = []
    display = driven.app._display

    def noted(screen: Any, picture: Any) -> None:
        pictures.append(picture)
        display(screen, picture)

    monkeypatch.setattr(driven.app, "_display", noted)
    return pictures


async def test_nothing_is_drawn_until_the_terminal_has_taken_the_last_picture(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with console(noon.service(), tmp_path, size=(120, 36), until="● live") as driven:
        pictures = noted_pictures(driven, monkeypatch)
        monkeypatch.setattr(driven.app._driver, "is_behind", True, raising=False)
        before = driven.table.cursor
        await driven.press("j")
        await driven.until(lambda: driven.table.cursor == before + 1, "the cursor to move")
        await driven.settle()
        assert not pictures
        monkeypatch.setattr(driven.app._driver, "is_behind", False)
        await driven.until(lambda: bool(pictures), "the picture")


async def test_while_a_slow_link_rests_only_what_a_key_asked_for_is_drawn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with console(noon.service(), tmp_path, size=(120, 36), until="● live") as driven:
        await driven.settle()
        monkeypatch.setattr(driven.app._driver, "is_resting", True, raising=False)
        pictures = noted_pictures(driven, monkeypatch)
        driven.table.refresh()
        await driven.settle()
        assert not pictures
        await driven.press("j")
        await driven.until(lambda: bool(pictures), "the picture")
