"""Pins: numbered tabs to a record, a filter or a comparison, with a mark if one changed since one looked."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from runwatch.records.run import Run
from runwatch.store.repositories.pins import Pin, PinTarget
from runwatch.tui.app.pins import board
from runwatch.tui.flows.comparison import CompareScreen
from runwatch.tui.flows.form_screen import FormScreen
from runwatch.tui.widgets.bars.pin_bar import PinBar
from tests.support import resources
from tests.support.builders import open_run
from tests.support.scripted import Said, ScriptedService
from tests.tui import noon
from tests.tui.console import Driven, console

SIZE = (120, 36)


async def pin(driven: Driven, run_id: str) -> None:
    """Pin a run of the list."""
    await driven.select(run_id)
    await driven.reaches(f"Pinned run {run_id[:4]}", "b")


def bar(driven: Driven) -> str:
    """The line of pins, or nothing."""
    return next((driven.lines[it.region.y].strip() for it in driven.app.screen.query(PinBar) if it.display), "")


def end_live_run(service: ScriptedService) -> None:
    """The live run ends."""
    ended = dict(open_run(noon.LIVE, "failed", reason="fallback_exhausted").raw)
    service.runs[:] = [ended if run["execution_id"] == noon.LIVE else run for run in service.runs]


async def test_a_run_is_pinned_and_unpinned_and_stays_over_a_restart(tmp_path: Path) -> None:
    async with console(noon.service(), tmp_path, size=SIZE, until="8f21") as driven:
        assert bar(driven) == ""
        await pin(driven, noon.LIVE)
        await driven.shows("alt+1 goes there")
        assert bar(driven) == "1 run 8f21…9b7e"
    async with console(noon.service(), tmp_path, size=SIZE) as driven:
        await driven.until(lambda: bar(driven) == "1 run 8f21…9b7e", "the pin to come back")
        await driven.select(noon.LIVE)
        await driven.reaches("Unpinned run 8f21…9b7e; b pins it again", "b")
        assert bar(driven) == ""


async def test_a_pinned_run_is_named_by_its_label(tmp_path: Path) -> None:
    async with console(noon.service(), tmp_path, size=SIZE, until="8f21") as driven:
        await driven.session.notes.write(driven.session.scope, Run.KIND, noon.LIVE, "label", "nightly [import]")
        await pin(driven, noon.LIVE)
        await driven.until(lambda: bar(driven) == "1 nightly [import]", "the label")


@pytest.mark.exhaustive
async def test_what_changed_since_one_looked_carries_a_mark_until_one_looks(tmp_path: Path) -> None:
    service = noon.service()
    async with console(service, tmp_path, size=SIZE, until="8f21") as driven:
        await pin(driven, noon.LIVE)
        await driven.reaches("Receipts", "2")
        await driven.pass_time(4)
        assert bar(driven) == "1 run 8f21…9b7e", "nothing happened so far"
        end_live_run(service)
        await driven.comes("1 ± run 8f21…9b7e", 30)
    async with console(service, tmp_path, size=SIZE) as driven:
        await driven.comes("1 ± run 8f21…9b7e")
        await driven.press("alt+1")
        await driven.until(lambda: driven.app.screen.has_class("-opened"), "the run to open")
        assert driven.table.cursor_key == noon.LIVE
        await driven.until(lambda: bar(driven) == "1 run 8f21…9b7e", "the mark to go")


@pytest.mark.exhaustive
async def test_the_keys_of_the_pins_work_in_the_list_that_shows_them(tmp_path: Path) -> None:
    async with console(noon.service(), tmp_path, size=SIZE, until="8f21") as driven:
        await pin(driven, noon.LIVE)
        await driven.reaches("Receipts", "2")
        await driven.reaches("enter goes there", "B")
        await driven.press("alt+1")
        await driven.until(lambda: driven.app.screen.has_class("-opened"), "the run to open")
        assert driven.table.cursor_key == noon.LIVE
        await driven.press("B")
        await driven.reaches("There is no pin 2", "alt+2")


@pytest.mark.exhaustive
async def test_a_run_whose_detail_is_beside_the_list_is_looked_at_without_the_focus(tmp_path: Path) -> None:
    async with console(noon.service(), tmp_path, size=SIZE, until="8f21") as driven:
        await pin(driven, noon.LIVE)
        end_live_run(driven.service)
        await driven.comes(re.compile("9b7e +fallback_exhausted"), 30)
        await driven.pass_time(2)
        await driven.select(noon.QUEUED)
        await driven.pass_time(2)
        assert bar(driven) == "1 run 8f21…9b7e"


async def test_the_end_of_a_pinned_run_is_a_notice_and_a_click_goes_there(tmp_path: Path) -> None:
    async with console(noon.service(), tmp_path, size=SIZE, settings="notice = true", until="8f21") as driven:
        await pin(driven, noon.LIVE)
        await driven.reaches("Output checks", "5")
        end_live_run(driven.service)
        await driven.comes("run 8f21…9b7e has ended", 30)
        await driven.comes("1 ± run 8f21")
        await driven.click_text("1 ± run 8f21", offset=4)
        await driven.shows("Runs › 8f21…9b7e")


async def test_a_filter_is_pinned_and_marked_when_it_matches_something_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(board, "SEARCH_EVERY_S", 1)
    async with console(noon.service(), tmp_path, size=SIZE, until="8f21") as driven:
        await driven.filter("status:failed")
        await driven.reaches("Pin runs status:failed", "b")
        await driven.reaches("Pinned runs status:failed", "down", "enter")
        await driven.pass_time(2)
        await driven.reaches("Output checks", "5")
        end_live_run(driven.service)
        await driven.comes("1 ± runs status:failed", 30)
        await driven.reaches("filter status:failed", "alt+1")
        await driven.comes("1 runs status:failed")


async def test_a_comparison_is_pinned_and_opened_again(tmp_path: Path) -> None:
    async with console(noon.service(), tmp_path, size=SIZE) as driven:
        for run_id in (noon.LIVE, noon.QUEUED):
            await driven.select(run_id)
            await driven.press("D")
        await driven.opens(CompareScreen)
        await driven.reaches("1 8f21…9b7e ≠ 77ab…02d1", "b")
        await driven.reaches("Models", "escape", "3")
        await driven.opens(CompareScreen, "alt+1")
        await driven.shows("members differ")


@pytest.mark.exhaustive
async def test_a_record_that_is_gone_says_so(tmp_path: Path) -> None:
    service = noon.service()
    async with console(service, tmp_path, size=SIZE, until="8f21") as driven:
        await pin(driven, noon.LIVE)
        service.runs[:] = [run for run in service.runs if run["execution_id"] != noon.LIVE]
    async with console(service, tmp_path, size=SIZE) as driven:
        await driven.comes("1 ✗ gone run 8f21…9b7e")
        await driven.reaches("the record is gone", "B")


async def test_pins_are_renamed_moved_and_removed_in_their_list(tmp_path: Path) -> None:
    async with console(noon.service(), tmp_path, size=SIZE) as driven:
        await driven.reaches("No pins; b pins a record", "B")
        await pin(driven, noon.LIVE)
        await pin(driven, noon.DONE)
        await driven.reaches("it is the last", "B", "down", "enter")
        await driven.reaches("Name of pin", "down", "enter")
        await driven.type("nightly")
        await driven.reaches("2 nightly", "enter")
        await driven.reaches("1  nightly", "B", "down", "enter", "down", "down", "enter")
        await driven.press("escape")
        assert bar(driven) == "1 nightly  2 run 8f21…9b7e"
        await driven.press("B", "down", "enter", "end", "enter")
        await driven.until(lambda: bar(driven) == "1 nightly", "the pin to go")


@pytest.mark.exhaustive
async def test_a_form_is_not_left_for_a_pin(tmp_path: Path) -> None:
    async with console(noon.service(), tmp_path, size=SIZE, until="8f21") as driven:
        await pin(driven, noon.LIVE)
        await driven.opens(FormScreen, "plus")
        await driven.reaches("esc leaves this form first.", "alt+1")


async def test_two_consoles_share_the_pins(tmp_path: Path) -> None:
    async with console(noon.service(), tmp_path, size=SIZE, until="8f21") as driven:
        await pin(driven, noon.LIVE)
        other = driven.session.pins
        await other.change(driven.session.scope, lambda pins: [*pins, Pin(PinTarget("record", "runs", (noon.DONE,)))])
        await pin(driven, noon.QUEUED)
        assert [one.target.ids[0] for one in await other.list(driven.session.scope)] == [
            noon.LIVE, noon.DONE, noon.QUEUED,
        ]  # fmt: skip
        await driven.until(lambda: "3 run 77ab" in bar(driven), "all pins")


@pytest.mark.exhaustive
async def test_there_is_no_tenth_pin_and_a_low_window_has_no_room_for_the_line(tmp_path: Path) -> None:
    async with console(noon.service(), tmp_path, size=(80, 24), until="9b7e") as driven:
        for run in noon.runs():
            await pin(driven, run.id)
        assert len(bar(driven)) <= 78
        # A mark takes its cells from the names, and of an id the end is left.
        board = driven.app._pins
        assert board is not None
        changed = [tab._replace(is_changed=tab.number < 6) for tab in board.tabs()]
        driven.app.screen.query_one(PinBar).show(changed)
        await driven.until(lambda: "±" in bar(driven), "the marks")
        assert bar(driven) == "1 ± …d1  2 ± …7e  3 ± …d4  4 ± …00  5 ± …aa  6 …b1  7 …11  8 …e3  9 …42"
        driven.app.screen.query_one(PinBar).show([tab._replace(is_changed=True) for tab in changed])
        await driven.until(lambda: "9±" in bar(driven), "all marks")
        assert bar(driven) == "1± …d1  2± …7e  3± …d4  4± …00  5± …aa  6± …b1  7± …11  8± …e3  9± …42"
        await driven.press("2", "alt+9")
        await driven.until(lambda: driven.app.screen.has_class("-opened"), "the ninth")
        assert driven.table.cursor_key == noon.EXPIRED
        await driven.pilot.resize_terminal(80, 21)
        await driven.until(lambda: bar(driven) == "", "the line to go")


async def test_tabs_without_room_for_kinds_show_names_alone(tmp_path: Path) -> None:
    service = noon.service()
    names = ["Sample Cedar Deep (slow)", "Sample Cedar Standard", "Sample Ember Small", *["Sample River Pro"] * 2]
    arms = [resources.arm(f"arm_{number}", display_name=name) for number, name in enumerate(names)]
    service.say("GET", "/v1/arms", Said(200, {"arms": [dict(arm.raw) for arm in arms], "next_cursor": None}))
    async with console(service, tmp_path, size=(80, 24), open_at="arms", until="Cedar") as driven:
        for number, name in enumerate(names):
            await driven.select(f"arm_{number}")
            await driven.reaches(f"Pinned saved model {name}", "b")
            if number == 1:
                assert bar(driven) == f"1 saved model {names[0]}  2 saved model {names[1]}"
            if number == 3:
                assert bar(driven) == "1 Sample C… (slow)  2 Sample C…tandard  3 Sample E…r Small  4 Sample River Pro"
        # Equal names have the ids of their records; the notice of the fifth is that of the fourth.
        whole = "1 Sample…slow)  2 Sample…ndard  3 Sample…Small  4 Sample…arm_3  5 Sample…arm_4"
        await driven.until(lambda: bar(driven) == whole, "the fifth")
        await driven.reaches(f"1  saved model {names[0]}", "B")


@pytest.mark.exhaustive
async def test_a_list_of_another_kind_is_read_for_its_pins(tmp_path: Path) -> None:
    service = noon.service()
    service.say("GET", "/v1/arms", Said(200, {"arms": [dict(resources.arm().raw)], "next_cursor": None}))
    async with console(service, tmp_path, size=SIZE, open_at="arms", until="arm_") as driven:
        await driven.shows("arm_")
        await driven.reaches("1 saved model Ember", "b")
        await driven.reaches("8f21", "1")
        arm = dict(resources.arm().raw) | {"display_name": "Another name"}
        service.say("GET", "/v1/arms", Said(200, {"arms": [arm], "next_cursor": None}))
        await driven.comes("1 ± saved model Another name", 120)
