"""The only way from values to the screen.

Widgets and printed tables accept only :class:`SafeText`, and only this module makes it, so no control byte, bidi
control or lone surrogate from the service can reach a terminal by oversight. Member names are values too and are
cleaned the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from datetime import datetime
from decimal import Decimal
from functools import partial
from typing import Final

from runwatch.base import text as plain
from runwatch.base.clock import format_iso
from runwatch.base.json import ExactNumber, dumps
from runwatch.base.text import ELLIPSIS, cell_width, clean_block, clean_line

LINE_CELLS: Final = 1000
"""Maximum width of one line of a table or message, in cells. The record keeps the whole text."""


class SafeText(str):
    """Text cleaned for a terminal and safe to print unchanged.

    Only the functions of this module make it. Slicing, ``+`` and other ``str`` methods return a plain ``str``, which
    has to be cleaned again; cleaning leaves clean text unchanged.
    """

    __slots__ = ()

    def __new__(cls, *_: object) -> SafeText:
        """Refuse any caller.

        Raises:
            TypeError: Always.
        """
        raise TypeError("drawn text is made by line(), block() and the functions that compose it")

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return (block, (str(self),))


_safe: Final[Callable[[str], SafeText]] = partial(str.__new__, SafeText)
"""Makes the text, in this module alone."""


def line(value: object, cells: int | None = LINE_CELLS) -> SafeText:
    """Render any value on one line.

    Args:
        value: Text is cleaned; ``None`` becomes ``–``; numbers keep their own digits; lists and objects become compact
            JSON.
        cells: Maximum width; the end is cut. ``None`` means no limit.
    """
    if isinstance(value, str) and (cells is None or len(value) <= cells) and value.isascii() and value.isprintable():
        return value if isinstance(value, SafeText) else _safe(value)
    if isinstance(value, SafeText) and "\n" not in value:
        text: str = value
    else:
        text = "–" if value is None else json_text(value)
        if cells is not None and len(text) > 8 * cells:
            # Cleaning is linear, but there is no need to clean a megabyte only to cut it.
            text = text[: 8 * cells] + ELLIPSIS
        text = clean_line(text)
    if cells is not None and len(text) * 2 > cells:
        text = plain.truncate(text, cells)
    return text if isinstance(text, SafeText) else _safe(text)


def block(value: object) -> SafeText:
    """Render any value, as by :func:`line`, on as many lines as it has, uncut."""
    if isinstance(value, SafeText):
        return value
    return _safe(clean_block("–" if value is None else json_text(value)))


def json_text(value: object, indent: int | None = None) -> str:
    """Format a value as JSON, with text left as it is. The result is not cleaned.

    ``null`` is spelled out, because a ``null`` member differs from a missing one.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    if isinstance(value, ExactNumber):
        return value.literal
    if isinstance(value, Decimal):
        return plain_decimal(value)
    if isinstance(value, datetime):
        return iso_text(value)
    try:
        if isinstance(value, (dict, list, tuple)):
            return dumps(value, indent=indent, readable=True)
        return str(value)
    except (ValueError, TypeError):
        return f"(a {type(value).__name__} that cannot be shown)"


def json_value(value: object) -> SafeText:
    """Render a decoded JSON value on one line, uncut, with ``null`` spelled out."""
    return line(json_text(value), None)


def json_block(value: object) -> SafeText:
    """Render a decoded JSON value indented, one member per line."""
    return block(json_text(value, 2))


def plain_decimal(amount: Decimal) -> str:
    """Format a decimal with its own digits, using an exponent if plain digits would fill the screen."""
    return format(amount, "f") if abs(amount.adjusted()) <= 30 else str(amount)


def iso_text(at: datetime) -> str:
    """Format a time in UTC as the interface writes it; unchanged if UTC has no such year."""
    try:
        return format_iso(at)
    except OverflowError:
        return at.isoformat()


def join(parts: Iterable[SafeText], separator: str = "") -> SafeText:
    return _safe(clean_block(separator).join(parts))


def truncate(text: SafeText, width: int, mark: str = ELLIPSIS) -> SafeText:
    """Cut safe text at its end to at most ``width`` cells."""
    return text if cell_width(text) <= width else _safe(plain.truncate(text, width, clean_line(mark)))


def last_words(text: SafeText, width: int) -> SafeText:
    """Return a text without the words at its start that do not fit into ``width`` cells; the last one always stays."""
    while cell_width(text) > width and " " in text:
        text = line(text.partition(" ")[2])
    return text


def truncate_before(text: SafeText, separator: str, width: int, mark: str = ELLIPSIS) -> SafeText:
    """Cut what is before the last separator, if there is one and the rest leaves room for a cell and the mark."""
    first, separator, last = text.rpartition(separator)
    kept = line(f"{separator}{last}")
    room = width - cell_width(kept)
    return line(f"{truncate(line(first), room, mark)}{kept}") if separator and room > 1 else truncate(text, width, mark)


def elide_middle(text: SafeText, width: int, mark: str = ELLIPSIS) -> SafeText:
    """Cut safe text in its middle to at most ``width`` cells. Text that was already cut is cut further at the same
    place.
    """
    return text if cell_width(text) <= width else _safe(plain.elide_middle(text, width, clean_line(mark)))


def elide_start(text: SafeText, width: int, mark: str = ELLIPSIS) -> SafeText:
    """Cut safe text at its start to at most ``width`` cells."""
    return _safe(plain.elide_start(text, width, clean_line(mark)))


def cut_around(text: SafeText, start: int, end: int, width: int, mark: str = ELLIPSIS) -> tuple[SafeText, ...]:
    """Cut safe text to at most ``width`` cells around one part of it.

    Returns:
        What is before the part, the part, and what is behind it.
    """
    part = truncate(line(text[start:end], None), width, mark)
    room = width - cell_width(part)
    # No more than may fit, because the text may be a megabyte long.
    before, after = text[max(0, start - width - 1) : start], text[end : end + width + 1]
    lead = max(room // 2, room - cell_width(after))
    shown = line(elide_start(line(before, None), lead, mark) if lead > 0 else "", None)
    return shown, part, truncate(line(after, None), room - cell_width(shown), mark)


def best_cut(
    texts: Collection[SafeText], width: int, mark: str, *cuts: Callable[[SafeText, int, str], SafeText]
) -> Callable[[SafeText, int, str], SafeText]:
    """Return the way to cut texts after which most of them still differ, of equally good ones the first."""
    return max(cuts, key=lambda cut: len({cut(text, width, mark) for text in texts}))


def fit(text: SafeText, width: int, align: str = "left", mark: str = ELLIPSIS) -> SafeText:
    """Fit safe text to exactly ``width`` cells: cut at its end, or padded on the side opposite to ``align``."""
    shown = truncate(text, width, mark)
    space = " " * (width - cell_width(shown))
    return _safe(space + shown if align == "right" else shown + space)
