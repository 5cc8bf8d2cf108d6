"""Wrap safe text into rows, by cells."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from rich.cells import cell_len, chop_cells

from runwatch.view.text.safe_text import SafeText, line

_GAP: Final = "  "
"""Two spaces or more separate the parts of a line, such as the entries of a legend."""

_SIGN_CELLS: Final = 2
"""A row as narrow as this is a sign or a key, which is not left without its words."""


@lru_cache(1024)
def wrap_text(text: SafeText, width: int) -> tuple[SafeText, ...]:
    """Wrap a text to ``width`` cells: at line ends, between words, and inside words that are too long.

    Parts with two spaces or more between them are kept whole if they fit on a row, as are those of a long path. Spaces
    at a break are dropped; leading spaces of a line stay, because they indent JSON.
    """
    rows: list[SafeText] = []
    for paragraph in text.split("\n"):
        if cell_len(paragraph) <= width:
            rows.append(line(paragraph, None))
        elif paragraph.isascii():
            rows += (line(row, None) for row in _narrow(paragraph, width))
        else:
            rows += (line(row, None) for row in _wide(paragraph, width))
    return tuple(rows)


def _narrow(paragraph: str, width: int) -> Iterator[str]:
    """Wrap a text of one-cell characters."""
    start = 0
    while len(paragraph) - start > width:
        end = paragraph.rfind(" ", start, start + width + 1)
        if end <= start or not paragraph[start:end].strip():
            end = _end_of_part(paragraph, start, start + width, width)
        row = paragraph[start:end].rstrip(" ")
        gap = paragraph.rfind(_GAP, start, start + len(row))
        is_between = paragraph.startswith(_GAP, start + len(row))
        if not is_between and gap >= 0 and _can_end(paragraph[start:gap]) and _is_short(paragraph, gap, width):
            end, row = gap, paragraph[start:gap].rstrip(" ")
        yield row
        start = end
        while start < len(paragraph) and paragraph[start] == " ":
            start += 1
    yield paragraph[start:]


def _can_end(row: str) -> bool:
    return cell_len(row.strip(" ")) > _SIGN_CELLS


def _is_short(paragraph: str, gap: int, width: int) -> bool:
    """Return whether the part behind a gap fits on a row."""
    start = gap + len(_GAP)
    return cell_len(paragraph[start : start + width + len(_GAP)].partition(_GAP)[0]) <= width


def _wide(paragraph: str, width: int) -> Iterator[str]:
    row = between = ""
    for part in paragraph.split(_GAP):
        joined = f"{row}{between}{part}"
        between = _GAP
        if cell_len(joined) <= width:
            row = joined
        elif _can_end(row) and cell_len(part.strip(" ")) <= width:
            yield row.rstrip(" ")
            row = part.strip(" ")
            between = _GAP * bool(row)
        else:
            *whole, row = _words(joined, width)
            yield from whole
    yield row


def _words(text: str, width: int) -> Iterator[str]:
    row = ""
    for word in text.split(" "):
        joined = f"{row} {word}" if row else word
        if cell_len(joined) <= width:
            row = joined
            continue
        if row.strip():
            yield row.rstrip(" ")
            joined = word
        *whole, row = _chop(joined, width)
        yield from whole
    yield row


def _chop(word: str, width: int) -> Iterator[str]:
    start = 0
    # Only what a row may need is looked at, because a word may be a megabyte long.
    while len(rows := chop_cells(word[start : start + 2 * width], width)) > 1 or start + 2 * width < len(word):
        end = _end_of_part(word, start, start + max(1, len(rows[0])), width)
        yield word[start:end]
        start = end
    yield word[start:]


def _end_of_part(text: str, start: int, end: int, width: int) -> int:
    """Return where to break a word that goes on behind ``end``: behind a slash, if what follows it fits on a row."""
    behind = text.rfind("/", start + 1, end) + 1
    part, _, _ = text[behind : behind + width + 1].partition(" ")
    return behind if behind and cell_len(part.partition("/")[0]) <= width else end
