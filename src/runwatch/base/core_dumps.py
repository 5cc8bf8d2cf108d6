"""Keys stay out of core dumps, and out of reach of other processes of the same user that are no debugger of root's."""

from __future__ import annotations

import contextlib
import sys
from typing import Final

_PR_SET_DUMPABLE: Final = 4
"""From Linux's ``sys/prctl.h``."""


def forbid_core_dumps() -> None:
    """Let no crash of this process write its memory, with the keys in it, to a disk.

    The soft limit of a core file becomes 0. On Linux the process is marked as not dumpable too, because a core that is
    piped to a program, as systemd has it, knows no limit; other processes of the same user then cannot attach to it or
    read its memory. What it starts is not affected, but for the soft limit. Where the system refuses, nothing happens
    (manual, Security: Secrets at rest).
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
