"""How well a text matches a fuzzy word, by the rules of fzf: all characters in order, with anything between them.

Of all ways to place the characters the best one counts. Each character found gives points; more at the beginning of a
word, at the first capital or digit of one, and right after the character before it; gaps take points away. The numbers
are those of fzf's default scheme, so that the same texts come in the same order.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Final

FOUND: Final = 16
GAP_START: Final = -3
GAP_GOES_ON: Final = -1
AT_BOUNDARY: Final = 8
AFTER_SPACE: Final = AT_BOUNDARY + 2
AFTER_DELIMITER: Final = AT_BOUNDARY + 1
AT_CAPITAL_OR_DIGIT: Final = AT_BOUNDARY + GAP_GOES_ON
IN_A_ROW: Final = -(GAP_START + GAP_GOES_ON)
FIRST_FACTOR: Final = 2
"""How much more the place of the first character counts than that of the others."""

DELIMITERS: Final = "/,:;|"

_SPACE, _OTHER, _DELIMITER, _LOWER, _UPPER, _LETTER, _DIGIT = range(7)


def has_in_order(word: str, text: str) -> bool:
    """Whether a text has all characters of a word in order."""
    return bool(_first_places(word, text))


@lru_cache(4_096)
def fuzzy_score(word: str, text: str) -> int | None:
    """Return the points of a text; ``None`` if it does not have all characters of the word in order.

    The word is in lower case and not empty. The case of the text matters only where a capital begins a word.
    """
    lower = text.lower()
    firsts = _first_places(word, lower)
    if not firsts:
        return None
    bonuses = _bonuses(text if len(text) == len(lower) else lower)
    best, runs = _place_first(word[0], lower, bonuses)
    for character, first in zip(word[1:], firsts[1:], strict=True):
        best, runs = _place(character, lower, bonuses, best, runs, first)
    return max(best)


def shortest_match(word: str, text: str) -> list[tuple[int, int]]:
    """Return start and end of each run of the word's characters in the shortest part of a text that has all in order.

    Empty if no part has, or the text has another length in lower case, where its places would be others.
    """
    lower = text.lower()
    best: list[int] = []
    places = _first_places(word, lower) if len(lower) == len(text) else []
    while places:
        # Each character as late as the last one allows.
        for index in range(len(word) - 2, -1, -1):
            places[index] = lower.rfind(word[index], 0, places[index + 1])
        if not best or places[-1] - places[0] < best[-1] - best[0]:
            best = places
        places = _first_places(word, lower, places[0] + 1)
    runs: list[tuple[int, int]] = []
    for place in best:
        start = runs.pop()[0] if runs and runs[-1][1] == place else place
        runs.append((start, place + 1))
    return runs


def _first_places(word: str, text: str, begin: int = 0) -> list[int]:
    """Return the first place that each character can have; empty if the text does not have all of them in order."""
    places, place = [], begin - 1
    for character in word:
        place = text.find(character, place + 1)
        if place < 0:
            return []
        places.append(place)
    return places


def _place_first(character: str, text: str, bonuses: Sequence[int]) -> tuple[list[int], list[int]]:
    """Return the points with the first character at or before each place, and whether it is at the place itself."""
    best, runs = [], []
    points, is_gap = 0, False
    for here, bonus in zip(text, bonuses, strict=True):
        if here == character:
            points, is_gap = FOUND + bonus * FIRST_FACTOR, False
            runs.append(1)
        else:
            points, is_gap = max(points + (GAP_GOES_ON if is_gap else GAP_START), 0), True
            runs.append(0)
        best.append(points)
    return best, runs


def _place(
    character: str,
    text: str,
    bonuses: Sequence[int],
    before: Sequence[int],
    runs_before: Sequence[int],
    first: int,
) -> tuple[list[int], list[int]]:
    """Return the points with one more character at or before each place, and how many in a row end there.

    ``before`` and ``runs_before`` are the same for the characters before it; ``first`` is the first possible place.
    """
    best, runs = [0] * first, [0] * first
    points, is_gap = 0, False
    for place in range(first, len(text)):
        after_gap = points + (GAP_GOES_ON if is_gap else GAP_START)
        found, run = 0, 0
        if text[place] == character:
            found, run = _found(place, bonuses, before[place - 1], runs_before[place - 1] + 1, after_gap)
        is_gap = found < after_gap
        points = max(found, after_gap, 0)
        best.append(points)
        runs.append(run)
    return best, runs


def _found(place: int, bonuses: Sequence[int], before: int, run: int, after_gap: int) -> tuple[int, int]:
    """Return the points with a character at a place, and how many in a row end there."""
    own = bonus = bonuses[place]
    if run > 1:
        first = bonuses[place - run + 1]
        if bonus >= AT_BOUNDARY and bonus > first:
            run = 1
        else:
            bonus = max(bonus, IN_A_ROW, first)
    points = before + FOUND
    return (points + own, 0) if points + bonus < after_gap else (points + bonus, run)


def _bonuses(text: str) -> list[int]:
    kinds = [_SPACE, *map(_kind, text)]
    return [_bonus(before, kind) for before, kind in pairwise(kinds)]


@lru_cache(256)
def _kind(character: str) -> int:
    if character.isspace():
        return _SPACE
    if character in DELIMITERS:
        return _DELIMITER
    if character.isdecimal():
        return _DIGIT
    if character.islower():
        return _LOWER
    if character.isupper():
        return _UPPER
    return _LETTER if character.isalpha() else _OTHER


def _bonus(before: int, kind: int) -> int:
    if kind > _DELIMITER:
        match before:
            case 0:
                return AFTER_SPACE
            case 2:
                return AFTER_DELIMITER
            case 1:
                return AT_BOUNDARY
    if (before == _LOWER and kind == _UPPER) or (before != _DIGIT and kind == _DIGIT):
        return AT_CAPITAL_OR_DIGIT
    if kind in {_OTHER, _DELIMITER}:
        return AT_BOUNDARY
    return AFTER_SPACE if kind == _SPACE else 0
