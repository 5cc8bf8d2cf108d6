"""Which PostgreSQL database a data directory belongs to.

The directory holds the secrets that the database names; with another database they would all be swept away as unnamed.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from runwatch.base.errors import DataError
from runwatch.base.files import UnsafePlaceError, read_private, write_atomic

MARK_FILE: Final = "database-id"
_BYTES: Final = 200


def paired_with(data_dir: Path) -> str | None:
    """Return the id of the database that a data directory belongs to, or ``None``.

    Raises:
        DataError: The file that says so cannot be read.
    """
    path = data_dir / MARK_FILE
    try:
        return read_private(path, max_bytes=_BYTES).decode("ascii", "replace").strip()
    except FileNotFoundError:
        return None
    except (OSError, UnsafePlaceError) as error:
        raise _unusable(path, error) from error


def pair(data_dir: Path, identity: str) -> None:
    """Record that a data directory belongs to a database; do nothing if that is known.

    Raises:
        DataError: It belongs to another one, or cannot be written.
    """
    known = paired_with(data_dir)
    if known is None:
        try:
            write_atomic(data_dir / MARK_FILE, f"{identity}\n".encode())
        except OSError as error:
            raise _unusable(data_dir / MARK_FILE, error) from error
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
    """Refuse an embedded database in a data directory that belongs to another one.

    Raises:
        DataError: It does.
    """
    if paired_with(data_dir) is not None:
        raise DataError(
            "This data directory belongs to a PostgreSQL database",
            detail=str(data_dir),
            hint="Name that database with --database or RUNWATCH_DATABASE, or another data directory with --data-dir.",
        )


def _unusable(path: Path, error: Exception) -> DataError:
    return DataError(
        "The service's data directory is not usable",
        detail=f"{path}: {getattr(error, 'strerror', None) or error}",
        hint="Make it writable and readable for its owner alone, or name another one with --data-dir.",
    )
