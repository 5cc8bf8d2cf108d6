"""Output checks: the record, its protected connection, the last test from here, and the trend of its verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from runwatch.records.evaluation import EvalSummary
from runwatch.records.record import Record
from runwatch.records.verifier import VerifierTest
from runwatch.store.live.report_poller import ReportQuery, name_response_collection
from runwatch.tui.screens.base.tabbed_screen import TabbedScreen
from runwatch.tui.sources.row_sources import RowSource
from runwatch.tui.widgets.lists.detail_view import DetailView, text_section
from runwatch.view.detail.pane_state import freshness_text
from runwatch.view.detail.sections import DetailSection, build_sections
from runwatch.view.reports.check_trends import trend_sections
from runwatch.view.reports.period import PERIODS
from runwatch.view.resources.verifiers import VERIFIER_TEST, VERIFIERS
from runwatch.view.table.rows import RecordRow
from runwatch.view.text.format import RenderContext
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import line

TEST: Final = "test"
TREND: Final = "trend"

TREND_PERIOD: Final = PERIODS["30d"]
"""How far back the trend of a check goes."""


class VerifiersScreen(TabbedScreen):
    MORE_TABS = ((TEST, line("Test")), (TREND, line("Trend")))

    def __init__(self, source: RowSource) -> None:
        super().__init__(VERIFIERS, source)

    def report_for(self, tab: str, row: RecordRow[Any]) -> ReportQuery | None:
        """Return for the trend the query of the summary of all checks, read once."""
        if tab != TREND:
            return super().report_for(tab, row)
        period = TREND_PERIOD.at(self.console.clock.now())
        return ReportQuery("getEvalSummary", EvalSummary, tuple(period.query().items()))

    def tab_sections(
        self, tab: str, row: RecordRow[Any], record: Record | None, context: RenderContext
    ) -> Sequence[DetailSection]:
        if tab == TREND and isinstance(record, EvalSummary):
            return trend_sections(record, row.id, self.query_one("#fields", DetailView).value_cells, context)
        return self._test(row, context) if tab == TEST else super().tab_sections(tab, row, record, context)

    def _test(self, row: RecordRow[Any], context: RenderContext) -> Sequence[DetailSection]:
        """Return the last test started in this console; it is not stored."""
        kind = name_response_collection(VerifierTest, row.id)
        found = self.reports.record(kind)
        if found is None:
            key = self.console.keys.shown("screen.test")
            return [text_section(line("Not tested from here yet."), line(f"{key} tests it."), role=Role.QUIET)]
        read_at = self.console.store.collection(self.console.profile_name, kind).read_at
        since = 0.0 if read_at is None else self.console.clock.monotonic() - read_at
        note = text_section(line(f"tested from here {freshness_text(max(0.0, since))}"), role=Role.QUIET)
        return [note, *build_sections(VERIFIER_TEST, found, context)]
