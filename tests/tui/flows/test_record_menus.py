"""Keys that work while the menu of a record is open."""

from __future__ import annotations

from pathlib import Path

import pytest

from runwatch.tui.widgets.lists.line_list import LineList
from runwatch.tui.widgets.panes.menu import Menu
from tests.support.builders import account, run
from tests.support.scripted import ScriptedService
from tests.tui.console import console
from tests.tui.noon import at


@pytest.mark.parametrize(
    ("menu", "key", "shown"), [(".", "y", "Copied ex_0001"), (".", "Y", "Copy   run"), ("Y", "y", "Copied ex_0001")]
)
async def test_the_id_of_a_menus_record_is_copied_from_the_menu(
    tmp_path: Path, menu: str, key: str, shown: str
) -> None:
    service = ScriptedService(runs=[run("ex_0001", "completed", created_at=at(60))], account=account())
    async with console(service, tmp_path, open_at="runs", until="▸ ✓ completed") as driven:
        await driven.type(menu)
        await driven.shows("enter selects")
        await driven.type(key)
        await driven.shows(shown)


async def test_commands_are_copied_from_a_menu_of_their_own_and_a_live_run_says_why_it_has_no_result(
    tmp_path: Path,
) -> None:
    service = ScriptedService(runs=[run("ex_0001", "running", created_at=at(60))], account=account())
    async with console(service, tmp_path, open_at="runs", until="▸ ● running") as driven:
        await driven.reaches("off: No result yet: the run is still running.", ".")
        await driven.until(
            lambda: driven.text.count("off: No receipt yet: the run has not ended.") == 2, "both reasons"
        )
        assert "runwatch runs" not in driven.text
        await driven.reaches("Copy the command for", *["down"] * 7, "enter")
        await driven.shows("Cancel the run", "runwatch runs cancel ex_0001")
        assert "runwatch runs result" not in driven.text
        await driven.reaches("Copied command", "enter")


async def test_an_open_menu_follows_its_record_and_its_list(tmp_path: Path) -> None:
    service = ScriptedService(runs=[run("ex_0001", "running", created_at=at(60))], account=account())
    async with console(service, tmp_path, open_at="runs", until="▸ ● running") as driven:
        await driven.reaches("off: No result yet: the run is still running.", ".", "down")

        async def changes(to: str, *now: str) -> None:
            service.runs[:] = [dict(run(id, to, created_at=at(60)).raw) for id in now]
            await driven.pass_time(16)
            driven.app._tick()

        await changes("completed", "ex_0001")
        await driven.shows("off: The run has already ended.")
        assert "No result yet" not in driven.text
        assert driven.app.screen.query_one(Menu).query_one(LineList).cursor == 1
        await driven.reaches('"status": "completed"', "Y")
        await changes("failed", "ex_0001")
        await driven.shows('"status": "failed"')
        await driven.press("escape")
        await driven.reaches("the 1 listed run:", "e")
        await changes("failed", "ex_0001", "ex_0002")
        await driven.shows("all 2 listed runs:")
