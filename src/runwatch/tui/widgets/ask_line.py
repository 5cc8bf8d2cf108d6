"""One question over the lower part of a screen, answered on one line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from textual.app import ComposeResult

from runwatch.tui.draw import word
from runwatch.tui.widgets.line_input import LineInput
from runwatch.tui.widgets.overlay import Overlay
from runwatch.tui.widgets.pane import Edge
from runwatch.view.drawn import Drawn


class AskLine(Overlay):
    """The question. ``enter`` takes the answer, ``esc`` leaves.

    Args:
        title: What is asked.
        text: What stands there at first.
        take: Gets the answer once the line is gone.
        id: The widget's id.
    """

    def __init__(self, title: Drawn, text: str, take: Callable[[str], None], *, id: str | None = None) -> None:
        super().__init__(edge=Edge(title=title, counters=_KEYS), id=id)
        self._text: Final = text
        self._take: Final = take

    def compose(self) -> ComposeResult:
        """The line."""
        yield LineInput(self._text)

    def on_mount(self) -> None:
        """Take the keyboard."""
        # Keys typed at once can take the line away again before its field stands.
        for field in self.query(LineInput):
            field.focus()
            field.cursor_position = len(field.value)

    def on_input_changed(self, event: LineInput.Changed) -> None:
        """Nobody else needs to know."""
        event.stop()

    def on_input_submitted(self, event: LineInput.Submitted) -> None:
        """Take the answer."""
        event.stop()
        self.leave()
        self._take(event.value)


_KEYS: Final = (word("enter keeps it  esc leaves"),)
