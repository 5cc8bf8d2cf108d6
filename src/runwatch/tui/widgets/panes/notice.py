"""A few lines above the hints, which say something for a while."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from textual.timer import Timer
from textual.widgets import Static

from runwatch.tui.core.rendering import StyledSpans, to_lines


class Notice(Static):
    """A few lines between the panes and the hints, or nothing. It takes neither focus nor keys."""

    DEFAULT_CSS = """
    Notice {
        height: auto;
        max-height: 8;
        padding: 0 1;
        background: $surface;
    }
    """

    def __init__(self, texts: Sequence[StyledSpans], *, id: str) -> None:
        super().__init__(to_lines(texts), id=id)
        self._end: Timer | None = None

    def say(self, texts: Sequence[StyledSpans], *, for_s: float | None = None) -> None:
        """Say something else, or nothing.

        Args:
            texts: What to say.
            for_s: After how many seconds it says nothing any more; ``None`` for as long as it stands there.
        """
        if self._end is not None:
            self._end.stop()
        self._end = None if for_s is None else self.set_timer(for_s, partial(self.say, ()))
        self.update(to_lines(texts))
        self.display = bool(texts)
