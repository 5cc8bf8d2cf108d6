"""The known word that was probably meant by one that is not known."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

CUTOFF: Final = 0.5
"""How alike two words have to be, from 0 to 1: twice the letters they share in order over the letters of both."""


def closest_words(word: str, known: Iterable[str], most: int) -> list[str]:
    """Up to ``most`` known words that are like this one, the closest first."""
    # Only a mistake needs it.
    import difflib

    return difflib.get_close_matches(word, list(known), most, CUTOFF)


def closest_word(word: str, known: Iterable[str]) -> str | None:
    """The known word that is most like this one, or ``None`` when none is like it."""
    return next(iter(closest_words(word, known, 1)), None)
