"""The copy of a database file from before its migration."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from pathlib import Path
from urllib.parse import quote

from runwatch.base.errors import DataError
from runwatch.base.files import PRIVATE_FILE


def backup_of(path: Path) -> Path:
    """Where the copy of a database file is."""
    return path.with_name(f"{path.name}.before-migration")


def make_backup(path: Path) -> None:
    """Copy a database file aside with mode 0600; an older copy is replaced once the new one is whole.

    The file may be in a write transaction of another connection; what that has written is not in the copy.

    Raises:
        DataError: the copy cannot be written; there is no new one then.
    """
    part = _part_of(path)
    try:
        part.unlink(missing_ok=True)
        os.close(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, PRIVATE_FILE))
        with (
            contextlib.closing(sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True)) as original,
            contextlib.closing(sqlite3.connect(part)) as copy,
        ):
            # Without a journal, which could be left behind and be taken for that of a later copy.
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
    """Remove the copy of a database file, and what a copy that was cut off has left.

    It would keep prompts and outputs after their time. What cannot be removed now waits for the next start.
    """
    with contextlib.suppress(OSError):
        for file in (backup_of(path), _part_of(path)):
            file.unlink(missing_ok=True)


def _part_of(path: Path) -> Path:
    return path.with_name(f"{backup_of(path).name}.part")
