"""The look of every dialog: the header bar, and one pane in the middle, with its buttons at the lower right."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.screen import ModalScreen, ScreenResultType

from runwatch.tui.widgets.bars.header_bar import HeaderBar, HeaderInfo

MAX_CELLS = 100
"""The width of the pane in a wide window."""

FRAME_CELLS = 4
"""Cells of the pane's frame and padding."""

BUTTONS = "buttons"
"""CSS class of the row of buttons."""


class Dialog(ModalScreen[ScreenResultType]):
    """A modal dialog below the header bar, which stays in sight.

    Subclasses yield the header bar and a pane that ends with a row of class :data:`BUTTONS`.
    """

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
        & > HeaderBar {
            dock: top;
        }
        & Static {
            width: 100%;
            height: auto;
            margin-bottom: 1;
        }
        & RowsBelow {
            height: 1;
            margin-bottom: 0;
            padding: 0 2;
        }
        & LineList {
            height: auto;
            max-height: 8;
            background: $surface;
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

    def __init__(self, header: HeaderInfo) -> None:
        super().__init__()
        self._header = header

    def compose(self) -> ComposeResult:
        yield HeaderBar(self._header)

    def show_header(self, header: HeaderInfo) -> None:
        self.query_one(HeaderBar).show(header)
