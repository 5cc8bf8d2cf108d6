"""Lists with facets: counts above the rows, each of which is a filter for one key."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

from textual.widget import Widget

from runwatch.tui.core.key_bindings import make_bindings
from runwatch.tui.core.rendering import label_span
from runwatch.tui.screens.base.resource_screen import ResourceScreen
from runwatch.tui.sources.row_sources import RowSource
from runwatch.tui.widgets.bars.facet_bar import FacetBar
from runwatch.tui.widgets.bars.status_bar import KeyHint
from runwatch.tui.widgets.panes.menu import Menu, MenuItem
from runwatch.view.spec.resource import ResourceSpec
from runwatch.view.table.facets import Facet, FacetValue, count_facets, is_facet_active, toggle_facet
from runwatch.view.table.rows import RecordRow
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import line


class FacetedScreen(ResourceScreen):
    """The screen of a resource whose specification has facets."""

    BINDINGS = make_bindings("screen.facets")

    def __init__(self, spec: ResourceSpec[Any], source: RowSource) -> None:
        super().__init__(spec, source)
        self._counted_of: Sequence[RecordRow[Any]] | None = None
        self._facets: Sequence[Facet] = ()

    def body(self) -> Iterable[Widget]:
        yield FacetBar(id="facets")
        yield from super().body()

    def all_hints(self) -> Sequence[KeyHint]:
        first, *others = super().all_hints()
        return (first, "screen.facets", *others)

    def rows_shown(self) -> None:
        """Count all rows, including those the filter hides."""
        super().rows_shown()
        filter = self.filter_text if self.is_filtered else ""
        self.query_one(FacetBar).show(self._counted(), filter)

    def on_facet_bar_facet_clicked(self, message: FacetBar.FacetClicked) -> None:
        message.stop()
        self._toggle(message.value)

    def action_facets(self) -> None:
        text = self.filter_text
        counted = self._counted()
        if not counted:
            self.notify_user("No rows to count.", Role.WARN)
            return
        widest = max(len(facet.field) for facet in counted)
        items = [
            MenuItem(
                line(f"{facet.field:<{widest}}   {line(value.words, 60)}"),
                partial(self._toggle, value),
                line(f"{value.count}" + ("   on; removes it" if is_facet_active(text, value) else "")),
            )
            for facet in counted
            for value in facet.values
        ]
        self.open_overlay(Menu((label_span("Keep the rows with", Role.PLAIN),), items, id="facet-menu"))

    def _toggle(self, value: FacetValue) -> None:
        self.filter_by(toggle_facet(self.filter_text, value))

    def _counted(self) -> Sequence[Facet]:
        rows: Sequence[RecordRow[Any]] = self._all_rows()
        if self._counted_of is not rows:
            self._counted_of, self._facets = rows, count_facets(rows, self.spec.facets)
        return self._facets
