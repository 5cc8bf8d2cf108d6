"""The second line of a screen: the way to what is shown, and the filter that is on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from runwatch.tui.draw import Pieces, pieces_of, word
from runwatch.tui.kit import kit
from runwatch.tui.messages import FromWidget
from runwatch.tui.widgets.bar import Bar, Part, width_of
from runwatch.view.drawn import Drawn, cut, line
from runwatch.view.glyphs import Role


@dataclass(eq=False, repr=False)
class CrumbChosen(FromWidget):
    """A person clicked a level of the path above the panes.

    Attributes:
        level: The level, counted from 0.
    """

    widget: CrumbBar
    level: int


class CrumbBar(Bar):
    """The line; a click on a level asks for it."""

    DEFAULT_CSS = """
    CrumbBar {
        background: $background;
    }
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._levels: tuple[Drawn, ...] = ()
        self._filter: Pieces = line("")

    def show(self, levels: Sequence[Drawn], filter: Pieces | None = None) -> None:
        """Say where we are and what is filtered by."""
        self._levels = tuple(levels)
        self._filter = line("") if filter is None else filter
        self.refresh()

    def parts(self, width: int) -> tuple[Sequence[Part], Sequence[Part]]:
        """The levels, outer ones left out where there is no room; the filter gets half of the line at most."""
        app = kit(self)
        right = self._filter_parts(width // 2)
        first = 0
        left = self._level_parts(first)
        while first < len(self._levels) - 1 and width_of(left) + 3 + width_of(right) > width:
            first += 1
            left = [Part((word(app.glyphs.ellipsis),)), *self._level_parts(first)]
        return left, right

    def part_chosen(self, target: object) -> None:
        """Ask for the level."""
        assert isinstance(target, int)
        self.post_message(CrumbChosen(self, target))

    def _level_parts(self, first: int) -> list[Part]:
        crumb = Part((word(kit(self).marks.crumb),), gap=1)
        parts: list[Part] = []
        for number, level in enumerate(self._levels[first:], first):
            if number:
                parts.append(crumb)
            role = Role.PLAIN if number == len(self._levels) - 1 else Role.QUIET
            parts.append(Part(((level, role),), target=number, gap=1))
        return parts

    def _filter_parts(self, room: int) -> list[Part]:
        pieces: list[tuple[Drawn, str]] = []
        for text, role in pieces_of(self._filter):
            shown = cut(text, max(0, room - Part(tuple(pieces)).width), kit(self).glyphs.ellipsis)
            pieces.append((shown, role))
        return [Part(tuple(pieces))] if any(text for text, _ in pieces) else []
