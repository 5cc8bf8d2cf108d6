"""Sentences that name keys: written with the ids of the actions, shown with the keys that do them now."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

KeyLookup = Callable[[str], str]
"""The key that does an action now, by the action's id, as hints write it."""

_NAMED: Final = re.compile(r"\{([a-z_]+\.[a-z_]+)\}")


def insert_keys(text: str, key_of: KeyLookup) -> str:
    """A sentence with the present keys in place of the ids of actions, such as ``{screen.copy}``."""
    return _NAMED.sub(lambda named: key_of(named[1]), text)
