"""Sentences that name keys: written with action ids, shown with the currently bound keys."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from runwatch.base.lazy_pattern import lazy_pattern

KeyLookup = Callable[[str], str]
"""Returns the key currently bound to an action id, as hints write it."""

_NAMED: Final = lazy_pattern(r"\{([a-z_]+\.[a-z_]+)\}")


def insert_keys(text: str, key_of: KeyLookup) -> str:
    """Replace action ids in braces, such as ``{screen.copy}``, with their current keys."""
    return _NAMED.sub(lambda named: key_of(named[1]), text)
