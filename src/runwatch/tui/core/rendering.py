"""The one way from clean text to Textual.

Textual reads markup in plain strings, in titles of frames too, and passes control bytes through. So widgets never hand
it a ``str``: they hand it what these functions make, and these take :class:`~runwatch.view.text.safe_text.SafeText`
alone.
"""

from __future__ import annotations

from collections.abc import Iterable

from rich.segment import Segment
from rich.style import Style
from textual.content import Content, Span

from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import SafeText, line

StyledSpan = tuple[SafeText, str]
"""Text and the role it is drawn in: one of :class:`~runwatch.view.text.glyphs.Role`, or ``accent``."""

StyledSpans = SafeText | tuple[SafeText | StyledSpan, ...]
"""A line, or the part of a line, in one role or several."""


def label_span(text: str, role: str = Role.QUIET) -> StyledSpan:
    """A word of our own, such as a label or a hint."""
    return line(text), role


def to_spans(text: StyledSpans, role: str = Role.PLAIN) -> tuple[StyledSpan, ...]:
    """The pieces of a text with a role each; ``role`` is for those that have none.

    Raises:
        TypeError: a part of it did not come through the gate.
    """
    parts: tuple[SafeText | StyledSpan, ...] = (text,) if isinstance(text, SafeText) else text
    return tuple(_checked(part if isinstance(part, tuple) else (part, role)) for part in parts)


def _checked(piece: StyledSpan) -> StyledSpan:
    if not isinstance(piece[0], SafeText):
        raise TypeError(f"only drawn text reaches the screen, not {type(piece[0]).__name__}")
    return piece


def to_content(text: StyledSpans, role: str = Role.PLAIN) -> Content:
    """Text for everything that Textual lays out itself: labels, titles of frames, buttons."""
    words: list[str] = []
    spans: list[Span] = []
    position = 0
    for piece, own_role in to_spans(text, role):
        words.append(piece)
        end = position + len(piece)
        if piece and own_role != Role.PLAIN:
            spans.append(Span(position, end, f"$role-{own_role}"))
        position = end
    return Content("".join(words), spans)


def to_lines(texts: Iterable[StyledSpans]) -> Content:
    """Several lines as one text."""
    return Content("\n").join([to_content(text) for text in texts])


def to_segment(text: SafeText, style: Style) -> Segment:
    """A stretch of a line for the widgets that draw their lines themselves.

    Raises:
        TypeError: the text did not come through the gate.
    """
    if not isinstance(text, SafeText):
        raise TypeError(f"only drawn text reaches the screen, not {type(text).__name__}")
    return Segment(text, style)
