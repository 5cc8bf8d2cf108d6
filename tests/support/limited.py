"""A program in a narrow place: on a full disk, or in a directory that is not to be written.

The limits are set in a process that then becomes the program, so that they hold from its first line on::

    python limited.py [--file-bytes N] [--owner-only] -- PROGRAM ARGUMENT ...
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import os
import resource
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

_DROP_FROM_BOUNDING_SET: Final = 24
_CAP_DAC_OVERRIDE: Final = 1


def narrow(command: Sequence[str], *, file_bytes: int | None = None, owner_only: bool = False) -> list[str]:
    """The command line that runs a command in a narrow place.

    Args:
        command: The program with its arguments.
        file_bytes: How many bytes a file may have; to every file that would become longer the disk is full.
        owner_only: Whether files that their owner may not write are kept from root too, as they are from everybody.
    """
    limits = [] if file_bytes is None else ["--file-bytes", str(file_bytes)]
    if owner_only:
        limits.append("--owner-only")
    return [sys.executable, "-IS", str(Path(__file__).resolve()), *limits, "--", *command]


@contextlib.contextmanager
def full_disk(pid: int) -> Iterator[None]:
    """While the block runs, no file of a running process takes another byte; afterwards there is room again (Linux)."""
    before = resource.prlimit(pid, resource.RLIMIT_FSIZE)
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (0, before[1]))
    try:
        yield
    finally:
        resource.prlimit(pid, resource.RLIMIT_FSIZE, before)


def heed_modes() -> None:
    """Have root heed the modes of files in every program that this process becomes.

    Raises:
        OSError: the system refuses.
    """
    if os.geteuid() == 0 and sys.platform == "linux":
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.prctl(_DROP_FROM_BOUNDING_SET, _CAP_DAC_OVERRIDE, 0, 0, 0) != 0:
            raise OSError(ctypes.get_errno(), "the capability stays")


def main(words: Sequence[str] | None = None) -> None:
    """Set the limits and become the program."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--file-bytes", type=int)
    parser.add_argument("--owner-only", action="store_true")
    parser.add_argument("command", nargs="+")
    given = parser.parse_args(words)
    if given.file_bytes is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (given.file_bytes, given.file_bytes))
    if given.owner_only:
        heed_modes()
    os.execvp(given.command[0], given.command)


if __name__ == "__main__":
    main()
