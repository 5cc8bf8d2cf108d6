"""Cleaning of text for a terminal, and widths in cells.

Text of the service is hostile until cleaned here: an escape sequence in a title can set the clipboard, a carriage
return can hide the text before it, a bidi control can reverse a line. Everything that a terminal could act on is
replaced by something visible, so that the reader notices it; the record keeps the exact value (manual: decisions, "Text
for drawing").
"""

from __future__ import annotations

import re
from typing import Final

from rich.cells import cell_len, set_cell_size

from runwatch.base.lazy_pattern import lazy_pattern

ELLIPSIS: Final = "…"

# C0 and DEL have their own pictures in Unicode (U+2400 block); the rest is spelled out.
_PICTURES: Final = {code: chr(0x2400 + code) for code in range(0x20)} | {0x7F: "␡"}

# C0 without newline and tab, DEL, C1; soft hyphen, combining grapheme joiner, Arabic letter mark, Hangul and Khmer
# fillers, Mongolian separators; zero-width, bidi and invisible operators; line and paragraph separators; surrogates;
# annotation, hieroglyph, shorthand, music and tag controls; byte order mark. Zero width joiner and variation selectors
# are included, because joined glyphs also hide the boundary between two ids.
_UNSAFE_CLASS: Final = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ud800-\udfff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    "\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_UNSAFE_BLOCK: Final = lazy_pattern(f"[{_UNSAFE_CLASS}]")
_UNSAFE_LINE: Final = lazy_pattern(f"[{_UNSAFE_CLASS}\t\n]")

# A letter needs at most a handful of marks; hundreds of them overwrite the lines above and below.
_MARK: Final = (
    "[\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u0610-\u061a\u064b-\u065f\u06d6-\u06dc\u0e31\u0e34-\u0e3a\u0e47-\u0e4e"
    "\u0f71-\u0f84\u0f8d-\u0fbc\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]"
)
_MARKS: Final = lazy_pattern(f"({_MARK}{{4}}){_MARK}+")


def _visible(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code in _PICTURES:
        return _PICTURES[code]
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def clean_line(text: str) -> str:
    """Return text for one line of a screen, with every character a terminal could act on made visible.

    Newlines and tabs become pictures too, so the result is always one line.
    """
    if text.isascii() and text.isprintable():
        return text
    return _MARKS.sub(r"\1", _UNSAFE_LINE.sub(_visible, text))


def clean_block(text: str) -> str:
    """Return text for several lines: as :func:`clean_line`, but newlines stay and tabs become four spaces.

    A carriage return before a newline is dropped, because Windows ends lines that way.
    """
    text = text.replace("\r\n", "\n")
    return _MARKS.sub(r"\1", _UNSAFE_BLOCK.sub(_visible, text)).replace("\t", "    ")


def is_clean(text: str) -> bool:
    """Return whether a terminal can show the text unchanged; newlines count as clean."""
    return _UNSAFE_BLOCK.search(text) is None and "\t" not in text


def cell_width(text: str) -> int:
    """Return the width of cleaned text in terminal cells."""
    return cell_len(text)


def truncate(text: str, width: int, mark: str = ELLIPSIS) -> str:
    """Cut cleaned text to at most ``width`` cells, ending in ``mark`` (one cell) if it was cut."""
    if cell_len(text) <= width:
        return text
    if width <= 1:
        return mark[: max(width, 0)]
    return set_cell_size(text, width - 1).rstrip() + mark


def elide_middle(text: str, width: int, mark: str = ELLIPSIS) -> str:
    """Cut cleaned text in its middle to at most ``width`` cells, so that both ends of an id stay readable.

    Text that already has a mark loses more of the part before it.
    """
    if cell_len(text) <= width:
        return text
    if width <= 2:
        return truncate(text, width, mark)
    start, is_cut, end = text.partition(mark) if mark else (text, "", "")
    room = width - 1 - cell_len(end)
    if is_cut and 0 < room <= cell_len(start):
        return set_cell_size(start, room) + mark + end
    tail = (width - 1) // 2
    head = width - 1 - tail
    return set_cell_size(text, head) + mark + _last_cells(text, tail)


def elide_start(text: str, width: int, mark: str = ELLIPSIS) -> str:
    """Cut cleaned text at its start to at most ``width`` cells, so that the end, which tells ids apart, stays."""
    return text if cell_len(text) <= width else mark + _last_cells(text, width - 1)


def _last_cells(text: str, width: int) -> str:
    taken = 0
    for start in range(len(text) - 1, -1, -1):
        taken += cell_len(text[start])
        if taken > width:
            return text[start + 1 :]
    return text


def pad(text: str, width: int) -> str:
    """Pad cleaned text with spaces, or cut it, to exactly ``width`` cells."""
    if cell_len(text) > width:
        text = truncate(text, width)
    return text + " " * (width - cell_len(text))


def wrap_words(text: str, width: int) -> list[str]:
    """Wrap a line of text between words; a word that is too long is broken, behind a slash if it has one."""
    rows: list[str] = []
    row, cells = "", 0
    for word in text.split():
        wide = len(word) if word.isascii() else cell_len(word)
        if row and cells + 1 + wide <= width:
            row, cells = f"{row} {word}", cells + 1 + wide
            continue
        if row:
            rows.append(row)
        while wide > width:
            cut = max(1, next((end for end in range(len(word), 0, -1) if cell_len(word[:end]) <= width), 1))
            cut = word.rfind("/", 1, cut) + 1 or cut
            rows.append(word[:cut])
            word = word[cut:]
            wide = cell_len(word)
        row, cells = word, wide
    return [*rows, row] if row or not rows else rows


def fold_text(text: str) -> bytes:
    """Return text without case as UTF-8, in which one text contains another exactly if its bytes do.

    Bytes take a third of the memory of a ``str`` with one character outside Latin-1.
    """
    return text.casefold().encode("utf-8", "surrogatepass")
