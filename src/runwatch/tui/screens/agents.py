"""Review agents: the record, and its protected connection."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Final

from runwatch.records.record import Record
from runwatch.records.verifier import KeyConnection
from runwatch.store.reports import Report
from runwatch.tui.screens.tabbed import RECORD, TabbedScreen, fields_of
from runwatch.tui.sources import Source
from runwatch.view.detail import Section
from runwatch.view.drawn import Drawn, line
from runwatch.view.format import Context
from runwatch.view.glyphs import Role
from runwatch.view.resources.reviews import AGENTS
from runwatch.view.resources.verifiers import KEY_CONNECTION
from runwatch.view.table import Row

if TYPE_CHECKING:
    from runwatch.tui.widgets.record_table import RowHighlighted

CONNECTION: Final = "connection"


class AgentsScreen(TabbedScreen):
    """The screen of review agents. Why one is not ready stands whole in the line of hints, as no column has room."""

    TABS: ClassVar[tuple[tuple[str, Drawn], ...]] = ((RECORD, line("Record")), (CONNECTION, line("Connection")))

    def __init__(self, source: Source) -> None:
        super().__init__(AGENTS, source)

    def on_row_highlighted(self, message: RowHighlighted) -> None:
        """Say why the agent under the cursor is not ready."""
        row = self.row
        reason = None if row is None else row.value("reason")
        if isinstance(reason, str) and reason and row is not None and row.value("status") != "ready":
            self.say(f"{row.value('status')}: {reason}", Role.WARN)

    def asked(self, tab: str, row: Row[Any]) -> Report | None:
        """The connection of this agent."""
        path = (("arm_id", row.id),)
        return Report("getReviewComposerAgentsByArmIdConnection", KeyConnection, path=path)

    def side_sections(self, tab: str, row: Row[Any], record: Record | None, context: Context) -> Sequence[Section]:
        """The connection."""
        return [] if record is None else fields_of(KEY_CONNECTION, record, context)
