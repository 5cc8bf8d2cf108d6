"""Base app class that widgets rely on for colours, glyphs, keys and the clock."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple

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
from runwatch.view.text.copied_text import copied_unchanged
from runwatch.view.text.glyphs import TO_ASCII, UNICODE, Glyphs
from runwatch.view.text.safe_text import line
from runwatch.view.text.shell_commands import ShellService, profile_options

if TYPE_CHECKING:
    from runwatch.view.detail.fold_state import FoldState


class ChromeGlyphs(NamedTuple):
    """Glyphs of the interface itself, one cell each; data has its own glyphs.

    Attributes:
        cursor: Before the selected line.
        marked: Before a marked line.
        rising: Beside the sort column, the smallest or oldest first.
        falling: Beside the sort column, the largest or newest first.
        crumb: Between two breadcrumbs.
        rule: Frame lines.
        rule_focus: Frame lines of the focused pane.
        bar: Between two tabs.
        left: Where columns are hidden at the left.
        right: Where columns are hidden at the right.
    """

    cursor: str
    marked: str
    rising: str
    falling: str
    crumb: str
    rule: str
    rule_focus: str
    bar: str
    left: str
    right: str


_UNICODE_MARKS: Final = ChromeGlyphs("▸", "■", "▲", "▼", "›", "─", "━", "│", "‹", "›")
_ASCII_MARKS: Final = ChromeGlyphs(">", "#", "^", "v", ">", "-", "=", "|", "<", ">")


class _AsciiScrollBar(ScrollBarRender):
    """A scroll bar of whole cells, which needs no glyphs."""

    VERTICAL_BARS: ClassVar[list[str]] = [" "]
    HORIZONTAL_BARS: ClassVar[list[str]] = [" "]


class WidgetApp(TerminalApp):
    """Base class of apps that contain runwatch's widgets; ``NO_COLOR`` replaces the theme."""

    CSS = """
    Screen {
        background: $background;
        color: $role-plain;
    }
    Tooltip {
        background: $surface;
        color: $role-plain;
        border: round $role-accent;
        padding: 0 1;
        margin: 1 0;
        max-width: 80;
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
        self.palette = palette
        self._styles = palette.styles()
        self.apply_palette(palette)
        # Parse the style sheets in these colours from the start, so that they are parsed once.
        self.stylesheet.set_variables(self.get_css_variables())
        self._dialogs_theme = self.theme
        self.set_keymap(self.keys.overrides())
        # Textual has one renderer for the process. Set it in both cases, because tests create several apps.
        self.translation = TO_ASCII if self.is_ascii else None
        ScrollBar.renderer = _AsciiScrollBar if self.is_ascii else ScrollBarRender

    @cached_property
    def folds(self) -> FoldState:
        from runwatch.view.detail.fold_state import FoldState

        return FoldState()

    def apply_palette(self, palette: Palette) -> None:
        """Switch to another theme; ignored with ``NO_COLOR``."""
        if self.no_color:
            palette = PLAIN
        self.palette = palette
        self._styles = palette.styles()
        self.register_theme(palette.textual())
        self.theme = palette.name

    def refresh_css(self, animate: bool = True) -> None:
        """Parse the style sheets again if the theme changed."""
        if self.theme != self._dialogs_theme:
            self._dialogs_theme = self.theme
            super().refresh_css(animate)

    def apply_keys(self, keys: KeyMap) -> None:
        self.keys = keys
        self.set_keymap(keys.overrides())

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """Return the variables that style sheets may use under any theme."""
        return PLAIN.variables()

    def on_resize(self, event: events.Resize) -> None:
        """Show a message in front of everything while the window is too small."""
        self.call_later(self.guard_size)

    @property
    def is_too_small(self) -> bool:
        """Whether the message about a small window is in front."""
        from runwatch.tui.core.too_small import TooSmallScreen

        return isinstance(self.screen, TooSmallScreen)

    async def guard_size(self) -> None:
        """Show the message if the window is too small."""
        from runwatch.tui.core.too_small import TooSmallScreen, is_too_small

        if is_too_small(self.size) and not self.is_too_small:
            await self.push_screen(TooSmallScreen())

    def role_style(self, role: str) -> Style:
        return self._styles[role]

    def find_shell_service(self, profile: str | None) -> ShellService:
        """Return how commands in a shell reach the service of a profile."""
        return ShellService(profile_options(profile))

    @property
    def is_ascii(self) -> bool:
        """Whether frames and marks use ASCII only."""
        return self.glyphs.ellipsis.isascii()

    @property
    def chrome_glyphs(self) -> ChromeGlyphs:
        return _ASCII_MARKS if self.is_ascii else _UNICODE_MARKS

    def copy_to_clipboard(self, text: str) -> None:
        """Copy a mouse selection, or text cut from an input, by the same route as everything else."""
        self._clipboard = text
        if text:
            self.screen.post_message(CopyRequested(line("selection"), copied_unchanged(text), several_lines=True))

    def take_selection_key(self, key: str) -> bool:
        """Copy or drop the text selected with the mouse if the key says so; return whether it did.

        The key that interrupts copies too, as elsewhere; pressed again, it interrupts.
        """
        from textual.widgets import Input, TextArea

        screen = self.screen
        if not screen.selections or not screen.get_selected_text():
            return False
        is_typing = isinstance(screen.focused, Input | TextArea)
        if key == "ctrl+c" or (key in self.keys.keys("screen.copy") and not is_typing):
            screen.action_copy_text()
        elif key not in self.keys.keys("screen.back"):
            return False
        screen.clear_selection()
        return True

    async def run_key_action(self, action: str) -> bool:
        """Run a key action as if its key had been pressed; return whether it was available."""
        active = self.screen.active_bindings
        for node, binding, is_enabled, _ in active.values():
            if binding.id == action and is_enabled:
                return await self.run_action(binding.action, node)
        for node, key, binding in self._typed_over(action):
            # An input, or the line around it, may use the same key itself, such as escape.
            nearer = active.get(key)
            if nearer is not None:
                return await self.run_action(nearer.binding.action, nearer.node)
            return await self.run_action(binding.action, node)
        return False

    def _typed_over(self, action: str) -> Iterator[tuple[DOMNode, str, Binding]]:
        """Yield where an action would run if the focused input did not take its key as a letter."""
        from textual.widgets import Input

        screen = self.screen
        focused = screen.focused
        if not isinstance(focused, Input):
            return
        around = focused.ancestors_with_self
        ends = next((index for index, node in enumerate(around) if node.is_modal), len(around))
        # The filtered list is a sibling of the filter line, not its ancestor. `_bindings` is private (checked on
        # Textual 8.2.8): `active_bindings` leaves out keys that an input takes as letters.
        for node in (*around[: ends + 1], *screen.focus_chain):
            yield from ((node, key, binding) for key, binding in node._bindings if binding.id == action)

    async def on_hint_clicked(self, message: HintClicked) -> None:
        await self.run_key_action(message.action)


def get_app(widget: Widget) -> WidgetApp:
    """Return the app of a widget.

    Raises:
        TypeError: The app is not a :class:`WidgetApp`.
    """
    app: Any = widget.app
    if not isinstance(app, WidgetApp):
        raise TypeError(f"{type(widget).__name__} needs an app of the kit")
    return app
