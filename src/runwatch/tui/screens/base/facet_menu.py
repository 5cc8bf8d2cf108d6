"""The menu of facets: the values that rows share, each of which is a filter for one key."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Final

from runwatch.tui.core.rendering import label_span
from runwatch.tui.core.time_slices import run_in_slices
from runwatch.tui.widgets.panes.menu import Menu, MenuItem
from runwatch.view.table.facets import Facet, FacetCounts, FacetValue, is_facet_active, toggle_facet
from runwatch.view.text.format import grouped_number
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import line

if TYPE_CHECKING:
    from runwatch.tui.shell.record_screen import RecordScreen

MAX_COUNTED_ROWS: Final = 20_000
"""Rows of which values are counted, the first of the list; more would let the user wait."""

MAX_VALUES: Final = 30
"""Values of a facet in the menu, the most frequent ones."""


def open_facet_menu(screen: RecordScreen) -> None:
    """Count the rows by value, including those that the filter hides, and open the menu."""
    if not screen.all_rows():
        screen.notify_user("No rows to count.", Role.WARN)
    else:
        screen.open_overlay_when_loaded(partial(_make_menu, screen), "counting values")


async def _make_menu(screen: RecordScreen) -> Menu:
    rows = screen.all_rows()
    counts = FacetCounts(screen.spec.facets)
    await run_in_slices(rows[:MAX_COUNTED_ROWS], counts.add)
    facets = counts.facets()
    widest = max(len(facet.title) for facet in facets)
    digits = max(len(str(value.count)) for facet in facets for value in facet.values)
    items = [item for facet in facets for item in _items(screen, facet, widest, digits)]
    more = f" (counted in the first {grouped_number(MAX_COUNTED_ROWS)})" if len(rows) > MAX_COUNTED_ROWS else ""
    return Menu((label_span(f"Keep the rows with{more}", Role.PLAIN),), items, id="facet-menu")


def _items(screen: RecordScreen, facet: Facet, widest: int, digits: int) -> Iterator[MenuItem]:
    text = screen.filter_text
    for value in facet.values[:MAX_VALUES]:
        yield MenuItem(
            line(f"{facet.title:<{widest}}   {line(value.text, 60)}"),
            partial(toggle_value, screen, value),
            line(f"{value.count:>{digits}}" + ("   on; removes it" if is_facet_active(text, value) else "")),
        )
    rest = len(facet.values) - MAX_VALUES
    if rest > 0:
        key = screen.console.keys.shown("screen.filter")
        yield MenuItem(
            line(f"{facet.title:<{widest}}   {grouped_number(rest)} more"),
            lambda: None,
            disabled_reason=line(f"{key} {facet.field}=VALUE filters by one of them"),
        )


def toggle_value(screen: RecordScreen, value: FacetValue) -> None:
    """Filter by a value, or no longer."""
    screen.filter_by(toggle_facet(screen.filter_text, value))
