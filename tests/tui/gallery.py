"""Every widget of the console with sample data, to be looked at.

``python -m tests.tui.gallery PAGE [--theme NAME] [--ascii] [--svg FILE SIZE]`` with one of the pages below.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Callable, Iterable
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Final

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.widget import Widget

from runwatch.tui.core.key_bindings import make_bindings
from runwatch.tui.core.messages import PanelClosed
from runwatch.tui.core.rendering import label_span
from runwatch.tui.core.themes import PLAIN, load_theme, theme_directories
from runwatch.tui.core.widget_app import WidgetApp
from runwatch.tui.terminal.terminal_app import run_app
from runwatch.tui.widgets.bars.breadcrumbs import Breadcrumbs
from runwatch.tui.widgets.bars.filter_bar import FilterBar, make_filter_suggester
from runwatch.tui.widgets.bars.header_bar import HeaderBar
from runwatch.tui.widgets.bars.status_bar import StatusBar
from runwatch.tui.widgets.lists.detail_layout import DetailLink
from runwatch.tui.widgets.lists.detail_view import DetailView
from runwatch.tui.widgets.lists.event_log import EventLog
from runwatch.tui.widgets.lists.record_table import RecordTable
from runwatch.tui.widgets.panes.confirm_dialog import ConfirmDialog
from runwatch.tui.widgets.panes.drawer import Drawer
from runwatch.tui.widgets.panes.pane import BorderText, Pane
from runwatch.tui.widgets.panes.problem_panel import ProblemPanel
from runwatch.view.text.copied_text import copied_json
from runwatch.view.text.glyphs import ASCII, UNICODE, Role
from runwatch.view.text.safe_text import json_block, line
from tests.support.clock import FakeClock
from tests.tui import samples
from tests.tui.look import Sent

HINTS: Final = (
    "list.open", "screen.filter", "screen.copy", "tail.follow", "screen.pause", "screen.new", "screen.destroy",
    "screen.actions",
)  # fmt: skip


class Gallery(WidgetApp):
    """One page of the gallery.

    Args:
        page: Its name.
        theme: The theme's name.
        ascii: Whether the ASCII glyphs are used.
    """

    BINDINGS = make_bindings("app.quit")
    CSS = """
    Horizontal > Pane { width: 1fr; }
    """

    def __init__(self, page: str, theme: str = "runwatch-dark", *, ascii: bool = False) -> None:
        palette = PLAIN if theme == PLAIN.name else load_theme(theme, theme_directories())
        super().__init__(palette=palette, glyphs=ASCII if ascii else UNICODE, clock=FakeClock(samples.NOON))
        self._page = page

    def compose(self) -> ComposeResult:
        """The bars around the page."""
        yield HeaderBar(id="context")
        yield Breadcrumbs(id="crumbs")
        with Vertical():
            yield from PAGES[self._page]()
        yield StatusBar(id="status")

    def on_mount(self) -> None:
        self.query_one(HeaderBar).show(samples.header(read_only=self._page == "held"))
        filter = (label_span("filter "), line("is:live | is:problem"))
        self.query_one(Breadcrumbs).show([line("Runs"), line("8f21…9b7e"), line("Events")], filter)
        self.query_one(StatusBar).show_hints(HINTS)
        for table in self.query(RecordTable):
            table.sorted_by("age", descending=True)
            table.show(
                [] if self._page == "empty" else samples.many(100_000) if self._page == "many" else samples.runs()
            )
        if (fill := FILLS.get(self._page)) is not None:
            fill(self)

    def on_record_table_row_opened(self, event: RecordTable.RowOpened) -> None:
        self.query_one(StatusBar).say((label_span("opened "), line(event.row_id)))

    def on_event_log_line_opened(self, event: EventLog.LineOpened) -> None:
        self.query_one(StatusBar).say((label_span("opened line "), line(event.index)))

    def on_record_table_sort_requested(self, event: RecordTable.SortRequested) -> None:
        """Show the new order in the head."""
        self.query_one(RecordTable).sorted_by(event.column_id, descending=event.reverse)

    def on_panel_closed(self, event: PanelClosed) -> None:
        self.exit()

    def action_back_or_quit(self) -> None:
        self.exit()


def _list() -> Pane:
    edge = BorderText(
        line("Runs   14 of 212"), line("sort age ▼"), line("updated 1s ago"),
        line("live 3 · failed 2 · done 207"),
    )  # fmt: skip
    return Pane(RecordTable(samples.COLUMNS, id="table"), edge=edge)


def _tail() -> Pane:
    title = (line("8f21…9b7e  "), label_span("● running", Role.LIVE))
    edge = BorderText(title, line("follow · poll 1s"), line("11 events · last 2s ago"), line("+0 new"))
    return Pane(EventLog(samples.tail(), id="tail"), edge=edge)


def _runs() -> Iterable[Widget]:
    yield Horizontal(_list(), _tail())


def _one_list() -> Iterable[Widget]:
    yield _list()


def _detail() -> Iterable[Widget]:
    yield FilterBar(make_filter_suggester({"status": [line("failed"), line("running")]}, ["live", "problem"]))
    yield Pane(DetailView(id="detail"), edge=BorderText(line("3fd2…9911  ✓ completed")))
    yield Drawer()


def _problem() -> Iterable[Widget]:
    yield ProblemPanel()


PAGES: Final[dict[str, Callable[[], Iterable[Widget]]]] = {
    "runs": _runs, "held": _one_list, "empty": _one_list, "many": _one_list, "detail": _detail, "problem": _problem,
    "cancel": _runs, "start": _runs, "refused": _runs, "unknown": _runs,
}  # fmt: skip


def _fill_held(app: WidgetApp) -> None:
    hold = samples.NOON + timedelta(seconds=23)
    bar = app.query_one(HeaderBar)
    header = samples.header()
    bar.show(type(header)(header.profile, host=header.host, key=header.key, hold=hold))
    table = app.query_one(RecordTable)
    table.is_stale = True
    app.query_one(Pane).set_border_text(age=(label_span("updated 31s ago · held 0:23", Role.WARN),))


def _fill_empty(app: WidgetApp) -> None:
    app.query_one(RecordTable).empty_text = [
        (label_span("No runs yet.", Role.PLAIN),),
        (
            label_span("+", "accent"),
            label_span(" starts a test run, "),
            label_span("a", "accent"),
            label_span(" adds an id."),
        ),
    ]


def _fill_detail(app: WidgetApp) -> None:
    links = [DetailLink(line("run"), line("3fd2…9911"), "run")]
    detail = app.query_one("#detail", DetailView)
    detail.show(samples.sections(), links, head=[label_span("Receipts hold neither prompt nor output.")])
    detail.focus()
    app.query_one(FilterBar).edit("is:live stat")
    app.query_one(FilterBar).show_count(line("14/212"))
    value = {"type": "lifecycle", "state": "running", "nested": {"a": [1, 2.50, None]}}
    app.query_one(Drawer).show(line("event ev_1"), json_block(value), copied_json({}))


def _fill_problem(app: WidgetApp) -> None:
    app.query_one(ProblemPanel).show(
        samples.refused(), next_step=line("enter puts you on the first field; a new key will be used")
    )


def _dialog(app: WidgetApp, state: str) -> None:
    text = samples.cancel_six() if state == "cancel" else samples.start_one()
    dialog = ConfirmDialog(text, app, samples.header(), Sent())

    def then() -> None:
        if state == "refused":
            dialog.show_refusal(samples.refused())
        elif state == "unknown":
            dialog.show_unknown_outcome(line("the connection was cut after the request was sent"))

    app.push_screen(dialog)
    app.call_later(then)


FILLS: Final[dict[str, Callable[[WidgetApp], None]]] = {
    "held": _fill_held, "empty": _fill_empty, "detail": _fill_detail, "problem": _fill_problem,
    **{state: partial(_dialog, state=state) for state in ("cancel", "start", "refused", "unknown")},
}  # fmt: skip


async def save_svg(page: str, theme: str, file: Path, size: tuple[int, int], *, ascii: bool) -> None:
    app = Gallery(page, theme, ascii=ascii)
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        file.write_text(app.export_screenshot(simplify=True), "utf-8")


def main() -> int:
    """Show a page, or write a picture of it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("page", choices=PAGES)
    parser.add_argument("--theme", default="runwatch-dark")
    parser.add_argument("--ascii", action="store_true")
    parser.add_argument("--svg", type=Path)
    parser.add_argument("--size", default="120x36")
    given = parser.parse_args()
    if given.svg:
        columns, rows = map(int, given.size.split("x"))
        asyncio.run(save_svg(given.page, given.theme, given.svg, (columns, rows), ascii=given.ascii))
        return 0
    return run_app(Gallery(given.page, given.theme, ascii=given.ascii))


if __name__ == "__main__":
    sys.exit(main())
