"""What every widget may ask of the app it stands in: colours, glyphs, keys and the clock."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Final, NamedTuple

from rich.style import Style
from textual import events
from textual.binding import Binding
from textual.dom import DOMNode
from textual.scrollbar import ScrollBar, ScrollBarRender
from textual.widget import Widget

from runwatch.base.clock import Clock, SystemClock
from runwatch.tui.core.key_bindings import KeyMap
from runwatch.tui.core.messages import CopyRequested, HintClicked
from runwatch.tui.core.themes import PLAIN, Palette
from runwatch.tui.terminal.terminal_app import TerminalApp
from runwatch.view.detail.fold_state import FoldState
from runwatch.view.text.copied_text import copied_unchanged
from runwatch.view.text.glyphs import UNICODE, Glyphs
from runwatch.view.text.safe_text import line

ASCII_CLASS: Final = "-ascii"
"""What a widget whose style sheet names a frame sets on itself under the ASCII glyphs."""


class ChromeGlyphs(NamedTuple):
    """What the chrome is drawn with, one cell each; data has its own glyphs.

    Attributes:
        cursor: Before the selected line.
        marked: Before a marked line.
        rising: Beside the column that rows are sorted by, smallest first.
        falling: The same, largest first.
        crumb: Between two levels of a path.
        rule: What frames are drawn with.
        rule_focus: What the frame of the focused pane is drawn with.
        bar: Between two tabs.
    """

    cursor: str
    marked: str
    rising: str
    falling: str
    crumb: str
    rule: str
    rule_focus: str
    bar: str


_UNICODE_MARKS: Final = ChromeGlyphs("▸", "■", "▲", "▼", "›", "─", "━", "│")
_ASCII_MARKS: Final = ChromeGlyphs(">", "#", "^", "v", ">", "-", "=", "|")


class _AsciiScrollBar(ScrollBarRender):
    """A scroll bar of whole cells, which need no glyphs."""

    VERTICAL_BARS: ClassVar[list[str]] = [" "]
    HORIZONTAL_BARS: ClassVar[list[str]] = [" "]


class WidgetApp(TerminalApp):
    """An app that the widgets of this package can stand in.

    Args:
        palette: The theme; one without colours where ``NO_COLOR`` is set.
        glyphs: The set of glyphs.
        keys: The keys.
        clock: Time, for what counts down.
    """

    CSS = """
    Screen {
        background: $background;
        color: $role-plain;
    }
    """

    def __init__(
        self,
        *,
        palette: Palette = PLAIN,
        glyphs: Glyphs = UNICODE,
        keys: KeyMap | None = None,
        clock: Clock | None = None,
    ) -> None:
        super().__init__()
        if self.no_color:
            palette = PLAIN
        self.glyphs: Final = glyphs
        self.keys = keys or KeyMap()
        self.clock: Final[Clock] = clock or SystemClock()
        self.folds: Final = FoldState()
        self.palette = palette
        self._styles = palette.styles()
        self.apply_palette(palette)
        # The style sheets are read in these colours from the first, so that they need not be read again.
        self.stylesheet.set_variables(self.get_css_variables())
        self._dialogs_theme = self.theme
        self.set_keymap(self.keys.overrides())
        # One for the process, as Textual has it; set back too, because tests make several apps.
        ScrollBar.renderer = _AsciiScrollBar if self.is_ascii else ScrollBarRender

    def apply_palette(self, palette: Palette) -> None:
        """Draw everything in another theme from now on; without effect where ``NO_COLOR`` is set."""
        if self.no_color:
            palette = PLAIN
        self.palette = palette
        self._styles = palette.styles()
        self.register_theme(palette.textual())
        self.theme = palette.name

    def refresh_css(self, animate: bool = True) -> None:
        """Read the style sheets again, in the colours of another theme."""
        if self.theme != self._dialogs_theme:
            self._dialogs_theme = self.theme
            super().refresh_css(animate)

    def apply_keys(self, keys: KeyMap) -> None:
        """Take other keys from now on."""
        self.keys = keys
        self.set_keymap(keys.overrides())

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """The names of our own that a style sheet may use under any theme."""
        return PLAIN.variables()

    def on_resize(self, event: events.Resize) -> None:
        """Put a message in front of everything while the window has no room for it."""
        self.call_later(self.guard_size)

    @property
    def is_too_small(self) -> bool:
        """Whether the message that the window is too small stands in front."""
        from runwatch.tui.core.too_small import TooSmallScreen

        return isinstance(self.screen, TooSmallScreen)

    async def guard_size(self) -> None:
        """Put the message there if the window has no room."""
        from runwatch.tui.core.too_small import TooSmallScreen, is_too_small

        if is_too_small(self.size) and not self.is_too_small:
            await self.push_screen(TooSmallScreen())

    def role_style(self, role: str) -> Style:
        """How a role is drawn in the present theme."""
        return self._styles[role]

    @property
    def is_ascii(self) -> bool:
        """Whether frames and marks keep to ASCII."""
        return self.glyphs.ellipsis.isascii()

    @property
    def chrome_glyphs(self) -> ChromeGlyphs:
        """What the chrome is drawn with."""
        return _ASCII_MARKS if self.is_ascii else _UNICODE_MARKS

    def copy_to_clipboard(self, text: str) -> None:
        """Have what was selected with the mouse, or cut in an input, copied in the way everything else is."""
        self._clipboard = text
        if text:
            self.screen.post_message(
                CopyRequested(self.screen, line("selection"), copied_unchanged(text), several_lines=True)
            )

    async def run_key_action(self, action: str) -> bool:
        """Do an action of the table as if its key had been pressed; answer whether it could be done here and now.

        Args:
            action: Its id.
        """
        active = self.screen.active_bindings
        for node, binding, is_enabled, _ in active.values():
            if binding.id == action and is_enabled:
                return await self.run_action(binding.action, node)
        for node, key, binding in self._typed_over(action):
            # A key that the input or the line around it has a use for, such as escape, does that.
            nearer = active.get(key)
            if nearer is not None:
                return await self.run_action(nearer.binding.action, nearer.node)
            return await self.run_action(binding.action, node)
        return False

    def _typed_over(self, action: str) -> Iterator[tuple[DOMNode, str, Binding]]:
        """Where an action would be done if no input took its key as a letter; nothing while none has the focus."""
        from textual.widgets import Input

        screen = self.screen
        focused = screen.focused
        if not isinstance(focused, Input):
            return
        around = focused.ancestors_with_self
        ends = next((place for place, node in enumerate(around) if node.is_modal), len(around))
        # The list that is filtered stands beside the line for filters, not around it. `_bindings` is private (checked
        # on Textual 8.2.8): `active_bindings` leaves out what an input takes as a letter.
        for node in (*around[: ends + 1], *screen.focus_chain):
            yield from ((node, key, binding) for key, binding in node._bindings if binding.id == action)

    async def on_hint_clicked(self, message: HintClicked) -> None:
        """Do what a clicked hint says."""
        await self.run_key_action(message.action)


def get_app(widget: Widget) -> WidgetApp:
    """The app a widget stands in.

    Raises:
        TypeError: it stands in another kind of app.
    """
    app: Any = widget.app
    if not isinstance(app, WidgetApp):
        raise TypeError(f"{type(widget).__name__} needs an app of the kit")
    return app
