"""Groups of SQLite error codes by the state of the database file (https://www.sqlite.org/rescode.html)."""

from __future__ import annotations

import sqlite3
from typing import Final

DAMAGED: Final = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
"""The file is not a sound database."""

BUSY: Final = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})
"""Another connection holds it."""

UNWRITABLE: Final = frozenset(
    {
        sqlite3.SQLITE_READONLY,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_PERM,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_FULL,
    }
)
"""The file, its directory or its disk cannot be used."""


def find_error_code(error: object) -> int:
    """Return the primary code of an error; 0 for one that is not SQLite's own."""
    return (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF
