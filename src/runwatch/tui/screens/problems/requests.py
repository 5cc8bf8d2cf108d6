"""The requests sent from this machine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Final

from runwatch.base.errors import RunwatchError
from runwatch.tui.core.key_bindings import make_bindings
from runwatch.tui.screens.base.resource_screen import MIN_DETAIL_CELLS, ResourceScreen
from runwatch.tui.sources.journal_source import JournalSource
from runwatch.tui.sources.row_sources import RowSource
from runwatch.tui.widgets.bars.status_bar import KeyHint
from runwatch.view.problems.copy_options import curl_option
from runwatch.view.problems.journal_entries import RequestEntry
from runwatch.view.resources.requests import REQUESTS
from runwatch.view.text.glyphs import Role

ROWS_REFRESH_S: Final = 8
"""Seconds after which rows are redrawn only to update ages; the console's own reads mostly redraw them sooner."""


class RequestsScreen(ResourceScreen):
    """The screen of requests: a trace of what the console does."""

    BINDINGS = make_bindings("screen.copy_curl")

    DETAIL_EVERY: ClassVar[int] = 1

    WANTED_DETAIL: ClassVar[int] = MIN_DETAIL_CELLS
    """Its values are short, paths in the list are long."""

    def __init__(self, source: RowSource) -> None:
        super().__init__(REQUESTS, source)
        self._kept_s = 0

    def all_hints(self) -> Sequence[KeyHint]:
        own: tuple[KeyHint, ...] = ("list.open", "screen.filter", "screen.copy_curl", ("screen.copy", "copy path"))
        usual = super().all_hints()
        return (*own, *(hint for hint in usual if hint not in {"list.open", "screen.filter", "screen.copy"}))

    def tick(self) -> None:
        """Redraw ages only every few seconds: all visible rows are recent, so each would change every second."""
        self._kept_s += 1
        if self._kept_s >= ROWS_REFRESH_S:
            super().tick()
        elif self.is_mounted:
            self._show_edge()

    def rows_shown(self, *, keeps_detail: bool) -> None:
        """Restart the interval, because all ages were just drawn."""
        super().rows_shown(keeps_detail=keeps_detail)
        self._kept_s = 0

    def _apply_filter(self, text: str, *, is_undoable: bool = True) -> bool:
        """Show each try that reached nobody to those who look for some requests."""
        is_filter = super()._apply_filter(text, is_undoable=is_undoable)
        if isinstance(self._source, JournalSource) and self._source.fold(is_folded=self._query is None):
            self.read_source()
        return is_filter

    @property
    def entry(self) -> RequestEntry | None:
        entry: RequestEntry | None = self.row.subject if self.row is not None else None
        return entry

    async def action_copy(self) -> None:
        """Copy the path with its query."""
        self.table.leave_top()
        entry = self.entry
        parts = () if entry is None else (entry.path, entry.query and f"?{entry.query}")
        await self.copy_word("".join(filter(None, parts)), "path")

    async def action_copy_curl(self) -> None:
        """Copy a curl command that repeats the request, or show why there is none."""
        self.table.leave_top()
        if self.entry is not None:
            try:
                option = curl_option(
                    self.entry,
                    self.console.find_sent_body(self.entry.key),
                    is_foreign=self.console.has_file,
                    socket=self.console.local_socket,
                    program=self.console.launch.program,
                )
            except RunwatchError as error:
                self.notify_user(f"{error}.", Role.WARN)
                return
            await self.console.copy_text(option.text, option.what)
