"""A line above a list with row counts by facet. Clicking a count filters the list."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from runwatch.tui.core.rendering import label_span
from runwatch.tui.core.themes import ACCENT
from runwatch.tui.core.widget_app import get_app
from runwatch.tui.widgets.bars.bar import Bar, BarPart, measure_parts
from runwatch.view.table.facets import Facet, FacetValue, is_facet_active
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import line


class FacetBar(Bar):
    """The facet line. It takes no focus: a key of the screen opens the same choices as a menu."""

    DEFAULT_CSS = """
    FacetBar {
        background: $background;
    }
    """

    _facets: tuple[Facet, ...] = ()
    _filter = ""

    def __init__(self, clicked: Callable[[FacetValue], object]) -> None:
        super().__init__(id="facets")
        self._clicked = clicked

    def show(self, facets: Sequence[Facet], filter: str) -> None:
        """Show these counts, and mark the ones the filter selects."""
        if (tuple(facets), filter) != (self._facets, self._filter):
            self._facets, self._filter = tuple(facets), filter
            self.refresh()

    def parts(self, width: int) -> tuple[Sequence[BarPart], Sequence[BarPart]]:
        """Return the facets with their counts, facets with a single value last, and the number of counts left out."""
        app = get_app(self)
        ordered = sorted(self._facets, key=lambda facet: len(facet.values) < 2)
        parts: list[BarPart] = []
        for number, facet in enumerate(ordered):
            parts.append(
                BarPart(
                    (label_span(f"{facet.title}:" if number == 0 else f"{app.chrome_glyphs.bar} {facet.title}:"),),
                    gap=1,
                )
            )
            for value in facet.values:
                on = is_facet_active(self._filter, value)
                text = f"{line(value.text, 24)} {value.count}"
                shown = f"[{text}]" if on and app.palette.is_plain else text
                parts.append(BarPart(((line(shown), ACCENT if on else Role.PLAIN),), target=value, gap=1))
        kept, rest = len(parts), parts[:0]
        while kept and measure_parts([*parts[:kept], *rest]) > width:
            kept -= 1
            while kept and parts[kept - 1].target is None:
                kept -= 1
            rest = [BarPart((label_span(f"+{sum(part.target is not None for part in parts[kept:])}"),))]
        return [*parts[:kept], *rest], ()

    def part_clicked(self, target: object) -> None:
        if isinstance(target, FacetValue):
            self._clicked(target)
