"""Shapes of JSON values: the least that a value has to have, written the way the value looks.

``str``, ``int``, ``float``, ``bool`` and ``None`` stand for such a value (``float`` for any number), ``object`` for
anything, a set for one of its words, a pattern for a text that it matches, a tuple for any of its shapes, ``[shape]``
for a list, and a mapping for an object with these members at least; a name that ends in ``?`` may be missing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

Shape = Any
"""See the module."""

TIME: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)")
"""An ISO 8601 timestamp with its zone."""

DAY: Final = re.compile(r"\d{4}-\d\d-\d\d")
"""A day."""


def words(*values: str) -> frozenset[str]:
    return frozenset(values)


def flaws(value: Any, shape: Shape, place: str = "body") -> Iterator[str]:
    """What about a value is not as its shape says, each with its place."""
    if shape is object:
        return
    if isinstance(shape, tuple):
        if all(any(True for _ in flaws(value, one)) for one in shape):
            # The last shape is the one that is worth explaining; the others are the exceptions, such as null.
            yield from flaws(value, shape[-1], place)
    elif isinstance(shape, Mapping):
        if not isinstance(value, dict):
            yield f"{place} is no object"
            return
        for member, inner in shape.items():
            name = member.removesuffix("?")
            if name in value:
                yield from flaws(value[name], inner, f"{place}.{name}")
            elif name == member:
                yield f"{place}.{name} is missing"
    elif isinstance(shape, list):
        if not isinstance(value, list):
            yield f"{place} is not a list"
            return
        for position, item in enumerate(value):
            yield from flaws(item, shape[0], f"{place}[{position}]")
    elif not _is_of(value, shape):
        yield f"{place} is {value!r}"


def _is_of(value: Any, shape: Shape) -> bool:
    if shape is None:
        return value is None
    if isinstance(shape, frozenset):
        return isinstance(value, str) and value in shape
    if isinstance(shape, re.Pattern):
        return isinstance(value, str) and shape.fullmatch(value) is not None
    if shape is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    if shape is int:
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, shape)


Place = tuple[str | int, ...]
"""Where in a value something is: names of members and positions in lists, from the outside in."""


def places(shape: Shape, at: Place = ()) -> Iterator[tuple[Place, Shape, bool]]:
    """Every member that a shape names: its place, its shape, and whether it is required.

    Of a list the first item is named, and of a choice of shapes the members of the last.
    """
    if isinstance(shape, tuple):
        yield from places(shape[-1], at)
    elif isinstance(shape, Mapping):
        for member, inner in shape.items():
            place = (*at, member.removesuffix("?"))
            yield place, inner, not member.endswith("?")
            yield from places(inner, place)
    elif isinstance(shape, list):
        yield (*at, 0), shape[0], False
        yield from places(shape[0], (*at, 0))


def has(value: Any, place: Place) -> bool:
    for part in place:
        if isinstance(part, int):
            if not isinstance(value, list) or len(value) <= part:
                return False
        elif not isinstance(value, dict) or part not in value:
            return False
        value = value[part]
    return True


def replaced(value: Any, place: Place, new: Any) -> Any:
    """A copy of a value with something else at a place."""
    if not place:
        return new
    part, *rest = place
    copy = list(value) if isinstance(part, int) else dict(value)
    copy[part] = replaced(copy[part] if has(value, (part,)) else {}, tuple(rest), new)  # type: ignore[index]
    return copy


def without(value: Any, place: Place) -> Any:
    """A copy of a value without the member at a place."""
    *outer, last = place
    inner = value
    for part in outer:
        inner = inner[part]
    return replaced(value, tuple(outer), {name: kept for name, kept in inner.items() if name != last})


def field_of(place: Place) -> str:
    """A place as the field of a Problem names it."""
    text = ""
    for part in place:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text
