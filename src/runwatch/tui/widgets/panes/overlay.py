"""A pane over the lower part of a screen, for a choice or a command; its subject stays visible above."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widget import Widget

from runwatch.tui.widgets.panes.pane import BorderText, Pane


class Overlay(Pane):
    """The overlay. It takes the focus when it opens and returns it when it closes to the widget that had it before."""

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
            max-height: 100%;
            background: $surface;
        }
    }
    """

    @dataclass
    class Ready(Message):
        """The overlay is mounted, and its child has requested the focus."""

        overlay: Overlay

    def __init__(self, *, edge: BorderText | None = None, id: str | None = None) -> None:
        super().__init__(edge=edge, id=id)
        self.before: Widget | None = None
        self.is_leaving = False

    def on_mount(self) -> None:
        """Post :class:`Ready`; ``on_mount`` of the subclasses has run by now."""
        self.post_message(self.Ready(self))

    def close(self) -> None:
        self.is_leaving = True
        if self.before is not None and self.before.is_attached:
            self.screen.set_focus(self.before)
        self.remove()

    def follow(self) -> None:
        """Show what has changed meanwhile; called every second."""

    def on_descendant_blur(self, event: events.DescendantBlur) -> None:
        """Close if the user clicks elsewhere, but not if the terminal loses the focus, which blurs every widget.

        The newly focused widget is known only after this event.
        """
        self.call_after_refresh(self._leave_when_left)

    def action_leave(self) -> None:
        self.close()

    def _leave_when_left(self) -> None:
        focused = self.screen.focused if self.is_attached else None
        if focused is not None and self not in focused.ancestors_with_self:
            self.is_leaving = True
            self.remove()


class ModalOverlay(Overlay):
    """An overlay that has all keys: those of the screen below do not work while it is open.

    It leaves the first line in sight, which names the service and says whether it may be changed.
    """

    def on_mount(self) -> None:
        self._fit_screen()
        # A percentage of the height would need no signal, but there is none for all lines but one.
        self.screen.screen_layout_refresh_signal.subscribe(self, self._fit_screen)

    def _fit_screen(self, _: object = None) -> None:
        self.styles.max_height = max(1, self.screen.size.height - 1)

    def on_key(self, event: events.Key) -> None:
        """Stop keys that belong to the screen below."""
        binding = self.screen.active_bindings.get(event.key)
        if binding is None or self not in binding.node.ancestors_with_self:
            event.stop()
