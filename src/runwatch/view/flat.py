"""Nested JSON by dotted paths: for CSV heads, ``--fields``, filters and details.

A dot, a bracket or a backslash inside a member name is written with a backslash before it, so that two paths are never
spelled the same; an array's item has its position in brackets.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from runwatch.records.record import Record

Path = tuple[str | int, ...]
"""Member names and positions, from the outside in; the first one is a name."""

DEPTH: Final = 12
"""How deep objects are taken apart; what lies deeper stays together as JSON."""

MISSING: Final = object()
"""What a path gives where there is no such member; something else than ``null``."""

_SPECIAL: Final = re.compile(r"[\\.\[]")
_PART: Final = re.compile(r"((?:[^.\\\[]|\\.)*)((?:\[[0-9]{1,9}\])*)", re.DOTALL)


def escape(name: str) -> str:
    """A member name as it stands in a dotted path."""
    return _SPECIAL.sub(r"\\\g<0>", name) if _SPECIAL.search(name) else name


def spell(path: Path) -> str:
    """A path in words: ``slices[0].cost.usd``."""
    text = ""
    for number, part in enumerate(path):
        text += f"[{part}]" if isinstance(part, int) else f".{escape(part)}" if number else escape(part)
    return text


def split(path: str) -> Path:
    """A path in words as its parts; what :func:`spell` has written comes back as it was."""
    if not _SPECIAL.search(path):
        return (path,)
    parts: list[str | int] = []
    position = 0
    while True:
        match = _PART.match(path, position)
        assert match is not None
        parts.append(re.sub(r"\\(.)", r"\1", match[1], flags=re.DOTALL))
        parts.extend(int(digits) for digits in re.findall(r"[0-9]+", match[2]))
        position = match.end()
        if position >= len(path) or path[position] != ".":
            # A bracket or a backslash that belongs to no path stays part of the name.
            if position < len(path):
                parts.append(path[position:])
            return tuple(parts)
        position += 1


def at(value: Any, path: Path) -> Any:
    """The value at a path, or :data:`MISSING`; a position, or its digits as a name, picks an item of an array."""
    for part in path:
        if isinstance(value, Mapping):
            value = value.get(part, MISSING) if isinstance(part, str) else MISSING
        elif isinstance(value, list):
            position = part if isinstance(part, int) else int(part) if re.fullmatch(r"[0-9]{1,9}", part) else len(value)
            value = value[position] if position < len(value) else MISSING
        else:
            return MISSING
        if value is MISSING:
            return MISSING
    return value


def leaves(value: Any, path: Path = (), *, lists: bool) -> Iterator[tuple[Path, Any]]:
    """Every innermost value with its path, in order.

    Args:
        value: A decoded JSON value.
        path: Where it stands.
        lists: Whether arrays of objects are taken apart too.
    """
    if len(path) < DEPTH:
        if isinstance(value, Mapping) and value:
            for name, item in value.items():
                yield from leaves(item, (*path, str(name)), lists=lists)
            return
        if lists and isinstance(value, list) and any(isinstance(item, Mapping) for item in value):
            for position, item in enumerate(value):
                yield from leaves(item, (*path, position), lists=lists)
            return
    yield path, value


def flatten(raw: Mapping[str, Any]) -> dict[str, Any]:
    """An object as one row: dotted paths to values that are no objects; arrays stay as they are."""
    return {spell(path): value for path, value in leaves(raw, lists=False) if path}


def declared(record: type[Record], prefix: str = "") -> Iterator[str]:
    """The dotted paths of a record's declared members, nested objects taken apart."""
    for name, member in record.MEMBERS.items():
        if member.kind is not None and member.form.get("type") == "object":
            yield from declared(member.kind, f"{prefix}{escape(name)}.")
        else:
            yield prefix + escape(name)


def header(record: type[Record], rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """The columns of flattened rows: the declared members, the same for every export, then the others as they came."""
    names = dict.fromkeys(declared(record))
    inner = {spell(parts[:depth]) for parts in map(split, names) for depth in range(1, len(parts))}
    for row in rows:
        for name, value in row.items():
            # An object that is empty or null has no members to show, and its columns stand there already.
            if name not in names and not (name in inner and value in (None, {})):
                names[name] = None
    return list(names)
