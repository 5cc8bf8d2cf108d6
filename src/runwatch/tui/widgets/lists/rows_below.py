"""The mark that a list goes on below its window."""

from __future__ import annotations

from typing import Final

from textual.widgets import Static

from runwatch.tui.core.rendering import StyledSpans, label_span, to_content
from runwatch.tui.widgets.lists.line_list import LineList


def rows_below_text(count: int) -> StyledSpans:
    return (label_span(f"{count} more row{'s' * (count != 1)} below" if count else ""),)


class RowsBelow(Static):
    """A line below a list that says how many of its rows are below the window; empty at the end of the list."""

    def __init__(self, lines: LineList) -> None:
        super().__init__()
        self._lines: Final = lines
        self._count = 0

    def on_mount(self) -> None:
        self.watch(self._lines, "scroll_y", self._count_later, init=False)
        self.screen.screen_layout_refresh_signal.subscribe(self, lambda _: self._count_rows(), immediate=True)

    def _count_later(self) -> None:
        self.call_after_refresh(self._count_rows)

    def _count_rows(self) -> None:
        # A hidden list has no size.
        count = self._lines.rows_below if self._lines.size.height else 0
        if count != self._count:
            self._count = count
            self.update(to_content(rows_below_text(count)))
