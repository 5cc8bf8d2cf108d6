"""Lists with facets: counts above the rows, each of which is a filter of one key."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

from textual.binding import BindingType
from textual.widget import Widget

from runwatch.tui.actions import bindings
from runwatch.tui.draw import word
from runwatch.tui.screens.resource import ResourceScreen
from runwatch.tui.sources import Source
from runwatch.tui.widgets.facet_bar import FacetBar
from runwatch.tui.widgets.menu import Menu, MenuItem
from runwatch.tui.widgets.status_line import Hint
from runwatch.view.drawn import line
from runwatch.view.facets import Facet, FacetValue, facets, is_on, toggled
from runwatch.view.glyphs import Role
from runwatch.view.resource import ResourceSpec
from runwatch.view.table import Row


class FacetedScreen(ResourceScreen):
    """The screen of a resource whose rows are counted by the facets of its specification."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("screen", only=("screen.facets",))

    def __init__(self, spec: ResourceSpec[Any], source: Source) -> None:
        super().__init__(spec, source)
        self._counted_of: Sequence[Row[Any]] | None = None
        self._facets: Sequence[Facet] = ()

    def body(self) -> Iterable[Widget]:
        """The counts above the panes."""
        yield FacetBar(id="facets")
        yield from super().body()

    def hints(self) -> Sequence[Hint]:
        """The facets stand beside the filter."""
        first, *others = super().hints()
        return (first, "screen.facets", *others)

    def rows_shown(self) -> None:
        """Count all rows that there are, whatever the filter leaves out."""
        super().rows_shown()
        filter = self.filter_text if self.is_filtered else ""
        self.query_one(FacetBar).show(self._counted(), filter)

    def on_facet_bar_chosen(self, message: FacetBar.Chosen) -> None:
        """Keep the rows that were clicked, or all again."""
        message.stop()
        self._toggle(message.value)

    def action_facets(self) -> None:
        """Choose which rows to keep, by what they have in common."""
        text = self.filter_text
        counted = self._counted()
        if not counted:
            self.say("There are no rows to be counted.", Role.WARN)
            return
        widest = max(len(facet.field) for facet in counted)
        items = [
            MenuItem(
                line(f"{facet.field:<{widest}}   {line(value.words, 60)}"),
                value,
                line(f"{value.count}" + ("   on; takes it away" if is_on(text, value) else "")),
            )
            for facet in counted
            for value in facet.values
        ]
        self.put_over(Menu((word("Keep the rows with", Role.PLAIN),), items, id="facet-menu"))

    async def take_choice(self, target: object) -> None:
        """Keep what was chosen in the menu of facets."""
        if isinstance(target, FacetValue):
            self._toggle(target)
        else:
            await super().take_choice(target)

    def _toggle(self, value: FacetValue) -> None:
        self.filter_by(toggled(self.filter_text, value))

    def _counted(self) -> Sequence[Facet]:
        rows: Sequence[Row[Any]] = self._all_rows()
        if self._counted_of is not rows:
            self._counted_of, self._facets = rows, facets(rows, self.spec.facets)
        return self._facets
