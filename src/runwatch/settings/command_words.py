"""Words of an own command: placeholders in them become one argument each, and no shell reads them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final
from urllib.parse import quote

from runwatch.base.closest_word import closest_word
from runwatch.base.errors import RunwatchError
from runwatch.base.lazy_pattern import lazy_pattern

NAMES: Final = ("id", "kind", "profile", "service")
"""Placeholders besides ``{record.PATH}``."""

RECORD: Final = "record."
"""Before the path of a member of the record."""

NEAR: Final = 0.7
"""Minimum similarity of an unknown placeholder to one that is suggested for it. Most words in braces are no misspelt
placeholder but a part of a program, such as ``{print}`` in one of awk.
"""

_URL: Final = ":url"
_PLACEHOLDER: Final = lazy_pattern(r"\{\{([\w.:]+)\}\}|\{([A-Za-z_][\w.]*(?::\w+)?)\}")
"""``{{name}}``, which stands for ``{name}`` itself, or ``{name}``. Other braces, as in a program of jq, are text."""

FindValue = Callable[[str], str]
"""Returns the text for a placeholder's name.

Raises:
    RunwatchError: The record has none.
"""


def find_wrong_placeholder(words: Sequence[str]) -> str:
    """Return what is wrong with the placeholders of a command, or an empty text. It never quotes the words."""
    if words and any(_names(words[0])):
        return "begins with a placeholder; the program has a fixed name"
    for name in (name for word in words for name in _names(word)):
        plain = name.removesuffix(_URL)
        if plain in NAMES or (plain.startswith(RECORD) and len(plain) > len(RECORD)):
            continue
        near = closest_word(plain, NAMES, NEAR)
        known = ", ".join(f"{{{known}}}" for known in (*NAMES, f"{RECORD}MEMBER"))
        guess = f"; did you mean {{{near}}}?" if near else ""
        return f"has an unknown placeholder{guess}; there are {known}; {{{{WORD}}}} stands for {{WORD}} itself"
    return ""


def fill_words(words: Sequence[str], find: FindValue) -> list[str]:
    """Return the words with the values of their placeholders, each still one word.

    Raises:
        RunwatchError: The record lacks a value, or has one that would make its word an option.
    """
    filled: list[str] = []
    for word in words:
        made = _PLACEHOLDER.sub(lambda match: f"{{{match[1]}}}" if match[1] else _value(match[2], find), word)
        if made.startswith("-") and not word.startswith("-") and "--" not in filled:
            raise RunwatchError(
                "The value begins with a dash and would be an option",
                detail=f"the word {word}",
                hint='Put the word "--" before it in run, if the program knows that as the end of its options.',
            )
        filled.append(made)
    return filled


def _names(word: str) -> Iterator[str]:
    return (match[2] for match in _PLACEHOLDER.finditer(word) if match[2])


def _value(name: str, find: FindValue) -> str:
    value = find(name.removesuffix(_URL))
    return quote(value.encode("utf-8", "surrogatepass"), safe="") if name.endswith(_URL) else value
