"""Lists whose records have tabs: the fields of a record, and data read on demand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Final

from runwatch.api.operations import OPERATIONS, fill_path
from runwatch.records.record import Record
from runwatch.store.live.report_poller import REPORT_S, ReportQuery
from runwatch.store.state.freshness import LoadState, PaneState
from runwatch.tui.core.key_bindings import make_bindings
from runwatch.tui.core.rendering import StyledSpan, StyledSpans
from runwatch.tui.screens.base.resource_screen import ResourceScreen
from runwatch.tui.sources.report_reader import ReportReader
from runwatch.tui.sources.row_sources import RowSource
from runwatch.tui.widgets.bars.status_bar import KeyHint
from runwatch.tui.widgets.bars.tab_bar import TabBar
from runwatch.tui.widgets.lists.detail_layout import DetailLink
from runwatch.tui.widgets.lists.detail_view import DetailView, text_section
from runwatch.tui.widgets.panes.pane import Pane
from runwatch.view.detail.pane_state import FAILED_STATES, pane_status
from runwatch.view.detail.sections import DetailSection
from runwatch.view.spec.resource import ResourceSpec
from runwatch.view.table.rows import RecordRow
from runwatch.view.text.format import RenderContext
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import SafeText, line

RECORD: Final = "record"
"""The tab of the record's own fields."""


class TabbedScreen(ResourceScreen):
    """The screen of a resource whose specification has tabs, the record's own first.

    :attr:`MORE_TABS` are those that a subclass adds; they show something other than one response.
    """

    MORE_TABS: ClassVar[tuple[tuple[str, SafeText], ...]] = ()
    BINDINGS = make_bindings("screen.next_tab", "screen.previous_tab")

    def __init__(self, spec: ResourceSpec[Any], source: RowSource) -> None:
        super().__init__(spec, source)
        self._declared: Final = {tab.id: tab for tab in spec.tabs}
        self.tabs: Final = (
            (RECORD, line("Record")), *((tab.id, line(tab.label)) for tab in spec.tabs), *self.MORE_TABS,
        )  # fmt: skip
        self.reports = ReportReader(self)
        self._place_in_tab = ""

    def report_for(self, tab: str, row: RecordRow[Any]) -> ReportQuery | None:
        declared = self._declared.get(tab)
        if declared is None:
            return None
        path = fill_path(OPERATIONS[declared.operation], row.id)
        return ReportQuery(declared.operation, declared.record, path=tuple(path.items()))

    def tab_sections(
        self, tab: str, row: RecordRow[Any], record: Record | None, context: RenderContext
    ) -> Sequence[DetailSection]:
        """Return the sections of another tab; ``record`` is ``None`` if nothing had to be read."""
        return self._declared[tab].sections(record, context)

    # Widgets and content.

    def detail_pane(self) -> Pane:
        return Pane(TabBar(self.tabs, id="tabs"), self.detail(), id="detail")

    def all_hints(self) -> Sequence[KeyHint]:
        first, *others = super().all_hints()
        return (first, "screen.next_tab", *others)

    @property
    def tab(self) -> str:
        return self.query_one("#tabs", TabBar).active

    # Drawing.

    def show_detail(self) -> None:
        """Draw the active tab, and poll its report while it is shown."""
        row = self.row
        report = None if row is None or self.tab == RECORD else self.report_for(self.tab, row)
        self.reports.show(*([] if report is None else [report]))
        super().show_detail()
        age: StyledSpans = line("")
        if report is not None and not self._is_raw:
            age = (pane_status(self.reports.state(report.kind, REPORT_S), self.console.render_context()),)
        self.query_one("#detail", Pane).set_border_text(age=age)

    def detail_head(self) -> Sequence[StyledSpan]:
        return super().detail_head() if self.tab == RECORD else ()

    def detail_sections(self, row: RecordRow[Any], context: RenderContext) -> Sequence[DetailSection]:
        """Return the fields of the record, or the sections of another tab."""
        tab = self.tab
        if tab == RECORD:
            return super().detail_sections(row, context)
        report = self.report_for(tab, row)
        if report is None:
            return self.tab_sections(tab, row, None, context)
        found, state = self.reports.record(report.kind), self.reports.state(report.kind, REPORT_S)
        if found is None:
            return [text_section(*self._why_not(report, state), role=Role.QUIET)]
        trouble = [text_section(*self._why_not(report, state), role=Role.BAD)] if state.load in FAILED_STATES else []
        return [*self.tab_sections(tab, row, found, context), *trouble]

    def _links(self, row: RecordRow[Any]) -> list[DetailLink]:
        return super()._links(row) if self.tab == RECORD else []

    def place_in_detail(self) -> str:
        return f"{self.tab} {super().place_in_detail()}"

    def go_to_place(self, place: str) -> None:
        tab, _, rest = place.partition(" ")
        if tab == self.tab:
            super().go_to_place(rest)
        else:
            self._place_in_tab = rest
            self.query_one("#tabs", TabBar).choose(tab)

    # Messages and key actions.

    def on_unmount(self) -> None:
        self.reports.show()

    def on_tab_bar_tab_activated(self, message: TabBar.TabActivated) -> None:
        """Show the tab from its first line, or from that which the user left."""
        self.query_one("#fields", DetailView).reset()
        self.show_detail()
        super().go_to_place(self._place_in_tab)
        self._place_in_tab = ""

    def on_detail_view_link_opened(self, message: DetailView.LinkOpened) -> None:
        """Perform the tab's action on the record that a line names."""
        declared = self._declared.get(self.tab)
        if declared is not None and declared.action is not None and isinstance(message.link, Record):
            from runwatch.tui.flows.action_dialog import perform_action

            perform_action(self, message.link, declared.action)

    def action_raw(self) -> None:
        """Go to the record's own tab and switch between fields and JSON."""
        self.query_one("#tabs", TabBar).choose(RECORD)
        super().action_raw()

    def action_refresh(self) -> None:
        super().action_refresh()
        self.reports.refresh()

    def action_step_tab(self, step: int) -> None:
        """Go to another tab, and in a narrow window open the detail."""
        self._is_raw = False
        self.table.leave_top()
        self.query_one("#tabs", TabBar).step(step)
        if self.has_class("-narrow") and not self.has_class("-opened") and self.row is not None:
            self.open_detail()

    def _why_not(self, report: ReportQuery, state: PaneState) -> Sequence[SafeText]:
        if state.load is LoadState.NOT_OFFERED:
            label = dict(self.tabs)[self.tab]
            return (line(f"This service has no data for {label}."),)
        return self.unread_lines(self.spec, state)
