"""Output checks: the record, its protected connection, the last test from here, and how it has judged."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Final

from runwatch.records.evaluation import EvalSummary
from runwatch.records.record import Record
from runwatch.records.verifier import KeyConnection, VerifierTest
from runwatch.store.reports import Report, answer_kind
from runwatch.tui.screens.tabbed import RECORD, TabbedScreen, fields_of, said
from runwatch.tui.sources import Source
from runwatch.tui.widgets.detail_view import DetailView
from runwatch.view.detail import Section
from runwatch.view.drawn import Drawn, line
from runwatch.view.format import Context
from runwatch.view.pane_words import fresh_words
from runwatch.view.period import PERIODS
from runwatch.view.resources.verifiers import KEY_CONNECTION, VERIFIER_TEST, VERIFIERS
from runwatch.view.table import Row
from runwatch.view.trends import trend_sections

CONNECTION: Final = "connection"
TEST: Final = "test"
TREND: Final = "trend"

TREND_PERIOD: Final = PERIODS["30d"]
"""How far back the trend of a check goes."""

NO_KEY_HERE: Final = "The key is entered on a private page; this console can neither show nor send it."


class VerifiersScreen(TabbedScreen):
    """The screen of output checks."""

    TABS: ClassVar[tuple[tuple[str, Drawn], ...]] = (
        (RECORD, line("Record")), (CONNECTION, line("Connection")), (TEST, line("Test")), (TREND, line("Trend")),
    )  # fmt: skip

    def __init__(self, source: Source) -> None:
        super().__init__(VERIFIERS, source)

    def asked(self, tab: str, row: Row[Any]) -> Report | None:
        """The connection of this check; for the trend the summary of all checks, which is read once for all."""
        if tab == CONNECTION:
            path = (("verifier_id", row.id),)
            return Report("getVerifiersByVerifierIdConnection", KeyConnection, path=path)
        if tab == TREND:
            period = TREND_PERIOD.at(self.console.clock.now())
            return Report("getEvalSummary", EvalSummary, tuple(period.query().items()))
        return None

    def side_sections(self, tab: str, row: Row[Any], record: Record | None, context: Context) -> Sequence[Section]:
        """The connection, the test or the trend."""
        if tab == CONNECTION and record is not None:
            return fields_of(KEY_CONNECTION, record, context, NO_KEY_HERE)
        if tab == TREND and isinstance(record, EvalSummary):
            return trend_sections(record, row.id, self.query_one("#fields", DetailView).value_cells, context)
        return self._test(row, context)

    def _test(self, row: Row[Any], context: Context) -> Sequence[Section]:
        """The last test that was started here, as long as the console is open."""
        kind = answer_kind(VerifierTest, row.id)
        found = self._read(kind)
        if found is None:
            key = self.console.keys.shown("screen.test")
            return [said(line("No test of it was started here yet."), line(f"{key} tests it."))]
        read_at = self.console.store.collection(self.console.profile_name, kind).read_at
        since = 0.0 if read_at is None else self.console.clock.monotonic() - read_at
        return fields_of(VERIFIER_TEST, found, context, f"tested from here {fresh_words(max(0.0, since))}")
