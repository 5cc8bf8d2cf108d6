"""Identifiers: opaque to callers, with the time in front so that people can sort them by eye."""

from __future__ import annotations

import secrets
import string
from datetime import datetime
from typing import Final

_ALPHABET: Final = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_TIME_CHARACTERS: Final = 10
_RANDOM_CHARACTERS: Final = 16
_WORD: Final = string.ascii_letters + string.digits


def new_id(prefix: str, now: datetime) -> str:
    """A new identifier such as ``ex_01K…``: the millisecond and 80 random bits, in Crockford's base 32."""
    milliseconds = int(now.timestamp() * 1000)
    time = "".join(_ALPHABET[milliseconds >> 5 * place & 31] for place in reversed(range(_TIME_CHARACTERS)))
    chance = "".join(secrets.choice(_ALPHABET) for _ in range(_RANDOM_CHARACTERS))
    return f"{prefix}_{time}{chance}"


def random_word(length: int) -> str:
    """Random letters and digits; ``key_`` ids consist of nothing else (wire reference 1.3)."""
    return "".join(secrets.choice(_WORD) for _ in range(length))
