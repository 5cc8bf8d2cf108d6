"""A decoded JSON value as the lines of a tree, whatever its shape: nothing is left out, however deep it stands."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from runwatch.view.text.json_paths import JsonPath
from runwatch.view.text.safe_text import json_text

MAX_INLINE_CHARS: Final = 60
"""A list of plain values stays on one line up to so many characters; a longer one has a line for each."""


@dataclass(frozen=True, slots=True)
class JsonNode:
    """A member of an object or an item of a list.

    Attributes:
        path: Where it stands, from the outermost value on.
        value: It, decoded.
        level: How many others it stands in below the outermost value.
        is_head: Whether what is in it follows, a level deeper.
    """

    path: JsonPath
    value: Any
    level: int
    is_head: bool

    @property
    def name(self) -> str:
        """The member's name as it came, or the item's place in brackets."""
        last = self.path[-1]
        return f"[{last}]" if isinstance(last, int) else last


def walk_json(value: Any, path: JsonPath = ()) -> Iterator[JsonNode]:
    """What an object or a list has in it, each before what is in it itself; nothing for another value.

    It needs no more of the interpreter's stack for a deeper value.

    Args:
        value: A decoded JSON value.
        path: Where it stands.
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
