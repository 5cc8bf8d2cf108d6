"""Ids of records that this machine has seen, for shell completion.

The user has pressed a key and waits. So the database is only read: nothing is created, migrated or locked, and a
database that is missing, busy, damaged or of another version yields no ids.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterator
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import Final

from runwatch.base.json import loads
from runwatch.records.record import Record
from runwatch.store.db.schema import SCHEMA_VERSION
from runwatch.store.db.text_codec import decode_text

_WAIT_S: Final = 0.2
_MOST: Final = 1_000
"""Maximum ids from one source."""

# Every statement selects the holder of an id and the profile of its scope, newest first.
_CACHED: Final = (
    "SELECT text, profile FROM cached_record JOIN scope ON scope.id = scope WHERE kind = ? ORDER BY position"
)
_RUNS: Final = (
    "SELECT run_id, profile FROM watch JOIN scope ON scope.id = scope ORDER BY added_at DESC, watch.rowid DESC",
    "SELECT run_id, profile FROM run JOIN scope ON scope.id = scope ORDER BY run.id DESC",
)
_PROBLEMS: Final = ("SELECT instance, profile FROM problem WHERE instance IS NOT NULL ORDER BY id DESC",)
_OTHERS: Final = {"run": _RUNS, "problem": _PROBLEMS}
_LISTS: Final = {"run": ("run", "receipt")}


def find_seen_ids(path: Path, kind: type[Record], profiles: Collection[str] | None = None) -> list[str]:
    """Return the ids of records of one kind, without repeats.

    A receipt has the id of its run, so run ids also come from cached receipts, the watch list and stored events.
    Problem ids come from the journal.

    Args:
        profiles: Only ids seen through these profiles; ``None`` for all.
    """
    try:
        with closing(_look_at(path)) as connection:
            if connection.execute("PRAGMA user_version").fetchone()[0] != SCHEMA_VERSION:
                return []
            found = dict.fromkeys(_ids(connection, kind, profiles))
    except (OSError, ValueError, sqlite3.Error):
        return []
    return [name for name in found if name]


def _look_at(path: Path) -> sqlite3.Connection:
    """Open a database without creating files beside it; without a WAL index file no process has it open."""
    way = "mode=ro" if path.with_name(f"{path.name}-shm").exists() else "immutable=1"
    return sqlite3.connect(f"{path.as_uri()}?{way}", uri=True, timeout=_WAIT_S)


def _ids(connection: sqlite3.Connection, kind: type[Record], profiles: Collection[str] | None) -> Iterator[str]:
    def rows(statement: str, *values: str) -> Iterator[str]:
        found = connection.execute(statement, values)
        wanted = (decode_text(text) for text, profile in found if profiles is None or decode_text(profile) in profiles)
        return islice(wanted, _MOST)

    for listed in _LISTS.get(kind.KIND, (kind.KIND,)):
        yield from (_id_of(kind, text) for text in rows(_CACHED, listed))
    for statement in _OTHERS.get(kind.KIND, ()):
        yield from rows(statement)


def _id_of(kind: type[Record], text: str) -> str:
    value = loads(text)
    return kind(value).id if isinstance(value, dict) else ""
