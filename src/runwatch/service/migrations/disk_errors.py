"""Translate SQLite's disk and file errors to errors that tell the user what to do. Not in the specification."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from sqlalchemy.exc import DBAPIError

from runwatch.base.errors import DataError
from runwatch.base.sqlite_errors import DAMAGED, UNWRITABLE, find_error_code


@contextlib.contextmanager
def translate_disk_errors(path: Path) -> Iterator[None]:
    """Translate disk errors in the block; statement mistakes and broken constraints pass unchanged.

    Raises DataError if the file is damaged, or the disk is full or cannot be written.
    """
    try:
        yield
    except (DBAPIError, sqlite3.Error) as error:
        if (explained := _explained(error, path)) is None:
            raise
        raise explained from error


def _explained(error: DBAPIError | sqlite3.Error, path: Path) -> DataError | None:
    found = error.orig if isinstance(error, DBAPIError) else error
    code = find_error_code(found)
    if code in DAMAGED:
        return DataError(
            "The service's database is damaged or not a database",
            detail=f"{path}: {found}",
            hint="Move the file aside to start with an empty one, or put a backup in its place.",
        )
    if code in UNWRITABLE:
        return DataError(
            "The service's database cannot be written",
            detail=f"{path}: {found}",
            hint=f"See that {path.parent} is writable and its disk has space left. What was acknowledged is kept.",
            retryable=True,
        )
    return None
