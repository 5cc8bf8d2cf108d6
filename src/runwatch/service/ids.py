"""Identifiers: opaque to callers, starting with the time so that users can sort them by eye."""

from __future__ import annotations

import secrets
import string
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from random import Random
from typing import Final

_ALPHABET: Final = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_CHARACTER_BITS: Final = 5
_TIME_CHARACTERS: Final = 10
_RANDOM_CHARACTERS: Final = 16
_WORD: Final = string.ascii_letters + string.digits

_chance: Random = secrets.SystemRandom()


@contextmanager
def seeded_ids(seed: int) -> Iterator[None]:
    """Derive every identifier created during the block from a seed, in all threads.

    Only for the past of the sample organization, which must be reproducible. Callers' keys and page tokens are not made
    here.
    """
    global _chance
    before, _chance = _chance, Random(seed)  # noqa: S311 - nothing that follows from a seed is a secret
    try:
        yield
    finally:
        _chance = before


def new_id(prefix: str, now: datetime) -> str:
    """Create an identifier such as ``ex_01K…``: the millisecond and 80 random bits, in Crockford's base 32."""
    time = _base32(int(now.timestamp() * 1000), _TIME_CHARACTERS)
    # Draw all bits at once: each draw is a system call, and a run needs some ten identifiers.
    chance = _base32(_chance.getrandbits(_CHARACTER_BITS * _RANDOM_CHARACTERS), _RANDOM_CHARACTERS)
    return f"{prefix}_{time}{chance}"


def _base32(number: int, characters: int) -> str:
    return "".join(_ALPHABET[number >> _CHARACTER_BITS * position & 31] for position in reversed(range(characters)))


def random_word(length: int) -> str:
    """Return random letters and digits, the only characters of ``key_`` ids (manual: interface, "Authentication and
    keys").
    """
    return "".join(_chance.choice(_WORD) for _ in range(length))


def random_digits(length: int) -> str:
    return "".join(_chance.choice(string.hexdigits[:16]) for _ in range(length))
