"""A line above a list that counts its rows by facets; a click on a count keeps just those rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from textual.message import Message

from runwatch.tui.draw import word
from runwatch.tui.kit import kit
from runwatch.tui.themes import ACCENT
from runwatch.tui.widgets.bar import Bar, Part
from runwatch.view.drawn import line
from runwatch.view.facets import Facet, FacetValue, is_on
from runwatch.view.glyphs import Role


class FacetBar(Bar):
    """The line. It takes no focus: a key of the screen opens the same as a menu."""

    DEFAULT_CSS = """
    FacetBar {
        background: $background;
    }
    """

    @dataclass
    class Chosen(Message):
        """A count was chosen.

        Attributes:
            value: What it counts.
        """

        value: FacetValue

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._facets: tuple[Facet, ...] = ()
        self._filter = ""

    def show(self, facets: Sequence[Facet], filter: str) -> None:
        """Count these, and mark what the filter keeps."""
        if (tuple(facets), filter) != (self._facets, self._filter):
            self._facets, self._filter = tuple(facets), filter
            self.refresh()

    def parts(self, width: int) -> tuple[Sequence[Part], Sequence[Part]]:
        """The facets with their counts; those that tell no rows apart come last."""
        app = kit(self)
        ordered = sorted(self._facets, key=lambda facet: len(facet.values) < 2)
        parts: list[Part] = []
        for number, facet in enumerate(ordered):
            parts.append(Part((word(f"{facet.field}:" if number == 0 else f"{app.marks.bar} {facet.field}:"),), gap=1))
            for value in facet.values:
                on = is_on(self._filter, value)
                text = f"{line(value.words, 24)} {value.count}"
                shown = f"[{text}]" if on and app.palette.is_plain else text
                parts.append(Part(((line(shown), ACCENT if on else Role.PLAIN),), target=value, gap=1))
        return parts, ()

    def part_chosen(self, target: object) -> None:
        """Tell the screen what was clicked."""
        if isinstance(target, FacetValue):
            self.post_message(self.Chosen(target))
