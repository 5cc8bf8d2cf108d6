"""Editable regions of skills: the text between a line ``[[region:NAME]]`` and a line ``[[/region:NAME]]``. Pure.

The specification says that a skill has editable regions, not how its text marks them; the marks are this service's own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple


class Region(NamedTuple):
    """An editable region.

    Attributes:
        name: Its name.
        start: Where its text begins in the skill's content.
        end: Where its text ends.
        text: Its text.
    """

    name: str
    start: int
    end: int
    text: str


def find_region(content: str, name: str) -> Region | None:
    """The region of this name, ``None`` when the content does not mark it."""
    mark = re.escape(name)
    match = re.search(rf"^\[\[region:{mark}\]\][ \t]*\n(.*?)^\[\[/region:{mark}\]\]", content, re.DOTALL | re.MULTILINE)
    return None if match is None else Region(name, match.start(1), match.end(1), match[1])


def missing_regions(content: str, names: Iterable[str]) -> list[str]:
    """The declared regions that the content does not mark."""
    return [name for name in names if find_region(content, name) is None]
