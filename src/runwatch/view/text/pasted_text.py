"""Clean text that the user pastes, and find ids in it."""

from __future__ import annotations

import re
from typing import Final

from runwatch.base.text import clean_block, is_clean

MAX_CHARACTERS: Final = 100_000

MAX_IDS: Final = 500

_SEQUENCE: Final = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_].*?(?:\x1b\\|\x07|\Z)|[ -/]*[0-~])", re.DOTALL)
_BETWEEN: Final = re.compile(r"[\s,;|<>()\[\]{}\"'`]+")
_LEAST_ID: Final = 6

_IN_NO_ID: Final = frozenset("/\\?#*!$^&")
"""Characters of addresses, file names and patterns. What else an id may be, the service decides."""


def strip_controls(text: str) -> str:
    """Remove control sequences and invisible characters. Line ends become newlines, tabs become spaces."""
    text = _SEQUENCE.sub("", text[:MAX_CHARACTERS]).replace("\r\n", "\n").replace("\r", "\n").replace("\t", " ")
    if not is_clean(text):
        text = "".join(character for character in text if is_clean(character))
    return clean_block(text)


def clean_multiline(text: str) -> tuple[str, int]:
    """Clean text of several lines and return it with the number of characters removed.

    Removes what a terminal would act on and what is invisible. Tabs stay, and line ends become newlines.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    kept = _SEQUENCE.sub("", text)
    if not is_clean(kept.replace("\t", "")):
        kept = "".join(character for character in kept if character == "\t" or is_clean(character))
    return kept, len(text) - len(kept)


def find_ids(text: str) -> list[str]:
    """Return the distinct ids in a text, in order: words between white space, commas, quotes and brackets.

    If any word looks like an id, words without a digit are treated as prose and dropped, and so are several words of
    letters alone.
    """
    words = [word.strip(".:!?…") for word in _BETWEEN.split(strip_controls(text))]
    words = list(dict.fromkeys(word for word in words if word and _IN_NO_ID.isdisjoint(word)))
    likely = [word for word in words if len(word) >= _LEAST_ID and any(map(str.isdigit, word))]
    if not likely and len(words) > 1 and all(map(str.isalpha, words)):
        return []
    return (likely or words)[:MAX_IDS]
