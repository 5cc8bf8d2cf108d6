"""The look of every dialog: one pane in the middle, with its buttons at the lower right."""

from __future__ import annotations

from textual.screen import ModalScreen, ScreenResultType

BUTTONS = "buttons"
"""CSS class of the row of buttons."""


class Dialog(ModalScreen[ScreenResultType]):
    """A modal dialog. Subclasses yield a pane that ends with a row of class :data:`BUTTONS`."""

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
        & LineList {
            height: auto;
            max-height: 8;
            background: $surface;
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
