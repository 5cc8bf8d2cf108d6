"""One tile of the wall of runs: a frame with the run's state, and its newest events."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from textual import events
from textual.widgets import Static

from runwatch.tui.core.rendering import StyledSpans, to_lines
from runwatch.tui.widgets.panes.pane import BorderText, Pane


class TileLines(Static, can_focus=True):
    DEFAULT_CSS = """
    TileLines {
        height: 1fr;
        padding: 0 1;
        background: $background;
        text-wrap: nowrap;
        text-overflow: ellipsis;
    }
    """


class RunTile(Pane):
    """A tile; without a run, its id is empty.

    A second click opens its run; after ``resized``, another number of events fits.
    """

    def __init__(self, opened: Callable[[str], object], resized: Callable[[], object]) -> None:
        self._lines: Final = TileLines()
        super().__init__(self._lines)
        self._opened: Final = opened
        self._resized: Final = resized
        self.run_id = ""
        self._shown: tuple[StyledSpans, ...] = ()

    @property
    def rows(self) -> int:
        return max(1, self.content_size.height)

    @property
    def cells(self) -> int:
        return max(1, self.content_size.width - 2)

    def show(self, run_id: str, edge: BorderText, lines: Sequence[StyledSpans]) -> None:
        self.run_id = run_id
        self.set_border_text(title=edge.title, state=edge.state, age=edge.age, counters=edge.counters)
        if tuple(lines) != self._shown:
            self._shown = tuple(lines)
            self._lines.update(to_lines(lines))

    def focus_lines(self) -> None:
        self._lines.focus()

    def on_resize(self, event: events.Resize) -> None:
        self._resized()

    async def on_click(self, event: events.Click) -> None:
        """Focus the tile; a second click opens its run."""
        self._lines.focus()
        if event.chain == 2 and self.run_id:
            self._opened(self.run_id)
