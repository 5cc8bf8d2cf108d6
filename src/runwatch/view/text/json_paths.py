"""Dotted paths into nested JSON, for CSV headers, ``--fields``, filters and details.

A dot, bracket or backslash inside a member name is escaped with a backslash, so every path has its own spelling. Array
positions are in brackets.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, Final

from runwatch.base.lazy_pattern import lazy_pattern
from runwatch.records.record import Record

JsonPath = tuple[str | int, ...]
"""Member names and positions from the outside in. The first is a name."""

MAX_DEPTH: Final = 12
"""Depth to which objects are taken apart. Deeper values stay together as JSON."""

MISSING: Final = object()
"""The result for a path without a member; distinct from ``null``."""

_SPECIAL: Final = lazy_pattern(r"[\\.\[]")
_PART: Final = lazy_pattern(r"((?:[^.\\\[]|\\.)*)((?:\[[0-9]{1,9}\])*)", re.DOTALL)


def escape_name(name: str) -> str:
    """Escape a member name for use in a dotted path."""
    return _SPECIAL.sub(r"\\\g<0>", name) if _SPECIAL.search(name) else name


@lru_cache(1024)  # the rows of a list have the same few hundred
def format_path(path: JsonPath) -> str:
    """Format a path: ``slices[0].cost.usd``."""
    text = ""
    for number, part in enumerate(path):
        text += f"[{part}]" if isinstance(part, int) else f".{escape_name(part)}" if number else escape_name(part)
    return text


@lru_cache(1024)  # specifications have a few hundred; each detail that is drawn asks for its own again
def parse_path(path: str) -> JsonPath:
    """Split a formatted path into its parts; the inverse of :func:`format_path`."""
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
            # A bracket or backslash that is not valid path syntax stays part of the name.
            if position < len(path):
                parts.append(path[position:])
            return tuple(parts)
        position += 1


def get_at(value: Any, path: JsonPath) -> Any:
    """Return the value at a path, or :data:`MISSING`. A position, or its digits as a name, selects an array item."""
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
    """Yield every innermost value with its path, in order; with ``lists``, also those in arrays of objects."""
    if len(path) < MAX_DEPTH:
        if isinstance(value, dict) and value:
            for name, item in value.items():
                yield from iter_leaves(item, (*path, str(name)), lists=lists)
            return
        if lists and isinstance(value, list) and any(isinstance(item, Mapping) for item in value):
            for position, item in enumerate(value):
                yield from iter_leaves(item, (*path, position), lists=lists)
            return
    yield path, value


def flatten(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Flatten an object to one row: dotted paths to non-object values. Arrays stay whole."""
    return {format_path(path): value for path, value in iter_leaves(raw, lists=False) if path}


def declared_paths(record: type[Record], prefix: str = "") -> Iterator[str]:
    """Yield the dotted paths of a record's declared members, with nested objects taken apart."""
    for name, member in record.MEMBERS.items():
        if member.kind is not None and member.schema.get("type") == "object":
            yield from declared_paths(member.kind, f"{prefix}{escape_name(name)}.")
        else:
            yield prefix + escape_name(name)


def csv_columns(record: type[Record], rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the columns of flattened rows: declared members first, in fixed order, then the others in order of
    appearance.
    """
    names = dict.fromkeys(declared_paths(record))
    inner = {format_path(parts[:depth]) for parts in map(parse_path, names) for depth in range(1, len(parts))}
    for row in rows:
        for name, value in row.items():
            # An empty or null object has no members to show, and its columns are already listed.
            if name not in names and not (name in inner and value in (None, {})):
                names[name] = None
    return list(names)
