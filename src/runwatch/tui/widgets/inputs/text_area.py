"""A field for a text of several lines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from textual.binding import BindingType
from textual.message import Message
from textual.widgets import TextArea
from textual.widgets.text_area import Edit, EditResult

from runwatch.tui.core.key_bindings import make_bindings
from runwatch.view.text.pasted_text import clean_multiline


class SafeTextArea(TextArea):
    """A text area whose text a terminal may see, and in which everything can be taken back.

    What is pasted or written in an editor may come from anywhere, and Textual would draw its control characters as they
    are: they are left out, and the screen is told how many.
    """

    @dataclass
    class CharactersDropped(Message):
        """Characters that a terminal would act on were not taken.

        Attributes:
            count: How many.
        """

        count: int

    def edit(self, edit: Edit) -> EditResult:
        """Change the text, without what a terminal would act on."""
        edit.text, count = clean_multiline(edit.text)
        if count:
            self.post_message(self.CharactersDropped(count))
        return super().edit(edit)

    def undo(self) -> None:
        """Take the last change back."""
        self._stand_on_a_line_that_stays()
        super().undo()

    def redo(self) -> None:
        """Make the change again that was taken back last."""
        self._stand_on_a_line_that_stays()
        super().redo()

    def _stand_on_a_line_that_stays(self) -> None:
        # Textual fails when the line under the cursor goes together with the scroll bar; it puts the cursor where the
        # change was anyway.
        self.move_cursor((0, 0), record_width=False)


class MultilineInput(SafeTextArea):
    """A field of a form. ``tab`` leaves it, ``enter`` begins a new line.

    Args:
        value: What stands there at first.
        id: The widget's id.
    """

    BINDINGS: ClassVar[list[BindingType]] = make_bindings("text")
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
        """The user wants to write the text in an editor of their own.

        Attributes:
            field: The field.
        """

        field: MultilineInput

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
        """The text, its lines ended by newlines."""
        return self.text

    @value.setter
    def value(self, text: str) -> None:
        self.take(text)

    def take(self, text: str) -> None:
        """Put another text in place of all of it; it can be taken back like everything that is typed."""
        if text != self.text:
            self.replace(text, (0, 0), self.document.end)

    def action_editor(self) -> None:
        """Ask for the editor."""
        self.post_message(self.EditorRequested(self))
