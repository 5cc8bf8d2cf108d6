"""Views that were left come back as they were, with the keys for back, forward and the last one."""

from __future__ import annotations

from pathlib import Path

import pytest

from runwatch.tui.screens.base.resource_screen import ResourceScreen
from runwatch.tui.screens.problems.requests import RequestsScreen
from runwatch.tui.screens.registry import PAGE_CLASSES
from runwatch.tui.screens.runs.runs import RunsScreen
from runwatch.tui.screens.settings.settings import SettingsScreen
from runwatch.tui.widgets.bars.status_bar import NOTICE_S
from runwatch.tui.widgets.inputs.line_input import LineInput
from runwatch.view.resources.registry import RESOURCES
from tests.support.builders import event, run
from tests.support.resources import verifier
from tests.support.scripted import Said, ScriptedService
from tests.tui.console import NARROW, Driven, console


def service() -> ScriptedService:
    """Runs of two states."""
    return ScriptedService(runs=[run("ex_one"), run("ex_two", "running"), run("ex_three", "running")])


def runs_screen(driven: Driven) -> RunsScreen:
    screen = driven.app.screen
    assert isinstance(screen, RunsScreen)
    return screen


async def in_front(driven: Driven, name: str) -> None:
    def is_there() -> bool:
        view = driven.app.history.present
        screen = driven.app.screen
        named = screen.spec.name if isinstance(screen, ResourceScreen) else "settings"
        return view is not None and view.screen == name == named

    await driven.until(is_there, f"the screen {name}")
    await driven.pilot.pause()


async def test_a_view_comes_back_with_its_filter_its_order_and_its_row(tmp_path: Path) -> None:
    async with console(service(), tmp_path) as driven:
        runs_screen(driven).filter_by("is:live")
        await driven.press("s", "down")
        kept = runs_screen(driven).view_state("runs")
        assert kept.filter == "is:live"
        assert kept.sort
        assert kept.selected
        await driven.press("2")
        await in_front(driven, "receipts")
        await driven.press("left_square_bracket")
        await in_front(driven, "runs")
        await driven.until(lambda: runs_screen(driven).view_state("runs") == kept, "the view as it was")
        await driven.shows("filter is:live")


@pytest.mark.exhaustive
async def test_an_open_record_is_open_again(tmp_path: Path) -> None:
    async with console(service(), tmp_path, size=NARROW) as driven:
        await driven.until(lambda: runs_screen(driven).table.select("ex_two"), "the row")
        await driven.press("enter", "2")
        await in_front(driven, "receipts")
        await driven.press("minus")
        await in_front(driven, "runs")
        await driven.until(lambda: runs_screen(driven).has_class("-opened"), "the run to be open")
        assert runs_screen(driven).table.cursor_key == "ex_two"


@pytest.mark.parametrize(
    ("name", "keys"),
    [
        ("runs", ("enter", ">")), ("verifiers", ("enter", ">", ">")), ("verifiers", ("enter",)),
        # The detail beside the list is entered without opening the record.
        ("verifiers", ("tab",)),
    ],
)  # fmt: skip
async def test_an_open_record_comes_back_at_the_line_that_was_left(
    tmp_path: Path, name: str, keys: tuple[str, ...]
) -> None:
    scripted = service()
    scripted.say("GET", "/v1/verifiers", Said(200, {"verifiers": [dict(verifier().raw)]}))
    async with console(scripted, tmp_path, open_at=name) as driven:

        def place() -> str:
            screen = driven.app.screen
            return screen.place_in_detail() if isinstance(screen, ResourceScreen) else ""

        await driven.until(lambda: len(driven.table.rows) > 0, "the rows")
        await driven.press(*keys)
        top = place()
        await driven.press(*["down"] * 4)
        kept = place()
        assert kept != top
        await driven.press("2")
        await in_front(driven, "receipts")
        await driven.press("[")
        await in_front(driven, name)
        await driven.until(lambda: place() == kept, "the line that was left")


@pytest.mark.parametrize("kind", ["run", "receipt", "arm"])
async def test_a_link_to_what_does_not_exist_says_so_and_stays(tmp_path: Path, kind: str) -> None:
    scripted = service()
    scripted.say("GET", "/v1/arms", Said(200, {"arms": [], "next_cursor": None}))
    async with console(scripted, tmp_path, open_at="requests") as driven:
        driven.app.follow_link(kind, "gone_1")
        await driven.shows("gone_1: not found")
        assert isinstance(driven.app.screen, RequestsScreen)


async def test_a_link_to_a_run_that_is_not_listed_opens_it(tmp_path: Path) -> None:
    scripted = service()
    async with console(scripted, tmp_path, open_at="requests") as driven:
        scripted.runs.append(dict(run("ex_four").raw))
        driven.app.follow_link("run", "ex_four")
        await in_front(driven, "runs")
        await driven.until(lambda: driven.table.cursor_key == "ex_four", "the run to be open")


async def test_back_forward_and_the_last_view(tmp_path: Path) -> None:
    async with console(service(), tmp_path) as driven:
        await driven.press("2")
        await in_front(driven, "receipts")
        await driven.press("comma")
        await in_front(driven, "settings")
        for key, name in [
            ("left_square_bracket", "receipts"),
            ("left_square_bracket", "runs"),
            ("right_square_bracket", "receipts"),
            ("minus", "runs"),
            ("minus", "receipts"),
            ("right_square_bracket", "settings"),
        ]:
            await driven.press(key)
            await in_front(driven, name)


@pytest.mark.exhaustive
async def test_every_screen_comes_back(tmp_path: Path) -> None:
    names = [*(spec.name for spec in RESOURCES if spec.has_screen and spec.name not in PAGE_CLASSES), *PAGE_CLASSES]
    async with console(service(), tmp_path, open_at="settings") as driven:
        for name in names:
            await driven.app.go_to(name)
            await driven.pilot.pause()
        seen = [driven.app.console_screen]
        for _ in names:
            # Not by its key: some screens begin in a line for text.
            driven.app.action_history(-1)
            await driven.until(lambda: driven.app.console_screen is not seen[-1], "the view before")
            await driven.pilot.pause()
            seen.append(driven.app.console_screen)
        assert not driven.app.history.has_earlier
        assert isinstance(seen[-1], SettingsScreen)


@pytest.mark.exhaustive
async def test_the_key_that_quits_goes_back_from_a_followed_view_and_quits_a_named_one(tmp_path: Path) -> None:
    async with console(service(), tmp_path, open_at="requests") as driven:
        await driven.reaches("q quit", "8", "H")
        await driven.app.go_to("runs")
        await driven.hides("q quit")
        await driven.opens(RequestsScreen, "q")
        for key in ("j", "escape"):
            await driven.reaches("q again quits", "q")
            await driven.press(key)
            await driven.hides("q again quits")
        await driven.reaches("q again quits", "q")
        assert driven.app.is_running, "a key in between ends the question"
        await driven.press("q")
        await driven.until(lambda: not driven.app.is_running, "the console to end")


@pytest.mark.exhaustive
async def test_the_key_that_quits_leads_back_from_whatever_is_open_and_says_so(tmp_path: Path) -> None:
    async with console(service(), tmp_path, open_at="requests") as driven:
        await driven.shows("q quit", "/v1/executions")
        await driven.reaches("q back", "enter")
        await driven.reaches("q quit", "q")
        await driven.filter("executions")
        await driven.shows("q back")
        await driven.reaches("q quit", "q")
        await driven.reaches("q again quits", "q")
        await driven.pass_time(NOTICE_S + 1)
        await driven.press("q")
        assert driven.app.is_running, "the question is over with its notice"
        await driven.press("q")
        await driven.until(lambda: not driven.app.is_running, "the console to end")


@pytest.mark.exhaustive
async def test_esc_on_the_first_level_leads_nowhere(tmp_path: Path) -> None:
    async with console(service(), tmp_path, open_at="requests") as driven:
        await driven.shows("q quit")
        await driven.reaches("This is the first view; q quits.", "escape")
        assert isinstance(driven.app.screen, RequestsScreen)


@pytest.mark.exhaustive
async def test_it_says_quit_again_as_soon_as_nothing_is_open(tmp_path: Path) -> None:
    following = ScriptedService(runs=[run("ex_one", "running")], events={"ex_one": [event(execution_id="ex_one")]})
    async with console(following, tmp_path, open_at="tail", size=(160, 36)) as driven:
        await driven.shows("q quit")
        await driven.filter("running")
        await driven.shows("q back")
        await driven.reaches("q quit", "escape")
        await driven.reaches("esc close", "enter")
        await driven.reaches("q quit", "tab", "escape")
        assert driven.app.is_running


async def test_where_there_is_no_view_it_says_so(tmp_path: Path) -> None:
    async with console(service(), tmp_path) as driven:
        await driven.reaches("This is the first view.", "left_square_bracket")
        await driven.reaches("This is the newest view.", "right_square_bracket")
        await driven.reaches("There is no other view yet.", "minus")


async def test_a_key_of_another_screen_says_what_it_is_for(tmp_path: Path) -> None:
    async with console(service(), tmp_path, open_at="runs", size=(120, 36)) as driven:
        await driven.reaches("c has no use here; elsewhere: copy the request as a curl command", "c")
        await driven.reaches("C has no use here; elsewhere: group problems by error code", "C")
        await driven.press("2")
        await in_front(driven, "receipts")
        await driven.reaches("C has no use here", "C")
        await driven.reaches("* has no use here", "asterisk")
        await driven.press("slash", "C", "c")
        await driven.hides("has no use")
        assert driven.app.screen.query_one("#filter-text", LineInput).value == "Cc", "in a filter they are text"


@pytest.mark.exhaustive
async def test_a_form_in_front_goes_and_the_view_below_it_is_the_one_that_is_kept(tmp_path: Path) -> None:
    async with console(service(), tmp_path, open_at="settings") as driven:
        await driven.press("1")
        await in_front(driven, "runs")
        runs_screen(driven).filter_by("is:live")
        await driven.press("question_mark")
        await driven.until(lambda: len(driven.app.screen_stack) > 2, "the help")
        await driven.app.go_to("settings")
        assert isinstance(driven.app.screen, SettingsScreen)
        await driven.press("minus")
        await in_front(driven, "runs")
        await driven.shows("filter is:live")
