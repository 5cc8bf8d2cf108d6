"""What is drawn for its ages alone is drawn some seconds at a time: a console is left open for days."""

from __future__ import annotations

import asyncio
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from textual.geometry import Region
from textual.widget import Widget

from runwatch.records.run import Run
from runwatch.store.state.changes import ListRead, ReadStarted
from runwatch.tui.screens.base.resource_screen import ResourceScreen
from runwatch.tui.screens.problems.requests import ROWS_REFRESH_S, RequestsScreen
from runwatch.tui.screens.reports.receipts import ReceiptsScreen
from runwatch.tui.shell.console_screen import AGE_REFRESH_S
from runwatch.tui.sources.store_source import StoreSource
from runwatch.tui.widgets.bars.breadcrumbs import Breadcrumbs
from runwatch.tui.widgets.bars.header_bar import HeaderBar
from runwatch.view.text.safe_text import line
from tests.tui import noon
from tests.tui.console import Driven, console


def front(driven: Driven) -> ResourceScreen:
    """The screen in front, which shows a list and a detail."""
    screen = driven.app.mounted_screen
    assert isinstance(screen, ResourceScreen)
    return screen


def counted(monkeypatch: pytest.MonkeyPatch, screen: ResourceScreen, method: str) -> list[str]:
    """A list that grows by the method's name whenever the screen is asked to draw in that way."""
    drawn: list[str] = []
    own = getattr(screen, method)

    def draw(**named: bool) -> None:
        drawn.append(method)
        own(**named)

    monkeypatch.setattr(screen, method, draw)
    return drawn


async def test_a_detail_is_drawn_every_few_seconds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with console(noon.service(), tmp_path, open_at="receipts") as driven:
        screen = front(driven)
        await driven.until(lambda: screen.row is not None, "a row")
        # While the cursor does not rest the detail waits for it, and no second draws it.
        screen._show_row_at_rest()
        drawn = counted(monkeypatch, screen, "show_detail")
        for _ in range(3 * AGE_REFRESH_S):
            screen.tick()
        assert len(drawn) == 3
        # Whatever is known anew is drawn at once.
        screen.data_changed(frozenset())
        assert len(drawn) == 4


async def test_every_second_of_live_runs_updates_their_times_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with console(noon.service(), tmp_path) as driven:
        screen = front(driven)
        await driven.until(lambda: screen.row is not None and not screen.row.subject.is_final, "a live run")
        screen._show_row_at_rest()
        screen.show_rows()
        lists, details = (counted(monkeypatch, screen, name) for name in ("show_rows", "show_detail"))
        for _ in range(AGE_REFRESH_S):
            screen.tick()
        assert (len(lists), len(details)) == (1, AGE_REFRESH_S)
        # What the tick finds anew, such as a note of another console, is drawn at once.
        assert isinstance(screen._source, StoreSource)
        screen._source._local_read += 1
        screen.tick()
        assert len(lists) == 2


@pytest.mark.parametrize("size", [(240, 60), (80, 24), (120, 36)])
async def test_rows_shown_again_do_not_lay_the_screen_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: tuple[int, int]
) -> None:
    async with console(noon.service(), tmp_path, size=size, open_at="receipts") as driven:
        screen = front(driven)
        await driven.until(lambda: screen.row is not None, "a row")
        await driven.pilot.pause()
        laid_out: list[Widget] = []
        refresh = Widget.refresh

        def note(widget: Widget, *regions: Region, layout: bool = False, **others: bool) -> Widget:
            laid_out.extend([widget] * layout)
            return refresh(widget, *regions, layout=layout, **others)

        monkeypatch.setattr(Widget, "refresh", note)
        screen.show_rows()
        screen.show_crumbs()
        assert laid_out == []


async def test_a_path_shown_again_is_not_drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with console(noon.service(), tmp_path, open_at="receipts") as driven:
        screen = front(driven)
        drawn: list[str] = []
        monkeypatch.setattr(screen.query_one(Breadcrumbs), "refresh", lambda: drawn.append("crumbs"))
        screen.show_crumbs()
        assert drawn == []
        monkeypatch.setattr(screen, "crumbs_note", lambda: line("a filter"))
        screen.show_crumbs()
        assert drawn == ["crumbs"]


async def test_requests_are_drawn_when_they_come_and_seldom_for_their_ages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with console(noon.service(), tmp_path, open_at="requests") as driven:
        screen = front(driven)
        assert isinstance(screen, RequestsScreen)
        screen.show_rows()
        drawn = counted(monkeypatch, screen, "show_rows")
        for _ in range(ROWS_REFRESH_S - 1):
            screen.tick()
        assert drawn == []
        screen.tick()
        assert len(drawn) == 1


async def test_runs_read_again_without_a_change_set_no_timer_and_those_with_one_do(tmp_path: Path) -> None:
    async with console(noon.service(), tmp_path) as driven:
        app = driven.app
        known = app.store.collection(app.profile_name, Run.KIND)
        await driven.until(lambda: known.read_at is not None and app._gather is None, "the runs")

        def read(*records: Run) -> None:
            now, monotonic = driven.clock.now(), driven.clock.monotonic()
            app.store.apply(ReadStarted(app.profile_name, Run.KIND, now, monotonic, "GET /v1/executions"))
            app.store.apply(ListRead(app.profile_name, Run.KIND, now, monotonic, records, complete=True))

        runs = [record for record in known.records if isinstance(record, Run)]
        read(*runs)
        app._notify_screens()
        read(*runs)
        assert app._gather is None
        read(*runs[1:])
        assert app._gather is not None


async def test_a_request_alone_does_not_draw_the_bar(tmp_path: Path) -> None:
    async with console(noon.service(), tmp_path) as driven:
        screen = front(driven)
        bar = screen.query_one(HeaderBar)
        before = bar.header
        driven.session.live.budget.note_attempt()
        screen.update_header(recount=False)
        assert bar.header == before
        screen.update_header()
        assert bar.header != before


async def test_requests_are_counted_anew_every_few_seconds(tmp_path: Path) -> None:
    async with console(noon.service(), tmp_path) as driven:
        bar = front(driven).query_one(HeaderBar)
        driven.app._seconds = 0
        said: list[str] = []
        for _ in range(2 * AGE_REFRESH_S):
            driven.session.live.budget.note_attempt()
            driven.app._second()
            said.append(bar.header.requests[0])
        changes = [number for number, (one, other) in enumerate(pairwise(said), 2) if one != other]
        assert changes == [AGE_REFRESH_S, 2 * AGE_REFRESH_S]


async def test_what_comes_to_the_front_is_brought_up_to_date_and_drawn_in_several_turns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    turns = 0
    at: dict[str, list[int]] = {"data_changed": [], "_refresh_layout": []}
    run = asyncio.Handle._run

    def turn(handle: asyncio.Handle) -> object:
        nonlocal turns
        turns += 1
        return run(handle)

    def noted(name: str) -> None:
        own = getattr(ReceiptsScreen, name)

        def note(screen: ReceiptsScreen, *args: Any, **named: Any) -> object:
            at[name].append(turns)
            return own(screen, *args, **named)

        monkeypatch.setattr(ReceiptsScreen, name, note)

    async with console(noon.service(), tmp_path) as driven:
        monkeypatch.setattr(asyncio.Handle, "_run", turn)
        for name in at:
            noted(name)
        await driven.press("2")
        await driven.until(lambda: len(at["_refresh_layout"]) >= 2, "the screen to be laid out")
        assert at["data_changed"][0] < at["_refresh_layout"][0]
        assert len(set(at["_refresh_layout"][:2])) == 2
