"""Lines whose parts lead somewhere: a number to the list that it counts, a name to its record. Pure data."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from runwatch.base.text import cell_width
from runwatch.view.drawn import Drawn, fit, line
from runwatch.view.glyphs import Role

LONGEST_VALUE: Final = 400
"""Characters of a value that a filter asks for; a longer one, which nobody sends on purpose, is asked for by these."""


@dataclass(frozen=True, slots=True)
class Way:
    """Where a spot leads.

    Attributes:
        screen: The screen's name.
        filter: What its list is filtered by; empty for nothing.
        record: The id of the record that is opened there; empty for none.
    """

    screen: str
    filter: str = ""
    record: str = ""


@dataclass(frozen=True, slots=True)
class Spot:
    """A part of a line.

    Attributes:
        text: What it says.
        role: Its colour.
        way: Where it leads; ``None`` for text that only stands there.
    """

    text: Drawn
    role: Role = Role.PLAIN
    way: Way | None = None


SpotLine = tuple[Spot, ...]


def spot(text: object, role: Role = Role.PLAIN, way: Way | None = None) -> Spot:
    """A part of a line from text of any origin, or from what a format gave."""
    return Spot(line(text), role, way)


def quiet(text: object) -> Spot:
    """A label, or the room between two parts."""
    return Spot(line(text), Role.QUIET)


def padded(part: Spot, cells: int, align: str = "left", mark: str = "…") -> Spot:
    """The same in exactly so many cells."""
    return Spot(fit(part.text, cells, align, mark), part.role, part.way)


def cells_of(parts: SpotLine) -> int:
    """How many cells a line takes."""
    return sum(cell_width(part.text) for part in parts)


def in_a_row(parts: Iterable[SpotLine], between: Spot, cells: int) -> SpotLine:
    """Lines as one line with something between them, as many of them as have room in so many cells."""
    found: SpotLine = ()
    for part in filter(None, parts):
        longer = (*found, between, *part) if found else part
        if cells_of(longer) > cells:
            break
        found = longer
    return found


def wanted(field: str, value: str | None) -> str:
    """The part of a filter that keeps rows whose field has exactly this value, or none where that is ``None``."""
    if value is None:
        return f"!has:{field}"
    is_whole = len(value) <= LONGEST_VALUE
    quoted = value[:LONGEST_VALUE].replace("\\", "\\\\").replace('"', '\\"')
    return f'{field}{"=" if is_whole else ":"}"{quoted}"'
