"""Lists whose records have several sides: the fields of a record, and beside them what is read on demand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Final

from textual.binding import BindingType

from runwatch.records.record import Record
from runwatch.store.freshness import LoadState, PaneState, pane_state
from runwatch.tui.actions import bindings
from runwatch.tui.draw import Pieces, word
from runwatch.tui.screens.resource import ResourceScreen
from runwatch.tui.sources import Source
from runwatch.tui.widgets.detail_rows import DetailLink
from runwatch.tui.widgets.detail_view import DetailView
from runwatch.tui.widgets.pane import Pane
from runwatch.tui.widgets.status_line import Hint
from runwatch.tui.widgets.tab_bar import TabBar
from runwatch.view.detail import Line, Section, sections
from runwatch.view.drawn import Drawn, line
from runwatch.view.format import Context
from runwatch.view.glyphs import Role
from runwatch.view.pane_words import TROUBLED, age_words, note_lines
from runwatch.view.resource import ResourceSpec
from runwatch.view.table import Row

if TYPE_CHECKING:
    from runwatch.store.reports import Report, Reports

RECORD: Final = "record"
"""The side that the list itself tells of."""

PACE_S: Final = 60.0
"""How often another side is meant to be read while it is shown."""


class TabbedScreen(ResourceScreen):
    """The screen of a resource whose detail has tabs. Subclasses name them, and say what is read for each.

    Attributes:
        TABS: Id and label of each side, the record's own first.
    """

    TABS: ClassVar[tuple[tuple[str, Drawn], ...]] = ((RECORD, line("Record")),)
    BINDINGS: ClassVar[list[BindingType]] = bindings("screen", only=("screen.next_tab", "screen.previous_tab"))

    def __init__(self, spec: ResourceSpec[Any], source: Source) -> None:
        super().__init__(spec, source)
        self._reports: Reports | None = None

    # What subclasses say.

    def asked(self, tab: str, row: Row[Any]) -> Report | None:
        """What is read for a side of a record; ``None`` where it needs no reading."""
        return None

    def side_sections(self, tab: str, row: Row[Any], record: Record | None, context: Context) -> Sequence[Section]:
        """Another side of a record, from what was read for it; ``None`` where nothing had to be read."""
        raise NotImplementedError

    # What it is made of.

    def detail_pane(self) -> Pane:
        """Tabs above the fields."""
        return Pane(TabBar(self.TABS, id="sides"), self.detail(), id="detail")

    def hints(self) -> Sequence[Hint]:
        """The tabs stand among the first."""
        first, *others = super().hints()
        return (first, "screen.next_tab", *others)

    @property
    def tab(self) -> str:
        """The side that is shown."""
        return self.query_one("#sides", TabBar).active

    # What is shown.

    def show_detail(self) -> None:
        """Draw the side, and read it as long as it is shown."""
        row = self.row
        report = None if row is None or self.tab == RECORD else self.asked(self.tab, row)
        reader = self._reader()
        if reader is not None:
            reader.show(*([] if report is None else [report]))
        super().show_detail()
        age: Pieces = line("")
        if report is not None and not self._is_raw:
            told = age_words(self._state(report), self.console.context())
            age = (word(told.text, str(told.role)),)
        self.query_one("#detail", Pane).show_edge(age=age)

    def detail_sections(self, row: Row[Any], context: Context) -> Sequence[Section]:
        """The fields of the record, or another side of it."""
        tab = self.tab
        if tab == RECORD:
            return super().detail_sections(row, context)
        report = self.asked(tab, row)
        if report is None:
            return self.side_sections(tab, row, None, context)
        found, state = self._read(report.kind), self._state(report)
        if found is None:
            return [said(*self._why_not(report, state))]
        trouble = [said(*self._why_not(report, state), role=Role.BAD)] if state.load in TROUBLED else []
        return [*self.side_sections(tab, row, found, context), *trouble]

    def _links(self, row: Row[Any]) -> list[DetailLink]:
        return super()._links(row) if self.tab == RECORD else []

    # What people do.

    def on_unmount(self) -> None:
        """Nobody looks any more."""
        reader = self._reader()
        if reader is not None:
            reader.show()

    def on_tab_bar_chosen(self, message: TabBar.Chosen) -> None:
        """Show the side from its first line."""
        message.stop()
        self.query_one("#fields", DetailView).start_over()
        self.show_detail()

    def action_next_tab(self) -> None:
        """Show the next side."""
        self._step(1)

    def action_previous_tab(self) -> None:
        """Show the side before."""
        self._step(-1)

    def action_raw(self) -> None:
        """Show the JSON of the record, which is the first side, or the fields."""
        self.query_one("#sides", TabBar).choose(RECORD)
        super().action_raw()

    def action_refresh(self) -> None:
        """Read the list and the side now."""
        super().action_refresh()
        reader = self._reader()
        if reader is not None:
            reader.refresh()

    # Inside.

    def _step(self, step: int) -> None:
        self._is_raw = False
        self.query_one("#sides", TabBar).step(step)
        if self.has_class("-narrow") and not self.has_class("-opened"):
            self.open_detail()

    def _reader(self) -> Reports | None:
        desk = self.console.desk
        if self._reports is None and desk is not None:
            from runwatch.store.reports import Reports

            self._reports = Reports(desk.client, desk.scope, desk.store, desk.live.scheduler, desk.clock)
        return self._reports

    def _read(self, kind: str) -> Record | None:
        """The one record of a collection, once it was read."""
        found = self.console.store.collection(self.console.profile_name, kind).records
        return found[0] if found else None

    def _state(self, report: Report) -> PaneState:
        desk, clock = self.console.desk, self.console.clock
        return pane_state(
            self.console.store.collection(self.console.profile_name, report.kind),
            now=clock.now(),
            monotonic=clock.monotonic(),
            interval_s=PACE_S,
            held_s=desk.live.held_s if desk is not None else 0.0,
        )

    def _why_not(self, report: Report, state: PaneState) -> Sequence[Drawn]:
        if state.load is LoadState.NOT_OFFERED:
            label = dict(self.TABS)[self.tab]
            return (line(f"This service tells nothing for {label}."),)
        return note_lines(self.spec, state, self.console.context(), self.console.keys.shown)


def said(*texts: Drawn, role: Role = Role.QUIET) -> Section:
    """Sentences in place of fields, or above them."""
    return Section(line(""), tuple(Line(line(""), text, role) for text in texts))


def fields_of(spec: Any, record: Record, context: Context, note: str = "") -> list[Section]:
    """The fields of a record of another kind, below a sentence about that kind."""
    head = [said(line(note))] if note else []
    return [*head, *sections(spec, record, context)]
