"""What is typed in one burst lands where it would have landed had each key waited for the screen."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest
from textual import events
from textual.keys import _character_to_key
from textual.widget import Widget

from runwatch.tui.app.console_app import INTERRUPT_AGAIN_S
from runwatch.tui.flows.form_screen import FormScreen
from runwatch.tui.screens.base.resource_screen import ResourceScreen
from runwatch.tui.screens.help import HelpScreen
from runwatch.tui.shell import key_queue
from runwatch.tui.widgets.bars.filter_bar import FilterBar
from runwatch.tui.widgets.inputs.line_input import LineInput
from runwatch.tui.widgets.lists.record_table import RecordTable
from runwatch.tui.widgets.panes.command_line import CommandLine
from runwatch.tui.widgets.panes.menu import Menu
from tests.support.builders import run
from tests.support.scripted import ScriptedService
from tests.tui import noon
from tests.tui.console import Driven, console


def burst(driven: Driven, *keys: str) -> None:
    """Everything at once, as a terminal hands it over that was busy for a moment."""
    for key in keys:
        is_letter = len(key) == 1
        driven.app.post_message(events.Key(_character_to_key(key) if is_letter else key, key if is_letter else None))


def service() -> ScriptedService:
    return ScriptedService(runs=[run("ex_1", "failed"), run("ex_2", "completed")])


@pytest.mark.exhaustive
async def test_keys_after_a_way_back_are_for_the_view_as_it_was_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[ResourceScreen] = []

    def focus_late(screen: ResourceScreen, focus: Callable[..., None] = ResourceScreen.focus_opened) -> None:
        def late() -> None:
            focus(screen)
            opened.append(screen)

        # As on a busy machine, where the next refresh takes long.
        screen.set_timer(0.1, late)

    monkeypatch.setattr(ResourceScreen, "focus_opened", focus_late)
    async with console(noon.service(), tmp_path) as driven:
        await driven.select(noon.LIVE)
        await driven.reaches("REPLAY", "enter", "m")
        opened.clear()
        # The replay, then the open run.
        burst(driven, "escape", "escape")
        await driven.until(lambda: bool(opened), "the run to be open again")
        await driven.until(lambda: isinstance(driven.app.focused, RecordTable), "the list to have the keyboard again")
        await driven.press("space")
        assert driven.app.screen.query_one("#table", RecordTable).marks == {noon.LIVE}


async def test_keys_of_one_burst_go_to_what_the_key_before_them_opens(tmp_path: Path) -> None:
    async with console(service(), tmp_path, until="ex_2") as driven:
        burst(driven, "Y", "escape", "Y")
        await driven.until(lambda: bool(driven.app.screen.query(Menu)), "the menu")
        await driven.reaches("ex_2", "escape")
        burst(driven, "/", *"failed", "enter", "j")
        await driven.until(lambda: driven.app.screen.query_one(FilterBar).text == "failed", "the filter to be typed")
        await driven.until(lambda: isinstance(driven.app.focused, RecordTable), "the list to have the keyboard again")
        await driven.until(lambda: "ex_2" not in driven.text, "the others to go")
        await driven.reaches("ex_2", "escape")
        burst(driven, "/")
        driven.app.post_message(events.Paste("completed"))
        await driven.until(lambda: driven.app.screen.query_one(FilterBar).text == "completed", "the paste to be there")
        await driven.reaches("ex_2", "escape")
        burst(driven, ":", *"models", "enter")
        await driven.shows("━ Models ")
        await driven.until(lambda: not driven.app.screen.query(CommandLine), "the command line to go")


@pytest.mark.exhaustive
async def test_a_screen_takes_the_keys_behind_the_one_that_opens_it(tmp_path: Path) -> None:
    async with console(service(), tmp_path, until="ex_2") as driven:
        burst(driven, "question_mark", "escape", "question_mark")
        await driven.opens(HelpScreen)
        burst(driven, "escape", "+", *"Say hello.")
        await driven.opens(FormScreen)
        await driven.shows('"objective": "Say hello."')


async def test_an_interruption_waits_for_nothing(tmp_path: Path) -> None:
    async with console(service(), tmp_path, until="ex_2") as driven:
        driven.app.key_queue.pause_for(object())
        burst(driven, "j", "ctrl+c", "ctrl+c")
        await driven.until(lambda: driven.app.return_code == 130, "the console to end")


async def test_only_a_second_ctrl_c_soon_after_the_first_quits(tmp_path: Path) -> None:
    async with console(service(), tmp_path, until="ex_2") as driven:
        for leads in ("as does q pressed twice", "q goes back", "esc goes back"):
            await driven.reaches(f"ctrl+c again quits, {leads}", "ctrl+c")
            assert driven.app.return_code is None
            driven.clock.advance(INTERRUPT_AGAIN_S)
            await driven.press("enter" if leads.startswith("as") else "slash")
        await driven.press("ctrl+c", "ctrl+c")
        assert driven.app.return_code == 130


@pytest.mark.exhaustive
@pytest.mark.parametrize("is_gone", [True, False], ids=["gone", "never there"])
async def test_what_never_opens_holds_the_keys_for_a_moment_only(tmp_path: Path, is_gone: bool) -> None:
    async with console(service(), tmp_path, until="ex_2") as driven:
        opening = object()
        driven.app.key_queue.pause_for(opening)
        burst(driven, "question_mark")
        await asyncio.sleep(0)
        assert not isinstance(driven.app.screen, HelpScreen)
        if is_gone:
            driven.app.key_queue.resume_for(opening)
        await driven.opens(HelpScreen)


@pytest.mark.exhaustive
async def test_keys_go_on_when_what_they_wait_for_is_removed_late(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(key_queue, "MAX_WAIT_S", 0)
    monkeypatch.setattr(key_queue, "MAX_WAITS", 1_000_000)
    async with console(service(), tmp_path, until="ex_2") as driven:
        opening = Widget()
        await driven.app.screen.mount(opening)
        driven.app.key_queue.pause_for(opening)
        burst(driven, "question_mark")
        for _ in range(50):
            await asyncio.sleep(0)
        assert not isinstance(driven.app.screen, HelpScreen)
        await opening.remove()
        await driven.opens(HelpScreen)


@pytest.mark.exhaustive
async def test_what_is_typed_while_the_window_is_too_small_is_for_nobody_else(tmp_path: Path) -> None:
    async with console(noon.service(), tmp_path, until="8f21") as driven:
        await driven.pilot.resize_terminal(20, 5)
        await driven.shows("80x20")
        burst(driven, *"jjjjjjjjjjjjjjjjjjjj0")
        await driven.pilot.resize_terminal(120, 36)
        await driven.shows("━ Runs ")
        await driven.press("j")
        assert driven.app.mounted_screen.spec.name == "runs"  # type: ignore[union-attr]
        assert "No problems" not in driven.text


@pytest.mark.exhaustive
@pytest.mark.parametrize("is_clicked", [False, True])
async def test_no_letter_is_lost_where_what_it_waits_for_is_slow(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_clicked: bool
) -> None:
    """The queue loses its patience at every turn of the loop, as on a machine that is a thousand times slower."""
    monkeypatch.setattr(key_queue, "MAX_WAIT_S", 0)
    monkeypatch.setattr(key_queue, "MAX_WAITS", 1_000_000)
    async with console(service(), tmp_path, until="ex_2") as driven:
        may_go, mounts = asyncio.Event(), CommandLine.on_mount

        async def slow(self: CommandLine) -> None:
            await may_go.wait()
            mounts(self)

        monkeypatch.setattr(CommandLine, "on_mount", slow)
        if is_clicked:
            # The list is still at work on something else when the click comes.
            driven.table.call_later(may_go.wait)
            x, y = driven.table.region.offset
            for kind in (events.MouseDown, events.MouseUp):
                driven.app.post_message(
                    kind(None, x, y, delta_x=0, delta_y=0, button=1, shift=False, meta=False, ctrl=False)
                )
        burst(driven, ":", *"export")
        for _ in range(200):
            await asyncio.sleep(0)
        may_go.set()
        await driven.until(lambda: bool(driven.app.screen.query(CommandLine)), "the command line")
        typed = driven.app.screen.query_one(CommandLine).query_one(LineInput)
        await driven.until(lambda: typed.value == "export", "every letter")
