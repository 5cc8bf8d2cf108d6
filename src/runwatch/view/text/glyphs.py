"""Glyph, word and colour role of a state. All three are always shown, so none carries meaning alone.

Both glyph sets have the same names, and each glyph except :attr:`Glyphs.at_least` is one cell wide, so tables keep
their shape without Unicode (manual: decisions, "Interface conventions").
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final, NamedTuple

from runwatch.records.states import is_final


class Role(StrEnum):
    """The meaning of a piece of text. A theme assigns each role its colour."""

    LIVE = "live"
    """In progress, or in an unknown state: cyan."""
    GOOD = "good"
    """Completed, eligible, ready, accepted: green."""
    BAD = "bad"
    """Failed, blocked, rejected, a problem: red."""
    OFF = "off"
    """Cancelled: grey."""
    WARN = "warn"
    """Expired, stale, held, no verdict: yellow."""
    TEST = "test"
    """A test run: blue."""
    QUIET = "quiet"
    """Frames and secondary text: dim."""
    PLAIN = "plain"
    """Data without special meaning."""


class Glyphs(NamedTuple):
    """One set of glyphs.

    Attributes:
        live: Before a state that is not final.
        good: Before completed, eligible and ready, and for a check that accepted.
        bad: Before failed and blocked, and for a check that rejected.
        off: Before cancelled.
        warn: Before expired, stale and held.
        unknown: For an unknown value.
        nothing: For an absent value.
        ellipsis: Where text was cut.
        dot: Between two facts.
        arrow: From one thing to the next.
        again: Before what was tried again.
        going_on: At the end of what is still going on.
        at_least: Before the known part of an amount; two cells in ASCII, where ``>`` would say more.
        rule: Draws a gap in a timeline.
        bar: Left end, full cell, empty cell and right end of a gauge.
        tree: Before a tree line with later siblings, before the last sibling, and past lines between two siblings.
        patterns: Tell stretches or series apart without color.
        bar_steps: Parts of a cell of a horizontal bar, from the smallest to full.
        column_steps: Parts of a cell of a column, from zero to full.
    """

    live: str
    good: str
    bad: str
    off: str
    warn: str
    unknown: str
    nothing: str
    ellipsis: str
    dot: str
    arrow: str
    again: str
    going_on: str
    at_least: str
    rule: str
    bar: tuple[str, str, str, str]
    tree: tuple[str, str, str]
    patterns: tuple[str, ...]
    bar_steps: tuple[str, ...]
    column_steps: tuple[str, ...]

    def sign(self, role: Role) -> str:
        """Return the glyph before good, bad, off and warning text; before any other the one of a live state."""
        signs = {Role.GOOD: self.good, Role.BAD: self.bad, Role.OFF: self.off, Role.WARN: self.warn}
        return signs.get(role, self.live)

    def plain(self, text: str) -> str:
        """Return text for plain output: with this set in ASCII, without marks beyond ASCII."""
        return text.translate(_PLAIN) if self.ellipsis.isascii() else text


UNICODE: Final = Glyphs(
    "●", "✓", "✗", "⊘", "◷", "?", "–", "…", "·", "→", "↻", "→", "≥", "┄", ("▕", "█", "░", "▏"), ("├", "└", "│"),
    tuple("█▒░▓"), tuple("▏▎▍▌▋▊▉█"), tuple("▁▂▃▄▅▆▇█"),
)  # fmt: skip
ASCII: Final = Glyphs(
    "*", "+", "x", "/", "!", "?", "-", "~", "|", ">", "&", "}", ">=", "-", ("[", "#", ".", "]"), ("|", "`", "|"),
    tuple("#=.%"), ("#",), tuple("_.:-=+*#"),
)  # fmt: skip

_OWN_MARKS: Final = "●✓✗⊘◷–…·→↻┄▕█░▏├└│×±≠•▲▼▸‹›─━■╭╮╰╯┏┓┗┛┃"
TO_ASCII: Final[Mapping[int, int]] = str.maketrans(_OWN_MARKS, "*+x/!-~|>&-[#.]|`|x%!*^v><>-=#++++++++|")
"""Table for ``str.translate``: own marks and frames in ASCII, each one cell wide as before."""

_PLAIN: Final[Mapping[int, int | str]] = {**TO_ASCII, ord("≥"): ">=", ord("≤"): "<=", ord("µ"): "u"}
"""The same for text that is not laid out yet, where a mark may become wider."""

GLYPHS: Final = {"unicode": UNICODE, "ascii": ASCII}
"""Glyph sets by their name in the settings."""


def state_glyph(state: str | None, glyphs: Glyphs = UNICODE) -> tuple[str, Role]:
    """Return glyph and role of a run's or slice's state. An unrecognized word counts as live, ``None`` as unknown."""
    match state:
        case None:
            return glyphs.unknown, Role.PLAIN
        case "completed":
            return glyphs.good, Role.GOOD
        case "failed":
            return glyphs.bad, Role.BAD
        case "cancelled":
            return glyphs.off, Role.OFF
        case "expired":
            return glyphs.warn, Role.WARN
    assert not is_final(state)
    return glyphs.live, Role.LIVE
