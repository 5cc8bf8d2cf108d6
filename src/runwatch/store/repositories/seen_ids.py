"""Ids of records that this machine has seen, for a shell that completes them.

Whoever asks has pressed a key and waits. So the database is only looked at: nothing is made, migrated or locked, and
one that is missing, busy, damaged or of another version knows no id.
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
"""How many ids are taken from one place."""

# Every statement gives what holds an id and the profile of its scope, the newest first.
_CACHED: Final = (
    "SELECT text, profile FROM cached_record JOIN scope ON scope.id = scope WHERE kind = ? ORDER BY position"
)
_RUNS: Final = (
    "SELECT run_id, profile FROM watch JOIN scope ON scope.id = scope ORDER BY added_at DESC, watch.rowid DESC",
    "SELECT run_id, profile FROM run JOIN scope ON scope.id = scope ORDER BY run.id DESC",
)
_PROBLEMS: Final = ("SELECT instance, profile FROM problem WHERE instance IS NOT NULL ORDER BY id DESC",)
_KEPT: Final = {"run": _RUNS, "problem": _PROBLEMS}
_LISTS: Final = {"run": ("run", "receipt")}


def find_seen_ids(path: Path, kind: type[Record], profiles: Collection[str] | None = None) -> list[str]:
    """Ids of records of one kind, each once.

    A receipt has the id of its run, so the runs are also those of the receipts, of the watch list and of the events
    that are kept. Problems are those of the journal.

    Args:
        path: The database file.
        kind: The record.
        profiles: Only what was seen through these profiles; ``None`` for all.
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
    """Open a database so that no file appears beside it: without the index of a log nobody has it open."""
    way = "mode=ro" if path.with_name(f"{path.name}-shm").exists() else "immutable=1"
    return sqlite3.connect(f"{path.as_uri()}?{way}", uri=True, timeout=_WAIT_S)


def _ids(connection: sqlite3.Connection, kind: type[Record], profiles: Collection[str] | None) -> Iterator[str]:
    def rows(statement: str, *values: str) -> Iterator[str]:
        found = connection.execute(statement, values)
        wanted = (decode_text(text) for text, profile in found if profiles is None or decode_text(profile) in profiles)
        return islice(wanted, _MOST)

    for listed in _LISTS.get(kind.KIND, (kind.KIND,)):
        yield from (_id_of(kind, text) for text in rows(_CACHED, listed))
    for statement in _KEPT.get(kind.KIND, ()):
        yield from rows(statement)


def _id_of(kind: type[Record], text: str) -> str:
    value = loads(text)
    return kind(value).id if isinstance(value, dict) else ""
