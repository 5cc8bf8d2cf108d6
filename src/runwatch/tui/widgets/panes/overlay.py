"""A pane over the lower part of a screen, for a choice or a command: what it is about stays in sight above it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widget import Widget

from runwatch.tui.widgets.panes.pane import BorderText, Pane


class Overlay(Pane):
    """The pane. It takes the keyboard when it comes, and gives it back when it leaves.

    Args:
        edge: The texts of its frame.
        id: The widget's id.

    Attributes:
        before: What had the focus before.
        is_leaving: Whether it is going already.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", "leave", show=False)]
    DEFAULT_CSS = """
    Overlay {
        layer: front;
        dock: bottom;
        height: auto;
        max-height: 100%;
        background: $surface;
        & LineList {
            height: auto;
            background: $surface;
        }
    }
    """

    @dataclass
    class Ready(Message):
        """It is there, and what takes the keyboard in it has asked for it.

        Attributes:
            overlay: The pane.
        """

        overlay: Overlay

    def __init__(self, *, edge: BorderText | None = None, id: str | None = None) -> None:
        super().__init__(edge=edge, id=id)
        self.before: Widget | None = None
        self.is_leaving = False

    def on_mount(self) -> None:
        """Say that it stands; classes below have had their turn by now."""
        self.post_message(self.Ready(self))

    def close(self) -> None:
        """Go, and give the focus back."""
        self.is_leaving = True
        if self.before is not None and self.before.is_attached:
            self.screen.set_focus(self.before)
        self.remove()

    def on_descendant_blur(self, event: events.DescendantBlur) -> None:
        """Go when somebody clicks elsewhere; a terminal that is left takes the focus from everything and is no reason.

        The widget that gets the focus is known only after this event.
        """
        self.call_after_refresh(self._leave_when_left)

    def action_leave(self) -> None:
        """Go without doing anything."""
        self.close()

    def _leave_when_left(self) -> None:
        focused = self.screen.focused if self.is_attached else None
        if focused is not None and self not in focused.ancestors_with_self:
            self.is_leaving = True
            self.remove()
