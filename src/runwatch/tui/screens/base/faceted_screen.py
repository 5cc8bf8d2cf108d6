"""Lists with facets: counts above the rows, each of which is a filter for one key."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from textual.widget import Widget

from runwatch.tui.screens.base.facet_menu import toggle_value
from runwatch.tui.screens.base.resource_screen import ResourceScreen
from runwatch.tui.sources.row_sources import RowSource
from runwatch.tui.widgets.bars.facet_bar import FacetBar
from runwatch.tui.widgets.bars.status_bar import KeyHint
from runwatch.view.spec.resource import ResourceSpec
from runwatch.view.table.facets import Facet, count_facets
from runwatch.view.table.rows import RecordRow
from runwatch.view.text.safe_text import SafeText, line

if TYPE_CHECKING:
    from runwatch.view.query.expressions import Term


MAX_SUGGESTED_VALUES: Final = 3
"""So many values are named where a word finds no row."""


class FacetedScreen(ResourceScreen):
    """The screen of a resource whose few rows are counted by their facets, above them."""

    def __init__(self, spec: ResourceSpec[Any], source: RowSource) -> None:
        super().__init__(spec, source)
        self._counted_of: Sequence[RecordRow[Any]] | None = None
        self._facets: Sequence[Facet] = ()

    def body(self) -> Iterable[Widget]:
        yield FacetBar(partial(toggle_value, self))
        yield from super().body()

    def all_hints(self) -> Sequence[KeyHint]:
        first, *others = super().all_hints()
        return (first, "screen.facets", *others)

    def rows_shown(self, *, keeps_detail: bool) -> None:
        """Count all rows, including those the filter hides."""
        super().rows_shown(keeps_detail=keeps_detail)
        filter = self.filter_text if self.is_filtered else ""
        self.query_one(FacetBar).show(self._counted(), filter)

    def suggested_filters(self, term: Term) -> tuple[SafeText, ...]:
        """Name the counted values that contain a word, if it is the whole filter, with the filter that finds their
        rows.
        """
        from runwatch.view.query.expressions import AllOf, ContainsText

        only = term.terms[0] if isinstance(term, AllOf) and len(term.terms) == 1 else term
        word = only.text.casefold() if isinstance(only, ContainsText) else ""
        values = [
            value for facet in self._counted() for value in facet.values if word and word in value.text.casefold()
        ]
        found = (line(f"{value.term} finds {value.count}") for value in values[:MAX_SUGGESTED_VALUES])
        return (*found, *super().suggested_filters(term))

    def _counted(self) -> Sequence[Facet]:
        rows: Sequence[RecordRow[Any]] = self.all_rows()
        if self._counted_of is not rows:
            self._counted_of, self._facets = rows, count_facets(rows, self.spec.facets)
        return self._facets
