"""The data directory of a service: one process holds it at a time, and it belongs to one PostgreSQL database, if any.

It holds the secrets that the database names; with another database they would all be swept away as unnamed.
"""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Final

from runwatch.base.clock import Clock
from runwatch.base.errors import DataError, LocalServiceError
from runwatch.base.files import (
    FileLock,
    UnsafePlaceError,
    check_data_dir,
    private_directory,
    read_private,
    write_atomic,
)
from runwatch.base.network.service_file import read_service_file, service_lock

MARK_FILE: Final = "database-id"

_MARK_BYTES: Final = 200
_HINT: Final = "Make it writable, see that its disk has space left, or name another one with --data-dir."
_PRIVATE_HINT: Final = "Make it writable and readable for its owner alone, or name another one with --data-dir."
_LOCK_TRIES: Final = 20
_LOCK_PAUSE_S: Final = 0.025


def unusable(path: Path, error: Exception, hint: str = _HINT) -> DataError:
    return DataError(
        "The service's data directory is not usable",
        detail=f"{path}: {getattr(error, 'strerror', None) or error}",
        hint=hint,
    )


async def take_data_dir(data_dir: Path, clock: Clock) -> FileLock:
    """Lock a data directory, which is created if it does not exist.

    A check for a running service also takes the lock briefly, so a single failure proves nothing.

    Raises:
        DataError: It is unusable.
        LocalServiceError: A service holds it.
    """
    lock = service_lock(data_dir)
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


def paired_with(data_dir: Path) -> str | None:
    """Return the id of the database that a data directory belongs to, or ``None``.

    Raises DataError if the file that says so cannot be read.
    """
    path = data_dir / MARK_FILE
    try:
        return read_private(path, max_bytes=_MARK_BYTES).decode("ascii", "replace").strip()
    except FileNotFoundError:
        return None
    except (OSError, UnsafePlaceError) as error:
        raise unusable(path, error, _PRIVATE_HINT) from error


def pair(data_dir: Path, identity: str) -> None:
    """Record that a data directory belongs to a database; do nothing if that is known.

    Raises DataError if it belongs to another one, or cannot be written.
    """
    known = paired_with(data_dir)
    if known is None:
        try:
            write_atomic(data_dir / MARK_FILE, f"{identity}\n".encode())
        except OSError as error:
            raise unusable(data_dir / MARK_FILE, error, _PRIVATE_HINT) from error
    elif known != identity:
        raise make_pairing_error(data_dir, known, identity)


def make_pairing_error(data_dir: Path, known: str, identity: str) -> DataError:
    """Build the error for a data directory whose database has another id than the one that was named."""
    return DataError(
        "This data directory belongs to another database",
        detail=f"{data_dir} holds the secrets of the database with the id {known}; the one named has {identity}.",
        hint="Name that database, or another data directory with --data-dir.",
    )


def refuse_paired(data_dir: Path) -> None:
    """Refuse an embedded database in a data directory that belongs to another one."""
    if paired_with(data_dir) is not None:
        raise DataError(
            "This data directory belongs to a PostgreSQL database",
            detail=str(data_dir),
            hint="Name that database with --database or RUNWATCH_DATABASE, or another data directory with --data-dir.",
        )
