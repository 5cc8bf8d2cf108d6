"""One line that the user types into."""

from __future__ import annotations

from textual import events
from textual.suggester import Suggester
from textual.widgets import Input

from runwatch.base.text import clean_line


class LineInput(Input):
    """An input as high as one line, whose cursor stands still and whose text a terminal may see.

    What is pasted may come from anywhere, and Textual would draw its control characters as they are.
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

    def __init__(
        self,
        value: str = "",
        *,
        placeholder: str = "",
        suggester: Suggester | None = None,
        id: str | None = None,
        classes: str | None = None,
    ) -> None:
        super().__init__(
            clean_line(value),
            placeholder=placeholder,
            suggester=suggester,
            select_on_focus=False,
            compact=True,
            id=id,
            classes=classes,
        )
        self.cursor_blink = False

    def validate_value(self, value: str) -> str:
        """Make visible what a terminal would act on."""
        return clean_line(value)

    def _on_paste(self, event: events.Paste) -> None:
        # The input's own method, private and checked on Textual 8.2.8, comes next by itself.
        pasted = event.text.splitlines()
        event.text = clean_line(pasted[0].strip()) if pasted else ""
