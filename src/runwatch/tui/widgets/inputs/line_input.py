"""A one-line text input."""

from __future__ import annotations

from textual import events
from textual.suggester import Suggester
from textual.widgets import Input

from runwatch.base.text import clean_line


class LineInput(Input):
    """A one-line input with a steady cursor, whose text is safe for the terminal.

    Pasted text may contain control characters, which Textual would send to the terminal.
    """

    DEFAULT_CSS = """
    LineInput {
        background: $surface;
        color: $role-plain;
        &:focus {
            background-tint: $foreground 0%;
        }
        &.-invalid {
            color: $role-bad;
        }
    }
    """

    def __init__(self, value: str = "", *, suggester: Suggester | None = None, id: str | None = None) -> None:
        super().__init__(clean_line(value), suggester=suggester, select_on_focus=False, compact=True, id=id)
        self.cursor_blink = False

    def validate_value(self, value: str) -> str:
        """Make control characters visible."""
        return clean_line(value)

    def _on_paste(self, event: events.Paste) -> None:
        # Textual calls the input's own ``_on_paste`` after this one (private; checked on Textual 8.2.8).
        pasted = event.text.splitlines()
        event.text = clean_line(pasted[0].strip()) if pasted else ""
