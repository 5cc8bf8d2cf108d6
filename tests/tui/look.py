"""Looking at a Textual app that runs without a terminal."""

from __future__ import annotations

from typing import Any

from textual.app import App
from textual.message import Message
from textual.widget import Widget

from runwatch.tui.core.messages import HintClicked, WidgetMessage, WorkerFailed
from runwatch.tui.core.widget_app import WidgetApp
from runwatch.tui.widgets.panes.confirm_dialog import ConfirmDialog
from runwatch.view.text.glyphs import ASCII, UNICODE
from tests.support.clock import FakeClock
from tests.tui import samples

DIALOG_MESSAGES = (ConfirmDialog.Confirmed, ConfirmDialog.RetryRequested, ConfirmDialog.Closed)
OBSERVED = (WidgetMessage, HintClicked, WorkerFailed, *DIALOG_MESSAGES)


class Stage(WidgetApp):
    """An app around the widgets of one test, which notes what they tell.

    Args:
        widgets: The widgets, from top to bottom.
        ascii: Whether the ASCII glyphs are used.

    Attributes:
        told: Every message of our own that reached the app, in order.
    """

    def __init__(self, *widgets: Widget, ascii: bool = False, **more: Any) -> None:
        self.time = FakeClock(samples.NOON)
        super().__init__(glyphs=ASCII if ascii else UNICODE, clock=self.time, **more)
        self._given = widgets
        self.told: list[Message] = []

    def compose(self) -> list[Widget]:
        return list(self._given)

    async def _on_message(self, message: Message) -> None:
        if isinstance(message, OBSERVED):
            self.told.append(message)
        await super()._on_message(message)

    def told_of(self, kind: type[Message]) -> list[Any]:
        return [message for message in self.told if isinstance(message, kind)]


def lines_of(app: App[Any]) -> list[str]:
    """The rows of the screen as text."""
    return [strip.text.rstrip() for strip in app.screen._compositor.render_strips()]


def text_of(app: App[Any]) -> str:
    return "\n".join(lines_of(app))
