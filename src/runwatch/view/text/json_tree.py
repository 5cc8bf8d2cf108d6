"""Lines of a tree for any decoded JSON value. Nothing is left out, at any depth."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from runwatch.view.text.json_paths import JsonPath
from runwatch.view.text.safe_text import json_text

MAX_INLINE_CHARS: Final = 60
"""A list of plain values up to this many characters stays on one line; a longer one gets a line for each value."""


@dataclass(frozen=True, slots=True)
class JsonNode:
    """A member of an object or an item of a list, at a depth from 0; the contents of a head follow one level deeper."""

    path: JsonPath
    value: Any
    level: int
    is_head: bool

    @property
    def name(self) -> str:
        """The member's name as sent, or the item's position in brackets."""
        last = self.path[-1]
        return f"[{last}]" if isinstance(last, int) else last


def walk_json(value: Any, path: JsonPath = ()) -> Iterator[JsonNode]:
    """Yield the contents of an object or list, parents before children; nothing for other values.

    Iterative: stack use does not grow with depth.
    """
    open_ones = [(path, _inside(value))]
    while open_ones:
        around, rest = open_ones[-1]
        found = next(rest, None)
        if found is None:
            open_ones.pop()
            continue
        name, inner = found
        node = JsonNode((*around, name), inner, len(open_ones) - 1, _is_taken_apart(inner))
        yield node
        if node.is_head:
            open_ones.append((node.path, _inside(inner)))


def _inside(value: Any) -> Iterator[tuple[str | int, Any]]:
    if isinstance(value, Mapping):
        return iter([(str(name), item) for name, item in value.items()])
    return iter(enumerate(value if isinstance(value, list) else ()))


def _is_taken_apart(value: Any) -> bool:
    if isinstance(value, list) and not any(isinstance(item, (Mapping, list)) for item in value):
        return sum(len(json_text(item)) + 4 for item in value[:MAX_INLINE_CHARS]) > MAX_INLINE_CHARS
    return isinstance(value, (Mapping, list)) and bool(value)
