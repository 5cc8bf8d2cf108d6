"""Review agents, with the full reason why one is not ready."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runwatch.tui.screens.base.tabbed_screen import TabbedScreen
from runwatch.tui.sources.row_sources import RowSource
from runwatch.view.problems.status_reasons import status_reason_text
from runwatch.view.resources.reviews import AGENTS
from runwatch.view.text.glyphs import Role

if TYPE_CHECKING:
    from runwatch.tui.widgets.lists.record_table import RecordTable


class AgentsScreen(TabbedScreen):
    """The screen of review agents. The status bar shows the whole reason, for which no column may have room."""

    def __init__(self, source: RowSource) -> None:
        super().__init__(AGENTS, source)

    def on_record_table_row_highlighted(self, message: RecordTable.RowHighlighted) -> None:
        """Show why the agent under the cursor is not ready."""
        row = self.row
        reason = None if row is None else row.value("reason")
        if isinstance(reason, str) and reason and row is not None and row.value("status") != "ready":
            self.notify_user(f"{row.value('status')}: {status_reason_text(reason)}", Role.WARN)
