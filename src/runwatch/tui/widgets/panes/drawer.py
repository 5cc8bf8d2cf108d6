"""A complete event or record as JSON, over the lower part of a screen."""

from __future__ import annotations

from runwatch.tui.core.key_bindings import make_bindings
from runwatch.tui.core.messages import CopyRequested, PanelClosed
from runwatch.tui.core.rendering import StyledSpans, label_span
from runwatch.tui.widgets.lists.detail_view import DetailView, text_section
from runwatch.tui.widgets.panes.pane import BorderText, Pane
from runwatch.view.text.copied_text import CopiedText, copied_word
from runwatch.view.text.safe_text import SafeText, block, line


class Drawer(Pane):
    """A pane with one text, as high as the text needs, up to half of the screen. ``y`` copies it, ``esc`` leaves."""

    BINDINGS = make_bindings("screen.back", "screen.copy")
    DEFAULT_CSS = """
    Drawer {
        height: auto;
        max-height: 50%;
        min-height: 8;
        background: $surface;
        & > DetailView {
            height: auto;
            max-height: 100%;
            background: $surface;
        }
    }
    """

    def __init__(self) -> None:
        super().__init__(edge=BorderText(counters=(label_span("y copy  esc back"),)))
        self._copied = copied_word("")

    def show(self, title: StyledSpans, text: SafeText, exact: CopiedText) -> None:
        """Show another text, formatted for reading; the exact one is copied."""
        self._copied = exact
        self.set_border_text(title=title)
        if not self.children:
            # Created on first use: most drawers are never opened.
            self.mount(DetailView())
        view = self.query_one(DetailView)
        view.show([text_section(block(text))])
        view.reset()

    def action_copy(self) -> None:
        self.post_message(CopyRequested(line("JSON"), self._copied, several_lines=True))

    def action_back(self) -> None:
        self.post_message(PanelClosed())
