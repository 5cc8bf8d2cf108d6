"""Glyph, word and colour role of a state: always all three, so that none of them carries meaning alone.

Both sets have the same names, and each glyph is one cell wide, so that a table keeps its shape without Unicode
(console-anchors C5).
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final, NamedTuple

from runwatch.records.states import is_final


class Role(StrEnum):
    """What a piece of text means; a theme gives each role its colour."""

    LIVE = "live"
    """Under way, or in a state nobody knows: cyan."""
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
    """Chrome and what is not the point: dim."""
    PLAIN = "plain"
    """Data without a meaning of its own."""


class Glyphs(NamedTuple):
    """One set of glyphs.

    Attributes:
        live: Before a state that is not final.
        good: Before completed, eligible and ready; a check that accepted.
        bad: Before failed and blocked; a check that rejected.
        off: Before cancelled.
        warn: Before expired, stale and held.
        unknown: Where nothing is known.
        nothing: Where there is nothing.
        ellipsis: Where text was cut.
        dot: Between two facts.
        arrow: From one thing to the next.
        rule: What a gap in a timeline is drawn with.
        bar: Ends, full and empty cell of a gauge.
        tree: Before a line of a tree that others follow on its level, before the last one, and past lines between two.
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
    rule: str
    bar: tuple[str, str, str, str]
    tree: tuple[str, str, str]


UNICODE: Final = Glyphs("●", "✓", "✗", "⊘", "◷", "?", "–", "…", "·", "→", "┄", ("▕", "█", "░", "▏"), ("├", "└", "│"))
ASCII: Final = Glyphs("*", "+", "x", "-", "~", "?", "-", "~", "|", ">", "-", ("[", "#", ".", "]"), ("|", "`", "|"))

GLYPHS: Final = {"unicode": UNICODE, "ascii": ASCII}
"""The sets by the name they have in the settings."""


def state_glyph(state: str | None, glyphs: Glyphs = UNICODE) -> tuple[str, Role]:
    """Glyph and role of a run's or slice's state; a word nobody knows means "still live", no word means unknown."""
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
