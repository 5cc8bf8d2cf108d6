"""What every dialog in front of a screen looks like: one pane in the middle, and its buttons at the lower right."""

from __future__ import annotations

from textual.screen import ModalScreen

BUTTONS = "buttons"
"""The class of the line with the buttons."""


class Dialog(ModalScreen[None]):
    """A dialog. Subclasses put a pane into it, and the line of the class :data:`BUTTONS` to the end of the pane."""

    DEFAULT_CSS = """
    Dialog {
        background: $background;
        &:ansi {
            background: $background;
        }
        align: center middle;
        & > Pane {
            width: 100%;
            max-width: 100;
            height: auto;
            max-height: 100%;
            overflow-y: auto;
            background: $surface;
            padding: 1 1 0 1;
        }
        & Static {
            width: 100%;
            height: auto;
            margin-bottom: 1;
        }
        & .buttons {
            height: 2;
            dock: bottom;
            align-horizontal: right;
            background: $surface;
            & > TextButton {
                margin-left: 2;
            }
        }
    }
    """
