"""Finding the ids that the user quotes: whole, cut, in capitals, without dashes, or somewhere in a pasted mail."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final

MIN_DIGITS: Final = 6
"""How many hexadecimal digits in a row are enough to look for."""

MAX_TEXT_CHARACTERS: Final = 1_000_000
"""How many characters of a text are looked through."""

MAX_RUNS: Final = 2_000
"""How many runs of hexadecimal digits in a text, and parts in a run, are looked up."""

# Word processors and mail programs put other dashes in the place of the hyphen.
_DASH: Final = "[-\u2010-\u2015\u2212]"
_RUN: Final = re.compile(f"[0-9a-f]+(?:{_DASH}[0-9a-f]+)*")
_DASHES: Final = re.compile(_DASH)

# A UUID has five parts; one more on each side may be a word that was glued to it.
_PARTS: Final = 7


def normalize_id(text: str) -> str:
    """An id as it is compared: lower case, without dashes."""
    return _DASHES.sub("", text.strip().lower())


def contains_id(text: str) -> bool:
    """Whether something stands in a text that could be looked up as part of an id."""
    return any(len(match[0]) >= MIN_DIGITS for match in _RUN.finditer(text[:MAX_TEXT_CHARACTERS].lower()))


def looks_like_id(text: str) -> bool:
    """Whether a text is nothing but a part of an id that is long enough to be looked up."""
    plain = text.strip().lower()
    return len(plain) >= MIN_DIGITS and _RUN.fullmatch(plain) is not None


def match_ids(text: str, plains: Sequence[str]) -> list[int]:
    """The positions of the plain ids that stand in a text, whole or in part, in their order."""
    whole = "\n".join(plains)
    found: set[int] = set()
    exact = normalize_id(text[:MAX_TEXT_CHARACTERS])
    if exact:
        found.update(position for position, plain in enumerate(plains) if plain == exact)
    runs = islice(
        (match[0] for match in _RUN.finditer(text[:MAX_TEXT_CHARACTERS].lower()) if len(match[0]) >= MIN_DIGITS),
        MAX_RUNS,
    )
    for run in dict.fromkeys(runs):
        # The longest part that hits wins: ids of one moment may share their beginning.
        for candidates in _by_length(run):
            hits = {candidate for candidate in candidates if candidate in whole}
            if hits:
                found.update(position for position, plain in enumerate(plains) if any(hit in plain for hit in hits))
                break
    return sorted(found)


def _by_length(run: str) -> Iterator[list[str]]:
    """Stretches of neighbouring parts of a dashed run, those of most parts first, each joined to one text."""
    parts = _DASHES.split(run)[:MAX_RUNS]
    for size in range(min(len(parts), _PARTS), 0, -1):
        stretches = ("".join(parts[start : start + size]) for start in range(len(parts) - size + 1))
        candidates = [stretch for stretch in stretches if len(stretch) >= MIN_DIGITS]
        if candidates:
            yield candidates
