"""The named views of a pane, one of them active."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from textual.message import Message

from runwatch.tui.core.rendering import label_span
from runwatch.tui.core.themes import ACCENT
from runwatch.tui.core.widget_app import get_app
from runwatch.tui.widgets.bars.bar import Bar, BarPart, measure_parts
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import SafeText, line


class TabBar(Bar):
    """The line of tabs; a click activates a view. It takes no focus: keys of the screen step through the views.

    Textual's ``Tabs`` takes two rows, the focus and its arrow keys, and scrolls where this bar narrows the gaps.
    :class:`Bar` is needed for the other bars anyway.
    """

    DEFAULT_CSS = """
    TabBar {
        background: $background;
    }
    """

    @dataclass
    class TabActivated(Message):
        tab: str

    def __init__(self, tabs: Sequence[tuple[str, SafeText]], *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.tabs = tuple(tabs)
        self.active = tabs[0][0]

    def choose(self, tab: str) -> None:
        if tab != self.active:
            self.active = tab
            self.refresh()
            self.post_message(self.TabActivated(tab))

    def step(self, step: int) -> None:
        """Activate the view ``step`` positions further, wrapping around."""
        ids = [tab for tab, _ in self.tabs]
        self.choose(ids[(ids.index(self.active) + step) % len(ids)])

    def parts(self, width: int) -> tuple[Sequence[BarPart], Sequence[BarPart]]:
        """Return the labels, with rules between them if there is room.

        The active label has the accent color, or brackets on a terminal without colors.
        """
        app = get_app(self)
        parts: list[BarPart] = []
        for number, (tab, label) in enumerate(self.tabs):
            if number:
                parts.append(BarPart((label_span(app.chrome_glyphs.bar),), gap=1))
            is_active = tab == self.active
            shown = line(f"[{label}]") if is_active and app.palette.is_plain else label
            parts.append(BarPart(((shown, ACCENT if is_active else Role.QUIET),), target=tab, gap=1))
        if measure_parts(parts) <= width:
            return parts, ()
        labels = [part for part in parts if part.target is not None]
        gap = 2 if measure_parts(labels) + len(labels) - 1 <= width else 1
        return self._whole_around_active([part._replace(gap=gap) for part in labels], width), ()

    def _whole_around_active(self, labels: Sequence[BarPart], width: int) -> list[BarPart]:
        """Return the labels that fit whole, the active one among them; a mark leads to the next one on each side."""
        mark = (label_span(get_app(self).glyphs.ellipsis),)
        active = next(index for index, part in enumerate(labels) if part.target == self.active)

        def window(start: int, end: int) -> list[BarPart]:
            before = [BarPart(mark, target=labels[start - 1].target, gap=1)] if start else []
            after = [BarPart(mark, target=labels[end].target, gap=1)] if end < len(labels) else []
            return [*before, *labels[start:end], *after]

        start = 0
        while start < active and measure_parts(window(start, active + 1)) > width:
            start += 1
        end = active + 1
        while end < len(labels) and measure_parts(window(start, end + 1)) <= width:
            end += 1
        return window(start, end)

    def part_clicked(self, target: object) -> None:
        self.choose(str(target))
