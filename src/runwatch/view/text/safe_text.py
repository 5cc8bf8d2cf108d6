"""The one gate between values and screens.

Widgets and printed tables take :class:`SafeText` and nothing else, and only this module makes it. So a control byte, a
bidi control or a lone surrogate of the service cannot reach a terminal by an oversight: there is no other way to draw.
Member names are values too and go through it like everything else.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from decimal import Decimal
from typing import Final

from runwatch.base import text as plain
from runwatch.base.clock import format_iso
from runwatch.base.json import ExactNumber, dumps
from runwatch.base.text import ELLIPSIS, cell_width, clean_block, clean_line

LINE_CELLS: Final = 1000
"""The widest text that one line of a table or a message takes, in cells; the record keeps the rest."""

_GATE: Final = object()


class SafeText(str):
    """Text that a terminal may see: cleaned, safe to print as it is.

    Only the functions of this module make one. What ``+``, slicing and the other methods of ``str`` give is a plain
    ``str`` again and has to come back through the gate, which leaves clean text as it is.
    """

    __slots__ = ()

    def __new__(cls, text: str, gate: object = None) -> SafeText:
        """Refuse everybody but this module.

        Raises:
            TypeError: another user called it.
        """
        if gate is not _GATE:
            raise TypeError("drawn text is made by line(), block() and the functions that compose it")
        return super().__new__(cls, text)

    def __reduce__(self) -> tuple[object, tuple[str]]:
        """Copies and pickles come back through the gate."""
        return (block, (str(self),))


def line(value: object, cells: int | None = LINE_CELLS) -> SafeText:
    """Any value on one line.

    Args:
        value: Text is cleaned; ``None`` is drawn as ``–``, which says that there is nothing; numbers keep their own
            digits; lists and objects become compact JSON.
        cells: The most cells it may take, its end is cut; ``None`` takes all.
    """
    if isinstance(value, str) and (cells is None or len(value) <= cells) and value.isascii() and value.isprintable():
        return value if isinstance(value, SafeText) else SafeText(value, _GATE)
    if isinstance(value, SafeText) and "\n" not in value:
        text: str = value
    else:
        text = "–" if value is None else json_text(value)
        if cells is not None and len(text) > 8 * cells:
            # Cleaning is linear, but a megabyte in a cell need not be cleaned to be cut.
            text = text[: 8 * cells] + ELLIPSIS
        text = clean_line(text)
    if cells is not None and len(text) * 2 > cells:
        text = plain.truncate(text, cells)
    return text if isinstance(text, SafeText) else SafeText(text, _GATE)


def block(value: object, *, indent: int | None = None) -> SafeText:
    """Any value on as many lines as it has, uncut.

    Args:
        value: Drawn as by :func:`line`.
        indent: Spaces a level for lists and objects; ``None`` keeps them on one line.
    """
    if isinstance(value, SafeText):
        return value
    return SafeText(clean_block("–" if value is None else json_text(value, indent)), _GATE)


def json_text(value: object, indent: int | None = None) -> str:
    """A value in words of JSON, text as it is; not cleaned yet.

    ``null`` is spelled out here, because a member that is ``null`` is something else than one that is missing.
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
    """A decoded JSON value on one line, ``null`` included, uncut."""
    return line(json_text(value), None)


def json_block(value: object) -> SafeText:
    """A decoded JSON value in readable form: indented, one member a line."""
    return block(json_text(value, 2))


def plain_decimal(amount: Decimal) -> str:
    """A decimal with its own digits, and with an exponent where plain digits would fill the screen."""
    return format(amount, "f") if abs(amount.adjusted()) <= 30 else str(amount)


def iso_text(at: datetime) -> str:
    """A moment in UTC as the interface writes it, or as it came where UTC has no such year."""
    try:
        return format_iso(at)
    except OverflowError:
        return at.isoformat()


def join(parts: Iterable[SafeText], separator: str = "") -> SafeText:
    """Drawn pieces as one, with a separator between them."""
    return SafeText(clean_block(separator).join(parts), _GATE)


def truncate(text: SafeText, width: int, mark: str = ELLIPSIS) -> SafeText:
    """Drawn text cut at its end to at most ``width`` cells."""
    return text if cell_width(text) <= width else SafeText(plain.truncate(text, width, clean_line(mark)), _GATE)


def elide_middle(text: SafeText, width: int, mark: str = ELLIPSIS) -> SafeText:
    """Drawn text cut in its middle to at most ``width`` cells; where it was cut before, more goes at the same place."""
    return text if cell_width(text) <= width else SafeText(plain.elide_middle(text, width, clean_line(mark)), _GATE)


def fit(text: SafeText, width: int, align: str = "left", mark: str = ELLIPSIS) -> SafeText:
    """Drawn text in exactly ``width`` cells: cut at its end, or filled with spaces on the other side of ``align``."""
    shown = truncate(text, width, mark)
    space = " " * (width - cell_width(shown))
    return SafeText(space + shown if align == "right" else shown + space, _GATE)
