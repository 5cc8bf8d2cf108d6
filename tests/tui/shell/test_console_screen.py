"""What every screen of the console does."""

from __future__ import annotations

from pathlib import Path

from tests.support.builders import run
from tests.support.scripted import ScriptedService
from tests.tui.console import console


async def test_what_a_removed_screen_had_scheduled_is_left_out(tmp_path: Path) -> None:
    async with console(ScriptedService(runs=[run("ex_1")]), tmp_path) as driven:
        await driven.reaches("Symbols, filters, files", "?")
        screen, called = driven.app.screen, list[str]()
        screen.call_after_refresh(called.append, "drawn")
        await driven.settle()
        assert called == ["drawn"]
        screen.call_after_refresh(called.append, "removed")
        await driven.app.pop_screen()
        await driven.settle()
        assert called == ["drawn"]
