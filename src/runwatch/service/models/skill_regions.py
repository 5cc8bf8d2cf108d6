"""Editable regions of skills: the text between lines ``[[region:NAME]]`` and ``[[/region:NAME]]``. No side effects.

The specification gives skills editable regions but no markup for them; this markup is the service's own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple


class Region(NamedTuple):
    name: str
    start: int
    end: int
    text: str


def find_region(content: str, name: str) -> Region | None:
    """Return the named region, or ``None`` when the content does not mark it."""
    mark = re.escape(name)
    match = re.search(rf"{_opening(name)}\n(.*?)^\[\[/region:{mark}\]\]", content, re.DOTALL | re.MULTILINE)
    return None if match is None else Region(name, match.start(1), match.end(1), match[1])


def describe_missing_regions(content: str, names: Iterable[str]) -> str | None:
    """Describe which declared regions the content does not mark, and the exact lines that it lacks."""
    missing = [name for name in names if find_region(content, name) is None]
    unclosed = [name for name in missing if re.search(_opening(name), content, re.MULTILINE)]
    said = [f"The region {name!r} has no closing line [[/region:{name}]] after its text." for name in unclosed]
    unmarked = [name for name in missing if name not in unclosed]
    if unmarked:
        said.append(
            f"The text does not mark these editable regions: {', '.join(map(repr, unmarked))}. A region begins with a"
            f" line [[region:{unmarked[0]}]] and ends with a line [[/region:{unmarked[0]}]]."
        )
    return " ".join(said) or None


def _opening(name: str) -> str:
    return rf"^\[\[region:{re.escape(name)}\]\][ \t\r]*$"
