"""Keys that come faster than what they open: nothing ends the console, and what is typed goes where it belongs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from runwatch.tui.core.command_parser import PaletteCommand
from runwatch.tui.flows.local_notes import NoteEditor
from runwatch.tui.screens.base.list_screen import ListScreen
from runwatch.tui.shell.console_screen import ConsoleScreen
from runwatch.tui.widgets.bars.filter_bar import FilterBar
from runwatch.tui.widgets.panes.command_line import CommandLine
from runwatch.tui.widgets.panes.overlay import Overlay
from tests.tui import noon
from tests.tui.console import console

SIZE = (160, 40)


async def nothing(argument: str) -> None:
    """A command that does nothing."""


async def test_one_overlay_opens_and_a_filter_takes_what_is_typed_until_it_is_right(tmp_path: Path) -> None:
    async with console(noon.service(), tmp_path, size=SIZE) as driven:
        screen = driven.app.screen
        assert isinstance(screen, ConsoleScreen)
        for _ in range(2):
            screen.open_overlay(CommandLine([PaletteCommand("runs", "Go to Runs.", nothing)], id="command"))
        await driven.until(lambda: len(screen.query(Overlay)) == 1, "one of them to stay")
        await driven.reaches("8f21", "escape")
        await driven.filter("status>")
        await driven.shows("not applied: status> has no value")
        assert any(isinstance(widget, FilterBar) for widget in (driven.app.screen.focused or driven.table).ancestors)
        await driven.press("escape")
        await driven.select(noon.LIVE)
        await driven.press("enter", "greater_than_sign")
        await driven.press("slash")
        await driven.type("is:x")
        assert not driven.app.screen.query(NoteEditor)
        assert driven.app.screen.focused is not None
        assert any(isinstance(widget, FilterBar) for widget in driven.app.screen.focused.ancestors)


@pytest.mark.exhaustive
async def test_hints_can_be_clicked_while_a_filter_is_typed(tmp_path: Path) -> None:
    async with console(noon.service(), tmp_path, size=SIZE, until="8f21") as driven:
        await driven.press("slash")
        await driven.type("status:live")
        await driven.click_text("enter apply")
        await driven.until(lambda: driven.focused is driven.table, "the filter to be kept")
        await driven.shows("filter status:live")


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("key", "typed", "words"),
    [
        ("1", "is:failed", "unknown is:failed; try status:failed"),
        ("2", "xstatus:failed", "there is no field 'xstatus'; try status"),
    ],
)
async def test_a_filter_that_cannot_be_read_leaves_the_rows_from_before(
    key: str, typed: str, words: str, tmp_path: Path
) -> None:
    async with console(noon.service(), tmp_path, size=(80, 24), until="9b7e") as driven:
        await driven.press(key)
        screen = driven.app.screen
        assert isinstance(screen, ListScreen)
        await driven.until(lambda: bool(screen.listing.shown_rows), "the rows")
        before = [row.id for row in screen.listing.shown_rows]
        await driven.filter(typed)
        await driven.shows(f"not applied: {words}")
        assert (screen.filter_text, [row.id for row in screen.listing.shown_rows]) == ("", before)
        # A filter from before stays too.
        await driven.press("escape", "slash")
        await driven.type("8f21")
        await driven.press("enter")
        await driven.filter(" is:nothing")
        await driven.shows("not applied: unknown is:nothing")
        assert screen.filter_text == "8f21"


@pytest.mark.exhaustive
@pytest.mark.parametrize("keys", [("enter",), ("L",)], ids=["one run", "all live runs"])
async def test_a_filter_of_events_that_cannot_be_read_leaves_the_events_from_before(
    keys: tuple[str, ...], tmp_path: Path
) -> None:
    async with console(noon.service(), tmp_path, size=SIZE) as driven:
        await driven.select(noon.LIVE)
        await driven.press(*keys)
        await driven.comes(re.compile(r"\d+ events"))
        await driven.filter("kind=check xstatus:failed")
        await driven.shows("not applied: there is no field 'xstatus'")
        await driven.hides("events match")
        await driven.press("escape")
        await driven.filter("kind=check")
        await driven.shows("events match kind=check")
        await driven.filter(" accepted is:nothing")
        await driven.shows("not applied: unknown is:nothing", "events match kind=check")
        await driven.hides("match kind=check accepted")
        await driven.type("x")
        await driven.shows("is:nothingx")
