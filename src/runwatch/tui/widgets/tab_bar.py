"""The views of one pane by name, one of them chosen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from textual.message import Message

from runwatch.tui.draw import word
from runwatch.tui.kit import kit
from runwatch.tui.themes import ACCENT
from runwatch.tui.widgets.bar import Bar, Part, width_of
from runwatch.view.drawn import Drawn, line
from runwatch.view.glyphs import Role


class TabBar(Bar):
    """The line; a click chooses a view. It takes no focus: keys of the screen step through the views.

    Args:
        tabs: Id and label of each view.
        id: The widget's id.
    """

    DEFAULT_CSS = """
    TabBar {
        background: $background;
    }
    """

    @dataclass
    class Chosen(Message):
        """A view was chosen.

        Attributes:
            bar: The bar.
            tab: The view's id.
        """

        bar: TabBar
        tab: str

        @property
        def control(self) -> TabBar:
            """The bar."""
            return self.bar

    def __init__(self, tabs: Sequence[tuple[str, Drawn]], *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._tabs = tuple(tabs)
        self._active = tabs[0][0]

    @property
    def active(self) -> str:
        """The chosen view's id."""
        return self._active

    def choose(self, tab: str) -> None:
        """Choose a view."""
        if tab != self._active:
            self._active = tab
            self.refresh()
            self.post_message(self.Chosen(self, tab))

    def step(self, step: int) -> None:
        """Choose the view that stands ``step`` further, round the end."""
        ids = [tab for tab, _ in self._tabs]
        self.choose(ids[(ids.index(self._active) + step) % len(ids)])

    def parts(self, width: int) -> tuple[Sequence[Part], Sequence[Part]]:
        """The labels with rules between them, where there is room for rules.

        The chosen one stands in the accent, and between brackets without colour.
        """
        app = kit(self)
        parts: list[Part] = []
        for number, (tab, label) in enumerate(self._tabs):
            if number:
                parts.append(Part((word(app.marks.bar),), gap=1))
            is_active = tab == self._active
            shown = line(f"[{label}]") if is_active and app.palette.is_plain else label
            parts.append(Part(((shown, ACCENT if is_active else Role.QUIET),), target=tab, gap=1))
        if width_of(parts) <= width:
            return parts, ()
        labels = [part for part in parts if part.target is not None]
        gap = 2 if width_of(labels) + len(labels) - 1 <= width else 1
        return [part._replace(gap=gap) for part in labels], ()

    def part_chosen(self, target: object) -> None:
        """Choose what was clicked."""
        self.choose(str(target))
