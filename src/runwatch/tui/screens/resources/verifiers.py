"""Output checks: the record, its protected connection, the last test from here, and the trend of its verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Final

from runwatch.records.evaluation import EvalSummary
from runwatch.records.record import Record
from runwatch.records.verifier import KeyConnection, VerifierTest
from runwatch.store.live.report_poller import ReportQuery, name_response_collection
from runwatch.tui.screens.base.tabbed_screen import RECORD, TabbedScreen, record_sections
from runwatch.tui.sources.row_sources import RowSource
from runwatch.tui.widgets.lists.detail_view import DetailView, text_section
from runwatch.view.detail.pane_state import freshness_text
from runwatch.view.detail.sections import DetailSection
from runwatch.view.reports.check_trends import trend_sections
from runwatch.view.reports.period import PERIODS
from runwatch.view.resources.verifiers import KEY_CONNECTION, VERIFIER_TEST, VERIFIERS
from runwatch.view.table.rows import RecordRow
from runwatch.view.text.format import RenderContext
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import SafeText, line

CONNECTION: Final = "connection"
TEST: Final = "test"
TREND: Final = "trend"

TREND_PERIOD: Final = PERIODS["30d"]
"""How far back the trend of a check goes."""

NO_KEY_HERE: Final = "The key is entered on a private page; this console never sees it."


class VerifiersScreen(TabbedScreen):
    """The screen of output checks."""

    TABS: ClassVar[tuple[tuple[str, SafeText], ...]] = (
        (RECORD, line("Record")), (CONNECTION, line("Connection")), (TEST, line("Test")), (TREND, line("Trend")),
    )  # fmt: skip

    def __init__(self, source: RowSource) -> None:
        super().__init__(VERIFIERS, source)

    def report_for(self, tab: str, row: RecordRow[Any]) -> ReportQuery | None:
        """Return the query for the connection, or for the trend that of the summary of all checks, read once."""
        if tab == CONNECTION:
            path = (("verifier_id", row.id),)
            return ReportQuery("getVerifiersByVerifierIdConnection", KeyConnection, path=path)
        if tab == TREND:
            period = TREND_PERIOD.at(self.console.clock.now())
            return ReportQuery("getEvalSummary", EvalSummary, tuple(period.query().items()))
        return None

    def side_sections(
        self, tab: str, row: RecordRow[Any], record: Record | None, context: RenderContext
    ) -> Sequence[DetailSection]:
        """Return connection, test or trend."""
        if tab == CONNECTION and record is not None:
            return record_sections(KEY_CONNECTION, record, context, NO_KEY_HERE)
        if tab == TREND and isinstance(record, EvalSummary):
            return trend_sections(record, row.id, self.query_one("#fields", DetailView).value_cells, context)
        return self._test(row, context)

    def _test(self, row: RecordRow[Any], context: RenderContext) -> Sequence[DetailSection]:
        """Return the last test started in this console; it is not stored."""
        kind = name_response_collection(VerifierTest, row.id)
        found = self.reports.record(kind)
        if found is None:
            key = self.console.keys.shown("screen.test")
            return [text_section(line("Not tested from here yet."), line(f"{key} tests it."), role=Role.QUIET)]
        read_at = self.console.store.collection(self.console.profile_name, kind).read_at
        since = 0.0 if read_at is None else self.console.clock.monotonic() - read_at
        return record_sections(VERIFIER_TEST, found, context, f"tested from here {freshness_text(max(0.0, since))}")
