"""Events that an opened file has without their run, as a list of their own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from runwatch.tui.core.key_bindings import make_bindings
from runwatch.tui.screens.base.resource_screen import ResourceScreen
from runwatch.tui.sources.row_sources import RowSource
from runwatch.view.resources.events import EVENTS
from runwatch.view.table.rows import RecordRow
from runwatch.view.text.format import grouped_number, short_id
from runwatch.view.text.glyphs import Role


class FileEventsScreen(ResourceScreen):
    BINDINGS = make_bindings("screen.replay")
    HINTS = (
        "list.open", "screen.filter", "screen.copy", "screen.replay", "screen.raw", "screen.time", "app.quit",
    )  # fmt: skip

    def __init__(self, source: RowSource) -> None:
        super().__init__(EVENTS, source)
        self._run_ids: frozenset[str | None] = frozenset()
        self._named_of: Sequence[RecordRow[Any]] | None = None

    def breadcrumbs(self) -> Sequence[str]:
        """Return the list, its run, or the number of its runs, and the event that fills the window."""
        title, *event = super().breadcrumbs()
        if len(self._run_ids) == 1:
            return (title, short_id(next(iter(self._run_ids)), self.console.glyphs), *event)
        return (title, *([f"{grouped_number(len(self._run_ids))} runs"] if self._run_ids else []), *event)

    def rows_shown(self, *, keeps_detail: bool) -> None:
        """Name the runs, which the rows do not."""
        super().rows_shown(keeps_detail=keeps_detail)
        rows = self.all_rows()
        if rows is not self._named_of:
            self._named_of = rows
            self._run_ids = frozenset(row.subject.execution_id for row in rows)
            self.show_crumbs()

    def action_replay(self) -> None:
        from runwatch.tui.screens.runs.replay import replay_view

        run_id = None if self.row is None else self.row.subject.execution_id
        if run_id:
            self.go_to_view_later(replay_view(run_id))
        else:
            self.notify_user("This event names no run to replay.", Role.WARN)
