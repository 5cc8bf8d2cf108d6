"""Editable regions of skills: the text between lines ``[[region:NAME]]`` and ``[[/region:NAME]]``. No side effects.

The specification gives skills editable regions but no markup for them; this markup is the service's own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple


class Region(NamedTuple):
    """An editable region.

    Attributes:
        start: Start of its text in the skill's content.
        end: End of its text.
    """

    name: str
    start: int
    end: int
    text: str


def find_region(content: str, name: str) -> Region | None:
    """Return the named region, or ``None`` when the content does not mark it."""
    mark = re.escape(name)
    match = re.search(rf"^\[\[region:{mark}\]\][ \t]*\n(.*?)^\[\[/region:{mark}\]\]", content, re.DOTALL | re.MULTILINE)
    return None if match is None else Region(name, match.start(1), match.end(1), match[1])


def missing_regions(content: str, names: Iterable[str]) -> list[str]:
    """Return the declared regions that the content does not mark."""
    return [name for name in names if find_region(content, name) is None]
