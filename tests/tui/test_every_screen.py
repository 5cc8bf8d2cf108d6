"""On every screen the keys of the status line work, the mouse does the same, and tab walks all of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.widget import Widget
from textual.widgets import Input

from runwatch.store.state.freshness import LoadState
from runwatch.tui.app.commands import list_commands
from runwatch.tui.core.key_bindings import KEY_ACTIONS
from runwatch.tui.screens.base.list_screen import ListScreen
from runwatch.tui.shell.console_screen import ConsoleScreen
from runwatch.tui.widgets.bars.status_bar import StatusBar
from runwatch.tui.widgets.bars.tab_bar import TabBar
from runwatch.tui.widgets.lists.line_list import LineList
from runwatch.tui.widgets.panes.overlay import Overlay
from tests.tui import noon
from tests.tui.console import NARROW, WIDE, Driven, console
from tests.tui.every_screen import SCREENS, Scene, keep_still, settle_drawn, write_journal

each_screen = pytest.mark.parametrize("name", SCREENS)


@pytest.fixture(autouse=True)
def _nothing_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    keep_still(monkeypatch)


async def begin(driven: Driven, name: str) -> ConsoleScreen:
    """The screen anew, with its sample records."""
    await driven.app.go_to(name)
    Scene(driven).enter(LoadState.FRESH)
    await settle_drawn(driven)
    screen = driven.app.screen
    assert isinstance(screen, ConsoleScreen)
    if isinstance(driven.focused, Input):
        # The screen of a time begins with the question.
        await driven.press("escape")
    return screen


def hinted(screen: ConsoleScreen) -> list[str]:
    """The actions that the status line offers."""
    return [hint if isinstance(hint, str) else hint[0] for hint in screen.hints()]


async def leave_all(driven: Driven) -> None:
    """Close everything in front of the screen."""
    while len(driven.app.screen_stack) > 2:
        await driven.app.pop_screen()
    await driven.pilot.pause()


# In the short run a screen of few keys stands for all.
@pytest.mark.parametrize("name", sorted(SCREENS, key=lambda name: name != "webhooks"))
async def test_every_key_of_the_status_line_works_as_soon_as_the_screen_is_there(tmp_path: Path, name: str) -> None:
    async with console(noon.service(), tmp_path, size=WIDE, open_at=name) as driven:
        write_journal(driven)
        screen = await begin(driven, name)
        working = {binding.id for _, binding, is_enabled, _ in screen.active_bindings.values() if is_enabled}
        assert [id for id in hinted(screen) if id not in working] == []
        for id in hinted(screen)[:-1]:
            await driven.press(driven.app.keys.keys(id)[0])
            if driven.app.screen is not screen:
                await leave_all(driven)
                screen = await begin(driven, name)
            elif isinstance(driven.focused, Input) or screen.query(Overlay):
                await driven.press("escape")
        assert hinted(screen)[-1] == "app.quit"
        assert driven.app.is_running


async def test_nothing_takes_a_picture_of_the_screen(tmp_path: Path) -> None:
    assert not [action.id for action in KEY_ACTIONS if "screenshot" in action.handler]
    async with console(noon.service(), tmp_path) as driven:
        assert not driven.app.use_command_palette
        bound = [binding.action for _, binding, _, _ in driven.app.screen.active_bindings.values()]
        assert bound
        assert not [action for action in bound if "screenshot" in action or "command_palette" in action]
        assert not [command.name for command in list_commands(driven.app) if "screenshot" in command.name.lower()]


@each_screen
async def test_a_click_on_a_hint_does_what_its_key_does(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    clicked: list[str] = []
    async with console(noon.service(), tmp_path, size=WIDE, open_at=name) as driven:
        screen = await begin(driven, name)

        async def do(action: str) -> bool:
            clicked.append(action)
            return True

        monkeypatch.setattr(driven.app, "run_key_action", do)
        # At a root esc has nothing to go back to.
        status = screen.query_one(StatusBar)
        absent = {"screen.back", *(action for action, _ in status.hidden_hints)}
        if isinstance(screen.focused, LineList) and screen.focused.enter_label == "":
            absent.add("detail.open")
        offered = set(hinted(screen)) - absent
        # The number of those without room leads to a menu.
        parts = [(start, part.target) for start, part, _ in status._placed() if isinstance(part.target, str)]
        for start, _ in parts:
            await driven.pilot.click(offset=(start, status.region.y))
            await driven.pilot.pause()
    assert clicked == [target for _, target in parts]
    assert offered <= set(clicked)


@each_screen
async def test_tab_walks_the_whole_screen(tmp_path: Path, name: str) -> None:
    async with console(noon.service(), tmp_path, size=NARROW, open_at=name) as driven:
        screen = await begin(driven, name)
        await driven.press("tab")
        start = driven.focused
        seen: list[Widget] = []
        assert start is not None
        while not seen or seen[-1] is not start:
            await driven.press("tab")
            assert driven.focused is not None
            assert driven.focused not in seen
            seen.append(driven.focused)
        assert set(seen) == set(screen.focus_chain)


@each_screen
async def test_rows_heads_tabs_and_crumbs_can_be_clicked(tmp_path: Path, name: str) -> None:
    async with console(noon.service(), tmp_path, size=WIDE, open_at=name) as driven:
        write_journal(driven)
        screen = await begin(driven, name)
        for bar in screen.query(TabBar):
            for start, part, _ in bar._placed():
                if part.target is not None and bar.region:
                    await driven.pilot.click(offset=(bar.region.x + start, bar.region.y))
                    await driven.pilot.pause()
                    assert bar.active == part.target
        if isinstance(screen, ListScreen) and len(screen.table.rows) > 1:
            table = screen.table
            first = table.cursor_key
            region = table.region
            await driven.pilot.click(offset=(region.x + 4, region.y + 2))
            await driven.pilot.pause()
            assert table.cursor_key != first
            before = driven.text
            await driven.pilot.click(offset=(region.x + 4, region.y))
            await driven.pilot.pause()
            assert driven.text != before
        if isinstance(driven.focused, Input):
            await driven.press("escape")
        await driven.click_text("? help")
        assert driven.app.screen is not screen
