"""Importing httpx without what it does not need here."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from typing import Final

_NOT_NEEDED: Final = ("httpx._main", "trio")
"""The command line of httpx with rich, pygments and click, and the other event loop of httpcore."""


@contextlib.contextmanager
def hidden_modules() -> Iterator[None]:
    """Hide modules that httpx and httpcore import where they find them, and that take longer than all the others.

    ``None`` in :data:`sys.modules` makes an import fail, and both libraries go on without.
    """
    hidden = [name for name in _NOT_NEEDED if name not in sys.modules]
    sys.modules.update(dict.fromkeys(hidden))  # type: ignore[arg-type]
    try:
        yield
    finally:
        for name in hidden:
            del sys.modules[name]
