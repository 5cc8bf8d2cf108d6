"""Jump labels: letters over every pane, tab, link and row in sight; typing them goes there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from rich.style import Style
from textual import events
from textual.errors import NoWidget
from textual.strip import Strip
from textual.widget import Widget

from runwatch.tui.core.jump_target import JumpPlace, JumpTarget
from runwatch.tui.core.rendering import label_span, to_segment
from runwatch.tui.core.themes import ACCENT
from runwatch.tui.core.widget_app import get_app
from runwatch.tui.widgets.panes.overlay import Overlay
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import SafeText, line

if TYPE_CHECKING:
    from textual.screen import Screen

LETTERS: Final = "asdfghjklqwertyuiopzxcvbnm"
"""The letters of labels, those under the fingers first."""

MAX_OPEN_S: Final = 30.0
"""How long labels stay; what is below them does not move meanwhile."""

_PROMPT: Final = (label_span(" type the letters of a label", Role.PLAIN), label_span("   esc ends"))


class JumpLabels(Overlay, can_focus=True):
    """The labels of targets over a picture of the screen as it was."""

    DEFAULT_CSS = """
    JumpLabels {
        width: 100%;
        height: 100%;
        &, &.-focused {
            border: none;
        }
    }
    """

    def __init__(self, picture: Sequence[Strip], targets: Iterable[JumpTarget]) -> None:
        super().__init__(id="jump-labels")
        self._picture: Final = tuple(picture)
        ordered = sorted(targets, key=lambda target: (target.is_row, target.y, target.x))
        self.targets: Final[Mapping[SafeText, JumpTarget]] = dict(zip(make_labels(len(ordered)), ordered, strict=False))
        self._typed = ""

    def on_mount(self) -> None:
        self.focus()
        self.set_timer(MAX_OPEN_S, self.close)

    def render_line(self, y: int) -> Strip:
        """Draw a row of the picture and the labels in it that the typed letters begin."""
        if y >= len(self._picture):
            return Strip.blank(self.size.width, self.rich_style)
        app, width = get_app(self), self.size.width
        if y == self.size.height - 1:
            words = [to_segment(text, self.rich_style + app.role_style(role)) for text, role in _PROMPT]
            return Strip(words).adjust_cell_length(width, self.rich_style)
        style = self.rich_style + app.role_style(ACCENT) + Style(bold=True, reverse=True)
        row, parts, position = self._picture[y], [], 0
        here = sorted(
            (max(0, at.x - len(label)) if at.is_before else at.x, label)
            for label, at in self.targets.items()
            if at.y == y
        )
        for x, label in here:
            if x >= position and label.startswith(self._typed):
                parts += [row.crop(position, x), Strip([to_segment(label, style)])]
                position = x + len(label)
        return Strip.join([*parts, row.crop(position)]).adjust_cell_length(width) if parts else row

    def on_key(self, event: events.Key) -> None:
        """Take letters; every other key ends the labels and does nothing else."""
        event.stop()
        letter = event.key.lower()
        if letter not in LETTERS:
            self.close()
            return
        typed = self._typed + letter
        if typed in self.targets:
            target = self.targets[line(typed)]
            self.close()
            target.go()
        elif any(label.startswith(typed) for label in self.targets):
            self._typed = typed
            self.refresh()

    async def on_click(self, event: events.Click) -> None:
        event.stop()
        self.close()

    def on_blur(self, event: events.Blur) -> None:
        """End if something else took the focus, but not if the terminal lost it."""
        self.call_after_refresh(self._leave_when_left)

    def on_resize(self, event: events.Resize) -> None:
        """End: the picture is of another size."""
        if event.size.height != len(self._picture):
            self.close()


def make_labels(count: int) -> list[SafeText]:
    """Return up to ``count`` labels of one or two letters, the shortest first; none is the beginning of another."""
    longer = min(len(LETTERS), max(0, -(-(count - len(LETTERS)) // (len(LETTERS) - 1))))
    short = len(LETTERS) - longer
    labels = [*LETTERS[:short], *(first + second for first in LETTERS[short:] for second in LETTERS)]
    return [line(label) for label in labels[:count]]


def find_targets(screen: Screen[Any]) -> list[JumpTarget]:
    """Return what is in sight and can be gone to: panes, tabs, links, rows, and other widgets that take the focus."""
    found: dict[tuple[int, int], JumpTarget] = {}
    for widget in screen.query("*"):
        if not widget.display or not widget.region:
            continue
        for target in _targets_of(widget):
            if (target.x, target.y) not in found and _is_in_sight(screen, widget, target):
                found[target.x, target.y] = target
    return list(found.values())


def _targets_of(widget: Widget) -> Iterable[JumpTarget]:
    if isinstance(widget, JumpPlace):
        return widget.jump_targets()
    return [JumpTarget(widget.region.x, widget.region.y, widget.focus)] if widget.focusable else []


def _is_in_sight(screen: Screen[Any], widget: Widget, target: JumpTarget) -> bool:
    try:
        seen, _ = screen.get_widget_at(target.x, target.y)
    except NoWidget:
        return False
    return widget in seen.ancestors_with_self
