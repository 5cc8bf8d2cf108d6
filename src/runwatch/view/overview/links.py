"""Lines whose parts lead somewhere: a number to the list that it counts, a name to its record. Pure data."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from runwatch.base.text import cell_width
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import SafeText, fit, line

MAX_VALUE_CHARACTERS: Final = 400
"""Characters of a value that a filter asks for; a longer one, which nobody sends on purpose, is asked for by these."""


@dataclass(frozen=True, slots=True)
class ViewLink:
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
class LinkSpan:
    """A part of a line.

    Attributes:
        text: What it says.
        role: Its colour.
        way: Where it leads; ``None`` for text that only stands there.
    """

    text: SafeText
    role: Role = Role.PLAIN
    way: ViewLink | None = None


LinkedLine = tuple[LinkSpan, ...]


def make_link_span(text: object, role: Role = Role.PLAIN, way: ViewLink | None = None) -> LinkSpan:
    """A part of a line from text of any origin, or from what a format gave."""
    return LinkSpan(line(text), role, way)


def make_plain_span(text: object) -> LinkSpan:
    """A label, or the room between two parts."""
    return LinkSpan(line(text), Role.QUIET)


def pad_line(part: LinkSpan, cells: int, align: str = "left", mark: str = "…") -> LinkSpan:
    """The same in exactly so many cells."""
    return LinkSpan(fit(part.text, cells, align, mark), part.role, part.way)


def count_cells(parts: LinkedLine) -> int:
    """How many cells a line takes."""
    return sum(cell_width(part.text) for part in parts)


def join_lines(parts: Iterable[LinkedLine], between: LinkSpan, cells: int) -> LinkedLine:
    """Lines as one line with something between them, as many of them as have room in so many cells."""
    found: LinkedLine = ()
    for part in filter(None, parts):
        longer = (*found, between, *part) if found else part
        if count_cells(longer) > cells:
            break
        found = longer
    return found


def build_equals_filter(field: str, value: str | None) -> str:
    """The part of a filter that keeps rows whose field has exactly this value, or none where that is ``None``."""
    if value is None:
        return f"!has:{field}"
    is_whole = len(value) <= MAX_VALUE_CHARACTERS
    quoted = value[:MAX_VALUE_CHARACTERS].replace("\\", "\\\\").replace('"', '\\"')
    return f'{field}{"=" if is_whole else ":"}"{quoted}"'
