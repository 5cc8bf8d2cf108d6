"""The data directory of a service, held by one process at a time."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Final

from runwatch.base.clock import Clock
from runwatch.base.errors import DataError, LocalServiceError
from runwatch.base.files import FileLock, UnsafePlaceError, check_data_dir, private_directory
from runwatch.base.network.service_file import lock_path, read_service_file

_LOCK_TRIES: Final = 20
_LOCK_PAUSE_S: Final = 0.025


def unusable(data_dir: Path, error: OSError) -> DataError:
    """Build the error for a data directory that cannot be written."""
    return DataError(
        "The service's data directory is not usable",
        detail=f"{data_dir}: {error.strerror}",
        hint="Make it writable, see that its disk has space left, or name another one with --data-dir.",
    )


async def take_data_dir(data_dir: Path, clock: Clock) -> FileLock:
    """Lock a data directory, which is created if it does not exist.

    A check for a running service also takes the lock briefly, so a single failure proves nothing.

    Raises:
        DataError: It is unusable.
        LocalServiceError: A service holds it.
    """
    lock = lock_path(data_dir)
    try:
        check_data_dir(data_dir)
        private_directory(data_dir)
        for _ in range(_LOCK_TRIES):
            if lock.acquire(wait=False):
                return lock
            await clock.sleep(_LOCK_PAUSE_S)
    except OSError as error:
        raise unusable(data_dir, error) from error
    other = None
    with contextlib.suppress(UnsafePlaceError):
        other = read_service_file(data_dir)
    raise LocalServiceError(
        "A service already runs on this data directory",
        detail=f"It listens on {other.base_url} (process {other.pid})." if other else f"{data_dir} is held.",
        hint="Use that one, end it with --stop, or name another data directory with --data-dir.",
    )
