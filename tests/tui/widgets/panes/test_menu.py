"""The two menus of a record: what to copy, and what can be done or why not."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path

import pytest

from runwatch.base.json import loads
from runwatch.tui.app.console_app import ConsoleApp
from runwatch.tui.widgets.lists.detail_view import DetailView
from runwatch.tui.widgets.lists.event_log import EventLog
from runwatch.tui.widgets.lists.record_table import RecordTable
from runwatch.tui.widgets.panes.confirm_dialog import ConfirmDialog
from runwatch.tui.widgets.panes.menu import Menu, MenuItem
from runwatch.tui.widgets.panes.run_detail import RunDetail
from runwatch.view.text.safe_text import SafeText, line
from tests.support.builders import echo_events, echo_receipt, run
from tests.support.scripted import ScriptedService
from tests.tui.console import Driven, console
from tests.tui.look import Stage, lines_of, running

CHOSEN: list[str] = []
"""The targets called, in their order."""

ITEMS = (
    MenuItem(line("first"), partial(CHOSEN.append, "one"), line("beside")),
    MenuItem(line("second"), partial(CHOSEN.append, "two"), disabled_reason=line("not now")),
    MenuItem(line("third"), partial(CHOSEN.append, "three")),
)


@pytest.fixture(autouse=True)
def _nothing_chosen() -> None:
    CHOSEN.clear()


class Copying(ConsoleApp):
    """A console that notes what is copied instead of copying it."""

    copied: tuple[str, str] | None = None

    async def copy_text(
        self, text: str, what: SafeText, *, several_lines: bool = False, is_secret: bool = False
    ) -> None:
        self.copied = (str(what), text)


def service() -> ScriptedService:
    """A live run and one that has ended, with events and a receipt."""
    return ScriptedService(
        runs=[run("ex_live01", "running"), run("ex_done02", "completed")],
        events={"ex_live01": echo_events("ex_live01")[:2], "ex_done02": echo_events("ex_done02")},
        receipts=[echo_receipt("ex_done02")],
    )


def menus(driven: Driven) -> int:
    """How many menus are open."""
    return len(driven.app.screen.query(Menu))


async def opened(*items: MenuItem) -> tuple[Stage, Menu]:
    menu = Menu(line("Title"), items)
    return Stage(menu), menu


async def test_the_whole_menu() -> None:
    app, _ = await opened(*ITEMS)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        rows = lines_of(app)[-5:]
        assert rows[0].startswith("┏━ Title ━")
        assert [row.strip("┃ ") for row in rows[1:4]] == ["▸ first    beside", "second   off: not now", "third"]
        assert rows[4].endswith("━ enter selects  esc closes ━┛")


async def test_what_is_beside_a_label_is_shown_whole_on_rows_of_its_own() -> None:
    command = ("runwatch runs watch ex_01M8BDRSDK1APBCK4Y2BT2W9GW --until", "completed --timeout 60")
    app, _ = await opened(MenuItem(line("first"), ITEMS[0].target, line(" ".join(command))), *ITEMS[1:])
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        rows = [row.strip("┃ ") for row in lines_of(app)[-5:-1]]
        assert rows == [f"▸ first    {command[0]}", command[1], "second   off: not now", "third"]
        await pilot.press("down", "down", "enter")
        await pilot.pause()
        assert CHOSEN == ["three"]


async def test_a_label_takes_the_room_that_the_texts_beside_leave_free() -> None:
    long = "needs_review · sources_worst_of_all_checks"
    app, _ = await opened(MenuItem(line(long), ITEMS[0].target, line("2")), MenuItem(line("x"), ITEMS[0].target))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        assert [row.strip("┃ ") for row in lines_of(app)[-3:-1]] == [f"▸ {long}   2", "x"]


async def test_what_is_off_cannot_be_chosen() -> None:
    app, menu = await opened(*ITEMS)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("down", "enter")
        assert (CHOSEN, menu.is_attached) == ([], True)
        await pilot.press("down", "enter")
        await pilot.pause()
        assert (CHOSEN, menu.is_attached) == (["three"], False)


async def test_an_open_menu_shows_its_items_as_they_are_now_with_the_cursor_on_the_same_one() -> None:
    now = [*ITEMS]
    menu = Menu(line("Title"), ITEMS, start=2, now=lambda: now)
    async with running(Stage(menu), (80, 24)) as (app, pilot):
        now[:] = [MenuItem(line("new"), ITEMS[0].target, line("above")), *ITEMS]
        for is_empty in (False, True):
            if is_empty:
                # A list that is empty for now leaves the menu as it was.
                now.clear()
            menu.follow()
            await pilot.pause()
            rows = [row.strip("┃ ") for row in lines_of(app)[-5:-1]]
            assert rows == ["new      above", "first    beside", "second   off: not now", "▸ third"]
        await pilot.press("enter")
        await pilot.pause()
        assert CHOSEN == ["three"]


async def test_tab_goes_round_and_a_double_click_chooses() -> None:
    app, menu = await opened(*ITEMS)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("tab", "tab", "tab", "shift+tab")
        await pilot.click(menu, offset=(6, 1), times=2)
        await pilot.pause()
        assert CHOSEN == ["one"]


async def test_the_menu_takes_every_key_shows_every_action_and_opens_the_dialog(tmp_path: Path) -> None:
    async with console(service(), tmp_path) as driven:
        before = driven.app.screen
        await driven.press("Y")
        await driven.press("X", "q", "2", "colon", "slash", "r", "space", "P", "full_stop")
        assert driven.app.screen is before
        assert menus(driven) == 1
        assert driven.table.marks == frozenset()
        await driven.press("escape")
        assert menus(driven) == 0
        assert isinstance(driven.focused, RecordTable)
        await driven.press("down")
        await driven.press("full_stop")
        for text in (
            "Follow its events ",
            "Cancel the run +off: The run has already ended.",
            "Copy a command +Copy the command for one",
        ):
            assert re.search(text, driven.text)
        beside = {row.index(text) for row in driven.text.splitlines() for text in ("off:", "Copy the c") if text in row}
        assert len(beside) == 1
        await driven.press("down", "enter")
        assert menus(driven) == 1
        await driven.press("escape", "g")
        await driven.press("full_stop", "down", "enter")
        assert isinstance(driven.app.screen, ConfirmDialog)
        assert {heard.head.method for heard in driven.service.heard} == {"GET"}


async def test_the_id_of_a_run_its_json_and_the_curl_command_of_a_request_are_copied(tmp_path: Path) -> None:
    async with console(service(), tmp_path, app_class=Copying) as driven:
        app = driven.app
        assert isinstance(app, Copying)
        await driven.press("Y", "enter")
        assert app.copied == ("run id", "ex_live01")
        await driven.press("Y", "down", "enter")
        assert app.copied is not None
        what, text = app.copied
        assert what == "run as JSON"
        assert loads(text)["execution_id"] == "ex_live01"
        await app.go_to("requests")
        await driven.until(lambda: len(driven.table.rows) > 0, "the requests")
        await driven.press("Y", "enter")
        assert app.copied is not None
        assert app.copied[0] == "curl command"
        assert app.copied[1].startswith("runwatch config header --base-url ")


async def test_an_event_and_a_value_under_the_cursor_are_copied_from_where_the_focus_is(tmp_path: Path) -> None:
    async with console(service(), tmp_path, app_class=Copying, draws_frames=True) as driven:
        app = driven.app
        assert isinstance(app, Copying)
        await driven.reaches("accepted", "down", "enter")
        assert isinstance(driven.focused, EventLog)
        await driven.press("g", "Y", "G", "enter")
        assert app.copied is not None
        assert app.copied[0] == "event as JSON"
        assert loads(app.copied[1])["state"] == "accepted"
        await driven.reaches("What happened", "greater_than_sign")
        await driven.until(lambda: isinstance(driven.focused, DetailView), "the summary to be focused")
        await driven.press("down", "Y", "G", "enter")
        assert app.copied == ("value under the cursor", "ex_done02")


@pytest.mark.exhaustive
@pytest.mark.parametrize(("steps", "tab"), [(0, "events"), (3, "receipt")])
async def test_events_and_receipt_open_their_view(steps: int, tab: str, tmp_path: Path) -> None:
    async with console(service(), tmp_path) as driven:
        await driven.press("down", "full_stop", *["down"] * steps, "enter")
        detail = driven.app.screen.query_one(RunDetail)
        assert detail.tab == tab
        assert detail.has_focus_within


@pytest.mark.exhaustive
async def test_a_run_that_ends_while_the_menu_is_open_is_not_cancelled(tmp_path: Path) -> None:
    async with console(service(), tmp_path) as driven:
        await driven.press("full_stop", "down")
        driven.service.runs[0] = dict(run("ex_live01", "completed").raw)
        await driven.pass_time(16)
        await driven.press("enter")
        assert not isinstance(driven.app.screen, ConfirmDialog)
        assert "The run has already ended" in driven.text


async def test_the_menu_offers_what_the_keys_do_with_a_record_and_does_it(tmp_path: Path) -> None:
    async with console(service(), tmp_path, open_at="receipts") as driven:
        await driven.until(lambda: len(driven.table.rows) > 0, "the receipts")
        await driven.press("full_stop")
        offered = re.findall(r"^┃. (.+?)  +(\S+)  +[A-Z]", driven.text, re.MULTILINE)
        assert offered == [
            ("Open", "enter"), ("Pin", "b"), ("Compare", "D"), ("Spend", "$"), ("Copy id", "y"), ("Copy", "Y"),
            ("Raw", "v"), ("Export", "e"), ("Around", "@"), ("Mark", "space"), ("Refresh", "r"), ("Time", "t"),
            ("Quit", "q"),
        ]  # fmt: skip
        await driven.press("escape")
        await driven.press("full_stop", "enter")
        await driven.until(lambda: "-opened" in driven.app.screen.classes, "the receipt to open")
        await driven.press("escape", "full_stop")
        await driven.click_text("Raw")
        await driven.reaches('"execution_id"', "enter")
        assert menus(driven) == 0


async def test_an_empty_list_has_nothing_to_copy(tmp_path: Path) -> None:
    async with console(ScriptedService(), tmp_path) as driven:
        await driven.press("Y")
        assert menus(driven) == 0
        assert "Nothing to copy." in driven.text


async def test_a_menu_longer_than_the_window_scrolls_and_says_how_many_rows_follow() -> None:
    app, menu = await opened(*(MenuItem(line(f"item {number}"), ITEMS[0].target) for number in range(40)))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        assert "19 more rows below" in lines_of(app)[-1]
        await pilot.press("end")
        await pilot.pause()
        assert "item 39" in lines_of(app)[-2]
        assert "below" not in lines_of(app)[-1]
        # The first line of the screen stays in sight, in a window of any height.
        assert (menu.region.y, menu.region.height) == (1, 23)
        await pilot.resize_terminal(80, 18)
        await pilot.pause()
        assert (menu.region.y, menu.region.height) == (1, 17)
