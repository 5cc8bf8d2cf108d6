"""The one way from clean text to Textual.

Textual reads markup in plain strings, in titles of frames too, and passes control bytes through. So widgets never hand
it a ``str``: they hand it what these functions make, and these take :class:`~runwatch.view.drawn.Drawn` alone.
"""

from __future__ import annotations

from collections.abc import Iterable

from rich.segment import Segment
from rich.style import Style
from textual.content import Content, Span

from runwatch.view.drawn import Drawn, line
from runwatch.view.glyphs import Role

Piece = tuple[Drawn, str]
"""Text and the role it is drawn in: one of :class:`~runwatch.view.glyphs.Role`, or ``accent``."""

Pieces = Drawn | tuple[Drawn | Piece, ...]
"""A line, or the part of a line, in one role or several."""


def word(text: str, role: str = Role.QUIET) -> Piece:
    """A word of our own, such as a label or a hint."""
    return line(text), role


def pieces_of(text: Pieces, role: str = Role.PLAIN) -> tuple[Piece, ...]:
    """The pieces of a text with a role each; ``role`` is for those that have none.

    Raises:
        TypeError: a part of it did not come through the gate.
    """
    parts: tuple[Drawn | Piece, ...] = (text,) if isinstance(text, Drawn) else text
    return tuple(_checked(part if isinstance(part, tuple) else (part, role)) for part in parts)


def _checked(piece: Piece) -> Piece:
    if not isinstance(piece[0], Drawn):
        raise TypeError(f"only drawn text reaches the screen, not {type(piece[0]).__name__}")
    return piece


def content(text: Pieces, role: str = Role.PLAIN) -> Content:
    """Text for everything that Textual lays out itself: labels, titles of frames, buttons."""
    words: list[str] = []
    spans: list[Span] = []
    position = 0
    for piece, own_role in pieces_of(text, role):
        words.append(piece)
        end = position + len(piece)
        if piece and own_role != Role.PLAIN:
            spans.append(Span(position, end, f"$role-{own_role}"))
        position = end
    return Content("".join(words), spans)


def lines(texts: Iterable[Pieces]) -> Content:
    """Several lines as one text."""
    return Content("\n").join([content(text) for text in texts])


def segment(text: Drawn, style: Style) -> Segment:
    """A stretch of a line for the widgets that draw their lines themselves.

    Raises:
        TypeError: the text did not come through the gate.
    """
    if not isinstance(text, Drawn):
        raise TypeError(f"only drawn text reaches the screen, not {type(text).__name__}")
    return Segment(text, style)
