"""Every screen in every state, at two sizes, as text that was looked at.

What the service says does not matter to the journals of this machine: their screens go on whatever happens, and the
bar above them tells what happened.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Final

import pytest

from runwatch.records.run import Run
from runwatch.store.state.freshness import LoadState
from runwatch.tui.screens.registry import PAGE_CLASSES, has_screen, is_page
from runwatch.tui.widgets.lists.link_lines import LinkLines
from runwatch.tui.widgets.panes.run_tile import RunTile
from runwatch.view.resources.registry import RESOURCES
from tests.tui import noon
from tests.tui.console import NARROW, WIDE, Driven, console
from tests.tui.every_screen import FAILURES, SCREENS, Scene, keep_still, settle_drawn, write_journal
from tests.tui.golden import check_golden, check_states
from tests.tui.samples import NOON

SIZES: Final = (NARROW, WIDE)
FIRST, LAST = LoadState.EMPTY, LoadState.RATE_LIMITED
STATES: Final = (FIRST, *(state for state in LoadState if state not in {FIRST, LAST, LoadState.ENDED}), LAST)
"""Every state of a list: the empty one before anything is in the journal, and the limit, which holds, at the end. Only
the events of a run come to an end."""

_FOLDER: Final = re.compile(r"━ /.*")
"""The frame of the settings from its path on, which differs in every test."""

each_size = pytest.mark.parametrize("size", SIZES, ids=lambda size: "x".join(map(str, size)))


@pytest.fixture(autouse=True)
def _nothing_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    keep_still(monkeypatch)


async def drawn(driven: Driven) -> str:
    """The screen, when everything that was changed is drawn; paths of the test's own folder are left out."""
    await settle_drawn(driven)
    tiles = [tile for tile in driven.app.screen.query(RunTile) if tile.display]
    # Tiles are filled before they have their size.
    await driven.until(lambda: all(tile._border_title is not None for tile in tiles), "the frames of the tiles")
    for lines in driven.app.screen.query("#standing-lines").results(LinkLines):
        # The cursor stays on the line that came first, whichever that was.
        lines.go_to((0, 0))
    await driven.pilot.pause()
    return _FOLDER.sub("━ …", driven.text)


@pytest.mark.parametrize("size", [NARROW, (120, 36)], ids=lambda size: "x".join(map(str, size)))
async def test_every_screen_in_its_main_state(tmp_path: Path, size: tuple[int, int]) -> None:
    others: list[str] = []
    for name in SCREENS:
        async with console(noon.service(), tmp_path / name, size=size, open_at=name) as driven:
            write_journal(driven)
            Scene(driven).enter(LoadState.FRESH)
            try:
                check_golden(f"{size[0]}x{size[1]}/{'page-' if is_page(name) else ''}{name}-fresh", await drawn(driven))
            except AssertionError as error:
                others.append(str(error))
    assert not others, "\n".join(others)


@pytest.mark.parametrize("names", [SCREENS[::6], SCREENS], ids=["some", "all"])
async def test_every_screen_and_the_help_have_an_ascii_form(tmp_path: Path, names: Sequence[str]) -> None:
    found: dict[str, set[str]] = {}
    async with console(noon.service(), tmp_path, settings='glyphs = "ascii"\n') as driven:
        await driven.press("?")
        await driven.reaches("beside a heading: sorted", ">", ">")
        found["help"] = foreign_marks(driven)
        await driven.press("escape")
        write_journal(driven)
        for name in names:
            await driven.app.go_to(name)
            Scene(driven).enter(LoadState.FRESH)
            await settle_drawn(driven)
            found[name] = foreign_marks(driven)
    assert {name: marks for name, marks in found.items() if marks} == {}


def foreign_marks(driven: Driven) -> set[str]:
    return {mark for mark in driven.text if not mark.isascii()}


@pytest.mark.exhaustive
@each_size
@pytest.mark.parametrize("name", SCREENS)
async def test_every_screen_in_every_state(tmp_path: Path, name: str, size: tuple[int, int]) -> None:
    states: dict[str, str] = {}
    async with console(noon.service(), tmp_path, size=size, open_at=name) as driven:
        scene = Scene(driven)
        for state in STATES:
            scene.enter(state)
            states[state.value.replace(" ", "-")] = await drawn(driven)
            if state is FIRST:
                write_journal(driven)
    main_first = {"fresh": states["fresh"], **states}
    check_states(f"{size[0]}x{size[1]}/{'page-' if is_page(name) else ''}{name}", main_first)


@each_size
async def test_a_run_that_has_ended_says_so_and_is_followed_no_longer(tmp_path: Path, size: tuple[int, int]) -> None:
    async with console(noon.service(), tmp_path, size=size) as driven:
        Scene(driven).read(Run.KIND, 2)
        await driven.shows("9911")
        await driven.session.event_store.append(driven.session.scope, noon.DONE, noon.events()[noon.DONE], after=None)
        await driven.session.event_store.mark_complete(driven.session.scope, noon.DONE)
        driven.session.live.tails._update(noon.DONE, count=7, is_complete=True, pause_s=None)
        await driven.select(noon.DONE)
        await driven.reaches("7 events", "enter")
        check_golden(f"{size[0]}x{size[1]}/runs-ended", await drawn(driven))


@each_size
async def test_a_console_without_its_service_says_what_to_do(tmp_path: Path, size: tuple[int, int]) -> None:
    keyless = '[profiles.work]\nbase_url = "https://runs.example.test"\nkey_command = "false"\n'
    environment = {"RUNWATCH_BASE_URL": "", "RUNWATCH_API_KEY": "", "RUNWATCH_PROFILE": "work"}
    async with console(
        noon.service(), tmp_path, size=size, settings=keyless, environment=environment, is_open=False
    ) as driven:
        await driven.shows("not connected")
        if size != NARROW:
            # The second pane comes after the list.
            await driven.comes("nothing selected")
        await driven.settle()
        check_golden(f"{size[0]}x{size[1]}/not-connected", driven.text.replace(str(tmp_path), "~"))


async def test_what_an_earlier_session_knew_is_shown_at_once_with_its_age(tmp_path: Path) -> None:
    async with console(noon.service(), tmp_path) as driven:
        await driven.session.cache.save(driven.session.scope, "run", noon.runs(), NOON - timedelta(minutes=7))
    async with console(noon.service(), tmp_path) as driven:
        await driven.shows("8f21", "updated 7m ago")


def test_the_states_of_the_goldens_are_all_there_are() -> None:
    assert set(FAILURES) | {
        LoadState.LOADING, LoadState.EMPTY, LoadState.FRESH, LoadState.REFRESHING, LoadState.STALE, LoadState.PARTIAL,
        LoadState.RATE_LIMITED, LoadState.ENDED, LoadState.NO_ANSWER,
    } == set(LoadState)  # fmt: skip


def test_screens_are_those_of_the_registry_that_stand_alone_and_all_pages() -> None:
    assert all(has_screen(name) for name in SCREENS)
    assert {PAGE_CLASSES[name] for name in SCREENS if name in PAGE_CLASSES} == set(PAGE_CLASSES.values())
    assert {spec.name for spec in RESOURCES if spec.has_screen} <= set(SCREENS)
    assert "events" not in SCREENS
