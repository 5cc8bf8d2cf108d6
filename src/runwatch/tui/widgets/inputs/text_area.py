"""A multi-line text field."""

from __future__ import annotations

from dataclasses import dataclass

from textual.message import Message
from textual.widgets import TextArea
from textual.widgets.text_area import Edit, EditResult

from runwatch.tui.core.key_bindings import make_bindings
from runwatch.view.text.pasted_text import clean_multiline


class MultilineInput(TextArea):
    """A multi-line form field. ``tab`` leaves it, ``enter`` inserts a newline; every change can be undone.

    Pasted or externally edited text may contain control characters, which Textual would send to the terminal. They are
    dropped and their number is posted.
    """

    BINDINGS = make_bindings("text")
    DEFAULT_CSS = """
    MultilineInput {
        height: 6;
        padding: 0;
        background: $surface;
        color: $role-plain;
        scrollbar-size-vertical: 1;
        &.-invalid {
            color: $role-bad;
        }
    }
    """

    @dataclass
    class EditorRequested(Message):
        """The user wants to edit the text in an external editor."""

        field: MultilineInput

    @dataclass
    class CharactersDropped(Message):
        """So many control characters were dropped."""

        count: int

    def __init__(self, value: str = "", *, id: str | None = None) -> None:
        super().__init__(
            clean_multiline(value)[0],
            id=id,
            compact=True,
            highlight_cursor_line=False,
            show_line_numbers=False,
            tab_behavior="focus",
        )
        self.cursor_blink = False

    @property
    def value(self) -> str:
        """The text, with newlines as line ends."""
        return self.text

    @value.setter
    def value(self, text: str) -> None:
        self.take(text)

    def take(self, text: str) -> None:
        """Replace the whole text; the change can be undone."""
        if text != self.text:
            self.replace(text, (0, 0), self.document.end)

    def action_editor(self) -> None:
        self.post_message(self.EditorRequested(self))

    def edit(self, edit: Edit) -> EditResult:
        """Change the text, without control characters."""
        edit.text, count = clean_multiline(edit.text)
        if count:
            self.post_message(self.CharactersDropped(count))
        return super().edit(edit)

    def undo(self) -> None:
        self._stand_on_a_line_that_stays()
        super().undo()

    def redo(self) -> None:
        self._stand_on_a_line_that_stays()
        super().redo()

    def _stand_on_a_line_that_stays(self) -> None:
        # Textual fails when the line under the cursor disappears together with the scroll bar. It then moves the cursor
        # to the change anyway.
        self.move_cursor((0, 0), record_width=False)
