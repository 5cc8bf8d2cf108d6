"""Every widget of the console with one text in every place for data.

``python -m tests.tui.hostile_stage`` shows the whole hostile corpus on a terminal, one text after another, and ends.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import Final

from textual.app import ComposeResult
from textual.containers import Horizontal

from runwatch.records.problem import Problem
from runwatch.tui.core.themes import load_theme, theme_directories
from runwatch.tui.core.widget_app import WidgetApp
from runwatch.tui.terminal.terminal_app import run_app
from runwatch.tui.widgets.bars.breadcrumbs import Breadcrumbs
from runwatch.tui.widgets.bars.filter_bar import FilterBar, make_filter_suggester
from runwatch.tui.widgets.bars.header_bar import HeaderBar, HeaderInfo
from runwatch.tui.widgets.bars.status_bar import StatusBar
from runwatch.tui.widgets.inputs.button import TextButton
from runwatch.tui.widgets.lists.detail_layout import DetailLink
from runwatch.tui.widgets.lists.detail_view import DetailView
from runwatch.tui.widgets.lists.event_log import EventLog
from runwatch.tui.widgets.lists.record_table import RecordTable
from runwatch.tui.widgets.panes.confirm_dialog import ConfirmDialog, DialogRow, DialogText, TypedConfirmation
from runwatch.tui.widgets.panes.drawer import Drawer
from runwatch.tui.widgets.panes.pane import Pane
from runwatch.tui.widgets.panes.problem_panel import ProblemPanel
from runwatch.view.detail.sections import DetailLine, DetailSection
from runwatch.view.problems.journal_entries import ProblemEntry
from runwatch.view.runs.event_lines import EventLine
from runwatch.view.text.copied_text import copied_unchanged
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import block, line
from runwatch.view.text.styled_text import StyledText
from tests.support.clock import FakeClock
from tests.support.hostile import CORPUS
from tests.support.problems import entry_from_problem
from tests.tui import samples
from tests.tui.look import Sent

LAST: Final = "all texts were shown"


class Everywhere:
    """Finds something in every text, and never what a line shows."""

    def match_spans(self, shown: str) -> Iterable[tuple[int, int]]:
        return [(0, min(3, len(shown)))]

    def match_elsewhere(self, drawn: Sequence[str], whole: str) -> tuple[int, int] | None:
        return len(whole) // 2, len(whole) // 2 + 3


class HostileStage(WidgetApp):
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
        yield HeaderBar()
        yield Breadcrumbs()
        yield FilterBar()
        with Horizontal():
            yield Pane(RecordTable(samples.COLUMNS), id="list")
            yield Pane(EventLog(), id="tail")
            yield Pane(DetailView(id="fields"), id="detail")
        yield ProblemPanel()
        yield TextButton(line(""))
        yield Drawer()
        yield StatusBar()

    def on_mount(self) -> None:
        if self._plays:
            self.set_interval(1 / 100, self.show_next)

    def show_next(self) -> None:
        if self._next < len(CORPUS):
            self.show(CORPUS[self._next].text)
            self._next += 1
        elif self._next == len(CORPUS):
            self._next += 1
            self.show(LAST)

    def show(self, text: str) -> None:
        """Put one text into every place."""
        flat, tall = line(text), block(text)
        hold = samples.NOON if len(text) % 2 else None
        self.query_one(HeaderBar).show(
            HeaderInfo(flat, host=flat, key=flat, connection=flat, requests=(flat,), hold=hold)
        )
        self.query_one(Breadcrumbs).show([flat, flat, flat], (flat, (flat, Role.BAD)))
        bar = self.query_one(FilterBar)
        bar.edit(text)
        bar.show_count(flat)
        bar.show_error(flat)
        make_filter_suggester({text: [flat]}, [text])(text)
        cells = {column.id: StyledText(flat, Role.BAD) for column in samples.COLUMNS}
        table = self.query_one(RecordTable)
        table.show([samples.Row(text, cells), samples.Row(f"{text} 2", cells)])
        table.empty_text = [flat]
        lines = [EventLine(flat, flat, flat, flat, Role.BAD), EventLine(flat, line(""), line(""), flat, Role.QUIET)]
        log = self.query_one(EventLog)
        log.show(samples.Lines(lines), following=True)
        log.highlighter = Everywhere()
        if len(text) % 2:
            log.action_toggle_wrap()
        section = DetailSection(flat, (DetailLine(flat, tall, Role.BAD, flat), DetailLine(flat, flat)))
        self.query_one("#fields", DetailView).show([section], [DetailLink(flat, flat, text)], head=[(flat, "accent")])
        for pane in self.query(Pane):
            pane.set_border_text(title=flat, state=flat, age=flat, counters=flat)
        self.query_one(ProblemPanel).show(self.problem(text), next_step=flat)
        self.query_one(Drawer).show(flat, tall, copied_unchanged(text))
        self.query_one(TextButton).label = flat
        self.query_one(StatusBar).say((flat, (flat, Role.BAD)))

    def problem(self, text: str) -> ProblemEntry:
        members = {"type": text, "title": text, "status": 400, "instance": text, "detail": text}
        problem = Problem({**members, "errors": [{"field": text, "message": text}]})
        return entry_from_problem(
            problem, time=samples.NOON, profile=text, origin=text, method=text, path=text, operation="postExecutions",
            key=text, attempt=1,
        )  # fmt: skip

    def order(self, text: str) -> DialogText:
        flat = line(text)
        return DialogText(
            flat, flat, flat, flat, flat, flat, key=flat, body=block(text), rows=(DialogRow(text, flat),),
            typed=TypedConfirmation(flat, text), age=flat,
        )  # fmt: skip

    def dialog(self, text: str) -> ConfirmDialog:
        return ConfirmDialog(self.order(text), self, HeaderInfo(line(text)), Sent())

    def action_back_or_quit(self) -> None:
        self.exit()


if __name__ == "__main__":
    sys.exit(run_app(HostileStage(plays=True)))
