"""Lines with links: from a number to the list that it counts, from a name to its record."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from runwatch.base.text import cell_width
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import SafeText, fit, line

MAX_VALUE_CHARACTERS: Final = 400
"""Maximum length of a value in a filter, in characters. For a longer value, only this many are matched."""


@dataclass(frozen=True, slots=True)
class ViewLink:
    """A link to a screen, with a filter of its list or the id of a record to open there."""

    screen: str
    filter: str = ""
    record: str = ""


@dataclass(frozen=True, slots=True)
class LinkSpan:
    """A part of a line, which may be a link."""

    text: SafeText
    role: Role = Role.PLAIN
    way: ViewLink | None = None


LinkedLine = tuple[LinkSpan, ...]


def make_link_span(text: object, role: Role = Role.PLAIN, way: ViewLink | None = None) -> LinkSpan:
    """Make a part of a line from any value, which is cleaned."""
    return LinkSpan(line(text), role, way)


def make_plain_span(text: object) -> LinkSpan:
    return LinkSpan(line(text), Role.QUIET)


def pad_line(part: LinkSpan, cells: int, align: str = "left", mark: str = "…") -> LinkSpan:
    return LinkSpan(fit(part.text, cells, align, mark), part.role, part.way)


def count_cells(parts: LinkedLine) -> int:
    return sum(cell_width(part.text) for part in parts)


def join_lines(parts: Iterable[LinkedLine], between: LinkSpan, cells: int) -> LinkedLine:
    """Join as many lines as fit in a width, with a separator between them."""
    found: LinkedLine = ()
    for part in filter(None, parts):
        longer = (*found, between, *part) if found else part
        if count_cells(longer) > cells:
            break
        found = longer
    return found


def build_equals_filter(field: str, value: str | None) -> str:
    """Return the filter term for rows whose field has exactly this value, or no value if it is ``None``."""
    if value is None:
        return f"!has:{field}"
    is_whole = len(value) <= MAX_VALUE_CHARACTERS
    quoted = value[:MAX_VALUE_CHARACTERS].replace("\\", "\\\\").replace('"', '\\"')
    return f'{field}{"=" if is_whole else ":"}"{quoted}"'
