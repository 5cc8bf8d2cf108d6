"""Wrap safe text into rows, by cells."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from rich.cells import cell_len, chop_cells

from runwatch.view.text.safe_text import SafeText, line


@lru_cache(1024)
def wrap_text(text: SafeText, width: int) -> tuple[SafeText, ...]:
    """Wrap a text to ``width`` cells: at line ends, between words, and inside words that are too long.

    Spaces at a break are dropped; leading spaces of a line stay, because they indent JSON.
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
            end = start + width
        yield paragraph[start:end].rstrip(" ")
        start = end
        while start < len(paragraph) and paragraph[start] == " ":
            start += 1
    yield paragraph[start:]


def _wide(paragraph: str, width: int) -> Iterator[str]:
    row = ""
    for word in paragraph.split(" "):
        joined = f"{row} {word}" if row else word
        if cell_len(joined) <= width:
            row = joined
            continue
        if row.strip():
            yield row.rstrip(" ")
            joined = word
        *whole, row = chop_cells(joined, width) or [""]
        yield from whole
    yield row
