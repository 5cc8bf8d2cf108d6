"""Review agents: the record and its protected connection."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Final

from runwatch.records.record import Record
from runwatch.records.verifier import KeyConnection
from runwatch.store.live.report_poller import ReportQuery
from runwatch.tui.screens.base.tabbed_screen import RECORD, TabbedScreen, record_sections
from runwatch.tui.sources.row_sources import RowSource
from runwatch.view.detail.sections import DetailSection
from runwatch.view.resources.reviews import AGENTS
from runwatch.view.resources.verifiers import KEY_CONNECTION
from runwatch.view.table.rows import RecordRow
from runwatch.view.text.format import RenderContext
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import SafeText, line

if TYPE_CHECKING:
    from runwatch.tui.widgets.lists.record_table import RecordTable

CONNECTION: Final = "connection"


class AgentsScreen(TabbedScreen):
    """The screen of review agents. The status bar shows the full reason why one is not ready; no column has room for
    it.
    """

    TABS: ClassVar[tuple[tuple[str, SafeText], ...]] = ((RECORD, line("Record")), (CONNECTION, line("Connection")))

    def __init__(self, source: RowSource) -> None:
        super().__init__(AGENTS, source)

    def on_record_table_row_highlighted(self, message: RecordTable.RowHighlighted) -> None:
        """Show why the agent under the cursor is not ready."""
        row = self.row
        reason = None if row is None else row.value("reason")
        if isinstance(reason, str) and reason and row is not None and row.value("status") != "ready":
            self.notify_user(f"{row.value('status')}: {reason}", Role.WARN)

    def report_for(self, tab: str, row: RecordRow[Any]) -> ReportQuery | None:
        """Return the query for the agent's connection."""
        path = (("arm_id", row.id),)
        return ReportQuery("getReviewComposerAgentsByArmIdConnection", KeyConnection, path=path)

    def side_sections(
        self, tab: str, row: RecordRow[Any], record: Record | None, context: RenderContext
    ) -> Sequence[DetailSection]:
        """Return the connection's fields."""
        return [] if record is None else record_sections(KEY_CONNECTION, record, context)
