"""The copy of a database file made before its migration."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from pathlib import Path
from urllib.parse import quote

from runwatch.base.errors import DataError
from runwatch.base.files import PRIVATE_FILE


def backup_of(path: Path) -> Path:
    return path.with_name(f"{path.name}.before-migration")


def make_backup(path: Path) -> None:
    """Copy a database file with mode 0600; an older copy is replaced once the new one is complete.

    Another connection may have an open write transaction; its uncommitted writes are not copied. Raises DataError if
    the copy cannot be written; no new copy exists then.
    """
    part = _part_of(path)
    try:
        part.unlink(missing_ok=True)
        os.close(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, PRIVATE_FILE))
        with (
            contextlib.closing(sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True)) as original,
            contextlib.closing(sqlite3.connect(part)) as copy,
        ):
            # No journal: one left behind could be mistaken for that of a later copy.
            copy.execute("PRAGMA journal_mode=OFF")
            original.backup(copy)
        part.replace(backup_of(path))
    except (OSError, sqlite3.Error) as error:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)
        reason = error.strerror if isinstance(error, OSError) else error
        raise DataError(
            "The service's database is not migrated, because it cannot be copied first",
            detail=f"{part}: {reason}. {path} is as it was.",
            hint=f"See that {path.parent} is writable and its disk has space for a second file of that size.",
            retryable=True,
        ) from error


def remove_backup(path: Path) -> None:
    """Remove the copy of a database file, and leftovers of an interrupted copy.

    It would keep prompts and outputs beyond their retention. What cannot be removed now is left for the next start.
    """
    with contextlib.suppress(OSError):
        for file in (backup_of(path), _part_of(path)):
            file.unlink(missing_ok=True)


def _part_of(path: Path) -> Path:
    return path.with_name(f"{backup_of(path).name}.part")
