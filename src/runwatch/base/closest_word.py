"""Suggestion of a known word for an unknown one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

CUTOFF: Final = 0.5
"""Minimum similarity of two words, from 0 to 1: twice their common letters in order over all letters."""


def closest_words(word: str, known: Iterable[str], most: int, cutoff: float = CUTOFF) -> list[str]:
    """Return up to ``most`` known words at least as similar to this one as ``cutoff``, the closest first."""
    # Imported here because only a mistake needs it.
    import difflib

    return difflib.get_close_matches(word, list(known), most, cutoff) if most > 0 else []


def closest_word(word: str, known: Iterable[str], cutoff: float = CUTOFF) -> str | None:
    """Return the known word most similar to this one, or ``None``."""
    return next(iter(closest_words(word, known, 1, cutoff)), None)


def closest_name(word: str, known: Sequence[str]) -> str | None:
    """Return the known name that is most similar to this word, whole or in a part between hyphens, or ``None``.

    A part of several names is that of the shortest one.
    """
    parts: dict[str, str] = {}
    for name in sorted(known, key=len):
        for part in (*name.split("-"), name):
            parts.setdefault(part, name)
    return parts.get(closest_word(word, parts) or "")


def did_you_mean(word: str, known: Iterable[str]) -> str | None:
    """Return the question that suggests the most similar known word, or ``None``."""
    guess = closest_word(word, known)
    return f"did you mean '{guess}'?" if guess else None
