"""Text is selected and copied with the mouse, a cut text tells itself, and a click opens a link."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path

import pytest
from textual.content import Content
from textual.pilot import Pilot
from textual.widget import Widget

from runwatch.tui.widgets.bars.status_bar import StatusBar
from runwatch.tui.widgets.bars.tab_bar import TabBar
from runwatch.tui.widgets.lists.event_log import EventLog
from runwatch.tui.widgets.lists.link_lines import LinkLines
from runwatch.tui.widgets.lists.record_table import RecordTable
from runwatch.view.overview.links import LinkSpan, ViewLink
from runwatch.view.text.format import short_id
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import line
from tests.support.builders import run
from tests.support.hostile import CORPUS
from tests.support.scripted import ScriptedService
from tests.tui import noon, samples
from tests.tui.console import NARROW, console
from tests.tui.look import Stage, running

LONG = f"rejected {'because of a long reason ' * 6}after all"


async def drag(pilot: Pilot[None], widget: Widget, start: tuple[int, int], end: tuple[int, int]) -> str:
    """Select text with the mouse, and return it."""
    await pilot.mouse_down(widget, offset=start)
    await pilot.hover(widget, offset=end)
    await pilot.mouse_up(widget, offset=end)
    await pilot.pause()
    return widget.screen.get_selected_text() or ""


def told(widget: Widget) -> str:
    """What the tooltip says."""
    return widget.tooltip.plain if isinstance(widget.tooltip, Content) else ""


async def test_cells_selected_whole_give_all_of_their_value_also_when_rows_come_above(tmp_path: Path) -> None:
    async with console(noon.service(), tmp_path, size=NARROW) as driven:
        await driven.select(noon.LIVE)
        x = driven.lines[5].index("…9b7e") - 1
        text = await drag(driven.pilot, driven.table, (x + 1, 2), (x + 5, 3))
        first, second = text.splitlines()
        reversed_text = (
            segment.text for segment in driven.table.render_line(2) if segment.style and segment.style.reverse
        )
        assert re.match("9b7e +–", "".join(reversed_text))
        assert re.match("9b7e +– +ember-7b-instruct  ", first)
        assert second.endswith(noon.HOVERING)
        await driven.shows("y copies the selected text, esc drops it.")
        driven.service.runs.insert(0, dict(run("ex_new", "running", created_at=noon.at(0)).raw))
        await driven.comes("ex_new", 30)
        assert (driven.app.screen.get_selected_text() or "").endswith(noon.HOVERING)
        await driven.reaches("Copied selection", "y")
        assert driven.app.screen.get_selected_text() is None
        await drag(driven.pilot, driven.table, (5, 1), (20, 2))
        await driven.reaches("Copied selection", "ctrl+c")
        for drops in (partial(driven.press, "escape"), partial(driven.pilot.click, driven.table, offset=(5, 3))):
            await drag(driven.pilot, driven.table, (5, 1), (20, 2))
            await driven.shows("y copies the selected text, esc drops it.")
            await drops()
            assert not driven.app.screen.selections
            assert "copies the selected text" not in driven.text


async def test_a_cut_event_is_copied_whole_and_tells_itself_under_the_mouse() -> None:
    log = EventLog(samples.Lines([samples.event(1, LONG), samples.event(2, "short")]))
    async with Stage(log).run_test(size=(80, 20)) as pilot:
        await pilot.pause()
        first, second = (await drag(pilot, log, (0, 0), (70, 1))).splitlines()
        assert first.endswith(LONG)
        assert second.endswith("short")
        assert not first.startswith(" ")
        await pilot.hover(log, offset=(60, 0))
        await pilot.pause()
        assert told(log) == LONG
        await pilot.hover(log, offset=(3, 0))
        await pilot.pause()
        assert told(log) == ""
        await pilot.press("w")
        assert LONG[:20] in await drag(pilot, log, (27, 0), (70, 0))
        assert (await drag(pilot, log, (30, 0), (40, 1))).endswith(LONG)


@pytest.mark.parametrize(("cells", "slice_shown"), [(100, "sl_…298Q"), (60, "…298Q")])
async def test_an_id_that_is_selected_in_events_is_copied_whole(cells: int, slice_shown: str) -> None:
    run_id, slice_id = "ex_01M6P3TJ5WJ7CG705FE8ZE1DG3", "sl_01M6P3TJ5WJ7CG705FE8ZE298Q"
    entry = samples.event(1)._replace(run=short_id(run_id), slice=short_id(slice_id), ids=(run_id, slice_id))
    log = EventLog(samples.Lines([entry]))
    log.styles.width = cells
    async with Stage(log).run_test(size=(100, 20)) as pilot:
        await pilot.pause()
        row = "".join(segment.text for segment in log.render_line(0))
        for shown, whole in ((slice_shown, slice_id), ("ex_…1DG3", run_id)):
            at = row.index(f" {shown} ") + 1
            end = at + len(shown) - 1
            assert await drag(pilot, log, (at, 0), (end, 0)) == whole
            assert await drag(pilot, log, (at + 1, 0), (end, 0)) == shown[1:]


async def test_the_text_of_a_bar_is_selected_and_its_parts_are_still_clicked() -> None:
    bar = TabBar([("a", line("Events")), ("b", line("Policy"))])
    async with Stage(bar).run_test(size=(80, 20)) as pilot:
        await pilot.pause()
        assert await drag(pilot, bar, (1, 0), (17, 0)) == "[Events] │ Policy"
        assert await drag(pilot, bar, (2, 0), (7, 0)) == "Events"
        assert await drag(pilot, bar, (7, 0), (2, 0)) == "Events"
        assert bar.active == "a"
        await pilot.click(bar, offset=(14, 0))
        await pilot.pause()
        assert bar.active == "b"


async def test_a_selection_scrolls_only_when_it_comes_to_the_outermost_row_from_inside(tmp_path: Path) -> None:
    runs = [dict(run(f"ex_{number:02}", "completed", created_at=noon.at(0)).raw) for number in range(60)]
    async with console(ScriptedService(runs=runs), tmp_path, size=NARROW, until="ex_") as driven:
        screen, table = driven.app.screen, driven.table
        table.scroll_to(y=20, animate=False)
        await driven.pilot.pause()
        first, last = table.content_region.y, table.content_region.bottom - 1
        for y, delta_y, scrolls in (
            (first, 1, False), (first + 1, 1, False), (first + 1, -1, False), (first, -1, True), (first, 0, True),
            (last, -1, False), (last - 1, -1, False), (last - 1, 1, False), (last, 1, True), (last, 0, True),
            (last - 1, -1, False),
        ):  # fmt: skip
            screen._check_auto_scroll(table, (5, y), delta_y)
            assert (screen._auto_select_scroll_timer is not None) is scrolls, (y, delta_y)


@pytest.mark.exhaustive
async def test_the_text_of_the_last_line_is_copied_as_it_was_when_it_was_selected(tmp_path: Path) -> None:
    async with console(noon.service(), tmp_path, size=NARROW) as driven:
        driven.app.notify_user("a call failed", Role.BAD)
        bar = driven.app.screen.query_one(StatusBar)
        assert await drag(driven.pilot, bar, (1, 0), (13, 0)) == "a call failed"
        bar.clear_notice()
        assert driven.app.screen.get_selected_text() == "a call failed"
        await driven.reaches("Copied selection", "y")
        assert await drag(driven.pilot, bar, (1, 0), (6, 0)) == "Copied"
        driven.app.notify_user("another call failed", Role.BAD)
        await driven.shows("another call failed")
        assert not driven.app.screen.selections


async def test_a_click_opens_a_link_and_selecting_over_it_does_not(tmp_path: Path) -> None:
    way = ViewLink("runs", "is:live")
    lines = LinkLines()
    async with running(Stage(lines)) as (app, pilot):
        lines.show([(LinkSpan(line("open ")), LinkSpan(line("3 runs"), way=way))])
        await pilot.pause()
        assert await drag(pilot, lines, (2, 0), (12, 0)) == "open 3 runs"
        await pilot.click(lines, offset=(3, 0))
        assert app.told_of(LinkLines.LinkOpened) == []
        await pilot.click(lines, offset=(8, 0))
        await pilot.pause()
        assert [message.way for message in app.told_of(LinkLines.LinkOpened)] == [way]
    async with console(noon.service(), tmp_path, open_at="receipts", until="completed   ›") as driven:
        await driven.click_text("completed   ›")
        await driven.shows("Runs › 41e0…c2d4")


async def test_what_is_selected_of_hostile_rows_is_clean_and_so_is_what_the_mouse_shows() -> None:
    table = RecordTable(samples.COLUMNS)
    async with running(Stage(table), size=(80, len(CORPUS) + 2)) as (_, pilot):
        table.show([samples.row(f"r{n}", ("ok", "plain"), (entry.text, "plain")) for n, entry in enumerate(CORPUS)])
        await pilot.pause()
        text = await drag(pilot, table, (0, 1), (50, len(CORPUS)))
        assert len(text.splitlines()) == len(CORPUS)
        assert [line(row, None) for row in text.splitlines()] == text.splitlines()
        for row in range(1, len(CORPUS) + 1, 5):
            await pilot.hover(table, offset=(18, row))
            await pilot.pause()
            assert line(told(table), None) == told(table)
