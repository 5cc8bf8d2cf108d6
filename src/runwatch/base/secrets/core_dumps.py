"""Protection of keys from core dumps, and from other processes of the same user."""

from __future__ import annotations

import contextlib
import sys
from typing import Final

_PR_SET_DUMPABLE: Final = 4
"""From Linux's ``sys/prctl.h``."""


def forbid_core_dumps() -> None:
    """Prevent a crash from writing this process's memory, with its keys, to disk.

    Sets the soft limit of core files to 0. On Linux it also marks the process as not dumpable, because a core piped to
    a program, as with systemd, ignores the limit; other processes of the same user then cannot attach to it or read its
    memory. Child processes inherit only the soft limit. If the system refuses, nothing changes (manual: security,
    "Secrets at rest").
    """
    if sys.platform == "win32":
        return
    import resource

    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    if sys.platform == "linux":
        import ctypes

        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
