"""Messages that several widgets post or that the app handles; other messages are nested in the widget that posts them.

A widget's message carries the widget as ``widget``; ``control`` is the same under the name that Textual uses to bind a
handler to one widget.
"""

from __future__ import annotations

from dataclasses import dataclass

from textual.message import Message
from textual.widget import Widget

from runwatch.view.text.copied_text import CopiedText
from runwatch.view.text.safe_text import SafeText


@dataclass(eq=False, repr=False)
class WidgetMessage(Message):
    """Base class of messages posted by a widget.

    Attributes:
        widget: The widget that posted it.
    """

    widget: Widget

    @property
    def control(self) -> Widget:
        """The widget that posted it."""
        return self.widget


@dataclass(eq=False, repr=False)
class CopyRequested(WidgetMessage):
    """The user asked to copy something on screen.

    Attributes:
        what: Its name in the notice: ``instance``, ``support block``, ``event``.
        text: The exact text to copy.
        several_lines: Whether it may have more than one line; an id may not.
        is_secret: Whether the notice leaves out the text.
    """

    what: SafeText
    text: CopiedText
    several_lines: bool = False
    is_secret: bool = False


@dataclass(eq=False, repr=False)
class PanelClosed(WidgetMessage):
    """The user closed a panel or a drawer."""


@dataclass(eq=False, repr=False)
class HintClicked(Message):
    """The user clicked a hint of the status bar.

    Attributes:
        action: The id of the action.
    """

    action: str


@dataclass(eq=False, repr=False)
class WorkerFailed(Message):
    """A worker ended with an exception.

    Attributes:
        name: The worker's name.
        error: The exception; unexpected ones are already logged.
    """

    name: str
    error: Exception
