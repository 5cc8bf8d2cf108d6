"""Much that comes or goes holds nobody up: what stays is left out of walks for garbage, what goes is freed slowly.

Python's collector walks through everything that is alive to find the few objects that point at each other in a circle.
With a hundred thousand records in memory one such walk takes longer than a screen may stand still (ours, measured).
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
from collections.abc import Iterator
from typing import Any, Final

MANY_OBJECTS: Final = 20_000
"""From so many objects on a walk through them would be felt."""

STEP: Final = 500
"""Things that are freed at a time: a millisecond or two, where each is a decoded record."""


_working = 0
"""How many blocks of :func:`pause_collection` are open."""


@contextlib.contextmanager
def pause_collection() -> Iterator[None]:
    """No walks for garbage within the block, for work that makes very many objects which are no garbage.

    Most of them are gone again by its end, and what stays may be left out of walks with :func:`note_long_lived`.
    Blocks may overlap; a collector that is off stays off.
    """
    global _working
    if not _working and not gc.isenabled():
        yield
        return
    _working += 1
    gc.disable()
    try:
        yield
    finally:
        _working -= 1
        if not _working:
            gc.enable()


class _Staying:
    """Counts what came to stay.

    Attributes:
        left_out: How many things later walks leave out.
        new: How many came since.
    """

    left_out = 0
    new = 0


def note_long_lived(count: int) -> None:
    """Say that so many objects came to stay; when what did has doubled, later walks leave out all that is alive.

    Those objects are freed as before when nothing refers to them any more, unless they refer to each other in a circle:
    such ones stay for good. Therefore it happens so rarely.
    """
    _Staying.new += count
    if _Staying.new >= max(MANY_OBJECTS, _Staying.left_out):
        gc.freeze()
        _Staying.left_out += _Staying.new
        _Staying.new = 0


async def free_in_slices(things: list[Any]) -> None:
    """Forget things a few at a time, from the end, giving the event loop a turn in between.

    Freeing a hundred thousand decoded records takes longer than a screen may stand still. It serves its purpose where
    nobody else holds the things any more; the list is the caller's own and empty afterwards.
    """
    while things:
        del things[-STEP:]
        await asyncio.sleep(0)


THRESHOLDS: Final = (10_000, 5, 5)
"""New objects until the youngest are looked through, and how many times that until the older and the oldest are."""


def resume_collection() -> None:
    """Switch the collector on again that the command line has switched off; without effect where it is on."""
    if not gc.isenabled():
        gc.freeze()
        gc.set_threshold(*THRESHOLDS)
        gc.enable()
