"""Line numbers of keys in a TOML text, which tomllib does not report."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from typing import Any, Final

_LONGEST: Final = 200
"""Lines of one statement after which the search gives up; each line costs another parse of the statement."""


def key_lines(text: str) -> dict[tuple[str, ...], int]:
    """Return the line, from 1, where each key and table of a valid TOML text first appears.

    The text is parsed statement by statement with tomllib: a statement is the smallest number of lines that it accepts,
    so strings and arrays over several lines need no rules of their own. Keys are paths of names.
    """
    lines = text.replace("\r\n", "\n").split("\n")
    found: dict[tuple[str, ...], int] = {}
    table: tuple[str, ...] = ()
    start = 0
    while start < len(lines):
        end, statement = _statement(lines, start)
        if statement is None:
            break
        if lines[start].lstrip().startswith("["):
            table = ()
        for path in _paths(statement):
            for depth in range(1, len(path) + 1):
                found.setdefault(table + path[:depth], start + 1)
        if lines[start].lstrip().startswith("["):
            table = next(_paths(statement))
        start = end
    return found


def _statement(lines: list[str], start: int) -> tuple[int, dict[str, Any] | None]:
    """Return the position after the statement that begins at ``start``, and its content."""
    for end in range(start + 1, min(start + _LONGEST, len(lines)) + 1):
        try:
            return end, tomllib.loads("\n".join(lines[start:end]))
        except (ValueError, RecursionError):
            continue
    return start, None


def _paths(value: dict[str, Any], prefix: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield the paths of all innermost names in nested tables; for an array of tables only its own name."""
    for name, item in value.items():
        if isinstance(item, dict) and item:
            yield from _paths(item, (*prefix, name))
        else:
            yield (*prefix, name)
