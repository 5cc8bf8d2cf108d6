"""Messages that several widgets post or that the app handles; any other is nested in the widget that posts it.

They name what happened, in the past tense. Every message of a widget carries it as ``widget``; ``control`` is the same,
under the name by which Textual binds a handler to one widget of a screen.
"""

from __future__ import annotations

from dataclasses import dataclass

from textual.message import Message
from textual.widget import Widget

from runwatch.view.text.copied_text import CopiedText
from runwatch.view.text.safe_text import SafeText


@dataclass(eq=False, repr=False)
class WidgetMessage(Message):
    """Something that a widget tells.

    Attributes:
        widget: The widget.
    """

    widget: Widget

    @property
    def control(self) -> Widget:
        """The widget."""
        return self.widget


@dataclass(eq=False, repr=False)
class CopyRequested(WidgetMessage):
    """The user asked to copy something that is on the screen.

    Attributes:
        what: What it is, for the notice: ``instance``, ``support block``, ``event``.
        text: The exact text to copy.
        several_lines: Whether it may have more than one line; an id may not.
        is_secret: Whether the notice keeps the text to itself.
    """

    what: SafeText
    text: CopiedText
    several_lines: bool = False
    is_secret: bool = False


@dataclass(eq=False, repr=False)
class PanelClosed(WidgetMessage):
    """The user leaves a panel or a drawer."""


@dataclass(eq=False, repr=False)
class HintClicked(Message):
    """The user clicked a hint of the status line.

    Attributes:
        action: The id of the action.
    """

    action: str


@dataclass(eq=False, repr=False)
class WorkerFailed(Message):
    """Something that ran beside the screen ended with an exception.

    Attributes:
        name: What it was, as the screen named it.
        error: The exception; what was not raised on purpose is in the log already.
    """

    name: str
    error: Exception
