"""Text that the user pastes: freed from what a terminal acts on, and searched for ids."""

from __future__ import annotations

import re
from typing import Final

from runwatch.base.text import clean_block, is_clean

MAX_CHARACTERS: Final = 100_000
"""Characters of a paste that are looked at."""

MAX_IDS: Final = 500
"""Ids that are taken from one paste."""

_SEQUENCE: Final = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_].*?(?:\x1b\\|\x07|\Z)|[ -/]*[0-~])", re.DOTALL)
_BETWEEN: Final = re.compile(r"[\s,;|<>()\[\]{}\"'`]+")
_LEAST_ID: Final = 6


def strip_controls(text: str) -> str:
    """The text without control sequences and invisible characters; line ends become newlines and tabs spaces."""
    text = _SEQUENCE.sub("", text[:MAX_CHARACTERS]).replace("\r\n", "\n").replace("\r", "\n").replace("\t", " ")
    if not is_clean(text):
        text = "".join(character for character in text if is_clean(character))
    return clean_block(text)


def clean_multiline(text: str) -> tuple[str, int]:
    """A text of several lines, as the user may write one, and how many characters of it were left out.

    What a terminal would act on and what nobody sees is left out; tabs and the ends of lines stay, as newlines.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    kept = _SEQUENCE.sub("", text)
    if not is_clean(kept.replace("\t", "")):
        kept = "".join(character for character in kept if character == "\t" or is_clean(character))
    return kept, len(text) - len(kept)


def find_ids(text: str) -> list[str]:
    """The ids in a text, each once, in their order: words between white space, commas, quotes and brackets.

    As soon as one of the words looks like an id, those without a digit count as prose around it.
    """
    words = [word.strip(".:!?…") for word in _BETWEEN.split(strip_controls(text))]
    words = list(dict.fromkeys(word for word in words if word))
    likely = [word for word in words if len(word) >= _LEAST_ID and any(map(str.isdigit, word))]
    return (likely or words)[:MAX_IDS]
