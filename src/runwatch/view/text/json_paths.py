"""Nested JSON by dotted paths: for CSV heads, ``--fields``, filters and details.

A dot, a bracket or a backslash inside a member name is written with a backslash before it, so that two paths are never
spelled the same; an array's item has its position in brackets.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from runwatch.records.record import Record

JsonPath = tuple[str | int, ...]
"""Member names and positions, from the outside in; the first one is a name."""

MAX_DEPTH: Final = 12
"""How deep objects are taken apart; what lies deeper stays together as JSON."""

MISSING: Final = object()
"""What a path gives where there is no such member; something else than ``null``."""

_SPECIAL: Final = re.compile(r"[\\.\[]")
_PART: Final = re.compile(r"((?:[^.\\\[]|\\.)*)((?:\[[0-9]{1,9}\])*)", re.DOTALL)


def escape_name(name: str) -> str:
    """A member name as it stands in a dotted path."""
    return _SPECIAL.sub(r"\\\g<0>", name) if _SPECIAL.search(name) else name


def format_path(path: JsonPath) -> str:
    """A path in words: ``slices[0].cost.usd``."""
    text = ""
    for number, part in enumerate(path):
        text += f"[{part}]" if isinstance(part, int) else f".{escape_name(part)}" if number else escape_name(part)
    return text


def parse_path(path: str) -> JsonPath:
    """A path in words as its parts; what :func:`format_path` has written comes back as it was."""
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


def get_at(value: Any, path: JsonPath) -> Any:
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


def iter_leaves(value: Any, path: JsonPath = (), *, lists: bool) -> Iterator[tuple[JsonPath, Any]]:
    """Every innermost value with its path, in order.

    Args:
        value: A decoded JSON value.
        path: Where it stands.
        lists: Whether arrays of objects are taken apart too.
    """
    if len(path) < MAX_DEPTH:
        if isinstance(value, Mapping) and value:
            for name, item in value.items():
                yield from iter_leaves(item, (*path, str(name)), lists=lists)
            return
        if lists and isinstance(value, list) and any(isinstance(item, Mapping) for item in value):
            for position, item in enumerate(value):
                yield from iter_leaves(item, (*path, position), lists=lists)
            return
    yield path, value


def flatten(raw: Mapping[str, Any]) -> dict[str, Any]:
    """An object as one row: dotted paths to values that are no objects; arrays stay as they are."""
    return {format_path(path): value for path, value in iter_leaves(raw, lists=False) if path}


def declared_paths(record: type[Record], prefix: str = "") -> Iterator[str]:
    """The dotted paths of a record's declared members, nested objects taken apart."""
    for name, member in record.MEMBERS.items():
        if member.kind is not None and member.form.get("type") == "object":
            yield from declared_paths(member.kind, f"{prefix}{escape_name(name)}.")
        else:
            yield prefix + escape_name(name)


def csv_columns(record: type[Record], rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """The columns of flattened rows: the declared members, the same for every export, then the others as they came."""
    names = dict.fromkeys(declared_paths(record))
    inner = {format_path(parts[:depth]) for parts in map(parse_path, names) for depth in range(1, len(parts))}
    for row in rows:
        for name, value in row.items():
            # An object that is empty or null has no members to show, and its columns stand there already.
            if name not in names and not (name in inner and value in (None, {})):
                names[name] = None
    return list(names)
