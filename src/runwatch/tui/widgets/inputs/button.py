"""A one-line button; brackets show the focus with and without colors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from textual import events
from textual.app import RenderResult
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget

from runwatch.base.text import cell_width
from runwatch.tui.core.rendering import to_content
from runwatch.tui.core.themes import ACCENT
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import SafeText, line


class TextButton(Widget, can_focus=True):
    """A one-line button; without the focus, its label has a role.

    Textual's ``Button`` does not replace it: drawing, width, keys and styles would all be overridden to keep one row,
    the role of the label and the brackets that show the focus without colors.
    """

    ALLOW_SELECT = False
    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter,space", "press", "press", show=False)]
    DEFAULT_CSS = """
    TextButton {
        width: auto;
        height: 1;
        &:focus {
            text-style: $button-style;
        }
        &:disabled {
            color: $role-quiet;
        }
    }
    """

    label: reactive[SafeText] = reactive(line(""), layout=True)
    """What pressing it does."""

    @dataclass
    class Pressed(Message):
        button: TextButton

    def __init__(self, label: SafeText, *, role: str = Role.PLAIN, id: str | None = None) -> None:
        super().__init__(id=id)
        self.set_reactive(TextButton.label, label)
        self._role = role

    def render(self) -> RenderResult:
        """Draw the label, in brackets with the focus."""
        if self.has_focus:
            return to_content(line(f"[ {self.label} ]"), ACCENT)
        return to_content(line(f"  {self.label}  "), Role.QUIET if self.disabled else self._role)

    def get_content_width(self, container: object, viewport: object) -> int:
        """Return the same width with and without the focus."""
        return cell_width(self.label) + 4

    def on_click(self, event: events.Click) -> None:
        event.stop()
        self.action_press()

    def action_press(self) -> None:
        """Post :class:`Pressed` unless the button is disabled."""
        if not self.disabled:
            self.post_message(self.Pressed(self))
