"""Memory of this process, and freeing of many objects without freezing the screen.

Python's collector walks through every live object to find the few that refer to each other in a cycle. With a hundred
thousand records in memory, one walk takes longer than a screen may freeze.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

_PROCESSES: Final = Path("/proc")
_SYSTEM_FILE: Final = Path("/proc/meminfo")
_KIB: Final = 1024


def resident_bytes() -> int:
    """Return the resident memory of this process in bytes; where the system reports no current value, its peak."""
    try:
        return _read_resident(_PROCESSES / "self")
    except (OSError, ValueError, IndexError):
        import resource

        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else peak * _KIB


def list_users_of(file: Path) -> dict[int, int]:
    """Return the resident memory in bytes of each other process of this user that has a file open, by its number.

    Empty where the system does not tell, as outside of Linux.
    """
    found: dict[int, int] = {}
    whole = file.resolve()
    with contextlib.suppress(OSError):
        for directory in _PROCESSES.iterdir():
            # Processes end meanwhile, and those of others cannot be read.
            with contextlib.suppress(OSError, ValueError, IndexError):
                number = int(directory.name)
                if number != os.getpid() and any(each.readlink() == whole for each in (directory / "fd").iterdir()):
                    found[number] = _read_resident(directory)
    return found


def _read_resident(process: Path) -> int:
    return int((process / "statm").read_text("ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")


def available_bytes() -> int | None:
    """Return the memory that this machine can still give to programs, in bytes; ``None`` where the system does not
    tell.
    """
    try:
        lines = _SYSTEM_FILE.read_text("ascii").splitlines()
        return next(int(line.split()[1]) * _KIB for line in lines if line.startswith("MemAvailable:"))
    except (OSError, ValueError, IndexError, StopIteration):
        return None


MANY_OBJECTS: Final = 20_000
"""From this many objects on a walk would be noticeable."""

STEP: Final = 500
"""Objects freed at a time: a millisecond or two if they are decoded records."""


_working = 0
"""Number of open :func:`pause_collection` blocks."""


@contextlib.contextmanager
def pause_collection() -> Iterator[None]:
    """Pause garbage collection within the block, for work that makes many objects which are not garbage.

    Most of them are gone by its end, and :func:`note_long_lived` can exclude the rest from later walks. Blocks may
    overlap; a collector that is off stays off.
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


_skipped = 0
"""Number of long-lived objects that walks skip."""

_new = 0
"""Number of long-lived objects since."""


def note_long_lived(count: int) -> None:
    """Report new long-lived objects; when their number has doubled, later walks skip everything alive.

    Skipped objects are still freed when the last reference goes, unless they refer to each other in a cycle: those are
    never freed. So this happens rarely.
    """
    global _skipped, _new
    _new += count
    if _new >= max(MANY_OBJECTS, _skipped):
        gc.freeze()
        _skipped, _new = _skipped + _new, 0


async def free_in_slices(things: list[Any]) -> None:
    """Free objects a few at a time, from the end, yielding to the event loop in between.

    Freeing a hundred thousand decoded records takes longer than a screen may freeze. This helps only if nothing else
    refers to them; the list is empty afterwards.
    """
    while things:
        del things[-STEP:]
        await asyncio.sleep(0)


THRESHOLDS: Final = (10_000, 5, 5)
"""Collector thresholds: new objects before the youngest are collected, and how many such collections before the older
and the oldest are.
"""


def resume_collection() -> None:
    """Enable the collector that the command line has disabled; no effect if it is enabled."""
    if not gc.isenabled():
        gc.freeze()
        gc.set_threshold(*THRESHOLDS)
        gc.enable()
