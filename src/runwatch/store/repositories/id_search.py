"""Search for ids as users quote them: whole, cut, in capitals, without dashes, or inside a pasted mail."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final

MIN_DIGITS: Final = 6
"""Minimum hexadecimal digits in a row to look up."""

MAX_TEXT_CHARACTERS: Final = 1_000_000
MAX_RUNS: Final = 2_000
"""Maximum sequences of hexadecimal digits in a text, and parts of a sequence, to look up."""

# Word processors and mail programs replace the hyphen by other dashes.
_DASH: Final = "[-\u2010-\u2015\u2212]"
_RUN: Final = re.compile(f"[0-9a-f]+(?:{_DASH}[0-9a-f]+)*")
_DASHES: Final = re.compile(_DASH)
_UUID: Final = re.compile(f"(?<![0-9a-f])[0-9a-f]{{8}}(?:{_DASH}?[0-9a-f]{{4}}){{3}}{_DASH}?[0-9a-f]{{12}}(?![0-9a-f])")

# A UUID has five parts; one more on each side may be an adjacent word.
_PARTS: Final = 7


def normalize_id(text: str) -> str:
    """Return an id as it is compared: lower case, without dashes."""
    return _DASHES.sub("", text.strip().lower())


def contains_id(text: str) -> bool:
    """Return whether a text contains anything that could be looked up as part of an id."""
    return any(len(match[0]) >= MIN_DIGITS for match in _RUN.finditer(text[:MAX_TEXT_CHARACTERS].lower()))


def looks_like_id(text: str) -> bool:
    """Return whether the whole text is a part of an id that is long enough to look up."""
    plain = text.strip().lower()
    return len(plain) >= MIN_DIGITS and _RUN.fullmatch(plain) is not None


def match_ids(text: str, plains: Sequence[str]) -> list[int]:
    """Return the positions of the normalized ids that occur in a text, whole or in part, in order.

    A whole UUID finds only itself, because its parts would find another id.
    """
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
        # The longest matching part wins, because ids made at the same time may share their beginning.
        ids = [normalize_id(match[0]) for match in _UUID.finditer(run)]
        for candidates in [ids] if ids else _by_length(run):
            hits = {candidate for candidate in candidates if candidate in whole}
            if hits:
                found.update(position for position, plain in enumerate(plains) if any(hit in plain for hit in hits))
                break
    return sorted(found)


def _by_length(run: str) -> Iterator[list[str]]:
    """Yield groups of adjacent parts of a dashed sequence, longest first, each joined to one text."""
    parts = _DASHES.split(run)[:MAX_RUNS]
    for size in range(min(len(parts), _PARTS), 0, -1):
        stretches = ("".join(parts[start : start + size]) for start in range(len(parts) - size + 1))
        candidates = [stretch for stretch in stretches if len(stretch) >= MIN_DIGITS]
        if candidates:
            yield candidates
