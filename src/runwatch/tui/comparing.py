"""Comparing two records of a list, or any two pieces of JSON: the left side is chosen first, then the right one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from runwatch.view.drawn import Drawn, line
from runwatch.view.format import short_id
from runwatch.view.glyphs import Role

if TYPE_CHECKING:
    from runwatch.tui.screens.base import ConsoleScreen
    from runwatch.tui.screens.list_screen import ListScreen
    from runwatch.view.table import Row


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a comparison.

    Attributes:
        title: What it is, for the head of its column.
        raw: Its decoded JSON.
    """

    title: Drawn
    raw: Mapping[str, Any]


def compare_rows(screen: ListScreen) -> None:
    """Choose the row under the cursor as the left side; on another row, compare the two.

    Two marked rows are compared at once, and the same row a second time is taken back.
    """
    row, left = screen.row, screen.compared
    marked = [one for one in screen.chosen() if one.key in screen.table.marks]
    if row is None:
        screen.say("There is nothing to compare.", Role.WARN)
    elif len(marked) == 2:
        _compare(screen, *marked)
    elif left is None:
        screen.compared = row
        screen.show_hints()
        key = screen.console.keys.shown("screen.compare")
        screen.say(f"left side {_name(screen, row)}; {key} on another row compares")
    elif left.key == row.key:
        take_back(screen)
    else:
        screen.compared = None
        _compare(screen, left, row)


def take_back(screen: ListScreen) -> None:
    """Choose no left side any more."""
    screen.compared = None
    screen.show_hints()
    screen.say("The left side is taken back.")


def open_comparison(screen: ConsoleScreen, left: Side, right: Side) -> None:
    """Show two pieces of JSON beside each other, in front of a screen."""
    from runwatch.tui.screens.compare import CompareScreen

    screen.app.push_screen(CompareScreen(left, right, screen.crumbs()))


def _compare(screen: ListScreen, left: Row[Any], right: Row[Any]) -> None:
    open_comparison(screen, *(Side(_name(screen, row), row.subject.raw) for row in (left, right)))


def _name(screen: ListScreen, row: Row[Any]) -> Drawn:
    return line(f"{screen.spec.singular} {short_id(row.id, screen.console.glyphs)}")
