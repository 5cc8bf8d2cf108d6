"""When Python looks for garbage: not before the first paint, seldom afterwards, and never through what stays then."""

from __future__ import annotations

import gc
from typing import Final

THRESHOLDS: Final = (10_000, 5, 5)
"""New objects until the youngest are looked through, and how many times that until the older and the oldest are."""


def after_first_paint() -> None:
    """Switch the collector on again that the command line has switched off; without effect where it is on."""
    if not gc.isenabled():
        gc.freeze()
        gc.set_threshold(*THRESHOLDS)
        gc.enable()
