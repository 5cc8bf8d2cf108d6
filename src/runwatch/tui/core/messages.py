"""Messages that several widgets post or that the app handles; others are nested in the widget that posts them."""

from __future__ import annotations

from dataclasses import dataclass

from textual.message import Message

from runwatch.view.text.copied_text import CopiedText
from runwatch.view.text.safe_text import SafeText


@dataclass(eq=False, repr=False)
class CopyRequested(Message):
    """The user asked to copy something on screen.

    Attributes:
        what: Its name in the notice: ``instance``, ``support block``, ``event``.
        several_lines: Whether it may have more than one line; an id may not.
        is_secret: Whether the notice leaves out the text.
    """

    what: SafeText
    text: CopiedText
    several_lines: bool = False
    is_secret: bool = False


class PanelClosed(Message):
    """The user closed a panel or a drawer."""


@dataclass(eq=False, repr=False)
class HintClicked(Message):
    """The user clicked a hint of the status bar."""

    action: str


@dataclass(eq=False, repr=False)
class WorkerFailed(Message):
    """A worker ended with an exception; unexpected ones are already logged."""

    name: str
    error: Exception
