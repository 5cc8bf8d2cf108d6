"""When Python looks for garbage: not before the first paint, seldom afterwards, and never through what stays.

Python's collector walks through everything that is alive to find the few objects that point at each other in a circle.
With a hundred thousand records in memory one such walk takes longer than a screen may stand still (ours, measured).
"""

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


def keep_what_is_there() -> None:
    """Leave everything that is alive now out of later walks, as after a long list has come.

    It is freed as before when nothing refers to it; only circles that are garbage already stay for good, so that this
    is for rare occasions.
    """
    gc.freeze()
