"""A few temporary lines above the hints."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from textual.timer import Timer
from textual.widgets import Static

from runwatch.tui.core.rendering import StyledSpans, to_lines


class Notice(Static):
    """Lines between the panes and the hints, hidden if empty. It takes neither focus nor keys."""

    DEFAULT_CSS = """
    Notice {
        height: auto;
        max-height: 8;
        padding: 0 1;
        background: $surface;
    }
    """

    _end: Timer | None = None

    def say(self, texts: Sequence[StyledSpans], *, for_s: float | None = None) -> None:
        """Show other texts, for some seconds or without a limit, or hide the notice."""
        if self._end is not None:
            self._end.stop()
        self._end = None if for_s is None else self.set_timer(for_s, partial(self.say, ()))
        self.update(to_lines(texts))
        self.display = bool(texts)
