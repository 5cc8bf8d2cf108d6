"""The only way from safe text to Textual.

Textual interprets markup in plain strings, in frame titles too, and passes control bytes through. Widgets therefore
never pass a ``str`` to Textual: they pass the results of these functions, which accept only
:class:`~runwatch.view.text.safe_text.SafeText`.
"""

from __future__ import annotations

from collections.abc import Iterable

from rich.segment import Segment
from rich.style import Style
from textual.content import Content, Span

from runwatch.base.text import cell_width
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import SafeText, line, truncate

StyledSpan = tuple[SafeText, str]
"""Text and its role: one of :class:`~runwatch.view.text.glyphs.Role`, or ``accent``."""

StyledSpans = SafeText | tuple[SafeText | StyledSpan, ...]
"""A line or part of a line, in one or more roles."""


def label_span(text: str, role: str = Role.QUIET) -> StyledSpan:
    """Return a styled span of fixed text, such as a label or a hint."""
    return line(text), role


def to_spans(text: StyledSpans, role: str = Role.PLAIN) -> tuple[StyledSpan, ...]:
    """Return the spans of a text; ``role`` applies to those without one.

    Raises:
        TypeError: A part of it is not safe text.
    """
    parts: tuple[SafeText | StyledSpan, ...] = (text,) if isinstance(text, SafeText) else text
    return tuple(_checked(part if isinstance(part, tuple) else (part, role)) for part in parts)


def _checked(piece: StyledSpan) -> StyledSpan:
    if not isinstance(piece[0], SafeText):
        raise TypeError(f"only drawn text reaches the screen, not {type(piece[0]).__name__}")
    return piece


def to_content(text: StyledSpans, role: str = Role.PLAIN) -> Content:
    """Return text as content for anything Textual lays out itself: labels, frame titles, buttons."""
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


def cut_spans(spans: Iterable[StyledSpan], room: int, mark: str) -> tuple[StyledSpan, ...]:
    """Cut spans side by side to ``room`` cells; ``mark`` ends a cut one."""
    shown: list[StyledSpan] = []
    for text, role in spans:
        piece = truncate(text, max(0, room), mark)
        room -= cell_width(piece)
        shown.append((piece, role))
    return tuple(shown)


def spans_width(spans: Iterable[StyledSpan]) -> int:
    """Return the width of spans side by side, in cells."""
    return sum(cell_width(text) for text, _ in spans)


def to_lines(texts: Iterable[StyledSpans]) -> Content:
    """Join several lines into one text."""
    return Content("\n").join([to_content(text) for text in texts])


def to_segment(text: SafeText, style: Style) -> Segment:
    """Return a segment for widgets that draw their own lines.

    Raises:
        TypeError: The text is not safe text.
    """
    if not isinstance(text, SafeText):
        raise TypeError(f"only drawn text reaches the screen, not {type(text).__name__}")
    return Segment(text, style)
