"""The line of pins: numbered tabs, each with a mark if it changed since one looked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from runwatch.tui.core.rendering import StyledSpan, label_span
from runwatch.tui.core.themes import ACCENT
from runwatch.tui.core.widget_app import get_app
from runwatch.tui.widgets.bars.bar import Bar, BarPart, measure_parts
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import SafeText, best_cut, elide_middle, elide_start, line, truncate

_LABEL_CELLS: Final = range(32, 2, -1)
"""Widths of a short label to try, the widest first; with the last one also marks that follow their numbers at once.
Below it, only numbers and marks are left.
"""

_LEAST_BOTH_ENDS: Final = 6
"""Below this width, the end of an id says more than a cell of its kind and a mark."""

CHANGED: Final = "±"
"""Before a pin that changed. No state of a run has this glyph: what changed may have ended."""


class PinTab(NamedTuple):
    """A pin as a tab.

    Attributes:
        number: From 1.
        label: Shown where all tabs have room for theirs.
        short_label: The label without the kind of a record; cut if there is less room.
        is_active: Whether it is what is looked at.
        is_changed: Whether it changed since one looked.
        is_gone: Whether its record does not exist any more.
    """

    number: int
    label: SafeText
    short_label: SafeText
    is_active: bool = False
    is_changed: bool = False
    is_gone: bool = False


class PinBar(Bar):
    """The line of pins; a click goes to one. It takes no focus."""

    DEFAULT_CSS = """
    PinBar {
        background: $background;
        &.-empty {
            display: none;
        }
    }
    """

    def __init__(self, tabs: Sequence[PinTab], *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._tabs = tuple(tabs)

    def show(self, tabs: Sequence[PinTab]) -> None:
        if self._tabs != tuple(tabs):
            self._tabs = tuple(tabs)
            self.set_class(not tabs, "-empty")
            self.refresh()

    def parts(self, width: int) -> tuple[Sequence[BarPart], Sequence[BarPart]]:
        """Return the tabs, with labels as wide as there is room for."""
        mark = get_app(self).glyphs.ellipsis
        parts = [self._part(tab, tab.label) for tab in self._tabs]
        for cells, is_close in (*((cells, False) for cells in _LABEL_CELLS), (_LABEL_CELLS[-1], True), (0, False)):
            if measure_parts(parts) <= width:
                break
            labels, cuts = [tab.short_label for tab in self._tabs], [elide_middle, elide_start, truncate]
            if cells < _LEAST_BOTH_ENDS:
                labels, cuts = [line(label.rpartition(mark)[2]) for label in labels], cuts[1:]
            cut = best_cut(labels, cells, mark, *cuts)
            parts = [
                self._part(tab, cut(label, cells, mark) if cells else None, is_close=is_close)
                for tab, label in zip(self._tabs, labels, strict=True)
            ]
        return parts, ()

    def part_clicked(self, target: object) -> None:
        self.call_later(self.run_action, f"app.go_to_pin({target})")

    def _part(self, tab: PinTab, label: SafeText | None, *, is_close: bool = False) -> BarPart:
        app = get_app(self)
        role = ACCENT if tab.is_active else Role.QUIET
        number = f"[{tab.number}]" if tab.is_active and app.palette.is_plain else str(tab.number)
        pieces: list[StyledSpan] = [label_span(number, role)]
        if tab.is_gone:
            pieces.append(label_span(f" {app.glyphs.bad} gone", Role.BAD))
        elif tab.is_changed:
            pieces.append(label_span(f"{'' if is_close else ' '}{app.glyphs.plain(CHANGED)}", Role.WARN))
        if label:
            pieces.append((line(f" {label}"), ACCENT if tab.is_active else Role.PLAIN))
        return BarPart(tuple(pieces), target=tab.number, gap=2)
