"""Screen shown when the window is too small: keys whose effect is invisible would do harm."""

from __future__ import annotations

from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.screen import ModalScreen
from textual.widgets import Static

from runwatch.tui.core.rendering import label_span, to_lines
from runwatch.view.text.format import MIN_COLUMNS, MIN_ROWS
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import line


def is_too_small(size: Size) -> bool:
    return size.width < MIN_COLUMNS or size.height < MIN_ROWS


class TooSmallScreen(ModalScreen[None]):
    """Shows the required size, accepts only the key that quits, and closes once the window is large enough."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("q", "app.quit", "quit", show=False)]
    DEFAULT_CSS = """
    TooSmallScreen {
        background: $background;
        &:ansi {
            background: $background;
        }
        align: center middle;
        & > Static {
            width: 100%;
            height: auto;
            text-align: center;
        }
    }
    """

    def compose(self) -> ComposeResult:
        yield Static()

    @on(events.Resize)
    @on(events.ScreenResume)
    def _check_size(self) -> None:
        """Show the current size, or close, also if the window grew while another screen was in front."""
        size = self.app.size
        if not is_too_small(size):
            if self.is_current:
                self.dismiss()
            return
        now = line(f"now {size.width}x{size.height}, q quits")
        self.query_one(Static).update(
            to_lines(
                [
                    (label_span(f"window too small, need {MIN_COLUMNS}x{MIN_ROWS}", Role.WARN),),
                    ((now, Role.QUIET),),
                ]
            )
        )
