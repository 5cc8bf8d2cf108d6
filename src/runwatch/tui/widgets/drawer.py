"""The whole of one event or record as JSON, over the lower part of a screen."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import BindingType

from runwatch.tui.actions import bindings
from runwatch.tui.draw import Pieces, word
from runwatch.tui.messages import CopyWanted, PanelLeft
from runwatch.tui.widgets.detail_view import DetailView
from runwatch.tui.widgets.pane import Edge, Pane
from runwatch.view.drawn import Drawn, block, line


class Drawer(Pane):
    """A pane with one text. ``y`` copies it, ``esc`` leaves.

    Args:
        id: The widget's id.
    """

    BINDINGS: ClassVar[list[BindingType]] = bindings("screen", only=("screen.back", "screen.copy"))
    DEFAULT_CSS = """
    Drawer {
        height: 50%;
        min-height: 8;
        background: $surface;
        & > DetailView {
            background: $surface;
        }
    }
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(edge=Edge(counters=(word("y copy  esc back"),)), id=id)
        self._copied = ""

    def show(self, title: Pieces, text: Drawn, exact: str) -> None:
        """Show another text.

        Args:
            title: What it is.
            text: The text in readable form.
            exact: What copying gives.
        """
        from runwatch.view.detail import Line, Section

        self._copied = exact
        self.show_edge(title=title)
        if not self.children:
            # Made when it is wanted first: most drawers are never opened.
            self.mount(DetailView())
        view = self.query_one(DetailView)
        view.show([Section(line(""), (Line(line(""), block(text)),))])
        view.start_over()

    def action_copy(self) -> None:
        """Ask the screen to copy the text."""
        self.post_message(CopyWanted(self, line("JSON"), self._copied, several_lines=True))

    def action_back(self) -> None:
        """Ask the screen to close the drawer."""
        self.post_message(PanelLeft(self))
