"""Every widget of the console with one text in every place where data can stand.

``python -m tests.tui.hostile_stage`` shows the whole hostile corpus on a terminal, one text after another, and ends.
"""

from __future__ import annotations

import sys
from typing import Final

from textual.app import ComposeResult
from textual.containers import Horizontal

from runwatch.records.problem import Problem
from runwatch.tui.kit import KitApp
from runwatch.tui.terminal import run_app
from runwatch.tui.themes import load_theme, theme_directories
from runwatch.tui.widgets.context_bar import ContextBar, Hold, Place
from runwatch.tui.widgets.crumb_bar import CrumbBar
from runwatch.tui.widgets.detail_rows import DetailLink
from runwatch.tui.widgets.detail_view import DetailView
from runwatch.tui.widgets.drawer import Drawer
from runwatch.tui.widgets.event_log import EventLog
from runwatch.tui.widgets.filter_bar import FilterBar, completion
from runwatch.tui.widgets.pane import Pane
from runwatch.tui.widgets.problem_panel import ProblemPanel
from runwatch.tui.widgets.push_button import PushButton
from runwatch.tui.widgets.record_table import RecordTable
from runwatch.tui.widgets.sheet import Order, Sheet, SheetRow, Typed
from runwatch.tui.widgets.status_line import StatusLine
from runwatch.view.detail import Line, Section
from runwatch.view.drawn import block, line
from runwatch.view.entries import ProblemEntry, problem_entry
from runwatch.view.glyphs import Role
from runwatch.view.resource import Styled
from runwatch.view.timeline import EventLine
from tests.support.clock import FakeClock
from tests.support.hostile import CORPUS
from tests.tui import samples

LAST: Final = "all texts were shown"


class HostileStage(KitApp):
    """All widgets on one screen.

    Args:
        plays: Whether it shows the whole corpus by itself and says :data:`LAST` then.
    """

    CSS = """
    Horizontal { height: 8; }
    Drawer { height: 6; min-height: 6; }
    ProblemPanel { height: 8; }
    """

    def __init__(self, *, plays: bool = False) -> None:
        palette = load_theme("runwatch-dark", theme_directories())
        super().__init__(palette=palette, clock=FakeClock(samples.NOON))
        self._plays = plays
        self._next = 0

    def compose(self) -> ComposeResult:
        """Every widget."""
        yield ContextBar()
        yield CrumbBar()
        yield FilterBar()
        with Horizontal():
            yield Pane(RecordTable(samples.COLUMNS), id="list")
            yield Pane(EventLog(), id="tail")
            yield Pane(DetailView(id="fields"), id="detail")
        yield ProblemPanel()
        yield PushButton(line(""))
        yield Drawer()
        yield StatusLine()

    def on_mount(self) -> None:
        """Begin."""
        if self._plays:
            self.set_interval(1 / 100, self.show_next)

    def show_next(self) -> None:
        """Show the next text of the corpus."""
        if self._next < len(CORPUS):
            self.show(CORPUS[self._next].text)
            self._next += 1
        elif self._next == len(CORPUS):
            self._next += 1
            self.show(LAST)

    def show(self, text: str) -> None:
        """Put one text into every place."""
        flat, tall = line(text), block(text)
        hold = Hold(flat, samples.NOON) if len(text) % 2 else None
        self.query_one(ContextBar).show(Place(flat, host=flat, key=flat, connection=flat, requests=flat, hold=hold))
        self.query_one(CrumbBar).show([flat, flat, flat], (flat, (flat, Role.BAD)))
        bar = self.query_one(FilterBar)
        bar.edit(text)
        bar.show_count(flat)
        bar.show_error(flat)
        completion({text: [flat]}, [text])(text)
        cells = {column.id: Styled(flat, Role.BAD) for column in samples.COLUMNS}
        table = self.query_one(RecordTable)
        table.show([samples.Row(text, cells), samples.Row(f"{text} 2", cells)])
        table.note = [flat]
        lines = [EventLine(flat, flat, flat, flat, Role.BAD), EventLine(flat, line(""), line(""), flat, Role.QUIET)]
        log = self.query_one(EventLog)
        log.show(samples.Lines(lines), following=True)
        log.highlighter = lambda shown: [(0, min(3, len(shown)))]
        if len(text) % 2:
            log.action_toggle_wrap()
        section = Section(flat, (Line(flat, tall, Role.BAD, flat), Line(flat, flat)))
        self.query_one("#fields", DetailView).show([section], [DetailLink(flat, flat, text)], head=[(flat, "accent")])
        for pane in self.query(Pane):
            pane.show_edge(title=flat, state=flat, age=flat, counters=flat)
        self.query_one(ProblemPanel).show(self.problem(text), next_step=flat)
        self.query_one(Drawer).show(flat, tall, text)
        self.query_one(PushButton).label = flat
        self.query_one(StatusLine).say((flat, (flat, Role.BAD)))

    def problem(self, text: str) -> ProblemEntry:
        """A problem with the text in every member."""
        members = {"type": text, "title": text, "status": 400, "instance": text, "detail": text}
        problem = Problem({**members, "errors": [{"field": text, "message": text}]})
        return problem_entry(
            problem, time=samples.NOON, profile=text, origin=text, method=text, path=text, operation="postExecutions",
            key=text, attempt=1,
        )  # fmt: skip

    def order(self, text: str) -> Order:
        """A sheet with the text in every place."""
        flat = line(text)
        return Order(
            flat, flat, flat, flat, flat, flat, key=flat, body=block(text), rows=(SheetRow(text, flat),),
            typed=Typed(flat, text), age=flat,
        )  # fmt: skip

    def sheet(self, text: str) -> Sheet:
        """The sheet of :meth:`order`."""
        return Sheet(self.order(text), self)

    def action_back_or_quit(self) -> None:
        """End."""
        self.exit()


if __name__ == "__main__":
    sys.exit(run_app(HostileStage(plays=True)))
